"""Proving entries right, and misprints wrong, by computation.

Value and truth are compared on corners and seeded random points of the domain. The `slack` of a
comparison is how far the value is on the right side of the truth, relative to the truth: for an
upper bound (value - truth) / truth, mirrored for a lower one, and minus the relative error for
an identity. Where the truth is an interval, the claim gets the benefit of the doubt.
"""

import inspect
import math
import sys
import time
import zlib
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import median_low
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from dplearn.book.kit.domains import Parameters, design
from dplearn.book.kit.entry import Formula, Interval, Misprint


@dataclass(frozen=True)
class Case:
    """Value and truth at one point.

    The slack is negative where the value is on the wrong side; -inf where it has no value.
    """

    parameters: Parameters
    value: float
    truth: Interval
    slack: float

    def __str__(self) -> str:
        given = ", ".join(f"{name}={spelled(x)}" for name, x in self.parameters.items())
        low, high = f"{self.truth.low:.6g}", f"{self.truth.high:.6g}"
        truth = low if low == high else f"{low} to {high}"
        return f"{given}: {self.value:.6g} instead of {truth}"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The outcome of `verify`; `reason` says why it is not verified."""

    id: str
    kind: str
    status: Literal["verified", "failed", "error"]
    # Smallest slack of all points: of a bound, how tight it gets; of an identity, minus the
    # largest relative error; nan after an error.
    worst_slack: float = math.nan
    typical_slack: float = math.nan  # the median
    worst: Case | None = None  # where the slack is smallest
    points: int = 0
    seconds: float = 0.0
    reason: str = ""

    @property
    def good(self) -> bool:
        """Whether the entry is right."""
        return self.status == "verified"


def verify(formula: Formula, *, seed: int = 0, points: int | None = None) -> Verification:
    """Compare a formula with its oracle, by default at as many points as the entry asks for.

    It never raises: what the function or the oracle raise becomes status "error".

    Examples
    --------
    >>> from dplearn.book import book
    >>> verify(book["G-A1"], points=20).status
    'verified'
    """
    began = time.perf_counter()
    about: dict[str, Any] = {"id": formula.id, "kind": formula.kind}
    try:
        cases = all_cases(formula, seed, points)
        worst = min(cases, key=lambda case: case.slack)
        wrong = wrong_example(formula)
    except Exception as error:  # An entry may fail in any way; the others must go on.
        about |= {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    else:
        if not wrong and worst.slack < -formula.tolerance:
            wrong = str(worst)
        about |= {
            "status": "failed" if wrong else "verified",
            "reason": wrong,
            "worst": worst,
            "worst_slack": worst.slack,
            "typical_slack": median_low(case.slack for case in cases),
            "points": len(cases),
        }
    return Verification(**about, seconds=time.perf_counter() - began)


def compare(formula: Formula, parameters: Parameters) -> Case:
    """Value and truth of a formula at one point."""
    if formula.along:
        return _approach(formula, parameters)
    with np.errstate(all="ignore"):
        value, truth = formula.value(parameters), formula.truth(parameters)
    if math.isnan(truth.low) or math.isnan(truth.high):
        raise ArithmeticError(f"The oracle has no value at {parameters}.")
    return Case(parameters, value, truth, _slack(formula, value, truth))


def _slack(formula: Formula, value: float, truth: Interval) -> float:
    if math.isnan(value):
        return -math.inf
    # Infinities on both sides are equal; inf - inf would not be.
    above = 0.0 if value == truth.low else value - truth.low
    below = 0.0 if value == truth.high else truth.high - value
    margin = {"upper": above, "lower": below}.get(formula.kind, min(above, below, 0.0))
    if abs(margin) <= formula.absolute:
        return 0.0
    size = abs(truth.low if formula.kind == "upper" or above < 0 else truth.high)
    if math.isinf(size) or size == 0:
        return math.copysign(math.inf, margin)
    return margin / size


def _approach(formula: Formula, parameters: Parameters) -> Case:
    """The last case towards the limit, with -inf for its slack if the error ever grew."""
    ((name, values),) = (formula.along or {}).items()
    still = formula.claimed(Misprint("", "", formula.statement, kind="identity", along={}))
    cases = [compare(still, {**parameters, name: value}) for value in values]
    slacks = [min(case.slack, -formula.tolerance) for case in cases]
    last = cases[-1]
    grew = any(b < a for a, b in pairwise(slacks))
    return Case(last.parameters, last.value, last.truth, -math.inf if grew else last.slack)


def all_cases(formula: Formula, seed: int, points: int | None) -> list[Case]:
    chosen = drawn(formula, points=points, seed=seed)
    _require_independence(formula, chosen[:3])
    return [compare(formula, parameters) for parameters in chosen]


def drawn(formula: Formula, *, points: int | None = None, seed: int = 0) -> list[Parameters]:
    """The parameters at which a formula is checked; as many as it asks for by default."""
    count, rng = points or formula.points, random_numbers(formula, seed)
    return design(formula.domain, formula.accepts, points=count, rng=rng)


def random_numbers(formula: Formula, seed: int) -> Generator:
    return np.random.default_rng([seed, zlib.crc32(formula.id.encode())])


def _require_independence(formula: Formula, points: list[Parameters]) -> None:
    """Raise if the oracle is the formula's own code, or runs it."""
    own, other = (
        getattr(inspect.unwrap(f), "__code__", None) for f in (formula.function, formula.oracle)
    )
    if own is not None and other is not None and _content(own) == _content(other):
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


def _content(code: Any) -> Any:
    """What a function does, without its name, place and docstring."""
    constants = tuple(c for c in code.co_consts if not isinstance(c, str))
    return code.co_code, code.co_names, constants


def wrong_example(formula: Formula) -> str:
    """The first printed value or truth that does not come out; "" if all do."""
    for example in formula.printed:
        truth = lambda parameters: formula.truth(parameters).low
        for text, side in ((example.value, formula.value), (example.truth, truth)):
            with np.errstate(all="ignore"):
                value = side(dict(example.parameters)) if text else math.nan
            if text and not _agrees(value, text):
                return f"{example.parameters}: {value!r} instead of the printed {text}"
    return ""


def _agrees(computed: float, printed: str) -> bool:
    """Equal up to a unit of the last digit printed; whole numbers are taken to be exact."""
    value = float(printed)
    if computed == value:
        return True
    unit = 10.0 ** int(Decimal(printed).as_tuple().exponent) if "." in printed else 0.0
    return abs(computed - value) <= max(unit, 4e-15 * abs(value))


def spelled(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = value.astype(int) if value.dtype == bool else value
        return f"({', '.join(map(spelled, shown))})"
    return f"{value:.6g}" if isinstance(value, float | int | np.number) else str(value)
