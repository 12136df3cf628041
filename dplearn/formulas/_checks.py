"""Proving entries right, and misprints wrong, by computation.

Value and truth are compared on corners and seeded random points of the domain. The `slack` of a
comparison is how far the value is on the right side of the truth, relative to the truth: for an
upper bound (value - truth) / truth, mirrored for a lower one, and minus the relative error for
an identity. Where the truth is an interval, the claim gets the benefit of the doubt.
"""

from __future__ import annotations

import inspect
import math
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import median_low
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from dplearn.formulas._base import Formula, Interval, Misprint
from dplearn.formulas._domains import Derived, Given, Linear, Parameters, design


@dataclass(frozen=True)
class Case:
    """Value and truth at one point.

    Parameters
    ----------
    parameters : dict
    value : float
    truth : Interval
    slack : float
        Negative where the value is on the wrong side; -inf where it has no value.
    """

    parameters: Parameters
    value: float
    truth: Interval
    slack: float

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_printed(x)}" for name, x in self.parameters.items())
        low, high = f"{self.truth.low:.6g}", f"{self.truth.high:.6g}"
        truth = low if low == high else f"{low} to {high}"
        return f"{given}: {self.value:.6g} instead of {truth}"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `verify` found.

    Parameters
    ----------
    id, kind : str
    status : {"verified", "failed", "error"}
    worst_slack : float
        Smallest slack of all points: of a bound, how tight it gets; of an identity, minus the
        largest relative error. nan after an error.
    typical_slack : float
        The median.
    worst : Case, optional
        Where the slack is smallest.
    points : int
    seconds : float
    reason : str
        Why it is not verified.
    """

    id: str
    kind: str
    status: Literal["verified", "failed", "error"]
    worst_slack: float = math.nan
    typical_slack: float = math.nan
    worst: Case | None = None
    points: int = 0
    seconds: float = 0.0
    reason: str = ""

    @property
    def good(self) -> bool:
        """Whether the entry is right."""
        return self.status == "verified"


@dataclass(frozen=True, kw_only=True)
class Refutation:
    """What `refute` found.

    Parameters
    ----------
    id, kind : str
    status : {"refuted", "stands", "error"}
    counterexample : Case, optional
        The one with the shortest numbers.
    worst : Case, optional
        The largest error found.
    unsafe : bool
        Whether it somewhere claims more privacy than there is.
    safe_side : bool
        Whether it is somewhere wrong in the harmless direction.
    harmless : float
        Fraction of the design on which the claim is true.
    seconds : float
    reason : str
        What went wrong, after an error.
    """

    id: str
    kind: str
    status: Literal["refuted", "stands", "error"]
    counterexample: Case | None = None
    worst: Case | None = None
    unsafe: bool = False
    safe_side: bool = False
    harmless: float = math.nan
    seconds: float = 0.0
    reason: str = ""

    @property
    def good(self) -> bool:
        """Whether the misprint is known to be one."""
        return self.status == "refuted"

    @property
    def worst_slack(self) -> float:
        """Slack of the largest error; nan if there is none."""
        return self.worst.slack if self.worst else math.nan


def verify(formula: Formula, *, seed: int = 0, points: int | None = None) -> Verification:
    """Compare a formula with its oracle.

    Parameters
    ----------
    formula : Formula
    seed : int
        Of the random points.
    points : int, optional
        Size of the design. Default: what the entry asks for.

    Returns
    -------
    Verification
        Never raises: what the function or the oracle raise becomes status "error".

    Examples
    --------
    >>> from dplearn.formulas import book
    >>> verify(book["G-A1"], points=20).status
    'verified'
    """
    began = time.perf_counter()
    about: dict[str, Any] = {"id": formula.id, "kind": formula.kind}
    try:
        cases = _all_cases(formula, seed, points)
        worst = min(cases, key=lambda case: case.slack)
        wrong = _wrong_example(formula)
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


def refute(
    formula: Formula, misprint: Misprint, *, seed: int = 0, points: int | None = None
) -> Refutation:
    """Look for parameters at which a wrong variant of a formula is wrong.

    Parameters
    ----------
    formula : Formula
        The entry that `misprint` belongs to.
    misprint : Misprint
    seed, points
        As in `verify`; the search around the worst points takes about as many evaluations again.

    Returns
    -------
    Refutation
        Status "stands" if no counterexample was found; like `verify` it never raises.

    Examples
    --------
    >>> from dplearn.formulas import book
    >>> found = refute(book["G-A4"], book["G-A4"].misprint("no-root"))
    >>> found.status, found.unsafe
    ('refuted', True)
    """
    began = time.perf_counter()
    claim = formula.claimed(misprint)
    about: dict[str, Any] = {"id": claim.id, "kind": claim.kind}
    try:
        cases = _all_cases(claim, seed, points)
        wrong = _wrong_example(claim)
        worst = _walk(claim, min(cases, key=_rank(claim)), _rng(claim, seed))
        failing = [case for case in [worst, *cases] if side_of(claim, case) != "right"]
        simplest = _simplest(claim, sorted(failing, key=_rank(claim))) if failing else None
    except Exception as error:  # As in verify.
        about |= {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    else:
        sides = {side_of(claim, case) for case in failing}
        about |= {
            "status": "error" if wrong else "refuted" if failing else "stands",
            "reason": wrong,
            "harmless": sum(side_of(claim, case) == "right" for case in cases) / len(cases),
            "worst": worst if failing else None,
            "counterexample": simplest,
            "unsafe": claim.unsafe in sides,
            "safe_side": bool(sides & ({"smaller", "larger"} - {claim.unsafe})),
        }
    return Refutation(**about, seconds=time.perf_counter() - began)


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
    still = formula.claimed(Misprint("", formula.statement, kind="identity", along={}))
    cases = [compare(still, {**parameters, name: value}) for value in values]
    slacks = [min(case.slack, -formula.tolerance) for case in cases]
    last = cases[-1]
    grew = any(b < a for a, b in pairwise(slacks))
    return Case(last.parameters, last.value, last.truth, -math.inf if grew else last.slack)


def _all_cases(formula: Formula, seed: int, points: int | None) -> list[Case]:
    chosen = drawn(formula, points=points, seed=seed)
    _require_independence(formula, chosen[:3])
    return [compare(formula, parameters) for parameters in chosen]


def drawn(formula: Formula, *, points: int | None = None, seed: int = 0) -> list[Parameters]:
    """The parameters at which a formula is checked; as many as it asks for by default."""
    count, rng = points or formula.points, _rng(formula, seed)
    return design(formula.domain, formula.accepts, points=count, rng=rng)


def _rng(formula: Formula, seed: int) -> Generator:
    return np.random.default_rng([seed, zlib.crc32(formula.id.encode())])


def _require_independence(formula: Formula, points: list[Parameters]) -> None:
    """Raise if the oracle is the formula's own code, or runs it."""
    own = _code(formula.function)
    if own is not None and _content(own) == _content(_code(formula.oracle)):
        raise ValueError("Expected an independent oracle, got the formula itself.")
    seen: set[Any] = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: seen.add(frame.f_code))
    try:
        for parameters in points:
            first = next(iter((formula.along or {"": (None,)}).items()))
            formula.truth({**parameters, first[0]: first[1][0]} if first[0] else parameters)
    finally:
        sys.setprofile(before)
    if own in seen:
        raise ValueError("Expected an independent oracle, got one that calls the formula.")


