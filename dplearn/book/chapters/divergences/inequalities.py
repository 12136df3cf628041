"""What one divergence says about another: distances, and mean losses under pure DP."""

import math

import numpy as np

from dplearn.book.chapters.divergences import truths
from dplearn.book.chapters.divergences.pairs import kl_divergence, max_divergence
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Derived, Distribution, Log
from dplearn.book.kit.entry import formula, given, oracle, printed, wrong
from dplearn.ground import validate

_KL_PAIR = {"p": Distribution(4), "q": Distribution(4),
            "kl": Derived(kl_divergence)}
_total_variation = lambda p, q: oracles.worst_event_delta(p, q, 0.0)
_WORKED_PAIR = {"p": [0.5, 0.3, 0.2], "q": [0.2, 0.3, 0.5], "kl": 0.3 * math.log(2.5)}


@formula("G-A10", "Pinsker's inequality", "upper", "Tsybakov 2009, Lemma 2.5")
@given("kl >= 0", **_KL_PAIR)
@oracle(_total_variation)
@printed("0.3707339", "0.3", **_WORKED_PAIR)
@wrong("whole-distance", "The sum of |p - q| is twice the total variation distance.",
       says=r"\lVert P - Q\rVert_1 \le \sqrt{\mathrm{KL}(P\Vert Q)/2}",
       oracle=lambda p, q: float(np.sum(np.abs(np.subtract(p, q)))))
@wrong("no-half", "True, but too large by a factor of 1.4 for nearly equal laws.", claim="sqrt(kl)",
       says=r"\mathrm{TV} \le \sqrt{\mathrm{KL}} \text{ and no constant is better}",
       kind="identity", oracle=truths.largest_distance, p=None, q=None, kl=Log(1e-4, 0.5))
def pinsker(*, kl):
    r"""\mathrm{TV}(P,Q) = H_1(P\Vert Q) \le \sqrt{\mathrm{KL}(P\Vert Q)/2}"""
    return math.sqrt(kl / 2)


@formula("G-A10b", "The inequality of Bretagnolle and Huber", "upper", "Tsybakov 2009, Lemma 2.6")
@given("kl >= 0", **_KL_PAIR)
@oracle(_total_variation)
@printed("0.4902471", "0.3", **_WORKED_PAIR)
def bretagnolle_huber(*, kl):
    r"""\mathrm{TV}(P,Q) \le \sqrt{1 - e^{-\mathrm{KL}(P\Vert Q)}}"""
    return math.sqrt(-math.expm1(-kl))


_ONE_EPSILON = {"p": None, "q": None, "epsilon": Log(0.01, 5.0)}


@formula("G-A12", "Mean privacy loss under pure DP", "upper", "Bun & Steinke 2016, Proposition 3.3")
@given("epsilon >= 0", p=Distribution(3, zeros=False), q=Distribution(3, zeros=False),
       epsilon=Derived(lambda p, q: max(max_divergence(p, q), max_divergence(q, p))))
@oracle(oracles.mean_loss)
@printed("0.4621171573", "0.4621171573", **dict(zip(("p", "q", "epsilon"),
         (*oracles.randomized_response(epsilon=1.0), 1.0), strict=True)))
@wrong("exponential", "A valid bound, but at least twice the largest mean.",
       printed("1.71828", epsilon=1.0), claim="epsilon * expm1(epsilon)", kind="identity",
       oracle=truths.mean_loss_of_coins, **_ONE_EPSILON)
@wrong("half-square", "The limit for a small epsilon; a valid bound that no pair attains.",
       printed("0.5", epsilon=1.0), claim="epsilon**2 / 2", kind="identity",
       oracle=truths.mean_loss_of_coins, **_ONE_EPSILON)
def mean_loss_of_pure_dp(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \mathrm{KL} \le
    \varepsilon\tanh\frac\varepsilon2 \le \frac{\varepsilon^2}2"""
    validate.non_negative(epsilon=epsilon)
    return epsilon * math.tanh(epsilon / 2)
