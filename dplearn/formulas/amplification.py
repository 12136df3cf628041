r"""What chance and order do to privacy: records sampled, reports shuffled, batches shuffled.

Sampling hides whether a record took part, and the theorem depends on how: Poisson sampling goes
with add/remove, a subset of fixed size with replace-one. Shuffling anonymous *reports* amplifies
privacy; shuffling the *batches* of a training run is no Poisson sampling and has no such theorem.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from dplearn.engine.contour import SampledGaussian, deltas
from dplearn.formulas import _oracles as oracles
from dplearn.formulas import _oracles_amplification as samples
from dplearn.formulas._base import Interval, Misprint, formula
from dplearn.formulas._domains import (
    Choice,
    Distribution,
    Given,
    Linear,
    Log,
    Parameters,
    Whole,
)
from dplearn.formulas.divergences import hockey_stick
from dplearn.formulas.gaussian import gaussian_delta, gaussian_epsilon
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference
from dplearn.ground.solve import crossing, maximise

_BBG = "Balle, Barthe & Gaboardi"
_MTZ = "Mironov, Talwar & Zhang"
_SAMPLED = {"noise_multiplier": Log(0.4, 20.0), "sample_rate": Log(1e-3, 1.0)}
_RATE = "noise_multiplier > 0 and 0 < sample_rate and sample_rate <= 1"


def _base_epsilon(epsilon: float, sample_rate: float) -> float:
    """The epsilon that is amplified to this one."""
    return math.log1p(math.expm1(epsilon) / sample_rate)


# Profiles of samples


def _sampled_coin_epsilon(*, epsilon: float, sample_rate: float) -> float:
    """Worst event, in both orders, of a randomized response that is asked with some chance."""
    p, q = oracles.randomized_response(epsilon=epsilon)
    mixed = sample_rate * p + (1 - sample_rate) * q
    return max(oracles.worst_event_epsilon(p=mixed, q=q), oracles.worst_event_epsilon(p=q, q=mixed))


def _gain_over_rate(*, epsilon: float, sample_rate: float) -> float:
    return _sampled_coin_epsilon(epsilon=epsilon, sample_rate=sample_rate) / (sample_rate * epsilon)


@formula(
    "G-E1",
    title="Poisson sampling: the amplified epsilon",
    kind="identity",
    statement=r"\varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)",
    requires="epsilon >= 0 and 0 < sample_rate and sample_rate <= 1",
    reference=Reference(_BBG, 2018, "Theorem 8"),
    domain={"epsilon": Log(0.01, 12.0), "sample_rate": Log(1e-4, 1.0)},
    oracle=_sampled_coin_epsilon,
    examples=[({"epsilon": 1.0, "sample_rate": 0.1}, "0.158565")],
    misprints=[
        Misprint(
            "linear",
            r"\varepsilon' \le q\varepsilon",
            claim=lambda epsilon, sample_rate: sample_rate * epsilon,
            kind="upper",
            source="papers and notebooks; one published curve of strong composition rests on it",
            note="The amplified epsilon is larger for every rate below 1.",
            seen=("F47",),
        ),
        Misprint(
            "twice-linear",
            r"\varepsilon' \le 2q\varepsilon",
            claim=lambda epsilon, sample_rate: 2 * sample_rate * epsilon,
            kind="upper",
            source="a bound for epsilon <= 1, quoted without its range",
            note="From epsilon = 1.26 on the exponential is larger.",
        ),
        Misprint(
            "little-o",
            r"\varepsilon' = o(q\varepsilon)",
            claim=lambda: 0.0,
            requires="epsilon > 0",
            domain={"sample_rate": None},
            along={"sample_rate": (0.1, 0.01, 1e-3, 1e-4)},
            kind="asymptotic",
            oracle=_gain_over_rate,
            source="lecture notes",
            note="The ratio falls to (e^eps - 1)/eps, never below 1.",
            seen=("F17",),
        ),
    ],
)
def amplified_epsilon(*, epsilon: float, sample_rate: float) -> float:
    r"""Epsilon :math:`\ln(1 + q(e^\varepsilon - 1))` of a mechanism run on a Poisson sample.

    Parameters
    ----------
    epsilon : float
        Of the mechanism itself, >= 0, nats, add_remove. For a subset of fixed size the same
        holds under replace_one, for base and result.
    sample_rate : float
        q in (0, 1].

    Returns
    -------
    float
        Nats, at delta times q; no smaller value holds for every mechanism.

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorems 8 and 9; Li, Qardaji & Su (2012).

    Examples
    --------
    >>> round(amplified_epsilon(epsilon=1.0, sample_rate=0.1), 6)
    0.158565
    """
    validate.non_negative(epsilon=epsilon)
    validate.rate(sample_rate=sample_rate)
    return math.log1p(sample_rate * math.expm1(epsilon))


def _mixed_event_delta(*, p: NDArray, q: NDArray, epsilon: float, sample_rate: float) -> float:
    mixed = sample_rate * p + (1 - sample_rate) * q
    return max(oracles.worst_event_delta(p=mixed, q=q, epsilon=epsilon), 0.0)


def _mixed_event_delta_added(
    *, p: NDArray, q: NDArray, epsilon: float, sample_rate: float
) -> float:
    mixed = sample_rate * p + (1 - sample_rate) * q
    return max(oracles.worst_event_delta(p=q, q=mixed, epsilon=epsilon), 0.0)


def _mixed_event_delta_replaced(
    *, p: NDArray, q: NDArray, other: NDArray, epsilon: float, sample_rate: float
) -> float:
    mixed, replaced = (sample_rate * law + (1 - sample_rate) * q for law in (p, other))
    return max(oracles.worst_event_delta(p=mixed, q=replaced, epsilon=epsilon), 0.0)


def _as_if_replaced(*, p: NDArray, other: NDArray, epsilon: float, sample_rate: float) -> float:
    return sample_rate * hockey_stick(p, other, epsilon=_base_epsilon(epsilon, sample_rate))


@formula(
    "G-E1b",
    title="Poisson sampling: the whole profile",
    kind="identity",
    statement=r"""H_{e^{\varepsilon'}}\big((1-q)Q + qP\,\Vert\,Q\big)
        = q\,H_{e^\varepsilon}(P\Vert Q),\quad
        \varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)""",
    requires="epsilon >= 0 and 0 < sample_rate and sample_rate <= 1",
    reference=Reference(_BBG, 2018, "Theorem 8"),
    domain={
        "p": Distribution(4),
        "q": Distribution(4),
        "epsilon": Linear(0.0, 2.0),
        "sample_rate": Log(1e-3, 1.0),
    },
    oracle=_mixed_event_delta,
    tolerance=1e-8,
    misprints=[
        Misprint(
            "replaced",
            r"\text{the same for a replaced record, } P \text{ and } P' \text{ both sampled}",
            claim=_as_if_replaced,
            kind="upper",
            oracle=_mixed_event_delta_replaced,
            domain={"other": Distribution(4)},
            source="software that takes the neighbours as an option of the accountant",
            note="With Poisson sampling the base must also be private for a record that leaves.",
            seen=("F13", "F16"),
        ),
    ],
)
def poisson_delta(p: ArrayLike, q: ArrayLike, *, epsilon: float, sample_rate: float) -> float:
    r"""Delta at `epsilon` of a release run on a Poisson sample, a record removed.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities of the outputs with the record in the sample, and without it.
    epsilon : float
        After amplification, >= 0, nats.
    sample_rate : float
        q in (0, 1].

    Returns
    -------
    float
        Exact.

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorem 8.

    Examples
    --------
    >>> epsilon = amplified_epsilon(epsilon=0.5, sample_rate=0.1)
    >>> round(poisson_delta([0.5, 0.5], [0.2, 0.8], epsilon=epsilon, sample_rate=0.1), 6)
    0.017026
    """
    validate.non_negative(epsilon=epsilon)
    validate.rate(sample_rate=sample_rate)
    return sample_rate * hockey_stick(p, q, epsilon=_base_epsilon(epsilon, sample_rate))


def _some_epsilon(rng: Generator, drawn: Parameters) -> float:
    """Between 0 and where delta is about 1e-10."""
    largest = amplified_epsilon(
        epsilon=gaussian_epsilon(noise_multiplier=drawn["noise_multiplier"], delta=1e-9),
        sample_rate=drawn["sample_rate"],
    )
    return round(float(largest * rng.random()), 6)


_EPSILON = {"epsilon": Given(_some_epsilon)}
_AT_AMPLIFIED = {"epsilon": math.log1p(0.1 * math.expm1(1.0)), "noise_multiplier": 1.0}


def _no_shift(*, epsilon: float, noise_multiplier: float, sample_rate: float) -> float:
    base = gaussian_delta(epsilon=epsilon / sample_rate, noise_multiplier=noise_multiplier)
    return sample_rate * base


@formula(
    "G-E1c",
    title="Profile of the Poisson-sampled Gaussian",
    kind="identity",
    statement=r"""\delta_q(\varepsilon') = q\,\delta(\varepsilon),\quad
        e^{\varepsilon'} = 1 + q(e^\varepsilon - 1),\ \delta \text{ of Gaussian noise}""",
    requires=_RATE + " and epsilon >= 0",
    reference=Reference(_BBG, 2018, "Theorem 8"),
    domain={**_SAMPLED, **_EPSILON},
    oracle=samples.sampled_delta,
    tolerance=1e-7,
    absolute=1e-14,
    points=40,
    examples=[({**_AT_AMPLIFIED, "sample_rate": 0.1}, "0.01269367375")],
    misprints=[
        Misprint(
            "replaced",
            r"\text{the same where the record is replaced}",
            oracle=samples.sampled_delta_replaced,
            source="lecture notes that leave the neighbours open",
            note="Both outputs are mixtures, and their centres are twice as far apart.",
            seen=("F04", "F13", "F16"),
            examples=[({**_AT_AMPLIFIED, "sample_rate": 0.1}, "0.01269367375", "0.0229519")],
        ),
        Misprint(
            "linear",
            r"\delta_q(q\varepsilon) = q\,\delta(\varepsilon)",
            claim=_no_shift,
            source="the simple amplification rule",
            note="It takes q eps for the amplified epsilon, which is larger.",
            seen=("F47",),
        ),
    ],
)
def sampled_gaussian_delta(*, epsilon: float, noise_multiplier: float, sample_rate: float) -> float:
    """Delta at `epsilon` of Gaussian noise on a Poisson sample, a record removed.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    sample_rate : float
        q in (0, 1].

    Returns
    -------
    float
        Exact, one step, add_remove: a record added leaks less (G-E9).

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorem 8.

    Examples
    --------
    >>> found = sampled_gaussian_delta(epsilon=0.158565, noise_multiplier=1.0, sample_rate=0.1)
    >>> round(found, 6)
    0.012694
    """
    validate.rate(sample_rate=sample_rate)
    base = _base_epsilon(epsilon, sample_rate)
    return sample_rate * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier)


def _batch_of(rng: Generator, drawn: Parameters) -> int:
    return int(rng.integers(1, drawn["records"] + 1))


_SUBSET = {
    "records": Whole(1, 7),
    "batch": Given(_batch_of),
    "noise_multiplier": Log(0.5, 10.0),
    "epsilon": Log(0.01, 3.0),
}
_ONE_OF_TEN = {**_AT_AMPLIFIED, "records": 10, "batch": 1}


@formula(
    "G-E2",
    title="Sampling without replacement: Gaussian noise",
    kind="identity",
    statement=r"""\delta_{m/n}(\varepsilon') = q\,\delta_{2C}(\varepsilon),\quad
        e^{\varepsilon'} = 1 + q(e^\varepsilon - 1),\ q = m/n""",
    requires="noise_multiplier > 0 and epsilon >= 0 and 1 <= batch and batch <= records",
    reference=Reference(_BBG, 2018, "Theorem 9"),
    domain=_SUBSET,
    oracle=samples.subset_delta,
    tolerance=1e-7,
    absolute=1e-13,
    points=40,
    examples=[(_ONE_OF_TEN, "0.05098616601")],
    misprints=[
        Misprint(
            "own-norm",
            r"\delta_{m/n}(\varepsilon') = q\,\delta_{C}(\varepsilon): \text{ Poisson accounting}",
            claim=lambda epsilon, noise_multiplier, records, batch: sampled_gaussian_delta(
                epsilon=epsilon, noise_multiplier=noise_multiplier, sample_rate=batch / records
            ),
            source="lecture notes and training code with loaders of fixed batch size",
            note="The theorem is for a replaced record, whose contribution may turn round: 2C.",
            seen=("F13", "F16", "F74"),
            examples=[(_ONE_OF_TEN, "0.01269367375", "0.05098616601")],
        ),
    ],
)
def without_replacement_delta(
    *, epsilon: float, noise_multiplier: float, records: int, batch: int
) -> float:
    """Delta at `epsilon` of Gaussian noise on a random subset of fixed size.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    records, batch : int
        Sizes of the dataset and of the subset.

    Returns
    -------
    float
        Exact, one step, replace_one: some pair of datasets attains it.

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorem 9.

    Examples
    --------
    >>> epsilon = amplified_epsilon(epsilon=1.0, sample_rate=0.1)
    >>> found = without_replacement_delta(
    ...     epsilon=epsilon, noise_multiplier=1.0, records=10, batch=1
    ... )
    >>> round(found, 10)
    0.050986166
    """
    validate.integer(minimum=1, records=records)
    validate.integer(minimum=1, maximum=records, batch=batch)
    rate = batch / records
    base = _base_epsilon(epsilon, rate)
    return rate * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier, distance=2.0)