def _code(function: Callable[..., Any]) -> Any:
    return getattr(inspect.unwrap(function), "__code__", None)


def _content(code: Any) -> Any:
    """What a function does, without its name, place and docstring."""
    if code is None:
        return None
    constants = tuple(c for c in code.co_consts if not isinstance(c, str))
    return code.co_code, code.co_names, constants


def _wrong_example(formula: Formula) -> str:
    """The first printed value or truth that does not come out; "" if all do."""
    for parameters, *printed in formula.examples:
        sides = (formula.value, lambda p: formula.truth(p).low)
        for side, text in zip(sides, printed, strict=False):
            with np.errstate(all="ignore"):
                found = side(dict(parameters))
            if not _agrees(found, text):
                return f"{parameters}: {found!r} instead of the printed {text}"
    return ""


def _agrees(found: float, printed: str) -> bool:
    """Equal up to a unit of the last digit printed; whole numbers are taken to be exact."""
    value = float(printed)
    if found == value:
        return True
    exponent = Decimal(printed).as_tuple().exponent if "." in printed else -400
    unit = 10.0**exponent if isinstance(exponent, int) else 0.0
    return abs(found - value) <= max(unit, 4e-15 * abs(value))


# The search for counterexamples


def side_of(claim: Formula, case: Case) -> str:
    """Where the value is: right, or wrong and smaller, larger, or none at all."""
    if case.slack >= -claim.tolerance:
        return "right"
    if math.isnan(case.value):
        return "none"
    return "smaller" if case.value < case.truth.low else "larger"


