"""Divergences: of finite distributions, of Gaussians, of Laplace laws and of lying coins."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Derived, Distribution, Drawn, Linear, Log, Parameters
from dplearn.book.kit.entry import formula, given, oracle, printed, typed, wrong
from dplearn.ground import validate

_P, _Q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
_PAIR = {"p": Distribution(4), "q": Distribution(4)}


# Every outcome possible under both.


_FULL_PAIR = {"p": Distribution(3, zeros=False), "q": Distribution(3, zeros=False)}
_ORDERS = Log(0.05, 50.0, also=(0.0, 1.0, math.inf))


def _loss_above(*, p, q, epsilon):
    """P(L > epsilon)."""
    p, q = np.asarray(p), np.asarray(q)
    return float(np.sum(p[p > math.exp(epsilon) * q]))


def _worst_delta_of_both(*, p, q, epsilon):
    return max(
        oracles.worst_event_delta(p=p, q=q, epsilon=epsilon),
        oracles.worst_event_delta(p=q, q=p, epsilon=epsilon),
    )


@formula("G-A1", "Hockey-stick divergence: the delta of a pair", "identity",
         "Balle & Wang 2018, Theorem 5")
@given("epsilon >= 0", **_PAIR, epsilon=Linear(0.0, 4.0))
@oracle(oracles.worst_event_delta)
@printed("0.1702557459", p=_P, q=_Q, epsilon=0.5)
@wrong("tail", "A loss that is rarely large is enough for DP, but is not implied by it.",
       claim=_loss_above, says=r"\delta(\varepsilon) = P(L > \varepsilon)")
@wrong("one-order", "Neighbours come in both orders, and the other one may leak more.",
       says=r"(\varepsilon,\delta)\text{-DP} \iff H_{e^\varepsilon}(P\Vert Q) \le \delta",
       oracle=_worst_delta_of_both)
def hockey_stick(p, q, *, epsilon=0.0):
    r"""\sup_S P(S) - e^\varepsilon Q(S) = H_{e^\varepsilon}(P\Vert Q)
    = E_P[(1 - e^{\varepsilon - L})_+] = P(L > \varepsilon) - e^\varepsilon Q(L > \varepsilon),
    \quad L = \ln\frac{dP}{dQ}

    A release is (epsilon, delta)-DP exactly when this is at most delta for every ordered
    pair of neighbouring outputs."""
    p, q = _distributions(p, q)
    return float(np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0)))


def _ratios_with_nothing(*, p, q):
    """The largest ln P(S)/Q(S) where S may be any event, the empty one included."""
    p_of, q_of = oracles.event_masses(p, q)
    return float(np.max(np.log(p_of / q_of)))


def _worst_epsilon_of_both(*, p, q):
    return max(oracles.worst_event_epsilon(p=p, q=q), oracles.worst_event_epsilon(p=q, q=p))


def _epsilon_at_delta(*, p, q, delta):
    """Smallest epsilon >= 0 with P(S) - e^epsilon Q(S) <= delta for every event."""
    p_of, q_of = oracles.event_masses(p, q)
    some = p_of > delta
    return max(0.0, float(np.max(np.log((p_of[some] - delta) / q_of[some]), initial=0.0)))


@formula("G-A2", "Max divergence: the epsilon of pure DP", "identity",
         "Dwork & Roth 2014, Definition 3.6")
@given(**_PAIR)
@oracle(oracles.worst_event_epsilon)
@printed("0.9162907319", p=_P, q=_Q)
@wrong("any-event", "The empty event asks for 0/0, so there is no maximum: demand P(S) > 0.",
       claim=_ratios_with_nothing, says=r"D_\infty(P\Vert Q) = \max_{S} \ln\frac{P(S)}{Q(S)}")
@wrong("one-order", "Both orders of the two neighbours count.",
       says=r"D_\infty(M(x)\Vert M(x')) \le \varepsilon \Rightarrow \varepsilon\text{-DP}",
       oracle=_worst_epsilon_of_both)
@wrong("for-approximate-dp", "That is pure DP; with a delta > 0 a smaller epsilon is true.",
       says=r"(\varepsilon,\delta)\text{-DP} \iff \sup|L| \le \varepsilon",
       oracle=_epsilon_at_delta, **_FULL_PAIR, delta=Log(1e-6, 0.5))
def max_divergence(p, q):
    r"""D_\infty(P\Vert Q) = \sup_{S:\,P(S)>0} \ln\frac{P(S)}{Q(S)}
    = \operatorname{ess\,sup}_P L"""
    return renyi(p, q, order=math.inf)


def _some_order_finite(*, p, q):
    """D_beta(P||Q) is finite for some beta > 1."""
    return not np.any((np.asarray(p) > 0) & (np.asarray(q) == 0))


def _heavy_tail(*, order):
    """D_order of a Laplace law from a Gaussian; above order 1 the integrand grows for ever."""
    far = 60.0 + (4.0 / (order - 1) if order > 1 else 0.0)
    return oracles.density_renyi(
        oracles.log_laplace(), oracles.log_normal(), order, -far, far, kinks=[0.0]
    )


def _rare_disaster_cgf(*, order, size):
    """ln E[e^(order X)] where X = size with probability e^-size, else 0."""
    return float(np.logaddexp(math.log(-math.expm1(-size)), (order - 1) * size))


@formula("G-A3d", "Rényi divergence near order 1 is the KL divergence", "asymptotic",
         "van Erven & Harremoës 2014, Theorem 5")
@given(_some_order_finite, along={"order": (1.1, 1.01, 1.001, 1.0001)}, **_PAIR)
@oracle(oracles.finite_renyi, tolerance=0.01)
@printed("0.549306", p=[0.75, 0.25], q=[0.25, 0.75])
@wrong("always", "From a Gaussian a Laplace law has a finite KL and nothing finite above it.",
       printed("0.2257913526"), claim=lambda: _heavy_tail(order=1.0),
       says=r"\lim_{\alpha\downarrow1} D_\alpha = \mathrm{KL} \text{ for all } P, Q", given="",
       oracle=_heavy_tail, p=None, q=None)
@wrong("moments", "A loss of n with probability e^-n has vanishing moments, and E[e^X] near 2.",
       claim="0.0", says=r"E[X^k] \to 0\ \forall k \Rightarrow \ln E[e^{\alpha X}] \to 0", given="",
       oracle=_rare_disaster_cgf, along={"size": (10.0, 20.0, 40.0, 80.0)}, p=None, q=None,
       order=Choice(1.0, 2.0))
def kl_divergence(p, q):
    r"""\lim_{\alpha\downarrow1} D_\alpha(P\Vert Q) = \mathrm{KL}(P\Vert Q)"""
    return renyi(p, q, order=1.0)


def _reversed(*, p, q, order):
    return renyi(q, p, order=order)


@formula("G-A3", "Rényi divergence of every order", "identity",
         "van Erven & Harremoës 2014, Theorems 4 to 6")
@given("order >= 0", **_PAIR, order=_ORDERS)
@oracle(oracles.finite_renyi)
@printed("0.6202006", p=_P, q=_Q, order=3.0)
@printed("0.48858", p=_P, q=_Q, order=2.0)
@wrong("symmetric", "Only order 1/2 is symmetric.", claim=_reversed,
       says=r"D_\alpha(P\Vert Q) = D_\alpha(Q\Vert P)")
@wrong("zero-at-zero", "True where every outcome of Q is possible under P, otherwise -ln Q(p > 0).",
       claim="0.0", order=Choice(0.0))
@wrong("every-order", "One epsilon for all orders is pure DP; RDP is a statement about one order.",
       says=r"(\alpha,\varepsilon)\text{-RDP} \Rightarrow D_\beta \le \varepsilon\ \forall\beta",
       kind="upper", oracle=oracles.worst_event_epsilon)
def renyi(p, q, *, order):
    r"""D_\alpha(P\Vert Q) = \frac1{\alpha-1}\ln\sum_i p_i^\alpha q_i^{1-\alpha},\quad
    D_0 = -\ln Q(p > 0),\ D_1 = \mathrm{KL},\ D_\infty = \max_i\ln\frac{p_i}{q_i}"""
    p, q = _distributions(p, q)
    if not order >= 0:
        raise ValueError(f"Expected order in [0, inf], got order={order!r}.")
    both, alone = (p > 0) & (q > 0), np.any((p > 0) & (q == 0))
    if not np.any(both) or (order >= 1 and alone):
        return math.inf
    log_p, log_q = np.log(p[both]), np.log(q[both])
    if order == math.inf:
        return float(np.max(log_p - log_q))
    if order == 1:
        return float(np.sum(p[both] * (log_p - log_q)))
    log_sum = np.logaddexp.reduce(order * log_p + (1 - order) * log_q)
    return max(float(log_sum) / (order - 1), 0.0)


def _gaussian_by_quadrature(*, order, mean_p, std_p, mean_q, std_q):
    laws = oracles.log_normal(mean_p, std_p), oracles.log_normal(mean_q, std_q)
    return oracles.density_renyi(*laws, order, -1e6, 1e6)


def _no_root(*, order, mean_p, std_p, mean_q, std_q):
    variance = (1 - order) * std_p**2 + order * std_q**2
    log_term = math.log(variance / (std_p ** (1 - order) * std_q**order))
    return order * (mean_p - mean_q) ** 2 / (2 * variance) + log_term / (1 - order)


def _unconditional(*, order, mean_p, std_p, mean_q, std_q):
    variance = (1 - order) * std_p**2 + order * std_q**2
    log_term = 0.5 * np.log(np.abs(variance)) - np.log(std_p ** (1 - order) * std_q**order)
    return order * (mean_p - mean_q) ** 2 / (2 * variance) + log_term / (1 - order)


@formula("G-A4", "Rényi divergence of two Gaussians", "identity",
         "van Erven & Harremoës 2014, equation (10)")
@given("std_p > 0 and std_q > 0 and (1 - order)*std_p**2 + order*std_q**2 > 0",
       order=Log(0.05, 50.0, also=(1.0,)), mean_p=Linear(-3.0, 3.0), std_p=Log(0.2, 5.0),
       mean_q=Linear(-3.0, 3.0), std_q=Log(0.2, 5.0))
@oracle(_gaussian_by_quadrature)
@typed("rdp", "gaussian", "alpha/(2*sigma^2)")
@printed("0.470263017683", order=2.0, mean_p=0.0, std_p=1.0, mean_q=1.0, std_q=1.5)
@printed("0.187048", order=2.0, mean_p=0.0, std_p=2.0, mean_q=1.0, std_q=2.5)
@wrong("no-root", "The logarithm holds the square root; with its square a divergence is negative.",
       printed("-0.1561185", order=2.0, mean_p=0.0, std_p=1.0, mean_q=1.0, std_q=1.5),
       printed("-0.882985", order=2.0, mean_p=0.0, std_p=2.0, mean_q=1.0, std_q=2.5),
       printed("-0.443147", order=2.0, mean_p=0.0, std_p=2.0, mean_q=1.0, std_q=2.0),
       claim=_no_root, says=r"\frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2} + \frac1{1-\alpha} "
       r"\ln\frac{\sigma_\alpha^2}{\sigma_0^{1-\alpha}\sigma_1^\alpha}",
       given="order != 1 and (1 - order)*std_p**2 + order*std_q**2 > 0")
@wrong("no-condition", "Where P is too wide for Q the divergence is infinite.",
       claim=_unconditional,
       says=r"\text{the same with } |\sigma_\alpha^2| \text{, for all } \alpha > 1",
       given="order > 1 and (1 - order)*std_p**2 + order*std_q**2 != 0")
def renyi_gaussian(*, order, mean_p, std_p, mean_q, std_q):
    r"""D_\alpha\big(N(\mu_0,\sigma_0^2)\Vert N(\mu_1,\sigma_1^2)\big)
    = \frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2} + \frac1{1-\alpha}
    \ln\frac{\sigma_\alpha}{\sigma_0^{1-\alpha}\sigma_1^\alpha},\quad
    \sigma_\alpha^2 = (1-\alpha)\sigma_0^2 + \alpha\sigma_1^2

    The logarithm holds sigma_alpha, the square root: with its square the value can be negative.

    std_p: Standard deviations > 0"""
    validate.positive(std_p=std_p, std_q=std_q)
    if not order >= 0:
        raise ValueError(f"Expected order in [0, inf], got order={order!r}.")
    gap, log_ratio = (mean_p - mean_q) ** 2, math.log(std_q / std_p)
    if order == math.inf:
        return _max_divergence_gaussian(gap, std_p, std_q)
    if order == 1:
        return log_ratio + (std_p**2 + gap) / (2 * std_q**2) - 0.5
    variance = (1 - order) * std_p**2 + order * std_q**2
    if variance <= 0:
        return math.inf
    log_term = 0.5 * math.log(variance) - (1 - order) * math.log(std_p) - order * math.log(std_q)
    return order * gap / (2 * variance) + log_term / (1 - order)


@formula("G-A3b", "Rényi divergence grows with its order", "upper",
         "van Erven & Harremoës 2014, Theorem 3")
@given("0 <= order <= larger_order", **_PAIR, order=_ORDERS, larger_order=_ORDERS)
@oracle(oracles.finite_renyi)
def renyi_at_larger_order(*, p, q, larger_order):
    r"""D_\alpha(P\Vert Q) \le D_\beta(P\Vert Q),\quad 0 \le \alpha \le \beta \le \infty

    Parameters, units and errors as in `renyi`."""
    return renyi(p, q, order=larger_order)


@formula("G-A3c", "Skew symmetry of the Rényi divergence", "identity",
         "van Erven & Harremoës 2014, Proposition 2")
@given("0 < order < 1", **_PAIR, order=Linear(0.01, 0.99))
@oracle(oracles.finite_renyi)
@wrong("no-factors", "The factors 1 - alpha and alpha are equal at order 1/2 only.",
       claim=lambda p, q, order: renyi(q, p, order=1 - order),
       says=r"D_\alpha(P\Vert Q) = D_{1-\alpha}(Q\Vert P)")
def renyi_by_skew_symmetry(*, p, q, order):
    r"""(1-\alpha)\,D_\alpha(P\Vert Q) = \alpha\,D_{1-\alpha}(Q\Vert P)

    Exact for orders in (0, 1); parameters, units and errors as in `renyi`."""
    return order / (1 - order) * renyi(q, p, order=1 - order)


def _random_kernel(rng: Generator, drawn: Parameters) -> NDArray:
    """Four symbols to three: merged, or at random."""
    if rng.random() < 0.5:
        return np.eye(3)[rng.integers(3, size=4)]
    return rng.dirichlet(np.ones(3), size=4)


def _after_kernel(*, p, q, kernel, order):
    """Divergence of the outputs, a mass at a time."""
    p_out, q_out = (
        [math.fsum(x * row[k] for x, row in zip(law, kernel, strict=True)) for k in range(3)]
        for law in (p, q)
    )
    # Sums of products may miss 1 by a rounding.
    return oracles.finite_renyi(
        p=np.divide(p_out, math.fsum(p_out)), q=np.divide(q_out, math.fsum(q_out)), order=order
    )


_MERGE = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])


@formula("G-A5", "Data-processing inequality", "upper", "van Erven & Harremoës 2014, Theorem 9")
@given("order >= 0", **_PAIR, order=_ORDERS, kernel=Drawn(_random_kernel))
@oracle(_after_kernel)
@printed("0.6202006", "0.6000295", p=_P, q=_Q, order=3.0, kernel=_MERGE)
def renyi_before_processing(*, p, q, order):
    r"""D_\alpha(gP\Vert gQ) \le D_\alpha(P\Vert Q) \text{ for every Markov kernel } g

    It is the divergence of P from Q itself; parameters, units and errors as in `renyi`."""
    return renyi(p, q, order=order)


_THREE = {name: Distribution(3) for name in "pqr"}


@formula("G-A6", "Weak triangle inequality", "upper", "Mironov 2017, Proposition 11")
@given("order > 1", **_THREE, order=Log(1.02, 50.0))
@oracle(oracles.finite_renyi)
@printed("0.5892678", "0.48858", p=_P, q=_Q, r=[0.3, 0.3, 0.4], order=2.0)
@wrong("plain", "No Rényi divergence is a metric: the orders on the right must grow.",
       printed("0.2773792", p=_P, q=_Q, r=[0.3, 0.3, 0.4], order=2.0),
       claim=lambda p, q, r, order: renyi(p, r, order=order) + renyi(r, q, order=order),
       says=r"D_\alpha(P\Vert Q) \le D_\alpha(P\Vert R) + D_\alpha(R\Vert Q)")
def renyi_triangle(*, p, q, r, order):
    r"""D_\alpha(P\Vert Q) \le \frac{\alpha-1/2}{\alpha-1} D_{2\alpha}(P\Vert R)
    + D_{2\alpha-1}(R\Vert Q)

    Parameters, units and errors as in `renyi`."""
    first, second = renyi(p, r, order=2 * order), renyi(r, q, order=2 * order - 1)
    return (order - 0.5) / (order - 1) * first + second


def _random_event(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.random(len(drawn["p"])) < 0.5


@formula("G-A7", "Probability preservation", "upper", "Mironov 2017, Proposition 10")
@given("order > 1", **_PAIR, order=Log(1.02, 50.0), event=Drawn(_random_event))
@oracle(lambda p, event: math.fsum(x for x, inside in zip(p, event, strict=True) if inside))
@wrong("no-exponent", "Without the exponent it needs order infinity.",
       claim=lambda p, q, order, event: math.exp(renyi(p, q, order=order)) * np.sum(q, where=event),
       says=r"P(S) \le e^{D_\alpha(P\Vert Q)}\,Q(S)", p=Distribution(4, zeros=False),
       q=Distribution(4, zeros=False))
def event_probability(*, p, q, order, event):
    r"""P(S) \le \big(e^{D_\alpha(P\Vert Q)}\,Q(S)\big)^{(\alpha-1)/\alpha}

    event: The outcomes in S"""
    divergence = renyi(p, q, order=order)
    if divergence == math.inf:
        return math.inf
    probability = np.sum(np.asarray(q), where=np.asarray(event, dtype=bool))
    return float((math.exp(divergence) * probability) ** ((order - 1) / order))


def _laplace_by_quadrature(*, order, scale):
    far = 800.0 * scale + 1.0
    return oracles.density_renyi(
        oracles.log_laplace(0.0, scale),
        oracles.log_laplace(1.0, scale),
        order,
        -far,
        far,
        kinks=[0.0, 1.0],
    )


@formula("G-A8", "Rényi divergence of the Laplace mechanism", "identity",
         "Mironov 2017, Proposition 6")
@given("order > 1 and scale > 0", order=Log(1.02, 300.0), scale=Log(0.05, 50.0))
@oracle(_laplace_by_quadrature)
@typed("rdp", "laplace", "log(alpha/(2*alpha-1)*exp((alpha-1)*epsilon) + "
       "(alpha-1)/(2*alpha-1)*exp(-alpha*epsilon))/(alpha-1)")
@printed("0.7468281411", order=3.0, scale=1.0)
@printed("0.9965294", order=200.0, scale=1.0)
@wrong("square", "Of the shape of the Gaussian's: an upper bound twice too large, and no value.",
       claim="order / scale**2")
@wrong("deviation-for-scale", "The variance of a Laplace law of scale b is 2 b^2.",
       claim=lambda order, scale: renyi_laplace(order=order, scale=math.sqrt(2) * scale),
       says=r"D_\alpha \text{ with the standard deviation } \sqrt2\,b \text{ for } b")
def renyi_laplace(*, order, scale):
    r"""D_\alpha = \frac1{\alpha-1}\ln\Big\{\frac{\alpha}{2\alpha-1}e^{(\alpha-1)/b}
    + \frac{\alpha-1}{2\alpha-1}e^{-\alpha/b}\Big\}"""
    validate.positive(scale=scale)
    if not order > 1:
        raise ValueError(f"Expected order > 1, got order={order!r}.")
    # ln(1 + w (e^x - 1) + v (e^-y - 1)) with w + v = 1: free of cancellation where b is large.
    up, down = order / (2 * order - 1), (order - 1) / (2 * order - 1)
    if (order - 1) / scale > 1:
        logs = math.log(up) + (order - 1) / scale, math.log(down) - order / scale
        return float(np.logaddexp(*logs)) / (order - 1)
    gain = up * math.expm1((order - 1) / scale) + down * math.expm1(-order / scale)
    return math.log1p(gain) / (order - 1)


@formula("G-A9", "Rényi divergence of randomized response", "identity",
         "Mironov 2017, Proposition 5")
@given("0 < truth < 1 and order > 0", truth=Linear(0.01, 0.99),
       order=Log(0.05, 200.0, also=(1.0,)))
@oracle(lambda truth, order: oracles.finite_renyi(p=[truth, 1 - truth], q=[1 - truth, truth],
        order=order))
@printed("0.8467268305", truth=1 / (1 + math.exp(-1)), order=3.0)
@printed("0.4621171573", truth=1 / (1 + math.exp(-1)), order=1.0)
def renyi_randomized_response(*, truth, order):
    r"""D_\alpha = \frac1{\alpha-1}\ln\big(p^\alpha(1-p)^{1-\alpha} + (1-p)^\alpha p^{1-\alpha}\big)

    truth: In (0, 1); replacing the record swaps truth and lie"""
    validate.probability(truth=truth)
    validate.positive(order=order)
    epsilon = math.log(truth) - math.log1p(-truth)
    if order == 1:
        return epsilon * math.tanh(epsilon / 2)
    # p^a (1-p)^(1-a) = p e^((a-1) eps), and the same with the signs turned.
    logs = np.array([math.log(truth), math.log1p(-truth)])
    total = np.logaddexp.reduce(logs + (order - 1) * epsilon * np.array([1, -1]))
    return float(total) / (order - 1)


def _half_distance(*, p, q):
    """Total variation distance: the largest P(S) - Q(S)."""
    return oracles.worst_event_delta(p=p, q=q, epsilon=0.0)


def _largest_distance(*, kl):
    """The largest total variation distance of two coins with this KL divergence."""
    q = np.linspace(0.001, 0.999, 999)
    low, high = np.zeros_like(q), 1 - q
    for _ in range(50):
        middle = 0.5 * (low + high)
        p = q + middle
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
        below = p * np.log(p / q) + rest <= kl
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return float(np.max(low))


_KL_PAIR = {**_PAIR, "kl": Derived(lambda drawn: kl_divergence(drawn["p"], drawn["q"]))}
_WORKED_PAIR = {"p": [0.5, 0.3, 0.2], "q": [0.2, 0.3, 0.5], "kl": 0.3 * math.log(2.5)}


@formula("G-A10", "Pinsker's inequality", "upper", "Tsybakov 2009, Lemma 2.5")
@given("kl >= 0", **_KL_PAIR)
@oracle(_half_distance)
@printed("0.3707339", "0.3", **_WORKED_PAIR)
@wrong("whole-distance", "The sum of |p - q| is twice the total variation distance.",
       says=r"\lVert P - Q\rVert_1 \le \sqrt{\mathrm{KL}(P\Vert Q)/2}",
       oracle=lambda p, q: float(np.sum(np.abs(np.subtract(p, q)))))
@wrong("no-half", "True, but too large by a factor of 1.4 for nearly equal laws.", claim="sqrt(kl)",
       says=r"\mathrm{TV} \le \sqrt{\mathrm{KL}} \text{ and no constant is better}",
       kind="identity", oracle=_largest_distance, p=None, q=None, kl=Log(1e-4, 0.5))
def pinsker(*, kl):
    r"""\mathrm{TV}(P,Q) = H_1(P\Vert Q) \le \sqrt{\mathrm{KL}(P\Vert Q)/2}

    kl: KL divergence >= 0, nats"""
    return math.sqrt(kl / 2)


@formula("G-A10b", "The inequality of Bretagnolle and Huber", "upper", "Tsybakov 2009, Lemma 2.6")
@given("kl >= 0", **_KL_PAIR)
@oracle(_half_distance)
@printed("0.4902471", "0.3", **_WORKED_PAIR)
def bretagnolle_huber(*, kl):
    r"""\mathrm{TV}(P,Q) \le \sqrt{1 - e^{-\mathrm{KL}(P\Vert Q)}}

    kl: KL divergence >= 0, nats"""
    return math.sqrt(-math.expm1(-kl))


_TWO_PAIRS = {name: Distribution(3) for name in ("p", "q", "other_p", "other_q")}


def _of_mixture(*, p, q, other_p, other_q, weight, order):
    mixed = (weight * a + (1 - weight) * b for a, b in ((p, other_p), (q, other_q)))
    return oracles.finite_renyi(**dict(zip("pq", mixed, strict=True)), order=order)


@formula("G-A11", "Joint quasi-convexity", "upper", "van Erven & Harremoës 2014, Theorem 13")
@given("order >= 0 and 0 <= weight <= 1", **_TWO_PAIRS, weight=Linear(0.0, 1.0),
       order=_ORDERS)
@oracle(_of_mixture)
@wrong("convex", "Up to order 1 it is jointly convex; above, only e^((alpha-1) D) is.", claim=lambda
       p, q, other_p, other_q, weight, order: (weight * renyi(p, q, order=order) + (1 - weight) *
       renyi(other_p, other_q, order=order)),
       says=r"D_\alpha\Big(\sum_i\lambda_iP_i\Big\Vert\sum_i\lambda_iQ_i\Big) "
       r"\le \sum_i\lambda_iD_\alpha(P_i\Vert Q_i),\ \alpha > 1",
       given="order > 1 and 0 < weight < 1",
       **{name: Distribution(3, zeros=False) for name in _TWO_PAIRS}, order=Log(1.1, 50.0))
def renyi_of_mixture(*, p, q, other_p, other_q, order):
    r"""D_\alpha\Big(\sum_i\lambda_iP_i\Big\Vert\sum_i\lambda_iQ_i\Big)
    \le \max_i D_\alpha(P_i\Vert Q_i)

    Parameters, units and errors as in `renyi`, for (p, q) and (other_p, other_q)."""
    return max(renyi(p, q, order=order), renyi(other_p, other_q, order=order))


def _pure_epsilon(drawn: Parameters) -> float:
    p, q = drawn["p"], drawn["q"]
    return max(max_divergence(p, q), max_divergence(q, p))


def _largest_mean_loss(*, epsilon):
    """KL of randomized response, the pair that attains the maximum."""
    p, q = oracles.randomized_response(epsilon=epsilon)
    return oracles.mean_loss(p=p, q=q)


_ONE_EPSILON = {"p": None, "q": None, "epsilon": Log(0.01, 5.0)}


@formula("G-A12", "Mean privacy loss under pure DP", "upper", "Bun & Steinke 2016, Proposition 3.3")
@given("epsilon >= 0", **_FULL_PAIR, epsilon=Derived(_pure_epsilon))
@oracle(oracles.mean_loss)
@printed("0.4621171573", "0.4621171573", **dict(zip(("p", "q", "epsilon"),
         (*oracles.randomized_response(epsilon=1.0), 1.0), strict=True)))
@wrong("exponential", "A valid bound, but at least twice the largest mean.",
       printed("1.71828", epsilon=1.0), claim="epsilon * expm1(epsilon)", kind="identity",
       oracle=_largest_mean_loss, **_ONE_EPSILON)
@wrong("half-square", "The limit for a small epsilon; a valid bound that no pair attains.",
       printed("0.5", epsilon=1.0), claim="epsilon**2 / 2", kind="identity",
       oracle=_largest_mean_loss, **_ONE_EPSILON)
def mean_loss_of_pure_dp(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \mathrm{KL} \le
    \varepsilon\tanh\frac\varepsilon2 \le \frac{\varepsilon^2}2"""
    validate.non_negative(epsilon=epsilon)
    return epsilon * math.tanh(epsilon / 2)


