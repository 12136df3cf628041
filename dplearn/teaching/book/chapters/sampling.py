"""Amplification by sampling and by shuffling.

Poisson sampling goes with add/remove adjacency, a subset of fixed size with replace-one adjacency.
Shuffling anonymous *reports* amplifies their privacy; shuffling the *batches* of a training run is
not Poisson sampling and amplifies less (`dplearn.mechanisms.shuffled`).
"""

from collections import Counter

from dplearn.core.logspace import log_sub
from dplearn.engine.contour import SampledGaussian, deltas
from dplearn.engine.profile import Profile
from dplearn.teaching.book.chapters.divergences import hockey_stick
from dplearn.teaching.book.chapters.gaussian import release_epsilon
from dplearn.teaching.book.chapters.noise import gaussian_delta
from dplearn.teaching.book.kit.vocabulary import *

# Mixture of Gaussians: maps each mean to its weight.
Means = dict[float, float]
_ANY_RATE = "epsilon >= 0 and 0 < sample_rate <= 1"
_SETTING = "noise_multiplier > 0 and 0 < sample_rate <= 1 and epsilon >= 0"
_AT_AMPLIFIED = {"epsilon": math.log1p(0.1 * math.expm1(1.0)), "noise_multiplier": 1.0}


def log_mixture(means: Means, sigma: float) -> oracles.Density:
    """Return the log density of a mixture of Gaussians of standard deviation `sigma`."""
    total = math.fsum(means.values())
    parts = [(math.log(w / total), oracles.log_normal(m, sigma)) for m, w in means.items() if w]
    return lambda x: np.logaddexp.reduce([log_w + log_f(x) for log_w, log_f in parts])


def mixture_delta(p: Means, q: Means, epsilon: float, sigma: float) -> float:
    """Return the hockey-stick divergence of two mixtures of Gaussians."""
    means = [*p, *q]
    # 12 sigma beyond the point where Gaussians 0.05 apart have the privacy loss epsilon + 20.
    far = min(12 * sigma + sigma**2 * (epsilon + 20) / 0.05, 60 * sigma + 10)
    laws = log_mixture(p, sigma), log_mixture(q, sigma)
    return oracles.density_delta(*laws, epsilon, min(means) - far, max(means) + far)


def sampled_delta(*, epsilon, noise_multiplier, sample_rate, first=1.0, second=0.0):
    """Return delta if a Poisson-sampled record contributes `second` instead of `first`."""
    # If shift is 0, the keys coincide: one weight < 1 is left, which `log_mixture` normalizes.
    pair = ({0.0: 1 - sample_rate, shift: sample_rate} for shift in (first, second))
    return mixture_delta(*pair, epsilon=epsilon, sigma=noise_multiplier)


def sum_counts(samples: Iterable[Iterable[float]]) -> Means:
    """Map each sum to the number of samples that have it."""
    return {m: float(n) for m, n in Counter(math.fsum(s) for s in samples).items()}


def replaced_delta(*, epsilon, noise_multiplier, records, batch=0, draws=0):
    """Return delta of a noisy sampled sum if a record turns from 1 to -1 and the others are -1."""
    pools = ([x] + [-1.0] * (records - 1) for x in (1.0, -1.0))
    pair = (itertools.product(pool, repeat=draws) if draws else itertools.combinations(pool, batch)
            for pool in pools)
    return mixture_delta(*map(sum_counts, pair), epsilon=epsilon, sigma=noise_multiplier)


def mixed_event_delta(p, q, epsilon, sample_rate, other=None, added=False):
    """Return delta between sampled p and q, or sampled `other`; `added` swaps the two."""
    mixed = sample_rate * p + (1 - sample_rate) * q
    replaced = q if other is None else sample_rate * other + (1 - sample_rate) * q
    pair = (replaced, mixed) if added else (mixed, replaced)
    return max(oracles.worst_event_delta(*pair, epsilon), 0.0)


def sampled_response_epsilon(epsilon, sample_rate):
    """Return the pure epsilon of a Poisson-sampled randomized response under add/remove."""
    p, q = oracles.randomized_response(epsilon)
    mixed = sample_rate * p + (1 - sample_rate) * q
    return oracles.worst_event_epsilon_at(mixed, q, 0.0)


def _base_epsilon(epsilon: float, sample_rate: float) -> float:
    """Return the epsilon of a mechanism that has only `epsilon` after Poisson sampling."""
    return math.log1p(math.expm1(epsilon) / sample_rate)


