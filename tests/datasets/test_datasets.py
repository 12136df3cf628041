"""Shipped and synthetic images, their split, and oriented gradients."""

import hashlib

import numpy as np
import pytest

from dplearn import datasets
from dplearn.datasets import school, shipped, split, synthetic, synthetic_digits
from dplearn.datasets.features import oriented_gradients

COUNT = 300


@pytest.fixture(scope="module")
def drawn():
    return synthetic_digits(count=COUNT)


def test_images_have_the_stated_shapes_and_shipped_digits_are_those_of_uci(drawn):
    for (images, labels), shape in ((shipped.digits(), (1797, 8, 8)), (drawn, (COUNT, 28, 28))):
        assert images.shape == shape and images.dtype == np.float32
        assert images.min() == 0 and 0.9 < images.max() <= 1
        assert labels.shape == shape[:1] and labels.dtype == np.int64
        assert set(labels.tolist()) == set(range(10)), shape
    images, labels = shipped.digits()
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (16 * images).sum() == 561718  # the sum of the table's integers
    assert np.all(16 * images == np.rint(16 * images))
    assert all(getattr(datasets, name).__doc__ for name in datasets.__all__)


def test_tables_of_the_package_are_preferred_to_those_of_a_checkout(tmp_path, monkeypatch):
    packaged, beside = tmp_path / "dplearn" / "data", tmp_path / "data"
    monkeypatch.setattr(shipped, "_FOLDERS", (packaged, beside))
    with pytest.raises(FileNotFoundError, match=r"digits\.csv\.gz.*got nothing there.*checkout"):
        shipped.digits()
    for folder in (beside, packaged):
        folder.mkdir(parents=True)
        (folder / "digits.csv.gz").touch()
        assert shipped.shipped_table("digits.csv.gz").parent == folder


def numbered(count):
    return datasets.Labelled(np.arange(count, dtype=np.float32), np.arange(count))


def test_split_puts_each_record_in_one_part_independent_of_its_content():
    for count, *shares, sizes in ((103, 0.1, 0.3, [62, 10, 31]), (5, 0, 0.2, [4, 0, 1])):
        parts = split(numbered(count), validation=shares[0], test=shares[1])
        assert [len(part.labels) for part in parts] == sizes
        assert all(np.array_equal(part.images, part.labels) for part in parts)
        assert sorted(np.concatenate([part.labels for part in parts])) == list(range(count))
    first, other = split(numbered(50)), split(numbered(50), seed=1)
    changed = split(numbered(50)._replace(images=-numbered(50).images))
    for a, b, c in zip(first, other, changed, strict=True):
        assert not np.array_equal(a.labels, b.labels)
        assert np.array_equal(a.labels, c.labels)
    with pytest.raises(ValueError, match="records to train on"):
        split(numbered(4), validation=0.5, test=0.5)
    with pytest.raises(ValueError, match="validation"):
        split(numbered(5), validation=-0.1)


def test_school_table_has_its_recorded_hash_and_the_training_digits():
    pupils, (images, labels) = school(), split(shipped.digits(), validation=0.0)[0]
    assert np.array_equal(pupils.images, images) and np.array_equal(pupils.digit, labels)
    table = [*zip(*pupils[:5], strict=True)]
    assert [*map(str, table[pupils.anna])] == ["9", "10", "Oak", "131", "True"]
    year = [row[1:3] for row in table if row[0] == 9]
    assert len(year) == 64 and year.count(table[pupils.anna][1:3]) == 1
    text = "\n".join(",".join(map(str, row)) for row in table)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "b1e5d097ec3bc330"


def test_synthetic_digits_have_the_recorded_pixels_and_labels(drawn):
    """Each ten images in turn show all ten digits."""
    # Compare sums over 100 images, not a hash, because processors differ in the last bits.
    pixels = drawn.images[:100].astype(float)
    read = [pixels.mean(), pixels.std(), pixels[:, 14, 14].sum()]
    assert read == pytest.approx([0.13964396, 0.30385382, 59.356863], rel=1e-6)
    assert drawn.labels[:10].tolist() == [4, 6, 2, 7, 3, 5, 9, 0, 8, 1]
    assert np.all(np.sort(drawn.labels.reshape(-1, 10), axis=1) == np.arange(10))
    assert len({tuple(ten) for ten in drawn.labels.reshape(-1, 10)}) > 25


def test_longer_synthetic_sets_begin_with_the_shorter_set_of_the_same_seed(monkeypatch, drawn):
    monkeypatch.setattr(synthetic, "BLOCK", 100)
    short, long = synthetic_digits(count=70, seed=5), synthetic_digits(count=230, seed=5)
    assert len(long.labels) == 230
    assert np.array_equal(short.images, long.images[:70])
    assert np.array_equal(short.labels, long.labels[:70])
    assert not np.array_equal(long.images[:100], long.images[100:200])
    assert not np.array_equal(short.images, drawn.images[:70])
    for wrong in ({"count": 0}, {"seed": -1}, {"count": 10.5}):
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            synthetic_digits(**wrong)


def test_oriented_gradients_match_a_loop_over_pixels():
    image = np.random.default_rng(0).random((8, 8))
    votes = np.zeros((4, 4, 8))
    for i in range(8):
        for j in range(8):
            x = image[i, min(j + 1, 7)] - image[i, max(j - 1, 0)]
            y = image[min(i + 1, 7), j] - image[max(i - 1, 0), j]
            turn = (np.arctan2(y, x) % (2 * np.pi)) / (2 * np.pi) * 8
            votes[i // 2, j // 2, int(turn) % 8] += np.hypot(x, y) * (1 - turn % 1)
            votes[i // 2, j // 2, (int(turn) + 1) % 8] += np.hypot(x, y) * (turn % 1)
    expected = np.sqrt(votes) - np.sqrt(votes).mean(axis=2, keepdims=True)
    read = oriented_gradients(image[None])[0]
    assert read == pytest.approx((expected / np.linalg.norm(expected)).ravel(), abs=1e-6)


def test_oriented_gradients_are_computed_per_image_and_refuse_bad_shapes(drawn):
    both = oriented_gradients(drawn.images[:20])
    assert both.shape == (20, 128) and both.dtype == np.float32
    assert np.linalg.norm(both, axis=1) == pytest.approx(np.ones(20))
    assert np.array_equal(both[7:8], oriented_gradients(drawn.images[7:8]))
    assert np.all(oriented_gradients(np.ones((2, 8, 8))) == 0)
    assert oriented_gradients(np.zeros((0, 8, 8))).shape == (0, 128)
    for shape in ((2, 8, 9), (8, 8), (1, 6, 8)):
        with pytest.raises(ValueError, match="multiples of 4"):
            oriented_gradients(np.zeros(shape))
