"""From Rényi and concentrated DP to (epsilon, delta)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dplearn.accountants.theorems import rdp_to_epsilon, rdp_to_epsilon_mironov, zcdp_to_epsilon
from dplearn.book.chapters.conversion import truths
from dplearn.book.chapters.divergences.truths import mean_loss_of_coins
from dplearn.book.chapters.gaussian.entries import gaussian_delta
from dplearn.book.chapters.gaussian.truths import noise_epsilon
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Derived, Distribution, Linear, Log, Whole
from dplearn.book.kit.entry import enter, formula, given, oracle, printed, typed, wrong
from dplearn.ground import validate

_RDP = {"orders": Log(1.01, 300.0), "rdp": Log(1e-4, 50.0), "delta": Log(1e-12, 0.9)}
_ANY_RDP = "orders > 1 and rdp >= 0 and 0 < delta < 1"
_ZCDP = {"rho": Log(1e-5, 100.0), "delta": Log(1e-12, 0.9)}
_ANY_ZCDP = "rho > 0 and 0 < delta < 1"
_exact_epsilon = lambda rho, delta: oracles.gaussian_epsilon(delta=delta, mu=math.sqrt(2 * rho))
_SMALL: dict[str, Any] = {"delta": Log(1e-12, 1e-3)}


enter(
    rdp_to_epsilon_mironov,
    formula("G-D1", "From Rényi DP to epsilon and delta, the first conversion", "upper",
            "Mironov 2017, Proposition 3",
            statement=r"\varepsilon = \rho + \frac{\ln(1/\delta)}{\alpha-1}"),
    given(_ANY_RDP, **_RDP),
    oracle(truths.coins_within, points=60),
    typed("epsilon", "gaussian", "alpha*T/(2*sigma^2) + log(1/delta)/(alpha-1)"),
    printed("1.77921394", "1.41677040", orders=10.0, rdp=0.5, delta=1e-5),
    printed("12.5129255", "10.66797924", orders=2.0, rdp=1.0, delta=1e-5),
    printed("5.37823", orders=5.0, rdp=2.5, delta=1e-5),
    wrong("bracket", "The denominator is alpha - 1: the bracket was lost in print.",
          typed("epsilon", "gaussian", "alpha*T/(2*sigma^2) + log(1/delta)/alpha - 1"),
          printed("3.80259", orders=5.0, rdp=2.5, delta=1e-5),
          claim="rdp - log(delta) / orders - 1", **_SMALL),
    wrong("divided-by-order",
          "Harmless at large orders, where the first conversion has slack to spare.",
          typed("epsilon", "gaussian", "alpha*T/(2*sigma^2) + log(1/delta)/alpha"),
          printed("1.65129255", orders=10.0, rdp=0.5, delta=1e-5),
          claim="rdp - log(delta) / orders", **_SMALL),
    wrong("tight", "The improved conversion is always smaller.",
          says=r"\rho + \ln(1/\delta)/(\alpha-1) \text{ is the best epsilon}", kind="identity",
          **_SMALL),
)


enter(
    rdp_to_epsilon,
    formula("G-D2", "From Rényi DP to epsilon and delta, improved", "upper",
            "Canonne, Kamath & Steinke 2020, Proposition 12", statement=r"\varepsilon = \rho + "
            r"\ln\frac{\alpha-1}\alpha - \frac{\ln\delta + \ln\alpha}{\alpha-1}"),
    given(_ANY_RDP, **_RDP),
    oracle(truths.coins_within, points=60),
    typed("epsilon", "gaussian",
          "alpha*T/(2*sigma^2) + log((alpha-1)/alpha) - (log(delta)+log(alpha))/(alpha-1)"),
    printed("1.41801064", "1.41677040", orders=10.0, rdp=0.5, delta=1e-5),
    printed("11.1266311", "10.66797924", orders=2.0, rdp=1.0, delta=1e-5),
    printed("1.32783806", orders=32.0, rdp=1.1, delta=1e-5),
    wrong("sign", "Still an upper bound, but not what the proof gives: the improvement shrinks.",
          claim="max(rdp + log1p(-1 / orders) - (log(delta) - log(orders)) / (orders - 1), 0.0)",
          kind="identity", oracle=truths.pointwise_epsilon, **_SMALL),
    wrong("tight", "Optimising over pairs of coins gives slightly less (Asoodeh et al. 2020).",
          says=r"\text{the best epsilon that } D_\alpha \le \rho \text{ allows}", kind="identity",
          **_SMALL),
)


@formula("G-D3", "From zCDP to epsilon and delta", "upper", "Bun & Steinke 2016, Proposition 1.3")
@given(_ANY_ZCDP, **_ZCDP)
@oracle(_exact_epsilon)
@printed("5.29853", "4.37718", rho=0.5, delta=1e-5)
@printed("0.24118", "0.16004", rho=0.00125, delta=1e-5)
@printed("17.915", "16.479", rho=2.56, delta=1e-10)
@printed("2.609", "2.280", rho=0.07, delta=1e-10)
@wrong("one-root", "The 2 is missing: the least of rho a + c/(a - 1) is rho + 2 sqrt(rho c).",
       claim="rho + sqrt(-rho * log(delta))", **_SMALL)
@wrong("root-alone", "A rate for small rho without its constant.", claim="sqrt(-rho * log(delta))",
       **_SMALL)
@wrong("sublinear", "Once k rho exceeds ln(1/delta) epsilon grows by rho with every release.",
       claim="2 * sqrt(-rho * log(delta))",
       says=r"\varepsilon = 2\sqrt{k\rho\ln(1/\delta)} \text{ for any number of releases}",
       **_SMALL)
@wrong("tight", "The Rényi curve is exact; turning it into epsilon and delta is not.",
       says=r"\rho + 2\sqrt{\rho\ln(1/\delta)} \text{ is exact for Gaussian noise}",
       kind="identity", **_SMALL)
def zcdp_to_epsilon_bun_steinke(rho, *, delta):
    r"""\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}"""
    rho = np.asarray(rho, dtype=float)
    return rho + 2 * np.sqrt(-rho * np.log(delta))


def _orders_up_to(largest: int) -> str:
    """The first conversion at the best order between 2 and the largest."""
    order = f"min(max(1 + sqrt(-log(delta)/rho), 2), {largest})"
    return f"rho*{order} - log(delta)/({order} - 1)"


enter(
    zcdp_to_epsilon_bun_steinke,
    formula("G-D3c", "The zCDP conversion is the best over all orders", "identity",
            "Bun & Steinke 2016, Proposition 1.3", statement=r"\min_{\alpha>1}\Big\{\rho\alpha "
            r"+ \frac{\ln(1/\delta)}{\alpha-1}\Big\} = \rho + 2\sqrt{\rho\ln(1/\delta)},\quad "
            r"\alpha^* = 1 + \sqrt{\ln(1/\delta)/\rho}"),
    given(_ANY_ZCDP, **_ZCDP),
    oracle(truths.least_over_orders),
    printed("0.0760", "0.0760", rho=1.25e-4, delta=1e-5),
    wrong("orders-to-100",
          "Only while the best order lies there; little leakage needs large orders.",
          printed("0.1288", rho=1.25e-4, delta=1e-5), claim=_orders_up_to(100),
          says=r"\alpha \in [2, 100] \text{ is enough}", **_SMALL),
    wrong("orders-to-32", "It fails at both ends: much leakage needs orders below 2.",
          printed("0.3754", rho=1.25e-4, delta=1e-5), claim=_orders_up_to(32),
          says=r"\alpha \in [2, 32] \text{ is enough}", **_SMALL),
)


enter(
    zcdp_to_epsilon,
    formula("G-D3b", "From zCDP to epsilon and delta, improved", "upper",
            "Canonne, Kamath & Steinke 2020, Corollary 13", statement=r"\varepsilon = "
            r"\min_{\alpha>1}\Big\{\rho\alpha + \ln\frac{\alpha-1}\alpha - \frac{\ln\delta + "
            r"\ln\alpha}{\alpha-1}\Big\}"),
    given(_ANY_ZCDP, **_ZCDP),
    oracle(_exact_epsilon),
    printed("4.72839", "4.37718", rho=0.5, delta=1e-5),
    printed("0.17751", "0.16004", rho=0.00125, delta=1e-5),
    printed("17.158", "16.479", rho=2.56, delta=1e-10),
    printed("2.387", "2.280", rho=0.07, delta=1e-10),
    wrong("tight", "Closer than the simple conversion, and still above the exact profile.",
          says=r"\text{the exact epsilon of Gaussian noise}", kind="identity", **_SMALL),
)


_PLOTTED = {"order": 20.0, "rho": 1.25e-5, "delta": 1e-5}


@formula("G-D3d", "Where the bound of one order touches that of zCDP", "identity",
         "Bun & Steinke 2016, Proposition 1.3, by calculus")
@given("order > 1 and rho > 0 and 0 < delta < 1", order=Log(1.1, 300.0), rho=Log(1e-6, 1.0),
       delta=Log(1e-12, 0.5))
@oracle(truths.touching_steps, unsafe=None)
@printed("264.589", "264.589", **{**_PLOTTED, "order": 60.0})
@printed("2551.34", "2551.34", **_PLOTTED)
@wrong("three-hundred", "Order 20 touches at 2551 releases; it is order 60 that touches near 300.",
       claim="300.0",
       says=r"\text{the curves touch at } k \approx 300 \text{ for } \alpha = 20,\ \sigma = 200",
       **{name: Choice(x) for name, x in _PLOTTED.items()})
def touching_steps(*, order, rho, delta):
    r"""k^* = \frac{\ln(1/\delta)}{\rho(\alpha-1)^2}

    Before and after it the bound of this order lies above the zCDP curve, which is the least
    of the bounds of all orders."""
    return -math.log(delta) / (rho * (order - 1) ** 2)


@formula("G-D4", "Rényi DP of pure DP", "identity", "Bun & Steinke 2016, Proposition 3.3")
@given("epsilon > 0 and order > 1", epsilon=Log(1e-3, 10.0), order=Log(1.01, 300.0))
@oracle(truths.coins_renyi)
@typed("rdp", "pure_dp randomized_response laplace",
       "log((sinh(alpha*epsilon)-sinh((alpha-1)*epsilon))/sinh(epsilon))/(alpha-1)")
@printed("0.735325664", "0.735325664", epsilon=1.0, order=2.0)
@printed("0.9651932", "0.9651932", epsilon=1.0, order=10.0)
@wrong("half-square", "No divergence exceeds epsilon, whatever the order.",
       printed("5.0", epsilon=1.0, order=10.0), claim="order * epsilon**2 / 2")
@wrong("epsilon", "An upper bound that is reached as the order grows.", claim="epsilon")
def pure_to_rdp(*, epsilon, order):
    r"""\max D_\alpha = \frac1{\alpha-1}\ln
    \frac{\sinh(\alpha\varepsilon) - \sinh((\alpha-1)\varepsilon)}{\sinh\varepsilon}"""
    validate.positive(epsilon=epsilon)
    # The quotient is cosh((a - 1/2) e) / cosh(e/2) = 1 + 2 sinh(a e/2) sinh((a - 1) e/2) / cosh.
    a, b = order * epsilon / 2, (order - 1) * epsilon / 2
    if a < 1:
        return math.log1p(2 * math.sinh(a) * math.sinh(b) / math.cosh(epsilon / 2)) / (order - 1)
    log_cosh = [x + math.log1p(math.exp(-2 * x)) for x in (a + b, epsilon / 2)]
    return (log_cosh[0] - log_cosh[1]) / (order - 1)


@formula("G-D4b", "Rényi DP of pure DP, simplified", "upper", "Bun & Steinke 2016, Proposition 3.3")
@given("epsilon >= 0 and order > 1", p=Distribution(3, zeros=False), q=Distribution(3, zeros=False),
       epsilon=Derived(lambda p, q: np.max(np.abs(np.log(p / q)))), order=Log(1.02, 200.0))
@oracle(oracles.finite_renyi)
@printed("1.0", epsilon=1.0, order=10.0)
@printed("0.05", epsilon=0.1, order=10.0)
def pure_to_rdp_simple(*, epsilon, order):
    r"""D_\alpha \le \min\big(\varepsilon, \tfrac12\alpha\varepsilon^2\big)"""
    return min(epsilon, order * epsilon**2 / 2)


@formula("G-D5", "Approximate DP does not imply Rényi DP", "identity",
         "Bun & Steinke 2016, Section 1")
@given("0 < delta < 1 and order > 0", order=Log(0.05, 50.0, also=(1.0, math.inf)),
       delta=Log(1e-6, 0.9))
@oracle(lambda order, delta: oracles.finite_renyi([delta, 1 - delta, 0.0], [0.0, 1 - delta, delta],
        order))
@printed("0.0020010", "0.0020010", order=0.5, delta=1e-3)
@printed("inf", "inf", order=1.0, delta=1e-3)
@wrong("dp-bounds-rdp", "True of pure DP; with delta a release may publish everything, if rarely.",
       claim="epsilon", says=r"(\varepsilon,\delta)\text{-DP} \Rightarrow D_\alpha \le \varepsilon",
       kind="upper", oracle=lambda epsilon, delta, order:
       oracles.finite_renyi(*oracles.leaky_response(epsilon, delta), order), epsilon=Log(0.01, 5.0))
def renyi_name_and_shame(*, order, delta):
    r"""\text{name and shame, } (0,\delta)\text{-DP: } D_\alpha = \frac{-\ln(1-\delta)}{1-\alpha}
    \text{ for } \alpha < 1, \ \infty \text{ for } \alpha \ge 1"""
    return -math.log1p(-delta) / (1 - order) if order < 1 else math.inf


@formula("G-D5b", "What delta allows: somebody is published", "identity",
         "Dwork & Roth 2014, Section 2.3")
@given("0 < delta < 1 and records >= 1", records=Whole(1, 2000), delta=Log(1e-9, 0.5))
@oracle(truths.somebody_published)
@printed("0.4512", records=60_000, delta=1e-5)
@wrong("small-delta", "It is a chance for every single record: take delta far below 1/n.",
       claim="delta", says=r"\delta = 0.01 \text{ is the chance that anything goes wrong}")
def somebody_published(*, records, delta):
    r"""\Pr[\text{some record is published}] = 1 - (1-\delta)^n"""
    return -math.expm1(records * math.log1p(-delta))


@formula("G-D6", "From Gaussian DP to epsilon and delta", "identity",
         "Dong, Roth & Su 2019, Corollary 2.13")
@given("mu > 0 and epsilon >= 0", mu=Log(0.01, 20.0), epsilon=Log(1e-3, 50.0, also=(0.0,)))
@oracle(oracles.gaussian_delta, tolerance=1e-8, absolute=1e-300)
@printed("0.1269367375", "0.1269367375", mu=1.0, epsilon=1.0)
@printed("0.3829249225", "0.3829249225", mu=1.0, epsilon=0.0)
@printed("0.446635001", "0.446635001", mu=math.sqrt(5.25), epsilon=2.0)
def gdp_delta(*, mu, epsilon):
    r"""\mu\text{-GDP} \iff \delta(\varepsilon) = \Phi\Big(-\frac\varepsilon\mu+\frac\mu2\Big) -
    e^\varepsilon\Phi\Big(-\frac\varepsilon\mu-\frac\mu2\Big)\ \forall\varepsilon\ge0"""
    validate.positive(mu=mu)
    return gaussian_delta(epsilon=epsilon, noise_multiplier=1 / mu)


def _side_of(profile: Callable[..., tuple[NDArray, NDArray]], side: int, *names: str) -> Derived:
    """The losses (side 0) or deltas (1) of the pair that was drawn."""
    return Derived(lambda drawn: profile(**{name: drawn[name] for name in names})[side])


def _is_their_profile(*, local, steps, epsilons, deltas, false_positive_rate):
    """The points are those of the profile of the pair at its kinks; 0 <= a <= 1."""
    theirs = zip(truths.profile_of_coins(local=local, steps=steps), (epsilons, deltas), strict=True)
    return all(np.array_equal(*both) for both in theirs) and 0 <= false_positive_rate <= 1


@formula("G-D7", "Trade-off function from the profile", "identity",
         "Dong, Roth & Su 2019, Proposition 2.12")
@given(_is_their_profile, local=Log(0.05, 3.0), steps=Whole(1, 20),
       epsilons=_side_of(truths.profile_of_coins, 0, "local", "steps"),
       deltas=_side_of(truths.profile_of_coins, 1, "local", "steps"),
       false_positive_rate=Linear(0.0, 1.0))
@oracle(truths.miss_of_coins, tolerance=1e-8, absolute=1e-10, unsafe="larger")
@printed("0.728172", "0.728172", epsilons=np.array([1.0]), deltas=np.zeros(1),
         false_positive_rate=0.1, local=1.0, steps=1)
@wrong("one-branch", "Slopes between -1 and 0 need the second branch: the event's complement.",
       claim=lambda epsilons, deltas, false_positive_rate: max(0.0, float(np.max(1 - deltas -
       np.exp(epsilons) * false_positive_rate))),
       says=r"f(a) = \sup_{\varepsilon\ge0}\max\{0,\ 1-\delta(\varepsilon)-e^\varepsilon a\}")
@wrong("not-symmetric", "The second branch needs the profile of the other order.", claim=lambda
       losses, profile, rate: tradeoff_from_profile(epsilons=losses, deltas=profile,
       false_positive_rate=rate), says=r"\text{the same from the profile of one order of a pair}",
       given="0 <= rate <= 1",
       oracle=lambda p, q, rate: truths.most_powerful(p=p, q=q, false_positive_rate=rate),
       local=None, steps=None, epsilons=None, deltas=None, false_positive_rate=None,
       p=Distribution(3, zeros=False), q=Distribution(3, zeros=False),
       losses=_side_of(truths.profile_of_pair, 0, "p", "q"),
       profile=_side_of(truths.profile_of_pair, 1, "p", "q"), rate=Linear(0.0, 1.0))
def tradeoff_from_profile(*, epsilons, deltas, false_positive_rate):
    r"""f(a) = \sup_{\varepsilon\ge0}\max\{0,\ 1-\delta(\varepsilon)-e^\varepsilon a,\
    e^{-\varepsilon}(1-\delta(\varepsilon)-a)\} \text{ for symmetric } f

    epsilons: Guarantees that hold at once for both orders of the pair; epsilon >= 0"""
    epsilons, deltas = np.asarray(epsilons, dtype=float), np.asarray(deltas, dtype=float)
    steep = 1 - deltas - np.exp(epsilons) * false_positive_rate
    flat = np.exp(-epsilons) * (1 - deltas - false_positive_rate)
    return max(0.0, float(np.max(steep)), float(np.max(flat)))


@formula("G-D8", "Probabilistic DP implies DP", "upper", "Dwork & Roth 2014, Lemma 3.17")
@given("mu > 0 and epsilon >= 0", mu=Log(0.01, 20.0), epsilon=Log(1e-3, 50.0, also=(0.0,)))
@oracle(oracles.gaussian_delta, absolute=1e-300)
@typed("delta", "gaussian", "Phi(sqrt(T)/(2*sigma)-epsilon*sigma/sqrt(T))")
@printed("5.28375e-05", "1.0000e-05", mu=1.0, epsilon=4.377178096)
@printed("0.30854", "0.12694", mu=1.0, epsilon=1.0)
@wrong("equivalent", "Sufficient, not necessary: a loss just above epsilon costs next to nothing.",
       printed("5.28375e-05", "1.0000e-05", mu=1.0, epsilon=4.377178096),
       says=r"(\varepsilon,\delta)\text{-DP} \iff \Pr[L > \varepsilon] \le \delta", kind="identity")
def gaussian_loss_tail(*, mu, epsilon):
    r"""\Pr[L > \varepsilon] \le \delta \Rightarrow (\varepsilon,\delta)\text{-DP};\quad
    \text{Gaussian: } \Pr[L > \varepsilon] = \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big)"""
    return float(ndtr(mu / 2 - epsilon / mu))


@formula("G-D8b", "What DP says about the tail of the loss", "upper",
         "Kasiviswanathan & Smith 2014, Lemma 3.3, for the larger law")
@given("epsilon > 0 and 0 <= delta <= 1", epsilon=Log(0.01, 5.0), delta=Log(1e-6, 0.5))
@oracle(truths.largest_loss_tail)
@printed("0.00158198", "0.00158198", epsilon=1.0, delta=1e-3)
@wrong("smaller-law", "It bounds Q of that event; from epsilon = 0.47 on it is too small for P.",
       printed("0.00073576", "0.00158198", epsilon=1.0, delta=1e-3),
       claim="2 * delta / (epsilon * exp(epsilon))")
def loss_tail_of_dp(*, epsilon, delta):
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow
    \Pr_P[L > 2\varepsilon] \le \frac\delta{1 - e^{-\varepsilon}}"""
    return min(delta / -math.expm1(-epsilon), 1.0)


