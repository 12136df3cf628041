"""Amplification by shuffling reports or batches.

Shuffling anonymous *reports* amplifies their privacy; shuffling the *batches* of a training run is
not Poisson sampling and amplifies less (`dplearn.mechanisms.shuffled`).
"""

from dplearn.core.logspace import log_sub
from dplearn.core.solve import maximise
from dplearn.engine.contour import SampledGaussian, deltas
from dplearn.engine.profile import Profile
from dplearn.teaching.book.chapters.gaussian import release_epsilon
from dplearn.teaching.book.chapters.sampling import mixture_delta
from dplearn.teaching.book.kit.vocabulary import *

_LONG_EPOCH = {"noise_multiplier": 0.5, "batches": 10_000}


def shuffled_coins_epsilon(*, local_epsilon, records, delta):
    """Return epsilon of the number of ones among randomized responses; the others hold 0."""
    ones = np.arange(records)
    lie, exact = (-np.log1p(math.exp(x)) for x in (local_epsilon, -local_epsilon))
    counts = gammaln(records) - gammaln(ones + 1) - gammaln(records - ones)
    others = counts + ones * lie + (records - 1 - ones) * exact
    more, same = np.append(-np.inf, others), np.append(others, -np.inf)
    total = lambda log_one, log_zero: np.logaddexp(more + log_one, same + log_zero)
    pair = Profile.from_atoms(total(exact, lie), total(lie, exact))
    return max(float(p.epsilon(delta)) for p in (pair, pair.reverse()))


def shuffled_batches_delta(*, epsilon, noise_multiplier, batches):
    """Return delta of the mixtures of N(2e_t) and N(e_t), simulated for more than two batches."""
    if batches > 2:
        return _by_simulation(epsilon, noise_multiplier, batches)
    if batches == 1:
        return mixture_delta({2.0: 1.0}, {1.0: 1.0}, epsilon=epsilon, sigma=noise_multiplier)
    # An integral over h = (x - y) / 2 alone: m = (x + y) / 2 is independent of h. The loss
    # exceeds epsilon where m - 3/2 exceeds s^2 (epsilon + ln cosh(h/s^2) / cosh(2h/s^2)).
    std, far = noise_multiplier / math.sqrt(2), 1 + 10 * noise_multiplier

    def log_gain(h: NDArray) -> NDArray:
        x = h / noise_multiplier**2
        log_ratio = np.logaddexp(x, -x) - np.logaddexp(2 * x, -2 * x)
        least = 1.5 + noise_multiplier**2 * (epsilon + log_ratio)

        def log_law(mean: float) -> NDArray:
            sides = (oracles.log_normal(side * mean, std)(h) for side in (-1, 1))
            return np.logaddexp(*sides) + log_ndtr((mean - least) / std)

        return log_sub(log_law(1.0), epsilon + log_law(0.5)) - math.log(2)

    return math.exp(oracles.log_integral(log_gain, -far, far, rtol=1e-8))


def _by_simulation(epsilon: float, sigma: float, batches: int) -> Interval:
    """Return Hoeffding's interval of E(1 - e^(epsilon - L))_+ from 20,000 draws, at level 1e-9."""
    draws = 20_000
    x = sigma * np.random.default_rng(20).standard_normal((draws, batches))
    x[:, 0] += 2.0
    up = np.logaddexp.reduce(2 * x / sigma**2, axis=1) - 2 / sigma**2
    down = np.logaddexp.reduce(x / sigma**2, axis=1) - 0.5 / sigma**2
    mean = float(np.mean(-np.expm1(np.minimum(epsilon - up + down, 0.0))))
    width = math.sqrt(math.log(2 / 1e-9) / (2 * draws))
    return Interval(max(mean - width, 0.0), min(mean + width, 1.0))


def _in_range(*, noise_multiplier, batches, delta):
    """0 < epsilon of one step <= ln(batches / (16 ln(2/delta)))"""
    local = release_epsilon(noise_multiplier=noise_multiplier, delta=delta)
    return 0 < local <= math.log(batches / (16 * math.log(2 / delta)))


@formula("G-E10", "Shuffled local randomizers")
@given("0 < local_epsilon <= log(records/(16*log(2/delta))) and 0 < delta < 1",
       records=Whole(300, 30_000), delta=Log(1e-9, 0.5), local_epsilon=Log(0.02, 8.0))
@upper("Feldman, McMillan & Talwar 2021, Theorem 3.1", shuffled_coins_epsilon, tolerance=1e-7,
       points=60)
@setting("n shuffled reports, each ε₀-DP", "n 份打乱的报告，每份 ε₀-DP", "epsilon",
         "shuffl local report 打乱", below=lambda: 0.0, local_epsilon=LOSS,
         records=Whole(300, 30_000), delta=SLACK)
