"""Scores of canaries in one simulated run, and what guesses about them prove.

A white-box attacker of DP-SGD knows all but the canaries. What he sees of one is N(0, 1) without
it and N(mu, 1) with it; mu is that of the claim, times what the program's bug makes of it.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import accountants
from dplearn.audit import LowerBound, from_guesses
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.mechanisms import Gaussian

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

    def bound(guesses: int, correct: int) -> LowerBound:
        counts = {"canaries": m, "guesses": guesses, "correct": correct}
        look = {name: getattr(question, name) for name in ("delta", "confidence", "assume")}
        return from_guesses(**counts, **look)

    def right(guesses: int) -> int:
        return int(np.sum(ranked[m - guesses + guesses // 2 :]) + np.sum(~ranked[: guesses // 2]))

    r = question.guesses
    sizes = np.unique([r, *np.geomspace(min(10, m), min(m, _MOST), _POINTS).astype(int)])
    proved = np.array([bound(n, right(n)).epsilon for n in sizes.tolist()])
    ceiling = np.array([bound(n, n).epsilon for n in sizes.tolist()])
    limits = float(scores[order[max(0, r // 2 - 1)]]), float(scores[order[m - r + r // 2]])
    hills = scores[~included], scores[included]
    return Audit(*hills, limits, right(r), bound(r, right(r)), sizes, proved, ceiling)


@lru_cache(maxsize=64)
def _mu(epsilon: float, delta: float) -> float:
    """How far a canary stands out where the claim is exactly true."""
    goal = {"mechanism": Gaussian(1.0), "epsilon": epsilon, "delta": delta, "steps": 1}
    return 1 / smallest_noise_multiplier(accountants["pld"](), **goal).value