_FORMS = {"exact": lambda epsilon: math.tanh(epsilon / 2),
          "concentrated": lambda epsilon: epsilon / 2, "first": math.expm1}


@formula("G-D9", "Drift terms of advanced composition", "upper",
         "Kairouz, Oh & Viswanath 2015, Theorem 3.4")
@given("epsilon > 0", epsilon=Log(1e-3, 10.0), form=Choice(*_FORMS))
@oracle(lambda epsilon: mean_loss_of_coins(epsilon=epsilon) / epsilon)
@printed("0.4621172", "0.4621172", epsilon=1.0, form="exact")
@printed("0.5", "0.4621172", epsilon=1.0, form="concentrated")
@printed("1.7182818", "0.4621172", epsilon=1.0, form="first")
@wrong("half", "Valid, but between the two theorems; the denominator is e^epsilon + 1.",
       printed("0.8591409", epsilon=1.0), claim="expm1(epsilon) / 2", kind="identity", form=None)
def drift(*, epsilon, form="exact"):
    r"""\frac{\mathrm{KL}}\varepsilon \le \tanh\frac\varepsilon2
    \le \frac\varepsilon2 \le e^\varepsilon - 1

    form: \tanh(\varepsilon/2) of Kairouz, Oh & Viswanath (2015), \varepsilon/2 of Bun &
      Steinke (2016), e^\varepsilon-1 of Dwork, Rothblum & Vadhan (2010)"""
    validate.one_of(_FORMS, form=form)
    return _FORMS[form](epsilon)