formula(
    "G-E2b",
    title="Sampling without replacement: any dataset",
    kind="upper",
    statement=r"\delta(\varepsilon') \le q\,\delta_{2C}(\varepsilon) \text{ for all } |x_i| \le C",
    requires="noise_multiplier > 0 and epsilon >= 0 and 1 <= batch and batch <= records",
    reference=Reference(_BBG, 2018, "Theorem 9"),
    domain={
        **_SUBSET,
        "others": Given(lambda rng, drawn: rng.uniform(-1, 1, drawn["records"] - 1).round(2)),
        "first": Linear(-1.0, 1.0),
        "second": Linear(-1.0, 1.0),
    },
    oracle=samples.any_subset_delta,
    tolerance=1e-7,
    absolute=1e-13,
    points=40,
)(without_replacement_delta)


def _chance_of_any(*, records: int, draws: int) -> float:
    """All numbers of times that the record can be drawn, one at a time."""
    return sum(math.comb(draws, k) * (records - 1) ** (draws - k) for k in range(1, draws + 1)) / (
        records**draws
    )


@formula(
    "G-E3",
    title="Sampling with replacement: chance to take part",
    kind="identity",
    statement=r"q = 1 - (1 - 1/n)^m",
    requires="records >= 1 and draws >= 1",
    reference=Reference(_BBG, 2018, "Theorem 10"),
    domain={"records": Whole(1, 2000), "draws": Whole(1, 300)},
    oracle=_chance_of_any,
    examples=[({"records": 100, "draws": 10}, "0.095617925")],
    misprints=[
        Misprint(
            "ratio",
            r"q = m/n",
            claim=lambda records, draws: draws / records,
            source="code that samples indices with replacement",
            note="Too large as a chance, and blind to a record that is drawn more than once.",
            examples=[({"records": 100, "draws": 10}, "0.1")],
        ),
    ],
)
def with_replacement_rate(*, records: int, draws: int) -> float:
    """Chance :math:`1 - (1 - 1/n)^m` that a record is among `draws` draws with replacement.

    Parameters
    ----------
    records, draws : int
        n, m >= 1.

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorem 10.

    Examples
    --------
    >>> round(with_replacement_rate(records=100, draws=10), 9)
    0.095617925
    """
    validate.integer(minimum=1, records=records, draws=draws)
    return 1.0 if records == 1 else -math.expm1(draws * math.log1p(-1 / records))


