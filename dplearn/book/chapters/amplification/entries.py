"""What chance and order do to privacy: records that are sampled, reports and batches shuffled.

The theorem depends on how: Poisson sampling goes with add/remove, a subset of fixed size with
replace-one. Shuffling anonymous *reports* amplifies privacy; shuffling the *batches* of a training
run is no Poisson sampling and amplifies less (`dplearn.mechanisms._seats`).
"""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn.book.chapters.amplification import truths
from dplearn.book.chapters.divergences.pairs import hockey_stick
from dplearn.book.chapters.gaussian.entries import gaussian_delta, gaussian_epsilon
from dplearn.book.kit.domains import Choice, Distribution, Drawn, Linear, Log, Whole
from dplearn.book.kit.entry import Interval, enter, formula, given, oracle, printed, typed, wrong
from dplearn.engine.contour import SampledGaussian, deltas
from dplearn.ground import validate
from dplearn.ground.solve import crossing, maximise

_SAMPLED = {"noise_multiplier": Log(0.4, 20.0), "sample_rate": Log(1e-3, 1.0)}
_ANY_RATE = "epsilon >= 0 and 0 < sample_rate <= 1"
_SETTING = "noise_multiplier > 0 and 0 < sample_rate <= 1 and epsilon >= 0"


def _base_epsilon(epsilon: float, sample_rate: float) -> float:
    """The epsilon that is amplified to this one."""
    return math.log1p(math.expm1(epsilon) / sample_rate)


def _amplified_delta(epsilon: float, sample_rate: float, **noise: float) -> float:
    """The rate times the delta of Gaussian noise at the epsilon that is amplified to this one."""
    return sample_rate * gaussian_delta(epsilon=_base_epsilon(epsilon, sample_rate), **noise)


@formula("G-E1", "Poisson sampling: the amplified epsilon", "identity",
         "Balle, Barthe & Gaboardi 2018, Theorem 8")
@given(_ANY_RATE, epsilon=Log(0.01, 12.0), sample_rate=Log(1e-4, 1.0))
@oracle(truths.sampled_coin_epsilon)
@typed("amplified_epsilon", "approximate_dp pure_dp", "log(1+q*(exp(epsilon)-1))")
@printed("0.158565", epsilon=1.0, sample_rate=0.1)
@wrong("linear", "The amplified epsilon is larger for every rate below 1.",
       typed("amplified_epsilon", "approximate_dp pure_dp", "q*epsilon"),
       claim="sample_rate * epsilon", kind="upper")
@wrong("twice-linear", "From epsilon = 1.26 on the exponential is larger.",
       typed("amplified_epsilon", "approximate_dp pure_dp", "2*q*epsilon"),
       claim="2 * sample_rate * epsilon", kind="upper")
@wrong("little-o", "The ratio falls to (e^eps - 1)/eps, never below 1.", claim="0.0",
       given="epsilon > 0", kind="asymptotic", oracle=lambda epsilon, sample_rate:
       (truths.sampled_coin_epsilon(epsilon=epsilon, sample_rate=sample_rate) / (sample_rate *
       epsilon)), along={"sample_rate": (0.1, 0.01, 1e-3, 1e-4)}, sample_rate=None)
def amplified_epsilon(*, epsilon, sample_rate):
    r"""\varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)"""
    validate.non_negative(epsilon=epsilon)
    validate.rate(sample_rate=sample_rate)
    return math.log1p(sample_rate * math.expm1(epsilon))


@formula("G-E1b", "Poisson sampling: the whole profile", "identity",
         "Balle, Barthe & Gaboardi 2018, Theorem 8")
@given(_ANY_RATE, p=Distribution(4), q=Distribution(4), epsilon=Linear(0.0, 2.0),
       sample_rate=Log(1e-3, 1.0))
@oracle(truths.mixed_event_delta, tolerance=1e-8)
@wrong("replaced", "With Poisson sampling the base must also be private for a record that leaves.",
       claim=lambda p, other, epsilon, sample_rate: poisson_delta(p, other, epsilon=epsilon,
       sample_rate=sample_rate),
       says=r"\text{the same for a replaced record, } P \text{ and } P' \text{ both sampled}",
       kind="upper", oracle=truths.mixed_event_delta, other=Distribution(4))
