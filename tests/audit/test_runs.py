"""`observe` draws flags and seeds for any training function, and checks its scores."""

import numpy as np
import pytest

from dplearn.audit import observe
from dplearn.audit.bounds import from_scores, one_run

FEW = {"canaries": 5, "runs": 6}


def noisy(included, seed):
    return included + np.random.default_rng(seed).normal(size=included.size)


def test_each_run_draws_its_canaries_and_its_seed_from_one_seed():
    seeds = []
    seen = observe(lambda included, seed: seeds.append(seed) or 1.0 * included, **FEW)
    assert len(set(seeds)) == 6 and np.array_equal(seen.scores, seen.included)
    many = observe(lambda included, seed: 1.0 * included, canaries=500, runs=20)
    assert abs(many.included.mean() - 0.5) < 0.02 and len(np.unique(many.included, axis=0)) == 20
    # If a program overwrites its flags, the flags of the audit do not change.
    filled = observe(lambda included, seed: included.fill(True) or 0.0 * included, **FEW)
    assert np.array_equal(filled.included, seen.included)
    again, other = observe(noisy, **FEW), observe(noisy, **FEW, seed=1)
    assert np.array_equal(again.included, seen.included)
    assert not np.array_equal(other.included, seen.included)


def test_bound_compares_scores_for_one_canary_and_counts_guesses_for_several():
    alone = {"canaries": 1, "runs": 400}
    seen = observe(noisy, **alone)
    worlds = seen.scores[seen.included], seen.scores[~seen.included]
    assert seen.bound(delta=0.01) == from_scores(*worlds, delta=0.01)
    seen, look = observe(noisy, **FEW), {"delta": 0.01, "confidence": 0.9, "adjacency": "zero_out"}
    for fixed in ({}, {"guesses": (3, 0)}):
        bound = one_run(seen.included, seen.scores, **look, **fixed)
        assert seen.bound(**look, **fixed) == bound


@pytest.mark.parametrize("scores", [[1.0] * 4, [1.0] * 4 + [np.nan], 1.0])
def test_scores_other_than_one_finite_number_per_canary_are_refused(scores):
    with pytest.raises(ValueError, match="Expected 5 finite scores, one per canary"):
        observe(lambda included, seed: scores, **FEW)
    with pytest.raises(ValueError, match="runs"):
        observe(noisy, canaries=5, runs=0)
