"""Names that chapters import: decorators, domains, oracles, lower bounds, search keywords."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, gammaln, log_ndtr, ndtr, ndtri

from dplearn.core.logspace import log1mexp
from dplearn.core.solve import first_true, maximise
from dplearn.teaching.book.kit import below, oracles
from dplearn.teaching.book.kit.domains import *
from dplearn.teaching.book.kit.entry import *
from dplearn.teaching.book.kit.terms import ALONE, GROUP, REPEATED, TOGETHER

__all__ = [
    "ALONE", "COUNT", "GROUP", "LOSS", "MU", "NOISE", "ORDER", "POSSIBLE", "RATE", "REPEATED",
    "RHO", "SLACK", "TOGETHER", "ArrayLike", "Callable", "Choice", "Derived", "Distribution",
    "Drawn", "Generator", "Interval", "Iterable", "Iterator", "Linear", "Log", "NDArray",
    "Sequence", "Whole", "asymptotic", "below", "enter", "expit", "first_true", "formula",
    "gammaln", "given", "identity", "itertools", "log1mexp", "log_ndtr", "lower", "math",
    "maximise", "ndtr", "ndtri", "np", "oracles", "partial", "printed", "reduce", "setting",
    "several", "upper", "wrong",
]  # fmt: skip
