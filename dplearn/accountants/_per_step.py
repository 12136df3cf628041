"""Per-step (epsilon_0, delta_0) read off the exact profile of each mechanism."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import Mechanism


def per_step_epsilon(
    mechanisms: tuple[Mechanism, ...], deltas: ArrayLike, adjacency: Adjacency
) -> NDArray:
    """Smallest epsilon_0 of each mechanism at each delta_0, shape (n_deltas, n_mechanisms).

    For a subsampled mechanism the profile already is the amplified one.
    """
    deltas = tuple(np.asarray(deltas, dtype=float).tolist())
    return np.stack([_column(m, deltas, adjacency) for m in mechanisms], axis=-1)


@lru_cache(maxsize=32)
def _column(mechanism: Mechanism, deltas: tuple[float, ...], adjacency: Adjacency) -> NDArray:
    """One mechanism's column, remembered: several accountants ask for the same grid."""
    values = np.max([p.epsilon(deltas) for p in mechanism.profiles(adjacency)], axis=0)
    values.setflags(write=False)
    return values


def delta_grid(counts: NDArray, delta: float) -> NDArray:
    """Candidate per-step deltas, from a billionth of delta / most steps up to delta / fewest.

    Powers of a fixed ratio times delta, so that a curve and a single point see the same ones.
    """
    totals = counts.sum(axis=1)
    first, last = (
        np.floor(_PER_DECADE * np.log10(totals.min())),
        _PER_DECADE * np.log10(totals.max()),
    )
    return delta * 10.0 ** (-np.arange(first, last + 9 * _PER_DECADE) / _PER_DECADE)


_PER_DECADE = 12
