"""The library's replies to the browser: epsilon curves, and checks of the browser's bounds.

The reply to a malformed request is an error message. Bounds that disagree are logged.
"""

import dataclasses
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from dplearn.accountants import ACCOUNTANTS, scheme_curve
from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee
from dplearn.mechanisms import MECHANISMS
from dplearn.mechanisms.sampling_scheme import EPOCH_SAMPLINGS, EVERY_SAMPLING, SamplingScheme
from dplearn.run import DPSGD
from dplearn.teaching.explorer.kit import fields
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.language import reason, translated
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.kit.axes import log_steps

_say = Words("epsilon_vs_steps")
REFERENCE = "pld"  # the accountant with lower and upper bounds
DROP_LAST = "_drop_last"  # suffix of samplings that drop the records of an incomplete last batch


def options() -> dict[str, tuple[str, ...]]:
    """Return samplings, adjacencies, and mechanisms with a noise multiplier as only parameter."""
    own = {n: [f.name for f in dataclasses.fields(law)] for n, law in MECHANISMS.items()}
    alone = tuple(name for name, parameters in own.items() if parameters == ["noise_multiplier"])
    samplings = (*EVERY_SAMPLING, f"shuffled{DROP_LAST}")
    return {"mechanism": alone, "sampling": samplings, "adjacency": ADJACENCIES}


@dataclass(frozen=True)
class Scenario:
    """Parameters of a curve of epsilon against steps; `plan` has the largest number of steps."""

    mechanism: str
    plan: DPSGD
    delta: float
    adjacency: Adjacency

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Numbers of steps at which the curves are drawn."""
        largest = self.plan.steps
        if self.plan.sampling not in EPOCH_SAMPLINGS:
            return tuple(log_steps(largest)[::-2][::-1])  # every second number, the last included
        # Epsilon is constant within an epoch, so after the first, the ends of epochs are enough.
        batches = self.plan.sampling_scheme.batches
        first, whole = min(batches, largest), largest // batches
        begun = [t for t in log_steps(first) if t >= first / 20]
        ends = [batches * k for k in log_steps(whole)] if whole else []
        return tuple(sorted({*begun, *ends, largest}))

    @property
    def sampling_scheme(self) -> SamplingScheme:
        """Sampling scheme with `mechanism` noise; batches drawn per epoch need Gaussian noise."""
        plan: Any = self.plan
        if self.mechanism == "gaussian":
            return plan.sampling_scheme
        if plan.sampling in EPOCH_SAMPLINGS:
            what = f"{plan.sampling} batches with {self.mechanism} noise"
            raise validate.unsupported(what, "the theorem is for Gaussian noise")
        base: Any = MECHANISMS[self.mechanism](plan.noise_multiplier)
        return SamplingScheme.of(base, plan.sampling, plan.sample_rate, plan.steps)


class Answer(NamedTuple):
    """Guarantees by one accountant for several numbers of steps, or why it gives none."""

    curve: tuple[Guarantee, ...]
    refusal: str = ""


@dataclass(frozen=True)
class Answers:
    """Guarantees for a run after `here` steps on `records` records, by the accountants `names`."""

    scenario: Scenario
    here: int
    names: tuple[str, ...]
    records: int

    @cached_property
    def readings(self) -> Mapping[str, Guarantee]:
        """Guarantee by each accountant: upper bounds, then others, both in order of epsilon."""
        answers = {name: answer_of(name, self.scenario, (self.here,)) for name in self.names}
        stated = [(name, answer.curve[0]) for name, answer in answers.items() if answer.curve]
        return dict(sorted(stated, key=lambda item: (not item[1].is_bound, item[1].epsilon)))


@lru_cache(maxsize=2048)
def answer_of(name: str, scenario: Scenario, steps: tuple[int, ...]) -> Answer:
    """Return an accountant's guarantees for a run at each number of steps, or why it has none."""
    law, target = ACCOUNTANTS[name](), {"delta": scenario.delta, "adjacency": scenario.adjacency}
    try:
        return Answer(scheme_curve(law, [scenario.sampling_scheme], steps, **target))  # type: ignore[arg-type]
    except (NotImplementedError, ArithmeticError) as error:
        return Answer(curve=(), refusal=str(error))


