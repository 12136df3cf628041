"""Words in which chapters are written; each imports all of them.

Decorators and domains of an entry, oracles and lower bounds that several entries share, and common
words of settings.
"""

from dplearn.teaching.book.kit import below, oracles
from dplearn.teaching.book.kit.domains import *
from dplearn.teaching.book.kit.entry import *
from dplearn.teaching.book.kit.terms import GROUP, REPEATED

__all__ = [
    "COUNT", "GROUP", "LOSS", "MU", "NOISE", "ORDER", "RATE", "REPEATED", "RHO", "SLACK", "Choice",
    "Derived", "Distribution", "Drawn", "Interval", "Linear", "Log", "Whole", "asymptotic", "below",
    "enter", "formula", "given", "identity", "lower", "oracles", "printed", "setting", "upper",
    "wrong",
]  # fmt: skip
