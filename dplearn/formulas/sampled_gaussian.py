"""The Poisson-sampled Gaussian: its Rényi divergences, exactly, in closed bounds, in the limit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln, gammasgn, log_ndtr, xlog1py

from dplearn.engine.contour import worse_brackets
from dplearn.formulas import _oracles as oracles
from dplearn.formulas import _oracles_amplification as samples
from dplearn.formulas._base import Interval, Misprint, formula
from dplearn.formulas._domains import Choice, Given, Log, Parameters, Whole
from dplearn.formulas.divergences import renyi_gaussian
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference
from dplearn.ground.logspace import log_comb, log_expm1

_MTZ = "Mironov, Talwar & Zhang"
_SAMPLED = {"noise_multiplier": Log(0.4, 20.0), "sample_rate": Log(1e-3, 1.0)}
_RATE = "noise_multiplier > 0 and 0 < sample_rate and sample_rate <= 1"


def _integer_terms(order: int, sample_rate: float, log_gain: Callable[[NDArray], NDArray]) -> float:
    """log of sum_{k >= 2} binom(a, k) q^k (1-q)^(a-k) gain(k)."""
    k = np.arange(2.0, order + 1)
    weight = log_comb(order, k) + k * math.log(sample_rate) + xlog1py(order - k, -sample_rate)
    return float(np.logaddexp.reduce(weight + log_gain(k)))


def _with_plus(*, order: int, noise_multiplier: float, sample_rate: float) -> float:
    total = _integer_terms(order, sample_rate, lambda k: (k * k + k) / (2 * noise_multiplier**2))
    first = (
        xlog1py(order, -sample_rate),
        math.log(order * sample_rate) + xlog1py(order - 1, -sample_rate) + 1 / noise_multiplier**2,
    )
    return float(np.logaddexp.reduce([*first, total])) / (order - 1)


def _log_power_sum(*, order: int, noise_multiplier: float, sample_rate: float) -> float:
    """(a - 1) D_a."""
    found = sampled_gaussian_rdp_integer(
        order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate
    )
    return (order - 1) * found


def _order_shifted(*, order: int, noise_multiplier: float, sample_rate: float) -> float:
    return _log_power_sum(
        order=order - 1, noise_multiplier=noise_multiplier, sample_rate=sample_rate
    ) / (order - 1)


def _mean_as_normal(*, order: int, noise_multiplier: float, sample_rate: float) -> float:
    """The number of times the record is drawn, taken to be normal."""
    variance = noise_multiplier**2 + sample_rate
    return renyi_gaussian(
        order=order, mean_p=sample_rate, std_p=math.sqrt(variance), mean_q=0.0,
        std_q=noise_multiplier,
    )  # fmt: skip


@formula(
    "G-E4",
    title="Rényi divergence of the sampled Gaussian, whole orders",
    kind="identity",
    statement=r"""D_\alpha = \frac1{\alpha-1}\ln\sum_{k=0}^\alpha\binom\alpha k
        (1-q)^{\alpha-k}q^k e^{(k^2-k)/2\sigma^2}""",
    requires="order >= 2 and floor(order) == order and " + _RATE,
    reference=Reference(_MTZ, 2019, "Section 3.3"),
    domain={"order": Whole(2, 256), **_SAMPLED},
    oracle=samples.sampled_renyi,
    tolerance=1e-8,
    absolute=1e-14,
    examples=[
        ({"order": 8, "noise_multiplier": 1.0, "sample_rate": 0.01}, "0.0008936439076"),
        ({"order": 32, "noise_multiplier": 1.0, "sample_rate": 0.01}, "11.24627594"),
        ({"order": 2, "noise_multiplier": 0.5, "sample_rate": 1e-3}, "0.00005360"),
        ({"order": 10, "noise_multiplier": 0.5, "sample_rate": 1e-3}, "12.325"),
        ({"order": 260, "noise_multiplier": 0.5, "sample_rate": 1e-3}, "513.07"),
    ],
    misprints=[
        Misprint(
            "plus",
            r"\dots e^{(k^2+k)/2\sigma^2}",
            claim=_with_plus,
            source="a sign slip in notebooks",
            note="E[(dN(1)/dN(0))^k] has k^2 - k: at k = 1 it is 1.",
        ),
        Misprint(
            "shifted-order",
            r"\dots \text{ for order } \alpha - 1, \text{ divided by } \alpha - 1",
            claim=_order_shifted,
            requires="order >= 3 and floor(order) == order and " + _RATE,
            source="lecture notes on the moments accountant",
            note="The log moment of lambda sums powers up to lambda + 1.",
            seen=("F39",),
        ),
        Misprint(
            "no-factor",
            r"D_\alpha = \ln\sum_{k=0}^\alpha \dots",
            claim=_log_power_sum,
            source="a log moment quoted as a Rényi divergence",
            note="The logarithm of the sum is (alpha - 1) times the divergence.",
        ),
        Misprint(
            "normal-mean",
            r"D_\alpha\big(N(q, \sigma^2 + q(1-1/n))\,\Vert\,N(0, \sigma^2)\big)",
            claim=_mean_as_normal,
            source="lecture notes on the worst and best data for sampling",
            note="A mixture of two is not normal: its divergence is finite at every order.",
            seen=("F77", "F78"),
            examples=[
                ({"order": 2, "noise_multiplier": 0.5, "sample_rate": 1e-3}, "0.00001202"),
                ({"order": 10, "noise_multiplier": 0.5, "sample_rate": 1e-3}, "0.0000616"),
                ({"order": 260, "noise_multiplier": 0.5, "sample_rate": 1e-3}, "inf"),
            ],
        ),
    ],
)
def sampled_gaussian_rdp_integer(
    *, order: int, noise_multiplier: float, sample_rate: float
) -> float:
    """Rényi divergence of the Poisson-sampled Gaussian at a whole order, a record removed.

    Parameters
    ----------
    order : int
        alpha >= 2.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    sample_rate : float
        q in (0, 1].

    Returns
    -------
    float
        Exact, nats, one step, add_remove: a record added leaks less (G-E9b).

    References
    ----------
    Mironov, Talwar & Zhang (2019), section 3.3; Abadi et al. (2016).

    Examples
    --------
    >>> found = sampled_gaussian_rdp_integer(order=8, noise_multiplier=1.0, sample_rate=0.01)
    >>> round(found, 10)
    0.0008936439
    """
    validate.integer(minimum=2, order=order)
    validate.positive(noise_multiplier=noise_multiplier)
    validate.rate(sample_rate=sample_rate)
    # The weights add up to 1, so the sum is 1 + sum w_k (e^... - 1), without cancellation.
    gain = lambda k: log_expm1((k * k - k) / (2 * noise_multiplier**2))
    return float(np.logaddexp(0.0, _integer_terms(order, sample_rate, gain))) / (order - 1)


def _erfc_terms(order: float, sigma: float, q: float) -> tuple[NDArray, NDArray]:
    """Signs and logarithms of both series together, term by term."""
    # Terms decay like k^(-order - 2) and alternate.
    k = np.arange(int(order) + int(1e-14 ** (-1 / (order + 3))) + 10.0)
    back = order - k
    with np.errstate(invalid="ignore"):
        log_binom = gammaln(order + 1) - gammaln(k + 1) - gammaln(back + 1)
        sign = np.where(np.isfinite(log_binom), gammasgn(back + 1), 0.0)
    split = 0.5 + sigma**2 * (math.log1p(-q) - math.log(q))
    # Phi(-x) = erfc(x / sqrt 2) / 2.
    left = back * math.log1p(-q) + k * math.log(q) + (k * k - k) / (2 * sigma**2)
    right = k * math.log1p(-q) + back * math.log(q) + (back * back - back) / (2 * sigma**2)
    both = np.logaddexp(
        left + log_ndtr((split - k) / sigma), right + log_ndtr((back - split) / sigma)
    )
    return sign, log_binom + both


def _absolute_series(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    _, logs = _erfc_terms(order, noise_multiplier, sample_rate)
    return float(np.logaddexp.reduce(logs)) / (order - 1)


def _between_orders(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    below = math.floor(order)
    ends = [
        sampled_gaussian_rdp_integer(
            order=k, noise_multiplier=noise_multiplier, sample_rate=sample_rate
        )
        for k in (below, below + 1)
    ]
    return float(np.interp(order, [below, below + 1], ends))


_FRACTIONAL = {"noise_multiplier": Log(0.4, 20.0), "sample_rate": Log(1e-3, 0.99)}
_PROPER = "noise_multiplier > 0 and 0 < sample_rate and sample_rate < 1"


@formula(
    "G-E5",
    title="Rényi divergence of the sampled Gaussian, any order",
    kind="identity",
    statement=r"""D_\alpha = \frac1{\alpha-1}\ln\sum_{k=0}^\infty\binom\alpha k\Big[
        (1-q)^{\alpha-k}q^k e^{\frac{k^2-k}{2\sigma^2}}\Phi\Big(\frac{z_1-k}\sigma\Big)
        + (1-q)^kq^{\alpha-k}e^{\frac{(\alpha-k)^2-(\alpha-k)}{2\sigma^2}}
        \Phi\Big(\frac{\alpha-k-z_1}\sigma\Big)\Big],\quad
        z_1 = \tfrac12 + \sigma^2\ln\tfrac{1-q}q""",
    requires="order > 1 and " + _PROPER,
    reference=Reference(_MTZ, 2019, "Section 3.3"),
    domain={"order": Log(1.02, 300.0), **_FRACTIONAL},
    oracle=samples.sampled_renyi,
    tolerance=1e-8,
    # The sum is 1 + (a - 1) D_a: rounding near 1e-14.
    absolute=1e-11,
    examples=[
        ({"order": 1.5, "noise_multiplier": 2.5, "sample_rate": 0.01}, "0.00001300142"),
        ({"order": 1.5, "noise_multiplier": 1.0, "sample_rate": 0.1}, "0.01173459"),
        ({"order": 5.5, "noise_multiplier": 0.8, "sample_rate": 0.1}, "1.493370"),
    ],
    misprints=[
        Misprint(
            "no-signs",
            r"\dots\Big|\binom\alpha k\Big|\dots",
            claim=_absolute_series,
            source="a widely used library, in the fractional orders of one version",
            note="Generalised binomials alternate in sign from k > alpha on; safe, but too large.",
            examples=[
                ({"order": 1.5, "noise_multiplier": 2.5, "sample_rate": 0.01}, "0.00001341159"),
            ],
        ),
        Misprint(
            "interpolated",
            r"D_\alpha \le (1 - \{\alpha\})D_{\lfloor\alpha\rfloor}"
            r" + \{\alpha\}D_{\lfloor\alpha\rfloor+1}",
            claim=_between_orders,
            kind="upper",
            domain={"order": Log(2.0, 100.0)},
            source="codes that keep a table of whole orders",
            note="The log moments are convex in the order, the divergences need not be.",
            seen=("F43",),
            examples=[
                ({"order": 5.5, "noise_multiplier": 0.8, "sample_rate": 0.1}, "1.492871"),
            ],
        ),
    ],
)
def sampled_gaussian_rdp(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    """Rényi divergence of the Poisson-sampled Gaussian at any order, a record removed.

    Parameters
    ----------
    order : float
        alpha > 1.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    sample_rate : float
        q in (0, 1).

    Returns
    -------
    float
        Exact up to rounding of 1e-14 / (alpha - 1), nats, one step, add_remove.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Mironov, Talwar & Zhang (2019), section 3.3.

    Examples
    --------
    >>> round(sampled_gaussian_rdp(order=1.5, noise_multiplier=1.0, sample_rate=0.1), 8)
    0.01173459
    """
    validate.positive(noise_multiplier=noise_multiplier)
    validate.probability(sample_rate=sample_rate)
    if not order > 1:
        raise ValueError(f"Expected order > 1, got order={order!r}.")
    sign, logs = _erfc_terms(order, noise_multiplier, sample_rate)
    top = float(np.max(logs))
    parts = np.cumsum(sign * np.exp(logs - top))
    # The mean of the last two sums of an alternating series is much closer than either.
    return max((top + math.log(0.5 * float(parts[-1] + parts[-2]))) / (order - 1), 0.0)


@formula(
    "G-E5b",
    title="Log moments interpolated between whole orders",
    kind="upper",
    statement=r"""(\alpha-1)D_\alpha \le (1 - \{\alpha\})(\lfloor\alpha\rfloor-1)
        D_{\lfloor\alpha\rfloor} + \{\alpha\}\lfloor\alpha\rfloor D_{\lfloor\alpha\rfloor+1}""",
    requires="order >= 2 and " + _RATE,
    reference=Reference("van Erven & Harremoës", 2014, "Corollary 2"),
    domain={"order": Log(2.0, 200.0), **_SAMPLED},
    oracle=samples.sampled_renyi,
    tolerance=1e-8,
    absolute=1e-14,
)
def interpolated_rdp(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    """Upper bound on the divergence at any order >= 2 from the two whole orders around it.

    The cumulant generating function (alpha - 1) D_alpha is convex; parameters and units as in
    `sampled_gaussian_rdp_integer`.

    References
    ----------
    van Erven & Harremoës (2014), Corollary 2.

    Examples
    --------
    >>> round(interpolated_rdp(order=5.5, noise_multiplier=0.8, sample_rate=0.1), 6)
    1.541324
    """
    below = math.floor(order)
    ends = [
        (k - 1)
        * sampled_gaussian_rdp_integer(
            order=k, noise_multiplier=noise_multiplier, sample_rate=sample_rate
        )
        for k in (below, below + 1)
    ]
    return float(np.interp(order, [below, below + 1], ends)) / (order - 1)


def _subset_renyi(
    *, order: float, noise_multiplier: float, sample_rate: float, distance: float
) -> float:
    """The larger direction of ((1-q)N(0) + qN(distance), N(0)), a pair that is attained."""
    mixture = samples.log_mixture(samples.sampled(sample_rate, distance), noise_multiplier)
    base = oracles.log_normal(0.0, noise_multiplier)
    far = 40 * noise_multiplier + (order + 1) * distance
    return max(
        oracles.density_renyi(*pair, order, -far, far)
        for pair in ((mixture, base), (base, mixture))
    )


def _subset_renyi_of_replaced(
    *, order: float, noise_multiplier: float, sample_rate: float
) -> float:
    return _subset_renyi(
        order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate, distance=2.0
    )


_WANG_EXAMPLE = {"order": 8, "noise_multiplier": 1.0, "sample_rate": 0.01, "distance": 1.0}


@formula(
    "G-E6",
    title="Rényi divergence after sampling without replacement",
    kind="upper",
    statement=r"""D'_\alpha \le \frac1{\alpha-1}\ln\Big(1
        + q^2\binom\alpha2\min\{4(e^{\varepsilon(2)}-1), 2e^{\varepsilon(2)}\}
        + \sum_{j=3}^\alpha 2q^j\binom\alpha j e^{(j-1)\varepsilon(j)}\Big),\quad
        \varepsilon(j) = \frac{j\Delta^2}{2\sigma^2}""",
    requires="order >= 2 and floor(order) == order and distance > 0 and " + _RATE,
    reference=Reference("Wang, Balle & Kasiviswanathan", 2019, "Theorem 9", checked=True),
    domain={"order": Whole(2, 32), **_SAMPLED, "distance": Choice(1.0, 2.0)},
    oracle=_subset_renyi,
    tolerance=1e-8,
    absolute=1e-10,
    points=60,
    examples=[(_WANG_EXAMPLE, "0.00268417", "0.000893644")],
    misprints=[
        Misprint(
            "for-poisson",
            r"\text{the divergence of Poisson sampling}",
            kind="identity",
            domain={"distance": Choice(1.0)},
            oracle=samples.sampled_renyi,
            source="libraries from before the sampled Gaussian was computed exactly",
            note="A bound on it for Gaussian noise, but several times too large.",
            examples=[(_WANG_EXAMPLE, "0.00268417", "0.000893644")],
        ),
        Misprint(
            "own-norm",
            r"\varepsilon(j) = \frac{jC^2}{2\sigma^2} \text{ for a record that is replaced}",
            domain={"distance": Choice(1.0)},
            oracle=_subset_renyi_of_replaced,
            source="training code with batches of fixed size",
            note="A replaced contribution moves the sum by up to 2C.",
            seen=("F13", "F16", "F74"),
        ),
    ],
)
def without_replacement_rdp(
    *, order: int, noise_multiplier: float, sample_rate: float, distance: float = 2.0
) -> float:
    """Upper bound on the Rényi divergence of Gaussian noise on a subset of fixed size.

    Parameters
    ----------
    order : int
        alpha >= 2.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    sample_rate : float
        Size of the subset / of the dataset, in (0, 1].
    distance : float
        Of the sums of a subset and of the same with one record replaced, in clipping norms.

    Returns
    -------
    float
        Nats, one step, replace_one.

    References
    ----------
    Wang, Balle & Kasiviswanathan (2019), Theorem 9, for an infinite pure epsilon.

    Examples
    --------
    >>> found = without_replacement_rdp(
    ...     order=8, noise_multiplier=1.0, sample_rate=0.01, distance=1.0
    ... )
    >>> round(found, 8)
    0.00268417
    """
    validate.integer(minimum=2, order=order)
    validate.positive(noise_multiplier=noise_multiplier, distance=distance)
    validate.rate(sample_rate=sample_rate)
    j = np.arange(2.0, order + 1)
    rdp = 0.5 * j * (distance / noise_multiplier) ** 2
    log_gain = math.log(2) + (j - 1) * rdp
    log_gain[0] = min(log_gain[0], math.log(4) + float(log_expm1(rdp[0])))
    logs = log_comb(order, j) + j * math.log(sample_rate) + log_gain
    return float(np.logaddexp(0.0, np.logaddexp.reduce(logs))) / (order - 1)


def _amplification_of_rdp(*, moment: float, noise_multiplier: float, sample_rate: float) -> float:
    """The divergence over q^2 times the divergence without sampling."""
    base = moment * (moment + 1) / (2 * noise_multiplier**2)
    found = samples.log_moment(
        moment=moment, noise_multiplier=noise_multiplier, sample_rate=sample_rate
    )
    return found / (sample_rate**2 * base)


def _certified_epsilon(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> Interval:
    low, high = worse_brackets([steps], sigma=noise_multiplier, q=sample_rate, delta=delta)
    return Interval(float(low[0]), float(high[0]))


def _a_hundredth(*, noise_multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    larger = _certified_epsilon(
        noise_multiplier=noise_multiplier, sample_rate=10 * sample_rate, steps=steps, delta=delta
    )
    return larger.high / 100


_RUN = {
    "noise_multiplier": Log(1.0, 6.0),
    "sample_rate": Log(1e-3, 0.02),
    "steps": Choice(100, 1000),
    "delta": Choice(1e-5),
}


@formula(
    "G-E7",
    title="Log moments of the sampled Gaussian for a small rate",
    kind="asymptotic",
    statement=r"""K(\lambda) = \lambda D_{\lambda+1}
        = \tfrac12q^2\lambda(\lambda+1)(e^{1/\sigma^2}-1)(1 + o(1)),\quad q \to 0""",
    requires="moment > 0 and noise_multiplier > 0",
    reference=Reference("Abadi et al.", 2016, "Lemma 3, its main term made exact", checked=True),
    domain={"moment": Log(0.5, 8.0), "noise_multiplier": Log(1.2, 20.0)},
    along={"sample_rate": (1e-2, 1e-3, 1e-4, 1e-5)},
    oracle=samples.log_moment,
    tolerance=1e-3,
    # Below this the oracle's rounding shows.
    absolute=1e-14,
    examples=[
        ({"moment": 7.0, "noise_multiplier": 4.0, "sample_rate": 0.01},
         "0.00018058448", "0.00018129386"),
    ],
    misprints=[
        Misprint(
            "base-times-square",
            r"K(\lambda) \le q^2\frac{\lambda(\lambda+1)}{2\sigma^2}",
            claim=lambda moment, noise_multiplier, sample_rate: (
                sample_rate**2 * moment * (moment + 1) / (2 * noise_multiplier**2)
            ),
            kind="upper",
            along={},
            domain={"sample_rate": Log(1e-3, 0.5)},
            source="lecture notes: the loss is multiplied by the square of the rate",
            note="Too small by sigma^2 (e^(1/sigma^2) - 1) > 1 even as the rate goes to 0.",
            seen=("F14",),
        ),
        Misprint(
            "one-minus-rate",
            r"D_\alpha \le \frac{q^2\alpha}{2\sigma^2(1-q)}",
            claim=lambda moment, noise_multiplier, sample_rate: (
                sample_rate**2 * moment * (moment + 1)
                / (2 * noise_multiplier**2 * (1 - sample_rate))
            ),
            kind="upper",
            along={},
            domain={"sample_rate": Log(1e-3, 0.5)},
            source="Abadi's main term with a 2 that is not there",
            note="Half of the published term is below the truth.",
            examples=[
                ({"moment": 7.0, "noise_multiplier": 4.0, "sample_rate": 0.01},
                 "0.00017676768", "0.00018129386"),
            ],
        ),
        Misprint(
            "little-o",
            r"D'_\alpha = o(q^2 D_\alpha)",
            claim=lambda: 0.0,
            oracle=_amplification_of_rdp,
            source="lecture notes",
            note="The ratio tends to sigma^2 (e^(1/sigma^2) - 1), which is above 1.",
            seen=("F20",),
        ),
        Misprint(
            "epsilon-too",
            r"\varepsilon(q) = \varepsilon(10q)/100 \text{ at fixed } \delta",
            claim=_a_hundredth,
            requires="noise_multiplier > 0 and 10*sample_rate < 1",
            kind="identity",
            along={},
            domain={"moment": None, **_RUN},
            oracle=_certified_epsilon,
            source="lecture notes: the privacy bound is proportional to the square of the rate",
            note="True of Rényi divergences; epsilon at a fixed delta is nearly proportional to q.",
            seen=("F14",),
        ),
    ],
)  # fmt: skip
def small_rate_log_moment(*, moment: float, noise_multiplier: float, sample_rate: float) -> float:
    """Log moment K(lambda) of the sampled Gaussian in the limit of a small sample rate.

    Parameters
    ----------
    moment : float
        lambda > 0; K is lambda times the Rényi divergence of order lambda + 1.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    sample_rate : float
        q; the more moments, and the less noise, the smaller it must be.

    Returns
    -------
    float
        Approximation, nats, not a bound.

    References
    ----------
    Abadi et al. (2016), Lemma 3; Mironov, Talwar & Zhang (2019).

    Examples
    --------
    >>> found = small_rate_log_moment(moment=7, noise_multiplier=4.0, sample_rate=0.01)
    >>> round(found, 9)
    0.000180584
    """
    gain = math.expm1(1 / noise_multiplier**2)
    return 0.5 * sample_rate**2 * moment * (moment + 1) * gain


formula(
    "G-E9b",
    title="Sampled Gaussian: Rényi divergences of both orders",
    kind="upper",
    statement=r"""D_\alpha(\mu_0\Vert\mu) \le D_\alpha(\mu\Vert\mu_0),\quad
        \mu_0 = N(0, \sigma^2),\ \mu = (1-q)\mu_0 + qN(1, \sigma^2)""",
    requires="order > 1 and " + _PROPER,
    reference=Reference(_MTZ, 2019, "Theorem 5"),
    domain={"order": Log(1.1, 64.0), **_FRACTIONAL},
    oracle=samples.sampled_renyi_added,
    tolerance=1e-8,
    absolute=1e-12,
    points=60,
    examples=[
        ({"order": 8.0, "noise_multiplier": 0.7, "sample_rate": 0.5}, "7.3711", "0.48557"),
    ],
)(sampled_gaussian_rdp)


# Closed bounds


def _refuse_unless(good: bool, conditions: str) -> None:
    if not good:
        raise ValueError(f"Expected {conditions}: nothing is proved elsewhere.")


def _much_noise(*, order: float, noise_multiplier: float, sample_rate: float) -> bool:
    """sigma >= 4, 0 < q <= 1/5 and 1 < order below the two limits of the theorem"""
    q, s = sample_rate, noise_multiplier
    if not (0 < q <= 0.2 and s >= 4 and order > 1):
        return False
    log = math.log1p(1 / (q * (order - 1)))
    first = 0.5 * s**2 * log - 2 * math.log(s)
    second = 0.5 * s**2 * log**2 - math.log(5) - 2 * math.log(s)
    return order <= first and order * (log + math.log(q * order) + 0.5 / s**2) <= second


def _admitted(holds: Callable[..., bool], name: str) -> Given:
    """Orders or moments of a grid that meet a hypothesis, the largest one often."""

    def make(rng: Generator, drawn: Parameters) -> float:
        given = {k: drawn[k] for k in ("noise_multiplier", "sample_rate")}
        grid = np.geomspace(1.01, 2000.0, 120).round(3).tolist()
        good = [x for x in grid if holds(**{name: x}, **given)] or grid[:1]
        return good[-1] if rng.random() < 0.4 else good[int(rng.integers(len(good)))]

    return Given(make)


@formula(
    "G-E8",
    title="Closed bound on the sampled Gaussian: much noise",
    kind="upper",
    statement=r"""D_\alpha \le \frac{2q^2\alpha}{\sigma^2} \text{ if } L = \ln\Big(1
        + \frac1{q(\alpha-1)}\Big),\ \alpha \le \tfrac12\sigma^2L - 2\ln\sigma,\
        \alpha \le \frac{\sigma^2L^2/2 - \ln5 - 2\ln\sigma}{L + \ln(q\alpha)
        + 1/(2\sigma^2)}""",
    requires=_much_noise,
    reference=Reference(_MTZ, 2019, "Table 1, Theorem 11", checked=True),
    domain={
        "noise_multiplier": Log(4.0, 50.0),
        "sample_rate": Log(1e-3, 0.2),
        "order": _admitted(_much_noise, "order"),
    },
    oracle=samples.sampled_renyi,
    misprints=[
        Misprint(
            "any-order",
            r"D_\alpha \le 2q^2\alpha/\sigma^2 \text{ for } q \le \tfrac15,\ \sigma \ge 4",
            claim=lambda order, noise_multiplier, sample_rate: (
                2 * sample_rate**2 * order / noise_multiplier**2
            ),
            requires="0 < sample_rate and sample_rate <= 0.2 and noise_multiplier >= 4",
            domain={"order": Log(1.01, 1000.0)},
            source="the bound quoted without its conditions on the order",
            note="Beyond the phase transition the divergence is nearly that without sampling.",
        ),
    ],
)
def sampled_gaussian_rdp_much_noise(
    *, order: float, noise_multiplier: float, sample_rate: float
) -> float:
    r"""Upper bound :math:`2q^2\alpha/\sigma^2` on the divergence of the sampled Gaussian.

    Parameters
    ----------
    order : float
        alpha > 1; with L = ln(1 + 1/(q(alpha - 1))) at most sigma^2 L/2 - 2 ln sigma and
        (sigma^2 L^2/2 - ln 5 - 2 ln sigma)/(L + ln(q alpha) + 1/(2 sigma^2)).
    noise_multiplier : float
        sigma >= 4.
    sample_rate : float
        q in (0, 1/5].

    Returns
    -------
    float
        Nats, one step, add_remove.

    Raises
    ------
    ValueError
        Where the conditions are not met.

    References
    ----------
    Mironov, Talwar & Zhang (2019), Theorem 11.

    Examples
    --------
    >>> bound = sampled_gaussian_rdp_much_noise(order=8, noise_multiplier=4.0, sample_rate=0.01)
    >>> round(bound, 9)
    0.0001
    """
    good = _much_noise(order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    _refuse_unless(good, "sample_rate <= 0.2, noise_multiplier >= 4 and an order below both limits")
    return 2 * sample_rate**2 * order / noise_multiplier**2


def _truncated(*, order: float, noise_multiplier: float, sample_rate: float) -> bool:
    """q <= 1/10, sigma >= sqrt(5) and 1 < order <= sigma^2 ln(1/q) / 2"""
    q, s = sample_rate, noise_multiplier
    return 0 < q <= 0.1 and s**2 >= 5 and 1 < order <= 0.5 * s**2 * math.log(1 / q)


@formula(
    "G-E8b",
    title="Closed bound on the sampled Gaussian: truncated concentration",
    kind="upper",
    statement=r"D_\alpha \le \frac{6q^2\alpha}{\sigma^2}",
    requires=_truncated,
    reference=Reference("Bun, Dwork, Rothblum & Steinke", 2018, "Theorem 11"),
    domain={
        "noise_multiplier": Log(2.2360680, 50.0),
        "sample_rate": Log(1e-3, 0.1),
        "order": _admitted(_truncated, "order"),
    },
    oracle=samples.sampled_renyi,
    misprints=[
        Misprint(
            "any-order",
            r"D_\alpha \le 6q^2\alpha/\sigma^2 \text{ for } q \le \tfrac1{10},\ \sigma^2 \ge 5",
            claim=lambda order, noise_multiplier, sample_rate: (
                6 * sample_rate**2 * order / noise_multiplier**2
            ),
            requires="0 < sample_rate and sample_rate <= 0.1 and noise_multiplier**2 >= 5",
            domain={"order": Log(1.01, 1000.0)},
            source="the bound quoted without its condition on the order",
            note="The truncation in truncated concentrated DP is this condition.",
        ),
    ],
)
def sampled_gaussian_rdp_truncated(
    *, order: float, noise_multiplier: float, sample_rate: float
) -> float:
    r"""Upper bound :math:`6q^2\alpha/\sigma^2` on the divergence of the sampled Gaussian.

    Parameters
    ----------
    order : float
        1 < alpha <= sigma^2 ln(1/q) / 2.
    noise_multiplier : float
        sigma >= sqrt(5).
    sample_rate : float
        q in (0, 1/10].

    Returns
    -------
    float
        Nats, one step, add_remove.

    Raises
    ------
    ValueError
        Where the conditions are not met.

    References
    ----------
    Bun, Dwork, Rothblum & Steinke (2018), Theorem 11.

    Examples
    --------
    >>> bound = sampled_gaussian_rdp_truncated(order=8, noise_multiplier=4.0, sample_rate=0.01)
    >>> round(bound, 9)
    0.0003
    """
    good = _truncated(order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    _refuse_unless(
        good, "sample_rate <= 0.1, noise_multiplier >= sqrt(5), order <= s^2 ln(1/q) / 2"
    )
    return 6 * sample_rate**2 * order / noise_multiplier**2


def _below_transition(*, moment: float, noise_multiplier: float, sample_rate: float) -> bool:
    """sigma >= 1, q < 1/(16 sigma) and 0 < lambda <= sigma^2 ln(1/(q sigma))"""
    q, s = sample_rate, noise_multiplier
    return s >= 1 and 0 < q < 1 / (16 * s) and 0 < moment <= s**2 * math.log(1 / (q * s))


@formula(
    "G-E8c",
    title="Main term of the moments accountant's lemma",
    kind="upper",
    statement=r"K(\lambda) \le \frac{q^2\lambda(\lambda+1)}{(1-q)\sigma^2}",
    requires=_below_transition,
    reference=Reference("Abadi et al.", 2016, "Lemma 3, without its remainder", checked=True),
    domain={
        "noise_multiplier": Log(1.0, 20.0),
        "sample_rate": Log(1e-4, 0.06),
        "moment": _admitted(_below_transition, "moment"),
    },
    oracle=samples.log_moment,
    examples=[
        ({"moment": 7.0, "noise_multiplier": 4.0, "sample_rate": 0.01},
         "0.00035353535", "0.00018129386"),
    ],
    misprints=[
        Misprint(
            "any-moment",
            r"K(\lambda) \le \frac{q^2\lambda(\lambda+1)}{(1-q)\sigma^2} + O(q^3/\sigma^3)",
            claim=lambda moment, noise_multiplier, sample_rate: (
                sample_rate**2 * moment * (moment + 1)
                / ((1 - sample_rate) * noise_multiplier**2)
            ),
            requires=_PROPER + " and moment > 0",
            domain={
                "moment": Log(1.0, 64.0),
                "noise_multiplier": Log(0.5, 10.0),
                "sample_rate": Log(1e-3, 0.3),
            },
            source="lecture notes and summaries",
            note="The remainder grows with lambda^3, and the conditions keep it small.",
            seen=("F44",),
        ),
    ],
)  # fmt: skip
def log_moment_main_term(*, moment: float, noise_multiplier: float, sample_rate: float) -> float:
    r"""Bound :math:`q^2\lambda(\lambda+1)/((1-q)\sigma^2)` on the log moment K(lambda).

    The lemma adds a remainder :math:`O(q^3\lambda^3/\sigma^3)`. That the main term alone is
    enough within the conditions is seen by computation, not proved.

    Parameters
    ----------
    moment : float
        0 < lambda <= sigma^2 ln(1/(q sigma)).
    noise_multiplier : float
        sigma >= 1.
    sample_rate : float
        q in (0, 1/(16 sigma)).

    Returns
    -------
    float
        Nats, one step, add_remove.

    Raises
    ------
    ValueError
        Where the conditions are not met.

    References
    ----------
    Abadi et al. (2016), Lemma 3.

    Examples
    --------
    >>> round(log_moment_main_term(moment=7, noise_multiplier=4.0, sample_rate=0.01), 9)
    0.000353535
    """
    good = _below_transition(
        moment=moment, noise_multiplier=noise_multiplier, sample_rate=sample_rate
    )
    _refuse_unless(good, "noise_multiplier >= 1, q < 1/(16 sigma), lambda <= s^2 ln(1/(q s))")
    return sample_rate**2 * moment * (moment + 1) / ((1 - sample_rate) * noise_multiplier**2)
