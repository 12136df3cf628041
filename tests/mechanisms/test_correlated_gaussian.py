"""Compare sensitivities with enumeration, and correlated noise with the equivalent Gaussian."""

import itertools
import math

import numpy as np
import pytest

from cases import each
from dplearn import ACCOUNTANTS, CorrelatedGaussian, Gaussian
from dplearn.teaching.book import tree_aggregation_rho

RNG = np.random.default_rng(3)
BANDED = np.tril(np.triu(RNG.normal(size=(12, 12)), -2))  # three bands, of both signs


def tree_strategy(steps):
    """Return a matrix with a row for each complete subtree of a binary tree: 1 at its steps."""
    sizes = [1 << level for level in range(steps.bit_length())]
    nodes = [(first, size) for size in sizes for first in range(0, steps - size + 1, size)]
    return np.array([[first <= t < first + size for t in range(steps)] for first, size in nodes])


def patterns(steps, separation, participations):
    """Yield every set of steps that a record may take part in."""
    for used in range(1, participations + 1):
        for chosen in itertools.combinations(range(steps), used):
            if np.all(np.diff(chosen) >= separation):
                yield list(chosen)


STRATEGIES = {
    "falling": np.tril(0.8 ** np.subtract.outer(range(9), range(9), dtype=float)),
    "banded": BANDED[:9, :9],
    "tree": tree_strategy(9).astype(float),
    "dense": np.tril(RNG.random((9, 9))),
    "signed": np.tril(RNG.normal(size=(9, 9))),
}


@each("separation, participations", [(1, 9), (2, 3), (3, 3), (4, 2), (9, 5)])
@each("name", STRATEGIES)
def test_sensitivity_bound_holds_for_all_participation_patterns_and_is_exact_if_claimed(
    name, separation, participations
):
    """The sum of absolute products is an upper bound; equal contributions attain the plain sum."""
    schema = {"separation": separation, "participations": participations}
    run = CorrelatedGaussian.from_strategy(STRATEGIES[name], noise_multiplier=1.0, **schema)
    products = STRATEGIES[name].T @ STRATEGIES[name]
    sums = [
        (np.abs(part).sum(), part.sum())
        for steps in patterns(9, separation, participations)
        for part in [products[np.ix_(steps, steps)]]
    ]
    above, real = np.sqrt(np.max(sums, axis=0))
    norm = 1 / run.base.noise_multiplier
    assert above * (1 - 1e-9) <= norm <= above * (1.05 if name in ("tree", "dense") else 1.2)
    stated = ACCOUNTANTS["pld"]().epsilon(run, delta=1e-5)
    of_base = ACCOUNTANTS["pld"]().epsilon(run.base, delta=1e-5)
    assert stated.epsilon == pytest.approx(of_base.epsilon, rel=1e-9)
    assert stated.kind == ("exact" if norm == pytest.approx(real, rel=1e-9) else "upper")
    if name == "falling" or (name == "banded" and separation > 2):
        assert stated.kind == "exact"


def test_sensitivity_is_rounded_up():
    # Each small square would be rounded away if it were added to the sum of the ones.
    column = np.append(np.ones(64), np.full(850_000, 0.9 * 2.0**-26.5))
    run = CorrelatedGaussian.from_strategy(column[:, None], noise_multiplier=1.0)
    exact = math.sqrt(math.fsum(column**2))
    assert exact <= 1 / run.base.noise_multiplier <= exact * (1 + 1e-10)


@each("leaves", [1, 2, 7, 8, 100])
def test_tree_strategy_has_the_rho_of_tree_aggregation(leaves):
    run = CorrelatedGaussian.from_strategy(tree_strategy(leaves), noise_multiplier=1.5)
    expected = tree_aggregation_rho(leaves=leaves, noise_multiplier=1.5)
    assert run.zcdp() == pytest.approx(expected, rel=1e-11)


def test_identity_strategy_has_the_epsilon_of_composed_gaussians():
    run = CorrelatedGaussian.from_strategy(np.eye(30), noise_multiplier=5.0, participations=9)
    one, nine = ACCOUNTANTS["pld"]().epsilon_curve(Gaussian(5.0), delta=1e-5, steps=[1, 9])
    stated = ACCOUNTANTS["pld"]().epsilon(run, delta=1e-5)
    assert stated.epsilon == pytest.approx(nine.epsilon, rel=1e-9)
    assert nine.epsilon > 2 * one.epsilon
    far = {"separation": 10**12, "participations": 10**12}
    once = CorrelatedGaussian.from_strategy(np.eye(30), noise_multiplier=5.0, **far)
    assert ACCOUNTANTS["pld"]().epsilon(once, delta=1e-5).epsilon == pytest.approx(one.epsilon)
    assert any("takes part" in clause for clause in stated.assumptions)
    assert CorrelatedGaussian(Gaussian(0.0)).infinite_epsilon_reason()
