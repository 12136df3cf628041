"""Every question the page asks the library, answered once per scenario."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dplearn.accountants import accountants
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.book.published import number, published
from dplearn.ground import validate
from dplearn.ground.guarantee import Guarantee
from dplearn.mechanisms import Gaussian
from dplearn.run import Phases, guarantees, natural_adjacency

# The name under which a picture shows what is claimed of another run.
CLAIM = "poisson_claim"
Curve = tuple[Guarantee, ...]
# What is asked of the reference for a draft: three digits.
_ROUGH = {"rtol": 1e-3, "most_cells": 2**14}


@dataclass(frozen=True)
class Answers:
    """All that the page shows of a scenario; `here` is one of `steps`.

    Refusals say why no theorem of an accountant covers the run; the others have a curve, in the
    order in which they are drawn, and the largest number of steps that they certify within
    `budget`. The reference is what they are measured by, shown or not; a claim is told of such
    a run and does not hold for it.
    """

    scenario: Scenario
    here: int
    budget: float
    refusals: Mapping[str, str]
    steps: tuple[int, ...] = ()
    curves: Mapping[str, Curve] = field(default_factory=dict)
    certified: Mapping[str, int] = field(default_factory=dict)
    reference: Curve = ()
    claims: Mapping[str, Curve] = field(default_factory=dict)

    @cached_property
    def readings(self) -> dict[str, Guarantee]:
        """Every accountant's guarantee at the chosen number of steps."""
        return self._here(self.curves)

    @cached_property
    def claims_here(self) -> dict[str, Guarantee]:
        """The claims at the chosen number of steps."""
        return self._here(self.claims)

    @cached_property
    def reference_here(self) -> Guarantee:
        """The reference at the chosen number of steps."""
        return self.reference[self.steps.index(self.here)]

    def _here(self, curves: Mapping[str, Curve]) -> dict[str, Guarantee]:
        place = self.steps.index(self.here)
        return {name: curve[place] for name, curve in curves.items()}


def answers_of(scenario: Scenario, names: Sequence[str], here: float, budget: float) -> Answers:
    """What the accountants of these names answer; without curves where none does."""
    here = min(int(here), scenario.largest)
    refusals = {name: why for name in names if (why := curve_of(name, scenario).refusal)}
    if not (able := [name for name in names if name not in refusals]):
        return Answers(scenario, here, budget, refusals)
    steps = tuple(sorted({*scenario.steps, here}))
    measure = able[0] if curve_of(REFERENCE, scenario).refusal else REFERENCE
    claimed = claimed_curve(scenario, steps)
    return Answers(
        scenario,
        here,
        budget,
        refusals,
        steps,
        curves={name: _with(name, scenario, here) for name in able},
        certified={name: certified_steps(name, scenario, budget) for name in able},
        reference=_with(measure, scenario, here),
        claims={CLAIM: claimed} if claimed else {},
    )


@dataclass(frozen=True)
class Answer:
    """An accountant's guarantees at some numbers of steps, or why it has no theorem."""

    curve: Curve = ()
    refusal: str = ""


def curve_of(accountant: str, scenario: Scenario) -> Answer:
    """The accountant's curve over the grid, or its refusal."""
    return answer(accountant, scenario, scenario.steps)


def guarantee_at(accountant: str, scenario: Scenario, here: int) -> Guarantee:
    """The accountant's guarantee at one number of steps."""
    steps = scenario.steps
    if here in steps:
        return curve_of(accountant, scenario).curve[steps.index(here)]
    return answer(accountant, scenario, (here,)).curve[0]


@lru_cache(maxsize=2048)
def certified_steps(accountant: str, scenario: Scenario, budget: float) -> int:
    """The largest number of steps the accountant certifies within `budget`, short of 0.3 percent.

    The curve brackets it, interpolation guesses it, and the accountant has the last word on
    every number returned. `scenario.largest` means that many or more.
    """
    steps, curve = scenario.steps, curve_of(accountant, scenario).curve
    within = [g.epsilon <= budget for g in curve]
    if not within[0] or all(within):
        return steps[-1] if all(within) else 0
    before = within.index(False) - 1
    guess = _meeting(steps, curve, before, budget)
    trial = [int(guess * share) for share in (0.997, 0.9995, 1.0, 1.0005)]
    if scenario.by_epoch:
        trial = [scenario.batches * (int(guess / scenario.batches) + k) for k in (-1, 0, 1)]
    trial = trial[:1] if scenario.draft else trial
    inside = tuple(t for t in trial if steps[before] < t < steps[before + 1])
    tried = answer(accountant, scenario, inside).curve if inside else ()
    good = [t for t, g in zip(inside, tried, strict=True) if g.epsilon <= budget]
    return max([steps[before], *good])


