"""Below the picture: the numbers, the theorems, and what to take along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dplearn.accountants import accountants
from dplearn.app.pages.epsilon_vs_steps import export
from dplearn.app.pages.epsilon_vs_steps.view import View
from dplearn.figures import style_of, text
from dplearn.ground.guarantee import Guarantee

_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "~": "≈"}
_VERDICTS = {
    "reproduces": "reproduced",
    "within_rounding": "within rounding",
    "does_not_reproduce": "does not reproduce",
    "not_checkable": "cannot be checked",
}


def numbers(rows: list[dict[str, str]], here: int, assumed: str) -> None:
    """The table at the chosen number of steps."""
    st.subheader(f"At T = {text.whole(here)}", anchor="numbers")
    st.table(rows, border="horizontal", hide_index=True)
    st.caption(f"{assumed} Bounds are rounded up; an approximation does not compete with them.")


def published(rows: Sequence[Mapping[str, str]]) -> None:
    """What was printed about this run, and what became of a check."""
    if not rows:
        return
    st.subheader("Published figures for this run", anchor="published")
    shown = [
        {
            "Source": row["source"],
            "T": text.whole(float(row["steps"])) if row["steps"] else "",
            "Printed ε": f"{_SIGNS.get(row['relation'], '')} {row['published']}".strip(),
            "Computed": row["computed"],
            "Verdict": _VERDICTS.get(row["verdict"], row["verdict"]),
            "Why": row["why"],
        }
        for row in rows
    ]
    st.table(shown, border="horizontal", hide_index=True)


def theorems(readings: Mapping[str, Guarantee]) -> None:
    """Per accountant, tightest first: why its curve lies where it lies, statement and source.

    Each is one text without numbers of the run, so that a browser draws it once.
    """
    st.subheader("Why is this curve above that one?", anchor="theorems")
    ordered = sorted(readings.items(), key=lambda item: (not item[1].is_bound, item[1].epsilon))
    with st.container(key="theorems"):
        for name, _ in ordered:
            law = accountants[name]
            st.markdown(
                f"{style_of(name).glyph} **{law.title}.** {law.explanation}\n\n"
                f"$$\n{law.statement}\n$$\n\n:small[{law.reference}]"
            )


def take_along(view: View) -> None:
    """Numbers, picture and code."""
    st.subheader("Take it along", anchor="take")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.download_button(
            "Data as CSV",
            data=lambda: export.as_csv(view.curves, view.steps),
            file_name="epsilon.csv",
            mime="text/csv",
            on_click="ignore",
            icon=":material/download:",
        )
        st.segmented_control(
            "The camera above the picture saves",
            ["svg", "png"],
            required=True,
            default="svg",
            format_func=str.upper,
            key="picture_format",
        )
        st.caption("The address of this page reproduces the picture: copy it and send it.")
    with right:
        code = export.as_python(view.setting, list(view.curves), here=view.here, budget=view.budget)
        st.code(code, wrap_lines=True)
