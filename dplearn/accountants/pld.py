"""Privacy loss distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._per_step import per_step_epsilon
from dplearn.accountants.rdp import RDP
from dplearn.contour import SampledGaussian, brackets
from dplearn.guarantee import Adjacency, Reference
from dplearn.lattice import Lattice
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled
from dplearn.mechanisms.gaussian import gaussian_epsilon


@dataclass(frozen=True)
class PLD(Accountant):
    """Compose the whole distribution of the loss.

    The answer is exact for one run and for plain Gaussians, a bracket of relative width near
    1e-8 for the sampled Gaussian where the contour integral reaches, and an upper bound from
    the lattice elsewhere.

    Parameters
    ----------
    rtol : float
        Relative excess to aim at on the lattice, > 0. The bound holds whatever is reached.
    most_cells : int
        Largest transform.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
    >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    >>> print(PLD().epsilon(step, delta=1e-5, steps=10_000))
    0.9468 <= epsilon <= 0.9469 at delta = 1.0e-05, add_remove, by pld
    """

    rtol: float = 1e-3
    most_cells: int = 2**15

    name: ClassVar[str] = "pld"
    title: ClassVar[str] = "Privacy loss distribution"
    statement: ClassVar[str] = (
        r"\delta(\varepsilon) = E\big[(1-e^{\varepsilon-(L_1+\dots+L_T)})_+\big],\qquad "
        r"L_t = \ln\frac{dP}{dQ}\ \text{ independent under } P"
    )
    reference: ClassVar[Reference] = Reference("Doroshenko et al.", 2022, "Algorithm 1")
    explanation: ClassVar[str] = (
        "It keeps the whole distribution of one step's loss and composes it T times. "
        "Nothing is forgotten, so up to numerical width this is the exact value."
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
        single = counts.sum(axis=1) == 1
        bounds = iter(self._composed(mechanisms, counts[~single], delta, adjacency))
        return [
            _one_run(mechanisms[int(np.argmax(row))], delta, adjacency) if one else next(bounds)
            for row, one in zip(counts, single, strict=True)
        ]

    def _composed(
        self,
        mechanisms: tuple[Mechanism, ...],
        counts: NDArray,
        delta: float,
        adjacency: Adjacency,
    ) -> Sequence[Bound]:
        """Rows of at least two runs: the contour where it reaches, the lattice elsewhere."""
        if not counts.size:
            return []
        pairs = [m.profiles(adjacency) for m in mechanisms]
        # Remove direction, then add; a symmetric pair serves both.
        ends = [0, -1] if any(len(p) > 1 for p in pairs) else [0]
        sides = [[p[end] for p in pairs] for end in ends]
        known = _contour(mechanisms, counts, delta) or [_nothing(counts)] * len(sides)
        upper = Lattice(self.rtol, self.most_cells).worst(
            sides, counts, delta=delta, known=[high for _, high in known]
        )
        # Where only the lattice answers, the Renyi bound may be the smaller one (delta near 1e-30).
        alone = np.isinf(np.max([high for _, high in known], axis=0))
        if np.any(alone):
            renyi = RDP()._bounds(mechanisms, counts[alone], delta, adjacency)
            upper[alone] = np.minimum(upper[alone], [b.epsilon for b in renyi])
        # The answer is the larger direction, so either lower end is one for it.
        lower = np.max([low for low, _ in known], axis=0)
        # Total variation adds up: where it already fits into delta nothing is left to prove.
        at_zero = [max(float(p.delta(0.0)) for p in pair) for pair in pairs]
        fits = counts @ at_zero <= delta
        lower, upper = np.where(fits, 0.0, lower), np.where(fits, 0.0, upper)
        return [
            Bound(high, "bracket" if low > 0 else "upper", lower=low)
            for low, high in zip(lower, upper, strict=True)
        ]


def _one_run(mechanism: Mechanism, delta: float, adjacency: Adjacency) -> Bound:
    """One run of one mechanism needs no composition."""
    epsilon = float(per_step_epsilon((mechanism,), [delta], adjacency)[0, 0])
    return Bound(epsilon, "exact" if mechanism.attained else None)


def _is_plain_gaussian(mechanism: Mechanism) -> bool:
    if isinstance(mechanism, PoissonSubsampled) and mechanism.sample_rate == 1:
        mechanism = mechanism.base
    return isinstance(mechanism, Gaussian)


def _nothing(counts: NDArray) -> tuple[NDArray, NDArray]:
    return np.zeros(len(counts)), np.full(len(counts), np.inf)


def _contour(
    mechanisms: tuple[Mechanism, ...], counts: NDArray, delta: float
) -> list[tuple[NDArray, NDArray]]:
    """Brackets of both directions if all is one sampled Gaussian, else nothing."""
    (step, *others) = mechanisms
    if others or not (isinstance(step, PoissonSubsampled) and isinstance(step.base, Gaussian)):
        return []
    sigma, q = step.base.noise_multiplier, step.sample_rate
    return [
        brackets(SampledGaussian(sigma, q, side), counts[:, 0], delta=delta)
        for side in ("remove", "add")
    ]
