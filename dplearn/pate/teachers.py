"""Teachers for PATE: a linear model on each part of the records, trained all at once."""

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate

_RATE, _DECAY = 0.3, 1e-3
# Queries per batch: their scores have an entry per teacher and class.
_AT_ONCE = 1000


def teacher_labels(
    features: ArrayLike,
    labels: ArrayLike,
    queries: ArrayLike,
    *,
    teachers: int,
    seed: int = 0,
    steps: int = 60,
) -> NDArray[np.int64]:
    """Return the label that each teacher gives to each query, shape (n_queries, teachers).

    Records (features of shape (n, d), labels 0, 1, ... of shape (n,)) are split into equal parts
    at random, by n and the seed alone; each part trains one teacher, a softmax regression without
    a bias. The returned labels are private: only their noisy votes may be released.

    Examples
    --------
    >>> images = np.repeat(np.eye(3), 20, axis=0)
    >>> teacher_labels(images, images.argmax(axis=1), np.eye(3), teachers=2).tolist()
    [[0, 0], [1, 1], [2, 2]]
    """
    x = torch.as_tensor(np.asarray(features, dtype=np.float32))
    y = torch.as_tensor(np.asarray(labels, dtype=np.int64))
    inputs = torch.as_tensor(np.asarray(queries, dtype=np.float32))
    if x.ndim != 2 or y.shape != x.shape[:1] or inputs.shape[1:] != x.shape[1:]:
        raise ValueError(
            "Expected features (n, d), labels (n,) and queries (m, d), got shapes "
            f"{tuple(x.shape)}, {tuple(y.shape)} and {tuple(inputs.shape)}."
        )
    validate.integer(minimum=1, maximum=len(x), teachers=teachers)
    validate.integer(minimum=1, steps=steps)
    size = len(x) // teachers
    parts = np.random.default_rng(seed).permutation(len(x))[: teachers * size]
    parts = torch.as_tensor(parts.reshape(teachers, size))
    own, targets = x[parts], torch.nn.functional.one_hot(y)[parts].float()
    weights = torch.zeros(teachers, x.shape[1], targets.shape[2])  # of all softmax regressions
    optimizer = torch.optim.Adam([weights], lr=_RATE)
    for _ in range(steps):
        error = torch.softmax(own @ weights, dim=2) - targets
        weights.grad = own.transpose(1, 2) @ error / size + _DECAY * weights
        optimizer.step()
    with torch.no_grad():
        chosen = [
            torch.einsum("qd,tdc->qtc", part, weights).argmax(2) for part in inputs.split(_AT_ONCE)
        ]
    return torch.cat(chosen).numpy()
