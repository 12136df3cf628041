"""Laws of the winner against draws, against another quadrature, and against mpmath."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import erfc
from scipy.stats import chi2

from dplearn.book.chapters import pate as truths
from dplearn.pate import PATE, Aggregator, Votes
from dplearn.pate.at_these_votes import laws

ROW = [150, 50, 20, 10, 10, 5, 5, 0, 0, 0]
CONFIDENT = PATE(answers=10**6, noise_std=40, threshold=160, check_std=30)


def precise(counts, noise_std):
    """The integral by mpmath at 30 digits, of every class."""
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
def test_laws_are_as_precise_as_they_say(counts, noise_std):
    law = laws(np.array(counts), PATE(answers=1, noise_std=noise_std))
    truth = precise(counts, noise_std)
    for got, expected in zip(law.here, truth, strict=True):
        assert abs(got - float(mpmath.log(expected))) <= law.error
    assert law.error < 1e-10


def test_neighbours_are_all_counts_with_one_vote_moved():
    counts, plan = np.array([4, 2, 2, 0]), PATE(answers=1, noise_std=2.0)
    law = laws(counts, plan)
    by_book = [truths.gnmax_law(moved, 2.0) for moved in truths.neighbours(counts)]
    # Each of the book's is one of ours, up to the order of equal classes.
    ours = {tuple(np.round(np.sort(log_q), 8)) for log_q in law.neighbours}
    assert {tuple(np.round(np.sort(log_q), 8)) for log_q in by_book} == ours
    assert len(law.neighbours) < len(by_book)


@pytest.mark.parametrize("noise_std", [20.0, 300.0])
def test_two_classes_are_the_papers_error_function(noise_std):
    p = np.exp(laws(np.array([225, 25]), PATE(answers=1, noise_std=noise_std)).here)
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    assert p[1] == pytest.approx(0.5 * erfc(200 / (2 * noise_std)), rel=1e-11)


@pytest.mark.slow
def test_a_million_draws_agree():
    votes, plan, draws = Votes([ROW]), CONFIDENT, 10**6
    law = np.exp(laws(votes.counts[0], plan).here)
    aggregator = Aggregator(plan, rng=np.random.default_rng(0))
    drawn = np.array(ROW) + aggregator._rng.normal(0, 40, (draws, 10))
    passed = 150 + aggregator._rng.normal(0, 30, draws) >= 160
    outcome = np.where(passed, drawn.argmax(axis=1), 10)
    counted = np.bincount(outcome, minlength=11)
    statistic = np.sum((counted - draws * law) ** 2 / (draws * law))
    # Raises a false alarm once in 10,000 seeds.
    assert statistic < chi2.ppf(1 - 1e-4, df=10)
    few = Votes([ROW] * 20_000)
    answers = aggregator.answer(few)
    share, spread = np.mean(answers == 0), math.sqrt(law[0] / few.queries)
    assert abs(share - law[0]) < 4 * spread


def test_laplace_noise_has_no_law_here():
    with pytest.raises(NotImplementedError, match="Laplace"):
        laws(np.array([3, 1]), PATE(answers=1, noise_std=1.0, noise="laplace"))
