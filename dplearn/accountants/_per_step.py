"""Per-step (epsilon_0, delta_0) read off the exact profile of each mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.guarantee import Adjacency
from dplearn.mechanisms import Mechanism


def per_step_epsilon(
    mechanisms: tuple[Mechanism, ...], deltas: ArrayLike, adjacency: Adjacency
) -> NDArray:
    """Smallest epsilon_0 of each mechanism at each delta_0, shape (n_deltas, n_mechanisms).

    For a subsampled mechanism the profile already is the amplified one.
    """
    deltas = np.asarray(deltas, dtype=float)
    columns = [
        np.max([p.epsilon(deltas) for p in m.profiles(adjacency)], axis=0) for m in mechanisms
    ]
    return np.stack(columns, axis=-1)


def delta_grid(counts: NDArray, delta: float, *, size: int = 240) -> NDArray:
    """Candidate per-step deltas, from a sliver of delta / most steps up to delta / fewest."""
    totals = counts.sum(axis=1)
    return delta * np.geomspace(1e-4 / totals.max(), 1 / totals.min(), size)
