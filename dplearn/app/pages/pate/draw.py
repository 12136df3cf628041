"""The parts of the page: controls, the sentence, both pictures."""

import numpy as np
import streamlit as st

from dplearn.app.kit import controls, look, questions
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.pate import fields
from dplearn.app.pages.pate.answers import EXACT, PRINTED, PUBLIC, Replay, replay
from dplearn.figures import histogram, price_lines
from dplearn.ground.guarantee import round_up
from dplearn.pate import PATE

_LAST = "pate_replay"
_PURPOSE = (
    "Nobody trains on private records but the teachers, each on a part of them. A student asks; "
    "they vote, and only the winner of the noisy counts is told."
)

_SENTENCE = (
    "**{answers} answers, {share:.1f}\u00a0% of them right.** Whatever the votes, the plan may be "
    "published with **ε\u00a0≤\u00a0{whole}**, however many it answered. At these votes Theorem 6 "
    "prints {printed:.3g} and exact divergences prove {exact}, which nobody may be told."
)
_VOTES = "Queries by the votes of their favourite. {title}. {counts}."
_BINS = 26
_COLUMNS = {"roles": ("second", "wrong", "quiet"), "axes": ("votes for the favourite", "queries")}
_LINES = {"roles": ("safe", "guess", "exact"), "dashed": ("guess", "exact")}
_LINES["axes"] = ("answers given", "ε")
_SPENT = "Epsilon against answers given, one line for each way to state it; at the end: {ends}."


def sidebar(state: State) -> tuple[int, PATE, float]:
    """All controls, and what they describe."""
    st.markdown(translated("**dplearn** · teachers who vote"), help=translated(_PURPOSE))
    controls.choice(state, fields.TEACHERS)
    controls.quantity(state, fields.NOISE)
    controls.choice(state, fields.CHECK, widget="segments")
    checked = state.values["check"] == "agreed"
    for kind in (fields.THRESHOLD, fields.CHECK_STD) if checked else ():
        controls.quantity(state, kind)
    for kind in (fields.QUERIES, fields.ANSWERS, fields.DELTA):
        controls.quantity(state, kind)
    values = state.values
    answers = min(values["answers"], values["queries"])
    check = {name: values[name] for name in ("queries", "threshold", "check_std")}
    check = check if checked else {"queries": answers}
    plan = PATE(answers=answers, noise_std=values["noise_std"], **check)
    return int(values["teachers"]), plan, values["delta"]


def outcome(state: State, question: tuple[int, PATE, float]) -> None:
    """The sentence, the pictures and what they assume; while a slider moves, the last ones."""
    teachers, plan, _ = question
    try:
        if not (state.moving and _LAST in st.session_state):
            st.session_state[_LAST] = questions.ask(replay, *question), teachers, plan
    except questions.Refused:
        raise
    except ValueError as error:
        st.warning(retold(str(error)), icon=":material/info:")
        return
    told, teachers, plan = st.session_state[_LAST]
    st.container(key="words").markdown(_sentence(told))
    left, right = st.columns(2, gap="small")
    with left.container(key="pair_votes"):
        title = _agreement(told, teachers)
        edges = np.linspace(0, teachers, _BINS)
        look_of = {**_COLUMNS, "limits": [("T", plan.threshold)]}
        figure = histogram(told.largest, edges, finding=title, **look_of)
        look.chart(figure, "votes", translated(_VOTES, title=title, counts=_counts(told)))
    with right.container(key="pair_spent"):
        title = translated("What is dashed depends on votes: tell nobody")
        ends = ", ".join(f"{name} {values[-1]:.3g}" for name, values in told.epsilons.items())
        figure = price_lines(told.answers, told.epsilons, finding=title, **_LINES)
        look.chart(figure, "spent", translated(_SPENT, ends=retold(ends)))
    st.caption(retold(f"True if: {'; '.join(told.assumptions)}."))


def _sentence(told: Replay) -> str:
    """What was answered, how well, and at which price for whom."""
    right, wrong = (len(told.largest[f"answered, {how}"]) for how in ("right", "wrong"))
    public, printed, exact = (told.epsilons[name][-1] for name in (PUBLIC, PRINTED, EXACT))
    return translated(
        _SENTENCE,
        answers=right + wrong,
        share=100 * right / (right + wrong),
        whole=round_up(public),
        printed=printed,
        exact=round_up(exact, 3),
    )


def _agreement(told: Replay, teachers: int) -> str:
    """How many of the queries most teachers agree on."""
    every = [n for counts in told.largest.values() for n in counts]
    most = 100 * sum(n >= 0.9 * teachers for n in every) / len(every)
    return translated("Nine of ten teachers agree on {share:.0f}\u00a0%", share=most)


def _counts(told: Replay) -> str:
    return retold(", ".join(f"{name}: {len(counts)}" for name, counts in told.largest.items()))
