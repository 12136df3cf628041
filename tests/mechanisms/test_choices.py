"""Compare permute-and-flip with enumeration of its output distributions."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dplearn import ACCOUNTANTS
from dplearn.mechanisms import ExponentialMechanism, PermuteAndFlip
from dplearn.teaching.book.chapters.choices import permute_and_flip_probability
from outcomes import EPSILONS, delta_by_definition


def flips(scores, scale):
    """Return each candidate's probability, moved to the front, as the formula is for the first."""
    rolled = [np.roll(scores, -k) for k in range(len(scores))]
    return np.array([permute_and_flip_probability(scores=u, scale=scale) for u in rolled])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("adjacency", "moves"), [("add_remove", 1), ("replace_one", 2)])
def test_two_candidates_attain_the_profile_of_permute_and_flip(epsilon, adjacency, moves):
    (profile,) = PermuteAndFlip(epsilon).profiles(adjacency)
    bound, rng, scale = profile.delta(EPSILONS), np.random.default_rng(0), 2 / epsilon
    for size in (2, 3, 4, 6) * 8:
        scores = rng.choice([0.0, 1.0, scale]) * rng.uniform(-2, 2, size)
        moved = scores + moves * rng.choice([-1.0, 1.0, 0.3], size)
        leak = delta_by_definition(flips(scores, scale), flips(moved, scale))
        assert np.all(leak <= bound + 1e-12)
    for x in (0.0, 0.4 * moves * epsilon):
        ahead = lambda lead: flips(np.array([lead, 0.0]), scale)[0]
        leak = lambda lead: math.exp(x) * ahead(lead - 2 * moves) - ahead(lead)  # noqa: B023
        best = minimize_scalar(leak, bounds=(-3 * moves, 3 * moves), method="bounded")
        assert -best.fun == pytest.approx(float(profile.delta(x)), rel=1e-6)


def test_permute_and_flip_does_not_have_bounded_range():
    about = {"delta": 1e-6, "steps": 100}
    mine = ACCOUNTANTS["pld"]().epsilon(PermuteAndFlip(0.1), **about)
    theirs = ACCOUNTANTS["pld"]().epsilon(ExponentialMechanism(0.1), **about)
    # The ratio is 1.9; a mechanism of bounded range has rho <= epsilon^2 / 8.
    assert mine.lower > 1.5 * theirs.epsilon and mine.kind == "bracket"