def poisson_delta(p, q, *, epsilon, sample_rate):
    r"""H_{e^{\varepsilon'}}\big((1-q)Q + qP\,\Vert\,Q\big) = q\,H_{e^\varepsilon}(P\Vert Q),\quad
    \varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)"""
    validate.non_negative(epsilon=epsilon)
    validate.rate(sample_rate=sample_rate)
    return sample_rate * hockey_stick(p, q, epsilon=_base_epsilon(epsilon, sample_rate))


def _epsilon_in_range(rng: Generator, noise_multiplier: float, sample_rate: float) -> float:
    """Between 0 and where delta is about 1e-10."""
    base = gaussian_epsilon(noise_multiplier=noise_multiplier, delta=1e-9)
    largest = amplified_epsilon(epsilon=base, sample_rate=sample_rate)
    return round(float(largest * rng.random()), 6)


_EPSILON = {"epsilon": Drawn(_epsilon_in_range)}
_AT_AMPLIFIED = {"epsilon": math.log1p(0.1 * math.expm1(1.0)), "noise_multiplier": 1.0}


@formula("G-E1c", "Profile of the Poisson-sampled Gaussian", "identity",
         "Balle, Barthe & Gaboardi 2018, Theorem 8")
@given(_SETTING, **_SAMPLED, **_EPSILON)
@oracle(truths.sampled_delta, tolerance=1e-7, absolute=1e-14, points=40)
@printed("0.01269367375", **_AT_AMPLIFIED, sample_rate=0.1)
@wrong("replaced", "Both outputs are mixtures, and their centres are twice as far apart.",
       printed("0.01269367375", "0.0229519", **_AT_AMPLIFIED, sample_rate=0.1),
       says=r"\text{the same where the record is replaced}",
       oracle=lambda **at: truths.sampled_delta(**at, second=-1.0))
@wrong("linear", "It takes q eps for the amplified epsilon, which is larger.", claim=lambda epsilon,
       noise_multiplier, sample_rate: sample_rate * gaussian_delta(epsilon=epsilon / sample_rate,
       noise_multiplier=noise_multiplier), says=r"\delta_q(q\varepsilon) = q\,\delta(\varepsilon)")
def sampled_gaussian_delta(*, epsilon, noise_multiplier, sample_rate):
    r"""\delta_q(\varepsilon') = q\,\delta(\varepsilon),\quad
    e^{\varepsilon'} = 1 + q(e^\varepsilon - 1),\ \delta \text{ of Gaussian noise}"""
    validate.rate(sample_rate=sample_rate)
    return _amplified_delta(epsilon, sample_rate, noise_multiplier=noise_multiplier)


_ANY_SUBSET = "noise_multiplier > 0 and epsilon >= 0 and 1 <= batch <= records"
_SUBSET = {"records": Whole(1, 7),
           "batch": Drawn(lambda rng, records: int(rng.integers(1, records + 1))),
           "noise_multiplier": Log(0.5, 10.0), "epsilon": Log(0.01, 3.0)}
_ONE_OF_TEN = {**_AT_AMPLIFIED, "records": 10, "batch": 1}


@formula("G-E2", "Sampling without replacement: Gaussian noise", "identity",
         "Balle, Barthe & Gaboardi 2018, Theorem 9")
@given(_ANY_SUBSET, **_SUBSET)
@oracle(truths.subset_delta, tolerance=1e-7, absolute=1e-13, points=40)
@printed("0.05098616601", **_ONE_OF_TEN)
@wrong("own-norm", "The theorem is for a replaced record, whose contribution may turn round: 2C.",
       printed("0.01269367375", "0.05098616601", **_ONE_OF_TEN), claim=lambda epsilon,
       noise_multiplier, records, batch: sampled_gaussian_delta(epsilon=epsilon,
       noise_multiplier=noise_multiplier, sample_rate=batch / records),
       says=r"\delta_{m/n}(\varepsilon') = q\,\delta_{C}(\varepsilon): \text{ Poisson accounting}")
def without_replacement_delta(*, epsilon, noise_multiplier, records, batch):
    r"""\delta_{m/n}(\varepsilon') = q\,\delta_{2C}(\varepsilon),\quad
    e^{\varepsilon'} = 1 + q(e^\varepsilon - 1),\ q = m/n"""
    validate.integer(minimum=1, records=records)
    validate.integer(minimum=1, maximum=records, batch=batch)
    noise = {"noise_multiplier": noise_multiplier, "distance": 2.0}
    return _amplified_delta(epsilon, batch / records, **noise)


