"""The exponential mechanism, through its bounded range."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp
from dplearn.ground.solve import maximise
from dplearn.mechanisms._base import Mechanism, contribution_norm


@dataclass(frozen=True)
class ExponentialMechanism(Mechanism):
    r"""Draw r with probability proportional to :math:`e^{\varepsilon u(r) / 2\Delta}`.

    Parameters
    ----------
    range_epsilon : float
        epsilon > 0 in the formula, where Delta is the most that adding or removing one
        record changes any score. Privacy losses of one pair then span an interval of
        length at most epsilon ("bounded range"), twice that under replace_one.

    Notes
    -----
    The profile is the worst over all mechanisms of that range, with x for its argument
    :math:`\delta(x) = (1 - e^{-(\varepsilon - x)/2})^2 / (1 - e^{-\varepsilon})`: an upper
    bound that composes adaptively, not the profile of one score table.

    References
    ----------
    McSherry & Talwar (2007); Dong, Durfee & Rogers (2020), Lemma 3.2.

    Examples
    --------
    >>> (profile,) = ExponentialMechanism(range_epsilon=1.0).profiles()
    >>> round(float(profile.delta(0.0)), 6)
    0.244919
    """

    range_epsilon: float

    name: ClassVar[str] = "exponential"
    conditions: ClassVar[tuple[str, ...]] = ("every score changes by at most its sensitivity",)
    attained: ClassVar[bool] = False
    no_outputs: ClassVar[str] = "the worst table of scores is another one at every ε"

    def __post_init__(self) -> None:
        validate.scale(range_epsilon=self.range_epsilon)

    def _range(self, adjacency: Adjacency) -> float:
        return contribution_norm(adjacency) * self.range_epsilon

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        span = self._range(adjacency)

        def log_delta(epsilon: NDArray) -> NDArray:
            return 2 * log1mexp(np.minimum(epsilon - span, 0.0) / 2) - log1mexp(-span)

        return (Profile(log_delta, kinks=[span]),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        r"""Largest divergence of a two-point pair with losses t and t - eps, over t in [0, eps].

        Dong, Durfee & Rogers (2020): pairs of that form are the worst of bounded range. The
        integral of the profile would be larger, for the worst t differs with epsilon.
        """
        span = self._range(adjacency)

        def divergence(t: NDArray) -> NDArray:
            log_q = log1mexp(t - span) - t - log1mexp(-span)  # mass of Q where the loss is t
            log_rest = log1mexp(-t) - log1mexp(-span)
            total = np.logaddexp(log_q + orders * t, log_rest + orders * (t - span))
            return np.maximum(total, 0.0) / (orders - 1)

        return divergence(maximise(divergence, lower=0.0, upper=span, shape=orders.shape))

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = eps^2 / 8 (Cesar & Rogers 2021)."""
        return self._range(adjacency) ** 2 / 8

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(1.0), cls(0.1), cls(4.0))

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """Index of the chosen candidate, given the scores of all, shape (n,).

        Adding Gumbel noise and taking the largest is the same distribution.
        """
        validate.positive(sensitivity=sensitivity)
        scores = np.asarray(value, dtype=float)
        noise = rng.gumbel(size=scores.shape)
        return np.asarray(np.argmax(self.range_epsilon * scores / (2 * sensitivity) + noise))
