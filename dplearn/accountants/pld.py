"""Privacy loss distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._per_step import per_step_epsilon
from dplearn.guarantee import Adjacency, Reference
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled
from dplearn.mechanisms.gaussian import gaussian_epsilon
from dplearn.pld import Lattice


@dataclass(frozen=True)
class PLD(Accountant):
    """Compose the whole distribution of the loss: exact where a closed form exists, else above.

    Parameters
    ----------
    rtol : float
        Relative excess of epsilon to aim at, > 0. The bound holds whatever is reached.
    most_cells : int
        Largest transform.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
    >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    >>> print(PLD().epsilon(step, delta=1e-5, steps=10_000))
    epsilon <= 0.9475 at delta = 1.0e-05, add_remove, by pld
    """

    rtol: float = 1e-3
    most_cells: int = 2**17

    name: ClassVar[str] = "pld"
    title: ClassVar[str] = "Privacy loss distribution"
    statement: ClassVar[str] = (
        r"\delta(\varepsilon) = E\big[(1-e^{\varepsilon-(L_1+\dots+L_T)})_+\big],\qquad"
        r"L_t = \ln\frac{dP}{dQ}\ \text{ independent under } P"
    )
    reference: ClassVar[Reference] = Reference("Doroshenko et al.", 2022, "Algorithm 1")
    explanation: ClassVar[str] = (
        "It keeps the whole distribution of one step's loss and convolves it T times. "
        "Only the width of the lattice separates it from the exact value."
    )

    def _bounds(
        self,
        mechanisms: tuple[Mechanism, ...],
        counts: NDArray,
        delta: float,
        adjacency: Adjacency,
    ) -> Sequence[Bound]:
        if all(_is_plain_gaussian(m) for m in mechanisms):
            # Gaussians compose to a Gaussian (Dong, Roth & Su 2022, Corollary 3.3).
            rho = counts @ [m.zcdp(adjacency) for m in mechanisms]
            return [Bound(e, "exact") for e in gaussian_epsilon(delta, np.sqrt(2 * rho))]
        pairs = [m.profiles(adjacency) for m in mechanisms]
        # Remove direction, then add; a symmetric pair serves both.
        ends = [0, -1] if any(len(p) > 1 for p in pairs) else [0]
        sides = [[p[end] for p in pairs] for end in ends]
        epsilon = Lattice(self.rtol, self.most_cells).worst(sides, counts, delta=delta)
        single = [self._single(mechanisms, row, delta, adjacency) for row in counts]
        return [found or Bound(e) for e, found in zip(epsilon, single, strict=True)]

    def _single(
        self,
        mechanisms: tuple[Mechanism, ...],
        row: NDArray,
        delta: float,
        adjacency: Adjacency,
    ) -> Bound | None:
        """One run of one mechanism needs no composition."""
        if row.sum() != 1:
            return None
        mechanism = mechanisms[int(np.argmax(row))]
        epsilon = float(per_step_epsilon((mechanism,), [delta], adjacency)[0, 0])
        return Bound(epsilon, "exact" if mechanism.attained else None)


def _is_plain_gaussian(mechanism: Mechanism) -> bool:
    if isinstance(mechanism, PoissonSubsampled) and mechanism.sample_rate == 1:
        mechanism = mechanism.base
    return isinstance(mechanism, Gaussian)
