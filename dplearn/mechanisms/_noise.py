r"""Base classes of mechanisms that add noise.

For a symmetric pair :math:`M(s) = E_Q[(P/Q)^{1/2+s}]` is even. If ln M is concave in :math:`s^2`,
for example if all zeros of M are imaginary, it lies below its tangent at s = 1/2, which means
:math:`D_\alpha \le \alpha D_1`: the least rho is the KL divergence.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Mechanism, Outputs, contribution_norm


@dataclass(frozen=True)
class Noise(Mechanism):
    """Base class of noise with scale `noise_multiplier` * largest contribution of one record."""

    noise_multiplier: float

    scales_drawn: ClassVar[float]
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate.scale(zero=True, noise_multiplier=self.noise_multiplier)

    @property
    def _scale(self) -> float:
        return self.noise_multiplier

    def _distance(self, adjacency: Adjacency) -> int:
        """Return by how much a neighbour's query differs, in contribution norms (whole: units)."""
        return contribution_norm(adjacency)

    def shift(self, adjacency: Adjacency = "add_remove") -> float:
        """Return the distance of neighbours divided by the noise's scale; inf without noise."""
        if self.noise_multiplier == 0:
            return math.inf
        return contribution_norm(adjacency) / self.noise_multiplier

    @abstractmethod
    def _log_noise(self, x: NDArray) -> NDArray:
        """Return the log density of the noise, or its log probability on whole numbers."""

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        shift, log_noise = self._distance(adjacency), self._log_noise
        reach = self.scales_drawn * self._scale
        reach = math.ceil(reach) if self.whole else reach
        label = "released whole number" if self.whole else Outputs.label
        ends, corners = (-reach, shift + reach), (0.0, shift)
        law = Outputs(lambda x: log_noise(x - shift), log_noise, *ends, corners, self.whole, label)
        return (law,)

    def replaced_outputs(self, sample_rate: float) -> Outputs:
        r"""Return both output distributions for a replaced record that is sampled at rate q < 1.

        They are :math:`(1-q)f_0 + qf_1` and :math:`(1-q)f_0 + qf_{-1}`, f_m the noise moved by m.
        """
        log_q, log_rest = math.log(sample_rate), math.log1p(-sample_rate)
        reach, (plain,) = self._distance("add_remove"), self._outputs("add_remove")

        def law(x: NDArray, to: int) -> NDArray:
            return np.logaddexp(log_rest + self._log_noise(x), log_q + self._log_noise(x - to))

        there, back = (partial(law, to=to) for to in (reach, -reach))
        corners = (-reach, 0.0, reach)
        return replace(plain, lower=-plain.upper, corners=corners, log_p=there, log_q=back)

    @abstractmethod
    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        """Return an upper and a lower bound on the profile of the pair `replaced_outputs`."""

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """Return rho = shift^2 / 2 (Bun & Steinke 2016, Proposition 1.6)."""
        return 0.5 * self.shift(adjacency) ** 2

    def infinite_epsilon_reason(self) -> str:
        return "noise_multiplier = 0 adds no noise" if self.noise_multiplier == 0 else ""

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """Return `value` plus independent noise of scale `noise_multiplier` * `sensitivity`.

        Only for teaching: the last bits leak `value` (see lesson 14), and `rng` is not secure. For
        integer noise the profile holds only if `sensitivity` is that of the mechanism.
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
    """Base class of integer noise with scale `noise_multiplier` * `sensitivity`, both > 0."""

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
