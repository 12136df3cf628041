"""The Laplace mechanism (Dwork, McSherry, Nissim & Smith 2006), for numbers and for vectors."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import exp_rest, log1mexp, log_expm1
from dplearn.engine.profile import FAR, Profile
from dplearn.mechanisms._noise import Noise


@dataclass(frozen=True)
class Laplace(Noise):
    r"""Independent Laplace noise added to every coordinate of a query.

    The scalar profile (Balle, Barthe & Gaboardi 2018) also holds for vectors.
    Split a shift a + b over two coordinates: the likelihood ratio becomes e^{2S - a - b} with S
    the sum of two clipped exponentials, and P(S > s) crosses P(Z > s) of the scalar case exactly
    once, at equal mean. So the split pair is less spread out in convex order and leaks no more at
    any epsilon; induction gives every dimension. A shift along one axis attains the bound.

    Parameters
    ----------
    noise_multiplier : float. Scale b of the noise / largest L1 norm of one record's contribution,
        >= 0. The variance is 2 b^2, not b^2.
    """

    name = "laplace"
    fields_of_examples = ((1.0,), (0.2,), (20.0,))
    conditions = ("L1 norm of each contribution is bounded",)
    scales_drawn = 25.0

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        """Return epsilon at delta = 0: the distance of neighbours / scale of the noise."""
        return self.shift(adjacency)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        pure = self.pure_epsilon(adjacency)
        kinks = [pure] if math.isfinite(pure) else []

        def log_delta(epsilon: NDArray) -> NDArray:
            # delta = 1 - exp((eps - pure) / 2) for eps < pure, else 0.
            return log1mexp(np.minimum((epsilon - pure) / 2, 0.0))

        def log_tail(epsilon: NDArray) -> NDArray:
            # The loss is at most pure; it exceeds eps where the noise exceeds b (eps + pure) / 2.
            return np.where(epsilon < pure, -(epsilon + pure) / 2 - math.log(2), -np.inf)

        return (Profile(log_delta, kinks=kinks, log_tail_of=log_tail),)

    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        """Return the exact profile q (1 - exp(x - 1/b)); at the output b x the loss is epsilon."""
        # Losses beyond FAR count as infinite.
        pure = min(self.shift(), 1e3 * FAR)
        log_q, log_rest = math.log(sample_rate), math.log1p(-sample_rate)
        largest = np.logaddexp(log_rest, log_q + pure) - np.logaddexp(log_rest, log_q - pure)

        def place(epsilon: NDArray) -> NDArray:
            far = np.logaddexp(epsilon, log_expm1(epsilon) + log_rest - log_q + pure) / 2
            return np.where(epsilon < largest, np.minimum(far, pure), pure)

        def log_tail(epsilon: NDArray) -> NDArray:
            log_q_there = np.logaddexp(log_rest, log_q - pure) - math.log(2) - place(epsilon)
            return np.where(epsilon < largest, log_q_there, -np.inf)

        log_delta = lambda epsilon: log_q + log1mexp(place(epsilon) - pure)
        pair = Profile(log_delta, kinks=[largest], log_tail_of=log_tail)
        return pair, pair

    def _log_noise(self, x: NDArray) -> NDArray:
        b = self.noise_multiplier
        return -np.abs(x) / b - math.log(2 * b)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return Rényi divergences (Mironov 2017, Proposition 6)."""
        pure, more = self.pure_epsilon(adjacency), orders - 1
        up = np.log(orders / (2 * orders - 1)) + more * pure
        down = np.log(more / (2 * orders - 1)) - orders * pure
        # If exp(up) + exp(down) is near 1, compute its excess over 1 as a sum of positive terms.
        small = np.minimum(more * pure, 1.0)
        rise = orders * exp_rest(small) + more * exp_rest(-small - pure)
        near = np.log1p(rise / (orders + more))
        return np.where(small < 1, near, np.logaddexp(up, down)) / more

    def _zcdp(self, adjacency: Adjacency) -> float:
        """Return the KL divergence eps + exp(-eps) - 1 (Harrison & Manurangsi 2026).

        See arXiv 2510.25746; M of `_noise` is proportional to cosh(s eps) + sinh(s eps) / 2s.
        """
        return float(exp_rest(-self.pure_epsilon(adjacency)))

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        return rng.laplace(0.0, scale, size)
