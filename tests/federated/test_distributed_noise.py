"""Integer noise of clients: the guarantee of a sum, and the noise that rounding adds."""

import dataclasses
import math
from fractions import Fraction

import pytest

from cases import assert_numbers_are_checked, each
from dplearn import ACCOUNTANTS
from dplearn.federated.noise import DistributedNoise
from dplearn.mechanisms import SummedDiscreteGaussian

FINE = DistributedNoise(
    clients=20, noise_multiplier=1.5, max_update_norm=0.5, scale=400.0, dimension=50
)


@each("multiplier, rounds", [(1.0, 1), (3.0, 10)])
def test_epsilon_bounds_the_exact_one_in_one_dimension(multiplier, rounds):
    """In one dimension the exact epsilon is known; zCDP gives about 8 % more."""
    plan = DistributedNoise(
        clients=10,
        noise_multiplier=multiplier,
        max_update_norm=1.0,
        scale=39.0,
        dimension=1,
    )
    # An integer within the sensitivity is at most its integer part.
    change = math.floor(plan.sensitivity)
    total = math.sqrt(10 * plan.variance) / change
    mechanism = SummedDiscreteGaussian(total, change, 10)
    exact = ACCOUNTANTS["pld"]().epsilon(mechanism, delta=1e-5, steps=rounds)
    stated = plan.guarantee(delta=1e-5, rounds=rounds)
    assert exact.lower < stated.epsilon < 1.15 * exact.epsilon
    assert str(stated).endswith("per user") and stated.kind == "upper"


def test_finer_rounding_adds_less_noise_and_small_variances_leak_much():
    coarse, fine = (dataclasses.replace(FINE, scale=s).deviations() for s in (10.0, 1e4))
    assert fine["central"] == 0.75 and fine["local"] == pytest.approx(0.75 * math.sqrt(20))
    assert 0.75 < fine["distributed"] < 0.7506 < 0.9 < coarse["distributed"]
    lonely = dataclasses.replace(FINE, scale=1.0, noise_multiplier=0.3, clients=400)
    assert lonely.variance < Fraction(1, 4)
    assert lonely.guarantee(delta=1e-5).epsilon > 1000
    assert FINE.guarantee(delta=1e-5, rounds=0).epsilon == 0


def test_bad_plans_are_refused():
    assert_numbers_are_checked(DistributedNoise, **vars(FINE))
    for zero in ("clients", "scale", "noise_multiplier"):
        with pytest.raises(ValueError, match=zero):
            dataclasses.replace(FINE, **{zero: 0})
