"""Compare bounds for the best of a random number of runs with enumeration of all outcomes."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2

from cases import each
from dplearn import ACCOUNTANTS, DPSGD, Composed, Gaussian, RandomizedResponse, Tuned
from dplearn.teaching.book.chapters.selection import best_of, repetitions

ANSWERS = RandomizedResponse(local_epsilon=0.7, answers=4)
# Of four answers, the first is true for one neighbour, the second for the other neighbour.
TRUTH, LIE = math.exp(0.7) / (math.exp(0.7) + 3), 1 / (math.exp(0.7) + 3)
PAIR = np.array([[TRUTH, LIE, LIE, LIE], [LIE, TRUTH, LIE, LIE]])
each_law = each("tries, shape", [(2, 0.0), (10, 0.0), (10, 1.0), (4, -0.5), (100, 3.0), (1, 0.0)])


def pairs_of_best(tuned):
    """Yield the masses of the best answer under two neighbours, for every ranking of answers."""
    counts = repetitions(shape=tuned.shape, stop=tuned.stop)
    for ranks in itertools.permutations(range(4)):
        p, q = (best_of(law[list(ranks)], counts) for law in PAIR)
        yield p, q


@each_law
def test_best_of_several_runs_leaks_at_most_the_bound_for_every_ranking(tries, shape):
    tuned, orders = Tuned(ANSWERS, tries=tries, shape=shape), np.array([1.5, 2.0, 8.0, 64.0])
    bounds = tuned.rdp(orders, adjacency="replace_one")
    stated = [tuned.guarantee(delta=d, adjacency="replace_one") for d in (1e-6, 1e-2)]
    for p, q in pairs_of_best(tuned):
        renyi = [np.log(np.sum(p**a * q ** (1 - a))) / (a - 1) for a in orders]
        assert np.all(renyi <= bounds + 1e-12)
        for guarantee in stated:
            leak = np.maximum(p - math.exp(guarantee.epsilon) * q, 0).sum()
            assert leak <= guarantee.delta * (1 + 1e-9)
    # One run alone leaks less: the choice leaks, too.
    assert tries == 1 or max(
        np.log(p / q).max() for p, q in pairs_of_best(tuned)
    ) > 1.02 * ANSWERS.profiles("replace_one")[0].epsilon(0.0)


@each_law
def test_number_of_tuning_runs_has_the_stated_distribution(tries, shape):
    tuned, rng = Tuned(ANSWERS, tries=tries, shape=shape), np.random.default_rng(1)
    law = repetitions(shape=shape, stop=tuned.stop)
    assert law @ np.arange(1, law.size + 1) == pytest.approx(tries, rel=1e-6)
    drawn = np.bincount([tuned.draw(rng) for _ in range(2000)], minlength=law.size + 1)[1:]
    # Each cell but the last has ten expected draws or more; false alarms: one in a million.
    cells = np.minimum(np.floor(np.cumsum(law) * 100), 99)
    expected, counted = (
        np.bincount(cells.astype(int), weights=w)[np.unique(cells.astype(int))]
        for w in (2000 * law, drawn[: law.size])
    )
    distance = np.sum((counted - expected) ** 2 / expected)
    assert distance < chi2.isf(1e-6, max(expected.size - 1, 1))


def test_guarantee_of_tuning_states_its_assumptions():
    run = DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=10_000).composed
    stated = Tuned(run, tries=10).guarantee(delta=1e-5)
    assert (stated.kind, stated.adjacency) == ("upper", "add_remove")
    assert set(run.assumptions) < set(stated.assumptions)
    assert any("secret" in clause for clause in stated.assumptions)
    # The release of all ten runs leaks more; the release of one run leaks less.
    rdp = ACCOUNTANTS["rdp"]()
    one, ten = (rdp.epsilon(run, delta=1e-5, steps=n).epsilon for n in (1, 10))
    assert one < stated.epsilon < ten
    bare = Tuned(Composed([Gaussian(0.0)]), tries=2).guarantee(delta=1e-5)
    assert bare.epsilon == math.inf and "adds no noise" in bare.reason