def _no_multiplicities(
    *, epsilon: float, noise_multiplier: float, records: int, draws: int
) -> float:
    rate = with_replacement_rate(records=records, draws=draws)
    base = _base_epsilon(epsilon, rate)
    return rate * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier, distance=2.0)


@formula(
    "G-E3b",
    title="Sampling with replacement: Gaussian noise",
    kind="upper",
    statement=r"""\delta(\varepsilon') \le \sum_{k=1}^m \binom mk n^{-k}(1 - 1/n)^{m-k}\,
        \delta_{2kC}(\varepsilon),\quad e^{\varepsilon'} = 1 + q(e^\varepsilon - 1)""",
    requires="noise_multiplier > 0 and epsilon >= 0 and records >= 1 and draws >= 1",
    reference=Reference(_BBG, 2018, "Theorem 10"),
    domain={
        "records": Whole(1, 5),
        "draws": Whole(1, 4),
        "noise_multiplier": Log(0.5, 10.0),
        "epsilon": Log(0.01, 3.0),
    },
    oracle=samples.draws_delta,
    tolerance=1e-7,
    absolute=1e-13,
    points=40,
    misprints=[
        Misprint(
            "no-multiplicities",
            r"\delta(\varepsilon') \le q\,\delta_{2C}(\varepsilon)",
            claim=_no_multiplicities,
            source="the theorem for subsets, applied to draws",
            note="A record that is drawn k times contributes k times.",
        ),
        Misprint(
            "ratio",
            r"\delta(\varepsilon') \le \tfrac mn\,\delta_{2C}(\varepsilon),\ q = m/n",
            claim=lambda epsilon, noise_multiplier, records, draws: without_replacement_delta(
                epsilon=epsilon, noise_multiplier=noise_multiplier, records=records, batch=draws
            ),
            requires="noise_multiplier > 0 and epsilon >= 0 and draws <= records",
            source="code that samples indices with replacement",
            note="A larger chance does not make up for the record that is drawn twice.",
        ),
    ],
)
def with_replacement_delta(
    *, epsilon: float, noise_multiplier: float, records: int, draws: int
) -> float:
    """Delta at `epsilon` of Gaussian noise on the sum over draws with replacement.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    records, draws : int
        n, m >= 1.

    Returns
    -------
    float
        Upper bound, one step, replace_one.

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorem 10.

    Examples
    --------
    >>> found = with_replacement_delta(
    ...     epsilon=0.2, noise_multiplier=2.0, records=100, draws=10
    ... )
    >>> round(found, 6)
    0.010661
    """
    rate = with_replacement_rate(records=records, draws=draws)
    base = _base_epsilon(epsilon, rate)
    return math.fsum(
        math.comb(draws, k) * records**-k * (1 - 1 / records) ** (draws - k)
        * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier, distance=2.0 * k)
        for k in range(1, draws + 1)
    )  # fmt: skip