enter(
    without_replacement_delta,
    formula("G-E2b", "Sampling without replacement: any dataset", "upper",
            "Balle, Barthe & Gaboardi 2018, Theorem 9", statement=r"\delta(\varepsilon') \le "
            r"q\,\delta_{2C}(\varepsilon) \text{ for all } |x_i| \le C"),
    given(_ANY_SUBSET, **_SUBSET,
          others=Drawn(lambda rng, records: rng.uniform(-1, 1, records - 1).round(2)),
          first=Linear(-1.0, 1.0), second=Linear(-1.0, 1.0)),
    oracle(truths.subset_delta, tolerance=1e-7, absolute=1e-13, points=40),
)


@formula("G-E3", "Sampling with replacement: chance to take part", "identity",
         "Balle, Barthe & Gaboardi 2018, Theorem 10")
@given("records >= 1 and draws >= 1", records=Whole(1, 2000), draws=Whole(1, 300))
@oracle(truths.chance_of_any)
@printed("0.095617925", records=100, draws=10)
@wrong("ratio", "Too large as a chance, and blind to a record that is drawn more than once.",
       printed("0.1", records=100, draws=10), claim="draws / records")
def with_replacement_rate(*, records, draws):
    r"""q = 1 - (1 - 1/n)^m"""
    validate.integer(minimum=1, records=records, draws=draws)
    return 1.0 if records == 1 else -math.expm1(draws * math.log1p(-1 / records))


@formula("G-E3b", "Sampling with replacement: Gaussian noise", "upper",
         "Balle, Barthe & Gaboardi 2018, Theorem 10")
@given("noise_multiplier > 0 and epsilon >= 0 and records >= 1 and draws >= 1", records=Whole(1, 5),
       draws=Whole(1, 4), noise_multiplier=Log(0.5, 10.0), epsilon=Log(0.01, 3.0))
@oracle(truths.draws_delta, tolerance=1e-7, absolute=1e-13, points=40)
@wrong("no-multiplicities", "A record that is drawn k times contributes k times.", claim=lambda
       epsilon, noise_multiplier, records, draws: _amplified_delta(epsilon,
       with_replacement_rate(records=records, draws=draws), noise_multiplier=noise_multiplier,
       distance=2.0), says=r"\delta(\varepsilon') \le q\,\delta_{2C}(\varepsilon)")
@wrong("ratio", "A larger chance does not make up for the record that is drawn twice.", claim=lambda
       epsilon, noise_multiplier, records, draws: without_replacement_delta(epsilon=epsilon,
       noise_multiplier=noise_multiplier, records=records, batch=draws),
       says=r"\delta(\varepsilon') \le \tfrac mn\,\delta_{2C}(\varepsilon),\ q = m/n",
       given="noise_multiplier > 0 and epsilon >= 0 and draws <= records")
def with_replacement_delta(*, epsilon, noise_multiplier, records, draws):
    r"""\delta(\varepsilon') \le \sum_{k=1}^m \binom mk n^{-k}(1 - 1/n)^{m-k}\,
    \delta_{2kC}(\varepsilon),\quad e^{\varepsilon'} = 1 + q(e^\varepsilon - 1)"""
    rate = with_replacement_rate(records=records, draws=draws)
    base = _base_epsilon(epsilon, rate)
    return math.fsum(
        math.comb(draws, k) * records**-k * (1 - 1 / records) ** (draws - k)
        * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier, distance=2.0 * k)
        for k in range(1, draws + 1)
    )  # fmt: skip


def _added_delta(*, epsilon, noise_multiplier, sample_rate):
    """Q - e^eps ((1-q)Q + qP) = s (Q - e^base P) with s = 1 - e^eps (1-q)."""
    scale = 1 - math.exp(epsilon) * (1 - sample_rate)
    if scale <= 0:
        return 0.0
    base = epsilon + math.log(sample_rate / scale)
    return scale * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier)


