"""The Poisson-sampled Gaussian: its Rényi divergences, exactly, in closed bounds, in the limit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln, gammasgn, log_ndtr, xlog1py

from dplearn.book.chapters.amplification import truths as amplification_truths
from dplearn.book.chapters.divergences.entries import renyi_gaussian
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Drawn, Log, Parameters, Whole
from dplearn.book.kit.entry import Interval, enter, formula, given, oracle, printed, typed, wrong
from dplearn.engine.contour import worse_brackets
from dplearn.ground import validate
from dplearn.ground.logspace import log_comb, log_expm1

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


@formula("G-E4", "Rényi divergence of the sampled Gaussian, whole orders", "identity",
         "Mironov, Talwar & Zhang 2019, Section 3.3")
@given("order >= 2 and floor(order) == order and " + _RATE, order=Whole(2, 256), **_SAMPLED)
@oracle(amplification_truths.sampled_renyi, tolerance=1e-8, absolute=1e-14)
@printed("0.0008936439076", order=8, noise_multiplier=1.0, sample_rate=0.01)
@printed("11.24627594", order=32, noise_multiplier=1.0, sample_rate=0.01)
@printed("0.00005360", order=2, noise_multiplier=0.5, sample_rate=1e-3)
@printed("12.325", order=10, noise_multiplier=0.5, sample_rate=1e-3)
@printed("513.07", order=260, noise_multiplier=0.5, sample_rate=1e-3)
@wrong("plus", "E[(dN(1)/dN(0))^k] has k^2 - k: at k = 1 it is 1.", claim=_with_plus,
       says=r"\dots e^{(k^2+k)/2\sigma^2}")
@wrong("shifted-order", "The log moment of lambda sums powers up to lambda + 1.",
       claim=_order_shifted,
       says=r"\dots \text{ for order } \alpha - 1, \text{ divided by } \alpha - 1",
       given="order >= 3 and floor(order) == order and " + _RATE)
@wrong("no-factor", "The logarithm of the sum is (alpha - 1) times the divergence.",
       claim=_log_power_sum, says=r"D_\alpha = \ln\sum_{k=0}^\alpha \dots")
@wrong("normal-mean", "A mixture of two is not normal: its divergence is finite at every order.",
       printed("0.00001202", order=2, noise_multiplier=0.5, sample_rate=1e-3),
       printed("0.0000616", order=10, noise_multiplier=0.5, sample_rate=1e-3),
       printed("inf", order=260, noise_multiplier=0.5, sample_rate=1e-3), claim=_mean_as_normal,
       says=r"D_\alpha\big(N(q, \sigma^2 + q(1-1/n))\,\Vert\,N(0, \sigma^2)\big)")
def sampled_gaussian_rdp_integer(
    *, order: int, noise_multiplier: float, sample_rate: float
) -> float:
    r"""D_\alpha = \frac1{\alpha-1}\ln\sum_{k=0}^\alpha\binom\alpha k
    (1-q)^{\alpha-k}q^k e^{(k^2-k)/2\sigma^2}"""
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


@formula("G-E5", "Rényi divergence of the sampled Gaussian, any order", "identity",
         "Mironov, Talwar & Zhang 2019, Section 3.3")
@given("order > 1 and " + _PROPER, order=Log(1.02, 300.0), **_FRACTIONAL)
@oracle(amplification_truths.sampled_renyi, tolerance=1e-8, absolute=1e-11)
@printed("0.00001300142", order=1.5, noise_multiplier=2.5, sample_rate=0.01)
@printed("0.01173459", order=1.5, noise_multiplier=1.0, sample_rate=0.1)
@printed("1.493370", order=5.5, noise_multiplier=0.8, sample_rate=0.1)
@wrong("no-signs",
       "Generalised binomials alternate in sign from k > alpha on; safe, but too large.",
       printed("0.00001341159", order=1.5, noise_multiplier=2.5, sample_rate=0.01),
       claim=_absolute_series, says=r"\dots\Big|\binom\alpha k\Big|\dots",
       met="dp-accounting 0.6.0, fractional orders")
@wrong("interpolated", "The log moments are convex in the order, the divergences need not be.",
       printed("1.492871", order=5.5, noise_multiplier=0.8, sample_rate=0.1), claim=_between_orders,
       says=r"D_\alpha "
       r"\le (1 - \{\alpha\})D_{\lfloor\alpha\rfloor} + \{\alpha\}D_{\lfloor\alpha\rfloor+1}",
       kind="upper", order=Log(2.0, 100.0))
def sampled_gaussian_rdp(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    r"""D_\alpha = \frac1{\alpha-1}\ln\sum_{k=0}^\infty\binom\alpha k\Big[
    (1-q)^{\alpha-k}q^k e^{\frac{k^2-k}{2\sigma^2}}\Phi\Big(\frac{z_1-k}\sigma\Big)
    + (1-q)^kq^{\alpha-k}e^{\frac{(\alpha-k)^2-(\alpha-k)}{2\sigma^2}}
    \Phi\Big(\frac{\alpha-k-z_1}\sigma\Big)\Big],\quad
    z_1 = \tfrac12 + \sigma^2\ln\tfrac{1-q}q"""
    validate.positive(noise_multiplier=noise_multiplier)
    validate.probability(sample_rate=sample_rate)
    if not order > 1:
        raise ValueError(f"Expected order > 1, got order={order!r}.")
    sign, logs = _erfc_terms(order, noise_multiplier, sample_rate)
    top = float(np.max(logs))
    parts = np.cumsum(sign * np.exp(logs - top))
    # The mean of the last two sums of an alternating series is much closer than either.
    return max((top + math.log(0.5 * float(parts[-1] + parts[-2]))) / (order - 1), 0.0)


@formula("G-E5b", "Log moments interpolated between whole orders", "upper",
         "van Erven & Harremoës 2014, Corollary 2")
@given("order >= 2 and " + _RATE, order=Log(2.0, 200.0), **_SAMPLED)
@oracle(amplification_truths.sampled_renyi, tolerance=1e-8, absolute=1e-14)
def interpolated_rdp(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    r"""(\alpha-1)D_\alpha \le (1 - \{\alpha\})(\lfloor\alpha\rfloor-1)
    D_{\lfloor\alpha\rfloor} + \{\alpha\}\lfloor\alpha\rfloor D_{\lfloor\alpha\rfloor+1}

    The cumulant generating function (alpha - 1) D_alpha is convex; parameters and units as in
    `sampled_gaussian_rdp_integer`."""
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
    mixture = amplification_truths.log_mixture(
        amplification_truths.sampled(sample_rate, distance), noise_multiplier
    )
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


@formula("G-E6", "Rényi divergence after sampling without replacement", "upper",
         "Wang, Balle & Kasiviswanathan 2019, Theorem 9")
@given("order >= 2 and floor(order) == order and distance > 0 and " + _RATE, order=Whole(2, 32),
       **_SAMPLED, distance=Choice(1.0, 2.0))
@oracle(_subset_renyi, tolerance=1e-8, absolute=1e-10, points=60)
@printed("0.00268417", "0.000893644", **_WANG_EXAMPLE)
@wrong("for-poisson", "A bound on it for Gaussian noise, but several times too large.",
       printed("0.00268417", "0.000893644", **_WANG_EXAMPLE),
       says=r"\text{the divergence of Poisson sampling}", kind="identity",
       oracle=amplification_truths.sampled_renyi, distance=Choice(1.0))
@wrong("own-norm", "A replaced contribution moves the sum by up to 2C.",
       says=r"\varepsilon(j) = \frac{jC^2}{2\sigma^2} \text{ for a record that is replaced}",
       oracle=_subset_renyi_of_replaced, distance=Choice(1.0))
def without_replacement_rdp(
    *, order: int, noise_multiplier: float, sample_rate: float, distance: float = 2.0
) -> float:
    r"""D'_\alpha \le \frac1{\alpha-1}\ln\Big(1
    + q^2\binom\alpha2\min\{4(e^{\varepsilon(2)}-1), 2e^{\varepsilon(2)}\}
    + \sum_{j=3}^\alpha 2q^j\binom\alpha j e^{(j-1)\varepsilon(j)}\Big),\quad
    \varepsilon(j) = \frac{j\Delta^2}{2\sigma^2}"""
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
    found = amplification_truths.log_moment(
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


@formula("G-E7", "Log moments of the sampled Gaussian for a small rate", "asymptotic",
         "Abadi et al. 2016, Lemma 3, its main term made exact")
@given("moment > 0 and noise_multiplier > 0", along={"sample_rate": (1e-2, 1e-3, 1e-4, 1e-5)},
       moment=Log(0.5, 8.0), noise_multiplier=Log(1.2, 20.0))
@oracle(amplification_truths.log_moment, tolerance=1e-3, absolute=1e-14)
@typed("rdp", "poisson_subsampled_gaussian", "q^2*alpha*(exp(1/sigma^2)-1)/2")
@printed("0.00018058448", "0.00018129386", moment=7.0, noise_multiplier=4.0, sample_rate=0.01)
@wrong("base-times-square",
       "Too small by sigma^2 (e^(1/sigma^2) - 1) > 1 even as the rate goes to 0.",
       claim="sample_rate**2 * moment * (moment + 1) / (2 * noise_multiplier**2)", kind="upper",
       along={}, sample_rate=Log(1e-3, 0.5))
@wrong("one-minus-rate", "Half of the published term is below the truth.", printed("0.00017676768",
       "0.00018129386", moment=7.0, noise_multiplier=4.0, sample_rate=0.01), claim="sample_rate**2 "
       "* moment * (moment + 1) / (2 * noise_multiplier**2 * (1 - sample_rate))", kind="upper",
       along={}, sample_rate=Log(1e-3, 0.5))
@wrong("little-o", "The ratio tends to sigma^2 (e^(1/sigma^2) - 1), which is above 1.", claim="0.0",
       oracle=_amplification_of_rdp)
@wrong("epsilon-too",
       "True of Rényi divergences; epsilon at a fixed delta is nearly proportional to q.",
       claim=_a_hundredth, says=r"\varepsilon(q) = \varepsilon(10q)/100 \text{ at fixed } \delta",
       given="noise_multiplier > 0 and 10*sample_rate < 1", kind="identity",
       oracle=_certified_epsilon, along={}, moment=None, **_RUN)
def small_rate_log_moment(*, moment: float, noise_multiplier: float, sample_rate: float) -> float:
    r"""K(\lambda) = \lambda D_{\lambda+1}
    = \tfrac12q^2\lambda(\lambda+1)(e^{1/\sigma^2}-1)(1 + o(1)),\quad q \to 0"""
    gain = math.expm1(1 / noise_multiplier**2)
    return 0.5 * sample_rate**2 * moment * (moment + 1) * gain


enter(
    sampled_gaussian_rdp,
    formula("G-E9b", "Sampled Gaussian: Rényi divergences of both orders", "upper",
            "Mironov, Talwar & Zhang 2019, Theorem 5", statement=r"D_\alpha(\mu_0\Vert\mu) \le "
            r"D_\alpha(\mu\Vert\mu_0),\quad \mu_0 = N(0, \sigma^2),\ \mu = (1-q)\mu_0 + qN(1, "
            r"\sigma^2)"),
    given("order > 1 and " + _PROPER, order=Log(1.1, 64.0), **_FRACTIONAL),
    oracle(amplification_truths.sampled_renyi_added, tolerance=1e-8, absolute=1e-12, points=60),
    printed("7.3711", "0.48557", order=8.0, noise_multiplier=0.7, sample_rate=0.5),
)


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


def _admitted(holds: Callable[..., bool], name: str) -> Drawn:
    """Orders or moments of a grid that meet a hypothesis, the largest one often."""

    def make(rng: Generator, drawn: Parameters) -> float:
        given = {k: drawn[k] for k in ("noise_multiplier", "sample_rate")}
        grid = np.geomspace(1.01, 2000.0, 120).round(3).tolist()
        good = [x for x in grid if holds(**{name: x}, **given)] or grid[:1]
        return good[-1] if rng.random() < 0.4 else good[int(rng.integers(len(good)))]

    return Drawn(make)


@formula("G-E8", "Closed bound on the sampled Gaussian: much noise", "upper",
         "Mironov, Talwar & Zhang 2019, Table 1, Theorem 11")
@given(_much_noise, noise_multiplier=Log(4.0, 50.0), sample_rate=Log(1e-3, 0.2),
       order=_admitted(_much_noise, "order"))
@oracle(amplification_truths.sampled_renyi)
@typed("rdp", "poisson_subsampled_gaussian", "2*q^2*alpha/sigma^2")
@wrong("any-order", "Beyond the phase transition the divergence is nearly that without sampling.",
       claim="2 * sample_rate**2 * order / noise_multiplier**2",
       says=r"D_\alpha \le 2q^2\alpha/\sigma^2 \text{ for } q \le \tfrac15,\ \sigma \ge 4",
       given="0 < sample_rate and sample_rate <= 0.2 and noise_multiplier >= 4",
       order=Log(1.01, 1000.0))
def sampled_gaussian_rdp_much_noise(
    *, order: float, noise_multiplier: float, sample_rate: float
) -> float:
    r"""D_\alpha \le \frac{2q^2\alpha}{\sigma^2} \text{ if } L = \ln\Big(1
    + \frac1{q(\alpha-1)}\Big),\ \alpha \le \tfrac12\sigma^2L - 2\ln\sigma,\
    \alpha \le \frac{\sigma^2L^2/2 - \ln5 - 2\ln\sigma}{L + \ln(q\alpha)
    + 1/(2\sigma^2)}"""
    good = _much_noise(order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    _refuse_unless(good, "sample_rate <= 0.2, noise_multiplier >= 4 and an order below both limits")
    return 2 * sample_rate**2 * order / noise_multiplier**2


def _truncated(*, order: float, noise_multiplier: float, sample_rate: float) -> bool:
    """q <= 1/10, sigma >= sqrt(5) and 1 < order <= sigma^2 ln(1/q) / 2"""
    q, s = sample_rate, noise_multiplier
    return 0 < q <= 0.1 and s**2 >= 5 and 1 < order <= 0.5 * s**2 * math.log(1 / q)


@formula("G-E8b", "Closed bound on the sampled Gaussian: truncated concentration", "upper",
         "Bun, Dwork, Rothblum & Steinke 2018, Theorem 11")
@given(_truncated, noise_multiplier=Log(2.2360680, 50.0), sample_rate=Log(1e-3, 0.1),
       order=_admitted(_truncated, "order"))
@oracle(amplification_truths.sampled_renyi)
@typed("rdp", "poisson_subsampled_gaussian", "6*q^2*alpha/sigma^2")
@wrong("any-order", "The truncation in truncated concentrated DP is this condition.",
       claim="6 * sample_rate**2 * order / noise_multiplier**2",
       says=r"D_\alpha \le 6q^2\alpha/\sigma^2 \text{ for } q \le \tfrac1{10},\ \sigma^2 \ge 5",
       given="0 < sample_rate and sample_rate <= 0.1 and noise_multiplier**2 >= 5",
       order=Log(1.01, 1000.0))
def sampled_gaussian_rdp_truncated(
    *, order: float, noise_multiplier: float, sample_rate: float
) -> float:
    r"""D_\alpha \le \frac{6q^2\alpha}{\sigma^2}"""
    good = _truncated(order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    _refuse_unless(
        good, "sample_rate <= 0.1, noise_multiplier >= sqrt(5), order <= s^2 ln(1/q) / 2"
    )
    return 6 * sample_rate**2 * order / noise_multiplier**2


def _below_transition(*, moment: float, noise_multiplier: float, sample_rate: float) -> bool:
    """sigma >= 1, q < 1/(16 sigma) and 0 < lambda <= sigma^2 ln(1/(q sigma))"""
    q, s = sample_rate, noise_multiplier
    return s >= 1 and 0 < q < 1 / (16 * s) and 0 < moment <= s**2 * math.log(1 / (q * s))


@formula("G-E8c", "Main term of the moments accountant's lemma", "upper",
         "Abadi et al. 2016, Lemma 3, without its remainder")
@given(_below_transition, noise_multiplier=Log(1.0, 20.0), sample_rate=Log(1e-4, 0.06),
       moment=_admitted(_below_transition, "moment"))
@oracle(amplification_truths.log_moment)
@typed("rdp", "poisson_subsampled_gaussian", "q^2*alpha/((1-q)*sigma^2)")
@printed("0.00035353535", "0.00018129386", moment=7.0, noise_multiplier=4.0, sample_rate=0.01)
@wrong("any-moment", "The remainder grows with lambda^3, and the conditions keep it small.",
       claim="sample_rate**2 * moment * (moment + 1) / ((1 - sample_rate) * noise_multiplier**2)",
       given=_PROPER + " and moment > 0", moment=Log(1.0, 64.0), noise_multiplier=Log(0.5, 10.0),
       sample_rate=Log(1e-3, 0.3))
def log_moment_main_term(*, moment: float, noise_multiplier: float, sample_rate: float) -> float:
    r"""K(\lambda) \le \frac{q^2\lambda(\lambda+1)}{(1-q)\sigma^2}

    The lemma adds a remainder :math:`O(q^3\lambda^3/\sigma^3)`. That the main term alone is
    enough within the conditions is seen by computation, not proved."""
    good = _below_transition(
        moment=moment, noise_multiplier=noise_multiplier, sample_rate=sample_rate
    )
    _refuse_unless(good, "noise_multiplier >= 1, q < 1/(16 sigma), lambda <= s^2 ln(1/(q s))")
    return sample_rate**2 * moment * (moment + 1) / ((1 - sample_rate) * noise_multiplier**2)