@printed("0.21402565", "0.0356588", local_epsilon=1.0, records=10_000, delta=1e-6)
@wrong("batches", "The updates are neither reports of single people nor randomized beforehand.",
       lambda noise_multiplier, batches, delta: shuffle_local_randomizers(records=batches,
       delta=delta, local_epsilon=release_epsilon(noise_multiplier=noise_multiplier, delta=delta)),
       says=r"\text{the same for the } B \text{ shuffled batches of an epoch},\ n = B",
       # Lower bound of epsilon from batch_shuffling_delta_lower, less the tolerance 1e-4.
       given=_in_range, oracle=lambda noise_multiplier, batches, delta: Interval((1 - 1e-4)
       * oracles.smallest(lambda epsilon: batch_shuffling_delta_lower(epsilon=epsilon,
       noise_multiplier=noise_multiplier, batches=batches) <= delta, low=0.0, rtol=1e-4,
       high=release_epsilon(noise_multiplier=noise_multiplier, delta=delta)), math.inf),
       without="local_epsilon records", batches=Choice(1000, 10_000, 100_000),
       noise_multiplier=Log(0.7, 4.0), delta=Choice(1e-6, 1e-5))
@wrong("any-epsilon", "So few other reports are lies that there is no crowd to hide in.",
       given="0 < delta < 1")
def shuffle_local_randomizers(*, local_epsilon, records, delta):
    r"""\varepsilon \le \ln\Big(1 + \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}\Big(
    \frac{8\sqrt{e^{\varepsilon_0}\ln(4/\delta)}}{\sqrt n} + \frac{8e^{\varepsilon_0}}n\Big)\Big)

    local_epsilon: pure guarantee of each report, nats"""
    odds = math.exp(local_epsilon)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / records) + 8 * odds / records
    return math.log1p(math.tanh(local_epsilon / 2) * spread)


@formula("G-E11", "Shuffled batches: what an epoch is known to leak")
@given("epsilon >= 0 and noise_multiplier > 0 and batches >= 1", epsilon=Linear(0.0, 4.0),
       noise_multiplier=Log(0.4, 4.0), batches=Choice(1, 2, 2, 4, 20))
@lower("Chua et al. 2024, How private are DP-SGD implementations?, Section 4",
       shuffled_batches_delta, tolerance=1e-6, absolute=1e-12, points=40)
@printed("0.00000100", epsilon=10.9948, at=_LONG_EPOCH)
@printed("0.1446", epsilon=1.9532, at=_LONG_EPOCH)
@wrong("poisson", "A batch that must hold the record sooner or later gives it away.",
       lambda epsilon, noise_multiplier, batches: np.exp(deltas(SampledGaussian( noise_multiplier, 1
       / batches, "remove"), batches, [epsilon])[1][0]),
       says=r"\delta_{\text{shuffled}} \le \delta \text{ of } B \text{ Poisson steps},\ q = 1/B",
       given="epsilon >= 0 and noise_multiplier > 0 and batches >= 2", kind="upper",
       oracle=lambda epsilon, noise_multiplier, batches: Interval(batch_shuffling_delta_lower(
       epsilon=epsilon, noise_multiplier=noise_multiplier, batches=batches), 1.0),
       epsilon=Linear(0.5, 6.0), noise_multiplier=Log(0.45, 1.5), batches=Choice(100, 1000, 10_000))
def batch_shuffling_delta_lower(*, epsilon, noise_multiplier, batches):
    r"""\delta(\varepsilon) \ge \max_C\ P(\max_t w_t > C) - e^\varepsilon Q(\max_t w_t > C),\quad P
    = \tfrac1B\sum_t N(2e_t, \sigma^2I),\ Q = \tfrac1B\sum_t N(e_t, \sigma^2I)

    One record contributes +1 where all others contribute -1; zeroed out it contributes 0. The test
    looks at the largest of the B recentred updates, :math:`w_t`."""
    sigma = noise_multiplier

    def gain(threshold: NDArray) -> NDArray:
        others = (batches - 1) * log_ndtr(threshold / sigma)
        shifted = ((threshold - shift) / sigma for shift in (2.0, 1.0))
        above_p, above_q = (-np.expm1(others + log_ndtr(x)) for x in shifted)
        with np.errstate(divide="ignore"):
            return above_p - np.exp(np.minimum(epsilon + np.log(above_q), 700.0))

    # The gain is unimodal: the likelihood ratio of the largest update is increasing. Below
    # `first` the update with the record has a loss below epsilon.
    first = 1.5 + epsilon * sigma**2
    best = maximise(gain, lower=first, upper=first + sigma**2 * math.log(batches) + 1e-9, shape=())
    return max(float(gain(best)), 0.0)
