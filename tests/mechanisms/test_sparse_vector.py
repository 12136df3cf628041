"""The sparse vector against the laws of all its outcomes, on both sides of its interval."""

import numpy as np
import pytest

from dplearn import ACCOUNTANTS
from dplearn.book.chapters.selection import truths
from dplearn.mechanisms.choices import RandomizedResponse, SparseVector
from outcomes import EPSILONS, delta_by_definition


def law(mechanism, answers):
    """Chance of each outcome, shortest and lexically smallest first."""
    scales = {name: getattr(mechanism, name) for name in ("threshold_scale", "query_scale")}
    ways = sorted(truths.outcomes(len(answers), mechanism.positives))
    return np.exp([truths.log_chance(way, answers[: len(way)], **scales) for way in ways])


@pytest.mark.slow
@pytest.mark.parametrize("positives", [1, 2])
@pytest.mark.parametrize("scales", [(2.0, 2.0), (0.5, 3.0), (4.0, 0.7)], ids=str)
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_no_counts_leak_more(positives, scales, adjacency):
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


def test_both_ends_of_the_interval_are_reached():
    mechanism = SparseVector(2.0, 3.0, positives=2)
    scales = {"threshold_scale": 2.0, "query_scale": 3.0}
    many, yeses = [False] * 60, [True, True]
    # Noes that rise with the record and yeses that do not; then yeses that rise alone.
    with_record = truths.log_ratio(many + yeses, [1.0] * 60 + [0.0] * 2, **scales)
    alone = truths.log_ratio(many + yeses, [0.0] * 60 + [-1.0] * 2, **scales)
    remove, add = (np.max(np.abs(p.kinks)) for p in mechanism.profiles())
    assert with_record == pytest.approx(1 / 2 + 2 / 3, abs=1e-3) and with_record <= max(remove, add)
    assert alone == pytest.approx(2 / 3, abs=1e-3)
    forward, backward = mechanism.profiles()
    assert forward.delta(2 / 3) == 0 < forward.delta(0.66)
    assert backward.delta(1 / 2 + 2 / 3) == 0 < backward.delta(1.16)


def test_composed_it_costs_less_than_any_pure_dp():
    pld, about = ACCOUNTANTS["pld"](), {"delta": 1e-5, "steps": 100}
    # Each is 0.1-DP: 1/20 for the threshold, 5/100 for five positives.
    mine = pld.epsilon(SparseVector(20.0, 100.0, 5), **about).epsilon
    coin = pld.epsilon(RandomizedResponse(0.1), adjacency="replace_one", **about).epsilon
    assert mine < 0.75 * coin


def test_what_is_released_follows_the_law():
    mechanism, rng, answers = SparseVector(1.0, 2.0), np.random.default_rng(0), [0.5, -1.0]
    drawn = [tuple(mechanism.release(answers, sensitivity=1.0, rng=rng)) for _ in range(4000)]
    shares = [np.mean([d == way for d in drawn]) for way in ((0, 0), (0, 1), (1, -1))]
    chances = law(mechanism, answers)
    # Four deviations of each of three shares: a false alarm once in 5,000 seeds.
    assert np.all(np.abs(shares - chances) < 4 * np.sqrt(chances * (1 - chances) / 4000))
