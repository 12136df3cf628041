"""Rényi divergences of one step, remembered for the mechanisms asked about lately."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import Mechanism


@lru_cache(maxsize=64)
def _step(mechanism: Mechanism, orders: tuple[float, ...], adjacency: Adjacency) -> NDArray:
    values = mechanism.rdp(orders, adjacency=adjacency)
    values.setflags(write=False)
    return values


def composed_rdp(
    mechanisms: tuple[Mechanism, ...],
    counts: NDArray,
    orders: tuple[float, ...],
    adjacency: Adjacency,
) -> NDArray:
    """Rényi divergence of every row of counts, shape (n_rows, n_orders): they add up.

    References
    ----------
    Mironov (2017), Proposition 1.
    """
    return counts @ np.stack([_step(m, orders, adjacency) for m in mechanisms])
