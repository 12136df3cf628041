"""Labels for all from the labels of a few."""

import numpy as np
import pytest

from dplearn.datasets import digits, oriented_gradients
from dplearn.pate import NO_ANSWER
from dplearn.pate.student import propagated

IMAGES, LABELS = digits()
X = oriented_gradients(IMAGES)


def few(count):
    return np.where(np.arange(len(LABELS)) < count, LABELS, NO_ANSWER)


def test_sixty_labels_tell_nearly_all_digits():
    found = propagated(X, few(60))
    assert np.array_equal(found[:60], LABELS[:60])
    # The nearest labelled record alone tells fewer.
    nearest = LABELS[np.argmax(X @ X[:60].T, axis=1)]
    assert np.mean(found == LABELS) > max(0.92, np.mean(nearest == LABELS) + 0.02)


def test_a_chain_passes_a_label_on():
    angles = np.concatenate([np.linspace(0.0, 0.5, 20), np.linspace(1.0, 1.5, 20)])
    line = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    labels = np.full(40, NO_ANSWER)
    labels[[0, 39]] = 1, 0
    assert propagated(line, labels, neighbours=2).tolist() == [1] * 20 + [0] * 20


def test_the_graph_is_cut_into_blocks_without_a_trace(monkeypatch):
    monkeypatch.setattr("dplearn.pate.student._AT_ONCE", 7)
    one = propagated(X[:300], few(60)[:300])
    monkeypatch.undo()
    assert np.array_equal(one, propagated(X[:300], few(60)[:300]))


@pytest.mark.parametrize(
    ("labels", "neighbours", "words"),
    [
        ([-1, -1, -1], 1, "at least one"),
        ([0, -2, 1], 1, "at least one"),
        ([0, 1], 1, "got shapes"),
        ([0.0, 1.0, 1.0], 1, "dtype float64"),
        ([0, 1, -1], 3, "neighbours"),
    ],
)
def test_what_cannot_be_passed_on_is_refused(labels, neighbours, words):
    with pytest.raises((ValueError, TypeError), match=words):
        propagated(np.eye(3), labels, neighbours=neighbours)
