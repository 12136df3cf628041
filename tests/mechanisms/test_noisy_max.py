"""The noisy winner against the laws of votes: none leaks more, each epsilon has its worst."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from dplearn import ACCOUNTANTS
from dplearn.book.chapters.pate import truths
from dplearn.mechanisms.choices import NoisyMax
from outcomes import EPSILONS, delta_by_definition


@pytest.mark.slow
@pytest.mark.parametrize("noise_std", [0.8, 3.0, 20.0])
@pytest.mark.parametrize(("adjacency", "moves"), [("add_remove", 1), ("replace_one", 2)])
def test_no_votes_leak_more(noise_std, adjacency, moves):
    (profile,) = NoisyMax(noise_std).profiles(adjacency)
    bound, rng = profile.delta(EPSILONS), np.random.default_rng(0)
    for size in (2, 3, 5) * 6:
        votes = rng.integers(2, 12, size=size)
        for moved in truths.neighbours(votes):
            for _ in range(moves - 1):
                moved = rng.choice(list(truths.neighbours(moved)))
            p, q = (np.exp(truths.gnmax_law(v, noise_std)) for v in (votes, moved))
            assert np.all(delta_by_definition(p, q) <= bound + 1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.5])
def test_each_epsilon_has_its_worst_gap(epsilon):
    noise_std = 2.0
    (profile,) = NoisyMax(noise_std).profiles()

    def leak(gap):
        ahead = lambda gap: ndtr(gap / (math.sqrt(2) * noise_std))
        return ahead(gap) - math.exp(epsilon) * ahead(gap - 2)

    worst = -minimize_scalar(lambda gap: -leak(gap), bounds=(-20, 20), method="bounded").fun
    assert float(profile.delta(epsilon)) == pytest.approx(worst, rel=1e-9)


def test_composed_it_is_enclosed_between_a_coin_and_a_gaussian():
    stated = ACCOUNTANTS["pld"]().epsilon(NoisyMax(40.0), delta=1e-5, steps=300)
    assert stated.kind == "bracket"
    # 2.502 of the noisy counts; one bit of each tells at least the root of 2 / pi of it.
    assert stated.epsilon == pytest.approx(2.502, abs=1e-3)
    assert 0.7 * stated.epsilon < stated.lower < stated.epsilon


def test_the_winner_is_drawn_as_its_law_says():
    rng, mechanism = np.random.default_rng(0), NoisyMax(2.0)
    drawn = [int(mechanism.release([3, 1, 0], rng=rng)) for _ in range(4000)]
    law = np.exp(truths.gnmax_law([3, 1, 0], 2.0))
    spread = np.sqrt(law * (1 - law) / 4000)
    # Four deviations of each of three shares: a false alarm once in 5,000 seeds.
    assert np.all(np.abs(np.bincount(drawn, minlength=3) / 4000 - law) < 4 * spread)


def test_noise_that_is_none_is_refused():
    with pytest.raises(ValueError, match="noise_std"):
        NoisyMax(0.0)
