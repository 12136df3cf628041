"""Distributions of sampled lots. The false-alarm probability is below 1e-6 per test."""

import numpy as np
import pytest
import torch
from scipy import stats

from cases import each
from dplearn.run import DPSGD
from dplearn.training.records import Records

SMALL = 1e-6


def plan(sampling, sample_rate=0.2, **more):
    return DPSGD(noise_multiplier=1.0, sample_rate=sample_rate, steps=10, sampling=sampling, **more)


def drawn(sampling, *, size, times, sample_rate=0.2, **more):
    """Return whether records are in lots, shape (times, lots of one draw, records)."""
    rng, run = np.random.default_rng(0), plan(sampling, sample_rate, **more)
    member = np.zeros((times, run.sampling_scheme.batches, size), bool)
    for rows in member:
        for row, lot in zip(rows, run.lots(size=size, rng=rng), strict=True):
            assert len(set(lot.tolist())) == len(lot)
            row[lot] = True
    return member


def p_value(counts, expected):
    """Return the p-value of Pearson's test, merging cells with expected count <= 12."""
    common = expected > 12
    pair = (np.append(x[common], x[~common].sum()) for x in (counts, expected))
    return stats.chisquare(*pair).pvalue


def test_every_subset_of_records_is_drawn_with_its_probability():
    """Poisson draws records independently; without replacement, all subsets are equally likely."""
    member = drawn("poisson", size=8, times=20_000)[:, 0]
    patterns = np.bincount(member @ (1 << np.arange(8)), minlength=256)
    ones = np.array([bin(k).count("1") for k in range(256)])
    assert p_value(patterns, 20_000 * 0.2**ones * 0.8 ** (8 - ones)) > SMALL and patterns[0] > 0
    member = drawn("without_replacement", size=6, times=15_000, sample_rate=1 / 3)[:, 0]
    patterns = np.bincount(member @ (1 << np.arange(6)))
    assert np.all(member.sum(1) == 2) and np.count_nonzero(patterns) == 15
    assert stats.chisquare(patterns[patterns > 0]).pvalue > SMALL


def test_epoch_uses_each_record_once_and_a_lot_without_sampling_has_all():
    member = drawn("shuffled", size=20, times=2_000)
    assert np.all(member.sum(1) == 1) and np.all(member.sum(2) == 4)
    assert stats.chisquare(member[:, :, 0].sum(0)).pvalue > SMALL
    member = drawn("random_allocation", size=3, times=20_000)
    assert np.all(member.sum(1) == 1)
    place = member.argmax(1)  # lot of each record, independent of other records
    assert stats.chisquare(np.bincount(place @ [25, 5, 1], minlength=125)).pvalue > SMALL
    assert drawn("none", size=5, times=1, sample_rate=1.0).all()


def test_lots_of_equal_size_need_a_whole_size_and_omit_remaining_records():
    for sampling in ("shuffled", "without_replacement"):
        with pytest.raises(ValueError, match=r"Expected sample_rate \* 7 records to be whole"):
            plan(sampling).lots(size=7, rng=np.random.default_rng(0))
    assert drawn("shuffled", size=5, times=1, sample_rate=0.4).sum(2).tolist() == [[2, 2]]


@each(
    "size, rng, match", [(-1, 0, "size a whole"), (2.5, 0, "size a whole"), (4, 0, "rng to be a")]
)
def test_lots_refuse_wrong_sizes_and_generators(size, rng, match):
    with pytest.raises((TypeError, ValueError), match=f"Expected {match}"):
        plan("none", 1.0).lots(size=size, rng=rng)


def test_each_record_is_equally_likely_to_be_left_out_of_an_epoch():
    own = plan("shuffled", 0.5, drop_last=True)
    rng, missing = np.random.default_rng(4), np.zeros(4)
    for _ in range(4000):
        first, last = own.lots(size=4, rng=rng)
        assert (len(first), len(last)) == (2, 1)
        missing[list({0, 1, 2, 3} - {*first, *last})] += 1
    assert missing.sum() == 4000 and stats.chisquare(missing).pvalue > SMALL


@each("length, most", [(n, most) for n in (0, 1, 4, 5, 8) for most in (3, 4, None)])
def test_micro_batches_have_nearly_equal_sizes_and_cover_the_lot(length, most):
    lot = np.arange(10, 10 + length)
    small, large = (Records([0], like=torch.empty(0, device=d), most=most) for d in ("cpu", "meta"))
    parts = large.cut(lot)
    sizes = [len(part) for part in parts]
    assert len(parts) == -(-length // (most or 9)) and [*np.concatenate([[], *parts])] == [*lot]
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert most or [len(p) for p in small.cut(np.arange(600))] == [300, 300]
