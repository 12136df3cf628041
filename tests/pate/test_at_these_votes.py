"""Leakage at given votes against enumeration of the definition, and against Theorem 6."""

import itertools
import math

import numpy as np
import pytest

from dplearn.pate import PATE, Votes, at_these_votes
from dplearn.pate.at_these_votes import NOT_FOR_PRINT, AtTheseVotes, laws
from dplearn.teaching.book import gnmax_data_dependent_rdp, gnmax_flip_bound
from dplearn.teaching.book.chapters import pate as truths
from outcomes import delta_by_definition

SMALL = Votes([[4, 2, 0], [3, 3, 0], [2, 3, 1]])
PLANS = [
    PATE(answers=3, noise_std=2.0),
    PATE(answers=3, noise_std=2.0, threshold=3.0, check_std=1.5),
]


def all_pairs(votes, plan):
    """Yield the joint laws of all queries at the votes and at each neighbour, in both orders."""
    exact = [laws(row, plan) for row in votes.counts]
    product = lambda each: np.prod(list(itertools.product(*np.exp(each))), axis=1)
    here = product([law.here for law in exact])
    for moved in itertools.product(*(law.neighbours for law in exact)):
        other = product(moved)
        yield here, other
        yield other, here


# For unanimous votes almost all of the loss is in the direction from a neighbour.
@pytest.mark.parametrize("votes", [SMALL, Votes([[6, 0]])])
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("delta", [1e-2, 1e-5])
def test_the_bracket_contains_the_enumerated_epsilon(votes, plan, delta):
    stated = at_these_votes(votes, plan).guarantee(delta=delta)
    worst = lambda epsilon: max(
        delta_by_definition(p, q, np.array([epsilon]))[0] for p, q in all_pairs(votes, plan)
    )
    assert worst(stated.epsilon) <= delta * (1 + 1e-9)
    assert stated.lower > 0 and worst(stated.lower) >= delta * (1 - 1e-9)
    # The worst neighbour depends on epsilon, and the upper end allows for it in every query.
    assert stated.epsilon < 1.5 * stated.lower


@pytest.mark.parametrize("plan", PLANS)
def test_divergences_are_the_largest_of_all_neighbours(plan):
    orders = np.array([1.5, 4.0, 30.0])
    rdp = at_these_votes(SMALL, plan).rdp(orders)
    for order, value in zip(orders, rdp, strict=True):
        by_definition = max(
            math.log(np.sum(p * (p / q) ** (order - 1))) / (order - 1)
            for p, q in all_pairs(SMALL, plan)
        )
        assert value == pytest.approx(by_definition, rel=1e-9)


@pytest.mark.slow
def test_theorem_6_is_never_below_the_exact_divergence():
    rng, orders, gains = np.random.default_rng(0), (1.5, 4.0, 12.0, 40.0), []
    for _ in range(1000):
        classes, noise_std = int(rng.integers(2, 6)), float(10 ** rng.uniform(0, 2))
        law = rng.dirichlet(np.full(classes, rng.choice([0.1, 1.0])))
        row = np.sort(rng.multinomial(int(rng.integers(10, 400)), law))[::-1]
        exact = laws(row, PATE(answers=1, noise_std=noise_std))
        flip = gnmax_flip_bound(votes=row, noise_std=noise_std)
        for order in orders:
            expected = max(truths.log_moment(exact.here, q, order - 1) for q in exact.neighbours)
            bound = order / noise_std**2
            if 0 < flip < 1:
                bound = gnmax_data_dependent_rdp(order=order, noise_std=noise_std, flip=flip)
            assert expected / (order - 1) <= bound * (1 + 1e-9) + 1e-14
            gains.append(bound / max(expected / (order - 1), 1e-300))
    assert np.median(gains) > 1.5


def test_unanimous_votes_leak_far_less_than_the_plan_allows():
    votes, plan = Votes([[240, 10, 0]] * 300), PATE(answers=300, noise_std=40)
    here = at_these_votes(votes, plan)
    exact, renyi = here.guarantee(delta=1e-5), here.renyi_guarantee(delta=1e-5)
    assert exact.lower < exact.epsilon <= renyi.epsilon
    assert renyi.epsilon < 0.2 * plan.guarantee(delta=1e-5).epsilon
    for stated in (exact, renyi):
        assert NOT_FOR_PRINT in str(stated) and "must not be published" in stated.assumptions[0]


def test_both_ends_of_the_bracket_allow_for_numerical_error(monkeypatch):
    here = at_these_votes(Votes([[30, 20, 0]] * 20), PATE(answers=20, noise_std=10))
    off = 0.01
    looser, tighter = (here.guarantee(delta=1e-5 * math.exp(sign * off)) for sign in (1, -1))
    monkeypatch.setattr(AtTheseVotes, "slack", off)
    paid = here.guarantee(delta=1e-5)
    assert paid.epsilon == pytest.approx(tighter.epsilon + off, abs=1e-9)
    assert paid.lower == pytest.approx(looser.lower - off, abs=1e-9)
