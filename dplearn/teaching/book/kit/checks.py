"""Comparison of a formula with its oracle (the truth) at one choice of parameters.

The `slack` of a comparison is (value - truth) / truth for an upper bound, (truth - value) / truth
for a lower bound, and minus the relative error for an identity; a negative slack is an error. If
the truth is an interval, the slack is the largest over the interval.
"""

import inspect
import math
import sys
import zlib
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from dplearn.teaching.book.kit.domains import Parameters, design
from dplearn.teaching.book.kit.entry import Formula, Interval, Misprint

LEAST = 1e-290  # smaller differences are rounding errors of subnormal numbers


@dataclass(frozen=True)
class Case:
    """Comparison of a formula's value with the truth at one point; a value nan gives slack -inf."""

    parameters: Parameters
    value: float
    truth: Interval
    slack: float

    def __str__(self) -> str:
        given = ", ".join(f"{name}={short_text(x)}" for name, x in self.parameters.items())
        low, high = f"{self.truth.low:.6g}", f"{self.truth.high:.6g}"
        exact = low if low == high else f"{low} to {high}"
        return f"{given}: {self.value:.6g} instead of {exact}"


def compare(formula: Formula, parameters: Parameters) -> Case:
    """Compare a formula with its oracle at `parameters`; ArithmeticError if the oracle is nan."""
    if formula.along:
        # Return the case nearest the limit; its slack is -inf if a step to the limit adds error.
        ((name, values),) = formula.along.items()
        still = formula.claimed(Misprint("", "", formula.statement, kind="identity", along={}))
        cases = [compare(still, {**parameters, name: value}) for value in values]
        slacks = [min(case.slack, -formula.tolerance) for case in cases]
        grew = any(b < a for a, b in pairwise(slacks))
        return replace(cases[-1], slack=-math.inf) if grew else cases[-1]
    with np.errstate(all="ignore"):
        value, exact = formula.value(parameters), formula.truth(parameters)
    if math.isnan(exact.low) or math.isnan(exact.high):
        raise ArithmeticError(f"The oracle has no value at {parameters}.")
    # Equal infinities differ by 0, but inf - inf is nan.
    above = 0.0 if value == exact.low else value - exact.low
    below = 0.0 if value == exact.high else exact.high - value
    margin = {"upper": above, "lower": below}.get(formula.kind, min(above, below, 0.0))
    size = abs(exact.low if formula.kind == "upper" or above < 0 else exact.high)
    if math.isnan(value):
        slack = -math.inf
    elif abs(margin) <= max(formula.absolute, LEAST):
        slack = 0.0
    else:
        slack = margin / size if 0 < size < math.inf else math.copysign(math.inf, margin)
    return Case(parameters, value, exact, slack)


def side_of(claim: Formula, case: Case) -> Literal["right", "smaller", "larger", "none"]:
    """Return how a value compares with the truth: "right", "smaller", "larger", "none" for nan."""
    if case.slack >= -claim.tolerance:
        return "right"
    if math.isnan(case.value):
        return "none"
    return "smaller" if case.value < case.truth.low else "larger"


def starting_points(
    formula: Formula, *, points: int | None = None, seed: int = 0, search: int = 0
) -> list[Parameters]:
    """Return the parameters at which a search begins: corners of the domain, then random points."""
    rng = random_numbers(formula, seed, search)
    return design(formula.domain, formula.accepts, points=points or formula.points, rng=rng)


def random_numbers(formula: Formula, seed: int, search: int) -> Generator:
    """Return a random generator seeded by `seed`, the formula's id and the number of the search."""
    return np.random.default_rng([seed, zlib.crc32(formula.id.encode()), search])


def require_independence(formula: Formula, points: list[Parameters]) -> None:
    """Raise ValueError if the oracle copies or calls the formula."""
    code_of = lambda f: getattr(inspect.unwrap(f), "__code__", None)
    constants = lambda code: [c for c in code.co_consts if not isinstance(c, str)]  # skip docstring
    content = lambda code: (code.co_code, code.co_names, constants(code))
    own, other = code_of(formula.function), code_of(formula.oracle)
    if own is not None and other is not None and content(own) == content(other):
        raise ValueError("Expected an independent oracle, got the formula itself.")
    ran: set[Any] = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: ran.add(frame.f_code))
    try:
        for parameters in points:
            first = {name: values[0] for name, values in (formula.along or {}).items()}
            formula.truth(parameters | first)
    finally:
        sys.setprofile(before)
    if own in ran:
        raise ValueError("Expected an independent oracle, got one that calls the formula.")


def wrong_example(formula: Formula) -> str:
    """Describe the first printed number that is not reproduced, or return ""."""
    for example in formula.printed:
        exact = lambda parameters: formula.truth(parameters).low
        for text, side in ((example.value, formula.value), (example.truth, exact)):
            if not text:
                continue
            with np.errstate(all="ignore"):
                value, printed = side(dict(example.parameters)), float(text)
            # The tolerance is one unit of the last printed digit; integers must agree exactly.
            unit = 10.0 ** int(Decimal(text).as_tuple().exponent) if "." in text else 0.0
            close = abs(value - printed) <= max(unit, 4e-15 * abs(printed))
            if value != printed and not close:
                return f"{example.parameters}: {value!r} instead of the printed {text}"
    return ""


def short_text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = value.astype(int) if value.dtype == bool else value
        return f"({', '.join(map(short_text, shown))})"
    return f"{value:.6g}" if isinstance(value, float | int | np.number) else str(value)
