"""Names that chapters import: decorators, domains, oracles, lower bounds, words of settings."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, log_ndtr, ndtr, ndtri

from dplearn.teaching.book.kit import below, oracles
from dplearn.teaching.book.kit.domains import *
from dplearn.teaching.book.kit.entry import *
from dplearn.teaching.book.kit.terms import ALONE, GROUP, REPEATED, TOGETHER

__all__ = [
    "ALONE", "COUNT", "GROUP", "LOSS", "MU", "NOISE", "ORDER", "POSSIBLE", "RATE", "REPEATED",
    "RHO", "SLACK", "TOGETHER", "ArrayLike", "Callable", "Choice", "Derived", "Distribution",
    "Drawn", "Generator", "Interval", "Iterable", "Iterator", "Linear", "Log", "NDArray",
    "Sequence", "Whole", "asymptotic", "below", "enter", "formula", "gammaln", "given", "identity",
    "itertools", "log_ndtr", "lower", "math", "ndtr", "ndtri", "np", "oracles", "partial",
    "printed", "reduce", "setting", "several", "upper", "wrong",
]  # fmt: skip
