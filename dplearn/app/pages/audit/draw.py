"""The parts of the page: controls, the sentence, both pictures, what an audit cannot say."""

import numpy as np
import streamlit as st

from dplearn.app.kit import controls, look
from dplearn.app.kit.language import translated
from dplearn.app.kit.state import State
from dplearn.app.pages.audit import fields
from dplearn.app.pages.audit.answers import Audit, Question, audited
from dplearn.figures import histogram, proved_by_guesses
from dplearn.ground.guarantee import round_down

_PURPOSE = (
    "An auditor puts canaries into the data by the toss of a coin, looks at what the program gives "
    "away, and guesses which are in. Guesses that are right too often are impossible for a program "
    "that keeps its claim."
)
_RIGHT = "**{correct} of {guesses} guesses are right.** "
_PROVES = "They prove **ε\u00a0>\u00a0{proved}** at δ = {delta:g}, with {confidence} confidence. "
_NOTHING = "They prove nothing about ε, with {confidence} confidence. "
_CAUGHT = "The claim of ε\u00a0≤\u00a0{claim:g} is **refuted**."
_STANDS = "The claim of ε\u00a0≤\u00a0{claim:g} is not refuted, which does not make it true."
_ABOUT = {
    "correct": "This program keeps its claim exactly: where it is accused, the audit errs.",
    "again": "This program uses each lot for two steps and reports one: canaries stand out √2 "
    "times as much as claimed.",
    "forgets": "This program adds noise σ in place of σC, and C = 4: a quarter of the noise.",
    "unclipped": "This program does not clip, and the canaries pull ten times as hard as C.",
    "short": "This program does not clip either, but these canaries pull no harder than C: they "
    "do not see it, and no ε is true.",
    "twice": "This program divides its noise by the lot size, 1000, and the sum with it once more. "
    "It is more accurate than the correct one.",
}
_CANNOT = (
    "What no audit says: that a program is private. It tried one attack, with canaries of one "
    "kind, once; whoever looks again, or picks the best number of guesses afterwards, accuses "
    "honest programs more often. Scores are simulated: what a white-box attacker of DP-SGD sees "
    "of each canary."
)
_BINS = 32
_AXES = ("score of a canary", "number of canaries")
_SCORES = "Scores of {left_out} canaries left out and {included} included. {title}."
_PROVED = "Epsilon proved against the number of guesses; {proved:.3g} at {guesses}. {title}."


def sidebar(state: State) -> Question:
    """All controls, and what they describe."""
    st.markdown(translated("**dplearn** · one run under audit"), help=translated(_PURPOSE))
    controls.choice(state, fields.PROGRAM)
    for kind in (fields.EPSILON, fields.CANARIES, fields.GUESSES):
        controls.quantity(state, kind)
    controls.choice(state, fields.CONFIDENCE, widget="segments")
    controls.choice(state, fields.ASSUME, widget="segments")
    for kind in (fields.RUN, fields.DELTA):
        controls.quantity(state, kind)
    values = state.values
    guesses = min(values["guesses"], values["canaries"])
    able = {"guesses": guesses, "confidence": float(values["confidence"])}
    return Question(**values | able)


def outcome(state: State, question: Question) -> None:
    """The sentence, both pictures, and what they do not say."""
    told = audited(question)
    st.container(key="words").markdown(_sentence(question, told))
    left, right = st.columns(2, gap="small")
    with left.container(key="pair_scores"):
        title = translated("Two hills: the further apart, the more leaks")
        scores = {"canaries left out": told.left_out, "canaries included": told.included}
        limits = zip(("← out", "in →"), told.limits, strict=True)
        edges = np.histogram_bin_edges(np.concatenate([*scores.values()]), _BINS)
        paint = {"roles": ("quiet", "exact"), "axes": _AXES, "stacked": False}
        figure = histogram(scores, edges, limits=limits, finding=title, **paint)
        counts = {"left_out": told.left_out.size, "included": told.included.size}
        look.chart(figure, "scores", translated(_SCORES, title=title, **counts))
    with right.container(key="pair_proved"):
        here = (question.guesses, told.bound.epsilon)
        title = translated("Only the number that was fixed before counts")
        figure = proved_by_guesses(
            told.sizes, told.proved, told.ceiling, here=here, claim=question.epsilon, finding=title
        )
        alt = translated(_PROVED, proved=here[1], guesses=here[0], title=title)
        look.chart(figure, "proved", alt)
    st.caption(f"{translated(_ABOUT[question.program])} {translated(_CANNOT)}")


def _sentence(question: Question, told: Audit) -> str:
    """How many guesses are right, what that proves, and what becomes of the claim."""
    proved = told.bound.epsilon
    look = {"proved": round_down(proved), "delta": question.delta}
    look["confidence"] = fields.CONFIDENCE.options[str(question.confidence)]
    parts = [
        translated(_RIGHT, correct=told.correct, guesses=question.guesses),
        translated(_PROVES if proved else _NOTHING, **look),
        translated(_CAUGHT if question.epsilon <= proved else _STANDS, claim=question.epsilon),
    ]
    return "".join(parts)
