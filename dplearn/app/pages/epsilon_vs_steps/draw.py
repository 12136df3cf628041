"""The page below its menu: two pictures, the numbers, the theorems, and what to take along."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dplearn.accountants import accountants
from dplearn.app.kit import links, look
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import controls, doors, export, words
from dplearn.app.pages.epsilon_vs_steps.answers import Answers
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE
from dplearn.figures import epsilon_curves, looseness, style_of, text
from dplearn.ground.guarantee import Guarantee

_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "~": "≈"}
_PROOF = (
    "ε at T = {steps} with a proof, made when you press. Whoever has the file proves it again: "
    "`dplearn check certificate.json`."
)
_ADDRESS = "The address of this page reproduces the picture: copy it and send it."
_VERDICTS = look.VERDICTS | {"reproduces": "reproduced"}


def pictures(
    state: State, answers: Answers, rows: Sequence[Mapping[str, str]], kept: Answers | None
) -> DeltaGenerator:
    """Epsilon over the steps, and each accountant over the certified one; room for an attack."""
    first, second = _drawn(state, answers, rows, kept)
    with st.container(gap=None):
        with st.container(gap=None, key="head"):
            st.markdown(translated(words.FIRST))
            doors.show()
            size = state.values["dataset_size"] * (state.values["rate_from"] == "counts")
            told = f"{words.sentence(answers)} {words.caution(answers, size)}"
            st.container(key="words").markdown(told.strip())
        attack = st.container(key="attack")
    with st.container(key="picture"):
        look.chart(first, "curves", words.alt(answers), saves_as="epsilon_vs_steps")
    controls.below(state, answers.scenario)
    with st.container(key="picture_looseness"):
        look.chart(second, "looseness", words.alt_of_looseness(answers), saves_as="looseness")
    st.caption(words.assumptions(answers))
    return attack


def _drawn(
    state: State, answers: Answers, rows: Sequence[Mapping[str, str]], kept: Answers | None
) -> tuple[Any, Any]:
    """Both figures."""
    curves, most = {**answers.curves, **answers.claims}, answers.scenario.largest
    in_time = {n: t for n, t in answers.certified.items() if answers.readings[n].is_bound}
    common = {
        "here": answers.here,
        "claims": words.claimed(answers),
        "log_x": state.values["x_axis"] == "log",
    }
    first = epsilon_curves(
        curves,
        answers.steps,
        published=words.points(answers, rows),
        budget=answers.budget,
        certified={name: steps for name, steps in in_time.items() if steps < most},
        reference=REFERENCE if REFERENCE in curves else None,
        pinned={n: (kept.steps, curve) for n, curve in kept.curves.items()} if kept else {},
        stairs=bool(answers.claims),
        finding=words.gap(answers),
        subtitle=words.subtitle(answers.scenario),
        log_y=state.values["y_axis"] == "log",
        **common,
    )
    return first, looseness(curves, answers.reference, answers.steps, **common)


def comparison(answers: Answers, kept: Answers) -> None:
    """What the run in view changes about the one that was pinned."""
    st.subheader(translated("Compared with the pinned run"), anchor="compared")
    look.table(words.compared(answers, kept))
    st.caption(translated("Pinned: {run}.", run=words.subtitle(kept.scenario)))


def other_tools(sentences: Sequence[str]) -> None:
    """Which other tools fail at this run; nothing where none is known to."""
    if sentences:
        lines = "\n".join(f"- {sentence}" for sentence in sentences)
        title = translated("Where other tools go wrong here")
        st.container(key="regimes").markdown(f"**{title}**\n\n{lines}")


def numbers(answers: Answers) -> None:
    """The table at the chosen number of steps."""
    st.subheader(translated("At T = {steps}", steps=text.whole(answers.here)), anchor="numbers")
    look.table(words.table(answers))
    rounding = translated("Bounds are rounded up; an approximation does not compete with them.")
    st.caption(f"{words.assumed(answers.readings)} {rounding}")


def theorems(readings: Mapping[str, Guarantee]) -> None:
    """Per accountant, tightest first: why its curve lies where it lies, statement and source."""
    st.subheader(translated("Why is this curve above that one?"), anchor="theorems")
    with st.container(key="theorems"):
        for name, _ in words.ranked(readings):
            law = accountants[name]
            entries = links.entries_of(law.__module__)
            listed = translated("; in the formula book: {entries}", entries=entries)
            source = f"{law.reference}{listed if entries else ''}"
            # One text without numbers of the run: a browser draws it once.
            st.markdown(
                f"{style_of(name).glyph} **{law.title}.** {retold(law.explanation)}\n\n"
                f"$$\n{law.statement}\n$$\n\n:small[{source}]"
            )


def printed(rows: Sequence[Mapping[str, str]]) -> None:
    """What was printed about this run, and what became of a check."""
    if not rows:
        return
    st.subheader(translated("Published figures for this run"), anchor="published")
    figure = lambda row: f"{_SIGNS.get(row['relation'], '')}\u00a0{row['published']}".strip()
    shown = [
        {
            translated("Source"): retold(row["source"]),
            "T": text.whole(float(row["steps"])) if row["steps"] else "",
            translated("Printed ε"): figure(row),
            translated("Computed"): row["computed"],
            translated("Verdict"): translated(_VERDICTS[row["verdict"]]),
            translated("Why"): retold(row["why"]),
        }
        for row in rows
    ]
    look.table(shown)


def take_along(answers: Answers) -> None:
    """Numbers, picture and code."""
    st.subheader(translated("Take it along"), anchor="take")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        saved = partial(st.download_button, on_click="ignore")
        data = lambda: export.as_csv(answers)
        icon = ":material/download:"
        saved(translated("Data as CSV"), data, "epsilon.csv", "text/csv", icon=icon)
        if refusal := export.no_certificate(answers.scenario):
            st.caption(translated(refusal))
        else:
            proof = lambda: export.as_certificate(answers)
            about = translated(_PROOF, steps=text.whole(answers.here))
            more: Any = {"icon": ":material/verified:", "help": about}
            saved(translated("Certificate"), proof, "certificate.json", "application/json", **more)
        st.segmented_control(
            translated("The camera above the picture saves"),
            ["svg", "png"],
            required=True,
            default="svg",
            format_func=str.upper,
            key="picture_format",
        )
        st.caption(translated(_ADDRESS))
    right.code(export.as_python(answers), wrap_lines=True)
