"""The two pictures of the page, and what they say to those who do not see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dplearn.app.kit import look
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import words as reading
from dplearn.app.pages.epsilon_vs_steps.answers import REFERENCE
from dplearn.app.pages.epsilon_vs_steps.view import View
from dplearn.figures import certificate, epsilon_curves, excess, looseness, style_of, text


def epsilon(view: View, state: State, printed: Sequence[Mapping[str, str]], words: str) -> None:
    """Epsilon against the number of steps."""
    st.container(key="picture").plotly_chart(
        epsilon_curves(
            {**view.curves, **view.claims},
            view.steps,
            published=reading.points(printed),
            here=view.here,
            budget=view.budget,
            certified=reading.crossings(view.readings, view.certified, view.setting),
            reference=REFERENCE if REFERENCE in view.curves else None,
            claims=tuple(view.claims),
            stairs=bool(view.claims),
            finding=reading.gap(view),
            subtitle=reading.run_in_a_line(view.setting),
            log_x=state.values["x_axis"] == "log",
            log_y=state.values["y_axis"] == "log",
            ink=look.ink(),
        ),
        theme=None,
        key="curves",
        config=_buttons("epsilon_vs_steps"),
        alt=_alt(view, words),
    )


def loose(view: View, state: State) -> None:
    """Each accountant divided by what is certified."""
    st.container(key="picture_looseness").plotly_chart(
        looseness(
            {**view.curves, **view.claims},
            view.reference,
            view.steps,
            here=view.here,
            claims=tuple(view.claims),
            log_x=state.values["x_axis"] == "log",
            ink=look.ink(),
        ),
        theme=None,
        key="looseness",
        config={"displayModeBar": False},
        alt=_alt_of_looseness(view),
    )


def _buttons(name: str) -> dict[str, object]:
    """What the buttons above the picture do."""
    return {
        "displaylogo": False,
        "displayModeBar": True,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {
            "format": st.session_state.get("picture_format") or "svg",
            "filename": name,
            "scale": 2,
        },
    }


def _alt(view: View, words: str) -> str:
    found = {**view.readings, **view.claims_here}.items()
    values = ", ".join(f"{style_of(n).label} {text.epsilon(g)}" for n, g in found)
    gap = f" {said}." if (said := reading.gap(view)) else ""
    words = words.replace("*", "")
    return f"Curves of epsilon over the number of steps. {words}{gap} Values: {values}."


def _alt_of_looseness(view: View) -> str:
    measure, found = view.reference_here, {**view.readings, **view.claims_here}.items()
    sure = certificate.is_certified(measure)
    ratios = {n: excess.times(excess.ratio(g, measure), sure) for n, g in found}
    values = ", ".join(f"{style_of(n).label} {ratio}" for n, ratio in ratios.items())
    return (
        "Curves of each accountant's epsilon divided by the certified epsilon, over the number "
        f"of steps. {excess.comparison(view.readings, measure, view.here)}. Ratios: {values}."
    )