# Directions


def _added_delta(*, epsilon: float, noise_multiplier: float, sample_rate: float) -> float:
    """Q - e^eps ((1-q)Q + qP) = s (Q - e^base P) with s = 1 - e^eps (1-q)."""
    rest = 1 - math.exp(epsilon) * (1 - sample_rate)
    if rest <= 0:
        return 0.0
    base = epsilon + math.log(sample_rate / rest)
    return rest * gaussian_delta(epsilon=base, noise_multiplier=noise_multiplier)


formula(
    "G-E9",
    title="Sampled Gaussian: to remove a record leaks more",
    kind="upper",
    statement=r"""H_{e^\varepsilon}\big(N(0)\,\Vert\,(1-q)N(0) + qN(1)\big)
        \le H_{e^\varepsilon}\big((1-q)N(0) + qN(1)\,\Vert\,N(0)\big),\quad \varepsilon \ge 0""",
    requires=_RATE + " and epsilon >= 0",
    reference=Reference("Zhu, Dong & Wang", 2022, "part on Poisson sampling"),
    domain={**_SAMPLED, **_EPSILON},
    oracle=samples.sampled_delta_added,
    tolerance=1e-7,
    absolute=1e-14,
    points=40,
    misprints=[
        Misprint(
            "added-only",
            r"\delta = H_{e^\varepsilon}\big(N(0)\,\Vert\,(1-q)N(0) + qN(1)\big)",
            claim=_added_delta,
            oracle=samples.sampled_delta,
            source="code that accounts for one order of the neighbours",
            note="Both orders count, and this is the smaller one.",
        ),
        Misprint(
            "any-mechanism",
            r"H_{e^\varepsilon}(Q\,\Vert\,(1-q)Q + qP)"
            r" \le H_{e^\varepsilon}((1-q)Q + qP\,\Vert\,Q) \text{ for all } P, Q",
            claim=poisson_delta,
            requires="epsilon >= 0 and 0 < sample_rate and sample_rate <= 1",
            domain={
                "noise_multiplier": None,
                "p": Distribution(3),
                "q": Distribution(3),
                "epsilon": Linear(0.0, 1.0),
                "sample_rate": Linear(0.05, 0.9),
            },
            oracle=_mixed_event_delta_added,
            source="notes that drop one order for every mechanism",
            note="A theorem for Gaussian noise; in general take the larger of both.",
            seen=("F39",),
        ),
    ],
)(sampled_gaussian_delta)


