"""Permute-and-flip and sparse vector against enumeration of their output laws."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dplearn import ACCOUNTANTS
from dplearn.mechanisms import ExponentialMechanism, PermuteAndFlip, SparseVector
from dplearn.teaching.book.chapters import sparse_vector as selection
from dplearn.teaching.book.chapters.choices import permute_and_flip_probability
from outcomes import EPSILONS, delta_by_definition


def flips(scores, scale):
    """Return the probability of each candidate, the first of which a formula covers."""
    rolled = [np.roll(scores, -k) for k in range(len(scores))]
    return np.array([permute_and_flip_probability(scores=u, scale=scale) for u in rolled])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(("adjacency", "moves"), [("add_remove", 1), ("replace_one", 2)])
def test_two_candidates_attain_the_worst_case(epsilon, adjacency, moves):
    (profile,) = PermuteAndFlip(epsilon).profiles(adjacency)
    bound, rng, scale = profile.delta(EPSILONS), np.random.default_rng(0), 2 / epsilon
    for size in (2, 3, 4, 6) * 8:
        scores = rng.choice([0.0, 1.0, scale]) * rng.uniform(-2, 2, size)
        moved = scores + moves * rng.choice([-1.0, 1.0, 0.3], size)
        leak = delta_by_definition(flips(scores, scale), flips(moved, scale))
        assert np.all(leak <= bound + 1e-12)
    for x in (0.0, 0.4 * moves * epsilon):
        ahead = lambda lead: flips(np.array([lead, 0.0]), scale)[0]
        leak = lambda lead: math.exp(x) * ahead(lead - 2 * moves) - ahead(lead)  # noqa: B023
        best = minimize_scalar(leak, bounds=(-3 * moves, 3 * moves), method="bounded")
        assert -best.fun == pytest.approx(float(profile.delta(x)), rel=1e-6)


def test_permute_and_flip_is_not_of_bounded_range():
    about = {"delta": 1e-6, "steps": 100}
    mine = ACCOUNTANTS["pld"]().epsilon(PermuteAndFlip(0.1), **about)
    theirs = ACCOUNTANTS["pld"]().epsilon(ExponentialMechanism(0.1), **about)
    # 1.9 times: epsilon^2 / 8 is no bound for it.
    assert mine.lower > 1.5 * theirs.epsilon and mine.kind == "bracket"


def law(mechanism, answers):
    """Return the probability of each outcome, ordered by length and then lexically."""
    scales = {name: getattr(mechanism, name) for name in ("threshold_scale", "query_scale")}
    ways = sorted(selection.outcomes(len(answers), mechanism.positives))
    return np.exp([selection.log_chance(way, answers[: len(way)], **scales) for way in ways])


@pytest.mark.slow
@pytest.mark.parametrize("positives", [1, 2])
@pytest.mark.parametrize("scales", [(2.0, 2.0), (0.5, 3.0), (4.0, 0.7)], ids=str)
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_sparse_vector_profile_holds_for_all_counts(positives, scales, adjacency):
    mechanism = SparseVector(*scales, positives=positives)
    profiles = mechanism.profiles(adjacency)
    rng = np.random.default_rng(positives)
    for size in (1, 3, 4):
        without = rng.choice([0.0, 2.0]) * rng.uniform(-1, 1, size)
        moves = [np.arange(size) % 2, np.ones(size), np.arange(size) == size - 1]
        for move in moves if adjacency == "add_remove" else [2 * m - 1 for m in moves]:
            p, q = law(mechanism, without + move), law(mechanism, without)
            assert np.sum(p) == pytest.approx(1, abs=1e-9)
            for profile, pair in zip((profiles * 2)[:2], ((p, q), (q, p)), strict=True):
                assert np.all(delta_by_definition(*pair) <= profile.delta(EPSILONS) + 1e-9)


def test_both_ends_of_the_loss_interval_are_attained():
    mechanism = SparseVector(2.0, 3.0, positives=2)
    scales = {"threshold_scale": 2.0, "query_scale": 3.0}
    many, yeses = [False] * 60, [True, True]
    # Answers no that rise with the record and yes that do not; then only yes rises.
    with_record = selection.log_ratio(many + yeses, [1.0] * 60 + [0.0] * 2, **scales)
    alone = selection.log_ratio(many + yeses, [0.0] * 60 + [-1.0] * 2, **scales)
    remove, add = (np.max(np.abs(p.kinks)) for p in mechanism.profiles())
    assert with_record == pytest.approx(1 / 2 + 2 / 3, abs=1e-3) and with_record <= max(remove, add)
    assert alone == pytest.approx(2 / 3, abs=1e-3)
    forward, backward = mechanism.profiles()
    assert forward.delta(2 / 3) == 0 < forward.delta(0.66)
    assert backward.delta(1 / 2 + 2 / 3) == 0 < backward.delta(1.16)
