r"""A run with correlated noise, as one Gaussian release.

A strategy C has a row for each release and a column for each step. With contributions :math:`x_t`
of norm at most 1 where a record takes part, and fresh normal Z, the run is a function of CX + Z.
The record changes CX by a norm that is the root of
:math:`\sum_{s,t} \langle c_s, c_t\rangle \langle x_s, x_t\rangle`, which is at most
:math:`\sum_{s,t} |\langle c_s, c_t\rangle|` over its steps; equal contributions attain that if no
product of two of these columns is negative (Choquette-Choo et al. 2023, "Multi-epoch matrix
factorization", Theorem 2). Contributions may depend on earlier releases if no release needs later
steps (Denisov et al. 2022, Theorem 2.1; both theorem numbers from memory).
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Outputs, Wrapped
from dplearn.mechanisms.gaussian import Gaussian


@dataclass(frozen=True)
class CorrelatedGaussian(Wrapped):
    """A run with correlated noise: matrix factorisation or tree aggregation.

    Parameters
    ----------
    base : Gaussian. The release that it is: noise / the most that one record moves in the whole
        run.
    exact : bool. Whether some record moves it so far; else that is a bound.

    Examples
    --------
    Prefix sums with independent noise on each, and records that are used once:

    >>> run = CorrelatedGaussian.from_strategy(np.tril(np.ones((9, 9))), noise_multiplier=6.0)
    >>> round(run.base.noise_multiplier, 6)
    2.0
    """

    base: Gaussian
    exact: bool = True

    name = "correlated_gaussian"
    fields_of_examples = ((Gaussian(2.0),), (Gaussian(2.0), False))
    conditions = (
        "no record takes part more often or sooner again than the strategy was priced for",
    )

    def __post_init__(self) -> None:
        validate.instance(Gaussian, base=self.base)

    @property
    def attained(self) -> bool:
        return self.exact

    @classmethod
    def from_strategy(
        cls,
        strategy: ArrayLike,
        *,
        noise_multiplier: float,
        separation: int = 1,
        participations: int = 1,
    ) -> Self:
        """Return the run whose noise is correlated by a given strategy matrix.

        The sensitivity is exact if some allowed set of steps attains the bound, for example if
        the columns of its steps do not overlap, or for a nonnegative decreasing Toeplitz strategy
        (Kalinin & Lampert 2024). Otherwise it is an upper bound.

        Parameters
        ----------
        strategy : array of float, a matrix C with a column for each step
        noise_multiplier : float >= 0, noise in contribution norms
        separation : int >= 1, smallest distance of two steps of a record
        participations : int >= 1, largest number of steps of a record
        """
        columns = np.asarray(strategy, dtype=float)
        if columns.ndim != 2 or not columns.any() or not np.all(np.isfinite(columns)):
            expected = "a finite matrix with a column for each step, not all 0"
            raise ValueError(f"Expected strategy to be {expected}, got shape {columns.shape}.")
        validate.integer(minimum=1, separation=separation, participations=participations)
        products = columns.T @ columns
        # Bound on the rounding error of the products.
        error = len(columns) * 2.0**-52 * (np.abs(columns.T) @ np.abs(columns))
        square, steps = _largest(np.abs(products) + error, separation, participations)
        # Equal contributions in these steps attain the bound if the sum of products reaches it.
        exact = np.sum(products[np.ix_(steps, steps)]) >= square * (1 - 1e-11)
        noise = noise_multiplier / math.sqrt(square * (1 + 1e-12))
        return cls(Gaussian(noise), exact=bool(exact))

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self.base.profiles(adjacency)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        return self.base.outputs(adjacency)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        return self.base.rdp(orders, adjacency=adjacency)


def _largest(weights: NDArray, separation: int, participations: int) -> tuple[float, list[int]]:
    """Return an upper bound on the sum of weights over a record's steps, and steps close to it.

    The sum over later steps is maximised for each step alone: at least the joint maximum.
    """
    separation = min(separation, steps := len(weights))
    most = min(participations, -(-steps // separation))
    # At step s, later[0][t, j] is the largest sum of weights[t] over at most j steps from s + 1 on,
    # later[-1][t, j] over steps from s + separation on; best[s, j] is the bound.
    later = deque([np.zeros((steps, most + 1))] * separation, maxlen=separation)
    best = np.zeros((steps + separation, most + 1))
    for s in reversed(range(steps)):
        far, row = later[-1], later[0].copy()
        taken = weights[s, s] + 2 * far[s, :-1] + best[s + separation, :-1]
        best[s, 1:] = np.maximum(best[s + 1, 1:], taken)
        row[:, 1:] = np.maximum(row[:, 1:], weights[:, s, None] + far[:, :-1])
        later.appendleft(row)
    chosen, s, left = [], 0, most
    while s < steps:
        if best[s, left] == best[s + 1, left]:
            s += 1
            continue
        chosen.append(s)
        s, left = s + separation, left - 1
    return float(best[0, most]), chosen
