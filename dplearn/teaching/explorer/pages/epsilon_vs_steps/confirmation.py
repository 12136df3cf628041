"""Runs that a browser tells of, and what the library answers: curves, and whether it agrees.

A browser that is wrong, and a question that is none, are told in a sentence.
"""

import dataclasses
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from dplearn.accountants import ACCOUNTANTS
from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee
from dplearn.mechanisms import MECHANISMS, Gaussian, Mechanism
from dplearn.mechanisms.sampling_scheme import (
    EPOCH_SAMPLINGS,
    SAMPLINGS,
    SamplingScheme,
    default_adjacency,
)
from dplearn.run import DPSGD
from dplearn.teaching.explorer.kit import fields
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.language import reason, retold
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.kit.axes import log_steps

_say = Words("epsilon_vs_steps")
# The name of what is claimed of another run.
CLAIM = "poisson_claim"
Curve = tuple[Guarantee, ...]
# The accountant that proves from both sides: the others are measured by it.
REFERENCE = "pld"
# One point in so many of a curve is drawn, and the last.
_THIN = 2
# What the name of a sampling ends in whose epochs leave a record out.
DROP_LAST = "_drop_last"
_DRAWN = (*SAMPLINGS, *EPOCH_SAMPLINGS, f"shuffled{DROP_LAST}")


def options() -> dict[str, tuple[str, ...]]:
    """Return the words that describe a run: mechanisms of a noise multiplier alone, and so on."""
    own = {n: [f.name for f in dataclasses.fields(law)] for n, law in MECHANISMS.items()}
    alone = tuple(name for name, parameters in own.items() if parameters == ["noise_multiplier"])
    return {"mechanism": alone, "sampling": _DRAWN, "adjacency": ADJACENCIES}


@dataclass(frozen=True)
class Scenario:
    """A run and how far to follow it: all that a curve depends on."""

    mechanism: str
    noise_multiplier: float
    sampling: str
    sample_rate: float
    delta: float
    adjacency: Adjacency
    largest: int
    drop_last: bool = False  # whether each shuffled epoch leaves out a record

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The numbers of steps that its curves are drawn at."""
        grid = log_steps(self.largest)
        if self.by_epoch:
            # Nothing happens inside an epoch: a few steps of the first, then the ends of epochs.
            batches = replace(self, mechanism="gaussian").sampling_scheme.batches
            first, whole = min(batches, self.largest), self.largest // batches
            begun = [t for t in log_steps(first) if t >= first / 20]
            ends = [batches * k for k in log_steps(whole)] if whole else []
            grid = sorted({*begun, *ends, self.largest})
        return tuple(grid[::-_THIN][::-1])

    @cached_property
    def by_epoch(self) -> bool:
        """Whether all batches of an epoch are drawn at once."""
        return self.sampling in EPOCH_SAMPLINGS

    @property
    def sampling_scheme(self) -> SamplingScheme:
        """Sampling scheme of a step, or of an epoch."""
        how = self.base, self.sampling, self.sample_rate, self.largest
        return SamplingScheme.of(*how, drop_last=self.drop_last)  # type: ignore[arg-type]

    @cached_property
    def base(self) -> Mechanism:
        """The noise of one step."""
        return MECHANISMS[self.mechanism](self.noise_multiplier)

    @cached_property
    def plan(self) -> DPSGD:
        """The run as a plan, of Gaussian noise."""
        return DPSGD(
            noise_multiplier=self.noise_multiplier,
            sample_rate=self.sample_rate,
            steps=self.largest,
            sampling=self.sampling,  # type: ignore[arg-type]
            drop_last=self.drop_last,
        )


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
        said = {name: answer_of(name, self.scenario, (self.here,)) for name in self.names}
        able = [(name, one.curve[0]) for name, one in said.items() if one.curve]
        return dict(sorted(able, key=lambda item: (not item[1].is_bound, item[1].epsilon)))

    @property
    def best(self) -> tuple[str, Guarantee]:
        """The accountant with the tightest bound, and its guarantee."""
        return next(iter(self.readings.items()))


@lru_cache(maxsize=512)
def claimed_curve(scenario: Scenario, steps: tuple[int, ...]) -> Curve:
    """Epsilon of the Poisson run that is often quoted for an epoch's batches: no bound for them."""
    if not scenario.by_epoch:
        return ()
    natural = default_adjacency("poisson")
    quoted = replace(scenario, sampling="poisson", drop_last=False, adjacency=natural)
    curve = answer_of(REFERENCE, quoted, steps).curve
    return tuple(replace(g, kind="approximate", lower=0.0, method=CLAIM) for g in curve)


