"""Oracles of the book's compositions on cases that are known, and laws between the formulas."""

import itertools
import math

import pytest

from dplearn import book as formulas
from dplearn.book.chapters.composition import truths as outcomes
from dplearn.book.kit import oracles


def test_sequences_and_counts_agree():
    """Equal releases, once by all sequences of outcomes, once by the number of true answers."""
    for paid, steps, total in itertools.product((0.0, 1e-3), (1, 4), (0.0, 0.5, 1.1)):
        releases, case = {"epsilons": [0.7] * steps, "deltas": [paid] * steps}, (paid, steps, total)
        delta = oracles.coins_delta(epsilon=total, local=0.7, steps=steps, delta0=paid)
        listed = outcomes.enumerated_delta(**releases, total=total)
        assert listed == pytest.approx(delta, rel=1e-10), case
        if 0 < total < 0.7 * steps:
            back = outcomes.enumerated_epsilon(**releases, slack=delta)
            assert back == pytest.approx(total, rel=1e-9), case


def test_epsilon_of_coins_is_that_of_the_theorem():
    """One coin: e^epsilon p' = p - delta, solved."""
    p, q = (float(x) for x in oracles.randomized_response(epsilon=2.0)[0])
    exact = pytest.approx(math.log((p - 0.1) / q), rel=1e-12)
    assert outcomes.coins_epsilon(epsilon=2.0, steps=1, slack=0.1) == exact
    assert outcomes.coins_epsilon(epsilon=2.0, steps=1, slack=0.9) == 0.0


def test_epsilon_of_gaussians():
    assert oracles.gaussian_epsilon(delta=1e-5, mu=2.0) == pytest.approx(9.997256146, abs=1e-9)


def test_an_adaptive_run_without_adaptivity_is_a_sum():
    run = outcomes.adaptive_renyi(order=3.0, noise=1.5, below=2.0, above=2.0, cut=0.3)
    law = {"order": 3.0, "mean_p": 1.0, "mean_q": 0.0}
    parts = [formulas.renyi_gaussian(**law, std_p=std, std_q=std) for std in (1.5, 2.0)]
    assert run == pytest.approx(sum(parts), rel=1e-10)


def test_a_chain_of_pure_neighbours_costs_no_delta():
    assert outcomes.chain_delta(epsilon=0.3, delta=0.0, group=7) == 0.0
    # With epsilon = 0 the distances add up, and no further than 1.
    assert outcomes.chain_delta(epsilon=0.0, delta=0.3, group=3) == pytest.approx(0.9)
    assert outcomes.chain_delta(epsilon=0.0, delta=0.3, group=5) == pytest.approx(1.0)
    assert formulas.group_privacy_delta(epsilon=0.0, delta=0.3, group=5) == 1.0


def test_whole_numbers_around_the_break_even():
    """Printed: 64 releases at delta = 1e-4, 80 at 1e-5."""
    for slack, first in ((1e-4, 64), (1e-5, 80)):
        even = formulas.advanced_composition_kov_break_even(epsilon=1.0, slack=slack)
        assert math.ceil(even) == first
        steps = [first - 1, first]
        bounds = formulas.advanced_composition_kov(epsilon=1.0, steps=steps, slack=slack)
        assert bounds[0] > first - 1 and bounds[1] < first
