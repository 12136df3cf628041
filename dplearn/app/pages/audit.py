"""One simulated run with canaries: what an auditor's guesses prove about its epsilon."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.app.kit import controls, look
from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.language import translated
from dplearn.app.kit.people import people
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State, load, save
from dplearn.audit import LowerBound, from_guesses
from dplearn.book.chapters.tradeoff.entries import approximate_dp_tradeoff, gaussian_tradeoff
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.figures.prices import histogram, proved_by_guesses
from dplearn.ground.guarantee import round_down
from dplearn.mechanisms import Gaussian

TITLE = "Audit"
GROUP = "Check"
ORDER = 60

PROGRAM = Choice(
    "program",
    "Program under audit",
    "All but the first promise more than they keep.",
    {
        "correct": "as claimed",
        "again": "every lot used twice",
        "forgets": "noise without C",
        "unclipped": "no clipping",
        "short": "no clipping, short canaries",
        "twice": "noise divided by L twice",
    },
)
EPSILON = Quantity(
    "epsilon", "Claimed ε", "What the report says, at δ below.", default=3, lower=0.1, upper=10
)
_ABOUT_CANARIES = "Made-up records. A fair coin decides for each whether it is in the data."
CANARIES = Quantity(
    "canaries", "Canaries", _ABOUT_CANARIES, default=1000, lower=20, upper=10_000, whole=True
)
_ABOUT_GUESSES = (
    "Fixed before anybody looks: half of them say “in” of the highest scores, half “out” of the "
    "lowest."
)
GUESSES = Quantity(
    "guesses", "Guesses", _ABOUT_GUESSES, default=200, lower=2, upper=2000, whole=True
)
CONFIDENCE = Choice(
    "confidence",
    "Confidence",
    "How rarely an honest program may be accused: at 99.9 % once in a thousand audits.",
    {level: f"{100 * float(level):g}\u00a0%" for level in ("0.9", "0.99", "0.999", "0.9999")},
    "0.999",
)
ASSUME = Choice(
    "assume",
    "Presumed of the program",
    "Gaussian noise has a better curve than its ε says. Whoever presumes it proves more, and is "
    "wrong where it is not true.",
    {"any": "nothing", "gaussian": "Gaussian noise"},
)
RUN = Quantity(
    "run", "Run", "New coins and new noise.", default=1, lower=1, upper=61, whole=True, even=True
)


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State(by_key(PROGRAM, EPSILON, CANARIES, GUESSES, CONFIDENCE, ASSUME, RUN, DELTA))


# How many times as much as claimed a canary stands out: C = 4, lots of 1000, canaries of 10 C.
SHARPER = {
    "correct": 1.0,
    "again": math.sqrt(2),
    "forgets": 4.0,
    "unclipped": 10.0,
    "short": 1.0,
    "twice": 1000.0,
}
# Numbers of guesses for which the proof is drawn, and the largest.
_POINTS, _MOST = 7, 2000


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a reader asked."""

    program: str
    epsilon: float  # claimed
    delta: float
    canaries: int
    guesses: int
    confidence: float
    assume: str
    run: int


@dataclass(frozen=True)
class Audit:
    """One run and its audit."""

    left_out: NDArray  # scores
    included: NDArray
    limits: tuple[float, float]  # up to the first "out" is guessed, from the second on "in"
    correct: int
    bound: LowerBound
    sizes: NDArray  # numbers of guesses, and the epsilon that each would have proved
    proved: NDArray
    ceiling: NDArray  # had all been right


