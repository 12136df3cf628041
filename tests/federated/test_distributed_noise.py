"""Whole-number noise of clients: exact laws, honest sums, and what rounding and wrapping cost.

False alarms: below 1e-6 per test.
"""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from cases import each
from dplearn import ACCOUNTANTS
from dplearn.federated import noise
from dplearn.federated.noise import DistributedNoise, discrete_gaussian
from dplearn.mechanisms import Skellam, SummedDiscreteGaussian

FINE = DistributedNoise(
    clients=20, noise_multiplier=1.5, max_update_norm=0.5, scale=400.0, dimension=50
)


def fits(drawn, log_weights):
    """Chi-squared over the numbers that are expected ten times, and all others as one class."""
    k = np.arange(-len(log_weights) // 2 + 1, len(log_weights) // 2 + 1)
    chance = np.exp(log_weights - np.logaddexp.reduce(log_weights))
    often = chance * len(drawn) > 10
    observed = np.array([(drawn == n).sum() for n in k[often]])
    expected = chance[often] * len(drawn)
    rest = len(drawn) - expected.sum()
    if len(expected) == 1 and rest < 1e-6:
        return not drawn.any()
    if rest > 10:
        observed, expected = (
            np.append(observed, len(drawn) - observed.sum()),
            np.append(expected, rest),
        )
    expected *= observed.sum() / expected.sum()
    return stats.chisquare(observed, expected).pvalue > 1e-7


@pytest.mark.slow
@each("variance", [Fraction(1, 50), Fraction(1, 4), 1, Fraction(22, 7), 16, Fraction(4001, 10)])
def test_the_discrete_gaussian_has_its_law(variance):
    drawn = discrete_gaussian(variance, size=4000)
    k = np.arange(-400, 401)
    assert fits(drawn, -(k.astype(float) ** 2) / (2 * float(variance)))


@pytest.mark.slow
def test_parts_of_the_sampler_have_their_laws():
    k = np.arange(-200, 201)
    assert fits(np.array([noise.discrete_laplace(3) for _ in range(10_000)]), -np.abs(k) / 3)
    for above, below in ((0, 1), (1, 3), (1, 1), (2, 1), (7, 3)):
        heads = np.mean([noise.exponential_coin(above, below) for _ in range(10_000)])
        chance = math.exp(-above / below)
        assert abs(heads - chance) <= 5 * math.sqrt(chance * (1 - chance) / 10_000)


@pytest.mark.slow
@each("scale, dimension", [(400.0, 50), (3.0, 50), (0.1, 7)])
def test_updates_are_clipped_and_rounded_rightly_on_average(scale, dimension):
    plan = dataclasses.replace(FINE, scale=scale, dimension=dimension)
    update = np.random.default_rng(0).normal(size=dimension)
    clipped = update * 0.5 / np.linalg.norm(update)
    rounded = np.array([plan._rounded(update) for _ in range(2000)])
    assert np.linalg.norm(rounded, axis=1).max() <= plan.sensitivity
    if scale == 400.0:  # where none is too long, each coordinate is right on average
        error = rounded.mean(axis=0) / scale - clipped
        assert np.abs(error).max() < 6 * 0.5 / math.sqrt(2000) / scale
    assert not plan._rounded(np.zeros(dimension)).any()


@pytest.mark.slow
@each("law", noise.LAWS)
@each("bits", [16, 32, 62])
def test_sum_of_encoded_updates_is_that_of_updates_and_noise(law, bits):
    """The noise of 18 clients has the deviation that is told; masks would cancel in their sum."""
    plan = dataclasses.replace(FINE, clients=18, law=law, bits=bits, dimension=400)
    updates = np.random.default_rng(0).normal(size=(18, 400))
    total = sum(plan.encode(update) for update in updates) % np.uint64(2**bits)
    clipped = updates * 0.5 / np.linalg.norm(updates, axis=1, keepdims=True)
    error = plan.decode(total) - clipped.sum(axis=0)
    deviation = plan.deviations()["distributed"]
    assert abs(error.std() / deviation - 1) < 5 / math.sqrt(2 * 400)
    assert plan.overflow(20) < 1e-9


@each("law, exact", [("discrete_gaussian", SummedDiscreteGaussian), ("skellam", Skellam)])
@each("multiplier, rounds", [(1.0, 1), (3.0, 10)])
def test_epsilon_holds_that_of_one_coordinate(law, exact, multiplier, rounds):
    """In one dimension the whole law is known; zCDP costs about 8 % more than it."""
    plan = DistributedNoise(
        clients=10,
        noise_multiplier=multiplier,
        max_update_norm=1.0,
        scale=39.0,
        dimension=1,
        law=law,
    )
    # Of whole numbers none is longer than the whole part.
    change = math.floor(plan.sensitivity)
    total = math.sqrt(10 * plan.variance) / change
    mechanism = exact(total, change, *((10,) if law == "discrete_gaussian" else ()))
    truth = ACCOUNTANTS["pld"]().epsilon(mechanism, delta=1e-5, steps=rounds)
    stated = plan.guarantee(delta=1e-5, rounds=rounds)
    assert truth.lower < stated.epsilon < 1.15 * truth.epsilon
    assert str(stated).endswith("per user") and stated.kind == "upper"


def test_rounding_costs_less_the_finer_and_few_clients_have_no_theorem_of_sums():
    coarse, fine = (dataclasses.replace(FINE, scale=s).deviations() for s in (10.0, 1e4))
    assert fine["central"] == 0.75 and fine["local"] == pytest.approx(0.75 * math.sqrt(20))
    assert 0.75 < fine["distributed"] < 0.7506 < 0.9 < coarse["distributed"]
    lonely = dataclasses.replace(FINE, scale=1.0, noise_multiplier=0.3, clients=400)
    assert lonely.variance < Fraction(1, 4)
    assert lonely.guarantee(delta=1e-5).epsilon > 1000
    assert FINE.guarantee(delta=1e-5, rounds=0).epsilon == 0


def test_sums_wrap_around_as_seldom_as_is_told():
    plan = dataclasses.replace(FINE, bits=9, scale=20.0, noise_multiplier=4.0, dimension=1)
    bound = plan.overflow(20)
    wrapped = 0
    for _ in range(300):
        total = discrete_gaussian(plan.variance, size=20).sum() + 20 * 10
        wrapped += not -256 <= total < 256
    assert wrapped / 300 <= bound + 5 * math.sqrt(bound / 300) and bound > 0
    assert dataclasses.replace(plan, bits=4).overflow(20) == 1.0


@each(
    "changes, message",
    [
        ({"law": "laplace"}, "law one of"),
        ({"clients": 0}, "clients a whole number >= 1"),
        ({"bits": 63}, "bits a whole number"),
        ({"scale": 1e12}, r"below 2\^30"),
        ({"noise_multiplier": 0}, "noise_multiplier"),
    ],
)
def test_bad_plans_are_refused_in_one_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(FINE, **changes)
    for bad in (np.ones(49), np.full(50, math.nan)):
        with pytest.raises(ValueError, match="Expected update to hold finite numbers"):
            FINE.encode(bad)
