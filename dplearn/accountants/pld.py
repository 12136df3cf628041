"""Composition of privacy loss distributions, and its Gaussian limit for very many steps."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants._attack import power_brackets
from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import MOST_RUNS, Direction, Runs, directions, dominating_shifts
from dplearn.accountants.moments import RDP, ZCDP
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Reference
from dplearn.engine.contour import brackets, worse_brackets
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import Mechanism
from dplearn.mechanisms._base import as_mechanism
from dplearn.mechanisms.gaussian import MARGIN, gaussian_ends

_LOOSE = 1.1  # try other bounds if upper / lower bound exceeds this ratio
_WIDE = "the upper end is a closed form's: no narrower bracket was found"
# If the Gaussian shift and epsilon both exceed `_FAR`, the guarantee states this reason.
_FAR = 1e3
_HOPELESS = "with so little noise one release betrays a record: epsilon is beyond every use"
# Proofs of upper bounds, as guarantees name them.
_SUMMED = "a closed form for sums of Gaussian losses (Dong, Roth & Su 2022, Corollary 3.3)"
_CONTOUR = "a contour integral (Alghamdi et al. 2023)"
_LATTICE = "connected dots of the profile on a lattice (Doroshenko et al. 2022, Algorithm 1)"
_CLOSED = "Rényi divergences, zCDP or a dominating Gaussian"
_VARIATION = "the total variation of all releases, which delta alone pays for"
_PROFILE = "the privacy profile of the one release"
# Fractions of delta for truncated losses, to try if the default gives a wide bracket.
_CUTS = 1e-6, 1e-4, 1e-3, 1e-2, 0.3


@dataclass(frozen=True)
class PLD(Accountant):
    """Composition of the privacy loss distribution.

    The result is exact for one run and for plain Gaussians, otherwise a bracket: by the contour
    integral for the sampled Gaussian, by the lattice for all others. It is an upper bound only
    where no lower bound on real neighbours is known. If few steps use a record,
    sample_rate * steps < 30, and delta is tiny, the bounds may differ by several per cent.
    """

    rtol: float = 1e-6  # target relative width; a wider bracket is valid too
    most_cells: int = 2**16  # largest number of cells of a Fourier transform

    name = "pld"
    title = "Privacy loss distribution"
    reference = Reference("Doroshenko et al.", 2022, "Algorithm 1")

    def __post_init__(self) -> None:
        validate.positive(rtol=self.rtol)
        validate.integer(minimum=64, maximum=2**24, most_cells=self.most_cells)

    def coarse(self) -> Self:
        """Return an accountant with wider brackets (rtol >= 1e-3) from fewer cells."""
        return dataclasses.replace(self, rtol=max(self.rtol, 1e-3), most_cells=2**13)

    def _bounds(self, runs: Runs, delta: float) -> Iterator[Bound]:
        shifts = dominating_shifts(runs)
        far = shifts is not None and np.max(shifts) > _FAR
        for bound in self._proved(runs, delta):
            yield bound._replace(reason=_HOPELESS) if far and bound.epsilon > _FAR else bound

    def _proved(self, runs: Runs, delta: float) -> list[Bound]:
        sides = directions(runs)
        if sides[0].shifts is not None:
            ends = gaussian_ends(delta, np.sqrt(runs.counts @ sides[0].shifts ** 2))
            pairs = zip(*ends, strict=True)
            return [Bound(high, "exact", lower=low, proof=_SUMMED) for low, high in pairs]
        single = runs.totals == 1
        composed = self._composed(runs[~single], delta, sides)
        bounds = iter(composed if np.any(~single) else [])
        exact = sides[0].sampled is not None and sides[0].attained
        return [
            _one_run(runs, int(np.argmax(row)), delta, exact) if one else next(bounds)
            for row, one in zip(runs.counts, single, strict=True)
        ]

    def _composed(self, runs: Runs, delta: float, sides: list[Direction]) -> Iterator[Bound]:
        """Yield bounds for rows of two or more runs, by contour integral or lattice of losses."""
        # Epsilon is 0 if total variations, equal for a removed and an added record, sum to < delta.
        variation = [float(p.delta(0.0)) for p in sides[0].profiles]
        leaks = runs.counts @ variation > delta * (1 - MARGIN)
        lower, upper = np.zeros(leaks.shape), np.where(leaks, np.inf, 0.0)
        proof = np.where(leaks, "", np.array(_VARIATION, dtype=object))
        if (pair := sides[0].sampled) and np.any(leaks):
            steps, aim = runs.counts[leaks, 0], {"delta": delta, "rtol": self.rtol}
            if pair.direction == "replace":
                lower[leaks], high = brackets(pair, steps, **aim)
            else:
                lower[leaks], high = worse_brackets(steps, sigma=pair.sigma, q=pair.q, **aim)
            upper[leaks] = high if sides[0].attained else np.inf
            proof[leaks] = _CONTOUR
        # First truncate losses at little cost in delta; allow more if the bracket stays wide.
        for cuts in ((), _CUTS):
            if np.any(loose := upper > _LOOSE * lower):
                known = {"witnesses": [s.witnesses for s in sides], "proved": upper[loose]}
                profiles = [side.profiles for side in sides]
                lattice = Lattice(self.rtol, self.most_cells, cuts)
                low, high = lattice.brackets(profiles, runs.counts[loose], delta=delta, **known)
                proof[loose] = np.where(high < upper[loose], _LATTICE, proof[loose])
                lower[loose] = np.maximum(lower[loose], low)
                upper[loose] = np.minimum(upper[loose], high)
        # Lower bounds above upper bounds are numerical errors: discard both, use other theorems.
        crossed = lower > upper
        lower[crossed], upper[crossed] = 0.0, np.inf
        if np.any(loose := upper > _LOOSE * lower):
            high = _closed_bound(runs[loose], delta)
            proof[loose] = np.where(high < upper[loose], _CLOSED, proof[loose])
            upper[loose] = np.minimum(upper[loose], high)
        for low, high, by in zip(lower, upper, proof, strict=True):
            kind = "bracket" if low > 0 else "upper"
            reason = _WIDE if low > 0 and by == _CLOSED else ""
            yield Bound(high, kind, reason=reason, lower=low, proof=by)

    def _delta(self, runs: Runs, epsilon: float) -> tuple[float, float]:
        (row,), at = runs.counts, np.array([epsilon])
        lattice = Lattice(self.rtol, self.most_cells)
        ends = [side.log_deltas(row, at, lattice) for side in directions(runs)]
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
        """Return lower and upper bounds on the true positive rate of the best attacker.

        The best test between the worst neighbours detects this share of the members, at each
        `false_positive_rate` in (0, 1), an array of any shape (Dong, Roth & Su 2022, Proposition
        2.12). Other parameters are those of `Accountant.epsilon`.
        """
        mechanism, rates = as_mechanism(mechanism), np.array(false_positive_rate, dtype=float)
        for rate in rates.ravel():
            validate.probability(false_positive_rate=float(rate))
        validate.integer(minimum=0, maximum=MOST_RUNS, steps=steps)
        runs = self._covered(mechanism, [steps], adjacency)
        (row,) = runs.counts
        if not rates.size or not row.sum() or mechanism.infinite_epsilon_reason():
            return rates, np.where(row.sum(), 1.0, rates)
        ends = []
        for side in directions(runs):
            deltas = lambda e, rtol, s=side: s.deltas(row, e, Lattice(rtol, self.most_cells))
            ends.append(power_brackets(deltas, rates.ravel(), self.rtol))
        lower, upper = np.max(ends, axis=0).reshape(2, *rates.shape)
        return lower, upper


def _closed_bound(runs: Runs, delta: float) -> NDArray:
    others = [a._bounds(runs, delta) for a in (RDP(), ZCDP()) if not a._refusal(runs)]
    bounds = [np.array([bound.epsilon for bound in other]) for other in others]
    if (shifts := dominating_shifts(runs)) is not None:
        bounds.append(gaussian_ends(delta, np.sqrt(runs.counts @ shifts**2))[1])
    return np.min(bounds, axis=0, initial=np.inf)


def _one_run(runs: Runs, i: int, delta: float, exact: bool) -> Bound:
    """Return the bound for one run of mechanism i; if `exact`, neighbours attain its profile."""
    less, more = delta * (1 - MARGIN), min(delta * (1 + MARGIN), 1.0)
    epsilon, plateau, lower = runs.epsilon_of_one([less, delta, more])[:, i]
    # If infinite losses have mass delta, the profile tends to delta and never reaches `less`.
    epsilon = float(plateau if math.isinf(epsilon) else epsilon)
    if not exact:
        real = runs.mechanisms[i].witnesses(runs.adjacency)
        lower = max((float(pair.epsilon(more)) for pair in real), default=0.0)
    lower = float(lower) * (1 - MARGIN)
    attained = lower >= epsilon * (1 - 1e-10)
    kind = "exact" if attained else "bracket" if lower else "upper"
    return Bound(epsilon, kind, lower=lower, proof=_PROFILE)


@dataclass(frozen=True)
class GDP(Accountant):
    """Gaussian DP by a central limit theorem: exact for plain Gaussians, else *not a bound*."""

    name = "gdp"
    kind = "approximate"
    title = "Gaussian DP (CLT)"
    reference = Reference("Bu, Dong, Long & Su", 2020, "Theorem 5")

    def _refusal(self, runs: Runs) -> str:
        if refusal := super()._refusal(runs):
            return refusal
        other = [m.name for m in runs.mechanisms if math.isnan(_squared_mu(m, runs.adjacency))]
        what = "its limit is stated for (Poisson-sampled) Gaussians, not for"
        return f"{what} {other[0]}" if other else ""

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        plain = None not in [m.gaussian_shift(runs.adjacency) for m in runs.mechanisms]
        kind, proof = ("exact", _SUMMED) if plain else (None, "")
        mu = np.sqrt(runs.counts @ [_squared_mu(m, runs.adjacency) for m in runs.mechanisms])
        reach = mu < 1e6
        lower, epsilon = np.zeros(mu.shape), np.full(mu.shape, math.inf)
        lower[reach], epsilon[reach] = gaussian_ends(delta, mu[reach])
        reasons = np.where(reach, "", "mu of the limit exceeds 10^6")
        return [
            Bound(e, "upper" if why else kind, {"mu": float(m)}, str(why), low * plain, proof)
            for low, e, m, why in zip(lower, epsilon, mu, reasons, strict=True)
        ]


def _squared_mu(mechanism: Mechanism, adjacency: Adjacency) -> float:
    """Return mu^2 of one step (q^2 Var(P/Q) if sampled), or nan if the step is not Gaussian.

    Var(P/Q) = e^{mu^2} - 1; for a replaced record Var((f_1 - f_-1) / f_0) = 4 sinh(mu^2).
    """
    if (shift := mechanism.dominating(adjacency).gaussian_shift(adjacency)) is None:
        return math.nan
    if mechanism.gaussian_shift(adjacency) is not None or shift == math.inf:
        return shift**2
    pairs = mechanism.sampled_gaussians(adjacency) if mechanism.attained else ()
    if not pairs:
        return math.nan
    pair, square = pairs[0], pairs[0].sigma ** -2
    if square > 700:
        return math.inf
    rise = 4 * math.sinh(square) if pair.direction == "replace" else math.expm1(square)
    return pair.q**2 * rise
