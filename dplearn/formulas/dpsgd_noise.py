"""Noise of private training: how much goes where, and what a run of noisy steps leaks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.contour import SampledGaussian, log_moments, worse_brackets
from dplearn.formulas import _oracles as oracles
from dplearn.formulas._base import Interval, Misprint, formula
from dplearn.formulas._domains import Choice, Log, Whole
from dplearn.formulas.conversion import rdp_to_epsilon, rdp_to_epsilon_mironov
from dplearn.formulas.gaussian import gaussian_epsilon
from dplearn.formulas.sampled_gaussian import sampled_gaussian_rdp
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference
from dplearn.ground.solve import maximise

_ABADI = "Abadi et al."

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


@formula(
    "G-F1",
    title="Noise of a DP-SGD update",
    kind="identity",
    statement=r"""\tilde g = \frac1L\Big(\sum_i\pi_C(g_i) + N(0, z^2C^2I)\Big):\quad
        \text{standard deviation } \frac{zC}L \text{ per coordinate of the mean}""",
    requires="noise_multiplier > 0 and max_grad_norm > 0 and expected_batch > 0",
    reference=Reference(_ABADI, 2016, "Algorithm 1"),
    domain={
        "noise_multiplier": Log(0.1, 20.0),
        "max_grad_norm": Log(0.01, 100.0),
        "expected_batch": Log(1.0, 1e5),
        "dimension": Choice(1, 10, 1000),
    },
    oracle=_needed_noise,
    points=60,
    misprints=[
        Misprint(
            "per-example",
            r"\tilde g = \frac1L\sum_i\big(\pi_C(g_i) + N(0, z^2C^2I)\big)",
            claim=lambda noise_multiplier, max_grad_norm, expected_batch: (
                noise_multiplier * max_grad_norm / math.sqrt(expected_batch)
            ),
            source="an early edition of lecture notes",
            note="Noise once per step is enough; this is the root of L times as much. "
            "Where the size of the lot is random, an empty one gets none at all.",
            seen=("F53", "F56", "F58"),
        ),
        Misprint(
            "variance",
            r"\text{noise of variance } zC \text{ on the sum}",
            claim=lambda noise_multiplier, max_grad_norm, expected_batch: (
                math.sqrt(noise_multiplier * max_grad_norm) / expected_batch
            ),
            source="documentation of training libraries, quoted from memory",
            note="z C is the standard deviation.",
            seen=("F51", "F57"),
        ),
        Misprint(
            "by-coordinate",
            r"\text{the same with every coordinate clipped to } [-C, C]",
            oracle=_needed_noise_by_coordinate,
            source="lecture notes",
            note="A vector of d coordinates in [-C, C] may have norm C sqrt(d).",
            seen=("F10",),
        ),
    ],
)
def update_noise(*, noise_multiplier: float, max_grad_norm: float, expected_batch: float) -> float:
    """Standard deviation z C / L of the noise in each coordinate of the averaged gradient.

    Parameters
    ----------
    noise_multiplier : float
        z > 0.
    max_grad_norm : float
        C > 0, L2 clipping norm of a per-example gradient.
    expected_batch : float
        L = q N, a public number: not the size of the batch that was drawn.

    Returns
    -------
    float
        In units of the gradient, for add_remove neighbours.

    References
    ----------
    Abadi et al. (2016), Algorithm 1.

    Examples
    --------
    >>> update_noise(noise_multiplier=1.5, max_grad_norm=2.0, expected_batch=100)
    0.03
    """
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


@formula(
    "G-F1b",
    title="Epsilon of a DP-SGD run, improved conversion",
    kind="upper",
    statement=r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z) + \ln\frac{\alpha-1}\alpha
        - \frac{\ln\delta + \ln\alpha}{\alpha-1}""",
    requires=_GIVEN,
    reference=Reference("Canonne, Kamath & Steinke", 2020, "Proposition 12"),
    domain=_RUN,
    oracle=_certified,
    tolerance=1e-7,
    points=20,
    examples=[
        (_mnist(1.1, 14_063), "2.596642", "2.38169"),
        (_setting(0.01, 4.0, 10_000), "1.035384", "0.946867"),
    ],
    misprints=[
        Misprint(
            "per-example",
            r"\varepsilon \text{ of } z \text{ where every example brings noise } N(0, z^2C^2I)",
            kind="identity",
            domain={"sample_rate": Log(1e-3, 0.5), "batch": Choice(64, 256, 600)},
            oracle=_certified_per_example,
            source="an early edition of lecture notes",
            note="With L examples in every lot the multiplier is z sqrt(L), and utility is gone; "
            "with a random number of them the amount of noise gives the lot away.",
            seen=("F56", "F58"),
        ),
        Misprint(
            "noise-alone",
            r"\varepsilon \text{ depends on } z \text{ alone}",
            claim=lambda noise_multiplier, delta: gaussian_epsilon(
                noise_multiplier=noise_multiplier, delta=delta
            ),
            kind="identity",
            source="lecture notes, where z = 1 is recommended for that reason",
            note="The rate, the number of steps and delta count as much.",
            seen=("F67",),
            examples=[(_setting(0.001, 1.0, 1000), "4.3772", "0.148901")],
        ),
    ],
)
def dpsgd_epsilon(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    """Epsilon of a DP-SGD run by Rényi divergences and the improved conversion.

    Parameters
    ----------
    noise_multiplier : float
        z > 0.
    sample_rate : float
        q in (0, 1], Poisson sampling.
    steps : int
        T >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Upper bound, nats, add_remove; about a tenth above the exact value.

    References
    ----------
    Mironov, Talwar & Zhang (2019); Canonne, Kamath & Steinke (2020), Proposition 12.

    Examples
    --------
    >>> round(dpsgd_epsilon(noise_multiplier=4.0, sample_rate=0.01, steps=10_000, delta=1e-5), 4)
    1.0354
    """
    return _run_epsilon(rdp_to_epsilon, noise_multiplier, sample_rate, steps, delta)


@formula(
    "G-F1c",
    title="Epsilon of a DP-SGD run, first conversion",
    kind="upper",
    statement=r"""\varepsilon \le \min_{\alpha>1} T\,D_\alpha(q, z)
        + \frac{\ln(1/\delta)}{\alpha-1}""",
    requires=_GIVEN,
    reference=Reference("Mironov", 2017, "Proposition 3"),
    domain=_RUN,
    oracle=_certified,
    tolerance=1e-7,
    points=20,
    examples=[(_mnist(1.1, 14_063), "3.008372", "2.38169")],
)
def dpsgd_epsilon_mironov(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    """Epsilon of a DP-SGD run by Rényi divergences and the first conversion.

    Parameters, units and errors as in `dpsgd_epsilon`, which is always smaller.

    References
    ----------
    Mironov (2017), Proposition 3.

    Examples
    --------
    >>> found = dpsgd_epsilon_mironov(
    ...     noise_multiplier=4.0, sample_rate=0.01, steps=10_000, delta=1e-5
    ... )
    >>> round(found, 3)
    1.258
    """
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


@formula(
    "G-F2",
    title="The moments accountant, and its reference run",
    kind="upper",
    statement=r"""\varepsilon \le \min_{\lambda\in\{1,2,\dots\}}
        \frac{T\,K(\lambda) + \ln(1/\delta)}\lambda,\quad
        K(\lambda) = \lambda D_{\lambda+1}(q, z)""",
    requires=_GIVEN,
    reference=Reference(_ABADI, 2016, "Theorem 2; Section 5.1 for the run", checked=True),
    domain=_RUN,
    oracle=_certified,
    tolerance=1e-7,
    points=20,
    examples=[
        (_REFERENCE, "1.258575", "0.946867"),
        (_setting(0.01, 4.0, 40_000), "2.575873"),
        (_setting(1.0, 1.0, 1), "5.3026", "4.3772"),
        (_setting(1.0, 0.5, 1), "11.7565", "9.9973"),
        (_setting(0.1, 0.7, 100), "17.9951", "14.5924"),
        (_setting(0.01, 0.5, 1000), "16.8584", "13.3609"),
        (_mnist(0.5, 3516), "14.9419", "11.0418"),
        (_setting(0.1, 1.0, 1000), "28.5498", "25.2046"),
        (_mnist(1.1, 14_063), "3.0092", "2.3817"),
    ],
    misprints=[
        Misprint(
            "shifted",
            r"K(\alpha) = \ln E_{\mu_0}[(\mu/\mu_0)^\alpha]",
            claim=_shifted,
            source="lecture notes",
            note="The log moment of lambda has the power lambda + 1; this is (alpha - 1) D_alpha.",
            seen=("F39",),
            examples=[
                (_setting(1.0, 1.0, 1), "4.3026"),
                (_setting(1.0, 0.5, 1), "7.7565"),
                (_setting(0.1, 0.7, 100), "8.9976"),
                (_setting(0.01, 0.5, 1000), "8.4292"),
                (_mnist(0.5, 3516), "7.4710"),
                (_setting(0.1, 1.0, 1000), "14.2749"),
                (_REFERENCE, "1.1929"),
                (_mnist(1.1, 14_063), "2.6492"),
            ],
        ),
        Misprint(
            "one-step",
            r"\varepsilon = \min_\lambda \frac{K(\lambda) + \ln(1/\delta)}\lambda",
            claim=_one_step,
            source="a recipe in lecture notes",
            note="K must be multiplied by the number of steps first.",
            seen=("F45",),
            examples=[(_REFERENCE, "0.3715")],
        ),
        Misprint(
            "orders-to-32",
            r"\text{whole orders up to } 32 \text{ give the minimum}",
            claim=_orders_to_32,
            kind="identity",
            oracle=_best_of_all_moments,
            source="a recipe in lecture notes, and defaults of early libraries",
            note="Little loss asks for orders in the thousands, much loss for ones near 1.",
            seen=("F45", "F114"),
            examples=[
                (_setting(0.001, 10.0, 1000), "0.37155", "0.0153815"),
                (_setting(0.01, 0.4, 1000), "61.92", "33.37683"),
            ],
        ),
        Misprint(
            "order-kept",
            r"\text{the run is } (\alpha, \textstyle\sum K/\alpha)\text{-RDP, and no better}",
            claim=_order_kept,
            kind="identity",
            oracle=_best_of_whole_moments,
            source="lecture notes",
            note="True but one order too low: K/alpha is the divergence of order alpha + 1.",
            seen=("F34",),
            examples=[(_REFERENCE, "1.29166", "1.258575")],
        ),
        Misprint(
            "best",
            r"\text{the minimum is the best } \varepsilon",
            kind="identity",
            source="lecture notes",
            note="It is an upper bound; the exact epsilon is a quarter smaller or so.",
            seen=("F35",),
            examples=[(_REFERENCE, "1.258575", "0.946867")],
        ),
        Misprint(
            "root-of-steps",
            r"\varepsilon \le q\sqrt T\,\varepsilon_0,\ \varepsilon_0 = \sqrt{2\ln(1.25/\delta)}/z",
            claim=_root_of_steps,
            source="lecture notes: the accountant saves the logarithm of delta",
            note="It is inside eps_0, and beyond epsilon of about 1 the root is not enough.",
            seen=("F24",),
        ),
    ],
)
def moments_accountant(
    *, noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> float:
    """Epsilon of a DP-SGD run by whole log moments, as first published.

    Parameters, units and errors as in `dpsgd_epsilon`.

    Returns
    -------
    float
        Upper bound, nats, add_remove.

    References
    ----------
    Abadi et al. (2016), Theorem 2 and section 5.1.

    Examples
    --------
    >>> found = moments_accountant(
    ...     noise_multiplier=4.0, sample_rate=0.01, steps=10_000, delta=1e-5
    ... )
    >>> round(found, 6)
    1.258575
    """
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


def _clt_of_scaled(
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


formula(
    "G-F3",
    title="Central limit of many sampled steps",
    kind="asymptotic",
    statement=r"""\varepsilon(\delta) \to \varepsilon_{\mu\text{-GDP}}(\delta),\quad
        \mu = q\sqrt{T(e^{1/z^2}-1)},\quad T \to \infty,\ q\sqrt T \text{ fixed}""",
    requires="noise_multiplier > 0 and scaled_rate > 0 and 0 < delta and delta < 1",
    reference=Reference("Bu, Dong, Long & Su", 2020, "Theorem 5"),
    domain={
        "noise_multiplier": Log(0.9, 10.0),
        "scaled_rate": Log(0.2, 2.0),
        "delta": Log(1e-6, 0.01),
    },
    along={"steps": (1e4, 1e6, 1e8)},
    oracle=_certified_of_scaled,
    tolerance=0.002,
    points=20,
    misprints=[
        Misprint(
            "as-guarantee",
            r"\varepsilon \le \varepsilon_{\mu\text{-GDP}}(\delta)",
            claim=clt_epsilon,
            kind="upper",
            along={},
            requires=_GIVEN,
            domain={
                **_RUN, "steps": Whole(100, 10_000), "sample_rate": Log(1e-3, 0.1),
                "scaled_rate": None,
            },
            oracle=_certified,
            source="papers and libraries that report the limit as a privacy guarantee",
            note="The limit is approached from below in most runs of interest.",
            examples=[
                (_setting(0.04, 1.5, 2250), "6.6015671", "6.76878"),
                (_mnist(1.1, 14_063), "2.3243617", "2.38169"),
                (_mnist(1.06, 4688), "1.341", "1.408"),
                (_mnist(0.638, 16_406), "8.697", "9.477"),
            ],
        ),
    ],
)(_clt_of_scaled)  # fmt: skip


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


@formula(
    "G-F5",
    title="Noise left for the sum under adaptive clipping",
    kind="identity",
    statement=r"z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2}",
    requires="noise_multiplier > 0 and bit_noise > 0 and noise_multiplier < 2*bit_noise",
    reference=Reference("Andrew et al.", 2021, "Theorem 1"),
    domain={"noise_multiplier": Log(0.1, 20.0), "bit_noise": Log(0.1, 100.0)},
    oracle=_rest,
    tolerance=1e-7,
    points=60,
    examples=[({"noise_multiplier": 1.0, "bit_noise": 5.0}, "1.00503781526")],
    misprints=[
        Misprint(
            "for-free",
            r"z_\Delta = z",
            claim=lambda noise_multiplier: noise_multiplier,
            source="quantile clipping added to a private run without accounting",
            note="The count of clipped gradients is a release too.",
            seen=("F72",),
        ),
        Misprint(
            "no-two",
            r"z_\Delta = \big(z^{-2} - \sigma_b^{-2}\big)^{-1/2}",
            claim=lambda noise_multiplier, bit_noise: (
                (noise_multiplier**-2.0 - bit_noise**-2.0) ** -0.5
            ),
            requires="noise_multiplier > 0 and noise_multiplier < bit_noise",
            source="code that shifts the bit by 1/2 and forgets what that buys",
            note="A bit shifted by 1/2 moves the count by 1/2 only; more noise than needed.",
        ),
        Misprint(
            "unshifted",
            r"z_\Delta = \big(z^{-2} - (2\sigma_b)^{-2}\big)^{-1/2} \text{ for bits in } \{0, 1\}",
            oracle=_rest_of_plain_bit,
            requires="noise_multiplier > 0 and noise_multiplier < 0.99*bit_noise",
            source="code that counts clipped gradients without the shift",
            note="A plain bit moves the count by 1.",
        ),
    ],
)
def adaptive_clipping_multiplier(*, noise_multiplier: float, bit_noise: float) -> float:
    r"""Noise multiplier of the sum, so that sum and count together have `noise_multiplier`.

    Parameters
    ----------
    noise_multiplier : float
        z in (0, 2 sigma_b): of the whole update.
    bit_noise : float
        Standard deviation sigma_b of the noise on the sum of bits, each -1/2 or 1/2.

    Returns
    -------
    float
        :math:`(z^{-2} - (2\sigma_b)^{-2})^{-1/2}`, exact, larger than z.

    Raises
    ------
    ValueError
        If the count alone leaks too much.

    References
    ----------
    Andrew, Thakkar, McMahan & Ramaswamy (2021), Theorem 1.

    Examples
    --------
    >>> round(adaptive_clipping_multiplier(noise_multiplier=1.0, bit_noise=5.0), 6)
    1.005038
    """
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


@formula(
    "G-F6",
    title="Noise divided by the realised batch size gives it away",
    kind="identity",
    statement=r"""D_2\big(N(0, (\tfrac{zC}B)^2I_d)\,\Vert\,N(0, (\tfrac{zC}{B+1})^2I_d)\big)
        = -\frac d2\ln\big(1 - (1 - u^{-2})^2\big),\quad u = 1 - \tfrac1{B+1}""",
    requires="batch >= 3 and dimension >= 1",
    reference=Reference("van Erven & Harremoës", 2014, "equation (10)"),
    domain={"batch": Whole(3, 3000), "dimension": Whole(1, 1_000_000)},
    oracle=_radius_by_quadrature,
    tolerance=1e-6,
    absolute=1e-10,
    points=40,
    examples=[
        ({"batch": 100, "dimension": 1}, "0.00020205"),
        ({"batch": 100, "dimension": 1_000_000}, "202.05"),
        ({"batch": 256, "dimension": 1_000_000}, "30.6"),
    ],
    misprints=[
        Misprint(
            "no-leak",
            r"\text{dividing sum and noise by } |B| \text{ is post-processing}: 0",
            claim=lambda: 0.0,
            source="training code: the noise is divided by the batch size",
            note="With Poisson sampling the size is private, and the noise shows it.",
            seen=("F64",),
        ),
        Misprint(
            "one-coordinate",
            r"D_2 = -\frac12\ln\big(1 - (1 - u^{-2})^2\big)",
            claim=lambda batch: realised_batch_divergence(batch=batch, dimension=1),
            source="the scalar computation, taken for a model",
            note="Every coordinate carries noise of the same size: the divergence counts d times.",
        ),
    ],
)
def realised_batch_divergence(*, batch: int, dimension: int) -> float:
    """Order-2 Rényi divergence between pure noise over a batch of B and over one of B + 1.

    Parameters
    ----------
    batch : int
        B >= 3: the divergence of smaller ones is infinite.
    dimension : int
        Number of coordinates d >= 1.

    Returns
    -------
    float
        Exact, nats; what the size of the noise alone tells about one record.

    Examples
    --------
    >>> round(realised_batch_divergence(batch=100, dimension=1_000_000), 1)
    202.0
    """
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


@formula(
    "G-F6b",
    title="Sensitivity of the mean over the realised batch",
    kind="identity",
    statement=r"""\max\Big\lVert\frac1B\sum_{i\in B}g_i
        - \frac1{B-1}\sum_{i\in B\setminus j}g_i\Big\rVert = \frac{2C}B""",
    requires="max_grad_norm > 0 and batch >= 2",
    reference=Reference("Nissim, Raskhodnikova & Smith", 2007, "the local sensitivity of a mean"),
    domain={"max_grad_norm": Log(0.01, 100.0), "batch": Whole(2, 300)},
    oracle=_two_sided_change,
    points=40,
    misprints=[
        Misprint(
            "fixed",
            r"\frac CB",
            claim=lambda max_grad_norm, batch: max_grad_norm / batch,
            source="training code: the noise is divided by the batch size",
            note="True of a fixed denominator; when it changes too, the multiplier is half.",
            seen=("F64",),
        ),
    ],
)
def realised_mean_sensitivity(*, max_grad_norm: float, batch: int) -> float:
    """Largest move 2 C / B of the mean of B clipped gradients when one of them leaves.

    Parameters
    ----------
    max_grad_norm : float
        C > 0.
    batch : int
        B >= 2, the size that was drawn.

    Returns
    -------
    float
        Exact, in units of the gradient.

    Examples
    --------
    >>> realised_mean_sensitivity(max_grad_norm=1.0, batch=100)
    0.02
    """
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


@formula(
    "G-F10",
    title="Tree aggregation, each record once",
    kind="identity",
    statement=r"\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2}",
    requires="leaves >= 1 and noise_multiplier > 0",
    reference=Reference("Kairouz et al.", 2021, "Theorem 4.1"),
    domain={"leaves": Whole(1, 300), "noise_multiplier": Log(0.3, 30.0)},
    oracle=_tree_by_counting,
    points=40,
    examples=[({"leaves": 1600, "noise_multiplier": 1.13}, "4.307307")],
    misprints=[
        Misprint(
            "one-node",
            r"\rho = \frac1{2z^2}",
            claim=lambda noise_multiplier: 1 / (2 * noise_multiplier**2),
            source="sensitivity 1 taken for the whole tree",
            note="A record enters one node on every level.",
        ),
        Misprint(
            "no-plus-one",
            r"\rho = \frac{\lceil\log_2 n\rceil}{2z^2}",
            claim=lambda leaves, noise_multiplier: (
                math.ceil(math.log2(leaves)) / (2 * noise_multiplier**2)
            ),
            source="the height of a tree, off by one at powers of two",
            note="A full tree over 2^k steps has k + 1 levels.",
        ),
        Misprint(
            "several-epochs",
            r"\rho = \frac{\lceil\log_2(n+1)\rceil}{2z^2} \text{ if a record takes part often}",
            requires="leaves >= participations and noise_multiplier > 0",
            domain={"participations": Choice(2, 3, 5)},
            oracle=_tree_by_counting,
            source="the theorem for one epoch, used for several",
            note="A record that takes part k times adds up to k in the nodes above.",
        ),
    ],
)
def tree_aggregation_rho(*, leaves: int, noise_multiplier: float) -> float:
    r"""Concentrated loss :math:`\lceil\log_2(n+1)\rceil/(2z^2)` of prefix sums by a noisy tree.

    Parameters
    ----------
    leaves : int
        Steps n >= 1 in one tree; each record takes part in one of them.
    noise_multiplier : float
        z > 0: noise of every node / clipping norm.

    Returns
    -------
    float
        rho, exact for the release of all nodes, add_remove.

    References
    ----------
    Kairouz et al. (2021), Theorem 4.1.

    Examples
    --------
    >>> round(tree_aggregation_rho(leaves=1600, noise_multiplier=1.13), 4)
    4.3073
    """
    validate.integer(minimum=1, leaves=leaves)
    validate.positive(noise_multiplier=noise_multiplier)
    return leaves.bit_length() / (2 * noise_multiplier**2)
