r"""All steps of a run whose noise is correlated: one Gaussian release.

A strategy C has a row for each release and a column for each step. With contributions :math:`x_t`
of norm at most 1 where a record takes part, and fresh normal Z, the run is a function of CX + Z.
The record moves CX by the root of at most
:math:`\sum_{s,t} \langle c_s, c_t\rangle \langle x_s, x_t\rangle`, whose largest value is
:math:`\sum_{s,t} \langle c_s, c_t\rangle` over its steps where no such product is negative
(Choquette-Choo et al. 2023, "Multi-epoch matrix factorization", Theorem 2). Contributions may
depend on earlier releases if no release needs later steps (Denisov et al. 2022, Theorem 2.1; both
numbers from memory).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._outputs import Outputs
from dplearn.mechanisms._wrapped import Wrapped
from dplearn.mechanisms.gaussian import Gaussian


@dataclass(frozen=True)
class CorrelatedGaussian(Wrapped):
    """A whole run with correlated noise: matrix factorisation, or sums over a tree.

    Parameters
    ----------
    base : Gaussian
        The release that it is: noise / the most that one record moves in the whole run.

    Examples
    --------
    Prefix sums with noise of their own on every one, and records that are used once:

    >>> run = CorrelatedGaussian.from_strategy(np.tril(np.ones((9, 9))), noise_multiplier=6.0)
    >>> round(run.base.noise_multiplier, 6)
    2.0
    """

    base: Gaussian

    name: ClassVar[str] = "correlated_gaussian"
    conditions: ClassVar[tuple[str, ...]] = (
        "no record takes part more often or sooner again than the strategy was priced for",
    )

    def __post_init__(self) -> None:
        validate.instance(Gaussian, base=self.base)

    @classmethod
    def from_strategy(
        cls,
        strategy: ArrayLike,
        *,
        noise_multiplier: float,
        separation: int = 1,
        participations: int = 1,
        periodic: bool = False,
    ) -> Self:
        """The run of a strategy C with noise Z of `noise_multiplier` norms of one contribution.

        A record takes part at most `participations` times, `separation` steps or more from one to
        the next; exactly as many if `periodic`, as in epochs of a fixed order. NotImplementedError
        is raised where columns that one record may use have a product that is negative, or, unless
        `periodic`, not 0.
        """
        columns = np.asarray(strategy, dtype=float)
        if columns.ndim != 2 or not columns.any() or not np.all(np.isfinite(columns)):
            expected = "a finite matrix with a column for each step, not all 0"
            raise ValueError(f"Expected strategy to be {expected}, got shape {columns.shape}.")
        validate.integer(minimum=1, separation=separation, participations=participations)
        products = columns.T @ columns
        # What rounding may have taken from them.
        error = len(columns) * 2.0**-52 * (np.abs(columns.T) @ np.abs(columns))
        largest = _periodic if periodic else _separated
        square = largest(products, error, separation, participations) * (1 + 1e-12)
        return cls(Gaussian(noise_multiplier / math.sqrt(square)))

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self.base.profiles(adjacency)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        return self.base.outputs(adjacency)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        return self.base.rdp(orders, adjacency=adjacency)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(Gaussian(2.0)),)


def _periodic(products: NDArray, error: NDArray, separation: int, participations: int) -> float:
    """Largest sum of products over steps that follow each other at one distance."""
    sums = []
    for first in range(len(products)):
        steps = np.arange(first, len(products), separation)[:participations]
        together = np.ix_(steps, steps)
        if np.any(products[together] < -error[together]):
            what = "a strategy with a negative product of columns that one record uses"
            raise validate.unsupported(what, "its contributions may cancel or add up")
        sums.append(np.sum(products[together] + error[together]))
    return float(max(sums))


def _separated(products: NDArray, error: NDArray, separation: int, participations: int) -> float:
    """Largest sum of squares over so many steps, so far apart at least."""
    far = np.triu(np.abs(products), separation)
    if participations > 1 and far.any():
        what = "a strategy whose columns overlap where a record takes part again"
        raise validate.unsupported(what, "band it to `separation`, or let it be periodic")
    squares, most = np.diag(products + error), min(participations, -(-len(products) // separation))
    # Entry t, k: among the first t steps, of which k are used.
    best = np.zeros((len(squares) + 1, most + 1))
    for t, square in enumerate(squares):
        used = best[max(t + 1 - separation, 0), :-1] + square
        best[t + 1] = np.maximum(best[t], np.concatenate([[0.0], used]))
    return float(best[-1, -1])
