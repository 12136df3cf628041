"""Is a claimed formula true? Judged as it is printed, or against the certified answer on a map.

From the bottom: `vocabulary` (the letters of print and what entries of the book are about),
`reading` (spelling and sides of a printed formula), `places` (the entries that it resembles),
`judging` (`proofread`: what the book's search finds of it), `pages` (the formulas of a file).
Where a mechanism has certified answers, `certified` (`verdict_on`) shows the claim over a map:
`_parameters` are its axes, `_truth` has the brackets, `verdict` says what is found.
"""

from dplearn.teaching.claims._parameters import PARAMETERS, Setting, setting
from dplearn.teaching.claims._truth import QUANTITIES
from dplearn.teaching.claims.certified import letters, readings, side_of, verdict_on
from dplearn.teaching.claims.judging import Finding, Reading, proofread
from dplearn.teaching.claims.reading import Claim
from dplearn.teaching.claims.verdict import STATUS, Point, Region, Slice, Verdict

__all__ = [
    "PARAMETERS",
    "QUANTITIES",
    "STATUS",
    "Claim",
    "Finding",
    "Point",
    "Reading",
    "Region",
    "Setting",
    "Slice",
    "Verdict",
    "letters",
    "proofread",
    "readings",
    "setting",
    "side_of",
    "verdict_on",
]