@formula("G-E1", "Poisson sampling: the amplified epsilon")
@given(_ANY_RATE, epsilon=Log(0.01, 12.0), sample_rate=Log(1e-4, 1.0))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 8", sampled_response_epsilon)
@setting("a release on a random share q of the data, of an ε-DP mechanism",
         "对随机抽取的比例 q 的数据运行 ε-DP 机制", "epsilon", "sampl amplif 抽样 采样",
         epsilon=LOSS, sample_rate=RATE)
@setting("a release on a random share q of the data, of an (ε,δ)-DP mechanism",
         "对随机抽取的比例 q 的数据运行 (ε,δ)-DP 机制", "epsilon", "sampl amplif 抽样 采样",
         into={}, second="sample_rate*delta", epsilon=LOSS, sample_rate=RATE, delta=SLACK)
@setting("fixed batches of a shuffled pass: the worst batch is not amplified",
         "打乱后固定分批：最坏的一批没有放大", "epsilon", "shuffl epoch pass 打乱", rare=True,
         into={"sample_rate": 1.0}, epsilon=LOSS, sample_rate=RATE)
@printed("0.158565", epsilon=1.0, sample_rate=0.1)
@wrong("linear", "The amplified epsilon is larger for every rate below 1.", "sample_rate * epsilon",
       kind="upper")
@wrong("twice-linear", "From epsilon = 1.26 on the exponential is larger.",
       "2 * sample_rate * epsilon", kind="upper")
@wrong("no-logarithm", "ln(1 + x) is at most x: a bound, exact for small q alone.",
       "sample_rate * (exp(epsilon) - 1)", kind="identity")
@wrong("little-o", "The ratio falls to (e^eps - 1)/eps, never below 1.", "0.0", given="epsilon > 0",
       kind="asymptotic", oracle=lambda epsilon, sample_rate: (sampled_response_epsilon(epsilon,
       sample_rate) / (sample_rate * epsilon)),
       along={"sample_rate": (0.1, 0.01, 1e-3, 1e-4)}, without="sample_rate")
def amplified_epsilon(*, epsilon, sample_rate):
    r"""\varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)"""
    return math.log1p(sample_rate * math.expm1(epsilon))


@formula("G-E1b", "Poisson sampling: the whole profile")
@given(_ANY_RATE, p=Distribution(4), q=Distribution(4), epsilon=Linear(0.0, 2.0),
       sample_rate=Log(1e-3, 1.0))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 8", mixed_event_delta, tolerance=1e-8)
@wrong("replaced", "With Poisson sampling the base must also be private for a record that leaves.",
       lambda p, q, other, **rest: poisson_delta(p, other, **rest),
       says=r"\text{the same for a replaced record, } P \text{ and } P' \text{ both sampled}",
       kind="upper", oracle=mixed_event_delta, other=Distribution(4))
def poisson_delta(p, q, *, epsilon, sample_rate):
    r"""H_{e^{\varepsilon'}}\big((1-q)Q + qP\,\Vert\,Q\big) = q\,H_{e^\varepsilon}(P\Vert Q),\quad
    \varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)"""
    return sample_rate * hockey_stick(p, q, epsilon=_base_epsilon(epsilon, sample_rate))


_SAMPLED = {"noise_multiplier": Log(0.4, 20.0), "sample_rate": Log(1e-3, 1.0),
            # Random, below the epsilon at which delta is about 1e-9 * sample_rate.
            "epsilon": Drawn(lambda rng, noise_multiplier, sample_rate: round(float(
            amplified_epsilon(epsilon=release_epsilon(noise_multiplier=noise_multiplier,
            delta=1e-9), sample_rate=sample_rate) * rng.random()), 6))}


@formula("G-E1c", "Profile of the Poisson-sampled Gaussian")
@given(_SETTING, _SAMPLED)
@identity("Balle, Barthe & Gaboardi 2018, Theorem 8", sampled_delta, absolute=1e-14, points=40)
@setting("Poisson sampled Gaussian noise, one step", "泊松抽样高斯噪声，一步", "delta",
         "sampl 抽样", epsilon=Log(0.05, 5.0), noise_multiplier=NOISE, sample_rate=RATE)
@printed("0.01269367375", at=_AT_AMPLIFIED, sample_rate=0.1)
@wrong("linear", "It takes q eps for the amplified epsilon, which is larger.",
       lambda epsilon, sample_rate, **noise: sample_rate * gaussian_delta(epsilon=epsilon /
       sample_rate, **noise), says=r"\delta_q(q\varepsilon) = q\,\delta(\varepsilon)")
