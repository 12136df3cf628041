"""Teachers trained as one tensor, against teachers trained alone."""

import numpy as np
import pytest
import torch

from dplearn.datasets import digits, oriented_gradients
from dplearn.pate.teachers import teacher_labels

IMAGES, LABELS = digits()
X = oriented_gradients(IMAGES)


@pytest.mark.slow
def test_each_teacher_is_the_regression_on_its_part_alone():
    given = teacher_labels(X[:1000], LABELS[:1000], X[1000:1100], teachers=10, seed=3, steps=30)
    parts = np.random.default_rng(3).permutation(1000).reshape(10, 100)
    for part, column in zip(parts, given.T, strict=True):
        x, y = torch.as_tensor(X[part]), torch.as_tensor(LABELS[part])
        model = torch.nn.Linear(X.shape[1], 10, bias=False)
        torch.nn.init.zeros_(model.weight)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.3, weight_decay=1e-3)
        for _ in range(30):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        alone = model(torch.as_tensor(X[1000:1100])).argmax(1).numpy()
        # Another order of summation may decide a tie differently.
        assert np.mean(alone == column) >= 0.99


def test_a_record_affects_one_teacher():
    other = X[:1000].copy()
    other[17] = -other[17]
    few = {"teachers": 25, "steps": 20}
    one, two = (teacher_labels(x, LABELS[:1000], X[1000:], **few) for x in (X[:1000], other))
    assert np.sum(np.any(one != two, axis=0)) <= 1


def test_votes_of_many_weak_teachers_are_accurate():
    given = teacher_labels(X[:1000], LABELS[:1000], X[1000:], teachers=20)
    votes = np.stack([np.sum(given == c, axis=1) for c in range(10)], axis=1)
    assert np.mean(votes.argmax(axis=1) == LABELS[1000:]) > 0.9


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"teachers": 0}, "teachers"), ({"teachers": 41}, "teachers"), ({"steps": 0}, "steps")],
)
def test_bad_arguments_are_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        teacher_labels(X[:40], LABELS[:40], X[:5], **({"teachers": 4} | fields))
    with pytest.raises(ValueError, match="got shapes"):
        teacher_labels(X[:40], LABELS[:39], X[:5], teachers=4)
