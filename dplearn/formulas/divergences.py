"""Divergences: of finite distributions, of Gaussians, of Laplace laws and of lying coins."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from dplearn.formulas import _oracles as oracles
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import (
    Choice,
    Derived,
    Distribution,
    Given,
    Linear,
    Log,
    Parameters,
)
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_P, _Q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
_PAIR = {"p": Distribution(4), "q": Distribution(4)}
# Every outcome possible under both.
_FULL_PAIR = {"p": Distribution(3, zeros=False), "q": Distribution(3, zeros=False)}
_ORDERS = Log(0.05, 50.0, also=(0.0, 1.0, math.inf))
_VEH = "van Erven & Harremoës"


def _loss_above(*, p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """P(L > epsilon)."""
    p, q = np.asarray(p), np.asarray(q)
    return float(np.sum(p[p > math.exp(epsilon) * q]))


def _worst_delta_of_both(*, p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    return max(
        oracles.worst_event_delta(p=p, q=q, epsilon=epsilon),
        oracles.worst_event_delta(p=q, q=p, epsilon=epsilon),
    )


@formula(
    "G-A1",
    title="Hockey-stick divergence: the delta of a pair",
    kind="identity",
    statement=r"""\sup_S P(S) - e^\varepsilon Q(S) = H_{e^\varepsilon}(P\Vert Q)
        = E_P[(1 - e^{\varepsilon - L})_+] = P(L > \varepsilon) - e^\varepsilon Q(L > \varepsilon),
        \quad L = \ln\frac{dP}{dQ}""",
    requires="epsilon >= 0",
    reference=Reference("Balle & Wang", 2018, "Theorem 5"),
    domain={**_PAIR, "epsilon": Linear(0.0, 4.0)},
    oracle=oracles.worst_event_delta,
    examples=[({"p": _P, "q": _Q, "epsilon": 0.5}, "0.1702557459")],
    misprints=[
        Misprint(
            "tail",
            r"\delta(\varepsilon) = P(L > \varepsilon)",
            claim=_loss_above,
            source="lecture notes",
            note="A loss that is rarely large is enough for DP, but is not implied by it.",
            seen=("F37",),
        ),
        Misprint(
            "one-order",
            r"(\varepsilon,\delta)\text{-DP} \iff H_{e^\varepsilon}(P\Vert Q) \le \delta",
            oracle=_worst_delta_of_both,
            source="lecture notes and summaries",
            note="Neighbours come in both orders, and the other one may leak more.",
            seen=("F04",),
        ),
    ],
)
def hockey_stick(p: ArrayLike, q: ArrayLike, *, epsilon: float = 0.0) -> float:
    r"""Hockey-stick divergence :math:`\sum_i (p_i - e^\varepsilon q_i)_+`.

    A release is (epsilon, delta)-DP exactly when this is at most delta for every ordered
    pair of neighbouring outputs.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.
    epsilon : float
        Any real number; 0 gives the total variation distance.

    Returns
    -------
    float
        Exact, in [0, 1].

    Raises
    ------
    ValueError
        If p or q is not a distribution, or the shapes differ.

    References
    ----------
    Barthe & Olmedo (2013); Balle & Wang (2018), Theorem 5.

    Examples
    --------
    >>> round(hockey_stick([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], epsilon=0.5), 10)
    0.1702557459
    """
    p, q = _distributions(p, q)
    return float(np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0)))


def _ratios_with_nothing(*, p: ArrayLike, q: ArrayLike) -> float:
    """The largest ln P(S)/Q(S) where S may be any event, the empty one included."""
    p_of, q_of = oracles.event_masses(p, q)
    return float(np.max(np.log(p_of / q_of)))


def _worst_epsilon_of_both(*, p: ArrayLike, q: ArrayLike) -> float:
    return max(oracles.worst_event_epsilon(p=p, q=q), oracles.worst_event_epsilon(p=q, q=p))


def _epsilon_at_delta(*, p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """Smallest epsilon >= 0 with P(S) - e^epsilon Q(S) <= delta for every event."""
    p_of, q_of = oracles.event_masses(p, q)
    some = p_of > delta
    return max(0.0, float(np.max(np.log((p_of[some] - delta) / q_of[some]), initial=0.0)))


@formula(
    "G-A2",
    title="Max divergence: the epsilon of pure DP",
    kind="identity",
    statement=r"""D_\infty(P\Vert Q) = \sup_{S:\,P(S)>0} \ln\frac{P(S)}{Q(S)}
        = \operatorname{ess\,sup}_P L""",
    reference=Reference("Dwork & Roth", 2014, "Definition 3.6"),
    domain=_PAIR,
    oracle=oracles.worst_event_epsilon,
    examples=[({"p": _P, "q": _Q}, "0.9162907319")],
    misprints=[
        Misprint(
            "any-event",
            r"D_\infty(P\Vert Q) = \max_{S} \ln\frac{P(S)}{Q(S)}",
            claim=_ratios_with_nothing,
            source="textbooks, which let S be any set of outcomes",
            note="The empty event asks for 0/0, so there is no maximum: demand P(S) > 0.",
            seen=("F96",),
        ),
        Misprint(
            "one-order",
            r"D_\infty(M(x)\Vert M(x')) \le \varepsilon \Rightarrow \varepsilon\text{-DP}",
            oracle=_worst_epsilon_of_both,
            source="notes on variants of DP",
            note="Both orders of the two neighbours count.",
            seen=("F97",),
        ),
        Misprint(
            "for-approximate-dp",
            r"(\varepsilon,\delta)\text{-DP} \iff \sup|L| \le \varepsilon",
            domain={**_FULL_PAIR, "delta": Log(1e-6, 0.5)},
            oracle=_epsilon_at_delta,
            source="lecture notes on the moments accountant",
            note="That is pure DP; with a delta > 0 a smaller epsilon is true.",
            seen=("F25",),
        ),
    ],
)
def max_divergence(p: ArrayLike, q: ArrayLike) -> float:
    r"""Max divergence :math:`\sup_{S: P(S) > 0} \ln P(S)/Q(S)`: the epsilon of pure DP.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.

    Returns
    -------
    float
        Exact, nats; inf if q vanishes where p does not.

    References
    ----------
    Dwork & Roth (2014), Definition 3.6.

    Examples
    --------
    >>> round(max_divergence([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 10)
    0.9162907319
    """
    return renyi(p, q, order=math.inf)


def _some_order_finite(*, p: ArrayLike, q: ArrayLike) -> bool:
    """D_beta(P||Q) is finite for some beta > 1."""
    return not np.any((np.asarray(p) > 0) & (np.asarray(q) == 0))


def _heavy_tail(*, order: float) -> float:
    """D_order of a Laplace law from a Gaussian; above order 1 the integrand grows for ever."""
    far = 60.0 + (4.0 / (order - 1) if order > 1 else 0.0)
    return oracles.density_renyi(
        oracles.log_laplace(), oracles.log_normal(), order, -far, far, kinks=[0.0]
    )


def _rare_disaster_cgf(*, order: float, size: float) -> float:
    """ln E[e^(order X)] where X = size with probability e^-size, else 0."""
    return float(np.logaddexp(math.log(-math.expm1(-size)), (order - 1) * size))


@formula(
    "G-A3d",
    title="Rényi divergence near order 1 is the KL divergence",
    kind="asymptotic",
    statement=r"\lim_{\alpha\downarrow1} D_\alpha(P\Vert Q) = \mathrm{KL}(P\Vert Q)",
    requires=_some_order_finite,
    reference=Reference(_VEH, 2014, "Theorem 5"),
    domain=_PAIR,
    along={"order": (1.1, 1.01, 1.001, 1.0001)},
    oracle=oracles.finite_renyi,
    tolerance=0.01,
    examples=[
        ({"p": [0.75, 0.25], "q": [0.25, 0.75]}, "0.549306"),
    ],
    misprints=[
        Misprint(
            "always",
            r"\lim_{\alpha\downarrow1} D_\alpha = \mathrm{KL} \text{ for all } P, Q",
            claim=lambda: _heavy_tail(order=1.0),
            requires="",
            domain={"p": None, "q": None},
            oracle=_heavy_tail,
            source="lecture notes",
            note="From a Gaussian a Laplace law has a finite KL and nothing finite above it.",
            seen=("F85",),
            examples=[({}, "0.2257913526")],
        ),
        Misprint(
            "moments",
            r"E[X^k] \to 0\ \forall k \Rightarrow \ln E[e^{\alpha X}] \to 0",
            claim=lambda: 0.0,
            requires="",
            domain={"p": None, "q": None, "order": Choice(1.0, 2.0)},
            along={"size": (10.0, 20.0, 40.0, 80.0)},
            oracle=_rare_disaster_cgf,
            source="lecture notes, on moment generating functions",
            note="A loss of n with probability e^-n has vanishing moments, and E[e^X] near 2.",
            seen=("F93",),
        ),
    ],
)
def kl_divergence(p: ArrayLike, q: ArrayLike) -> float:
    r"""Kullback–Leibler divergence :math:`\sum_i p_i \ln(p_i / q_i)`: the mean privacy loss.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.

    Returns
    -------
    float
        Exact, nats; inf if q vanishes where p does not.

    Examples
    --------
    >>> round(kl_divergence([0.75, 0.25], [0.25, 0.75]), 6)
    0.549306
    """
    return renyi(p, q, order=1.0)


def _reversed(*, p: ArrayLike, q: ArrayLike, order: float) -> float:
    return renyi(q, p, order=order)


@formula(
    "G-A3",
    title="Rényi divergence of every order",
    kind="identity",
    statement=r"""D_\alpha(P\Vert Q) = \frac1{\alpha-1}\ln\sum_i p_i^\alpha q_i^{1-\alpha},\quad
        D_0 = -\ln Q(p > 0),\ D_1 = \mathrm{KL},\ D_\infty = \max_i\ln\frac{p_i}{q_i}""",
    requires="order >= 0",
    reference=Reference(_VEH, 2014, "Theorems 4 to 6"),
    domain={**_PAIR, "order": _ORDERS},
    oracle=oracles.finite_renyi,
    examples=[
        ({"p": _P, "q": _Q, "order": 3.0}, "0.6202006"),
        ({"p": _P, "q": _Q, "order": 2.0}, "0.48858"),
    ],
    misprints=[
        Misprint(
            "symmetric",
            r"D_\alpha(P\Vert Q) = D_\alpha(Q\Vert P)",
            claim=_reversed,
            source="students' answers; true for symmetric mechanisms",
            note="Only order 1/2 is symmetric.",
        ),
        Misprint(
            "zero-at-zero",
            "D_0(P\\Vert Q) = 0",
            claim=lambda: 0.0,
            domain={"order": Choice(0.0)},
            source="summaries of the limits",
            note="True where every outcome of Q is possible under P, otherwise -ln Q(p > 0).",
            seen=("F84",),
        ),
        Misprint(
            "every-order",
            r"(\alpha,\varepsilon)\text{-RDP} \Rightarrow D_\beta \le \varepsilon\ \forall\beta",
            kind="upper",
            oracle=oracles.worst_event_epsilon,
            source="a definition in lecture notes that asks for all orders at once",
            note="One epsilon for all orders is pure DP; RDP is a statement about one order.",
            seen=("F05",),
        ),
    ],
)
def renyi(p: ArrayLike, q: ArrayLike, *, order: float) -> float:
    r"""Rényi divergence :math:`\frac1{\alpha-1}\ln\sum_i p_i^\alpha q_i^{1-\alpha}`.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.
    order : float
        alpha in [0, inf]. 0 gives -ln Q(p > 0), 1 the KL divergence, inf the max divergence.

    Returns
    -------
    float
        Exact, nats; inf if alpha >= 1 and q vanishes where p does not, or if the supports
        are disjoint.

    Raises
    ------
    ValueError
        If p or q is not a distribution, the shapes differ, or order < 0.

    References
    ----------
    van Erven & Harremoës (2014), Theorems 4 to 6.

    Examples
    --------
    >>> round(renyi([0.75, 0.25], [0.25, 0.75], order=2), 6)
    0.847298
    """
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


def _gaussian_by_quadrature(
    *, order: float, mean_p: float, std_p: float, mean_q: float, std_q: float
) -> float:
    laws = oracles.log_normal(mean_p, std_p), oracles.log_normal(mean_q, std_q)
    return oracles.density_renyi(*laws, order, -1e6, 1e6)


def _no_root(*, order: float, mean_p: float, std_p: float, mean_q: float, std_q: float) -> float:
    variance = (1 - order) * std_p**2 + order * std_q**2
    log_term = math.log(variance / (std_p ** (1 - order) * std_q**order))
    return order * (mean_p - mean_q) ** 2 / (2 * variance) + log_term / (1 - order)


def _unconditional(
    *, order: float, mean_p: float, std_p: float, mean_q: float, std_q: float
) -> float:
    variance = (1 - order) * std_p**2 + order * std_q**2
    log_term = 0.5 * np.log(np.abs(variance)) - np.log(std_p ** (1 - order) * std_q**order)
    return order * (mean_p - mean_q) ** 2 / (2 * variance) + log_term / (1 - order)


@formula(
    "G-A4",
    title="Rényi divergence of two Gaussians",
    kind="identity",
    statement=r"""D_\alpha\big(N(\mu_0,\sigma_0^2)\Vert N(\mu_1,\sigma_1^2)\big)
        = \frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2} + \frac1{1-\alpha}
        \ln\frac{\sigma_\alpha}{\sigma_0^{1-\alpha}\sigma_1^\alpha},\quad
        \sigma_\alpha^2 = (1-\alpha)\sigma_0^2 + \alpha\sigma_1^2""",
    requires="std_p > 0 and std_q > 0 and (1 - order)*std_p**2 + order*std_q**2 > 0",
    reference=Reference(_VEH, 2014, "equation (10)"),
    domain={
        "order": Log(0.05, 50.0, also=(1.0,)),
        "mean_p": Linear(-3.0, 3.0),
        "std_p": Log(0.2, 5.0),
        "mean_q": Linear(-3.0, 3.0),
        "std_q": Log(0.2, 5.0),
    },
    oracle=_gaussian_by_quadrature,
    examples=[
        ({"order": 2.0, "mean_p": 0.0, "std_p": 1.0, "mean_q": 1.0, "std_q": 1.5},
         "0.470263017683"),
        ({"order": 2.0, "mean_p": 0.0, "std_p": 2.0, "mean_q": 1.0, "std_q": 2.5}, "0.187048"),
    ],
    misprints=[
        Misprint(
            "no-root",
            r"""\frac{\alpha(\mu_0-\mu_1)^2}{2\sigma_\alpha^2} + \frac1{1-\alpha}
                \ln\frac{\sigma_\alpha^2}{\sigma_0^{1-\alpha}\sigma_1^\alpha}""",
            claim=_no_root,
            requires="order != 1 and (1 - order)*std_p**2 + order*std_q**2 > 0",
            source="appendix of lecture notes",
            note="The logarithm holds the square root; with its square a divergence is negative.",
            seen=("F82",),
            examples=[
                ({"order": 2.0, "mean_p": 0.0, "std_p": 1.0, "mean_q": 1.0, "std_q": 1.5},
                 "-0.1561185"),
                ({"order": 2.0, "mean_p": 0.0, "std_p": 2.0, "mean_q": 1.0, "std_q": 2.5},
                 "-0.882985"),
                ({"order": 2.0, "mean_p": 0.0, "std_p": 2.0, "mean_q": 1.0, "std_q": 2.0},
                 "-0.443147"),
            ],
        ),
        Misprint(
            "no-condition",
            r"\text{the same with } |\sigma_\alpha^2| \text{, for all } \alpha > 1",
            claim=_unconditional,
            requires="order > 1 and (1 - order)*std_p**2 + order*std_q**2 != 0",
            source="codes that never look at the sign of the variance",
            note="Where P is too wide for Q the divergence is infinite.",
            seen=("F82",),
        ),
    ],
)  # fmt: skip
def renyi_gaussian(
    *, order: float, mean_p: float, std_p: float, mean_q: float, std_q: float
) -> float:
    r"""Rényi divergence of two Gaussians of any variances.

    .. math:: D_\alpha = \frac{\alpha(\mu_p-\mu_q)^2}{2\sigma_\alpha^2}
        + \frac{1}{1-\alpha}\ln\frac{\sigma_\alpha}{\sigma_p^{1-\alpha}\sigma_q^\alpha},
        \qquad \sigma_\alpha^2 = (1-\alpha)\sigma_p^2 + \alpha\sigma_q^2

    The logarithm holds sigma_alpha, the square root: with its square the value can be negative.

    Parameters
    ----------
    order : float
        alpha in [0, inf].
    mean_p, mean_q : float
    std_p, std_q : float
        Standard deviations > 0.

    Returns
    -------
    float
        Exact, nats; inf where sigma_alpha^2 <= 0, the condition for finiteness.

    References
    ----------
    Gil, Alajaji & Linder (2013); van Erven & Harremoës (2014), equation (10).

    Examples
    --------
    >>> round(renyi_gaussian(order=2, mean_p=0, std_p=1, mean_q=1, std_q=1.5), 6)
    0.470263
    """
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


@formula(
    "G-A3b",
    title="Rényi divergence grows with its order",
    kind="upper",
    statement=r"D_\alpha(P\Vert Q) \le D_\beta(P\Vert Q),\quad 0 \le \alpha \le \beta \le \infty",
    requires="0 <= order and order <= larger_order",
    reference=Reference(_VEH, 2014, "Theorem 3"),
    domain={**_PAIR, "order": _ORDERS, "larger_order": _ORDERS},
    oracle=oracles.finite_renyi,
)
def renyi_at_larger_order(*, p: ArrayLike, q: ArrayLike, larger_order: float) -> float:
    r"""Upper bound :math:`D_\beta` on the divergence of every order up to beta = `larger_order`.

    Parameters, units and errors as in `renyi`.

    References
    ----------
    van Erven & Harremoës (2014), Theorem 3.
    """
    return renyi(p, q, order=larger_order)


@formula(
    "G-A3c",
    title="Skew symmetry of the Rényi divergence",
    kind="identity",
    statement=r"(1-\alpha)\,D_\alpha(P\Vert Q) = \alpha\,D_{1-\alpha}(Q\Vert P)",
    requires="0 < order and order < 1",
    reference=Reference(_VEH, 2014, "Proposition 2"),
    domain={**_PAIR, "order": Linear(0.01, 0.99)},
    oracle=oracles.finite_renyi,
    misprints=[
        Misprint(
            "no-factors",
            r"D_\alpha(P\Vert Q) = D_{1-\alpha}(Q\Vert P)",
            claim=lambda p, q, order: renyi(q, p, order=1 - order),
            source="recalled from memory",
            note="The factors 1 - alpha and alpha are equal at order 1/2 only.",
        ),
    ],
)
def renyi_by_skew_symmetry(*, p: ArrayLike, q: ArrayLike, order: float) -> float:
    r"""Rényi divergence from its reverse, :math:`\frac{\alpha}{1-\alpha}D_{1-\alpha}(Q\Vert P)`.

    Exact for orders in (0, 1); parameters, units and errors as in `renyi`.

    References
    ----------
    van Erven & Harremoës (2014), Proposition 2.

    Examples
    --------
    >>> round(renyi_by_skew_symmetry(p=[0.75, 0.25], q=[0.25, 0.75], order=0.5), 6)
    0.287682
    """
    return order / (1 - order) * renyi(q, p, order=1 - order)


def _random_kernel(rng: Generator, drawn: Parameters) -> NDArray:
    """Four symbols to three: merged, or at random."""
    if rng.random() < 0.5:
        return np.eye(3)[rng.integers(3, size=4)]
    return rng.dirichlet(np.ones(3), size=4)


def _after_kernel(*, p: NDArray, q: NDArray, kernel: NDArray, order: float) -> float:
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


@formula(
    "G-A5",
    title="Data-processing inequality",
    kind="upper",
    statement=r"D_\alpha(gP\Vert gQ) \le D_\alpha(P\Vert Q) \text{ for every Markov kernel } g",
    requires="order >= 0",
    reference=Reference(_VEH, 2014, "Theorem 9"),
    domain={**_PAIR, "order": _ORDERS, "kernel": Given(_random_kernel)},
    oracle=_after_kernel,
    examples=[({"p": _P, "q": _Q, "order": 3.0, "kernel": _MERGE}, "0.6202006", "0.6000295")],
)
def renyi_before_processing(*, p: ArrayLike, q: ArrayLike, order: float) -> float:
    """Upper bound on the divergence of whatever is computed from a draw of P or of Q.

    It is the divergence of P from Q itself; parameters, units and errors as in `renyi`.

    References
    ----------
    van Erven & Harremoës (2014), Theorem 9.
    """
    return renyi(p, q, order=order)


_THREE = {name: Distribution(3) for name in "pqr"}


@formula(
    "G-A6",
    title="Weak triangle inequality",
    kind="upper",
    statement=r"""D_\alpha(P\Vert Q) \le \frac{\alpha-1/2}{\alpha-1} D_{2\alpha}(P\Vert R)
        + D_{2\alpha-1}(R\Vert Q)""",
    requires="order > 1",
    reference=Reference("Mironov", 2017, "Proposition 11"),
    domain={**_THREE, "order": Log(1.02, 50.0)},
    oracle=oracles.finite_renyi,
    examples=[({"p": _P, "q": _Q, "r": [0.3, 0.3, 0.4], "order": 2.0}, "0.5892678", "0.48858")],
    misprints=[
        Misprint(
            "plain",
            r"D_\alpha(P\Vert Q) \le D_\alpha(P\Vert R) + D_\alpha(R\Vert Q)",
            claim=lambda p, q, r, order: renyi(p, r, order=order) + renyi(r, q, order=order),
            source="group privacy argued as for a metric",
            note="No Rényi divergence is a metric: the orders on the right must grow.",
            examples=[({"p": _P, "q": _Q, "r": [0.3, 0.3, 0.4], "order": 2.0}, "0.2773792")],
        ),
    ],
)
def renyi_triangle(*, p: ArrayLike, q: ArrayLike, r: ArrayLike, order: float) -> float:
    r"""Upper bound on :math:`D_\alpha(P\Vert Q)` by way of R, for alpha = `order` > 1.

    Parameters, units and errors as in `renyi`.

    References
    ----------
    Mironov (2017), Proposition 11.

    Examples
    --------
    >>> p, q, r = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.3, 0.3, 0.4]
    >>> round(renyi_triangle(p=p, q=q, r=r, order=2.0), 7)
    0.5892678
    """
    first, second = renyi(p, r, order=2 * order), renyi(r, q, order=2 * order - 1)
    return (order - 0.5) / (order - 1) * first + second


def _random_event(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.random(len(drawn["p"])) < 0.5


@formula(
    "G-A7",
    title="Probability preservation",
    kind="upper",
    statement=r"P(S) \le \big(e^{D_\alpha(P\Vert Q)}\,Q(S)\big)^{(\alpha-1)/\alpha}",
    requires="order > 1",
    reference=Reference("Mironov", 2017, "Proposition 10"),
    domain={**_PAIR, "order": Log(1.02, 50.0), "event": Given(_random_event)},
    oracle=lambda p, event: math.fsum(x for x, inside in zip(p, event, strict=True) if inside),
    misprints=[
        Misprint(
            "no-exponent",
            r"P(S) \le e^{D_\alpha(P\Vert Q)}\,Q(S)",
            claim=lambda p, q, order, event: (
                math.exp(renyi(p, q, order=order)) * np.sum(q, where=event)
            ),
            domain={"p": Distribution(4, zeros=False), "q": Distribution(4, zeros=False)},
            source="pure DP read into RDP",
            note="Without the exponent it needs order infinity.",
        ),
    ],
)
def event_probability(*, p: ArrayLike, q: ArrayLike, order: float, event: ArrayLike) -> float:
    r"""Upper bound on P(S) from Q(S) and the Rényi divergence of order alpha > 1.

    Parameters
    ----------
    p, q, order
        As in `renyi`.
    event : array_like of bool, shape (n,)
        The outcomes in S.

    Returns
    -------
    float
        inf where the divergence is.

    References
    ----------
    Mironov (2017), Proposition 10.

    Examples
    --------
    >>> p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    >>> round(event_probability(p=p, q=q, order=2.0, event=[True, False, False]), 4)
    0.571
    """
    divergence = renyi(p, q, order=order)
    if divergence == math.inf:
        return math.inf
    probability = np.sum(np.asarray(q), where=np.asarray(event, dtype=bool))
    return float((math.exp(divergence) * probability) ** ((order - 1) / order))


def _laplace_by_quadrature(*, order: float, scale: float) -> float:
    far = 800.0 * scale + 1.0
    return oracles.density_renyi(
        oracles.log_laplace(0.0, scale),
        oracles.log_laplace(1.0, scale),
        order,
        -far,
        far,
        kinks=[0.0, 1.0],
    )


@formula(
    "G-A8",
    title="Rényi divergence of the Laplace mechanism",
    kind="identity",
    statement=r"""D_\alpha = \frac1{\alpha-1}\ln\Big\{\frac{\alpha}{2\alpha-1}e^{(\alpha-1)/b}
        + \frac{\alpha-1}{2\alpha-1}e^{-\alpha/b}\Big\}""",
    requires="order > 1 and scale > 0",
    reference=Reference("Mironov", 2017, "Proposition 6"),
    domain={"order": Log(1.02, 300.0), "scale": Log(0.05, 50.0)},
    oracle=_laplace_by_quadrature,
    examples=[
        ({"order": 3.0, "scale": 1.0}, "0.7468281411"),
        ({"order": 200.0, "scale": 1.0}, "0.9965294"),
    ],
    misprints=[
        Misprint(
            "square",
            r"D_\alpha = \alpha/b^2 = \alpha\varepsilon^2",
            claim=lambda order, scale: order / scale**2,
            source="course notebooks",
            note="Of the shape of the Gaussian's: an upper bound twice too large, and no value.",
        ),
        Misprint(
            "deviation-for-scale",
            r"D_\alpha \text{ with the standard deviation } \sqrt2\,b \text{ for } b",
            claim=lambda order, scale: renyi_laplace(order=order, scale=math.sqrt(2) * scale),
            source="notebooks that fix the variance of the noise",
            note="The variance of a Laplace law of scale b is 2 b^2.",
        ),
    ],
)
def renyi_laplace(*, order: float, scale: float) -> float:
    r"""Rényi divergence of two Laplace laws of one scale, at distance 1.

    Parameters
    ----------
    order : float
        alpha > 1.
    scale : float
        b > 0, of noise with density e^(-|x|/b) / (2b), in units of the sensitivity.

    Returns
    -------
    float
        Exact, nats; tends to 1/b as alpha grows.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Mironov (2017), Proposition 6.

    Examples
    --------
    >>> round(renyi_laplace(order=3.0, scale=1.0), 6)
    0.746828
    """
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


@formula(
    "G-A9",
    title="Rényi divergence of randomized response",
    kind="identity",
    statement=r"D_\alpha = \frac1{\alpha-1}\ln\big(p^\alpha(1-p)^{1-\alpha}"
    r" + (1-p)^\alpha p^{1-\alpha}\big)",
    requires="0 < truth and truth < 1 and order > 0",
    reference=Reference("Mironov", 2017, "Proposition 5"),
    domain={"truth": Linear(0.01, 0.99), "order": Log(0.05, 200.0, also=(1.0,))},
    oracle=lambda truth, order: oracles.finite_renyi(
        p=[truth, 1 - truth], q=[1 - truth, truth], order=order
    ),
    examples=[
        ({"truth": 1 / (1 + math.exp(-1)), "order": 3.0}, "0.8467268305"),
        ({"truth": 1 / (1 + math.exp(-1)), "order": 1.0}, "0.4621171573"),
    ],
)
def renyi_randomized_response(*, truth: float, order: float) -> float:
    """Rényi divergence of the two laws of an answer that is true with probability `truth`.

    Parameters
    ----------
    truth : float
        In (0, 1); replacing the record swaps truth and lie.
    order : float
        alpha > 0; 1 gives the KL divergence.

    Returns
    -------
    float
        Exact, nats.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Mironov (2017), Proposition 5.

    Examples
    --------
    >>> round(renyi_randomized_response(truth=0.75, order=2.0), 6)
    0.847298
    """
    validate.probability(truth=truth)
    validate.positive(order=order)
    epsilon = math.log(truth) - math.log1p(-truth)
    if order == 1:
        return epsilon * math.tanh(epsilon / 2)
    # p^a (1-p)^(1-a) = p e^((a-1) eps), and the same with the signs turned.
    logs = np.array([math.log(truth), math.log1p(-truth)])
    total = np.logaddexp.reduce(logs + (order - 1) * epsilon * np.array([1, -1]))
    return float(total) / (order - 1)


def _half_distance(*, p: ArrayLike, q: ArrayLike) -> float:
    """Total variation distance: the largest P(S) - Q(S)."""
    return oracles.worst_event_delta(p=p, q=q, epsilon=0.0)


def _largest_distance(*, kl: float) -> float:
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


@formula(
    "G-A10",
    title="Pinsker's inequality",
    kind="upper",
    statement=r"\mathrm{TV}(P,Q) = H_1(P\Vert Q) \le \sqrt{\mathrm{KL}(P\Vert Q)/2}",
    requires="kl >= 0",
    reference=Reference("Tsybakov", 2009, "Lemma 2.5"),
    domain=_KL_PAIR,
    oracle=_half_distance,
    examples=[(_WORKED_PAIR, "0.3707339", "0.3")],
    misprints=[
        Misprint(
            "whole-distance",
            r"\lVert P - Q\rVert_1 \le \sqrt{\mathrm{KL}(P\Vert Q)/2}",
            oracle=lambda p, q: float(np.sum(np.abs(np.subtract(p, q)))),
            source="mixing the two conventions for the distance",
            note="The sum of |p - q| is twice the total variation distance.",
        ),
        Misprint(
            "no-half",
            r"\mathrm{TV} \le \sqrt{\mathrm{KL}} \text{ and no constant is better}",
            claim=lambda kl: math.sqrt(kl),
            kind="identity",
            domain={"p": None, "q": None, "kl": Log(1e-4, 0.5)},
            oracle=_largest_distance,
            source="course material",
            note="True, but too large by a factor of 1.4 for nearly equal laws.",
        ),
    ],
)
def pinsker(*, kl: float) -> float:
    r"""Upper bound :math:`\sqrt{\mathrm{KL}/2}` on the total variation distance.

    Parameters
    ----------
    kl : float
        KL divergence >= 0, nats.

    References
    ----------
    Tsybakov (2009), Introduction to nonparametric estimation, Lemma 2.5.

    Examples
    --------
    >>> round(pinsker(kl=0.02), 6)
    0.1
    """
    return math.sqrt(kl / 2)


@formula(
    "G-A10b",
    title="The inequality of Bretagnolle and Huber",
    kind="upper",
    statement=r"\mathrm{TV}(P,Q) \le \sqrt{1 - e^{-\mathrm{KL}(P\Vert Q)}}",
    requires="kl >= 0",
    reference=Reference("Tsybakov", 2009, "Lemma 2.6"),
    domain=_KL_PAIR,
    oracle=_half_distance,
    examples=[(_WORKED_PAIR, "0.4902471", "0.3")],
)
def bretagnolle_huber(*, kl: float) -> float:
    r"""Upper bound :math:`\sqrt{1 - e^{-\mathrm{KL}}} < 1` on the total variation distance.

    Parameters
    ----------
    kl : float
        KL divergence >= 0, nats.

    References
    ----------
    Tsybakov (2009), Introduction to nonparametric estimation, Lemma 2.6.

    Examples
    --------
    >>> round(bretagnolle_huber(kl=10.0), 6)
    0.999977
    """
    return math.sqrt(-math.expm1(-kl))


_TWO_PAIRS = {name: Distribution(3) for name in ("p", "q", "other_p", "other_q")}


def _of_mixture(
    *, p: NDArray, q: NDArray, other_p: NDArray, other_q: NDArray, weight: float, order: float
) -> float:
    mixed = (weight * a + (1 - weight) * b for a, b in ((p, other_p), (q, other_q)))
    return oracles.finite_renyi(**dict(zip("pq", mixed, strict=True)), order=order)


@formula(
    "G-A11",
    title="Joint quasi-convexity",
    kind="upper",
    statement=r"""D_\alpha\Big(\sum_i\lambda_iP_i\Big\Vert\sum_i\lambda_iQ_i\Big)
        \le \max_i D_\alpha(P_i\Vert Q_i)""",
    requires="order >= 0 and 0 <= weight and weight <= 1",
    reference=Reference(_VEH, 2014, "Theorem 13"),
    domain={**_TWO_PAIRS, "weight": Linear(0.0, 1.0), "order": _ORDERS},
    oracle=_of_mixture,
    misprints=[
        Misprint(
            "convex",
            r"""D_\alpha\Big(\sum_i\lambda_iP_i\Big\Vert\sum_i\lambda_iQ_i\Big)
                \le \sum_i\lambda_iD_\alpha(P_i\Vert Q_i),\ \alpha > 1""",
            claim=lambda p, q, other_p, other_q, weight, order: (
                weight * renyi(p, q, order=order)
                + (1 - weight) * renyi(other_p, other_q, order=order)
            ),
            requires="order > 1 and 0 < weight and weight < 1",
            domain={
                **{name: Distribution(3, zeros=False) for name in _TWO_PAIRS},
                "order": Log(1.1, 50.0),
            },
            source="arguments about subsampling",
            note="Up to order 1 it is jointly convex; above, only e^((alpha-1) D) is.",
        ),
    ],
)
def renyi_of_mixture(
    *, p: ArrayLike, q: ArrayLike, other_p: ArrayLike, other_q: ArrayLike, order: float
) -> float:
    """Upper bound on the divergence of two mixtures with the same weights: the larger part's.

    Parameters, units and errors as in `renyi`, for (p, q) and (other_p, other_q).

    References
    ----------
    van Erven & Harremoës (2014), Theorem 13.
    """
    return max(renyi(p, q, order=order), renyi(other_p, other_q, order=order))


def _pure_epsilon(drawn: Parameters) -> float:
    p, q = drawn["p"], drawn["q"]
    return max(max_divergence(p, q), max_divergence(q, p))


def _largest_mean_loss(*, epsilon: float) -> float:
    """KL of randomized response, the pair that attains the maximum."""
    p, q = oracles.randomized_response(epsilon=epsilon)
    return oracles.mean_loss(p=p, q=q)


_ONE_EPSILON = {"p": None, "q": None, "epsilon": Log(0.01, 5.0)}


@formula(
    "G-A12",
    title="Mean privacy loss under pure DP",
    kind="upper",
    statement=r"""\varepsilon\text{-DP} \Rightarrow \mathrm{KL} \le
        \varepsilon\tanh\frac\varepsilon2 \le \frac{\varepsilon^2}2""",
    requires="epsilon >= 0",
    reference=Reference("Bun & Steinke", 2016, "Proposition 3.3"),
    domain={**_FULL_PAIR, "epsilon": Derived(_pure_epsilon)},
    oracle=oracles.mean_loss,
    examples=[
        (
            dict(
                zip(
                    ("p", "q", "epsilon"),
                    (*oracles.randomized_response(epsilon=1.0), 1.0),
                    strict=True,
                )
            ),
            "0.4621171573",
            "0.4621171573",
        )
    ],
    misprints=[
        Misprint(
            "exponential",
            r"\max \mathrm{KL} = \varepsilon(e^\varepsilon - 1)",
            claim=lambda epsilon: epsilon * math.expm1(epsilon),
            kind="identity",
            domain=_ONE_EPSILON,
            oracle=_largest_mean_loss,
            source="the first advanced composition theorem, taken for tight",
            note="A valid bound, but at least twice the largest mean.",
            examples=[({"epsilon": 1.0}, "1.71828")],
        ),
        Misprint(
            "half-square",
            r"\max \mathrm{KL} = \varepsilon^2/2",
            claim=lambda epsilon: epsilon**2 / 2,
            kind="identity",
            domain=_ONE_EPSILON,
            oracle=_largest_mean_loss,
            source="concentrated DP, taken for tight",
            note="The limit for a small epsilon; a valid bound that no pair attains.",
            examples=[({"epsilon": 1.0}, "0.5")],
        ),
    ],
)
def mean_loss_of_pure_dp(*, epsilon: float) -> float:
    r"""Upper bound :math:`\varepsilon\tanh(\varepsilon/2)` on the KL divergence under pure DP.

    Parameters
    ----------
    epsilon : float
        Pure guarantee >= 0, in both orders of the pair, nats.

    Returns
    -------
    float
        Nats; randomized response attains it.

    References
    ----------
    Bun & Steinke (2016), Proposition 3.3; Kairouz, Oh & Viswanath (2015).

    Examples
    --------
    >>> round(mean_loss_of_pure_dp(epsilon=1.0), 6)
    0.462117
    """
    validate.non_negative(epsilon=epsilon)
    return epsilon * math.tanh(epsilon / 2)


def _second_inside_first(*, p: ArrayLike, q: ArrayLike) -> bool:
    """Q is zero where P is."""
    return not np.any((np.asarray(p) == 0) & (np.asarray(q) > 0))


@formula(
    "G-A12b",
    title="Normalisation of the privacy loss",
    kind="identity",
    statement=r"E_P[e^{-L}] = 1",
    requires=_second_inside_first,
    reference=Reference("Bun & Steinke", 2016, "Section 3"),
    domain=_PAIR,
    oracle=lambda p, q: math.fsum(
        a * math.exp(-math.log(a / b)) for a, b in zip(p, q, strict=True) if a > 0 and b > 0
    ),
    misprints=[
        Misprint(
            "without-continuity",
            r"E_P[e^{-L}] = 1 \text{ for all } P, Q",
            requires="",
            source="derivations that divide by densities",
            note="What is possible under Q alone is missing: the mean is Q(p > 0).",
        ),
    ],
)
def mean_exp_of_minus_loss() -> float:
    """The mean of e^-L under P is 1, whatever the pair, if Q is zero where P is."""
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
