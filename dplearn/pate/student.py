"""From a few answered queries to labels for all public records: their neighbours vote."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.ground import validate
from dplearn.pate.aggregate import NO_ANSWER

# Rows of similarities at once; weight of the neighbours against a label that was answered.
_AT_ONCE, _ROUNDS, _SHARE = 1000, 60, 0.95


def propagated(
    features: ArrayLike, labels: ArrayLike, *, neighbours: int = 10
) -> NDArray[np.int64]:
    """A label for every public record, from those that were answered.

    Features have shape (n, d), labels (n,), `NO_ANSWER` where there is none. Each record takes a
    share of the scores of its nearest `neighbours` by angle, and they of theirs. Nothing private
    is looked at, so nothing is paid.

    References
    ----------
    Zhou, Bousquet, Lal, Weston & Schölkopf (2004), Learning with local and global consistency.

    Examples
    --------
    >>> line = np.array([[1.0, 0.0], [1.0, 0.1], [0.1, 1.0], [0.0, 1.0]])
    >>> propagated(line, [0, -1, -1, 1], neighbours=1).tolist()
    [0, 0, 1, 1]
    """
    x, y = np.asarray(features, dtype=np.float32), np.asarray(labels)
    if x.ndim != 2 or y.shape != x.shape[:1] or y.dtype.kind not in "iu":
        raise ValueError(
            "Expected features (n, d) and whole labels (n,), got shapes "
            f"{x.shape} and {y.shape}, labels of dtype {y.dtype}."
        )
    if not np.any(y != NO_ANSWER) or np.any(y < NO_ANSWER):
        raise ValueError("Expected labels >= 0, at least one of them, and -1 where there is none.")
    validate.integer(minimum=1, maximum=len(x) - 1, neighbours=neighbours)
    graph = _graph(x, neighbours)
    given = (y[:, None] == np.arange(y.max() + 1)).astype(float)
    scores = given
    for _ in range(_ROUNDS):
        scores = _SHARE * (graph @ scores) + (1 - _SHARE) * given
    return np.where(y == NO_ANSWER, scores.argmax(axis=1), y).astype(np.int64)


def _graph(x: NDArray, neighbours: int):
    """Similarities to the nearest others, symmetric and scaled by the roots of their sums."""
    from scipy.sparse import coo_array, diags_array

    unit = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    rows, near, weights = [], [], []
    for start in range(0, len(x), _AT_ONCE):
        alike = unit[start : start + _AT_ONCE] @ unit.T
        own = np.arange(len(alike))
        alike[own, start + own] = -np.inf
        best = np.argpartition(-alike, neighbours - 1, axis=1)[:, :neighbours]
        rows.append(np.repeat(start + own, neighbours))
        near.append(best.ravel())
        weights.append(np.exp(np.take_along_axis(alike, best, 1).ravel() - 1.0))
    places = np.concatenate(rows), np.concatenate(near)
    graph = coo_array((np.concatenate(weights), places), shape=(len(x), len(x))).tocsr()
    graph = graph.maximum(graph.T)
    roots = diags_array(1 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-12)))
    return roots @ graph @ roots
