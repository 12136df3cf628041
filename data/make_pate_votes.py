"""Write pate_votes.csv.gz: how teachers of drawn digits voted on a thousand further digits.

    python data/make_pate_votes.py

It draws 60,000 digits (seed 0) and divides them among 50 to 1,000 teachers, each a softmax
regression on oriented gradients; they vote on the first 1,000 digits of seed 1. Half a minute of
one core. With another version of PyTorch a few votes may differ.
"""

from pathlib import Path

import numpy as np
import torch
from archive import write

from dplearn.datasets import oriented_gradients, synthetic_digits
from dplearn.pate import Votes

TARGET = Path(__file__).with_name("pate_votes.csv.gz")
QUERIES = 1000
# Queries whose scores are computed at once: they have an entry per teacher and class.
AT_ONCE = 1000


def teacher_labels(features, labels, queries, *, teachers):
    """Return the label that each teacher gives to each query, shape (n_queries, teachers).

    A random equal part of the records trains each teacher, a softmax regression without a bias.
    """
    x, y = torch.as_tensor(features), torch.as_tensor(labels)
    size = len(x) // teachers
    parts = np.random.default_rng(0).permutation(len(x))[: teachers * size]
    parts = torch.as_tensor(parts.reshape(teachers, size))
    own, targets = x[parts], torch.nn.functional.one_hot(y)[parts].float()
    weights = torch.zeros(teachers, x.shape[1], targets.shape[2])
    optimizer = torch.optim.Adam([weights], lr=0.3)
    for _ in range(60):
        error = torch.softmax(own @ weights, dim=2) - targets
        weights.grad = own.transpose(1, 2) @ error / size + 1e-3 * weights
        optimizer.step()
    each = torch.as_tensor(queries).split(AT_ONCE)
    return torch.cat([torch.einsum("qd,tdc->qtc", q, weights).argmax(2) for q in each]).numpy()


def table():
    """Lines of the file: a header, then one line per number of teachers and query."""
    images, labels = synthetic_digits(count=60_000, seed=0)
    asked, truth = synthetic_digits(count=QUERIES, seed=1)
    features, queries = oriented_gradients(images), oriented_gradients(asked)
    lines = [",".join(["teachers", "label", *(f"votes_{digit}" for digit in range(10))])]
    for teachers in (50, 100, 250, 500, 1000):
        given = teacher_labels(features, labels, queries, teachers=teachers)
        for label, counts in zip(truth, Votes.from_labels(given, classes=10).counts, strict=True):
            lines.append(",".join(map(str, [teachers, label, *counts])))
    return lines


if __name__ == "__main__":
    write(table(), TARGET)
