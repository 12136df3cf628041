"""The verdict on a claim, once per question."""

from typing import Any

import streamlit as st

from dplearn.app.kit.state import State
from dplearn.claims import Verdict, check, setting

_SECONDS = 8.0


def held_at(text: str) -> dict[str, Any]:
    """Names and what they are held at: ``delta=1e-5, T=1..100``."""
    return dict(setting(part) for part in text.split(",") if part.strip())


def verdict_on(state: State) -> Verdict:
    """What comes out of many points, or a ValueError of one sentence; remembered for all."""
    names = ("claim", "quantity", "of", "relation", "held", "x", "y")
    *question, x, y = (state.values[name] for name in names)
    return _judged(*question, axes=None if "auto" in (x, y) or x == y else (x, y))


@st.cache_data(max_entries=256, show_spinner="Trying many points …")
def _judged(claim: str, quantity: str, of: str, relation: Any, held: str, axes: Any) -> Verdict:
    about: dict[str, Any] = {"quantity": quantity, "of": of, "relation": relation}
    return check(claim, **about, fixed=held_at(held), axes=axes, budget_s=_SECONDS)