def _second_inside_first(*, p, q):
    """Q is zero where P is."""
    return not np.any((np.asarray(p) == 0) & (np.asarray(q) > 0))


@formula("G-A12b", "Normalisation of the privacy loss", "identity", "Bun & Steinke 2016, Section 3")
@given(_second_inside_first, **_PAIR)
@oracle(lambda p, q: math.fsum(a * math.exp(-math.log(a / b)) for a, b in zip(p, q, strict=True) if
        a > 0 and b > 0))
@wrong("without-continuity", "What is possible under Q alone is missing: the mean is Q(p > 0).",
       says=r"E_P[e^{-L}] = 1 \text{ for all } P, Q", given="")
def mean_exp_of_minus_loss():
    r"""E_P[e^{-L}] = 1"""
    return 1.0


def _max_divergence_gaussian(gap: float, std_p: float, std_q: float) -> float:
    """sup of the log ratio: finite only if Q is wider, or the two are equal."""
    if std_p == std_q:
        return 0.0 if gap == 0 else math.inf
    if std_p > std_q:
        return math.inf
    return math.log(std_q / std_p) + gap / (2 * (std_q**2 - std_p**2))


def _distributions(p: ArrayLike, q: ArrayLike) -> tuple[NDArray, NDArray]:
    pair = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    for name, x in zip("pq", pair, strict=True):
        if x.ndim != 1 or not np.all(x >= 0) or not abs(x.sum() - 1) <= 1e-9:
            raise ValueError(f"Expected {name} to be probabilities that sum to 1, got {name}={x}.")
    if pair[0].shape != pair[1].shape:
        raise ValueError(
            f"Expected p and q of one length, got {pair[0].size} and {pair[1].size} values."
        )
    return pair
