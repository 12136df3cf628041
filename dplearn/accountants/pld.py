"""Privacy loss distributions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants._attack import power_brackets
from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._directions import Direction, directions, dominating_shifts
from dplearn.accountants._runs import Runs
from dplearn.accountants.rdp import RDP
from dplearn.engine.contour import worse_brackets
from dplearn.engine.lattice import Lattice
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency, Reference
from dplearn.mechanisms import Mechanism
from dplearn.mechanisms.gaussian import gaussian_epsilon

# Upper and lower end further apart than this leave room for another bound.
_LOOSE = 1.1


@dataclass(frozen=True)
class PLD(Accountant):
    """Compose the whole distribution of the loss.

    The answer is exact for one run and for plain Gaussians, and a bracket elsewhere: by the
    contour integral for the sampled Gaussian, by the lattice for the rest. It is an upper bound
    only where no pair of neighbours is known to attain the profile.

    Parameters
    ----------
    rtol : float
        Relative width of the bracket to aim at, > 0. It holds whatever is reached.
    most_cells : int
        Largest transform.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
    >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    >>> print(PLD().epsilon(step, delta=1e-5, steps=10_000))
    0.9468 <= epsilon <= 0.9469 at delta = 1.0e-05, add_remove, by pld
    """

    rtol: float = 1e-6
    most_cells: int = 2**16

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

    def _bounds(self, runs: Runs, delta: float) -> Sequence[Bound]:
        sides = directions(runs)
        if sides[0].shifts is not None:
            # Gaussians compose to a Gaussian (Dong, Roth & Su 2022, Corollary 3.3).
            mu = np.sqrt(runs.counts @ sides[0].shifts ** 2)
            return [Bound(e, "exact") for e in gaussian_epsilon(delta, mu)]
        single = runs.totals == 1
        composed = self._composed(runs[~single], delta, sides)
        bounds = iter(composed if np.any(~single) else [])
        return [
            _one_run(runs, int(np.argmax(row)), delta) if one else next(bounds)
            for row, one in zip(runs.counts, single, strict=True)
        ]

    def _composed(self, runs: Runs, delta: float, sides: list[Direction]) -> Iterator[Bound]:
        """Rows of at least two runs: the contour where it reaches, the lattice elsewhere."""
        counts = runs.counts
        lower, upper = np.zeros(len(counts)), np.full(len(counts), np.inf)
        if pair := sides[0].sampled:
            lower, upper = worse_brackets(
                counts[:, 0], sigma=pair.sigma, q=pair.q, delta=delta, rtol=self.rtol
            )
        open_ = np.isinf(upper)
        if np.any(open_):
            lower[open_], upper[open_] = self._lattice.brackets(
                [side.profiles for side in sides],
                counts[open_],
                delta=delta,
                witnesses=[side.witnesses for side in sides],
            )
            shifts = dominating_shifts(runs)
            if shifts is not None:
                closed = gaussian_epsilon(delta, np.sqrt(counts[open_] @ shifts**2))
                upper[open_] = np.minimum(upper[open_], closed)
        # The Renyi bound may be the smaller one where cells are too few (delta near 1e-30). It
        # loses several percent, and is costly where it takes quadrature.
        loose = open_ & (upper > _LOOSE * lower)
        if np.any(loose):
            renyi = RDP()._bounds(runs[loose], delta)
            upper[loose] = np.minimum(upper[loose], [b.epsilon for b in renyi])
        # Total variation adds up: where it already fits into delta nothing is left to prove.
        fits = np.zeros(upper.shape, dtype=bool)
        if not np.all(lower > 0):
            at_zero = [[float(p.delta(0.0)) for p in side.profiles] for side in sides]
            fits = counts @ np.max(at_zero, axis=0) <= delta
        for low, high, nothing in zip(lower, upper, fits, strict=True):
            low, high = (0.0, 0.0) if nothing else (low, high)
            yield Bound(high, "bracket" if low > 0 else "upper", lower=low)

    @property
    def _lattice(self) -> Lattice:
        return Lattice(self.rtol, self.most_cells)

    def _delta(self, runs: Runs, epsilon: float) -> tuple[float, float]:
        (row,), at = runs.counts, np.array([epsilon])
        ends = [side.log_deltas(row, at, self._lattice) for side in directions(runs)]
        lower, upper = np.exp(np.max(ends, axis=0))[:, 0]
        return float(lower), float(upper)

    def true_positive_rate(
        self,
        mechanism: Mechanism,
        *,
        false_positive_rate: ArrayLike,
        steps: int = 1,
        adjacency: Adjacency = "add_remove",
    ) -> tuple[NDArray, NDArray]:
        """Share of members that the best attacker catches at a given rate of false alarms.

        Parameters
        ----------
        mechanism : Mechanism
        false_positive_rate : array_like
            In (0, 1), any shape.
        steps : int
            Number of runs, >= 1.
        adjacency : {"add_remove", "replace_one", "zero_out"}

        Returns
        -------
        lower, upper : ndarray
            Bounds on the true positive rate of the best test between the worst neighbours,
            shape of `false_positive_rate`. One minus them is the trade-off function.

        References
        ----------
        Dong, Roth & Su (2022), Proposition 2.12.

        Examples
        --------
        >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
        >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
        >>> lower, upper = PLD().true_positive_rate(step, false_positive_rate=0.01, steps=10_000)
        >>> round(float(lower), 4), round(float(upper), 4)
        (0.0191, 0.0191)
        """
        rates = np.array(false_positive_rate, dtype=float)
        for rate in rates.ravel():
            validate.probability(false_positive_rate=float(rate))
        validate.integer(minimum=0, maximum=10**12, steps=steps)
        runs = self._covered(mechanism, [steps], adjacency)
        (row,) = runs.counts
        if not row.sum() or mechanism.no_privacy():
            return rates, np.where(row.sum(), 1.0, rates)
        ends = [
            power_brackets(
                lambda e, rtol, s=side: s.deltas(row, e, Lattice(rtol, self.most_cells)),
                rates.ravel(),
                self.rtol,
            )
            for side in directions(runs)
        ]
        lower, upper = np.max(ends, axis=0).reshape(2, *rates.shape)
        return lower, upper


def _one_run(runs: Runs, i: int, delta: float) -> Bound:
    """One run of the i-th mechanism needs no composition."""
    epsilon = float(runs.epsilon_of_one([delta])[0, i])
    real = [float(p.epsilon(delta)) for p in runs.mechanisms[i].witnesses(runs.adjacency)]
    # Epsilons read off a profile are rounded up, within 1e-12.
    lower = max(real, default=0.0) * (1 - 1e-11)
    if lower >= epsilon * (1 - 1e-10):
        return Bound(epsilon, "exact")
    return Bound(epsilon, "bracket" if lower > 0 else "upper", lower=lower)