def sampled_gaussian_delta(*, epsilon, noise_multiplier, sample_rate, distance=1.0):
    r"""\delta_q(\varepsilon') = q\,\delta(\varepsilon),\quad
    e^{\varepsilon'} = 1 + q(e^\varepsilon - 1),\ \delta \text{ of Gaussian noise}"""
    base = _base_epsilon(epsilon, sample_rate)
    return sample_rate * gaussian_delta(epsilon=base,
                                        noise_multiplier=noise_multiplier, distance=distance)


@formula("G-E1d", "Poisson sampling: a replaced record and Gaussian noise")
@given(_SETTING, _SAMPLED)
@identity("Lebeda, Regehr, Kamath & Steinke 2025; Schuchardt et al. 2024, Theorem 3.8",
          partial(sampled_delta, second=-1.0), absolute=1e-13, points=40)
@printed("0.0229519", at=_AT_AMPLIFIED, sample_rate=0.1)
@wrong("removed", "That is a record that leaves: here both outputs are mixtures, further apart.",
       sampled_gaussian_delta, says=r"\delta_q(\varepsilon') = q\,\delta(\varepsilon)")
@wrong("twice-epsilon", "One leaves and one comes: delta grows by a factor of 1 + e^(eps/2), too.",
       lambda epsilon, **rest: sampled_gaussian_delta(epsilon=epsilon / 2, **rest),
       says=r"\delta(\varepsilon) \le \delta_{\text{add/remove}}(\varepsilon/2)", kind="upper")
@wrong("fixed-size", "The bound of a subset of fixed size, where others take its place.",
       partial(sampled_gaussian_delta, distance=2.0),
       says=r"\delta(\varepsilon') = q\,\delta_{2C}(\varepsilon)")
def replaced_gaussian_delta(*, epsilon, noise_multiplier, sample_rate):
    r"""\delta(\varepsilon) = (1-q)(1-e^\varepsilon)\,\Phi\big(-\tfrac x\sigma\big)
    + q\,\Phi\big(\tfrac{1-x}\sigma\big) - qe^\varepsilon\,\Phi\big(-\tfrac{1+x}\sigma\big),\quad
    x = \sigma^2\Big(\tfrac\varepsilon2 + \operatorname{arsinh}\big(e^{1/2\sigma^2}\,
    \tfrac{1-q}q\sinh\tfrac\varepsilon2\big)\Big)"""
    sigma, q = noise_multiplier, sample_rate
    y = math.exp(0.5 / sigma**2) * (1 - q) / q * math.sinh(epsilon / 2)
    x = sigma**2 * (epsilon / 2 + math.asinh(y))
    away, near, far = ndtr([-x / sigma, (1 - x) / sigma, (-1 - x) / sigma]).tolist()
    return q * near - math.expm1(epsilon) * (1 - q) * away - math.exp(epsilon) * q * far


@formula("G-E2", "Sampling without replacement: Gaussian noise")
@given("noise_multiplier > 0 and epsilon >= 0 and 1 <= batch <= records", records=Whole(1, 7),
       batch=Drawn(lambda rng, records: int(rng.integers(1, records + 1))),
       noise_multiplier=Log(0.5, 10.0), epsilon=Log(0.01, 3.0))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 9", replaced_delta, absolute=1e-13, points=40)
@printed("0.05098616601", at=_AT_AMPLIFIED, records=10, batch=1)
@wrong("own-norm", "The theorem is for a replaced record, whose contribution may turn round: 2C.",
       lambda records, batch, **rest: sampled_gaussian_delta(sample_rate=batch / records, **rest),
       says=r"\delta_{m/n}(\varepsilon') = q\,\delta_{C}(\varepsilon): \text{ Poisson accounting}")
def without_replacement_delta(*, epsilon, noise_multiplier, records, batch):
    r"""\delta_{m/n}(\varepsilon') = q\,\delta_{2C}(\varepsilon),\quad
    e^{\varepsilon'} = 1 + q(e^\varepsilon - 1),\ q = m/n"""
    return sampled_gaussian_delta(epsilon=epsilon, noise_multiplier=noise_multiplier,
                                  sample_rate=batch / records, distance=2.0)


@formula("G-E3", "Sampling with replacement: chance to take part")
@given("records >= 1 and draws >= 1", records=Whole(1, 2000), draws=Whole(1, 300))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 10", lambda records, draws: sum(math.comb(draws,
          k) * (records - 1) ** (draws - k) for k in range(1, draws + 1)) / records**draws)
@setting("a record is drawn at all among m draws with replacement from n",
         "有放回地从 n 条中抽 m 次，某条被抽到", "rate", "replacement 放回")
@printed("0.095617925", records=100, draws=10)
@wrong("ratio", "Too large as a chance, and blind to a record that is drawn more than once.",
       "draws / records")