@lru_cache(maxsize=256)
def audited(question: Question) -> Audit:
    """Coins, scores, guesses and the bound of one run."""
    rng, m = np.random.default_rng(question.run), question.canaries
    included, noise = rng.random(m) < 0.5, rng.standard_normal(m)
    mu = SHARPER[question.program] * _mu(question.epsilon, question.delta)
    scores = noise + mu * included
    order = np.argsort(scores)
    ranked = included[order]

    prove = partial(
        from_guesses,
        canaries=m,
        delta=question.delta,
        confidence=question.confidence,
        assume=question.assume,
    )

    def right(guesses: int) -> int:
        return int(np.sum(ranked[m - guesses + guesses // 2 :]) + np.sum(~ranked[: guesses // 2]))

    r = question.guesses
    sizes = np.unique([r, *np.geomspace(min(10, m), min(m, _MOST), _POINTS).astype(int)])
    proved = np.array([prove(guesses=n, correct=right(n)).epsilon for n in sizes.tolist()])
    ceiling = np.array([prove(guesses=n, correct=n).epsilon for n in sizes.tolist()])
    limits = float(scores[order[max(0, r // 2 - 1)]]), float(scores[order[m - r + r // 2]])
    bound = prove(guesses=r, correct=right(r))
    hills = scores[~included], scores[included]
    return Audit(*hills, limits, right(r), bound, sizes, proved, ceiling)


def permitted(question: Question) -> float:
    """Share of members that an attacker with 1 % false alarms may find where the claim is true."""
    if question.assume == "gaussian":
        mu = _mu(question.epsilon, question.delta)
        return 1 - float(gaussian_tradeoff(0.01, mu=mu))
    claim = {"epsilon": question.epsilon, "delta": question.delta}
    return 1 - float(approximate_dp_tradeoff(0.01, **claim))


@lru_cache(maxsize=64)
def _mu(epsilon: float, delta: float) -> float:
    """How far a canary stands out where the claim is exactly true."""
    least = smallest_noise_multiplier(Gaussian(1.0), epsilon=epsilon, delta=delta)
    return 1 / least.value


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
_IF_TRUE = "**If the claim of ε\u00a0≤\u00a0{claim:g} is true**"
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
_LIMITS = "What no audit says"
_CANNOT = (
    "No audit says that a program is private. It tried one attack, with canaries of one "
    "kind, once; whoever looks again, or picks the best number of guesses afterwards, accuses "
    "honest programs more often. Scores are simulated: what a white-box attacker of DP-SGD sees "
    "of each canary."
)
_BINS = 32
_AXES = ("score of a canary", "number of canaries")
_SCORES = "Scores of {left_out} canaries left out and {included} included. {title}."
_PROVED = "Epsilon proved against the number of guesses; {proved:.3g} at {guesses}. {title}."


def render() -> None:
    """Controls, one sentence, scores beside what guesses prove, what an audit cannot say."""
    entered = load("audit", state)
    with st.sidebar:
        question = _sidebar(entered)
    save(entered)
    told = audited(question)
    st.container(key="words").markdown(_sentence(question, told))
    left, right = look.pair()
    with left.container(key="pair_scores"):
        title = translated("The further the hills are apart, the more leaks")
        scores = {"canaries left out": told.left_out, "canaries included": told.included}
        limits = zip(("← out", "in →"), told.limits, strict=True)
        edges = np.histogram_bin_edges(np.concatenate([*scores.values()]), _BINS)
        paint = {"roles": ("quiet", "exact"), "axes": _AXES, "stacked": False}
        figure = histogram(scores, edges, limits=limits, finding=title, **paint)
        counts = {"left_out": told.left_out.size, "included": told.included.size}
        look.chart(figure, "scores", translated(_SCORES, title=title, **counts))
    with right.container(key="pair_proved"):
        here = (question.guesses, told.bound.epsilon)
        title = translated("Only guesses fixed beforehand count")
        figure = proved_by_guesses(
            told.sizes, told.proved, told.ceiling, here=here, claim=question.epsilon, finding=title
        )
        alt = translated(_PROVED, proved=here[1], guesses=here[0], title=title)
        look.chart(figure, "proved", alt)
    left, right = look.below()
    with left:
        st.markdown(translated(_IF_TRUE, claim=question.epsilon))
        people(permitted(question))
    with right:
        st.markdown(translated(_ABOUT[question.program]))
        st.expander(translated(_LIMITS)).caption(translated(_CANNOT))


def _sidebar(state: State) -> Question:
    """All controls, and what they describe."""
    st.markdown(translated("**dplearn** · one run under audit"), help=translated(_PURPOSE))
    controls.choice(state, PROGRAM)
    for kind in (EPSILON, CANARIES, GUESSES):
        controls.quantity(state, kind)
    for kind in (CONFIDENCE, ASSUME):
        controls.choice(state, kind, widget="segments")
    for kind in (RUN, DELTA):
        controls.quantity(state, kind)
    values = state.values
    guesses = min(values["guesses"], values["canaries"])
    return Question(**values | {"guesses": guesses, "confidence": float(values["confidence"])})


def _sentence(question: Question, told: Audit) -> str:
    """How many guesses are right, what that proves, and what becomes of the claim."""
    proved = told.bound.epsilon
    look = {"proved": round_down(proved), "delta": question.delta}
    look["confidence"] = CONFIDENCE.options[str(question.confidence)]
    parts = [
        translated(_RIGHT, correct=told.correct, guesses=question.guesses),
        translated(_PROVES if proved else _NOTHING, **look),
        translated(_CAUGHT if question.epsilon <= proved else _STANDS, claim=question.epsilon),
    ]
    return "".join(parts)
