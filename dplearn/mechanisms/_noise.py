r"""Base classes of mechanisms that add noise, and noise given by a table of masses.

The noise of several parties on whole numbers has a law given by a table, log-concave and
even. A table whose masses are correct up to a factor :math:`e^{\pm r}` bounds delta
from both sides, with t the mass outside:

.. math:: e^{-3r}\hat\delta(\varepsilon + 2r) \le \delta(\varepsilon)
          \le e^r\hat\delta(\varepsilon - 2r) + t,

and for large epsilon a Rényi divergence gives
:math:`\delta \le e^{(\alpha-1)(D_\alpha-\varepsilon)}`. For a symmetric pair
:math:`E_Q[(P/Q)^{1/2+s}] = M(s)` is even. If ln M is concave in :math:`s^2`, for example if all
zeros of M are imaginary, it lies below its tangent at s = 1/2: this is
:math:`D_\alpha \le \alpha D_1`, so the least rho of zCDP is the mean loss.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.work import remembered
from dplearn.engine.profile import Curve, Profile
from dplearn.mechanisms._base import Mechanism, Outputs, contribution_norm

OUTSIDE = -680.0  # log of the mass outside a table; smaller masses lose digits


@dataclass(frozen=True)
class Noise(Mechanism):
    """Noise of scale `noise_multiplier` times the largest contribution of one record."""

    noise_multiplier: float

    scales_drawn: ClassVar[float]
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate.scale(zero=True, noise_multiplier=self.noise_multiplier)

    @property
    def _scale(self) -> float:
        return self.noise_multiplier

    def _distance(self, adjacency: Adjacency) -> int:
        """Return the distance between neighbours in units of contributions or whole numbers."""
        return contribution_norm(adjacency)

    def shift(self, adjacency: Adjacency = "add_remove") -> float:
        """Return distance between neighbours / scale of the noise; inf without noise."""
        if self.noise_multiplier == 0:
            return math.inf
        return contribution_norm(adjacency) / self.noise_multiplier

    @abstractmethod
    def _log_noise(self, x: NDArray) -> NDArray:
        """Return the log density of the noise, or its log probability on whole numbers."""

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        shift, reach, log_noise = self._distance(adjacency), self._drawn(), self._log_noise
        label = "released whole number" if self.whole else Outputs.label
        ends, corners = (-reach, shift + reach), (0.0, shift)
        law = Outputs(lambda x: log_noise(x - shift), log_noise, *ends, corners, self.whole, label)
        return (law,)

    def replaced_outputs(self, sample_rate: float) -> Outputs:
        r"""Return laws :math:`(1-q)f_0 + qf_1` and :math:`(1-q)f_0 + qf_{-1}` for shifted noise f.

        They are those of a replaced record in a Poisson sample of rate q in (0, 1).
        """
        log_q, log_rest = math.log(sample_rate), math.log1p(-sample_rate)
        reach, label = self._distance("add_remove"), self._outputs("add_remove")[0].label

        def law(x: NDArray, to: int) -> NDArray:
            return np.logaddexp(log_rest + self._log_noise(x), log_q + self._log_noise(x - to))

        ends, corners = (-reach - self._drawn(), reach + self._drawn()), (-reach, 0.0, reach)
        moved = partial(law, to=reach), partial(law, to=-reach)
        return Outputs(*moved, *ends, corners, self.whole, label)

    @abstractmethod
    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        """Return upper and lower bounds on the symmetric profile of `replaced_outputs`."""

    def _drawn(self) -> float:
        reach = self.scales_drawn * self._scale
        return math.ceil(reach) if self.whole else reach

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """Return rho = shift^2 / 2 (Bun & Steinke 2016, Proposition 1.6)."""
        return 0.5 * self.shift(adjacency) ** 2

    def infinite_epsilon_reason(self) -> str:
        return "noise_multiplier = 0 adds no noise" if self.noise_multiplier == 0 else ""

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """Return `value` plus independent noise of scale `noise_multiplier` * `sensitivity`.

        For teaching: the last bits leak `value` (see `dplearn.audit.floats`), and `rng` is not
        secure. For whole numbers the profile holds if `sensitivity` equals the field.
        """
        validate.positive(sensitivity=sensitivity)
        value = np.asarray(value) if self.whole else np.asarray(value, dtype=float)
        if self.whole and value.dtype.kind not in "iu":
            raise TypeError(f"Expected value to hold whole numbers, got dtype {value.dtype}.")
        return value + self._draw(self.noise_multiplier * sensitivity, value.shape, rng)

    @abstractmethod
    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray: ...


@dataclass(frozen=True)
class WholeNoise(Noise):
    """Base class of whole-number noise of scale `noise_multiplier` * `sensitivity`, both > 0."""

    sensitivity: int = 1

    conditions = ("the query is one whole number",)
    whole = True

    def __post_init__(self) -> None:
        validate.scale(noise_multiplier=self.noise_multiplier)
        validate.integer(minimum=1, maximum=10**6, sensitivity=self.sensitivity)

    @property
    def _scale(self) -> float:
        return self.noise_multiplier * self.sensitivity

    def _distance(self, adjacency: Adjacency) -> int:
        return contribution_norm(adjacency) * self.sensitivity

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1, rng: np.random.Generator
    ) -> NDArray:
        return super().release(value, sensitivity=sensitivity, rng=rng)


@dataclass(frozen=True)
class TabledNoise(WholeNoise):
    """Base class of whole-number noise given by a table of log masses of 0, 1, ... ."""

    attained: ClassVar[bool] = False  # the witnesses are slightly below the profiles

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._scale > 1e4:
            raise ValueError(
                f"Expected noise_multiplier * sensitivity <= 1e4, got {self._scale:g}; "
                "the continuous Gaussian is indistinguishable there."
            )

    @abstractmethod
    def _log_masses(self, scale: float) -> NDArray:
        """Return log P(X = k) for k = 0, 1, ..., with less than e^OUTSIDE beyond."""

    @property
    def _masses(self) -> NDArray:
        return self._log_masses(self._scale)

    @property
    @abstractmethod
    def _error(self) -> float:
        """Error r of the log masses, as in the module's docstring."""

    @abstractmethod
    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        """Return upper bounds on Rényi divergences at whole orders."""

    def _log_noise(self, x: NDArray) -> NDArray:
        k = np.abs(np.asarray(x, dtype=float)).astype(np.int64)
        inside = k < self._masses.size
        return np.where(inside, self._masses[np.where(inside, k, 0)], -np.inf)

    def _drawn(self) -> int:
        tails = np.cumsum(np.exp(self._masses[::-1]))
        return int(np.count_nonzero(tails > 1e-11))

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        distance, double_rho = self._distance(adjacency), self.shift(adjacency) ** 2

        def far(epsilon: NDArray) -> NDArray:
            # The best order of a Gaussian, rounded; every whole order is valid.
            orders = np.maximum(np.rint(epsilon / double_rho + 0.5), 2.0)
            return (orders - 1) * (self._renyi_above(distance, orders) - epsilon)

        return (self._above(adjacency, far),)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return (self._below(adjacency),)

    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        (whole,) = self._profiles("replace_one")
        far = lambda epsilon: math.log(sample_rate) + whole.log_delta_of(epsilon)
        return self._above(sample_rate, far), self._below(sample_rate)

    def _above(self, pair: Adjacency | float, far: Curve) -> Profile:
        """Return an upper bound on a pair's profile, the smaller of table and `far`."""
        near, error = tabled_profile(self, pair), self._error

        def log_delta(epsilon: NDArray) -> NDArray:
            epsilon = np.asarray(epsilon, dtype=float)
            inside = np.logaddexp(error + near.log_delta_of(epsilon - 2 * error), OUTSIDE)
            return np.minimum(np.minimum(inside, far(epsilon)), 0.0)

        return Profile(log_delta, kinks=near.kinks)

    def _below(self, pair: Adjacency | float) -> Profile:
        """Return a lower bound on a pair's profile from the table, scaled down by its error."""
        near, r = tabled_profile(self, pair, finite=True), self._error
        tail: Curve = near.log_tail_of  # type: ignore[assignment]
        return Profile(
            lambda epsilon: near.log_delta_of(epsilon + 2 * r) - 3 * r,
            log_tail_of=lambda epsilon: tail(epsilon + 2 * r) - r,
        )

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        masses = even_law(np.exp(self._log_masses(scale)))
        k = np.arange(masses.size) - masses.size // 2
        return rng.choice(k, size=size, p=masses / masses.sum())


@remembered(4)
def tabled_profile(law: TabledNoise, pair: Adjacency | float, *, finite: bool = False) -> Profile:
    """Return the profile of a tabled pair; `finite` drops outcomes possible under one law only.

    `pair` is an adjacency, or the sample rate of a replaced record.
    """
    laws = law.replaced_outputs(pair) if isinstance(pair, float) else law._outputs(pair)[0]
    reach = law._masses.size
    k = np.arange(laws.corners[0] - reach + 1, laws.corners[-1] + reach)
    log_p, log_q = laws.log_p(k), laws.log_q(k)
    remaining = np.isfinite(log_p) & np.isfinite(log_q) if finite else slice(None)
    return Profile.from_atoms(log_p[remaining], log_q[remaining])


def even_law(masses: NDArray) -> NDArray:
    """Return the masses of -n, ..., n of an even law from those of 0, ..., n."""
    return np.concatenate([masses[:0:-1], masses])
