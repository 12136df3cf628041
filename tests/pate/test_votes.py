"""Votes: what is one, what a file of them may hold, and that nothing else passes."""

import io
import pickle

import numpy as np
import pytest

from dplearn.pate import SHIPPED, Votes, read_votes, shipped_votes

COUNTS = [[3, 1, 0], [0, 2, 2]]


def test_counts_are_copied_and_cannot_be_changed():
    table = np.array(COUNTS)
    votes = Votes(table)
    table[0, 0] = 99
    assert votes.counts.tolist() == COUNTS
    with pytest.raises(ValueError, match="read-only"):
        votes.counts[0, 0] = 1
    assert (votes.queries, votes.classes, votes.teachers) == (2, 3, 4)
    assert votes.first(1).counts.tolist() == COUNTS[:1]


def test_labels_are_counted():
    labels = np.random.default_rng(0).integers(0, 4, size=(6, 50))
    votes = Votes.from_labels(labels, classes=4)
    expected = [np.bincount(row, minlength=4).tolist() for row in labels]
    assert votes.counts.tolist() == expected


@pytest.mark.parametrize(
    ("counts", "error", "words"),
    [
        ([1, 2], ValueError, r"shape \(queries, classes\), got shape \(2,\)"),
        ([[1], [1]], ValueError, "at least 2 classes"),
        (np.zeros((0, 3)), ValueError, r"got shape \(0, 3\)"),
        ([[0, 0]], ValueError, "sum > 0"),
        ([[1, 2], [2, 2]], ValueError, "got sums from 3 to 4.*--labels"),
        ([[-1, 2]], ValueError, "got -1"),
        ([[0.5, 0.5]], ValueError, "got 0.5"),
        ([[np.nan, 1]], ValueError, "got nan"),
        ([[1e300, 1]], ValueError, r"got 1e\+300"),
        ([["a", "b"]], TypeError, "dtype <U1"),
        ([[True, False]], TypeError, "dtype bool"),
    ],
)
def test_what_is_no_table_of_votes_is_named(counts, error, words):
    with pytest.raises(error, match=words):
        Votes(counts)


def test_a_label_beyond_the_classes_is_refused():
    with pytest.raises(ValueError, match="labels < classes = 3, got 3"):
        Votes.from_labels([[0, 3]], classes=3)


def test_files_of_both_papers_are_read(tmp_path):
    labels = np.random.default_rng(1).integers(0, 10, size=(25, 40))
    votes = Votes.from_labels(labels.T, classes=10)
    # Floats that are whole occur in published files.
    for name, table, options in (
        ("labels.npy", labels, {"labels": True}),
        ("counts.npy", votes.counts, {}),
        ("floats.npy", votes.counts.astype(np.float64), {}),
    ):
        np.save(tmp_path / name, table)
        assert np.array_equal(read_votes(tmp_path / name, **options).counts, votes.counts)
    with pytest.raises(ValueError, match="--labels"):
        read_votes(tmp_path / "labels.npy")
    np.savetxt(tmp_path / "counts.csv", votes.counts, fmt="%d", delimiter=",")
    with open(tmp_path / "counts.csv", "rb") as file:
        assert np.array_equal(read_votes(file).counts, votes.counts)


def pickled(table):
    file = io.BytesIO()
    np.save(file, np.array(table, dtype=object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"counts", "could not convert string 'counts' to float64"),
        (b"3,1\n4\n", "the number of columns changed from 2 to 1 at row 2"),
        (b"\x93NUMPY\x01\x00", "EOF"),
        (b"PK\x03\x04\xff", "it is neither"),
        (pickle.dumps([1]), "it is neither"),
        (pickled([{"a": 1}]), "it holds Python objects, which could run code"),
    ],
)
def test_a_file_of_something_else_is_refused_in_one_sentence(tmp_path, content, why):
    path = tmp_path / "votes.npy"
    path.write_bytes(content)
    for file in (path, io.BytesIO(content)):
        with pytest.raises(ValueError, match=r"to be \.npy or \.csv with numbers: ") as refused:
            read_votes(file)
        told = str(refused.value)
        assert why in told and "\n" not in told and "allow_pickle" not in told


@pytest.mark.parametrize("teachers", SHIPPED)
def test_shipped_votes_are_those_of_so_many_good_teachers(teachers):
    votes, digits = shipped_votes(teachers)
    assert (votes.queries, votes.classes, votes.teachers) == (1000, 10, teachers)
    assert np.all(np.bincount(digits) == 100)
    assert np.mean(votes.counts.argmax(axis=1) == digits) > 0.95


def test_no_other_number_of_teachers_is_shipped():
    with pytest.raises(ValueError, match="Expected teachers one of"):
        shipped_votes(60)
