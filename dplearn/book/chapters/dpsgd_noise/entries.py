"""Noise of private training: how much goes where, and what a run of noisy steps leaks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants.theorems import rdp_to_epsilon, rdp_to_epsilon_mironov
from dplearn.book.chapters.gaussian.entries import gaussian_epsilon
from dplearn.book.chapters.sampled_gaussian.entries import sampled_gaussian_rdp
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Choice, Log, Whole
from dplearn.book.kit.entry import Interval, enter, formula, given, oracle, printed, typed, wrong
from dplearn.engine.contour import SampledGaussian, log_moments, worse_brackets
from dplearn.ground import validate
from dplearn.ground.solve import maximise

# One update


def _gradients(dimension: int) -> NDArray:
    """Per-example gradients of all sizes, in both directions, that clipping has to deal with."""
    rng = np.random.default_rng(3)
    sizes = np.repeat([1e-6, 1e-2, 1.0, 1e6], 2) * np.tile([1.0, -1.0], 4)
    return sizes[:, None] * (1 + rng.random(dimension))


def _by_norm(gradients: NDArray, norm: float) -> NDArray:
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1.0, norm / lengths)


def _largest_change(clipped: NDArray, average: Callable[[NDArray], NDArray]) -> float:
    """Over every record that may leave."""
    whole = average(clipped)
    rest = (np.delete(clipped, k, axis=0) for k in range(len(clipped)))
    return max(float(np.linalg.norm(whole - average(r))) for r in rest)


def _needed_noise(
    *, noise_multiplier: float, max_grad_norm: float, expected_batch: float, dimension: int
) -> float:
    """noise_multiplier times the sensitivity of the clipped sum over a fixed denominator."""
    clipped = _by_norm(_gradients(dimension), max_grad_norm)
    change = _largest_change(clipped, lambda g: g.sum(axis=0) / expected_batch)
    return noise_multiplier * change


def _needed_noise_by_coordinate(
    *, noise_multiplier: float, max_grad_norm: float, expected_batch: float, dimension: int
) -> float:
    clipped = np.clip(_gradients(dimension), -max_grad_norm, max_grad_norm)
    change = _largest_change(clipped, lambda g: g.sum(axis=0) / expected_batch)
    return noise_multiplier * change


@formula("G-F1", "Noise of a DP-SGD update", "identity", "Abadi et al. 2016, Algorithm 1")
@given("noise_multiplier > 0 and max_grad_norm > 0 and expected_batch > 0",
       noise_multiplier=Log(0.1, 20.0), max_grad_norm=Log(0.01, 100.0),
       expected_batch=Log(1.0, 1e5), dimension=Choice(1, 10, 1000))
@oracle(_needed_noise, points=60)
@wrong("per-example", "Noise once per step is enough; this is the root of L times as much. Where "
       "the size of the lot is random, an empty one gets none at all.",
       claim="noise_multiplier * max_grad_norm / sqrt(expected_batch)")
@wrong("variance", "z C is the standard deviation.",
       claim="sqrt(noise_multiplier * max_grad_norm) / expected_batch",
       says=r"\text{noise of variance } zC \text{ on the sum}")
@wrong("by-coordinate", "A vector of d coordinates in [-C, C] may have norm C sqrt(d).",
       says=r"\text{the same with every coordinate clipped to } [-C, C]",
       oracle=_needed_noise_by_coordinate)
def update_noise(*, noise_multiplier: float, max_grad_norm: float, expected_batch: float) -> float:
    r"""\tilde g = \frac1L\Big(\sum_i\pi_C(g_i) + N(0, z^2C^2I)\Big):\quad
    \text{standard deviation } \frac{zC}L \text{ per coordinate of the mean}

    expected_batch: L = q N, a public number: not the size of the batch that was drawn"""
    validate.positive(
        noise_multiplier=noise_multiplier,
        max_grad_norm=max_grad_norm,
        expected_batch=expected_batch,
    )
    return noise_multiplier * max_grad_norm / expected_batch


# A run


def _certified(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> Interval:
    if sample_rate == 1:
        mu = math.sqrt(steps) / noise_multiplier
        exact = gaussian_epsilon(noise_multiplier=1 / mu, delta=delta)
        return Interval(exact, exact)
    low, high = worse_brackets([steps], sigma=noise_multiplier, q=sample_rate, delta=delta)
    return Interval(float(low[0]), float(high[0]))


def _certified_per_example(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float, batch: int
) -> Interval:
    """Every example brings its own noise: the sum has that of a `batch` of them."""
    return _certified(
        noise_multiplier=noise_multiplier * math.sqrt(batch),
        sample_rate=sample_rate,
        steps=steps,
        delta=delta,
    )


def _rdp(order: float, noise_multiplier: float, sample_rate: float) -> float:
    if sample_rate == 1:
        return order / (2 * noise_multiplier**2)
    return sampled_gaussian_rdp(
        order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate
    )


def _best_order(epsilon_at: Callable[[float], float]) -> float:
    """The order in (1.01, 10001) with the smallest epsilon, seen as a valley in ln(order - 1)."""
    least = maximise(
        lambda x: np.asarray(-epsilon_at(1 + math.exp(x))),
        lower=math.log(0.01), upper=math.log(1e4), shape=(),
    )  # fmt: skip
    return 1 + math.exp(float(least))


def _run_epsilon(
    convert: Callable[..., NDArray],
    noise_multiplier: float,
    sample_rate: float,
    steps: int,
    delta: float,
) -> float:
    validate.positive(noise_multiplier=noise_multiplier)
    validate.rate(sample_rate=sample_rate)
    validate.integer(minimum=1, steps=steps)
    validate.probability(delta=delta)

    def epsilon_at(order: float) -> float:
        rdp = steps * _rdp(order, noise_multiplier, sample_rate)
        return float(convert(order, rdp, delta=delta))

    return epsilon_at(_best_order(epsilon_at))


def _setting(sample_rate: float, noise_multiplier: float, steps: int) -> dict[str, float]:
    return {
        "noise_multiplier": noise_multiplier,
        "sample_rate": sample_rate,
        "steps": steps,
        "delta": 1e-5,
    }


def _mnist(noise_multiplier: float, steps: int) -> dict[str, float]:
    return _setting(256 / 60_000, noise_multiplier, steps)


_RUN = {
    "noise_multiplier": Log(0.5, 10.0),
    "sample_rate": Log(1e-3, 1.0),
    "steps": Whole(1, 10_000),
    "delta": Log(1e-9, 0.01),
}


_GIVEN = (
    "noise_multiplier > 0 and 0 < sample_rate and sample_rate <= 1 and steps >= 1"
    " and 0 < delta and delta < 1"
)


@formula("G-F1b", "Epsilon of a DP-SGD run, improved conversion", "upper",
         "Canonne, Kamath & Steinke 2020, Proposition 12")
@given(_GIVEN, **_RUN)
@oracle(_certified, tolerance=1e-7, points=20)
@printed("2.596642", "2.38169", **_mnist(1.1, 14_063))
@printed("1.035384", "0.946867", **_setting(0.01, 4.0, 10_000))
@wrong("per-example", "With L examples in every lot the multiplier is z sqrt(L), and utility is "
       "gone; with a random number of them the amount of noise gives the lot away.",
       says=r"\varepsilon \text{ of } z \text{ where every example brings noise } N(0, z^2C^2I)",
       kind="identity", oracle=_certified_per_example, sample_rate=Log(1e-3, 0.5),
       batch=Choice(64, 256, 600))
@wrong("noise-alone", "The rate, the number of steps and delta count as much.",
       printed("4.3772", "0.148901", **_setting(0.001, 1.0, 1000)), claim=lambda noise_multiplier,
       delta: gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta),
       says=r"\varepsilon \text{ depends on } z \text{ alone}", kind="identity")
def dpsgd_epsilon(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z) + \ln\frac{\alpha-1}\alpha
    - \frac{\ln\delta + \ln\alpha}{\alpha-1}"""
    return _run_epsilon(rdp_to_epsilon, noise_multiplier, sample_rate, steps, delta)


