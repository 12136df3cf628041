"""Refuting misprints: a search for the simplest parameters at which a claim is wrong."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from numpy.random import Generator

from dplearn.book.kit.checks import Case, all_cases, compare, random_numbers, spelled, wrong_example
from dplearn.book.kit.domains import Derived, Drawn, Linear, Parameters
from dplearn.book.kit.entry import Formula, Misprint


@dataclass(frozen=True, kw_only=True)
class Refutation:
    """The outcome of `refute`; `reason` says what went wrong after an error."""

    id: str
    kind: str
    status: Literal["refuted", "stands", "error"]
    counterexample: Case | None = None  # the one with the shortest numbers
    worst: Case | None = None  # the largest error
    unsafe: bool = False  # whether it somewhere claims more privacy than there is
    safe_side: bool = False  # whether it is somewhere wrong in the harmless direction
    harmless: float = math.nan  # fraction of the design on which the claim is true
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


def refute(
    formula: Formula, misprint: Misprint, *, seed: int = 0, points: int | None = None
) -> Refutation:
    """Look for parameters at which a wrong variant of a formula is wrong.

    Seed and points are as in `verify`; the search around the worst points takes about as many
    evaluations again. The status is "stands" if no counterexample was found; like `verify` it
    never raises.

    Examples
    --------
    >>> from dplearn.book import book
    >>> refutation = refute(book["G-A4"], book["G-A4"].misprint("no-root"))
    >>> refutation.status, refutation.unsafe
    ('refuted', True)
    """
    began = time.perf_counter()
    claim = formula.claimed(misprint)
    about: dict[str, Any] = {"id": claim.id, "kind": claim.kind}
    try:
        cases = all_cases(claim, seed, points)
        wrong = wrong_example(claim)
        worst = _walk(claim, min(cases, key=_rank(claim)), random_numbers(claim, seed))
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
        size = -error if math.isfinite(error) else 0.0
        return side_of(claim, case) != claim.unsafe, case.slack, size

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
            fixed = not isinstance(values, Drawn) or _same(moved, worst.parameters)
            still = fixed and rng.random() < 0.3
            moved[name] = old if still else values.near(old, rng, size, moved)
        if claim.accepts(moved):
            worst = min(worst, compare(claim, moved), key=_rank(claim))
    return worst


def _same(moved: Parameters, parameters: Parameters) -> bool:
    return all(value is parameters[name] for name, value in moved.items())


def _simplest(claim: Formula, failing: list[Case]) -> Case:
    """The case that takes the fewest characters among rounded ones; the worst comes first."""
    worst = failing[0]
    # Clearly wrong: by one percent, or by half the largest error where none is as large.
    limit = max(-0.01, 0.5 * max(worst.slack, -1.0))
    side = side_of(claim, worst)

    def clear(case: Case) -> bool:
        return case.slack <= limit and side_of(claim, case) == side

    def shorter(best: Case, changed: Parameters) -> Case:
        changed = {**best.parameters, **changed}
        for name, values in claim.domain.items():
            if isinstance(values, Derived):
                changed[name] = values.of(changed)
        if _length(changed) >= _length(best.parameters) or not claim.accepts(changed):
            return best
        case = compare(claim, changed)
        return case if clear(case) else best

    starts = [case for case in failing if clear(case)]
    starts = starts[:: max(1, len(starts) // 8)][:8]
    best = min(starts, key=lambda case: _length(case.parameters))
    for digits in (0, 1, 2):
        for case in starts:
            rounded = {n: d.rounded(case.parameters[n], digits) for n, d in claim.domain.items()}
            best = shorter(best, rounded)
    # One at a time: the shortest numbers there are.
    for name, values in claim.domain.items():
        if isinstance(values, Linear):
            for value in (1.0, 2.0, 10.0, 0.5, 0.1):
                if values.low <= value <= values.high:
                    best = shorter(best, {name: values.rounded(value, 1)})
    return best


def _length(parameters: Parameters) -> float:
    return sum(len(spelled(x)) + _oddness(x) for x in parameters.values())


def _oddness(value: Any) -> float:
    """Of numbers that print equally short the one near 1 is the simplest."""
    if not isinstance(value, float | int) or not 0 < value < math.inf:
        return 0.0
    return 0.01 * abs(math.log10(value))