@lru_cache(maxsize=2048)
def answer_of(name: str, scenario: Scenario, steps: tuple[int, ...]) -> Answer:
    """Return an accountant's curve of a run, or why it has no theorem."""
    law, base = ACCOUNTANTS[name](), scenario.base
    asked: Any = {"delta": scenario.delta, "steps": [*steps], "adjacency": scenario.adjacency}
    try:
        if isinstance(base, Gaussian):
            return Answer(scenario.plan.guarantees(law, **asked))
        if scenario.by_epoch:
            what = f"Accountant {name}: {scenario.sampling} batches with {base.name} noise"
            raise validate.unsupported(what, "the theorem is for Gaussian noise")
        return Answer(law.epsilon_curve(scenario.sampling_scheme.mechanism, **asked))
    except (NotImplementedError, ArithmeticError) as error:
        return Answer(refusal=str(error))


def library_reply(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the library's reply to a question of the browser; `refused` where it has none."""
    try:
        if question["kind"] == "curves":
            return _curves(question)
        here = _here(question)
        scenario = _scenario(question, here)
        curve = answer_of(REFERENCE, scenario, (min(here, scenario.largest),)).curve
        told = {"key": question["key"], "T": here, "agrees": None}
        if not curve or curve[0].epsilon == math.inf:
            return told
        low, high = text.floor(curve[0]), curve[0].epsilon
        if "upper" not in question:
            # What the browser left open is decided here.
            return told | ({"lower": low, "upper": high} if question["kind"] == "confirm" else {})
        # Whether the bracket that the browser drew and the library's have a point in common.
        theirs = float(question["lower"]), float(question["upper"])
        agrees = theirs[0] <= high and low <= theirs[1]
        if not agrees:
            said = "The browser drew %s, the library proves %s, of %s"
            logging.getLogger(__name__).warning(said, theirs, (low, high), scenario)
        return told | {"agrees": agrees, "lower": low, "upper": high}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        told = str(error) if isinstance(error, ValueError) else "Expected a run, got none."
        return {"key": question.get("key"), "of": {}, "steps": [1], "refused": retold(told)}


def details_of(question: Mapping[str, Any]) -> Answers:
    """Return the run of a question with the guarantees of its accountants at T."""
    here = _here(question)
    scenario = _scenario(question, here)
    names = tuple(name for name in ACCOUNTANTS if name in {REFERENCE, *question["shown"]})
    return Answers(scenario, min(here, scenario.largest), names, int(question.get("records") or 1))


def _here(question: Mapping[str, Any]) -> int:
    return int(fields.number(question["run"], "steps", "here"))


def _scenario(question: Mapping[str, Any], largest: int) -> Scenario:
    """Return the run of a question; ValueError, in one sentence, where an entry is out of range."""
    run = question["run"]
    words: Any = {name: fields.chosen(run, name, all_) for name, all_ in options().items()}
    names = "noise_multiplier", "sample_rate", "delta"
    numbers: Any = {name: fields.number(run, name) for name in names}
    sampling = words.pop("sampling")
    kind, left = sampling.removesuffix(DROP_LAST), sampling.endswith(DROP_LAST)
    return Scenario(**words, **numbers, sampling=kind, drop_last=left, largest=largest)


def _curves(question: Mapping[str, Any]) -> dict[str, Any]:
    """Both ends by accountant over the steps, what is claimed of the run, and who refuses."""
    largest, here = int(fields.number(question, "steps", "largest")), _here(question)
    scenario = _scenario(question, largest)
    steps = tuple(sorted({*scenario.steps, min(here, scenario.largest)}))
    names = [name for name in ACCOUNTANTS if name in {REFERENCE, *question["shown"]}]
    said = {name: answer_of(name, scenario, steps) for name in names}
    refusals = {name: retold(reason(one.refusal)) for name, one in said.items() if one.refusal}
    told = {"key": question["key"], "steps": steps, "refusals": refusals}
    told |= {"of": {n: _ends(one.curve) for n, one in said.items() if one.curve}}
    told |= {"stairs": scenario.by_epoch}
    if claim := claimed_curve(scenario, steps):
        told["claim"] = _numbers(g.epsilon for g in claim)
    if len(refusals) == len(names):
        # Why no theorem covers the run, and with which change one does.
        why, changes = said[REFERENCE].refusal, []
        for field, names in options().items():
            spelled = fields.named(names)
            for option in names:
                if option != getattr(scenario, field) and not option.endswith(DROP_LAST):
                    other = replace(scenario, **{"drop_last": False, field: option})  # type: ignore[arg-type]
                    with suppress(NotImplementedError, TypeError, ValueError):
                        other.sampling_scheme.mechanism.profiles(other.adjacency)
                        changes.append(f"{_say(f'{field}.label')}: {spelled[option]}")
        told["refused"] = _say("uncovered", why=retold(reason(why)))
        if changes:
            told["refused"] += f" {_say('changes', changes='; '.join(changes))}"
    return told


def _ends(curve: Sequence[Guarantee]) -> dict[str, Any]:
    both = any(text.is_certified(g) for g in curve)
    lower = _numbers(text.floor(g) for g in curve) if both else None
    return {"lower": lower, "upper": _numbers(g.epsilon for g in curve)}


def _numbers(values: Any) -> list[float | str]:
    """Numbers for JSON, which has no word for infinity."""
    return ["Infinity" if math.isinf(value) else value for value in values]