@formula("G-D10", "Moments accountant of one Gaussian release in closed form", "identity",
         "Abadi et al. 2016, Theorem 2, by calculus")
@given("noise_multiplier > 0 and 0 < delta < 1", noise_multiplier=Log(0.1, 50.0),
       delta=Log(1e-12, 0.9))
@oracle(truths.least_moment_bound, tolerance=1e-8, points=60)
@typed("epsilon", "gaussian", "T/(2*sigma^2) + sqrt(2*T*log(1/delta))/sigma")
@printed("5.2985259", "5.2985259", noise_multiplier=1.0, delta=1e-5)
@wrong("order-shifted",
       "The moment of order a + 1 is the a-th of the loss; the two were taken for one.",
       typed("epsilon", "gaussian", "sqrt(2*T*log(1/delta))/sigma - T/(2*sigma^2)"),
       printed("4.2985259", "4.3771781", noise_multiplier=1.0, delta=1e-5),
       printed("7.5970518", "9.997256146", noise_multiplier=0.5, delta=1e-5),
       claim="sqrt(-2 * log(delta)) / noise_multiplier - 0.5 / noise_multiplier**2", kind="upper",
       oracle=noise_epsilon, **_SMALL)
@wrong("bracket", "The denominator is alpha - 1.",
       printed("3.79853", "4.37718", noise_multiplier=1.0, delta=1e-5),
       claim="sqrt(-2 * log(delta)) / noise_multiplier - 1", kind="upper",
       oracle=noise_epsilon, **_SMALL)
