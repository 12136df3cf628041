"""Is a printed formula true? One judge, which names the setting of its verdict and the others.

From the bottom: `reading` (what a formula claims), `table` (the points of an entry's setting),
`matching` (a claim beside one setting), `judging` (`proofread`: the strict rule over all settings),
`map` (`map_of`: a picture of the verdict), `pages` (the formulas of a file) and `report` (what the
command prints of them).
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
