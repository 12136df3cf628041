"""The truth about sampled and shuffled releases, from densities and from lists of all samples."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from dplearn.book.kit import oracles
from dplearn.book.kit.entry import Interval
from dplearn.engine.contour import SampledGaussian, log_moments, worse_brackets
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
    return {0.0: 1 - sample_rate, shift: sample_rate} if shift else {0.0: 1.0}


def sampled_delta(*, epsilon, noise_multiplier, sample_rate, first=1.0, second=0.0):
    """Delta where a Poisson-sampled record contributes `first`, then `second`; 0 is its absence."""
    pair = sampled(sample_rate, first), sampled(sample_rate, second)
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def sampled_renyi(*, order, noise_multiplier, sample_rate, direction="remove"):
    """Rényi divergence of the sampled Gaussian by an integral of its density."""
    if sample_rate == 1:
        return oracles.gaussian_renyi(1.0, noise_multiplier, order)
    pair = SampledGaussian(noise_multiplier, sample_rate, direction)  # type: ignore[arg-type]
    return float(log_moments(pair, [order - 1.0])[0]) / (order - 1)


def subset_renyi(*, order, noise_multiplier, sample_rate, distance):
    """The larger direction of ((1-q)N(0) + qN(distance), N(0)), a pair that is attained."""
    mixture = log_mixture(sampled(sample_rate, distance), noise_multiplier)
    base = oracles.log_normal(0.0, noise_multiplier)
    far = 40 * noise_multiplier + (order + 1) * distance
    pairs = ((mixture, base), (base, mixture))
    return max(oracles.density_renyi(*pair, order, -far, far) for pair in pairs)


def log_moment(*, moment, noise_multiplier, sample_rate):
    """K(lambda) = ln E_P e^(lambda L) of the sampled Gaussian."""
    pair = SampledGaussian(noise_multiplier, sample_rate, "remove")
    return float(log_moments(pair, [moment])[0])


def certified_epsilon(*, noise_multiplier, sample_rate, steps, delta) -> Interval:
    """Brackets of the exact epsilon of a run, the larger one of both directions."""
    if sample_rate == 1:
        exact = oracles.gaussian_epsilon(delta=delta, mu=math.sqrt(steps) / noise_multiplier)
        return Interval(exact, exact)
    low, high = worse_brackets([steps], sigma=noise_multiplier, q=sample_rate, delta=delta)
    return Interval(float(low[0]), float(high[0]))


def sums(samples: Iterable[Iterable[float]]) -> Means:
    """How often each sum occurs among the samples."""
    return {m: float(n) for m, n in Counter(math.fsum(s) for s in samples).items()}


def subset_delta(
    *, epsilon, noise_multiplier, records, batch, others=None, first=1.0, second=-1.0
):
    """Delta where `first` is replaced by `second`, among others that are all -1 by default."""
    others = [-1.0] * (records - 1) if others is None else others.tolist()
    pair = (sums(itertools.combinations([x, *others], batch)) for x in (first, second))
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def draws_delta(*, epsilon, noise_multiplier, records, draws):
    """As `subset_delta`, where every draw is from all records."""
    others = [-1.0] * (records - 1)
    pair = (sums(itertools.product([x, *others], repeat=draws)) for x in (1.0, -1.0))
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def chance_of_any(*, records, draws):
    """All numbers of times that the record can be drawn, one at a time."""
    ways = (math.comb(draws, k) * (records - 1) ** (draws - k) for k in range(1, draws + 1))
    return sum(ways) / records**draws


def mixed_event_delta(*, p, q, epsilon, sample_rate, other=None, added=False):
    """Worst event where a record with output law p is sampled, against its absence or another."""
    mixed = sample_rate * p + (1 - sample_rate) * q
    replaced = q if other is None else sample_rate * other + (1 - sample_rate) * q
    pair = (replaced, mixed) if added else (mixed, replaced)
    return max(oracles.worst_event_delta(*pair, epsilon), 0.0)


def sampled_coin_epsilon(*, epsilon, sample_rate):
    """Worst event, in both orders, of a randomized response that is asked with a chance."""
    p, q = oracles.randomized_response(epsilon)
    mixed = sample_rate * p + (1 - sample_rate) * q
    return oracles.worst_event_epsilon_at(mixed, q, 0.0)


def shuffled_coins_epsilon(*, local_epsilon, records, delta):
    """Exact epsilon of the number of ones among randomized responses; all others hold a zero."""
    ones = np.arange(records)
    lie, truth = (-np.log1p(math.exp(x)) for x in (local_epsilon, -local_epsilon))
    counts = gammaln(records) - gammaln(ones + 1) - gammaln(records - ones)
    others = counts + ones * lie + (records - 1 - ones) * truth
    more, same = np.append(-np.inf, others), np.append(others, -np.inf)
    total = lambda log_one, log_zero: np.logaddexp(more + log_one, same + log_zero)
    pair = Profile.from_atoms(total(truth, lie), total(lie, truth))
    return max(float(p.epsilon(delta)) for p in (pair, pair.reverse()))


def shuffled_batches_delta(*, epsilon, noise_multiplier, batches):
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

        parts = lambda mean: ndtr((mean - up) / sigma) + ndtr((down - mean) / sigma)
        mass = lambda mean: np.where(all_of_it, 1.0, parts(mean))

        def law(mean: float) -> NDArray:
            at, zero = (np.exp(oracles.log_normal(m, sigma)(x)) for m in (mean, 0.0))
            return 0.5 * (at * mass(0.0) + zero * mass(mean))

        return np.maximum(law(2.0) - math.exp(epsilon) * law(1.0), 1e-300)

    kinks = [sigma**2 * (log_c + math.log(r)) for r in (1.0, 0.5 * (1 + math.sqrt(2)))]
    log_inner = lambda x: np.log(inner(x))
    far = 14 * sigma
    return math.exp(oracles.log_integral(log_inner, -far, 2 + far, kinks=kinks, rtol=1e-8))


def _by_simulation(epsilon: float, sigma: float, batches: int) -> Interval:
    """The mean of (1 - e^(epsilon - L))_+ over 20,000 draws, by Hoeffding, but for 1e-9."""
    draws = 20_000
    x = sigma * np.random.default_rng(20).standard_normal((draws, batches))
    x[:, 0] += 2.0
    up, down = (
        np.logaddexp.reduce(shift * x / sigma**2, axis=1) - shift**2 / (2 * sigma**2)
        for shift in (2.0, 1.0)
    )
    mean = float(np.mean(-np.expm1(np.minimum(epsilon - up + down, 0.0))))
    width = math.sqrt(math.log(2 / 1e-9) / (2 * draws))
    return Interval(max(mean - width, 0.0), min(mean + width, 1.0))