# Shuffling


def _few_batches_epsilon(*, noise_multiplier: float, batches: int, delta: float) -> Interval:
    """At least what `batch_shuffling_delta_lower` shows."""

    def log_excess(epsilon: float) -> float:
        found = batch_shuffling_delta_lower(
            epsilon=epsilon, noise_multiplier=noise_multiplier, batches=batches
        )
        return math.log(found / delta) if found > 0 else -math.inf

    if log_excess(0.0) <= 0:
        return Interval(0.0, math.inf)
    upper = gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta)
    found = crossing(log_excess, guess=0.7 * upper, lower=0.0, upper=upper, tolerance=1e-4 * upper)
    return Interval(max(found.below, 0.0), math.inf)


def _batches_as_reports(*, noise_multiplier: float, batches: int, delta: float) -> float:
    return shuffle_local_randomizers(
        local_epsilon=gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta),
        records=batches,
        delta=delta,
    )


def _in_range(*, noise_multiplier: float, batches: int, delta: float) -> bool:
    """0 < epsilon of one step <= ln(batches / (16 ln(2/delta)))"""
    local = gaussian_epsilon(noise_multiplier=noise_multiplier, delta=delta)
    return 0 < local <= math.log(batches / (16 * math.log(2 / delta)))


def _by_clones(*, local_epsilon: float, records: int, delta: float) -> float:
    odds = math.exp(local_epsilon)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / records) + 8 * odds / records
    return math.log1p(math.tanh(local_epsilon / 2) * spread)