def with_replacement_rate(*, records, draws):
    r"""q = 1 - (1 - 1/n)^m"""
    return 1.0 if records == 1 else -math.expm1(draws * math.log1p(-1 / records))


@formula("G-E3b", "Sampling with replacement: Gaussian noise")
@given("noise_multiplier > 0 and epsilon >= 0 and records >= 1 and draws >= 1", records=Whole(1, 5),
       draws=Whole(1, 4), noise_multiplier=Log(0.5, 10.0), epsilon=Log(0.01, 3.0))
@upper("Balle, Barthe & Gaboardi 2018, Theorem 10", replaced_delta, absolute=1e-13, points=40)
@wrong("no-multiplicities", "A record that is drawn k times contributes k times.",
       lambda records, draws, **rest: sampled_gaussian_delta(sample_rate=with_replacement_rate(
       records=records, draws=draws), distance=2.0, **rest),
       says=r"\delta(\varepsilon') \le q\,\delta_{2C}(\varepsilon)")
@wrong("ratio", "A larger chance does not make up for the record that is drawn twice.",
       lambda draws, **rest: without_replacement_delta(batch=draws, **rest),
       says=r"\delta(\varepsilon') \le \tfrac mn\,\delta_{2C}(\varepsilon),\ q = m/n",
       given="noise_multiplier > 0 and epsilon >= 0 and draws <= records")
def with_replacement_delta(*, epsilon, noise_multiplier, records, draws):
    r"""\delta(\varepsilon') \le \sum_{k=1}^m \binom mk n^{-k}(1 - 1/n)^{m-k}\,
    \delta_{2kC}(\varepsilon),\quad e^{\varepsilon'} = 1 + q(e^\varepsilon - 1)"""
    rate = with_replacement_rate(records=records, draws=draws)
    base = _base_epsilon(epsilon, rate)
    chance = lambda k: math.comb(draws, k) * records**-k * (1 - 1 / records) ** (draws - k)
    delta_at = partial(gaussian_delta, epsilon=base, noise_multiplier=noise_multiplier)
    return math.fsum(chance(k) * delta_at(distance=2.0 * k) for k in range(1, draws + 1))


enter(sampled_gaussian_delta,
      formula("G-E9", "Sampled Gaussian: to remove a record leaks more",
              statement=r"H_{e^\varepsilon}\big(N(0)\,\Vert\,(1-q)N(0) + qN(1)\big) \le "
              r"H_{e^\varepsilon}\big((1-q)N(0) + qN(1)\,\Vert\,N(0)\big),\quad \varepsilon \ge 0"),
      given(_SETTING, _SAMPLED),
      upper("Zhu, Dong & Wang 2022, part on Poisson sampling", partial(sampled_delta,
            first=0.0, second=1.0), tolerance=1e-7, absolute=1e-14, points=40),
      wrong("added-only", "Both orders count, and this is the smaller one.",
            # Q - exp(eps) ((1-q)Q + qP) = s (Q - exp(eps) q/s P) with s = 1 - exp(eps) (1-q)
            lambda epsilon, sample_rate, **noise: 0.0 if (s := 1 - math.exp(epsilon) * (1 -
            sample_rate)) <= 0 else s * gaussian_delta(epsilon=epsilon + math.log(sample_rate / s),
            **noise),
            says=r"\delta = H_{e^\varepsilon}\big(N(0)\,\Vert\,(1-q)N(0) + qN(1)\big)",
            oracle=sampled_delta),
      wrong("any-mechanism", "A theorem for Gaussian noise; in general take the larger of both.",
            poisson_delta, says=r"H_{e^\varepsilon}(Q\,\Vert\,(1-q)Q + qP) \le "
            r"H_{e^\varepsilon}((1-q)Q + qP\,\Vert\,Q) \text{ for all } P, Q", given=_ANY_RATE,
            oracle=partial(mixed_event_delta, added=True), without="noise_multiplier",
            p=Distribution(3), q=Distribution(3), epsilon=Linear(0.0, 1.0),
            sample_rate=Linear(0.05, 0.9)))


def shuffled_responses_epsilon(*, local_epsilon, records, delta):
    """Return epsilon of the number of ones in randomized responses if all other users hold 0."""
    ones = np.arange(records)
    lie, exact = (-np.log1p(math.exp(x)) for x in (local_epsilon, -local_epsilon))
    counts = gammaln(records) - gammaln(ones + 1) - gammaln(records - ones)
    others = counts + ones * lie + (records - 1 - ones) * exact
    more, same = np.append(-np.inf, others), np.append(others, -np.inf)
    total = lambda log_one, log_zero: np.logaddexp(more + log_one, same + log_zero)
    pair = Profile.from_atoms(total(exact, lie), total(lie, exact))
    return max(float(p.epsilon(delta)) for p in (pair, pair.reverse()))


