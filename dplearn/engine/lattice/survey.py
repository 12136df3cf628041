"""Preliminary estimates of a composition: range of losses, moments and Chernoff bounds."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core.logspace import log, log_sum
from dplearn.engine.lattice.laws import Atoms, chords
from dplearn.engine.profile import Profile


class Scan:
    """Values of a profile on a fixed uneven grid of epsilons; all groups of rows share them."""

    grid = np.geomspace(1e-12, 1e9, 400)

    def __init__(self, profile: Profile, witness: Profile | None = None) -> None:
        self.profile, self.witness = profile, witness
        self.atoms = Atoms.of(witness or profile)
        self.ahead = profile.log_delta_of(self.grid)
        self.behind = profile.reverse().log_delta_of(self.grid)
        self.at_zero = float(profile.delta(0.0))

    @cached_property
    def discrete(self) -> bool:
        """Whether the profile and its lower bound consist of atoms, at the same losses."""
        if self.witness is None or not self.atoms.complete:
            return self.atoms.complete
        own, loss = Atoms.of(self.profile).loss, self.atoms.loss
        return own.shape == loss.shape and np.allclose(own, loss, rtol=1e-9, atol=0.0)

    def dots(self, ahead: float, behind: float) -> tuple[NDArray, NDArray, float]:
        """Return nodes, masses, mass at infinity; cut tails at log delta `ahead` or `behind`."""
        lower, upper = self._end(self.behind, behind), self._end(self.ahead, ahead)
        # Nodes far below a typical loss (the total variation distance) only add rounding errors.
        inner = max(1e-9 * max(self.grid[lower], self.grid[upper]), 1e-3 * self.at_zero)
        inside = min(int(np.searchsorted(self.grid, inner)), lower, upper)
        left, right = slice(inside, lower + 1), slice(inside, upper + 1)
        nodes = np.concatenate([-self.grid[left][::-1], [0.0], self.grid[right]])
        below = np.exp(self.behind[left] - self.grid[left])[::-1]
        value = np.concatenate([below, [self.at_zero], np.exp(self.ahead[right])])
        return nodes, *chords(nodes, value)

    def _end(self, values: NDArray, log_threshold: float) -> int:
        # delta includes infinite losses at every epsilon: compare the rest with the threshold.
        small = values <= np.logaddexp(log_threshold, values[-1])
        return max(int(np.argmax(small)), 1) if np.any(small) else self.grid.size - 1

    def largest_loss(self, edge: float) -> float:
        """Return the largest loss if it is known and finite, else `edge`."""
        top = float(np.max(self.profile.kinks, initial=0.0))
        bounded = top > 0 and np.isneginf(self.profile.log_delta_of(np.array(top)))
        return top if bounded else edge


class Survey:
    """Estimates for every row of a group, from at most 400 chords on each side of loss 0."""

    def __init__(self, scans: list[Scan], counts: NDArray, log_delta: float, cut: float) -> None:
        most = float(np.max(counts.sum(axis=1)))
        # Log of delta / (target delta), and of the reverse delta, at which to cut one run's tails.
        spare = math.log(cut) - math.log(most)
        coarse = [scan.dots(log_delta + spare, spare) for scan in scans]
        # Each profile's range of losses, and the smallest positive mean absolute loss, or 0.
        self.edges = [(float(nodes[0]), float(nodes[-1])) for nodes, _, _ in coarse]
        scales = [float(np.abs(nodes) @ masses) for nodes, masses, _ in coarse]
        self.scale = min((scale for scale in scales if scale > 0), default=0.0)
        infinities = [infinity for _, _, infinity in coarse]
        log_finite = remaining(counts, infinities, log_delta)
        self.log_paid = float(log(paid(counts, infinities)[0]))
        # If finite losses are all 0, epsilon is 0, or inf if P(infinite loss) > delta.
        self.fallback = np.where(np.isneginf(log_finite), np.inf, 0.0)
        if self.scale == 0:
            return
        width = max(max(-a, b) for a, b in self.edges)
        a = np.geomspace(0.05 / (width * math.sqrt(most)), 60.0 / self.scale, 80)
        mu = self.mu = np.append(0.0, a)
        table = [log_sum(mu[:, None] * nodes + log(masses)) for nodes, masses, _ in coarse]
        # log E exp(mu * sum of losses), shape (n_rows, n_mu).
        self.k = counts @ np.array(table)
        # Conversion from Rényi divergences (Canonne, Kamath & Steinke 2020).
        excess = self.k[:, 1:] + log_c(a) - log_finite[:, None]
        self.fallback = np.min(excess / a, axis=1)
        if not any(infinities):
            # Bounded losses: epsilon is at most the sum of every run's largest loss.
            largest = [s.largest_loss(b) for s, (_, b) in zip(scans, self.edges, strict=True)]
            self.fallback = np.minimum(self.fallback, counts @ largest)
        self.fallback = np.maximum(self.fallback, 0.0)


def remaining(counts: NDArray, infinities: list[float], log_delta: float) -> NDArray:
    """Return per row log(delta - P(a loss is infinite)), or -inf if the difference is <= 0."""
    # Replace probability 1 by the largest double below 1, so that log(1 - probability) is finite.
    lost = paid(counts, np.minimum(infinities, 1 - 2**-53))
    return log(np.maximum(math.exp(log_delta) - lost, 0.0))


def paid(counts: NDArray, infinities: ArrayLike) -> NDArray:
    """Return the probability that at least one loss of a row is infinite."""
    with np.errstate(divide="ignore"):
        return -np.expm1(counts @ np.log1p(-np.asarray(infinities)))


def log_c(mu: NDArray) -> NDArray:
    """Return log of c(mu) = mu^mu / (1 + mu)^{1 + mu}; delta(eps) <= c(mu) exp(K(mu) - mu eps)."""
    return mu * np.log(np.where(mu > 0, mu, 1.0)) - (1 + mu) * np.log1p(mu)
