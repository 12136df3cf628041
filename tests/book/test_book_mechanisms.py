"""What the book's own checks cannot see about the basic mechanisms: optimality, oracles, limits."""

import itertools
import math

import numpy as np
import pytest

from dplearn import book as formulas
from dplearn.book.chapters.mechanisms import truths
from dplearn.book.kit import oracles


def test_fast_gaussian_oracles_agree_with_the_definition():
    for epsilon, mu in [*itertools.product((0.0, 0.1, 3.0), (0.05, 1.0, 8.0)), (25.0, 6.0)]:
        laws = oracles.log_normal(mu), oracles.log_normal()
        truth = oracles.density_delta(*laws, epsilon, -200.0, 200.0)
        fast = oracles.gaussian_delta(epsilon=epsilon, mu=mu)
        assert fast == pytest.approx(truth, rel=1e-9, abs=1e-300), (epsilon, mu)
    sigma = oracles.gaussian_sigma(epsilon=2.0, delta=1e-7)
    assert oracles.gaussian_delta(epsilon=2.0, mu=1 / sigma) == pytest.approx(1e-7, rel=1e-9)


def test_the_classical_noise_is_enough_just_up_to_its_limit():
    """Printed: 8.4197713 for delta = 1e-5."""
    for epsilon, enough in ((8.41977, True), (8.41978, False)):
        sigma = formulas.classical_gaussian_sigma(epsilon=epsilon, delta=1e-5)
        assert (oracles.gaussian_sigma(epsilon=epsilon, delta=1e-5) <= sigma) == enough


def test_no_noise_on_a_grid_beats_the_staircase():
    """A linear programme over densities that are constant on cells."""
    from scipy.optimize import linprog

    per_unit = 12
    for epsilon in (1.0, 2.0, 5.0):
        cells = per_unit * math.ceil(4 + 25 / epsilon)
        # Symmetric and falling, without loss (Geng & Viswanath), so only distance 1 binds.
        cost = 2 * np.diff((np.arange(cells + 1) / per_unit) ** 3) / 3
        ratio = np.eye(cells - per_unit, cells)
        ratio -= math.exp(epsilon) * np.eye(cells - per_unit, cells, per_unit)
        falls = np.eye(cells - 1, cells, 1) - np.eye(cells - 1, cells)
        mass, most = np.full((1, cells), 2 / per_unit), np.zeros(2 * cells - per_unit - 1)
        # A mass of 1e6 is large beside the solver's tolerance of 1e-7.
        best = linprog(cost, np.vstack([ratio, falls]), most, mass, [1e6])
        least = formulas.staircase_variance(epsilon=epsilon)
        assert best.success, epsilon
        assert least * (1 - 1e-9) <= best.fun / 1e6 <= 1.02 * least < 2 / epsilon**2, epsilon


def test_permute_and_flip_by_all_permutations():
    scores, scale = np.array([0.3, 1.0, -0.5, 0.9]), 0.7
    q = np.exp((scores - scores.max()) / scale)
    orders = [order[: order.index(0)] for order in itertools.permutations(range(4))]
    mean = q[0] * sum(math.prod(1 - q[i] for i in before) for before in orders) / len(orders)
    value = formulas.permute_and_flip_probability(scores=scores, scale=scale)
    assert value == pytest.approx(mean, rel=1e-12)


def test_candidates_share_the_probability():
    for law in (truths.LAPLACE, truths.GUMBEL, truths.EXPONENTIAL):
        turned = (np.roll([0.3, 1.0, -0.5], k) for k in range(3))
        total = sum(truths.argmax_probability(scores=x, scale=0.7, law=law) for x in turned)
        assert total == pytest.approx(1.0, rel=1e-10)


def test_a_test_with_half_the_threshold_lets_too_much_through():
    """Printed: 1.0858e-05 where 9.43e-10 is claimed."""
    threshold = math.log(2 / 9.43e-10) / 2
    delta = truths.propose_test_release_delta(at=2.0, epsilon=1.0, threshold=threshold)
    assert delta == pytest.approx(1.0858e-5, rel=1e-4)


def test_smooth_noise_fails_for_a_large_epsilon():
    """At delta = 1e-5 the corollary is true for epsilon = 13 and false for 14."""
    for epsilon, good in ((13.0, True), (14.0, False)):
        about = {"epsilon": epsilon, "beta": epsilon / (2 * math.log(2e5))}
        assert (truths.dilated_laplace_delta(**about) <= 1e-5) == good, epsilon


def test_the_oracle_of_the_median_moves_one_value_at_a_time():
    for beta, largest in ((50.0, 0.3), (0.0, 1.0)):
        about = {"values": [0.2, 0.5, 0.6], "upper": 1.0, "beta": beta}
        assert truths.median_sensitivity_by_force(**about) == pytest.approx(largest)