def shuffled_batches_delta(*, epsilon, noise_multiplier, batches):
    """Return delta of Gaussian vectors with mean 2 or mean 1 at one random index, 0 elsewhere."""
    if batches > 2:
        return _by_simulation(epsilon, noise_multiplier, batches)
    if batches == 1:
        return mixture_delta({2.0: 1.0}, {1.0: 1.0}, epsilon, sigma=noise_multiplier)
    # The two outputs x, y have noise s; h = (x - y) / 2 is independent of m = (x + y) / 2.
    # The loss exceeds epsilon where m - 3/2 > s^2 (epsilon + ln(cosh(h/s^2) / cosh(2h/s^2))).
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
    """Return Hoeffding's 1 - 1e-9 confidence interval of delta from 20,000 simulated losses."""
    draws = 20_000
    x = sigma * np.random.default_rng(20).standard_normal((draws, batches))
    x[:, 0] += 2.0
    up = np.logaddexp.reduce(2 * x / sigma**2, axis=1) - 2 / sigma**2
    down = np.logaddexp.reduce(x / sigma**2, axis=1) - 0.5 / sigma**2
    mean = float(np.mean(-np.expm1(np.minimum(epsilon - up + down, 0.0))))
    width = math.sqrt(math.log(2 / 1e-9) / (2 * draws))
    return Interval(max(mean - width, 0.0), mean + width)


def _in_range(*, noise_multiplier, batches, delta):
    """0 < epsilon of one step <= ln(batches / (16 ln(2/delta)))"""
    local = release_epsilon(noise_multiplier=noise_multiplier, delta=delta)
    return 0 < local <= math.log(batches / (16 * math.log(2 / delta)))


@formula("G-E10", "Shuffled local randomizers")
@given("0 < local_epsilon <= log(records/(16*log(2/delta))) and 0 < delta < 1",
       records=Whole(300, 30_000), delta=Log(1e-9, 0.5), local_epsilon=Log(0.02, 8.0))
@upper("Feldman, McMillan & Talwar 2021, Theorem 3.1", shuffled_responses_epsilon, points=60)
@setting("n shuffled reports, each ε₀-DP", "n 份打乱的报告，每份 ε₀-DP", "epsilon",
         "shuffl local report 打乱", below=lambda: 0.0, local_epsilon=LOSS,
         records=Whole(300, 30_000), delta=SLACK)
@printed("0.21402565", "0.0356588", local_epsilon=1.0, records=10_000, delta=1e-6)
@wrong("batches", "The updates are neither reports of single people nor randomized beforehand.",
       lambda batches, delta, **noise: shuffle_local_randomizers(records=batches, delta=delta,
       local_epsilon=release_epsilon(delta=delta, **noise)),
       says=r"\text{the same for the } B \text{ shuffled batches of an epoch},\ n = B",
       # Lower bound of epsilon by batch_shuffling_delta_lower, less the tolerance of the search.
       given=_in_range, oracle=lambda delta, batches, **noise: Interval((1 - 1e-4) *
       oracles.smallest(lambda epsilon: batch_shuffling_delta_lower(epsilon=epsilon, **noise,
       batches=batches) <= delta, low=0.0, rtol=1e-4, high=release_epsilon(delta=delta, **noise)),
       math.inf), without="local_epsilon records", batches=Choice(1000, 10_000, 100_000),
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
@printed("0.00000100", noise_multiplier=0.5, batches=10_000, epsilon=10.9948)
@printed("0.1446", noise_multiplier=0.5, batches=10_000, epsilon=1.9532)
@wrong("poisson", "A batch that must hold the record sooner or later gives it away.",
       lambda epsilon, noise_multiplier, batches: np.exp(deltas(SampledGaussian(noise_multiplier, 1
       / batches, "remove"), batches, [epsilon])[1][0]),
       says=r"\delta_{\text{shuffled}} \le \delta \text{ of } B \text{ Poisson steps},\ q = 1/B",
       given="epsilon >= 0 and noise_multiplier > 0 and batches >= 2", kind="upper",
       oracle=lambda **at: Interval(batch_shuffling_delta_lower(**at), 1.0),
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

    # The gain is unimodal, because the likelihood ratio increases with the largest update.
    # An update less than `first` has a loss less than epsilon.
    first = 1.5 + epsilon * sigma**2
    best = maximise(gain, lower=first, upper=first + sigma**2 * math.log(batches) + 1e-9, shape=())
    return max(float(gain(best)), 0.0)
