"""PATE at given votes: outcome probabilities and epsilon against definitions; Theorem 6."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from dplearn.pate import PATE, Aggregator, Votes, at_these_votes
from dplearn.pate.at_these_votes import NOT_FOR_PRINT, AtTheseVotes, laws
from dplearn.teaching.book import gnmax_data_dependent_rdp, gnmax_flip_bound
from dplearn.teaching.book.chapters import pate as truths
from dplearn.teaching.book.kit import oracles
from outcomes import delta_by_definition

SMALL = Votes([[4, 2, 0], [3, 3, 0], [2, 3, 1]])
PLANS = [
    PATE(answers=3, noise_std=2.0),
    PATE(answers=3, noise_std=2.0, threshold=3.0, check_std=1.5),
]


def all_pairs(votes, plan):
    """Yield probabilities of all answers at the votes and at a neighbour, in both orders."""
    exact = [laws(row, plan) for row in votes.counts]
    product = lambda each: np.prod(list(itertools.product(*np.exp(each))), axis=1)
    here = product([law.here for law in exact])
    for moved in itertools.product(*(law.neighbours for law in exact)):
        other = product(moved)
        yield here, other
        yield other, here


# Unanimous votes leak almost only by the pair (neighbour, votes), not by (votes, neighbour).
@pytest.mark.parametrize("votes", [SMALL, Votes([[6, 0]])])
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("delta", [1e-2, 1e-5])
def test_bracket_for_given_votes_contains_the_enumerated_epsilon(votes, plan, delta):
    stated = at_these_votes(votes, plan).guarantee(delta=delta)
    worst = lambda epsilon: max(
        delta_by_definition(p, q, np.array([epsilon]))[0] for p, q in all_pairs(votes, plan)
    )
    assert worst(stated.epsilon) <= delta * (1 + 1e-9)
    assert stated.lower > 0 and worst(stated.lower) >= delta * (1 - 1e-9)
    # The worst neighbour depends on epsilon; the upper end assumes the worst one in each query.
    assert stated.epsilon < 1.5 * stated.lower


@pytest.mark.parametrize("plan", PLANS)
def test_renyi_divergences_are_the_largest_over_all_neighbouring_votes(plan):
    orders = np.array([1.5, 4.0, 30.0])
    rdp = at_these_votes(SMALL, plan).rdp(orders)
    with pytest.raises(ValueError, match="Expected orders > 1, got"):
        at_these_votes(SMALL, plan).rdp([2.0, 0.5])
    for order, value in zip(orders, rdp, strict=True):
        by_definition = max(
            math.log(np.sum(p * (p / q) ** (order - 1))) / (order - 1)
            for p, q in all_pairs(SMALL, plan)
        )
        assert value == pytest.approx(by_definition, rel=1e-9)


@pytest.mark.slow
def test_bound_of_theorem_6_is_never_below_the_exact_divergence():
    rng, orders, gains = np.random.default_rng(0), (1.5, 4.0, 12.0, 40.0), []
    for _ in range(1000):
        classes, noise_std = int(rng.integers(2, 6)), float(10 ** rng.uniform(0, 2))
        law = rng.dirichlet(np.full(classes, rng.choice([0.1, 1.0])))
        row = np.sort(rng.multinomial(int(rng.integers(10, 400)), law))[::-1]
        exact = laws(row, PATE(answers=1, noise_std=noise_std))
        flip = gnmax_flip_bound(votes=row, noise_std=noise_std)
        for order in orders:
            expected = max(oracles.log_moment(exact.here, q, order - 1) for q in exact.neighbours)
            bound = order / noise_std**2
            if 0 < flip < 1:
                bound = gnmax_data_dependent_rdp(order=order, noise_std=noise_std, flip=flip)
            assert expected / (order - 1) <= bound * (1 + 1e-9) + 1e-14
            gains.append(bound / max(expected / (order - 1), 1e-300))
    assert np.median(gains) > 1.5


def test_unanimous_votes_leak_far_less_than_the_plan_allows():
    votes, plan = Votes([[240, 10, 0]] * 300), PATE(answers=300, noise_std=40)
    here = at_these_votes(votes, plan)
    stated = here.guarantee(delta=1e-5)
    assert stated.lower < stated.epsilon < 0.2 * plan.guarantee(delta=1e-5).epsilon
    assert NOT_FOR_PRINT in str(stated) and "must not be published" in stated.assumptions[0]


def test_both_bounds_on_epsilon_allow_for_numerical_error(monkeypatch):
    here = at_these_votes(Votes([[30, 20, 0]] * 20), PATE(answers=20, noise_std=10))
    off = 0.01
    looser, tighter = (here.guarantee(delta=1e-5 * math.exp(sign * off)) for sign in (1, -1))
    monkeypatch.setattr(AtTheseVotes, "slack", off)
    paid = here.guarantee(delta=1e-5)
    assert paid.epsilon == pytest.approx(tighter.epsilon + off, abs=1e-9)
    assert paid.lower == pytest.approx(looser.lower - off, abs=1e-9)


ROW = [150, 50, 20, 10, 10, 5, 5, 0, 0, 0]


CONFIDENT = PATE(answers=10**6, noise_std=40, threshold=160, check_std=30)


def precise(counts, noise_std):
    """Return the probability that each class wins, by mpmath at 30 digits."""
    with mpmath.workdps(30):
        c = [mpmath.mpf(n) / mpmath.mpf(noise_std) for n in counts]
        ends = [min(c) - 14, *sorted(set(c)), max(c) + 14]

        def wins(j):
            def density(y):
                others = (mpmath.ncdf(y - x) for i, x in enumerate(c) if i != j)
                return mpmath.npdf(y - c[j]) * mpmath.fprod(others)

            return mpmath.quad(density, ends)

        return [wins(j) for j in range(len(c))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "noise_std"),
    [
        ([150, 50, 20, 0], 40.0),
        ([250, 0, 0], 20.0),
        ([3, 2, 1], 0.5),
        ([5, 5], 3.0),
        ([400, 599, 1], 100.0),
    ],
)
def test_error_of_each_log_probability_is_at_most_the_stated_error(counts, noise_std):
    law = laws(np.array(counts), PATE(answers=1, noise_std=noise_std))
    exact = precise(counts, noise_std)
    for got, expected in zip(law.here, exact, strict=True):
        assert abs(got - float(mpmath.log(expected))) <= law.error
    assert law.error < 1e-10


@pytest.mark.parametrize("check", [None, 1.5])
def test_neighbours_are_all_vote_counts_with_one_vote_moved(check):
    counts, about = np.array([4, 2, 2, 0]), {"threshold": 3.0, "check_std": check}
    law = laws(counts, PATE(answers=1, noise_std=2.0, **about if check else {}))

    def of_book(moved):
        won = np.exp(truths.gnmax_law(moved, 2.0))
        if not check:
            return won
        answered = 0.5 * math.erfc((3.0 - moved.max()) / (check * math.sqrt(2)))
        return np.append(answered * won, 1 - answered)

    by_book = [of_book(moved) for moved in truths.neighbours(counts)]
    # The formula book lists the same neighbours, up to permutations of classes with equal counts.
    ours = {tuple(np.round(np.sort(np.exp(log_q)), 8)) for log_q in law.neighbours}
    assert {tuple(np.round(np.sort(p), 8)) for p in by_book} == ours
    assert len(law.neighbours) < len(by_book)
    assert np.exp(law.here).sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.slow
def test_answers_occur_with_the_computed_probabilities():
    law = np.exp(laws(np.array(ROW), CONFIDENT).here)
    aggregator = Aggregator(CONFIDENT, rng=np.random.default_rng(0))
    answers, draws = aggregator.answer(Votes([ROW] * 20_000)), 20_000
    counted = np.bincount(answers + 1, minlength=11)
    expected = draws * np.append(law[-1], law[:-1])
    often = expected > 5
    statistic = np.sum((counted - expected)[often] ** 2 / expected[often])
    # The false-alarm rate is one in 10,000 seeds.
    assert statistic < chi2.ppf(1 - 1e-4, df=np.sum(often))