@formula(
    "G-E10",
    title="Shuffled local randomizers",
    kind="upper",
    statement=r"""\varepsilon \le \ln\Big(1 + \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}\Big(
        \frac{8\sqrt{e^{\varepsilon_0}\ln(4/\delta)}}{\sqrt n}
        + \frac{8e^{\varepsilon_0}}n\Big)\Big)""",
    requires="0 < local_epsilon and local_epsilon <= log(records/(16*log(2/delta)))"
    " and 0 < delta and delta < 1",
    reference=Reference("Feldman, McMillan & Talwar", 2021, "Theorem 3.1"),
    domain={
        "records": Whole(300, 30_000),
        "delta": Log(1e-9, 0.5),
        "local_epsilon": Log(0.02, 8.0),
    },
    oracle=samples.shuffled_coins_epsilon,
    tolerance=1e-7,
    points=60,
    examples=[
        ({"local_epsilon": 1.0, "records": 10_000, "delta": 1e-6}, "0.21402565", "0.0356588"),
    ],
    misprints=[
        Misprint(
            "batches",
            r"\text{the same for the } B \text{ shuffled batches of an epoch},\ n = B",
            claim=_batches_as_reports,
            requires=_in_range,
            domain={
                "local_epsilon": None,
                "records": None,
                "batches": Choice(1000, 10_000, 100_000),
                "noise_multiplier": Log(0.7, 4.0),
                "delta": Choice(1e-6, 1e-5),
            },
            oracle=_few_batches_epsilon,
            source="training code: the loader shuffles, so privacy is amplified",
            note="The updates are neither reports of single people nor randomized beforehand.",
            seen=("F74",),
        ),
        Misprint(
            "any-epsilon",
            r"\text{the same for every } \varepsilon_0",
            claim=_by_clones,
            requires="0 < delta and delta < 1",
            source="the bound quoted without its range",
            note="So few other reports are lies that there is no crowd to hide in.",
        ),
    ],
)
def shuffle_local_randomizers(*, local_epsilon: float, records: int, delta: float) -> float:
    r"""Central epsilon of `records` locally randomized reports, handed on in random order.

    Parameters
    ----------
    local_epsilon : float
        Pure guarantee of each report, > 0 and at most ln(n / (16 ln(2/delta))), in nats.
    records : int
        Number of reports n >= 1, one per person.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Upper bound, replace_one: :math:`\ln\big(1 + \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}
        +1}\big(8\sqrt{e^{\varepsilon_0}\ln(4/\delta)/n} + 8e^{\varepsilon_0}/n\big)\big)`.

    Raises
    ------
    ValueError
        If an argument is out of range; beyond its range of local_epsilon nothing is proved.

    Notes
    -----
    Every report must come from its own person and be randomized before the shuffle. A shuffled
    loader of a training run is not this: see `batch_shuffling_delta_lower`.

    References
    ----------
    Feldman, McMillan & Talwar (2021), Hiding among the clones, Theorem 3.1.

    Examples
    --------
    >>> round(shuffle_local_randomizers(local_epsilon=1.0, records=10_000, delta=1e-6), 6)
    0.214026
    """
    validate.positive(local_epsilon=local_epsilon)
    validate.integer(minimum=1, records=records)
    validate.probability(delta=delta)
    largest = math.log(records / (16 * math.log(2 / delta)))
    if local_epsilon > largest:
        raise ValueError(
            f"Expected local_epsilon <= ln(n / (16 ln(2/delta))) = {largest:.4g}, "
            f"got local_epsilon={local_epsilon!r}."
        )
    return _by_clones(local_epsilon=local_epsilon, records=records, delta=delta)


