"""Is a printed formula true? One judge, which names the setting of its verdict and the others.

From the bottom: `reading` (claims), `table` (settings), `matching` (a claim beside one setting),
`judging` (the rule over all settings), `map` (a picture of a verdict), `pages` and `report`.
"""

from dplearn.teaching.claims.judging import VERDICTS, Finding, Line, proofread
from dplearn.teaching.claims.map import STATUS, Slice, map_of
from dplearn.teaching.claims.pages import Place, places, places_in
from dplearn.teaching.claims.reading import Note

__all__ = [
    "STATUS",
    "VERDICTS",
    "Finding",
    "Line",
    "Note",
    "Place",
    "Slice",
    "map_of",
    "places",
    "places_in",
    "proofread",
]
