"""PATE: teachers vote, noise is added to the counts, and the largest count wins."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc

from dplearn.formulas import _oracles_pate as truth
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Choice, Derived, Given, Linear, Log, Parameters, Whole
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_PATE_2017 = "Papernot, Abadi, Erlingsson, Goodfellow & Talwar"
_PATE_2018 = "Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson"


def _random_votes(most: int, fewest_classes: int, most_classes: int) -> Given:
    """Counts of the classes, the plurality first."""

    def make(rng: Generator, drawn: Parameters) -> NDArray:
        votes = rng.integers(1, most + 1, size=rng.integers(fewest_classes, most_classes + 1))
        return np.sort(votes)[::-1]

    return Given(make)


@formula(
    "G-M1",
    title="GNMax: the noisy winner",
    kind="upper",
    statement=r"D_\alpha(\text{winner}\Vert\text{winner}') \le \frac{\alpha}{\sigma^2}",
    requires="order > 1 and noise_std > 0",
    reference=Reference(_PATE_2018, 2018, "Proposition 8"),
    domain={
        "order": Log(1.02, 100.0),
        "noise_std": Log(0.5, 40.0),
        "votes": _random_votes(20, 2, 4),
    },
    oracle=truth.gnmax_worst,
    examples=[({"order": 10.0, "noise_std": 40.0}, "0.00625")],
    misprints=[
        Misprint(
            "one-count",
            r"D_\alpha \le \frac{\alpha}{2\sigma^2}",
            claim=lambda order, noise_std: order / (2 * noise_std**2),
            source="the Gaussian mechanism with sensitivity 1",
            note="A changed vote moves two counts, a distance of the root of 2.",
            examples=[({"order": 10.0, "noise_std": 40.0}, "0.003125")],
        ),
    ],
    absolute=0.0,
    points=60,
)
def gnmax_rdp(*, order: float, noise_std: float) -> float:
    r"""RDP of the class with the largest Gaussian-noised count, :math:`\alpha/\sigma^2`.

    Parameters
    ----------
    order : float
        alpha > 1.
    noise_std : float
        Standard deviation of the noise on every count, > 0, in votes.

    Returns
    -------
    float
        Upper bound, nats, where one record changes one teacher and so at most one vote; exact
        for the noised counts themselves.

    References
    ----------
    Papernot et al. (2018), Proposition 8.

    Examples
    --------
    >>> gnmax_rdp(order=10.0, noise_std=40.0)
    0.00625
    """
    _check(order, noise_std)
    return order / noise_std**2


# How often noise changes the winner


def _plurality_first(*, votes: ArrayLike) -> bool:
    """The first class has the most votes."""
    return bool(np.argmax(votes) == 0)


_TWO_CLASSES = _random_votes(200, 2, 2)


@formula(
    "G-M2",
    title="LNMax: how rarely noise changes the winner",
    kind="upper",
    statement=r"""P(\text{winner} \ne j^*) \le
        \sum_{j\ne j^*} \frac{2+\gamma(n_{j^*}-n_j)}{4\,e^{\gamma(n_{j^*}-n_j)}}""",
    requires=_plurality_first,
    reference=Reference(_PATE_2017, 2017, "Lemma 4"),
    domain={"votes": _random_votes(200, 2, 5), "inverse_scale": Log(0.005, 1.0)},
    oracle=truth.lnmax_flips,
    examples=[
        ({"votes": [150, 50], "inverse_scale": 0.05}, "0.0117914072", "0.0117914072"),
        ({"votes": [120, 70, 60], "inverse_scale": 0.05}, "0.1545794589"),
    ],
    misprints=[
        Misprint(
            "no-quarter",
            r"""P(\text{winner} \ne j^*) = (2+\gamma\,\Delta n)\,e^{-\gamma\,\Delta n}
                \text{ of two classes}""",
            claim=lambda votes, inverse_scale: 4 * lnmax_flip_bound(
                votes=votes, inverse_scale=inverse_scale
            ),
            kind="identity",
            domain={"votes": _TWO_CLASSES},
            source="retellings of the lemma",
            note="Still a bound, but four times the truth: it misses the constants of the law.",
        ),
    ],
    absolute=0.0,
    points=60,
)  # fmt: skip
def lnmax_flip_bound(*, votes: ArrayLike, inverse_scale: float) -> float:
    """Probability that Laplace noise makes another class than the first win.

    Parameters
    ----------
    votes : array_like, shape (n_classes,)
        Counts, the largest first.
    inverse_scale : float
        gamma > 0: noise of density gamma e^(-gamma |x|) / 2 on every count.

    Returns
    -------
    float
        Upper bound, exact for two classes.

    References
    ----------
    Papernot et al. (2017), Lemma 4.

    Examples
    --------
    >>> round(lnmax_flip_bound(votes=[150, 50], inverse_scale=0.05), 6)
    0.011791
    """
    validate.positive(inverse_scale=inverse_scale)
    gaps = inverse_scale * _gaps(votes)
    return float(np.sum((2 + gaps) / 4 * np.exp(-gaps)))


@formula(
    "G-M3",
    title="GNMax: how rarely noise changes the winner",
    kind="upper",
    statement=r"""P(\text{winner} \ne i^*) \le
        \frac12\sum_{i\ne i^*}\operatorname{erfc}\Big(\frac{n_{i^*}-n_i}{2\sigma}\Big)""",
    requires=_plurality_first,
    reference=Reference(_PATE_2018, 2018, "Proposition 7"),
    domain={"votes": _random_votes(200, 2, 5), "noise_std": Log(5.0, 200.0)},
    oracle=truth.gnmax_flips,
    examples=[
        ({"votes": [150, 50], "noise_std": 40.0}, "0.03854993587", "0.03854993587"),
    ],
    misprints=[
        Misprint(
            "one-noise",
            r"\frac12\sum_{i\ne i^*}\operatorname{erfc}\big((n_{i^*}-n_i)/(\sqrt2\,\sigma)\big)",
            claim=lambda votes, noise_std: gnmax_flip_bound(
                votes=votes, noise_std=noise_std / math.sqrt(2)
            ),
            source="forgetting that both counts are noisy",
            note="The difference of two counts has a deviation of sigma times the root of 2.",
        ),
        Misprint(
            "twice-the-root",
            r"\frac12\operatorname{erfc}\Big(\frac{\Delta n}{2\sqrt2\,\sigma}\Big)"
            r" \text{ of two classes}",
            claim=lambda votes, noise_std: gnmax_flip_bound(
                votes=votes, noise_std=noise_std * math.sqrt(2)
            ),
            kind="identity",
            domain={"votes": _TWO_CLASSES},
            source="a root of 2 put in once more, by erfc and by the difference",
            note="A bound, and too large: erfc already holds one of the roots.",
        ),
    ],
    absolute=0.0,
    points=60,
)
def gnmax_flip_bound(*, votes: ArrayLike, noise_std: float) -> float:
    """Probability that Gaussian noise makes another class than the first win.

    Parameters
    ----------
    votes : array_like, shape (n_classes,)
        Counts, the largest first.
    noise_std : float
        Of the noise on every count, > 0, in votes.

    Returns
    -------
    float
        Upper bound, exact for two classes.

    References
    ----------
    Papernot et al. (2018), Proposition 7.

    Examples
    --------
    >>> round(gnmax_flip_bound(votes=[150, 50], noise_std=40.0), 6)
    0.03855
    """
    validate.positive(noise_std=noise_std)
    return float(np.sum(0.5 * erfc(_gaps(votes) / (2 * noise_std))))


def _gaps(votes: ArrayLike) -> NDArray:
    votes = np.asarray(votes, dtype=float)
    if votes.ndim != 1 or votes.size < 2 or np.argmax(votes) != 0:
        raise ValueError(f"Expected votes of two classes or more, the largest first, got {votes}.")
    return votes[0] - votes[1:]


# Moments of LNMax


_MOMENT = {"moment": Whole(1, 32), "inverse_scale": Log(0.005, 1.0)}


@formula(
    "G-M4",
    title="LNMax: log-moments for any votes",
    kind="upper",
    statement=r"\ln E[e^{lL}] \le 2\gamma^2 l(l+1)",
    requires="moment > 0 and inverse_scale > 0",
    reference=Reference(_PATE_2017, 2017, "Theorem 2"),
    domain=_MOMENT,
    oracle=truth.coin_moment,
    examples=[({"moment": 8, "inverse_scale": 0.05}, "0.36")],
    absolute=0.0,
)
def lnmax_log_moment(*, moment: float, inverse_scale: float) -> float:
    r"""Log-moment of the loss of the class with the largest Laplace-noised count.

    Parameters
    ----------
    moment : float
        l > 0; the order of the Rényi divergence is l + 1.
    inverse_scale : float
        gamma > 0; the release is 2 gamma-DP.

    Returns
    -------
    float
        Upper bound :math:`2\gamma^2l(l+1)` for every data set.

    References
    ----------
    Papernot et al. (2017), Theorem 2.

    Examples
    --------
    >>> round(lnmax_log_moment(moment=8, inverse_scale=0.05), 6)
    0.36
    """
    validate.positive(moment=moment, inverse_scale=inverse_scale)
    return 2 * inverse_scale**2 * moment * (moment + 1)


_AGREED = "0 < flip and flip <= (exp(2*inverse_scale) - 1) / (exp(4*inverse_scale) - 1)"


@formula(
    "G-M4b",
    title="LNMax: log-moments where teachers agree",
    kind="upper",
    statement=r"""\ln E[e^{lL}] \le \ln\Big\{(1-q)\Big(\frac{1-q}{1-e^{2\gamma}q}\Big)^l
        + q\,e^{2\gamma l}\Big\},\quad P(\text{winner} \ne o^*) \le q""",
    requires=_AGREED,
    reference=Reference(_PATE_2017, 2017, "Theorem 3"),
    domain={**_MOMENT, "flip": Log(1e-9, 0.5)},
    oracle=truth.largest_moment,
    examples=[({"moment": 8, "inverse_scale": 0.05, "flip": 1e-6}, "2.066907e-06")],
    misprints=[
        Misprint(
            "no-condition",
            r"\text{the same for every } q < 1",
            requires="0 < flip and flip < 1 and flip*exp(2*inverse_scale) != 1",
            domain={"moment": Choice(2, 4, 8, 16), "flip": Linear(0.01, 0.99)},
            source="codes that skip the check of q",
            note="Past 1/(1+e^(2 gamma)) it is useless, and past e^(-2 gamma) wrong.",
        ),
        Misprint(
            "for-all-data",
            r"\text{the moment at the data at hand is that of the mechanism}",
            oracle=truth.moment_of_a_tie,
            source="publishing the data-dependent epsilon",
            note="Other votes leak more, and the number itself tells of the votes; smooth it.",
            seen=("F76",),
        ),
    ],
    absolute=0.0,
    points=60,
)
def lnmax_log_moment_at(*, moment: float, inverse_scale: float, flip: float) -> float:
    """Log-moment of LNMax at data where the winner is likely.

    Parameters
    ----------
    moment : float
        l > 0.
    inverse_scale : float
        gamma > 0.
    flip : float
        q: at least the probability that another class wins, and at most 1/(1 + e^(2 gamma)).

    Returns
    -------
    float
        Upper bound at these data only; it depends on them and must not be published as it is.

    References
    ----------
    Papernot et al. (2017), Theorem 3.

    Examples
    --------
    >>> round(lnmax_log_moment_at(moment=8, inverse_scale=0.05, flip=1e-6), 12)
    2.066907e-06
    """
    validate.positive(moment=moment, inverse_scale=inverse_scale)
    validate.probability(flip=flip)
    # ln(1 + (1-q)(r^l - 1) + q (e^(2 gamma l) - 1)), r = (1-q)/(1 - e^(2 gamma) q).
    excess = flip * math.expm1(2 * inverse_scale) / (1 - math.exp(2 * inverse_scale) * flip)
    grown = math.expm1(moment * math.log1p(excess)) if excess > -1 else (1 + excess) ** moment - 1
    return math.log1p((1 - flip) * grown + flip * math.expm1(2 * inverse_scale * moment))


# Data-dependent RDP


def _random_agreement(rng: Generator, drawn: Parameters) -> NDArray:
    """Three outcomes, the first of them likely."""
    rest = 10 ** rng.uniform(-5.0, -0.5) * rng.dirichlet(np.ones(2))
    return np.array([1 - rest.sum(), *rest])


def _random_tilt(rng: Generator, drawn: Parameters) -> NDArray:
    q = drawn["p"] * np.exp(10 ** rng.uniform(-1.5, 0.7) * rng.normal(size=3))
    return q / q.sum()


def _two_sided(order: str) -> Derived:
    """The larger divergence of the two directions at one of the orders."""

    def make(drawn: Parameters) -> float:
        p, q = np.log(drawn["p"]), np.log(drawn["q"])
        power = drawn[order] - 1
        return max(truth.log_moment(a, b, power) for a, b in ((p, q), (q, p))) / power

    return Derived(make)


_ORDERS = "1 < order and order_1 > 1 and order_2 > 1 and 0 < flip and flip < 1"
_IN_ORDER = " and order <= order_1"
_RISING = """ and log(flip) <= (order_2 - 1)*rdp_2
    - order_2*log(order_1/(order_1 - 1)*order_2/(order_2 - 1))"""
_POSITIVE = " and log(flip) + rdp_2 < 0"
_MANY = {"order": Log(1.05, 30.0), "order_1": Log(1.05, 60.0), "order_2": Log(1.05, 60.0)}


@formula(
    "G-M5",
    title="Data-dependent RDP where one outcome is likely",
    kind="upper",
    statement=r"""D_\alpha(M(D)\Vert M(D')) \le \frac1{\alpha-1}\ln\Big\{(1-q)A^{\alpha-1}
        + qB^{\alpha-1}\Big\},\quad A = \frac{1-q}{1-(qe^{\varepsilon_2})^{(\mu_2-1)/\mu_2}},\
        B = \frac{e^{\varepsilon_1}}{q^{1/(\mu_1-1)}}""",
    requires=_ORDERS + _IN_ORDER + _RISING + _POSITIVE,
    reference=Reference(_PATE_2018, 2018, "Theorem 6"),
    domain={
        "p": Given(_random_agreement),
        "q": Given(_random_tilt),
        **_MANY,
        "rdp_1": _two_sided("order_1"),
        "rdp_2": _two_sided("order_2"),
        "looseness": Choice(1.0, 1.5),
        "flip": Derived(lambda drawn: drawn["looseness"] * math.fsum(drawn["p"][1:])),
    },
    oracle=lambda p, q, order: truth.log_moment(np.log(p), np.log(q), order - 1) / (order - 1),
    misprints=[
        Misprint(
            "any-order",
            r"\text{the same for } \alpha > \mu_1",
            requires=_ORDERS + " and order > order_1" + _RISING + _POSITIVE,
            source="codes that ignore the conditions",
            note="A divergence of order mu_1 says nothing about a larger order.",
        ),
        Misprint(
            "as-printed",
            r"\text{without the condition } q\,e^{\varepsilon_2} < 1",
            requires=_ORDERS + _IN_ORDER + _RISING,
            domain={"order": Choice(2.0, 3.0, 5.0), "order_1": Log(3.0, 20.0)},
            source="the theorem as it is quoted; its authors' code has the condition",
            note="Otherwise A is negative, and nothing is proved.",
        ),
    ],
    absolute=0.0,
)
def data_dependent_rdp(
    *, order: float, flip: float, order_1: float, rdp_1: float, order_2: float, rdp_2: float
) -> float:
    r"""Rényi divergence at data where one outcome is nearly certain.

    Parameters
    ----------
    order : float
        alpha in (1, order_1].
    flip : float
        q: at least the probability of all other outcomes, in (0, 1).
    order_1, rdp_1 : float
        The mechanism is (mu_1, eps_1)-RDP, mu_1 > 1.
    order_2, rdp_2 : float
        And (mu_2, eps_2)-RDP, mu_2 > 1, with q e^eps_2 < 1 and
        ln q <= (mu_2 - 1) eps_2 - mu_2 ln(mu_1/(mu_1 - 1) mu_2/(mu_2 - 1)).

    Returns
    -------
    float
        Upper bound on D(M(D)||M(D')), for the data D at hand and in this direction only; nan
        where it is no number.

    References
    ----------
    Papernot et al. (2018), Theorem 6; the condition q e^eps_2 < 1 is that of the authors' code.

    Examples
    --------
    >>> bound = data_dependent_rdp(
    ...     order=10.0, flip=1e-8, order_1=173.0, rdp_1=0.108, order_2=172.0, rdp_2=0.1075
    ... )
    >>> 8e-9 < bound < 1e-8
    True
    """
    power, q = order - 1, flip
    x = math.exp((math.log(q) + rdp_2) * (order_2 - 1) / order_2)
    last = math.log(q) + power * (rdp_1 - math.log(q) / (order_1 - 1))
    if x >= 1:
        first = (1 - q) * np.power((1 - q) / (1 - x), power) if x > 1 else math.inf
        return float(np.log(first + np.exp(last))) / power
    first = order * math.log1p(-q) - power * math.log1p(-x)
    if max(first, last) > 1:
        return float(np.logaddexp(first, last)) / power
    # ln(1 + {(1-q) A^power - 1} + q B^power): the terms may be tiny.
    return math.log1p(math.expm1(first) + math.exp(last)) / power


def _of_gnmax(*, order: float, noise_std: float, flip: float) -> float:
    """The theorem for GNMax, whether its conditions are met or not."""
    order_2 = noise_std * math.sqrt(-math.log(flip))
    order_1 = order_2 + 1
    return data_dependent_rdp(
        order=order, flip=flip, order_1=order_1, rdp_1=order_1 / noise_std**2,
        order_2=order_2, rdp_2=order_2 / noise_std**2,
    )  # fmt: skip


@formula(
    "G-M5b",
    title="GNMax: data-dependent RDP",
    kind="upper",
    statement=r"""\text{the theorem with } \mu_2 = \sigma\sqrt{\ln(1/q)},\ \mu_1 = \mu_2 + 1,\
        \varepsilon_i = \mu_i/\sigma^2;\quad \alpha/\sigma^2 \text{ where it does not apply}""",
    requires="order > 1 and noise_std > 0 and 0 < flip and flip < 1",
    reference=Reference(_PATE_2018, 2018, "Theorem 6 and Proposition 10"),
    domain={
        "order": Log(1.05, 50.0),
        "noise_std": Log(0.5, 40.0),
        "votes": _random_votes(60, 2, 4),
        "flip": Derived(
            lambda drawn: gnmax_flip_bound(votes=drawn["votes"], noise_std=drawn["noise_std"])
        ),
    },
    oracle=truth.gnmax_worst,
    examples=[({"order": 10.0, "noise_std": 40.0, "flip": 1e-8}, "8.9835e-09")],
    misprints=[
        Misprint(
            "no-conditions",
            r"\text{the theorem, whatever } q \text{ and } \alpha",
            claim=_of_gnmax,
            domain={
                "order": Log(1.05, 1.5),
                "noise_std": Log(0.3, 0.5),
                "votes": _random_votes(2, 2, 2),
            },
            source="codes that ignore the conditions",
            note="With little noise mu_2 falls below 1, where the formula claims too little.",
        ),
        Misprint(
            "both-directions",
            r"D_\alpha(M(D')\Vert M(D)) \text{ is bounded as well}",
            oracle=truth.gnmax_worst_reversed,
            source="reading a guarantee for two orders into a bound for one",
            note="The neighbour may be less certain of the winner, and its divergence larger.",
        ),
    ],
    absolute=0.0,
    points=60,
)
def gnmax_data_dependent_rdp(*, order: float, noise_std: float, flip: float) -> float:
    r"""RDP of GNMax at data where the winner is likely.

    Parameters
    ----------
    order : float
        alpha > 1.
    noise_std : float
        Of the noise on every count, > 0, in votes.
    flip : float
        q: at least the probability that another class wins, in (0, 1).

    Returns
    -------
    float
        Upper bound on D(M(D)||M(D')) for the data at hand, never above alpha/sigma^2; it depends
        on the votes and must not be published as it is.

    References
    ----------
    Papernot et al. (2018), Theorem 6 and Proposition 10.

    Examples
    --------
    >>> gnmax_data_dependent_rdp(order=10.0, noise_std=40.0, flip=0.4)
    0.00625
    """
    _check(order, noise_std)
    validate.probability(flip=flip)
    plain = order / noise_std**2
    order_2 = noise_std * math.sqrt(-math.log(flip))
    if order_2 <= 1 or order > order_2 + 1 or math.log(flip) + order_2 / noise_std**2 >= 0:
        return plain
    rising = (order_2 - 1) * order_2 / noise_std**2
    rising -= order_2 * (math.log1p(1 / order_2) + math.log1p(1 / (order_2 - 1)))
    if math.log(flip) > rising:
        return plain
    return min(plain, _of_gnmax(order=order, noise_std=noise_std, flip=flip))


@formula(
    "G-M5c",
    title="Confident-GNMax: whether the votes pass a threshold",
    kind="upper",
    statement=r"D_\alpha(1[\max_i n_i + N(0,\sigma_1^2) \ge T]) \le \frac{\alpha}{2\sigma_1^2}",
    requires="order > 1 and noise_std > 0",
    reference=Reference(_PATE_2018, 2018, "Section 4.1"),
    domain={
        "order": Log(1.02, 100.0),
        "noise_std": Log(0.5, 200.0),
        "place": Linear(-15.0, 15.0),
    },
    oracle=truth.threshold_worst,
    examples=[({"order": 10.0, "noise_std": 200.0}, "0.000125")],
    absolute=0.0,
)
def threshold_rdp(*, order: float, noise_std: float) -> float:
    r"""RDP of the noisy check that the largest count passes a threshold.

    Parameters
    ----------
    order : float
        alpha > 1.
    noise_std : float
        sigma_1 > 0 of the noise on the largest count, in votes.

    Returns
    -------
    float
        Upper bound :math:`\alpha/(2\sigma_1^2)`, nats: one vote moves the largest count by 1.

    References
    ----------
    Papernot et al. (2018), Section 4.1.

    Examples
    --------
    >>> round(threshold_rdp(order=10.0, noise_std=200.0), 9)
    0.000125
    """
    _check(order, noise_std)
    return order / (2 * noise_std**2)


def _check(order: float, noise_std: float) -> None:
    validate.positive(noise_std=noise_std)
    if not order > 1:
        raise ValueError(f"Expected order > 1, got order={order!r}.")