enter(
    sampled_gaussian_delta,
    formula("G-E9", "Sampled Gaussian: to remove a record leaks more", "upper",
            "Zhu, Dong & Wang 2022, part on Poisson sampling",
            statement=r"H_{e^\varepsilon}\big(N(0)\,\Vert\,(1-q)N(0) "
            r"+ qN(1)\big) \le H_{e^\varepsilon}\big((1-q)N(0) + qN(1)\,\Vert\,N(0)\big),\quad "
            r"\varepsilon \ge 0"),
    given(_SETTING, **_SAMPLED, **_EPSILON),
    oracle(lambda **at: truths.sampled_delta(**at, first=0.0, second=1.0), tolerance=1e-7,
           absolute=1e-14, points=40),
    wrong("added-only", "Both orders count, and this is the smaller one.", claim=_added_delta,
          says=r"\delta = H_{e^\varepsilon}\big(N(0)\,\Vert\,(1-q)N(0) + qN(1)\big)",
          oracle=truths.sampled_delta),
    wrong("any-mechanism", "A theorem for Gaussian noise; in general take the larger of both.",
          claim=poisson_delta, says=r"H_{e^\varepsilon}(Q\,\Vert\,(1-q)Q + qP) \le "
          r"H_{e^\varepsilon}((1-q)Q + qP\,\Vert\,Q) \text{ for all } P, Q", given=_ANY_RATE,
          oracle=lambda p, q, epsilon, sample_rate: truths.mixed_event_delta(p=p, q=q,
          epsilon=epsilon, sample_rate=sample_rate, added=True), noise_multiplier=None,
          p=Distribution(3), q=Distribution(3), epsilon=Linear(0.0, 1.0),
          sample_rate=Linear(0.05, 0.9)),
)


def _few_batches_epsilon(*, noise_multiplier, batches, delta):
    """At least what `batch_shuffling_delta_lower` shows."""
    epoch = {"noise_multiplier": noise_multiplier, "batches": batches}

    def log_excess(epsilon: float) -> float:
        lower = batch_shuffling_delta_lower(epsilon=epsilon, **epoch)
        return math.log(lower / delta) if lower > 0 else -math.inf

    if log_excess(0.0) <= 0:
        return Interval(0.0, math.inf)
    upper = gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta)
    ends: dict = {"lower": 0.0, "upper": upper, "tolerance": 1e-4 * upper}
    return Interval(max(crossing(log_excess, guess=0.7 * upper, **ends).below, 0.0), math.inf)


def _in_range(*, noise_multiplier, batches, delta):
    """0 < epsilon of one step <= ln(batches / (16 ln(2/delta)))"""
    local = gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta)
    return 0 < local <= math.log(batches / (16 * math.log(2 / delta)))


@formula("G-E10", "Shuffled local randomizers", "upper",
         "Feldman, McMillan & Talwar 2021, Theorem 3.1")
@given("0 < local_epsilon <= log(records/(16*log(2/delta))) and 0 < delta < 1",
       records=Whole(300, 30_000), delta=Log(1e-9, 0.5), local_epsilon=Log(0.02, 8.0))
@oracle(truths.shuffled_coins_epsilon, tolerance=1e-7, points=60)
@printed("0.21402565", "0.0356588", local_epsilon=1.0, records=10_000, delta=1e-6)
@wrong("batches", "The updates are neither reports of single people nor randomized beforehand.",
       claim=lambda noise_multiplier, batches, delta: shuffle_local_randomizers(records=batches,
       delta=delta, local_epsilon=gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta)),
       says=r"\text{the same for the } B \text{ shuffled batches of an epoch},\ n = B",
       given=_in_range, oracle=_few_batches_epsilon, local_epsilon=None, records=None,
       batches=Choice(1000, 10_000, 100_000), noise_multiplier=Log(0.7, 4.0),
       delta=Choice(1e-6, 1e-5))
@wrong("any-epsilon", "So few other reports are lies that there is no crowd to hide in.",
       claim="log1p(tanh(local_epsilon "
       "/ 2) * (8 * sqrt(exp(local_epsilon) * log(4 / delta) / records) + 8 * exp(local_epsilon) "
       "/ records))", given="0 < delta < 1")
def shuffle_local_randomizers(*, local_epsilon, records, delta):
    r"""\varepsilon \le \ln\Big(1 + \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}\Big(
    \frac{8\sqrt{e^{\varepsilon_0}\ln(4/\delta)}}{\sqrt n} + \frac{8e^{\varepsilon_0}}n\Big)\Big)

    local_epsilon: pure guarantee of each report, nats"""
    validate.positive(local_epsilon=local_epsilon)
    validate.integer(minimum=1, records=records)
    validate.probability(delta=delta)
    largest = math.log(records / (16 * math.log(2 / delta)))
    if local_epsilon > largest:
        raise ValueError(
            f"Expected local_epsilon <= ln(n / (16 ln(2/delta))) = {largest:.4g}, "
            f"got local_epsilon={local_epsilon!r}."
        )
    odds = math.exp(local_epsilon)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / records) + 8 * odds / records
    return math.log1p(math.tanh(local_epsilon / 2) * spread)