def poisson_claim(scenario: Scenario) -> Scenario | None:
    """The Poisson run of the same noise and rate that is often quoted for an epoch's batches."""
    if not scenario.by_epoch:
        return None
    return replace(scenario, sampling="poisson", adjacency=natural_adjacency("poisson"))


@lru_cache(maxsize=512)
def claimed_curve(scenario: Scenario, steps: tuple[int, ...]) -> Curve:
    """What the reference says of the Poisson run, claimed of another: no bound for that one."""
    quoted = poisson_claim(scenario)
    curve = answer(REFERENCE, quoted, steps).curve if quoted else ()
    return tuple(replace(g, kind="approximate", lower=0.0, method=CLAIM) for g in curve)


def _with(name: str, scenario: Scenario, here: int) -> Curve:
    """The accountant's curve over the grid, with `here` put in its place."""
    curve, steps = curve_of(name, scenario).curve, scenario.steps
    if here in steps:
        return curve
    place = bisect_left(steps, here)
    return (*curve[:place], guarantee_at(name, scenario, here), *curve[place:])


def _meeting(steps: tuple[int, ...], curve: Curve, before: int, budget: float) -> float:
    """Where the curve meets the budget: a cubic through four neighbours, log T over log epsilon."""
    near = slice(max(before - 1, 0), before + 3)
    pairs = zip(steps[near], curve[near], strict=True)
    nodes = {g.epsilon: t for t, g in pairs if 0 < g.epsilon < math.inf}
    x, y = np.log([*nodes]) - math.log(budget), np.log([*nodes.values()])
    met = np.linalg.solve(np.vander(x), y)[-1]
    return min(max(math.exp(min(met, 700.0)), steps[before]), steps[before + 1])


@lru_cache(maxsize=1024)
def answer(name: str, scenario: Scenario, steps: tuple[int, ...], **options: Any) -> Answer:
    """What an accountant answers; of a draft, with less work, which loosens it a little."""
    if scenario.draft and name == REFERENCE:
        options |= _ROUGH
    law, base = accountants[name](**options), scenario.base
    try:
        if scenario.by_epoch and not isinstance(base, Gaussian):
            what = f"Accountant {name}: {scenario.sampling} batches with {base.name} noise"
            raise validate.unsupported(what, "the theorem is for Gaussian noise")
        if scenario.then:
            promise = {"delta": scenario.delta, "adjacency": scenario.adjacency}
            return Answer(Phases(scenario.phases).guarantees(law, steps=list(steps), **promise))
        if scenario.draft and (name, scenario.sampling) == (REFERENCE, "shuffled"):
            return Answer(_upper_ends(scenario, steps))
        return Answer(guarantees(law, base, steps=list(steps), **scenario.keywords))  # type: ignore[arg-type]
    except (NotImplementedError, ArithmeticError) as error:
        return Answer(refusal=str(error))


def _upper_ends(scenario: Scenario, steps: tuple[int, ...]) -> Curve:
    """The upper ends of shuffled epochs, each of which is one Gaussian; the lower are the work."""
    promise = {"delta": scenario.delta, "adjacency": scenario.adjacency}
    begun = [-(-t // scenario.batches) for t in steps]
    ends = accountants[REFERENCE]().epsilon_curve(scenario.base, steps=begun, **promise)
    return tuple(replace(g, kind="upper", lower=0.0) for g in ends)


@lru_cache(maxsize=64)
def printed_rows(scenario: Scenario, ids: tuple[str, ...] = ()) -> tuple[dict[str, str], ...]:
    """Rows of data/published.csv about this run, or of these ids."""
    return tuple(
        row
        for row in published().values()
        if row["id"] in ids or (row["relation"] in ("=", "<=") and _about(row, scenario))
    )


def _about(row: dict[str, str], scenario: Scenario) -> bool:
    scheme = "poisson_subsampled" if scenario.sampling == "poisson" else scenario.sampling
    name = scenario.mechanism if scheme == "none" else f"{scheme}_{scenario.mechanism}"
    numbers = ("noise_multiplier", "sample_rate", "delta")
    return (
        (row["quantity"], row["mechanism"], row["adjacency"])
        == ("epsilon", name, scenario.adjacency)
        and not scenario.then
        and all(row[k] for k in (*numbers, "steps"))
        and all(math.isclose(number(row[k]), getattr(scenario, k), rel_tol=1e-9) for k in numbers)
        and number(row["steps"]) <= scenario.largest
    )