def _rank(claim: Formula) -> Callable[[Case], Any]:
    """Unsafe errors first, then the large ones; next to a truth of 0 all are infinite."""

    def key(case: Case) -> tuple[bool, float, float]:
        error = abs(case.value - case.truth.low)
        return (
            side_of(claim, case) != claim.unsafe,
            case.slack,
            -error if math.isfinite(error) else 0.0,
        )

    return key


def _walk(claim: Formula, worst: Case, rng: Generator) -> Case:
    """Downhill by random steps that get shorter."""
    steps = claim.points // 2
    for k in range(steps):
        if math.isinf(worst.slack):
            break
        size = 0.3 * 0.01 ** (k / steps)
        moved: Parameters = {}
        for name, values in claim.domain.items():
            old = worst.parameters[name]
            # What depends on others must not stay behind when they move.
            fixed = not isinstance(values, Given | Derived) or _same(moved, worst.parameters)
            still = fixed and rng.random() < 0.3
            moved[name] = old if still else values.near(old, rng, size, moved)
        if claim.accepts(moved):
            worst = min(worst, compare(claim, moved), key=_rank(claim))
    return worst


def _same(some: Parameters, parameters: Parameters) -> bool:
    return all(value is parameters[name] for name, value in some.items())


def _simplest(claim: Formula, failing: list[Case]) -> Case:
    """The case that takes the fewest characters among rounded versions of some; worst first."""
    worst = failing[0]
    # Clearly wrong: by one percent, or by half the largest error where none is as large.
    limit = max(-0.01, 0.5 * max(worst.slack, -1.0))
    side = side_of(claim, worst)

    def clear(case: Case) -> bool:
        return case.slack <= limit and side_of(claim, case) == side

    def shorter(found: Case, changed: Parameters) -> Case:
        changed = {**found.parameters, **changed}
        for name, values in claim.domain.items():
            if isinstance(values, Derived):
                changed[name] = values.make(changed)
        if _length(changed) >= _length(found.parameters) or not claim.accepts(changed):
            return found
        case = compare(claim, changed)
        return case if clear(case) else found

    some = [case for case in failing if clear(case)]
    some = some[:: max(1, len(some) // 8)][:8]
    found = min(some, key=lambda case: _length(case.parameters))
    for digits in (0, 1, 2):
        for case in some:
            rounded = {n: d.rounded(case.parameters[n], digits) for n, d in claim.domain.items()}
            found = shorter(found, rounded)
    # One at a time: the shortest numbers there are.
    for name, values in claim.domain.items():
        if isinstance(values, Linear):
            for value in (1.0, 2.0, 10.0, 0.5, 0.1):
                if values.low <= value <= values.high:
                    found = shorter(found, {name: values.rounded(value, 1)})
    return found


def _length(parameters: Parameters) -> float:
    return sum(len(_printed(x)) + _oddness(x) for x in parameters.values())


def _oddness(value: Any) -> float:
    """Of numbers that print equally short the one near 1 is the simplest."""
    if not isinstance(value, float | int) or not 0 < value < math.inf:
        return 0.0
    return 0.01 * abs(math.log10(value))


def _printed(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = value.astype(int) if value.dtype == bool else value
        return f"({', '.join(map(_printed, shown))})"
    return f"{value:.6g}" if isinstance(value, float | int | np.number) else str(value)
