"""While a slider is held the browser draws the pictures; on release the server confirms them."""

import logging
import math
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from dplearn import browser
from dplearn.app.kit import run_fields
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import words
from dplearn.app.pages.epsilon_vs_steps.answers import Answers
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.figures import certificate, style_of, text
from dplearn.ground.guarantee import Guarantee

# Sliders that change a parameter of the run, and its name in the browser.
_PARAMETERS = {
    "noise_multiplier": "noiseMultiplier",
    "sample_rate": "sampleRate",
    "delta": "delta",
}
_KEYS = (*_PARAMETERS, "steps", "epochs", "here", "budget")
# Bounds that differ by less are one line in the picture.
_SAME = 1e-3


def confirm(state: State, answers: Answers) -> None:
    """Show, and log, where the browser drew what the library does not say."""
    if sentences := disagreements(state.drawn, answers) if state.drawn else []:
        logging.getLogger(__name__).warning("%s %s", " ".join(sentences), answers.scenario)
        st.warning(retold("\n\n".join(sentences)), icon=":material/difference:")


def follow(state: State, answers: Answers) -> None:
    """Pictures that follow the hand, and an attack, where the browser has an engine for the run."""
    drawn, state.drawn = state.drawn, None
    if _is_drawn_there(answers.scenario):
        _component(key="live", data=[_told(state, answers, drawn)])


def _is_drawn_there(scenario: Scenario) -> bool:
    """Whether the browser has an engine for the run; per accountant it decides itself."""
    sampled = scenario.sampling in ("poisson", "none")
    return scenario.mechanism == "gaussian" and sampled and not scenario.then


def _told(state: State, answers: Answers, drawn: Any) -> dict[str, Any]:
    """What the browser draws with."""
    scenario = answers.scenario
    run = {name: getattr(scenario, key) for key, name in _PARAMETERS.items()}
    by_epochs = state.values["length_in"] == "epochs"
    return {
        "run": {**run, "adjacency": scenario.adjacency},
        "parameters": _PARAMETERS,
        "keys": _KEYS,
        "steps": scenario.steps,
        "largest": scenario.largest,
        "limit": run_fields.STEPS.upper,
        "epochs": state.values["epochs"] if by_epochs else None,
        "here": answers.here,
        "budget": answers.budget,
        "budgetName": retold("budget ε"),
        "accountants": list(answers.curves),
        "reference": REFERENCE,
        "labels": {name: style_of(name).label for name in answers.curves},
        "attack": translated(words.ATTACK),
        "answered": drawn.get("number", 0) if isinstance(drawn, dict) else 0,
    }


def disagreements(drawn: Any, answers: Answers) -> list[str]:
    """What a browser says that it drew and the library does not say, one sentence each."""
    sentences = []
    for name, curve in answers.curves.items():
        try:
            ends = drawn["curves"][name]
            theirs = dict(zip(drawn["steps"], _pairs(ends["lower"], ends["upper"]), strict=True))
        except (KeyError, TypeError, ValueError):
            # Not our script's words: it sends every curve, or nothing.
            sentences.append(
                f"The browser said nothing that can be read of {style_of(name).label}."
            )
            continue
        ours = zip(answers.steps, curve, strict=True)
        wrong = [(t, g) for t, g in ours if t in theirs and not _agree(theirs[t], g)]
        if wrong:
            steps, guarantee = wrong[-1]
            sentences.append(
                f"The browser drew {style_of(name).label} at ε = {theirs[steps][1]:.6g} for T = "
                f"{text.whole(steps)}; the library, whose picture this is, says "
                f"{guarantee.epsilon:.6g}. Please report it with the address of this page."
            )
    return sentences


def _pairs(lower: Any, upper: Any) -> list[tuple[float, float]]:
    """Both ends by step; without a word for infinity, and where nothing is proved, NaN."""
    below = [0.0] * len(upper) if lower is None else lower
    ends = zip(below, upper, strict=True)
    return [(float(a or 0.0), math.nan if b is None else float(b)) for a, b in ends]


def _agree(theirs: tuple[float, float], ours: Guarantee) -> bool:
    """Whether two brackets meet, or two values are one line; what is not drawn agrees."""
    low, high = theirs
    if math.isnan(high):
        return True
    if certificate.is_certified(ours) and low > 0:
        return low <= ours.epsilon and certificate.floor(ours) <= high
    return math.isclose(high, ours.epsilon, rel_tol=_SAME, abs_tol=1e-12)


_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_component = component(
    "dplearn_live",
    html="<p></p>",
    css="p { margin: 0; font-size: var(--dplearn-words, 1.15rem); }",
    js=f"{browser.source()}\n{_SCRIPT}",
)
