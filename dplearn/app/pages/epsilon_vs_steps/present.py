"""The page on a wall: large type, nothing beside it, a guess before the truth, then all in turn.

The key p, or `present=1` in the address, begins; arrows lead on, in the browser alone.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import segno
import streamlit as st
from streamlit.components.v2 import component

from dplearn.accountants import accountants
from dplearn.app.kit.language import translated
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields, words
from dplearn.app.pages.epsilon_vs_steps.answers import Answers
from dplearn.figures import style_of, text

_GUESS = "Draw your guess: ε after 1 to {steps} steps."
_DREW = "At T = {steps} you drew ε = {guess}."
_TOLD = "{accountant}: **ε\u00a0{relation}\u00a0{value}**, {times} the certified ε."
# Whoever opened the explorer on the machine that it runs on has a name for it that others have not.
_OWN = re.compile(r"https?://(localhost|127\.)")
_NOWHERE = (
    "{link} leads others nowhere: open the explorer by the name of this machine in the network."
)
_KEYS = "→ on, ← back, P ends"


def show(state: State, answers: Answers) -> None:
    """The scenes of a presentation where one is on; else the key that begins it."""
    presents = state.values["present"] == "1"
    if presents:
        st.html(Path(__file__).with_suffix(".css"))
    data = {"on": True, **_told(state, answers)} if presents else {"on": False}
    turn = lambda: state.enter(fields.PRESENT, "0" if presents else "1")
    _component(key="present", data=[data], on_pressed_change=turn)


def _told(state: State, answers: Answers) -> dict[str, Any]:
    """What the browser shows in turn, and the permalink as a code to point a camera at."""
    here = text.whole(answers.here)
    address = {key: value for key, value in state.address().items() if key != "present"}
    link = f"{st.context.url or ''}?{urlencode(address)}".removesuffix("?")
    return {
        "scenes": scenes(answers),
        "labels": {name: style_of(name).label for name in answers.curves},
        "here": answers.here,
        "drew": translated(_DREW).replace("{steps}", here),
        "keys": translated(_KEYS),
        "link": translated(_NOWHERE, link=link) if _OWN.match(link) else link,
        "code": segno.make(link or "dplearn").svg_data_uri(scale=8, border=2),
    }


def scenes(answers: Answers) -> list[dict[str, Any]]:
    """What is said in turn, and the accountants whose curves are shown with it."""
    (best, _), *others = words.ranked(answers.readings)
    guess = translated(_GUESS, steps=text.whole(answers.scenario.largest))
    told = [
        {"name": "what", "words": translated(words.FIRST), "shows": []},
        {"name": "guess", "words": guess, "shows": []},
        {"name": "truth", "words": words.sentence(answers), "shows": [best]},
    ]
    for name, guarantee in others:
        sentence = translated(
            _TOLD,
            accountant=accountants[name].title,
            relation=text.relation(guarantee),
            value=text.bare(guarantee, 4),
            times=words.times(guarantee, answers.reference_here),
        )
        told.append({"name": name, "words": sentence, "shows": [*told[-1]["shows"], name]})
    every = told[-1]["shows"]
    return [*told, *({"name": end, "words": "", "shows": every} for end in ("attack", "code"))]


_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_STYLE = """
p { margin: 0; font-size: 1.9rem; min-height: 2.8rem; }
small { opacity: 0.7; }
figure { position: fixed; inset: 0; margin: auto; width: min(80vh, 40vw); height: fit-content;
         padding: 1rem; background: white; color: black; border-radius: 0.5rem; z-index: 9;
         border: 1px solid gray; }
img { width: 100%; }
figcaption { overflow-wrap: anywhere; font-size: 0.8rem; }
[hidden] { display: none; }
"""
_PAGE = "<p></p><figure hidden><img><figcaption></figcaption></figure><small></small>"
_component = component("dplearn_present", html=_PAGE, css=_STYLE, js=_SCRIPT)