@wrong("one-order-low", "Valid, since divergences grow with the order; K(a)/a belongs to a + 1.",
       claim="noise_multiplier**(-2) + sqrt(-2 * log(delta)) / noise_multiplier", says=r"(\alpha, "
       r"K(\alpha)/\alpha)\text{-RDP} \Rightarrow \varepsilon = \frac1{z^2} + "
       r"\frac{\sqrt{2\ln(1/\delta)}}z", **_SMALL)
@wrong("optimal", "Best over orders; the exact profile is smaller.",
       printed("5.2985259", "4.3771781", noise_multiplier=1.0, delta=1e-5),
       says=r"\text{the best epsilon of the Gaussian mechanism}", kind="identity",
       oracle=noise_epsilon, **_SMALL)
def moments_epsilon_gaussian(*, noise_multiplier, delta):
    r"""\min_{\lambda>0}\frac{K(\lambda)+\ln(1/\delta)}\lambda = \frac1{2z^2} +
    \frac{\sqrt{2\ln(1/\delta)}}z,\quad K(\lambda) = \frac{\lambda(\lambda+1)}{2z^2}"""
    validate.positive(noise_multiplier=noise_multiplier)
    validate.probability(delta=delta)
    return 0.5 / noise_multiplier**2 + math.sqrt(-2 * math.log(delta)) / noise_multiplier
