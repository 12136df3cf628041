"""Optimal composition: exact for coins, and between pld and advanced composition."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq

from cases import each, golden, number
from dplearn import ACCOUNTANTS, Gaussian, Laplace, RandomizedResponse
from dplearn.mechanisms import Composed, PoissonSubsampled


def epsilon(name, mechanism, **question):
    return ACCOUNTANTS[name]().epsilon(mechanism, **question)


STEPS = [
    Laplace(0.7),
    Laplace(20.0),
    PoissonSubsampled(Gaussian(4.0), 0.01),
    # Equal shares of delta are best here, and were once not among the divisions.
    PoissonSubsampled(Gaussian(0.7), 0.02),
    Composed([(Laplace(20.0), 2), (PoissonSubsampled(Gaussian(0.7), 0.02), 5)]),
]


def test_advanced_is_never_above_basic_and_optimal_never_above_either():
    for mechanism, steps in itertools.product(STEPS, [1, 5, 30, 5000]):
        question = {"delta": 1e-6, "steps": steps}
        basic, advanced, optimal = (
            epsilon(n, mechanism, **question).epsilon for n in ("basic", "advanced", "optimal")
        )
        assert optimal <= advanced <= basic


def test_optimal_composition_of_coins_is_exact():
    (row,) = golden("composition", rule="optimal", epsilon="0.1", steps="1000")
    coin, question = RandomizedResponse(0.1), {"adjacency": "replace_one", "delta": 1e-5}
    stated = epsilon("optimal", coin, steps=1000, **question).epsilon
    # A tiny part of delta is assigned to the steps, which need none.
    assert number(row["value"]) * (1 - 1e-5) < stated < number(row["value"]) * (1 + 1e-4)


def epsilon_of_different_coins(local, delta):
    """Return the smallest epsilon of answers with these local epsilons, by enumeration."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(local))))
    loss, log_p = signs @ local, -np.logaddexp(0, -signs * local).sum(axis=1)
    leak = lambda e: np.sum(np.exp(log_p) * np.maximum(-np.expm1(e - loss), 0)) - delta
    return brentq(leak, 0, local.sum())


@pytest.mark.slow
@each("delta", [1e-2, 1e-6])
def test_optimal_composition_of_different_coins_is_exact(delta):
    """The worst releases of given epsilons are different coins (Murtagh & Vadhan 2016)."""
    local = np.array([0.05, 0.11, 0.2, 0.2, 0.31, 0.4, 0.52, 0.6, 0.77, 0.9, 1.3])
    coins = Composed(RandomizedResponse(e) for e in local.tolist())
    exact = epsilon_of_different_coins(local, delta)
    question = {"delta": delta, "adjacency": "replace_one"}
    stated = {n: epsilon(n, coins, **question).epsilon for n in ("optimal", "advanced")}
    assert exact * (1 - 1e-9) <= stated["optimal"] <= 1.001 * exact
    assert stated["optimal"] <= stated["advanced"]
    # It reduces other mechanisms to (epsilon, delta), so pld is tighter.
    mixed = Composed([(Laplace(20.0), 200), (Gaussian(20.0), 9)])
    names = "pld", "optimal", "advanced"
    best, remaining, closed = (epsilon(n, mixed, delta=delta).epsilon for n in names)
    assert best <= remaining <= closed
