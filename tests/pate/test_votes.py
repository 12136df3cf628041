"""Tables of votes: valid ones, refused ones, and the shipped files."""

import numpy as np
import pytest

from dplearn.pate import SHIPPED, Votes, shipped_votes

COUNTS = [[3, 1, 0], [0, 2, 2]]


def test_vote_counts_are_copied_and_cannot_be_changed():
    table = np.array(COUNTS)
    votes = Votes(table)
    table[0, 0] = 99
    assert votes.counts.tolist() == COUNTS
    with pytest.raises(ValueError, match="read-only"):
        votes.counts[0, 0] = 1
    assert (votes.queries, votes.classes, votes.teachers) == (2, 3, 4)
    assert votes.first(1).counts.tolist() == COUNTS[:1]


def test_votes_from_labels_have_the_number_of_votes_per_class():
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
        ([[1, 2], [2, 2]], ValueError, "got sums from 3 to 4.*from_labels"),
        ([[-1, 2]], ValueError, "got -1"),
        ([[0.5, 0.5]], ValueError, "got 0.5"),
        ([[np.nan, 1]], ValueError, "got nan"),
        ([[1e300, 1]], ValueError, r"got 1e\+300"),
        ([["a", "b"]], TypeError, "dtype <U1"),
        ([[True, False]], TypeError, "dtype bool"),
    ],
)
def test_invalid_vote_counts_are_refused(counts, error, words):
    with pytest.raises(error, match=words):
        Votes(counts)


@pytest.mark.parametrize("teachers", SHIPPED)
def test_shipped_votes_have_the_stated_shape_and_mostly_elect_the_true_digit(teachers):
    votes, digits = shipped_votes(teachers)
    assert (votes.queries, votes.classes, votes.teachers) == (1000, 10, teachers)
    assert np.all(np.bincount(digits) == 100)
    assert np.mean(votes.counts.argmax(axis=1) == digits) > 0.95


def test_unknown_labels_and_numbers_of_teachers_are_refused():
    with pytest.raises(ValueError, match="labels < classes = 3, got 3"):
        Votes.from_labels([[0, 3]], classes=3)
    with pytest.raises(ValueError, match="Expected teachers one of"):
        shipped_votes(60)
