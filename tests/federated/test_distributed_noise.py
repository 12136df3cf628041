"""Integer noise added by clients: the guarantee of a sum, and the effect of rounding."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from cases import assert_numbers_are_checked, each
from dplearn import Profile
from dplearn.engine.lattice import Lattice
from dplearn.federated.noise import DistributedNoise, summed_zcdp

FINE = DistributedNoise(
    clients=20, noise_multiplier=1.5, max_update_norm=0.5, scale=400.0, dimension=50
)


def sum_by_definition(sigma, clients):
    """Return probabilities of the clients' total noise on -n, ..., n by repeated convolution."""
    reach = math.ceil(15 * sigma) + 2
    one = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    law = one = one / one.sum()
    for _ in range(clients - 1):
        law = np.convolve(law, one)
    return law


def shifted(law, shift):
    gap = np.zeros(shift)
    return np.append(gap, law), np.append(law, gap)


@each("multiplier, rounds", [(1.0, 1), (3.0, 10)])
def test_epsilon_is_at_least_the_exact_epsilon_in_one_dimension(multiplier, rounds):
    """In one dimension the exact epsilon is known; zCDP gives about 8 % more."""
    plan = DistributedNoise(
        clients=10,
        noise_multiplier=multiplier,
        max_update_norm=1.0,
        scale=39.0,
        dimension=1,
    )
    # Updates are integers, so they change by at most the integer part of the sensitivity.
    p, q = shifted(sum_by_definition(math.sqrt(plan.variance), 10), math.floor(plan.sensitivity))
    seen = (p > 0) & (q > 0)
    sides = [[Profile.from_atoms(np.log(p[seen]), np.log(q[seen]))]]
    (lower,), (upper,) = Lattice().brackets(sides, [[rounds]], delta=1e-5, witnesses=sides)
    stated = plan.guarantee(delta=1e-5, rounds=rounds)
    assert 0.99 * upper < lower < stated.epsilon < 1.15 * upper
    assert str(stated).endswith("per user") and stated.kind == "upper"


def test_finer_rounding_of_updates_adds_less_noise_and_little_noise_leaks_more():
    coarse, fine = (dataclasses.replace(FINE, scale=s).deviations() for s in (10.0, 1e4))
    assert fine["central"] == 0.75 and fine["local"] == pytest.approx(0.75 * math.sqrt(20))
    assert 0.75 < fine["distributed"] < 0.7506 < 0.9 < coarse["distributed"]
    quiet = dataclasses.replace(FINE, scale=1.0, noise_multiplier=0.3, clients=400)
    assert quiet.variance < Fraction(1, 4)
    assert quiet.guarantee(delta=1e-5).epsilon > 1000
    assert FINE.guarantee(delta=1e-5, rounds=0).epsilon == 0


def test_bad_plans_are_refused():
    assert_numbers_are_checked(DistributedNoise, **vars(FINE))
    for zero in ("clients", "scale", "noise_multiplier"):
        with pytest.raises(ValueError, match=zero):
            dataclasses.replace(FINE, **{zero: 0})


def renyi(masses, shift, order):
    p, q = shifted(masses, abs(shift))
    both = (p > 1e-290) & (q > 1e-290)
    logs = order * np.log(p[both]) + (1 - order) * np.log(q[both])
    return float(np.logaddexp.reduce(logs)) / (order - 1)


@each("sigma, clients", [(0.5, 4), (0.5, 40), (0.8, 10), (1.0, 30), (2.0, 5)])
@each("change", [(1,), (3, 4), (2, 1, 1), (1,) * 8])
def test_sums_of_renyi_divergences_are_at_most_rho_times_their_order(sigma, clients, change):
    rho = summed_zcdp(sigma, clients, shift=math.hypot(*change), dimension=len(change))
    masses = sum_by_definition(sigma, clients)
    for order in (2, 3, 5):
        assert sum(renyi(masses, s, order) for s in change) <= order * rho * (1 + 1e-9)
    if sigma == 2.0:
        assert rho == pytest.approx(math.hypot(*change) ** 2 / (2 * clients * sigma**2))
