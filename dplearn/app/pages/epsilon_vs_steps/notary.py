"""The library's answers to what a browser asks: curves, and whether it agrees.

A browser that is wrong, and a question that is none, are told in a sentence.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.kit.fields import (
    ADJACENCY,
    DELTA,
    NOISE,
    RATE,
    STEPS,
    Field,
    Selection,
    Words,
    named,
)
from dplearn.app.kit.language import retold
from dplearn.app.pages.epsilon_vs_steps.run import (
    LEAVES_OUT,
    REFERENCE,
    THEN,
    Answers,
    Scenario,
    answer_of,
    claimed_curve,
    scenario_of,
)
from dplearn.figures.kit import certificate
from dplearn.ground.guarantee import Guarantee
from dplearn.mechanisms import MECHANISMS
from dplearn.mechanisms.drawing import EPOCH_SAMPLINGS, SAMPLINGS

_say = Words("epsilon_vs_steps")
_DRAWN = (*SAMPLINGS, *EPOCH_SAMPLINGS, f"shuffled{LEAVES_OUT}")
SAMPLING = _say.selection("sampling", named(_DRAWN))


def mechanism() -> Selection:
    """The mechanisms that a noise multiplier alone describes."""
    own = {name: [field.name for field in fields(law)] for name, law in MECHANISMS.items()}
    alone = (name for name, parameters in own.items() if parameters == ["noise_multiplier"])
    return _say.selection("mechanism", named(alone), default="gaussian")


def fields_of_a_run() -> dict[str, Field]:
    """What a run consists of, by name."""
    taken = mechanism(), NOISE, SAMPLING, RATE, DELTA, ADJACENCY, THEN
    return {field.key: field for field in taken} | {"first": STEPS}


def library_reply(question: Mapping[str, Any]) -> dict[str, Any]:
    """What the library says to a question of the browser; `refused` where it cannot."""
    try:
        if question["kind"] == "curves":
            return _curves(question)
        return _agreement(question)
    except ValueError as error:
        return {"key": question.get("key"), "of": {}, "steps": [1], "refused": retold(str(error))}


def details_of(question: Mapping[str, Any]) -> Answers:
    """The run of a question, and what its accountants say at T."""
    here = _here(question)
    scenario = _scenario(question, here)
    names = tuple(name for name in ACCOUNTANTS if name in {REFERENCE, *question["shown"]})
    return Answers(scenario, min(here, scenario.largest), names, int(question["records"]))


def _here(question: Mapping[str, Any]) -> int:
    return int(STEPS.parse(question["run"]["here"]))


def _scenario(question: Mapping[str, Any], largest: int, draft: bool = False) -> Scenario:
    return scenario_of(question["run"], fields_of_a_run(), largest, draft)


def _curves(question: Mapping[str, Any]) -> dict[str, Any]:
    """Both ends by accountant over the steps, what is claimed of the run, and who refuses."""
    largest, here = int(STEPS.parse(question["largest"])), _here(question)
    scenario = _scenario(question, largest, draft=bool(question["draft"]))
    steps = tuple(sorted({*scenario.steps, min(here, scenario.largest)}))
    names = [name for name in ACCOUNTANTS if name in {REFERENCE, *question["shown"]}]
    said = {name: answer_of(name, scenario, steps) for name in names}
    refusals = {name: retold(one.refusal) for name, one in said.items() if one.refusal}
    told = {"key": question["key"], "steps": steps, "draft": scenario.draft}
    told |= {"of": {n: _ends(one.curve) for n, one in said.items() if one.curve}}
    told |= {"refusals": refusals, "stairs": scenario.by_epoch}
    if claim := claimed_curve(scenario, steps):
        told["claim"] = _numbers(g.epsilon for g in claim)
    if len(refusals) == len(names):
        told["refused"] = _refused(scenario, said[REFERENCE].refusal)
    return told


def _ends(curve: Sequence[Guarantee]) -> dict[str, Any]:
    both = any(certificate.is_certified(g) for g in curve)
    lower = _numbers(certificate.floor(g) for g in curve) if both else None
    return {"lower": lower, "upper": _numbers(g.epsilon for g in curve)}


def _numbers(values: Any) -> list[float | str]:
    """Numbers for JSON, which has no word for infinity."""
    return ["Infinity" if math.isinf(value) else value for value in values]


def _refused(scenario: Scenario, why: str) -> str:
    """Why no theorem covers a run, and with which change one does."""
    told = _say("uncovered", why=retold(why.partition(": ")[2] or why))
    changes = [
        f"{retold(field.label)}: {retold(option_words)}"
        for field in (ADJACENCY, SAMPLING, mechanism())
        for option, option_words in field.options.items()
        if option != getattr(scenario, field.key)
        and not option.endswith(LEAVES_OUT)
        and _covers(replace(scenario, **{"leaves_out": False, field.key: option}))  # type: ignore[arg-type]
    ]
    return f"{told} {_say('changes', changes='; '.join(changes))}" if changes else told


def _covers(scenario: Scenario) -> bool:
    """Whether a step, or an epoch, has a profile under these neighbours."""
    with suppress(NotImplementedError, TypeError, ValueError):
        scenario.drawing.mechanism.profiles(scenario.adjacency)
        return True
    return False


def _agreement(question: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the bracket that the browser drew and the library's have a point in common."""
    here = _here(question)
    scenario = _scenario(question, here)
    (ours, *_) = answer_of(REFERENCE, scenario, (min(here, scenario.largest),)).curve or (None,)
    told = {"key": question["key"], "T": here, "agrees": None}
    if ours is None or "upper" not in question:
        return told
    low, high = certificate.floor(ours), ours.epsilon
    theirs = float(question["lower"]), float(question["upper"])
    agrees = theirs[0] <= high and low <= theirs[1]
    if not agrees:
        said = "The browser drew %s, the library proves %s, of %s"
        logging.getLogger(__name__).warning(said, theirs, (low, high), scenario)
    return told | {"agrees": agrees, "lower": low, "upper": high}
