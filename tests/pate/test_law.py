"""Laws of the winner against draws, against another quadrature, and against mpmath."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import chi2

from dplearn.pate import PATE, Aggregator, Votes
from dplearn.pate.at_these_votes import laws
from dplearn.teaching.book.chapters import pate as truths

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
def test_laws_are_within_their_stated_error(counts, noise_std):
    law = laws(np.array(counts), PATE(answers=1, noise_std=noise_std))
    exact = precise(counts, noise_std)
    for got, expected in zip(law.here, exact, strict=True):
        assert abs(got - float(mpmath.log(expected))) <= law.error
    assert law.error < 1e-10


@pytest.mark.parametrize("check", [None, 1.5])
def test_neighbours_are_all_counts_with_one_vote_moved(check):
    counts, about = np.array([4, 2, 2, 0]), {"threshold": 3.0, "check_std": check}
    law = laws(counts, PATE(answers=1, noise_std=2.0, **about if check else {}))

    def of_book(moved):
        won = np.exp(truths.gnmax_law(moved, 2.0))
        if not check:
            return won
        answered = 0.5 * math.erfc((3.0 - moved.max()) / (check * math.sqrt(2)))
        return np.append(answered * won, 1 - answered)

    by_book = [of_book(moved) for moved in truths.neighbours(counts)]
    # The sets of neighbours agree up to the order of classes with equal counts.
    ours = {tuple(np.round(np.sort(np.exp(log_q)), 8)) for log_q in law.neighbours}
    assert {tuple(np.round(np.sort(p), 8)) for p in by_book} == ours
    assert len(law.neighbours) < len(by_book)
    assert np.exp(law.here).sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.slow
def test_drawn_answers_have_the_computed_law():
    law = np.exp(laws(np.array(ROW), CONFIDENT).here)
    aggregator = Aggregator(CONFIDENT, rng=np.random.default_rng(0))
    answers, draws = aggregator.answer(Votes([ROW] * 20_000)), 20_000
    counted = np.bincount(answers + 1, minlength=11)
    expected = draws * np.append(law[-1], law[:-1])
    often = expected > 5
    statistic = np.sum((counted - expected)[often] ** 2 / expected[often])
    # Raises a false alarm once in 10,000 seeds.
    assert statistic < chi2.ppf(1 - 1e-4, df=np.sum(often))
