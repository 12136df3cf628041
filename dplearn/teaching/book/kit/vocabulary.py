"""Words in which chapters are written; each imports all of them.

Decorators and domains of an entry, oracles and lower bounds that several entries share, common
words of settings, and what nearly every chapter needs of Python and NumPy.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from dplearn.teaching.book.kit import below, oracles
from dplearn.teaching.book.kit.domains import *
from dplearn.teaching.book.kit.entry import *
from dplearn.teaching.book.kit.terms import GROUP, REPEATED

__all__ = [
    "COUNT", "GROUP", "LOSS", "MU", "NOISE", "ORDER", "RATE", "REPEATED", "RHO", "SLACK",
    "ArrayLike", "Callable", "Choice", "Derived", "Distribution", "Drawn", "Generator", "Interval",
    "Iterable", "Iterator", "Linear", "Log", "NDArray", "Sequence", "Whole", "asymptotic", "below",
    "enter", "formula", "given", "identity", "itertools", "lower", "math", "np", "oracles",
    "partial", "printed", "reduce", "setting", "upper", "wrong",
]  # fmt: skip
