"""Verdicts on printed formulas, in every setting that fits their letters.

In the order of imports: `reading` (claims), `table` (settings), `matching` (claim in one setting),
`judging` (the rule over all settings) and `pages`.
"""

from dplearn.teaching.claims.judging import VERDICTS, Finding, Line, proofread
from dplearn.teaching.claims.pages import Place, places_in

__all__ = ["VERDICTS", "Finding", "Line", "Place", "places_in", "proofread"]
