"""What accountants say of a run, asked of the library once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.book.published import number, published
from dplearn.ground import validate
from dplearn.ground.guarantee import Guarantee
from dplearn.mechanisms import Gaussian
from dplearn.mechanisms.drawing import natural_adjacency, sampled
from dplearn.run import Phases

# The name of what is claimed of another run.
CLAIM = "poisson_claim"
Curve = tuple[Guarantee, ...]
# What is asked of the reference for a draft: three digits.
_ROUGH = {"rtol": 1e-3, "most_cells": 2**14}


@dataclass(frozen=True)
class Answer:
    """An accountant's guarantees at some numbers of steps, or why it has no theorem."""

    curve: Curve = ()
    refusal: str = ""


@dataclass(frozen=True)
class Answers:
    """What the library says of a run at one number of steps; `records` is the dataset's size."""

    scenario: Scenario
    here: int
    names: tuple[str, ...]
    records: int

    @cached_property
    def readings(self) -> Mapping[str, Guarantee]:
        """Each accountant's guarantee, the tightest bound first, approximations last."""
        said = {name: answer(name, self.scenario, (self.here,)) for name in self.names}
        able = [(name, one.curve[0]) for name, one in said.items() if one.curve]
        return dict(sorted(able, key=lambda item: (not item[1].is_bound, item[1].epsilon)))

    @property
    def best(self) -> tuple[str, Guarantee]:
        """The accountant with the tightest bound, and its guarantee."""
        return next(iter(self.readings.items()))


def poisson_claim(scenario: Scenario) -> Scenario | None:
    """The Poisson run of the same noise and rate that is often quoted for an epoch's batches."""
    if not scenario.by_epoch:
        return None
    natural = natural_adjacency("poisson")
    return replace(scenario, sampling="poisson", leaves_out=False, adjacency=natural)


@lru_cache(maxsize=512)
def claimed_curve(scenario: Scenario, steps: tuple[int, ...]) -> Curve:
    """What the reference says of the Poisson run, claimed of another: no bound for that one."""
    quoted = poisson_claim(scenario)
    curve = answer(REFERENCE, quoted, steps).curve if quoted else ()
    return tuple(replace(g, kind="approximate", lower=0.0, method=CLAIM) for g in curve)


@lru_cache(maxsize=2048)
def answer(name: str, scenario: Scenario, steps: tuple[int, ...], **options: Any) -> Answer:
    """What an accountant answers; of a draft, with less work, which loosens it a little."""
    if scenario.draft and name == REFERENCE:
        options |= _ROUGH
    law, base = ACCOUNTANTS[name](**options), scenario.base
    question: Any = {"delta": scenario.delta, "adjacency": scenario.adjacency, "steps": [*steps]}
    try:
        if not isinstance(base, Gaussian):
            if scenario.by_epoch:
                what = f"Accountant {name}: {scenario.sampling} batches with {base.name} noise"
                raise validate.unsupported(what, "the theorem is for Gaussian noise")
            return Answer(law.epsilon_curve(sampled(base, **scenario.drawing), **question))
        shuffled = (name, scenario.sampling) == (REFERENCE, "shuffled") and not scenario.then
        if scenario.draft and shuffled and scenario.adjacency != "add_remove":
            return Answer(_upper_ends(scenario, steps))
        return Answer(Phases(scenario.phases).guarantees(law, **question))
    except (NotImplementedError, ArithmeticError) as error:
        return Answer(refusal=str(error))


def _upper_ends(scenario: Scenario, steps: tuple[int, ...]) -> Curve:
    """Upper ends of shuffled epochs, none of which tells more than its largest batch: a draft."""
    promise = {"delta": scenario.delta, "adjacency": scenario.adjacency}
    begun = [-(-t // scenario.batches) for t in steps]
    ends = ACCOUNTANTS[REFERENCE]().epsilon_curve(scenario.base, steps=begun, **promise)
    return tuple(replace(g, kind="upper", lower=0.0) for g in ends)


def printed_rows(answers: Answers) -> Sequence[dict[str, str]]:
    """Rows of data/published.csv about this run."""
    rows = published().values()
    return [row for row in rows if row["relation"] in ("=", "<=") and _about(row, answers.scenario)]


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
    )
