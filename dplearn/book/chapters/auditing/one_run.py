"""One training run under a trade-off curve: no luck is left to canaries that fall together."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from dplearn.audit import theorems
from dplearn.book.chapters.auditing import truths
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Derived, Drawn, Linear, Log, Whole
from dplearn.book.kit.entry import formula, given, oracle, printed, wrong
from dplearn.ground import validate

_SOURCE = "Mahloujifar, Melis & Chaudhuri 2024, Appendix, audit_rh_with_cap"
_GUESSES = Drawn(lambda rng, canaries: int(rng.integers(1, canaries + 1)))


@formula("G-N4c", "One training run: the p-value by trade-off", "upper", _SOURCE)
@given("guesses >= 1 and 0 <= correct and correct <= guesses and guesses <= canaries "
       "and epsilon >= 0 and 0 <= delta < 1", canaries=Whole(1, 8), guesses=_GUESSES,
       correct=Drawn(lambda rng, guesses: int(rng.integers(guesses + 1))), epsilon=Linear(0.0, 4.0),
       delta=Log(1e-6, 0.3, also=(0.0,)))
@oracle(truths.worst_chance, absolute=1e-7, unsafe=None, points=60)
@printed("0.53910", "0.53910", canaries=2, guesses=2, correct=2, epsilon=1.0, delta=0.01)
@wrong("guesses-for-canaries",
       "Every canary may be given away, also those on which no guess was planned.",
       claim=lambda guesses, correct, epsilon, delta: one_run_tradeoff_p_value(canaries=guesses,
       guesses=guesses, correct=correct, epsilon=epsilon, delta=delta),
       says=r"\text{the same with } m = r")
@wrong("each-on-its-own", "An exact law for coins, but guesses may be right together.",
       claim=lambda guesses, correct, epsilon, delta: float(truths.at_least(np.array(correct),
       np.array(guesses), (math.exp(epsilon) + delta) / (1 + math.exp(epsilon)))),
       says=r"P(W \ge v) \le P\Big(\mathrm{Bin}\Big(r, \frac{e^\varepsilon+\delta}"
       r"{1+e^\varepsilon}\Big) \ge v\Big)")
def one_run_tradeoff_p_value(*, canaries, guesses, correct, epsilon, delta):
    r"""P(W \ge v) \le \sup\{\tau : R_0 + F_0 \le \tfrac rm\},\quad R_v = \tfrac{\tau v}m,\
    F_v = \tfrac{\tau(r-v)}m,\quad F_{i} = \max(F_{i+1}, \bar f^{-1}(R_{i+1})),\
    R_i = R_{i+1} + \tfrac i{r-i}(F_i - F_{i+1})

    R and F are the shares of right and wrong guesses among those runs with i right ones or more;
    swapping one canary turns one into the other, so that f, here that of (epsilon, delta), bounds
    them. Far below Steinke's bound where nearly all guesses are right or delta counts."""
    counts = {"canaries": canaries, "guesses": guesses, "correct": correct}
    worst = theorems.least_of_dp(epsilon, delta)
    refuted = lambda x: not theorems.reachable(worst, **counts, chance=x)
    return min(1.0, oracles.smallest(refuted, low=0.0, high=1.0))


def _likely(guesses: int, mu: float, significance: float) -> int:
    """The most right guesses about canaries with noise of their own that are not too rare."""
    chance = truths.at_least(np.arange(guesses + 1), np.array(guesses), float(ndtr(mu / 2)))
    return int(np.flatnonzero(chance > significance)[-1])


@formula("G-N4d", "One training run: the mu it proves", "lower", _SOURCE)
@given("guesses >= 1 and 0 <= correct and correct <= guesses and guesses <= canaries "
       "and 0 < significance < 1", canaries=Whole(1, 300), guesses=_GUESSES, mu=Log(0.05, 4.0),
       significance=Choice(0.01, 0.05, 0.1), correct=Derived(_likely))
@oracle(lambda mu: mu, unsafe=None, points=50)
@wrong("share", "That is the estimate for canaries with noise of their own, at no confidence.",
       claim=lambda guesses, correct: float(2 * ndtri(correct / guesses)),
       says=r"\mu \ge 2\Phi^{-1}(v/r)", given="0 < correct < guesses <= canaries")
def one_run_mu(*, canaries, guesses, correct, significance):
    r"""\hat\mu = \sup\{\mu : \text{p-value of } v \text{ under } G_\mu < \beta\},
    \quad P(\hat\mu > \mu) \le \beta"""
    validate.probability(significance=significance)
    counts = {"canaries": canaries, "guesses": guesses, "correct": correct}
    gaussian = theorems.least_of_gaussian
    return theorems.refuted_by_guesses(gaussian, **counts, chance=significance)
