"""Oracles and laws of the groups G-K to G-N that the book's own checks cannot see."""

import itertools
import math

import numpy as np
import pytest

from dplearn import book as formulas
from dplearn.book.chapters.auditing.truths import chance_of_one
from dplearn.book.chapters.pate.truths import gnmax_law
from dplearn.book.chapters.tradeoff.truths import composed_delta
from dplearn.book.kit import oracles
from dplearn.engine.contour import SampledGaussian, deltas

CURVES = {
    "gaussian": lambda a: formulas.gaussian_tradeoff(a, mu=1.3),
    "laplace": lambda a: formulas.laplace_tradeoff(a, epsilon=1.0),
    "approximate dp": lambda a: formulas.approximate_dp_tradeoff(a, epsilon=1.0, delta=0.01),
}


def test_laws_of_tradeoff_functions():
    """Convex, decreasing, below 1 - a; and their own inverse, as the pairs are symmetric."""
    a = np.linspace(0.0, 1.0, 1001)
    for name, curve in CURVES.items():
        f = curve(a)
        assert np.all(np.diff(f) <= 0) and np.all(np.diff(f, 2) >= -1e-12), name
        assert np.all(f <= 1 - a + 1e-15) and np.all(f >= 0), name
        assert curve(f)[f > 0] == pytest.approx(np.minimum(a, curve(0.0))[f > 0]), name
        with pytest.raises(ValueError, match="false_positive_rate in"):
            curve(1.5)


def test_composed_delta_is_the_certified_one():
    runs = (64, 1.0, 0.1), (1024, 4.0, 0.02)
    for case in itertools.product(runs, (0.0, 0.3)):
        (steps, noise, rate), epsilon = case
        about = {"sample_rate": rate, "noise_multiplier": noise, "steps": steps, "epsilon": epsilon}
        pair = SampledGaussian(sigma=noise, q=rate, direction="remove")
        low, high = np.exp(deltas(pair, steps, [epsilon]))
        delta = composed_delta(**about, symmetric=False)
        assert low[0] * (1 - 1e-3) <= delta <= high[0] * (1 + 1e-3), case
        # The symmetric pair dominates both directions, and after one step it is the larger one.
        assert composed_delta(**about, symmetric=True) > delta, case
        one = about | {"steps": 1, "epsilon": 0.01}
        both = [composed_delta(**one, symmetric=symmetric) for symmetric in (True, False)]
        assert both[0] == pytest.approx(both[1], rel=1e-3), case


def test_epsilon_of_the_worst_pair():
    p, q = oracles.leaky_response(epsilon=0.7, delta=0.03)
    assert oracles.worst_event_epsilon_at(p=p, q=q, delta=0.03) == pytest.approx(0.7, rel=1e-12)
    assert oracles.worst_event_epsilon_at(p=p, q=q, delta=0.029) == math.inf
    assert oracles.worst_event_epsilon_at(p=p, q=p, delta=0.0) == 0.0


def test_winner_of_two_classes():
    law = np.exp(gnmax_law([150, 50], 40.0))
    assert law.sum() == pytest.approx(1.0) and law[1] == pytest.approx(0.03854993587, rel=1e-9)


def test_data_dependent_bound_is_never_the_larger_one():
    for case in itertools.product((1e-8, 1e-3, 0.3, 0.9), (0.5, 5.0, 40.0)):
        about = {"order": 3.0, "noise_std": case[1]}
        bound = formulas.gnmax_data_dependent_rdp(**about, flip=case[0])
        assert 0 < bound <= formulas.gnmax_rdp(**about), case


def test_one_run_without_delta_is_exact():
    about = {"canaries": 50, "guesses": 40, "epsilon": 0.8, "delta": 0.0}
    truth = 1 / (1 + math.exp(-0.8))
    masses = [math.comb(40, k) * truth**k * (1 - truth) ** (40 - k) for k in range(41)]
    for correct in (0, 1, 30, 40):
        exact = pytest.approx(sum(masses[correct:]), rel=1e-10)
        assert formulas.one_run_p_value(**about, correct=correct) == exact, correct
        assert chance_of_one(**about, correct=correct) == exact, correct


def test_more_correct_guesses_prove_more():
    about = {"canaries": 200, "guesses": 100, "delta": 1e-5, "significance": 0.05}
    proved = [formulas.one_run_epsilon(**about, correct=v) for v in (50, 70, 90, 100)]
    assert proved[0] == 0.0 and proved == sorted(proved) and proved[-1] < math.inf
