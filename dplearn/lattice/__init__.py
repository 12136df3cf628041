r"""Composition on a tilted lattice: the engine for anything that has a profile.

The law that connects the dots of a profile (`dplearn.pld`) is convolved by Fourier
transform. To reach delta = 1e-30 it is tilted first: with weights :math:`e^{\lambda e_j}` the
interesting losses sit at the centre of the tilted law and carry full relative precision. A
transform of N cells folds the line modulo N h; what is folded in is non-negative, and what
lies to the right of the window is bounded by Chernoff, so the folding errs upwards as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.pld import PrivacyLossDistribution, chords
from dplearn.profile import Profile

_ULP = 2.0**-53


@dataclass(frozen=True)
class Lattice:
    """Numerical settings of the composition.

    Parameters
    ----------
    rtol : float
        Relative excess of epsilon to aim at; the bound holds whatever is reached.
    most_cells : int
        Largest transform.
    """

    rtol: float = 1e-3
    most_cells: int = 2**17

    def worst(
        self,
        sides: list[list[Profile]],
        counts: ArrayLike,
        *,
        delta: float,
        known: list[NDArray],
    ) -> NDArray:
        """The larger of `epsilons` over both directions, with little work for the smaller one.

        `known` holds upper bounds proved elsewhere, inf where there are none. A coarse bound
        that already lies below the other direction's result needs no refining.
        """
        counts = np.asarray(counts)
        bounds = np.array(known)
        quick = Lattice(16 * self.rtol, self.most_cells // 8)
        for side, bound in zip(sides, bounds, strict=True):
            missing = np.isinf(bound)
            if np.any(missing) and len(sides) > 1:
                bound[missing] = quick.epsilons(side, counts[missing], delta=delta)
        done = np.isfinite(known)
        result = np.max(np.where(done, bounds, 0.0), axis=0)
        for i in np.argsort(-bounds.sum(axis=1)):
            rows = ~done[i] & (bounds[i] > result)
            if np.any(rows):
                found = self.epsilons(sides[i], counts[rows], delta=delta)
                result[rows] = np.maximum(result[rows], found)
        return result

    def epsilons(self, profiles: list[Profile], counts: ArrayLike, *, delta: float) -> NDArray:
        """Upper bounds on epsilon of the composed pairs.

        Parameters
        ----------
        profiles : list of Profile
            One ordered pair per mechanism, all in the same direction.
        counts : array_like of int, shape (n_rows, n_profiles)
            Row by row, how often each is run.
        delta : float
            In (0, 1).

        Returns
        -------
        ndarray, shape (n_rows,)
            Nats; inf only if the mass at infinity exceeds delta.
        """
        counts = np.asarray(counts, dtype=float)
        totals = counts.sum(axis=1)
        result = np.zeros(totals.shape)
        scans = [_Scan(p) for p in profiles]
        # Rows within a factor 4 share one lattice, one tilt and one transform.
        with np.errstate(divide="ignore"):
            octave = np.floor(np.log2(totals) / 2)
        for group in np.unique(octave[totals > 0]):
            rows = octave == group
            result[rows] = _Group(profiles, scans, counts[rows], delta, self).epsilons()
        return result


class _Group:
    """Compositions of nearly equal length that share lattice and tilt."""

    def __init__(
        self,
        profiles: list[Profile],
        scans: list[_Scan],
        counts: NDArray,
        delta: float,
        settings: Lattice,
    ) -> None:
        self.profiles, self.counts, self.settings = profiles, counts, settings
        self.log_delta = math.log(delta)
        self._survey(scans)

    def _survey(self, scans: list[_Scan]) -> None:
        """A coarse uneven lattice: support, log moments, and bounds that hold already."""
        most = float(np.max(self.counts.sum(axis=1)))
        # Infinite losses may cost 1e-4 of delta; losses lifted to the first node 1e-7 in all.
        ahead, behind = self.log_delta - 9.2 - math.log(most), -16.0 - math.log(most)
        coarse = [scan.dots(ahead, behind) for scan in scans]
        self.edges = [(float(nodes[0]), float(nodes[-1])) for nodes, _, _ in coarse]
        width = max(max(-a, b) for a, b in self.edges)
        self.scale = min(float(np.abs(nodes) @ masses) for nodes, masses, _ in coarse)
        self.log_finite = self._log_remaining([infinity for _, _, infinity in coarse])
        if self.scale == 0:
            # No finite loss but 0: nothing leaks, or delta cannot pay for the infinite ones.
            self.trivial = np.where(np.isneginf(self.log_finite), np.inf, 0.0)
            return
        self.tilts = np.geomspace(0.05 / (width * math.sqrt(most)), 60.0 / self.scale, 80)
        with_zero = np.concatenate([[0.0], self.tilts])
        table = [_moments(nodes, masses, with_zero) for nodes, masses, _ in coarse]
        # K[row, tilt] and its two derivatives, for the whole composition of each row.
        k, first, second = (self.counts @ np.array([t[i] for t in table]) for i in range(3))
        a = self.tilts
        # The conversion of Renyi bounds (Canonne, Kamath & Steinke 2020), already valid here.
        log_c = a * np.log(a) - (1 + a) * np.log1p(a)
        self.fallback = np.min((k[:, 1:] + log_c - self.log_finite[:, None]) / a, axis=1)
        if all(infinity == 0 for _, _, infinity in coarse):
            # Bounded losses: basic composition of pure DP.
            largest = [
                _largest_atom(p) or b for p, (_, b) in zip(self.profiles, self.edges, strict=True)
            ]
            self.fallback = np.minimum(self.fallback, self.counts @ largest)
        # Saddle point: the epsilon that each tilt suits, and an estimate of log delta there.
        self.k, self.saddle = k, first[:, 1:] - 1 / a - 1 / (1 + a)
        variance = second[:, 1:] + a**-2 + (1 + a) ** -2
        spread = np.log(a * (1 + a)) + 0.5 * np.log(2 * np.pi * variance)
        self.estimate = k[:, 1:] - a * self.saddle - spread

    def _log_remaining(self, infinities: list[float]) -> NDArray:
        """log of what is left of delta once infinite losses are paid, per row; -inf if nothing."""
        paid = -np.expm1(self.counts @ np.log1p(-np.array(infinities)))
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(np.exp(self.log_delta) - paid, 0.0))

    def epsilons(self) -> NDArray:
        """Upper bounds on epsilon, one per row."""
        if self.scale == 0:
            return self.trivial
        near = np.argmin(np.abs(self.estimate - self.log_delta), axis=1)
        found = self._compose(near)
        # Of a law with two humps the estimate may mistake the tilt: then follow what was found.
        for _ in range(8):
            again = np.argmin(np.abs(self.saddle - found[:, None]), axis=1)
            if abs(np.median(again) - np.median(near)) <= 2:
                break
            better, near = np.minimum(found, self._compose(again)), again
            if np.all(better > 0.999 * found):
                break
            found = better
        return found

    def _choose(self, near: NDArray) -> None:
        """Tilt of index `near`, window from Chernoff, step from the wanted accuracy."""
        k, a = self.k, self.tilts
        # At least one larger tilt is needed for the Chernoff bound on the right.
        pick = min(1 + int(np.median(near)), a.size - 1)
        self.tilt = float(a[pick - 1])
        suited = self.saddle[np.arange(near.size), near]
        guess = np.maximum(np.minimum(suited, self.fallback), 0.0)
        # Chernoff: under the tilted law at most tau lies left of lower or right of upper.
        need, with_zero = 20.0, np.concatenate([[0.0], a])
        rise = k - k[:, [pick]]
        right = (rise[:, pick + 1 :] + need) / (with_zero[pick + 1 :] - self.tilt)
        left = (-rise[:, :pick] - need) / (self.tilt - with_zero[:pick])
        # Larger tilts that will bound what lies right of the window on the fine lattice.
        self.chernoff = a[np.unique(np.minimum(pick + 2 ** np.arange(6) - 1, a.size - 1))]
        self.lower = float(min(np.min(np.max(left, axis=1)), np.min(guess) - 3 / self.tilt))
        self.upper = float(np.max(np.min(right, axis=1)))
        most = float(np.max(self.counts.sum(axis=1)))
        size = max(float(np.median(guess)), 1e-3 * float(np.median(self.fallback)), self.scale)
        step = math.sqrt(12 * self.settings.rtol * size / (most * (1 + self.tilt)))
        window, widest = self.upper - self.lower, max(b - a for a, b in self.edges)
        finest = max(window, widest / 4) / self.settings.most_cells
        step = max(min(step, window / 256), finest)
        # With a node at the largest loss the laws with few atoms are hit exactly.
        largest = _largest_atom(self.profiles[0])
        if largest > 0.5 * step:
            step = largest / math.ceil(largest / step)
        # A length 2^k or 3 * 2^k: the transform likes both.
        power = 2 ** max(math.ceil(math.log2(window / step + 1)), 3)
        self.step, self.cells = step, 3 * power // 4 if window / step + 1 <= 0.75 * power else power

    def _compose(self, near: NDArray) -> NDArray:
        self._choose(near)
        log_transform, log_m, log_m_chernoff, infinities = [], [], [], []
        for profile, (lower, upper) in zip(self.profiles, self.edges, strict=True):
            pld = PrivacyLossDistribution.from_profile(
                profile, step=self.step, lower=lower, upper=upper
            )
            x = pld.losses
            log_m.append(_log_mgf(x, pld.masses, self.tilt))
            log_m_chernoff.append([_log_mgf(x, pld.masses, tilt) for tilt in self.chernoff])
            infinities.append(pld.infinity)
            # The tilted masses sum to 1, so an exponent above 700 meets a mass of 0.
            tilted = pld.masses * np.exp(np.minimum(self.tilt * x - log_m[-1], 700.0))
            cell = np.mod(pld.start + np.arange(x.size), self.cells)
            folded = np.bincount(cell, weights=tilted, minlength=self.cells)
            spectrum = np.fft.rfft(folded)
            log_transform.append(np.log(np.where(spectrum == 0, 1e-300, spectrum)))
        log_finite = self._log_remaining(infinities)
        begin = math.floor(self.lower / self.step)
        e = (begin + np.arange(self.cells + 1)) * self.step
        self.e, self.shift = e, -(begin % self.cells)
        self.fade = np.exp(e[0] - e[:-1]) if e[-1] - e[0] < 600 else None
        found = [
            self._solve(phi, float(log_m), rest, log_chernoff, float(row.sum()))
            for phi, log_m, rest, log_chernoff, row in zip(
                np.exp(self.counts @ np.array(log_transform)),
                self.counts @ log_m,
                log_finite,
                self.counts @ np.array(log_m_chernoff),
                self.counts,
                strict=True,
            )
        ]
        return np.maximum(np.minimum(found, self.fallback), 0.0)

    def _solve(
        self, phi: NDArray, log_m: float, log_rest: float, log_chernoff: NDArray, count: float
    ) -> float:
        """Smallest epsilon at which the window, its right tail and all rounding fit into delta."""
        if log_rest == -np.inf:
            return np.inf
        e, size = self.e, self.cells
        law = np.maximum(np.roll(np.fft.irfft(phi, size), self.shift), 0.0)
        # Untilt around the loss at which the scale is what is left of delta: everything below
        # is in units of that, and what under- or overflows is decided beyond doubt.
        pivot = (log_m - log_rest) / self.tilt
        untilt = np.exp(np.clip(-self.tilt * (e - pivot), -700.0, 700.0))
        weight = law * untilt[:-1]
        # mass[j]: probability of losses >= e_j; discount[j]: the same, each times e^{e_j - loss}.
        mass = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
        discount = self._discounted(weight)
        # What is right of the window, by Chernoff.
        tail = float(np.min(log_chernoff - self.chernoff * e[-1]))
        if tail >= log_rest:
            return np.inf
        budget = -math.expm1(tail - log_rest)
        # Rounding of transform and powers, per cell of the tilted law, summed along the tail.
        noise = 8 * _ULP * (count + 1) * math.log2(size) * np.mean(np.abs(phi))
        rounding = noise / -math.expm1(-self.tilt * self.step) * untilt
        # delta at the left end e_j of cell j: cells j+1, ... count (cell j itself has gain 0).
        fits = mass - discount + rounding <= budget
        if fits[0]:
            return float(e[0])
        j = int(np.argmax(fits))
        if not fits[j]:
            return np.inf
        # Inside (e_{j-1}, e_j) delta is linear in e^epsilon.
        excess = mass[j] + rounding[j - 1] - budget
        if excess <= 0 or discount[j] == 0:
            return float(e[j])  # where rounding blurs the line, the end that was seen to fit
        inside = e[j] + math.log(excess) - math.log(discount[j])
        return float(min(max(inside, e[j - 1]), e[j]))

    def _discounted(self, weight: NDArray) -> NDArray:
        """sum_{i >= j} weight_i e^{e_j - e_i} for every j, shape (cells + 1,)."""
        if self.fade is not None:
            return np.append(np.cumsum((weight * self.fade)[::-1])[::-1] / self.fade, 0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(weight) - self.e[:-1]
        total = np.logaddexp.accumulate(logs[::-1])[::-1]
        return np.append(np.exp(total + self.e[:-1]), 0.0)


class _Scan:
    """A profile on a fixed uneven grid, evaluated once for all groups."""

    grid = np.geomspace(1e-12, 1e9, 400)

    def __init__(self, profile: Profile) -> None:
        self.ahead = profile.log_delta_of(self.grid)
        self.behind = profile.reverse().log_delta_of(self.grid)
        self.at_zero = float(profile.delta(0.0))

    def dots(self, ahead: float, behind: float) -> tuple[NDArray, NDArray, float]:
        """Nodes, masses and mass at infinity, between losses at which no more than that is left."""
        lower, upper = self._end(self.behind, behind), self._end(self.ahead, ahead)
        # Nodes far inside the spread of one loss add nothing.
        inside = int(np.searchsorted(self.grid, 1e-9 * max(self.grid[lower], self.grid[upper])))
        left, right = slice(inside, lower + 1), slice(inside, upper + 1)
        nodes = np.concatenate([-self.grid[left][::-1], [0.0], self.grid[right]])
        below = np.exp(self.behind[left] - self.grid[left])[::-1]
        value = np.concatenate([below, [self.at_zero], np.exp(self.ahead[right])])
        return nodes, *chords(nodes, value)

    def _end(self, values: NDArray, log_threshold: float) -> int:
        small = values <= log_threshold
        return max(int(np.argmax(small)), 1) if np.any(small) else self.grid.size - 1


def _largest_atom(profile: Profile) -> float:
    """The largest loss if it is bounded and known, else 0."""
    top = float(np.max(profile.kinks, initial=0.0))
    return top if top > 0 and np.isneginf(profile.log_delta_of(np.array(top))) else 0.0


def _moments(x: NDArray, masses: NDArray, tilts: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """log E e^{tL}, and mean and variance of L under that tilt, for each tilt."""
    with np.errstate(divide="ignore"):
        exponent = tilts[:, None] * x + np.log(masses)
    top = exponent.max(axis=1, keepdims=True)
    weight = np.exp(exponent - top)
    total = weight.sum(axis=1)
    mean = weight @ x / total
    variance = np.maximum(weight @ x**2 / total - mean**2, 1e-300)
    return np.log(total) + top[:, 0], mean, variance


def _log_mgf(x: NDArray, masses: NDArray, tilt: float) -> float:
    top = float(np.max(tilt * x[masses > 0]))
    return math.log(float(masses @ np.exp(np.minimum(tilt * x - top, 0.0)))) + top
