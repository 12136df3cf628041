"""Oracles and laws of the groups G-K to G-N that the book's own checks cannot see."""

import math

import numpy as np
import pytest

from dplearn.book import (
    approximate_dp_tradeoff,
    gaussian_tradeoff,
    gnmax_data_dependent_rdp,
    gnmax_rdp,
    laplace_tradeoff,
    one_run_epsilon,
    one_run_p_value,
)
from dplearn.book.chapters.auditing.truths import chance_of_one
from dplearn.book.chapters.pate.truths import gnmax_law
from dplearn.book.chapters.tradeoff.truths import composed_delta
from dplearn.book.kit import oracles
from dplearn.engine.contour import SampledGaussian, deltas

CURVES = {
    "gaussian": lambda a: gaussian_tradeoff(a, mu=1.3),
    "laplace": lambda a: laplace_tradeoff(a, epsilon=1.0),
    "approximate dp": lambda a: approximate_dp_tradeoff(a, epsilon=1.0, delta=0.01),
}


@pytest.mark.parametrize("name", list(CURVES))
def test_laws_of_tradeoff_functions(name):
    """Convex, decreasing, below 1 - a; and their own inverse, as the pairs are symmetric."""
    a = np.linspace(0.0, 1.0, 1001)
    f = CURVES[name](a)
    assert np.all(np.diff(f) <= 0) and np.all(np.diff(f, 2) >= -1e-12)
    assert np.all(f <= 1 - a + 1e-15) and np.all(f >= 0)
    inner = f > 0
    assert CURVES[name](f)[inner] == pytest.approx(np.minimum(a, CURVES[name](0.0))[inner])
    with pytest.raises(ValueError, match="false_positive_rate in"):
        CURVES[name](1.5)


@pytest.mark.parametrize("steps, noise, rate", [(64, 1.0, 0.1), (1024, 4.0, 0.02)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_composed_delta_is_the_certified_one(steps, noise, rate, epsilon):
    about = {"sample_rate": rate, "noise_multiplier": noise, "steps": steps, "epsilon": epsilon}
    pair = SampledGaussian(sigma=noise, q=rate, direction="remove")
    low, high = np.exp(deltas(pair, steps, [epsilon]))
    found = composed_delta(**about, symmetric=False)
    assert low[0] * (1 - 1e-3) <= found <= high[0] * (1 + 1e-3)
    # The symmetric pair dominates both directions, and after one step it is the larger one.
    assert composed_delta(**about, symmetric=True) > found
    one = about | {"steps": 1, "epsilon": 0.01}
    assert composed_delta(**one, symmetric=True) == pytest.approx(
        composed_delta(**one, symmetric=False), rel=1e-3
    )


def test_epsilon_of_the_worst_pair():
    p, q = oracles.leaky_response(epsilon=0.7, delta=0.03)
    assert oracles.worst_event_epsilon_at(p=p, q=q, delta=0.03) == pytest.approx(0.7, rel=1e-12)
    assert oracles.worst_event_epsilon_at(p=p, q=q, delta=0.029) == math.inf
    assert oracles.worst_event_epsilon_at(p=p, q=p, delta=0.0) == 0.0


def test_winner_of_two_classes():
    law = np.exp(gnmax_law([150, 50], 40.0))
    assert law.sum() == pytest.approx(1.0) and law[1] == pytest.approx(0.03854993587, rel=1e-9)


@pytest.mark.parametrize("flip", [1e-8, 1e-3, 0.3, 0.9])
def test_data_dependent_bound_is_never_the_larger_one(flip):
    for noise in (0.5, 5.0, 40.0):
        bound = gnmax_data_dependent_rdp(order=3.0, noise_std=noise, flip=flip)
        assert 0 < bound <= gnmax_rdp(order=3.0, noise_std=noise)


def test_one_run_without_delta_is_exact():
    about = {"canaries": 50, "guesses": 40, "epsilon": 0.8, "delta": 0.0}
    truth = 1 / (1 + math.exp(-0.8))
    for correct in (0, 1, 30, 40):
        exact = sum(
            math.comb(40, k) * truth**k * (1 - truth) ** (40 - k) for k in range(correct, 41)
        )
        assert one_run_p_value(**about, correct=correct) == pytest.approx(exact, rel=1e-10)
        assert chance_of_one(**about, correct=correct) == pytest.approx(exact, rel=1e-10)


def test_more_correct_guesses_prove_more():
    about = {"canaries": 200, "guesses": 100, "delta": 1e-5, "significance": 0.05}
    found = [one_run_epsilon(**about, correct=v) for v in (50, 70, 90, 100)]
    assert found[0] == 0.0 and found == sorted(found) and found[-1] < math.inf
