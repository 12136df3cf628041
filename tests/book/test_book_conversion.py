"""Oracles of the book's conversions on cases that are known, and laws between the formulas."""

import math

import numpy as np
import pytest

from cases import each
from dplearn import book as formulas
from dplearn.book.chapters.composition.truths import coin_rho
from dplearn.book.chapters.conversion import truths as worst
from dplearn.book.kit import oracles


@each("orders, rdp, epsilon", [(10.0, 0.5, 1.4167703992138), (2.0, 1.0, 10.667979237028)])
def test_worst_coins_in_forty_digits(orders, rdp, epsilon):
    """Values of the same optimisation by golden section in mpmath."""
    found = worst.coins_within(orders=orders, rdp=rdp, delta=1e-5)
    assert found == pytest.approx(epsilon, rel=1e-12)


def test_worst_coins_meet_their_budget():
    """Coins picked at random within the budget allow no larger epsilon."""
    rng = np.random.default_rng(5)
    limit = worst.coins_within(orders=3.0, rdp=0.7, delta=0.01)
    for a, b in rng.uniform(0.01, 0.99, (300, 2)):
        if formulas.renyi([a, 1 - a], [b, 1 - b], order=3.0) <= 0.7 and a > 0.01:
            assert math.log((a - 0.01) / b) <= limit


def test_the_improved_conversion_is_what_its_proof_gives():
    for orders, rdp, delta in ((10.0, 0.5, 1e-5), (1.1, 3.0, 1e-3), (200.0, 0.01, 1e-9)):
        truth = worst.pointwise_epsilon(orders=orders, rdp=rdp, delta=delta)
        epsilon = float(formulas.rdp_to_epsilon(orders, rdp, delta=delta))
        assert epsilon == pytest.approx(truth, rel=1e-9)


def test_moments_of_a_gaussian_by_the_trapezoidal_rule():
    moments = np.array([0.5, 3.0, 40.0])
    exact = pytest.approx(0.32 * moments * (moments + 1), rel=1e-12)
    assert worst.gaussian_moments(moments, 0.8) == exact


def test_tests_of_one_coin():
    """Rejecting the likelier outcome, at the rates where the test needs no chance."""
    p, q = worst.coin_counts(local=math.log(3), steps=1)
    for rate, miss in ((0.0, 1.0), (0.25, 0.25), (0.5, 1 / 6), (1.0, 0.0)):
        power = worst.most_powerful(p=p, q=q, false_positive_rate=rate)
        assert power == pytest.approx(miss, abs=1e-15)


def test_the_tail_that_dp_allows_is_attained():
    """Two outcomes with loss 2 epsilon either way, and a third one that tells nothing."""
    epsilon, delta = 0.5, 0.01
    tail = formulas.loss_tail_of_dp(epsilon=epsilon, delta=delta)
    other = tail * math.exp(-2 * epsilon)
    p, q = ([*two, 1 - tail - other] for two in ((tail, other), (other, tail)))
    assert oracles.worst_event_delta(p=p, q=q, epsilon=epsilon) == pytest.approx(delta, rel=1e-12)


def test_drifts_are_ordered():
    for epsilon in (1e-3, 0.3, 1.0, 4.0):
        forms = ("exact", "concentrated", "first")
        rates = [formulas.drift(epsilon=epsilon, form=form) for form in forms]
        assert rates == sorted(rates)
    with pytest.raises(ValueError, match="form"):
        formulas.drift(epsilon=1.0, form="half")


def test_rho_of_coins_is_reached_at_order_one():
    """The largest D_a / a is the mean loss, for every epsilon; order 1.01 gives 0.004995753."""
    assert coin_rho(epsilon=0.1) == pytest.approx(0.00499583750, abs=1e-11)
    rho = formulas.pure_to_rdp(epsilon=0.1, order=1.01) / 1.01
    assert rho == pytest.approx(0.004995753, abs=1e-9)
