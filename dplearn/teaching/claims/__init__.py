"""Proofreading of printed formulas by the entries of the book that fit their letters.

In the order of imports: `reading` (claims in formulas), `table` (test points of a situation),
`matching` (a claim in one situation), `judging` (verdict over all situations) and `pages`.
"""

from dplearn.teaching.claims.judging import VERDICTS, Finding, Line, proofread
from dplearn.teaching.claims.pages import Place, places_in

__all__ = ["VERDICTS", "Finding", "Line", "Place", "places_in", "proofread"]