@formula("G-F1c", "Epsilon of a DP-SGD run, first conversion", "upper",
         "Mironov 2017, Proposition 3")
@given(_GIVEN, **_RUN)
@oracle(_certified, tolerance=1e-7, points=20)
@printed("3.008372", "2.38169", **_mnist(1.1, 14_063))
def dpsgd_epsilon_mironov(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z)
    + \frac{\ln(1/\delta)}{\alpha-1}

    Parameters, units and errors as in `dpsgd_epsilon`, which is always smaller."""
    return _run_epsilon(rdp_to_epsilon_mironov, noise_multiplier, sample_rate, steps, delta)


def _log_moment(moment: ArrayLike, noise_multiplier: float, sample_rate: float) -> NDArray:
    """K(lambda) of one step by an integral."""
    moment = np.asarray(moment, dtype=float)
    if sample_rate == 1:
        return moment * (moment + 1) / (2 * noise_multiplier**2)
    return log_moments(SampledGaussian(noise_multiplier, sample_rate, "remove"), moment)


def _least(epsilon_at: Callable[[NDArray], NDArray], moments: NDArray, *, whole: bool) -> float:
    """The smallest value: on a coarse grid, then between the neighbours of the best point."""
    for _ in range(1 if whole else 3):
        k = int(np.argmin(epsilon_at(moments)))
        low, high = moments[max(k - 1, 0)], moments[min(k + 1, moments.size - 1)]
        moments = np.arange(low, high + 1) if whole else np.linspace(low, high, 50)
    return float(np.min(epsilon_at(moments)))


_ANY_MOMENT = np.geomspace(0.01, 5000.0, 60)


_WHOLE_MOMENT = np.unique(np.round(np.geomspace(2.0, 2000.0, 60)))


def _best_of_all_moments(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    """The smallest epsilon over all moments, whole or not."""

    def epsilon_at(moment: NDArray) -> NDArray:
        total = steps * _log_moment(moment, noise_multiplier, sample_rate)
        return (total - math.log(delta)) / moment

    return _least(epsilon_at, _ANY_MOMENT, whole=False)


def _best_of_whole_moments(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    def epsilon_at(moment: NDArray) -> NDArray:
        total = steps * _log_moment(moment, noise_multiplier, sample_rate)
        return (total - math.log(delta)) / moment

    return _least(epsilon_at, np.append(1.0, _WHOLE_MOMENT), whole=True)


def _shifted(*, noise_multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    """(alpha - 1) D_alpha taken for K(alpha), whole alpha from 2 on."""

    def epsilon_at(order: NDArray) -> NDArray:
        total = steps * _log_moment(order - 1, noise_multiplier, sample_rate)
        return (total - math.log(delta)) / order

    return _least(epsilon_at, _WHOLE_MOMENT, whole=True)


def _order_kept(*, noise_multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    """K(alpha) / alpha taken for D_alpha instead of D_(alpha + 1)."""

    def epsilon_at(order: NDArray) -> NDArray:
        rdp = steps * _log_moment(order, noise_multiplier, sample_rate) / order
        return rdp - math.log(delta) / (order - 1)

    return _least(epsilon_at, _WHOLE_MOMENT, whole=True)


def _orders_to_32(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    moments = np.arange(1.0, 32.0)
    total = steps * _log_moment(moments, noise_multiplier, sample_rate)
    return float(np.min((total - math.log(delta)) / moments))


def _one_step(*, noise_multiplier: float, sample_rate: float, delta: float) -> float:
    moments = np.arange(1.0, 32.0)
    total = _log_moment(moments, noise_multiplier, sample_rate)
    return float(np.min((total - math.log(delta)) / moments))


def _root_of_steps(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    per_step = math.sqrt(2 * math.log(1.25 / delta)) / noise_multiplier
    return sample_rate * per_step * math.sqrt(steps)


_REFERENCE = _setting(0.01, 4.0, 10_000)


@formula("G-F2", "The moments accountant, and its reference run", "upper",
         "Abadi et al. 2016, Theorem 2; Section 5.1 for the run")
@given(_GIVEN, **_RUN)
@oracle(_certified, tolerance=1e-7, points=20)
@typed("epsilon", "poisson_subsampled_gaussian", "q*sqrt(T*log(1/delta))/sigma")
@printed("1.258575", "0.946867", **_REFERENCE)
@printed("2.575873", **_setting(0.01, 4.0, 40_000))
@printed("5.3026", "4.3772", **_setting(1.0, 1.0, 1))
@printed("11.7565", "9.9973", **_setting(1.0, 0.5, 1))
@printed("17.9951", "14.5924", **_setting(0.1, 0.7, 100))
@printed("16.8584", "13.3609", **_setting(0.01, 0.5, 1000))
@printed("14.9419", "11.0418", **_mnist(0.5, 3516))
@printed("28.5498", "25.2046", **_setting(0.1, 1.0, 1000))
@printed("3.0092", "2.3817", **_mnist(1.1, 14_063))
@wrong("shifted", "The log moment of lambda has the power lambda + 1; this is (alpha - 1) D_alpha.",
       printed("4.3026", **_setting(1.0, 1.0, 1)), printed("7.7565", **_setting(1.0, 0.5, 1)),
       printed("8.9976", **_setting(0.1, 0.7, 100)), printed("8.4292", **_setting(0.01, 0.5, 1000)),
       printed("7.4710", **_mnist(0.5, 3516)), printed("14.2749", **_setting(0.1, 1.0, 1000)),
       printed("1.1929", **_REFERENCE), printed("2.6492", **_mnist(1.1, 14_063)), claim=_shifted,
       says=r"K(\alpha) = \ln E_{\mu_0}[(\mu/\mu_0)^\alpha]")
@wrong("one-step", "K must be multiplied by the number of steps first.",
       printed("0.3715", **_REFERENCE), claim=_one_step,
       says=r"\varepsilon = \min_\lambda \frac{K(\lambda) + \ln(1/\delta)}\lambda")
@wrong("orders-to-32", "Little loss asks for orders in the thousands, much loss for ones near 1.",
       printed("0.37155", "0.0153815", **_setting(0.001, 10.0, 1000)),
       printed("61.92", "33.37683", **_setting(0.01, 0.4, 1000)), claim=_orders_to_32,
       says=r"\text{whole orders up to } 32 \text{ give the minimum}", kind="identity",
       oracle=_best_of_all_moments)
@wrong("order-kept", "True but one order too low: K/alpha is the divergence of order alpha + 1.",
       printed("1.29166", "1.258575", **_REFERENCE), claim=_order_kept,
       says=r"\text{the run is } (\alpha, \textstyle\sum K/\alpha)\text{-RDP, and no better}",
       kind="identity", oracle=_best_of_whole_moments)
@wrong("best", "It is an upper bound; the exact epsilon is a quarter smaller or so.",
       printed("1.258575", "0.946867", **_REFERENCE),
       says=r"\text{the minimum is the best } \varepsilon", kind="identity")
@wrong("root-of-steps", "It is inside eps_0, and beyond epsilon of about 1 the root is not enough.",
       claim=_root_of_steps,
       says=r"\varepsilon \le q\sqrt T\,\varepsilon_0,\ \varepsilon_0 = \sqrt{2\ln(1.25/\delta)}/z")
def moments_accountant(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    r"""\varepsilon \le \min_{\lambda\in\{1,2,\dots\}}
    \frac{T\,K(\lambda) + \ln(1/\delta)}\lambda,\quad
    K(\lambda) = \lambda D_{\lambda+1}(q, z)

    Parameters, units and errors as in `dpsgd_epsilon`."""
    validate.positive(noise_multiplier=noise_multiplier)
    validate.rate(sample_rate=sample_rate)
    validate.integer(minimum=1, steps=steps)
    validate.probability(delta=delta)

    def epsilon_at(order: float) -> float:
        total = steps * (order - 1) * _rdp(order, noise_multiplier, sample_rate)
        return (total - math.log(delta)) / (order - 1)

    # T K is convex in lambda: the best whole number is next to the best real one.
    below = max(1, math.floor(_best_order(epsilon_at) - 1))
    return min(epsilon_at(below + 1.0), epsilon_at(below + 2.0))


def clt_gdp_mu(*, noise_multiplier: float, sample_rate: float, steps: int) -> float:
    r"""Gaussian DP parameter :math:`q\sqrt{T(e^{1/z^2}-1)}` that a long run approaches.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps
        As in `dpsgd_epsilon`.

    Returns
    -------
    float
        Approximation for many steps and a small rate; no bound.

    References
    ----------
    Bu, Dong, Long & Su (2020); Dong, Roth & Su (2022).

    Examples
    --------
    >>> round(clt_gdp_mu(noise_multiplier=1.06, sample_rate=256 / 60_000, steps=4688), 4)
    0.35
    """
    return sample_rate * math.sqrt(steps * math.expm1(1 / noise_multiplier**2))


def clt_epsilon(*, noise_multiplier: float, sample_rate: float, steps: int, delta: float) -> float:
    """Epsilon of Gaussian noise with the parameter that a long run approaches.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps, delta
        As in `dpsgd_epsilon`.

    Returns
    -------
    float
        Approximation, nats; usually below the truth, hence no guarantee.

    References
    ----------
    Bu, Dong, Long & Su (2020).

    Examples
    --------
    >>> found = clt_epsilon(noise_multiplier=1.5, sample_rate=0.04, steps=2250, delta=1e-5)
    >>> round(found, 4)  # exact: 6.7688
    6.6016
    """
    mu = clt_gdp_mu(noise_multiplier=noise_multiplier, sample_rate=sample_rate, steps=steps)
    return gaussian_epsilon(noise_multiplier=1 / mu, delta=delta)


def clt_of_scaled(
    *, noise_multiplier: float, scaled_rate: float, steps: float, delta: float
) -> float:
    rate = scaled_rate / math.sqrt(steps)
    return clt_epsilon(
        noise_multiplier=noise_multiplier, sample_rate=rate, steps=int(steps), delta=delta
    )


def _certified_of_scaled(
    *, noise_multiplier: float, scaled_rate: float, steps: float, delta: float
) -> Interval:
    return _certified(
        noise_multiplier=noise_multiplier,
        sample_rate=scaled_rate / math.sqrt(steps),
        steps=int(steps),
        delta=delta,
    )


enter(
    clt_of_scaled,
    formula("G-F3", "Central limit of many sampled steps", "asymptotic",
            "Bu, Dong, Long & Su 2020, Theorem 5", statement=r"\varepsilon(\delta) \to "
            r"\varepsilon_{\mu\text{-GDP}}(\delta),\quad \mu = q\sqrt{T(e^{1/z^2}-1)},\quad T "
            r"\to \infty,\ q\sqrt T \text{ fixed}"),
    given("noise_multiplier > 0 and scaled_rate > 0 and 0 < delta and delta < 1",
          along={"steps": (1e4, 1e6, 1e8)}, noise_multiplier=Log(0.9, 10.0),
          scaled_rate=Log(0.2, 2.0), delta=Log(1e-6, 0.01)),
    oracle(_certified_of_scaled, tolerance=0.002, points=20),
    wrong("as-guarantee", "The limit is approached from below in most runs of interest.",
          printed("6.6015671", "6.76878", **_setting(0.04, 1.5, 2250)),
          printed("2.3243617", "2.38169", **_mnist(1.1, 14_063)),
          printed("1.341", "1.408", **_mnist(1.06, 4688)),
          printed("8.697", "9.477", **_mnist(0.638, 16_406)), claim=clt_epsilon,
          says=r"\varepsilon \le \varepsilon_{\mu\text{-GDP}}(\delta)", given=_GIVEN, kind="upper",
          oracle=_certified, along={}, **{**_RUN, "steps": Whole(100, 10_000), "sample_rate":
          Log(1e-3, 0.1), "scaled_rate": None}),
)


# Adaptive clipping


def _rest_by_quadrature(*, noise_multiplier: float, bit_noise: float, shift: float) -> float:
    """What the sum may leak, in order-2 Rényi divergences, once the count has had its part."""
    whole, bits = (
        oracles.density_renyi(
            oracles.log_normal(move, std), oracles.log_normal(0.0, std), 2.0,
            -60 * std - 10, 60 * std + 10,
        )
        for move, std in ((1.0, noise_multiplier), (shift, bit_noise))
    )  # fmt: skip
    return (whole - bits) ** -0.5


def _rest(*, noise_multiplier: float, bit_noise: float) -> float:
    """A shifted bit is 1/2 or -1/2, and 0 for a record that is absent."""
    return _rest_by_quadrature(noise_multiplier=noise_multiplier, bit_noise=bit_noise, shift=0.5)


def _rest_of_plain_bit(*, noise_multiplier: float, bit_noise: float) -> float:
    return _rest_by_quadrature(noise_multiplier=noise_multiplier, bit_noise=bit_noise, shift=1.0)


@formula("G-F5", "Noise left for the sum under adaptive clipping", "identity",
         "Andrew et al. 2021, Theorem 1")
@given("noise_multiplier > 0 and bit_noise > 0 and noise_multiplier < 2*bit_noise",
       noise_multiplier=Log(0.1, 20.0), bit_noise=Log(0.1, 100.0))
@oracle(_rest, tolerance=1e-7, points=60)
@printed("1.00503781526", noise_multiplier=1.0, bit_noise=5.0)
@wrong("for-free", "The count of clipped gradients is a release too.", claim="noise_multiplier")
@wrong("no-two", "A bit shifted by 1/2 moves the count by 1/2 only; more noise than needed.",
       claim="(noise_multiplier**(-2.0) - bit_noise**(-2.0))**(-0.5)",
       given="noise_multiplier > 0 and noise_multiplier < bit_noise")
@wrong("unshifted", "A plain bit moves the count by 1.",
       says=r"z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2} \text{ for bits in } \{0, 1\}",
       given="noise_multiplier > 0 and noise_multiplier < 0.99*bit_noise",
       oracle=_rest_of_plain_bit)
def adaptive_clipping_multiplier(*, noise_multiplier: float, bit_noise: float) -> float:
    r"""z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2}

    bit_noise: Standard deviation sigma_b of the noise on the sum of bits, each -1/2 or 1/2"""
    validate.positive(noise_multiplier=noise_multiplier, bit_noise=bit_noise)
    if noise_multiplier >= 2 * bit_noise:
        raise ValueError(
            f"Expected noise_multiplier < 2 bit_noise = {2 * bit_noise:g}, "
            f"got noise_multiplier={noise_multiplier!r}."
        )
    return (noise_multiplier**-2.0 - (2 * bit_noise) ** -2.0) ** -0.5


# The size of the batch


def _radius_by_quadrature(*, batch: int, dimension: int) -> float:
    """Order-2 divergence of the lengths of two Gaussian vectors, which tell all there is."""

    def log_length(std: float) -> oracles.Density:
        # Up to a constant that both laws share.
        return lambda r: (
            (dimension - 1) * np.log(r) - r * r / (2 * std**2) - dimension * math.log(std)
        )

    wide, narrow = log_length(1.0), log_length(batch / (batch + 1))
    far = 3 * math.sqrt(dimension) + 40
    norm, moment = (
        oracles.log_integral(f, 1e-9, far) for f in (narrow, lambda r: 2 * wide(r) - narrow(r))
    )
    return moment - norm


@formula("G-F6", "Noise divided by the realised batch size gives it away", "identity",
         "van Erven & Harremoës 2014, equation (10)")
@given("batch >= 3 and dimension >= 1", batch=Whole(3, 3000), dimension=Whole(1, 1_000_000))
@oracle(_radius_by_quadrature, tolerance=1e-6, absolute=1e-10, points=40)
@printed("0.00020205", batch=100, dimension=1)
@printed("202.05", batch=100, dimension=1_000_000)
@printed("30.6", batch=256, dimension=1_000_000)
@wrong("no-leak", "With Poisson sampling the size is private, and the noise shows it.", claim="0.0",
       says=r"\text{dividing sum and noise by } |B| \text{ is post-processing}: 0")
@wrong("one-coordinate",
       "Every coordinate carries noise of the same size: the divergence counts d times.",
       claim=lambda batch: realised_batch_divergence(batch=batch, dimension=1),
       says=r"D_2 = -\frac12\ln\big(1 - (1 - u^{-2})^2\big)")
def realised_batch_divergence(*, batch: int, dimension: int) -> float:
    r"""D_2\big(N(0, (\tfrac{zC}B)^2I_d)\,\Vert\,N(0, (\tfrac{zC}{B+1})^2I_d)\big)
    = -\frac d2\ln\big(1 - (1 - u^{-2})^2\big),\quad u = 1 - \tfrac1{B+1}"""
    validate.integer(minimum=3, batch=batch)
    validate.integer(minimum=1, dimension=dimension)
    # Ratio of the variances, minus 1.
    excess = (2 * batch + 1) / batch**2
    return -0.5 * dimension * math.log1p(-(excess**2))


def _two_sided_change(*, max_grad_norm: float, batch: int) -> float:
    """One gradient against all others, clipped and averaged over those that are there."""
    whole = np.full((batch, 3), -7e6)
    whole[0] = 5e6
    clipped = _by_norm(whole, max_grad_norm)
    return _largest_change(clipped, lambda g: g.mean(axis=0))


@formula("G-F6b", "Sensitivity of the mean over the realised batch", "identity",
         "Nissim, Raskhodnikova & Smith 2007, the local sensitivity of a mean")
@given("max_grad_norm > 0 and batch >= 2", max_grad_norm=Log(0.01, 100.0), batch=Whole(2, 300))
@oracle(_two_sided_change, points=40)
@wrong("fixed", "True of a fixed denominator; when it changes too, the multiplier is half.",
       claim="max_grad_norm / batch")
def realised_mean_sensitivity(*, max_grad_norm: float, batch: int) -> float:
    r"""\max\Big\lVert\frac1B\sum_{i\in B}g_i
    - \frac1{B-1}\sum_{i\in B\setminus j}g_i\Big\rVert = \frac{2C}B"""
    validate.positive(max_grad_norm=max_grad_norm)
    validate.integer(minimum=2, batch=batch)
    return 2 * max_grad_norm / batch


# Tree aggregation


def _nodes(leaves: int) -> list[range]:
    """All complete nodes of a binary tree over the steps."""
    sizes = (1 << j for j in range(leaves.bit_length()))
    return [range(k, k + n) for n in sizes for k in range(0, leaves - n + 1, n)]


def _tree_by_counting(*, leaves: int, noise_multiplier: float, participations: int = 1) -> float:
    """The largest sum over nodes of the order-2 divergence of their noisy sums, halved."""
    one = oracles.density_renyi(
        oracles.log_normal(1.0, noise_multiplier), oracles.log_normal(0.0, noise_multiplier),
        2.0, -60 * noise_multiplier - 10, 60 * noise_multiplier + 10,
    )  # fmt: skip
    # Entry i: the record takes part from step i on; a node sees the steps that fall into it.
    starts, total = np.arange(leaves - participations + 1), 0.0
    for node in _nodes(leaves):
        seen = np.minimum(starts + participations, node.stop) - np.maximum(starts, node.start)
        total = total + np.square(np.maximum(seen, 0))
    return 0.5 * one * float(np.max(total))


@formula("G-F10", "Tree aggregation, each record once", "identity",
         "Kairouz et al. 2021, Theorem 4.1")
@given("leaves >= 1 and noise_multiplier > 0", leaves=Whole(1, 300),
       noise_multiplier=Log(0.3, 30.0))
@oracle(_tree_by_counting, points=40)
@printed("4.307307", leaves=1600, noise_multiplier=1.13)
@wrong("one-node", "A record enters one node on every level.",
       claim="1 / (2 * noise_multiplier**2)")
@wrong("no-plus-one", "A full tree over 2^k steps has k + 1 levels.",
       claim="ceil(log2(leaves)) / (2 * noise_multiplier**2)")
@wrong("several-epochs", "A record that takes part k times adds up to k in the nodes above.",
       says=r"\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2} \text{ if a record takes part often}",
       given="leaves >= participations and noise_multiplier > 0", oracle=_tree_by_counting,
       participations=Choice(2, 3, 5))
def tree_aggregation_rho(*, leaves: int, noise_multiplier: float) -> float:
    r"""\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2}

    leaves: Steps n >= 1 in one tree; each record takes part in one of them"""
    validate.integer(minimum=1, leaves=leaves)
    validate.positive(noise_multiplier=noise_multiplier)
    return leaves.bit_length() / (2 * noise_multiplier**2)
