"""Checks of entries and of misprints, by a search for parameters with the largest error."""

import math
import time
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from numpy.random import Generator

from dplearn.teaching.book.kit import checks
from dplearn.teaching.book.kit.checks import Case, compare, side_of
from dplearn.teaching.book.kit.domains import Derived, Drawn, Linear, Parameters
from dplearn.teaching.book.kit.entry import Formula, Misprint

SEARCHES = 3


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Outcome of the check of an entry, a misprint or a published figure."""

    id: str
    kind: str
    status: str
    worst_slack: float = math.nan
    seconds: float = 0.0
    reason: str = ""

    @property
    def good(self) -> bool:
        """Whether the status is right: "verified", "refuted" for a misprint, or "not computed"."""
        return self.status in ("verified", "refuted", "not computed")


@dataclass(frozen=True, kw_only=True)
class Verification(Outcome):
    """Outcome of the search by `verify` for an error in an entry of the book.

    Parameters
    ----------
    id, kind : str
        Id and kind of the entry.
    status, reason : str
        Verified, failed or error, and why the entry is not verified.
    worst_slack : float
        Smallest slack, any number or nan: where a bound is tightest; for an identity, minus the
        largest relative error.
    worst : Case or None
        Comparison with the smallest slack.
    points : int
        Number of points drawn in all searches, >= 0.
    seconds : float
        Time spent, >= 0.
    """

    worst: Case | None = None
    points: int = 0


def verify(
    formula: Formula, *, seed: int = 0, points: int | None = None, searches: int = SEARCHES
) -> Verification:
    """Verify a formula by a search for parameters at which it is wrong.

    Parameters
    ----------
    formula : Formula
        Entry of the book.
    seed : int
        Seed of all points, >= 0.
    points : int, optional
        Number of points of the first search, >= 1, by default `formula.points`.
    searches : int
        Largest number of searches, >= 1; the first that finds an error is the last.

    Returns
    -------
    Verification
        Its status is "error" if the function or the oracle raises an exception.

    Examples
    --------
    >>> from dplearn.teaching.book import book
    >>> verify(book["G-A1"], points=20).status
    'verified'
    """
    began = time.perf_counter()
    about: dict[str, Any] = {"id": formula.id, "kind": formula.kind}
    try:
        cases, worst, wrong = _search(formula, points, seed, searches)
        if not wrong and side_of(formula, worst) != "right":
            wrong = str(worst)
        about |= {"status": "failed" if wrong else "verified", "reason": wrong, "worst": worst}
        about |= {"worst_slack": worst.slack, "points": len(cases)}
    except Exception as error:  # one broken entry must not stop the others
        about |= {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    return Verification(**about, seconds=time.perf_counter() - began)


@dataclass(frozen=True, kw_only=True)
class Refutation(Outcome):
    """Outcome of a search for a counterexample, with the fields of `Verification` except `points`.

    Parameters
    ----------
    counterexample, worst : Case or None
        Counterexamples with the shortest numbers and with the largest error.
    unsafe, safe_side : bool
        Whether the claim overstates privacy at some point, and whether it understates it at one.
    harmless : float
        Fraction of the points drawn at which the claim is true, in [0, 1], or nan.
    """

    counterexample: Case | None = None
    worst: Case | None = None
    unsafe: bool = False
    safe_side: bool = False
    harmless: float = math.nan


def refute(formula: Formula, misprint: Misprint, *, points: int | None = None) -> Refutation:
    """Search for parameters at which a misprint is wrong.

    Parameters
    ----------
    formula : Formula
        Entry of the book.
    misprint : Misprint
        One of its misprints, or any variant.
    points : int, optional
        Number of points of the first search, >= 1, by default `formula.points`.

    Returns
    -------
    Refutation
        Its status is "refuted", "stands" without a counterexample, or "error" after an exception.

    Examples
    --------
    >>> from dplearn.teaching.book import book
    >>> refutation = refute(book["G-A4"], book["G-A4"].misprint("no-root"))
    >>> refutation.status, refutation.unsafe
    ('refuted', True)
    """
    began = time.perf_counter()
    claim = formula.claimed(misprint)
    about: dict[str, Any] = {"id": claim.id, "kind": claim.kind}
    try:
        cases, worst, wrong = _search(claim, points)
        failing = [case for case in [worst, *cases] if side_of(claim, case) != "right"]
        if failing:
            shortest = plainest_case(claim, sorted(failing, key=partial(_rank, claim)))
            about |= {"counterexample": shortest, "worst": worst, "worst_slack": worst.slack}
        sides = {side_of(claim, case) for case in failing}
        right = sum(side_of(claim, case) == "right" for case in cases)
        about["status"] = "error" if wrong else "refuted" if failing else "stands"
        about |= {"reason": wrong, "unsafe": claim.unsafe in sides, "harmless": right / len(cases)}
        about["safe_side"] = bool(sides & ({"smaller", "larger"} - {claim.unsafe}))
    except Exception as error:  # one broken misprint must not stop the others
        about |= {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    return Refutation(**about, seconds=time.perf_counter() - began)


def _search(
    claim: Formula, points: int | None, seed: int = 0, searches: int = SEARCHES
) -> tuple[list[Case], Case, str]:
    """Return all cases drawn, the worst case found by walks, and the first wrong printed value.

    The first search draws `points` points and walks from the worst one towards a smaller slack.
    Each later search draws a quarter as many and walks twice, from its worst corner and its worst
    other point, often along edges of domain and hypothesis. The first error ends the searches.
    """
    checks.require_independence(claim, checks.starting_points(claim, points=3, seed=seed))
    points = points or claim.points
    cases: list[Case] = []
    ends: list[Case] = []
    for k in range(searches):
        size, rng = -(-points // (4 if k else 1)), checks.random_numbers(claim, seed, k)
        chosen = checks.starting_points(claim, points=size, seed=seed, search=k)
        if k:
            chosen[size // 2 :] = [_at_edge(claim, x, rng) or x for x in chosen[size // 2 :]]
        design = [compare(claim, parameters) for parameters in chosen]
        parts = (design[: size // 2], design[size // 2 :]) if k else (design,)
        for part in filter(None, parts):
            start, steps = min(part, key=partial(_rank, claim)), points // 2 // len(parts)
            ends += [_walk(claim, start, rng, steps=steps, edges=0.4 if k else 0.0)]
        cases += design
        if any(side_of(claim, end) != "right" for end in ends):
            break
    return cases, min(ends, key=partial(_rank, claim)), checks.wrong_example(claim)


def _rank(claim: Formula, case: Case) -> tuple[bool, float, float]:
    """Return a sort key of cases: errors that overstate privacy first, then by slack and error."""
    error = abs(case.value - case.truth.low)
    size = -error if math.isfinite(error) else 0.0
    return side_of(claim, case) != claim.unsafe, case.slack, size


def _walk(claim: Formula, worst: Case, rng: Generator, *, steps: int, edges: float) -> Case:
    """Reduce the slack by ever shorter random steps, each with probability `edges` to an edge."""
    for k in range(steps):
        if math.isinf(worst.slack):
            break
        size = 0.3 * 0.01 ** (k / steps)
        moved: Parameters = {}
        for name, values in claim.domain.items():
            old = worst.parameters[name]
            # Draw a dependent parameter again when an earlier parameter has changed.
            same = all(value is worst.parameters[n] for n, value in moved.items())
            still = (same or not isinstance(values, Drawn)) and rng.random() < 0.3
            moved[name] = old if still else values.near(old, rng, size, moved)
        if (edges and rng.random() < edges) or not claim.accepts(moved):
            moved = _at_edge(claim, moved, rng) or worst.parameters
        if moved is not worst.parameters:
            worst = min(worst, compare(claim, moved), key=partial(_rank, claim))
    return worst


def _at_edge(claim: Formula, moved: Parameters, rng: Generator) -> Parameters | None:
    """Return accepted parameters, one number moved to where its domain or the hypothesis ends."""
    good = claim.accepts(moved)
    others = [values for values in claim.domain.values() if isinstance(values, Drawn)]
    alone = lambda name: not any(values.follows(name) for values in others)
    free = {n: v for n, v in claim.domain.items() if isinstance(v, Linear) and alone(n)}
    for name in rng.permutation(list(free)):
        values = free[name]
        for end in rng.permutation([values.low, values.high]).tolist():
            far = _rederived(claim, {**moved, name: end})
            reached = claim.accepts(far)
            if good and reached:
                return far
            if good or reached:
                inside, outside = (moved, far) if good else (far, moved)
                for _ in range(20):
                    between = values.middle(inside[name], outside[name])
                    middle = _rederived(claim, {**outside, name: between})
                    if claim.accepts(middle):
                        inside = middle
                    else:
                        outside = middle
                return inside
    return moved if good else None


def _rederived(claim: Formula, changed: Parameters) -> Parameters:
    for name, values in claim.domain.items():
        if isinstance(values, Derived):
            changed[name] = values.draw(None, changed)
    return changed


def plainest_case(claim: Formula, failing: list[Case]) -> Case:
    """Return the counterexample with the shortest numbers; `failing` begins with the worst case."""
    worst = failing[0]
    # A case is clear if it errs by one percent, or by half the largest error if that is less.
    limit = max(-0.01, 0.5 * max(worst.slack, -1.0))
    side = side_of(claim, worst)

    clear = lambda case: case.slack <= limit and side_of(claim, case) == side

    def shorter(best: Case, changed: Parameters) -> Case:
        changed = _rederived(claim, {**best.parameters, **changed})
        if _length(changed) >= _length(best.parameters) or not claim.accepts(changed):
            return best
        case = compare(claim, changed)
        return case if clear(case) else best

    starts = [case for case in failing if clear(case)]
    starts = starts[:: max(1, len(starts) // 8)][:8]
    best = min(starts, key=lambda case: _length(case.parameters))
    for digits, case in product((0, 1, 2), starts):
        rounded = {n: d.rounded(case.parameters[n], digits) for n, d in claim.domain.items()}
        best = shorter(best, rounded)
    # Try the shortest numbers, one parameter at a time.
    for (name, values), value in product(claim.domain.items(), (1.0, 2.0, 10.0, 0.5, 0.1)):
        if isinstance(values, Linear) and values.low <= value <= values.high:
            best = shorter(best, {name: values.rounded(value, 1)})
    return best


def _length(parameters: Parameters) -> float:
    """Return the length of the parameters as text, plus a small term for numbers far from 1."""
    numbers = [x for x in parameters.values() if isinstance(x, float | int) and 0 < x < math.inf]
    oddness = 0.01 * sum(abs(math.log10(x)) for x in numbers)
    return sum(len(checks.short_text(x)) for x in parameters.values()) + oddness