_ANY_EPOCH = "epsilon >= 0 and noise_multiplier > 0 and batches >= 1"
_EPOCH = {"epsilon": Linear(0.0, 4.0), "noise_multiplier": Log(0.4, 4.0),
          "batches": Choice(1, 2, 2, 4, 20)}
_LONG_EPOCH = {"noise_multiplier": 0.5, "batches": 10_000}


@formula("G-E11", "Shuffled batches: what an epoch is known to leak", "lower",
         "Chua et al. 2024, How private are DP-SGD implementations?, Section 4")
@given(_ANY_EPOCH, **_EPOCH)
@oracle(truths.shuffled_batches_delta, tolerance=1e-6, absolute=1e-12, points=40)
@printed("0.00000100", epsilon=10.9948, **_LONG_EPOCH)
@printed("0.1446", epsilon=1.9532, **_LONG_EPOCH)
@wrong("poisson", "A batch that must hold the record sooner or later gives it away.",
       printed("0.00000100", epsilon=1.9532, **_LONG_EPOCH), claim=lambda epsilon, noise_multiplier,
       batches: np.exp(deltas(SampledGaussian(noise_multiplier, 1 / batches, "remove"), batches,
       [epsilon])[1][0]),
       says=r"\delta_{\text{shuffled}} \le \delta \text{ of } B \text{ Poisson steps},\ q = 1/B",
       given="epsilon >= 0 and noise_multiplier > 0 and batches >= 2", kind="upper",
       oracle=lambda **epoch: Interval(batch_shuffling_delta_lower(**epoch), 1.0),
       epsilon=Linear(0.5, 6.0), noise_multiplier=Log(0.45, 1.5), batches=Choice(100, 1000, 10_000))
def batch_shuffling_delta_lower(*, epsilon, noise_multiplier, batches):
    r"""\delta(\varepsilon) \ge \max_C\ P(\max_t w_t > C) - e^\varepsilon Q(\max_t w_t > C),\quad P
    = \tfrac1B\sum_t N(2e_t, \sigma^2I),\ Q = \tfrac1B\sum_t N(e_t, \sigma^2I)

    One record contributes +1 where all others contribute -1; zeroed out it contributes 0. The test
    looks at the largest of the B recentred updates, :math:`w_t`."""
    validate.non_negative(epsilon=epsilon)
    validate.positive(noise_multiplier=noise_multiplier)
    validate.integer(minimum=1, batches=batches)
    sigma = noise_multiplier

    def gain(threshold: NDArray) -> NDArray:
        others = (batches - 1) * log_ndtr(threshold / sigma)
        shifted = ((threshold - shift) / sigma for shift in (2.0, 1.0))
        above_p, above_q = (-np.expm1(others + log_ndtr(x)) for x in shifted)
        with np.errstate(divide="ignore"):
            return above_p - np.exp(np.minimum(epsilon + np.log(above_q), 700.0))

    # Unimodal, because the likelihood ratio of the largest update grows. Left of the first end
    # even the update that holds the record has a smaller loss than epsilon.
    first = 1.5 + epsilon * sigma**2
    best = maximise(gain, lower=first, upper=first + sigma**2 * math.log(batches) + 1e-9, shape=())
    return max(float(gain(best)), 0.0)


enter(
    gaussian_delta,
    formula("G-E11b", "Shuffled batches: no more than one release", "upper",
            "Chua et al. 2024, How private are DP-SGD implementations?, Section 4",
            statement=r"\delta_{\text{shuffled}}(\varepsilon) "
            r"\le \Phi\Big(\frac1{2\sigma} - \varepsilon\sigma\Big) - "
            r"e^\varepsilon\Phi\Big(-\frac1{2\sigma} - \varepsilon\sigma\Big)"),
    given(_ANY_EPOCH, **_EPOCH),
    oracle(truths.shuffled_batches_delta, tolerance=1e-6, absolute=1e-12, points=40),
    printed("0.00000100", epsilon=10.9972, **_LONG_EPOCH),
)
