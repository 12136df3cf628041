"""One simulated run with canaries: what an auditor's guesses prove about its epsilon.

A white-box attacker of DP-SGD knows all but the canaries. What he sees of one is N(0, 1) without
it and N(mu, 1) with it; mu is that of the claim, times what the program's bug makes of it.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.audit import LowerBound, from_guesses
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.core.guarantee import round_down
from dplearn.mechanisms import Gaussian
from dplearn.teaching.book.chapters.tradeoff import approximate_dp_tradeoff, gaussian_tradeoff
from dplearn.teaching.explorer.kit import controls, look
from dplearn.teaching.explorer.kit.fields import DELTA, Quantity, Words, by_key
from dplearn.teaching.explorer.kit.state import State, load, save
from dplearn.teaching.figures.prices import histogram, proved_by_guesses

_say = Words("audit")
TITLE, GROUP, ORDER = _say["title"], "Check", 60

# How many times as much as claimed a canary stands out: C = 4, lots of 1000, canaries of 10 C.
SHARPER = {
    "correct": 1.0,
    "again": math.sqrt(2),
    "forgets": 4.0,
    "unclipped": 10.0,
    "short": 1.0,
    "twice": 1000.0,
}
LEVELS = {level: f"{100 * float(level):g}\u00a0%" for level in ("0.9", "0.99", "0.999", "0.9999")}
FIELDS = (
    _say.selection("program"),
    _say.quantity("epsilon", 3, 0.1, 10),
    _say.quantity("canaries", 1000, 20, 10_000, whole=True),
    _say.quantity("guesses", 200, 2, 2000, whole=True),
    _say.selection("confidence", LEVELS, default="0.999", segments=True),
    _say.selection("assume", segments=True),
    _say.quantity("run", 1, 1, 61, whole=True, even=True),
    DELTA,
)
# Numbers of guesses for which the proof is drawn, and the largest; columns.
_POINTS, _MOST, _BINS = 7, 2000, 32


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


# Counts come again, whatever program, claim and run.
_proved = lru_cache(maxsize=2048)(from_guesses)


@lru_cache(maxsize=256)
def audited(
    *, program: str, epsilon: float, canaries: int, guesses: int, run: int, **about: Any
) -> Audit:
    """Coins, scores, guesses and the bound of one run; `about` it are delta, confidence, assume."""
    rng, m, r = np.random.default_rng(run), canaries, guesses
    included, noise = rng.random(m) < 0.5, rng.standard_normal(m)
    scores = noise + SHARPER[program] * _mu(epsilon, about["delta"]) * included
    order = np.argsort(scores)
    ranked = included[order]
    right = lambda n: int(np.sum(ranked[m - n + n // 2 :]) + np.sum(~ranked[: n // 2]))
    prove = lambda n, correct: _proved(canaries=m, guesses=n, correct=correct, **about)
    sizes = np.unique([r, *np.geomspace(min(10, m), min(m, _MOST), _POINTS).astype(int)])
    return Audit(
        left_out=scores[~included],
        included=scores[included],
        limits=(float(scores[order[max(0, r // 2 - 1)]]), float(scores[order[m - r + r // 2]])),
        correct=right(r),
        bound=prove(r, right(r)),
        sizes=sizes,
        proved=np.array([prove(n, right(n)).epsilon for n in sizes.tolist()]),
        ceiling=np.array([prove(n, n).epsilon for n in sizes.tolist()]),
    )


def permitted(*, epsilon: float, delta: float, assume: str) -> float:
    """Share of members that an attacker with 1 % false alarms may find where the claim is true."""
    if assume == "gaussian":
        return 1 - float(gaussian_tradeoff(0.01, mu=_mu(epsilon, delta)))
    return 1 - float(approximate_dp_tradeoff(0.01, epsilon=epsilon, delta=delta))


@lru_cache(maxsize=64)
def _mu(epsilon: float, delta: float) -> float:
    """How far a canary stands out where the claim is exactly true."""
    return 1 / smallest_noise_multiplier(Gaussian(1.0), epsilon=epsilon, delta=delta).value


def render() -> None:
    """Controls, one sentence, scores beside what guesses prove, what an audit cannot say."""
    state = load("audit", lambda _: State(by_key(*FIELDS)))
    with st.sidebar:
        st.markdown(_say("heading"), help=_say("purpose"))
        for kind in FIELDS:
            control: Any = controls.quantity if isinstance(kind, Quantity) else controls.choice
            control(state, kind)
    save(state)
    asked: dict[str, Any] = {**state.values}
    asked["confidence"] = float(asked["confidence"])
    asked["guesses"] = min(asked["guesses"], asked["canaries"])
    told = audited(**asked)
    claim, delta = asked["epsilon"], asked["delta"]
    st.container(key="words").markdown(_sentence(state, told, asked["guesses"]))
    title, here = _say("fixed"), (asked["guesses"], told.bound.epsilon)
    curves = told.sizes, told.proved, told.ceiling
    figure = proved_by_guesses(*curves, here=here, claim=claim, finding=title)
    alt = _say("proved", proved=here[1], guesses=here[0], title=title)
    columns = st.container(key="both").columns(2, gap="small")
    for column, drawn in zip(columns, (_scores(told), (figure, "pair_proved", alt)), strict=True):
        with column:
            look.draw_figure(*drawn)
    share = permitted(epsilon=claim, delta=delta, assume=asked["assume"])
    left, right = st.container(key="below").columns([3, 2], gap="medium")
    with left:
        st.markdown(_say("if_true", claim=claim))
        look.people(share)
    with right:
        st.markdown(_say(f"about.{asked['program']}"))
        st.expander(_say("limits")).caption(_say("cannot"))


def _sentence(state: State, told: Audit, guesses: int) -> str:
    """How many guesses are right, what that proves, and what becomes of the claim."""
    proved, claim, level = told.bound.epsilon, state.values["epsilon"], state.values["confidence"]
    parts = [
        _say("right", correct=told.correct, guesses=guesses),
        _say(
            "proves" if proved else "nothing",
            proved=round_down(proved),
            delta=state.values["delta"],
            confidence=LEVELS[level],
        ),
        _say("refuted" if claim <= proved else "stands", claim=claim),
    ]
    return "".join(parts)


def _scores(told: Audit) -> tuple[Any, str, str]:
    """Scores of canaries, and where guesses begin."""
    title, limits = _say("hills"), zip((_say("out"), _say("in")), told.limits, strict=True)
    figure = histogram(
        {_say("left_out"): told.left_out, _say("included"): told.included},
        np.histogram_bin_edges(np.concatenate([told.left_out, told.included]), _BINS),
        limits=limits,
        finding=title,
        roles=("quiet", "exact"),
        axes=(_say("score"), _say("number")),
    )
    counts = told.left_out.size, told.included.size
    alt = _say("scores", title=title, left_out=counts[0], included=counts[1])
    return figure, "pair_scores", alt