def library_reply(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to a request of the browser, with any error message under "refused"."""
    try:
        if question["kind"] == "curves":
            return _curves(question)
        here = _here(question)
        scenario = _scenario(question, here)
        curve = answer_of(REFERENCE, scenario, (here,)).curve
        reply = {"key": question["key"], "T": here, "agrees": None}
        if not curve or curve[0].epsilon == math.inf:
            return reply
        low, high = text.floor(curve[0]), curve[0].epsilon
        reply |= {"lower": low, "upper": high}
        if "upper" not in question:
            return reply  # the browser sent no bounds to compare
        # The bounds of browser and library agree if the intervals between them intersect.
        theirs = float(question["lower"]), float(question["upper"])
        agrees = theirs[0] <= high and low <= theirs[1]
        if not agrees:
            message = "The browser drew %s, the library proves %s, of %s"
            logging.getLogger(__name__).warning(message, theirs, (low, high), scenario)
        return reply | {"agrees": agrees}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = str(error) if isinstance(error, ValueError) else "Expected a run, got none."
        return {"key": question.get("key"), "of": {}, "steps": [1], "refused": translated(why)}


def details_of(question: Mapping[str, Any]) -> Answers:
    """Return the guarantees for a request's run, by the accountants shown and `REFERENCE`."""
    here = _here(question)
    scenario = _scenario(question, here)
    names = tuple(name for name in ACCOUNTANTS if name in {REFERENCE, *question["shown"]})
    return Answers(scenario, here, names, int(question.get("records") or 1))


def _here(question: Mapping[str, Any]) -> int:
    return fields.number(question["run"], "here", fields.RANGES["steps"])


def _scenario(question: Mapping[str, Any], largest: int) -> Scenario:
    """Return the run in a request, with `largest` steps; raise ValueError for a wrong field."""
    run = question["run"]
    words: Any = {name: fields.chosen(run, name, all_) for name, all_ in options().items()}
    numbers: Any = {name: fields.number(run, name) for name in ("noise_multiplier", "sample_rate")}
    sampling = words.pop("sampling")
    kind, left = sampling.removesuffix(DROP_LAST), sampling.endswith(DROP_LAST)
    plan = DPSGD(**numbers, steps=largest, sampling=kind, drop_last=left)
    return Scenario(words["mechanism"], plan, fields.number(run, "delta"), words["adjacency"])


def _curves(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return epsilon curves or refusals by accountant, and the false Poisson curve for epochs."""
    largest = fields.number(question, "largest", fields.RANGES["steps"])
    here = _here(question)
    scenario = _scenario(question, largest)
    steps = tuple(sorted({*scenario.steps, min(here, largest)}))
    names = [name for name in ACCOUNTANTS if name in {REFERENCE, *question["shown"]}]
    answers = {name: answer_of(name, scenario, steps) for name in names}
    refusals = {name: translated(reason(a.refusal)) for name, a in answers.items() if a.refusal}
    curves = {name: _ends(answer.curve) for name, answer in answers.items() if answer.curve}
    reply = {"key": question["key"], "steps": steps, "refusals": refusals, "of": curves}
    reply["stairs"] = scenario.plan.sampling in EPOCH_SAMPLINGS
    if reply["stairs"]:
        # For batches drawn per epoch, the epsilon of Poisson sampling is often claimed, wrongly.
        plan = replace(scenario.plan, sampling="poisson", drop_last=False)
        quoted = replace(scenario, plan=plan, adjacency="add_remove")
        if claim := answer_of(REFERENCE, quoted, steps).curve:
            reply["claim"] = _numbers(g.epsilon for g in claim)
    if len(refusals) == len(names):
        # No accountant covers the run: say why, and list each option whose change helps.
        why, changes = answers[REFERENCE].refusal, []
        run = question["run"] | {"sampling": scenario.plan.sampling}
        for field, names in options().items():
            spelled = fields.named(names)
            for option in names:
                if option != run[field] and not option.endswith(DROP_LAST):
                    with suppress(NotImplementedError, TypeError, ValueError):
                        other = _scenario({"run": run | {field: option}}, largest)
                        other.sampling_scheme.mechanism.profiles(other.adjacency)
                        changes.append(f"{_say(f'{field}.label')}: {spelled[option]}")
        reply["refused"] = _say("uncovered", why=translated(reason(why)))
        if changes:
            reply["refused"] += f" {_say('changes', changes='; '.join(changes))}"
    return reply


def _ends(curve: Sequence[Guarantee]) -> dict[str, Any]:
    both = any(text.is_certified(g) for g in curve)
    lower = _numbers(text.floor(g) for g in curve) if both else None
    return {"lower": lower, "upper": _numbers(g.epsilon for g in curve)}


def _numbers(values: Any) -> list[float | str]:
    """Return the numbers, with infinity as a string, because JSON has no infinity."""
    return ["Infinity" if math.isinf(value) else value for value in values]
