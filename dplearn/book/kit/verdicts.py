"""Verdicts: entries are right, and misprints wrong, by one and the same search."""

import math
import time
from dataclasses import dataclass
from statistics import median_low
from typing import Any, Literal

from dplearn.book.kit.checks import (
    Case,
    require_independence,
    side_of,
    starting_points,
    wrong_example,
)
from dplearn.book.kit.entry import Formula, Misprint
from dplearn.book.kit.search import SEARCHES, plainest_case, rank, search


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


def verify(
    formula: Formula, *, seed: int = 0, points: int | None = None, searches: int = SEARCHES
) -> Verification:
    """Look for parameters at which a formula is wrong; it is verified if there are none.

    The search is that of `refute`: so many searches, the first from as many points as the entry
    asks for by default. It never raises: what function or oracle raise becomes status "error".

    Examples
    --------
    >>> from dplearn.book import book
    >>> verify(book["G-A1"], points=20).status
    'verified'
    """
    began = time.perf_counter()
    about: dict[str, Any] = {"id": formula.id, "kind": formula.kind}
    try:
        cases, worst, wrong = _evidence(formula, seed, points, searches)
    except Exception as error:  # An entry may fail in any way; the others must go on.
        about |= {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    else:
        if not wrong and side_of(formula, worst) != "right":
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
    formula: Formula,
    misprint: Misprint,
    *,
    seed: int = 0,
    points: int | None = None,
    searches: int = SEARCHES,
) -> Refutation:
    """Look for parameters at which a wrong variant of a formula is wrong.

    Search, seed and points are those of `verify`. The status is "stands" if no counterexample was
    found; like `verify` it never raises.

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
        cases, worst, wrong = _evidence(claim, seed, points, searches)
        failing = [case for case in [worst, *cases] if side_of(claim, case) != "right"]
        shortest = plainest_case(claim, sorted(failing, key=rank(claim))) if failing else None
    except Exception as error:  # As in verify.
        about |= {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    else:
        sides = {side_of(claim, case) for case in failing}
        about |= {
            "status": "error" if wrong else "refuted" if failing else "stands",
            "reason": wrong,
            "harmless": sum(side_of(claim, case) == "right" for case in cases) / len(cases),
            "worst": worst if failing else None,
            "counterexample": shortest,
            "unsafe": claim.unsafe in sides,
            "safe_side": bool(sides & ({"smaller", "larger"} - {claim.unsafe})),
        }
    return Refutation(**about, seconds=time.perf_counter() - began)


def _evidence(
    claim: Formula, seed: int, points: int | None, searches: int
) -> tuple[list[Case], Case, str]:
    """Cases of all designs, the worst case, and what does not come out as printed."""
    require_independence(claim, starting_points(claim, points=3, seed=seed))
    found = search(claim, seed=seed, points=points or claim.points, searches=searches)
    return (*found, wrong_example(claim))
