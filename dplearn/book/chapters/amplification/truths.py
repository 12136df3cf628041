"""The truth about sampled and shuffled releases, from densities and from lists of all samples."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from dplearn.book.kit import oracles as oracles
from dplearn.book.kit.entry import Interval
from dplearn.engine.contour import SampledGaussian, log_moments
from dplearn.engine.profile import Profile

# Means of Gaussians, and how often each occurs.
Means = dict[float, float]


def log_mixture(means: Means, sigma: float) -> oracles.Density:
    """Log density of a mixture of Gaussians of one standard deviation."""
    total = math.fsum(means.values())
    parts = [(math.log(w / total), oracles.log_normal(m, sigma)) for m, w in means.items() if w]
    return lambda x: np.logaddexp.reduce([log_w + log_f(x) for log_w, log_f in parts])


def mixture_delta(p: Means, q: Means, *, epsilon: float, sigma: float) -> float:
    """Hockey-stick divergence of two mixtures of Gaussians."""
    means = [*p, *q]
    # Where two such Gaussians differ by epsilon, and then ten standard deviations.
    far = 12 * sigma + sigma**2 * (epsilon + 20) / 0.05
    low, high = min(means) - min(far, 60 * sigma + 10), max(means) + min(far, 60 * sigma + 10)
    return oracles.density_delta(log_mixture(p, sigma), log_mixture(q, sigma), epsilon, low, high)


def sampled(sample_rate: float, shift: float = 1.0) -> Means:
    """The output where the record is in the sample with this chance."""
    return {0.0: 1 - sample_rate, shift: sample_rate}


def sampled_delta(
    *, epsilon: float, noise_multiplier: float, sample_rate: float, shift: float = 1.0
) -> float:
    """Delta of ((1-q)N(0) + qN(shift), N(0)): the record is removed."""
    pair = sampled(sample_rate, shift), {0.0: 1.0}
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def sampled_delta_added(*, epsilon: float, noise_multiplier: float, sample_rate: float) -> float:
    """Delta of (N(0), (1-q)N(0) + qN(1)): the record is added."""
    pair = {0.0: 1.0}, sampled(sample_rate)
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def sampled_delta_replaced(*, epsilon: float, noise_multiplier: float, sample_rate: float) -> float:
    """Delta where a Poisson-sampled record is replaced by its opposite."""
    pair = sampled(sample_rate, 1.0), sampled(sample_rate, -1.0)
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def sampled_renyi(
    *, order: float, noise_multiplier: float, sample_rate: float, direction: str = "remove"
) -> float:
    """Rényi divergence of the sampled Gaussian by an integral of its density."""
    if sample_rate == 1:
        pair = oracles.log_normal(1.0, noise_multiplier), oracles.log_normal(0.0, noise_multiplier)
        far = 40 * noise_multiplier + order + 1
        return oracles.density_renyi(*pair, order, -far, far)
    pair = SampledGaussian(noise_multiplier, sample_rate, direction)  # type: ignore[arg-type]
    return float(log_moments(pair, [order - 1.0])[0]) / (order - 1)


def sampled_renyi_added(*, order: float, noise_multiplier: float, sample_rate: float) -> float:
    """The same for the reversed pair."""
    return sampled_renyi(
        order=order, noise_multiplier=noise_multiplier, sample_rate=sample_rate, direction="add"
    )


def log_moment(*, moment: float, noise_multiplier: float, sample_rate: float) -> float:
    """K(lambda) = ln E_P e^(lambda L) of the sampled Gaussian."""
    pair = SampledGaussian(noise_multiplier, sample_rate, "remove")
    return float(log_moments(pair, [moment])[0])


# Every sample


def sums(samples: Iterable[Iterable[float]]) -> Means:
    """How often each sum occurs among the samples."""
    return {m: float(n) for m, n in Counter(math.fsum(s) for s in samples).items()}


def all_subsets(values: list[float], size: int) -> Means:
    """The sum over a uniform subset of this size."""
    return sums(itertools.combinations(values, size))


def all_draws(values: list[float], draws: int) -> Means:
    """The sum over uniform draws with replacement."""
    return sums(itertools.product(values, repeat=draws))


def subset_delta(*, epsilon: float, noise_multiplier: float, records: int, batch: int) -> float:
    """Delta where one of `records` is replaced by the opposite, which is what all others are."""
    others = [-1.0] * (records - 1)
    pair = all_subsets([1.0, *others], batch), all_subsets([-1.0, *others], batch)
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def any_subset_delta(
    *,
    epsilon: float,
    noise_multiplier: float,
    batch: int,
    others: NDArray,
    first: float,
    second: float,
) -> float:
    """Delta where `first` is replaced by `second` among any `others`."""
    rest = others.tolist()
    pair = all_subsets([first, *rest], batch), all_subsets([second, *rest], batch)
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def draws_delta(*, epsilon: float, noise_multiplier: float, records: int, draws: int) -> float:
    """As `subset_delta`, where every draw is from all records."""
    others = [-1.0] * (records - 1)
    pair = all_draws([1.0, *others], draws), all_draws([-1.0, *others], draws)
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


# Shuffled reports


def shuffled_coins_epsilon(*, local_epsilon: float, records: int, delta: float) -> float:
    """Exact epsilon of the number of ones among randomized responses; all others hold a zero."""
    ones = np.arange(records)
    lie, truth = (-np.log1p(math.exp(x)) for x in (local_epsilon, -local_epsilon))
    counts = gammaln(records) - gammaln(ones + 1) - gammaln(records - ones)
    others = counts + ones * lie + (records - 1 - ones) * truth

    def total(log_one: float, log_zero: float) -> NDArray:
        return np.logaddexp(
            np.append(-np.inf, others + log_one), np.append(others + log_zero, -np.inf)
        )

    pair = Profile.from_atoms(total(truth, lie), total(lie, truth))
    return max(float(p.epsilon(delta)) for p in (pair, pair.reverse()))


# Shuffled batches


def shuffled_batches_delta(
    *, epsilon: float, noise_multiplier: float, batches: int
) -> float | Interval:
    """Delta of the mixtures of N(2e_t) and of N(e_t): integrals up to two batches, else chance."""
    if batches > 2:
        return _by_simulation(epsilon, noise_multiplier, batches)
    if batches == 1:
        return mixture_delta({2.0: 1.0}, {1.0: 1.0}, epsilon=epsilon, sigma=noise_multiplier)
    return _two_batches(epsilon, noise_multiplier)


def _two_batches(epsilon: float, sigma: float) -> float:
    """With a = e^(x/s^2), b = e^(y/s^2) the ratio exceeds e^epsilon where a^2 + b^2 > c(a + b)."""
    log_c = epsilon + 1.5 / sigma**2

    def inner(x: NDArray) -> NDArray:
        # The y that count lie above s^2 ln b+ and below s^2 ln b-, roots in units of c.
        a = np.exp(np.minimum(x / sigma**2 - log_c, 300.0))
        root = np.sqrt(np.maximum(1 - 4 * a * (a - 1), 0.0))
        all_of_it = 1 - 4 * a * (a - 1) <= 0
        upper = 0.5 * (1 + root)
        # Their product is a (a - 1).
        lower = np.maximum(a * (a - 1) / upper, 0.0)
        with np.errstate(divide="ignore"):
            up, down = (sigma**2 * (np.log(r) + log_c) for r in (upper, lower))

        def mass(mean: float) -> NDArray:
            return np.where(all_of_it, 1.0, ndtr((mean - up) / sigma) + ndtr((down - mean) / sigma))

        def law(mean: float) -> NDArray:
            at, zero = (np.exp(oracles.log_normal(m, sigma)(x)) for m in (mean, 0.0))
            return 0.5 * (at * mass(0.0) + zero * mass(mean))

        return np.maximum(law(2.0) - math.exp(epsilon) * law(1.0), 1e-300)

    kinks = [sigma**2 * (log_c + math.log(r)) for r in (1.0, 0.5 * (1 + math.sqrt(2)))]
    log_inner = lambda x: np.log(inner(x))
    far = 14 * sigma
    return math.exp(oracles.log_integral(log_inner, -far, 2 + far, kinks=kinks, rtol=1e-8))


def _by_simulation(epsilon: float, sigma: float, batches: int) -> Interval:
    """The mean of (1 - e^(epsilon - L))_+ over 20,000 draws, by Hoeffding's inequality."""
    draws = 20_000
    x = sigma * np.random.default_rng(20).standard_normal((draws, batches))
    x[:, 0] += 2.0
    up, down = (
        np.logaddexp.reduce(shift * x / sigma**2, axis=1) - shift**2 / (2 * sigma**2)
        for shift in (2.0, 1.0)
    )
    mean = float(np.mean(-np.expm1(np.minimum(epsilon - up + down, 0.0))))
    width = math.sqrt(math.log(2 / 1e-9) / (2 * draws))
    return Interval(max(mean - width, 0.0), min(mean + width, 1.0), confidence=1 - 1e-9)