def _poisson_epoch_delta(*, epsilon: float, noise_multiplier: float, batches: int) -> float:
    pair = SampledGaussian(noise_multiplier, 1 / batches, "remove")
    return float(np.exp(deltas(pair, batches, [epsilon])[1][0]))


def _shown_to_leak(*, epsilon: float, noise_multiplier: float, batches: int) -> Interval:
    found = batch_shuffling_delta_lower(
        epsilon=epsilon, noise_multiplier=noise_multiplier, batches=batches
    )
    return Interval(found, 1.0)


_EPOCH = {
    "epsilon": Linear(0.0, 4.0),
    "noise_multiplier": Log(0.4, 4.0),
    "batches": Choice(1, 2, 2, 4, 20),
}
_LONG_EPOCH = {"noise_multiplier": 0.5, "batches": 10_000}


@formula(
    "G-E11",
    title="Shuffled batches: what an epoch is known to leak",
    kind="lower",
    statement=r"""\delta(\varepsilon) \ge \max_C\ P(\max_t w_t > C)
        - e^\varepsilon Q(\max_t w_t > C),\quad P = \tfrac1B\sum_t N(2e_t, \sigma^2I),\
        Q = \tfrac1B\sum_t N(e_t, \sigma^2I)""",
    requires="epsilon >= 0 and noise_multiplier > 0 and batches >= 1",
    reference=Reference("Chua et al.", 2024, "How private are DP-SGD implementations?, Section 4"),
    domain=_EPOCH,
    oracle=samples.shuffled_batches_delta,
    tolerance=1e-6,
    absolute=1e-12,
    points=40,
    examples=[
        ({"epsilon": 10.9948, **_LONG_EPOCH}, "0.00000100"),
        ({"epsilon": 1.9532, **_LONG_EPOCH}, "0.1446"),
    ],
    misprints=[
        Misprint(
            "poisson",
            r"\delta_{\text{shuffled}} \le \delta \text{ of } B \text{ Poisson steps},\ q = 1/B",
            claim=_poisson_epoch_delta,
            kind="upper",
            requires="epsilon >= 0 and noise_multiplier > 0 and batches >= 2",
            domain={
                "epsilon": Linear(0.5, 6.0),
                "noise_multiplier": Log(0.45, 1.5),
                "batches": Choice(100, 1000, 10_000),
            },
            oracle=_shown_to_leak,
            source="most training code: a shuffled loader, a Poisson accountant",
            note="A batch that must hold the record sooner or later gives it away.",
            seen=("F74", "F75"),
            examples=[({"epsilon": 1.9532, **_LONG_EPOCH}, "0.00000100")],
        ),
    ],
)
def batch_shuffling_delta_lower(*, epsilon: float, noise_multiplier: float, batches: int) -> float:
    r"""A delta that one epoch of shuffled batches is known to reach at `epsilon`.

    One record contributes +1 where all others contribute -1; zeroed out it contributes 0. The
    test looks at the largest of the B recentred updates, :math:`w_t`:

    .. math:: \max_C\ P(\max_t w_t > C) - e^\varepsilon Q(\max_t w_t > C),\qquad
              P = \tfrac1B\sum_t N(2e_t, \sigma^2 I),\ Q = \tfrac1B\sum_t N(e_t, \sigma^2 I).

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    batches : int
        Steps per epoch B >= 1.

    Returns
    -------
    float
        Lower bound on delta, zero_out; every threshold C gives one, and the best is searched
        for. Rounding is near 1e-15.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang (2024), How private are DP-SGD
    implementations?

    Examples
    --------
    >>> found = batch_shuffling_delta_lower(epsilon=1.9532, noise_multiplier=0.5, batches=10_000)
    >>> round(found, 4)  # Poisson sampling: 1e-06
    0.1446
    """
    validate.non_negative(epsilon=epsilon)
    validate.positive(noise_multiplier=noise_multiplier)
    validate.integer(minimum=1, batches=batches)
    sigma = noise_multiplier

    def gain(threshold: NDArray) -> NDArray:
        others = (batches - 1) * log_ndtr(threshold / sigma)
        above_p, above_q = (
            -np.expm1(others + log_ndtr((threshold - shift) / sigma)) for shift in (2.0, 1.0)
        )
        with np.errstate(divide="ignore"):
            return above_p - np.exp(np.minimum(epsilon + np.log(above_q), 700.0))

    # Unimodal, because the likelihood ratio of the largest update grows. Left of the first end
    # even the update that holds the record has a smaller loss than epsilon.
    first = 1.5 + epsilon * sigma**2
    best = maximise(gain, lower=first, upper=first + sigma**2 * math.log(batches) + 1e-9, shape=())
    return max(float(gain(best)), 0.0)


formula(
    "G-E11b",
    title="Shuffled batches: no more than one release",
    kind="upper",
    statement=r"""\delta_{\text{shuffled}}(\varepsilon) 
        \le \Phi\Big(\frac1{2\sigma} - \varepsilon\sigma\Big)
        - e^\varepsilon\Phi\Big(-\frac1{2\sigma} - \varepsilon\sigma\Big)""",
    requires="epsilon >= 0 and noise_multiplier > 0 and batches >= 1",
    reference=Reference("Chua et al.", 2024, "How private are DP-SGD implementations?, Section 4"),
    domain=_EPOCH,
    oracle=samples.shuffled_batches_delta,
    tolerance=1e-6,
    absolute=1e-12,
    points=40,
    examples=[({"epsilon": 10.9972, **_LONG_EPOCH}, "0.00000100")],
)(gaussian_delta)
