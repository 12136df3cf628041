"""What mechanisms share that add noise to numbers."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._base import Mechanism, contribution_norm
from dplearn.mechanisms._outputs import Outputs


@dataclass(frozen=True)
class Noise(Mechanism):
    """Noise of scale `noise_multiplier` times the largest contribution of one record."""

    noise_multiplier: float

    # How far `outputs` draws the noise.
    scales_drawn: ClassVar[float]
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate.scale(zero=True, noise_multiplier=self.noise_multiplier)

    @property
    def _scale(self) -> float:
        return self.noise_multiplier

    def _distance(self, adjacency: Adjacency) -> int:
        """Distance between neighbours in the unit of the scale."""
        return contribution_norm(adjacency)

    def shift(self, adjacency: Adjacency = "add_remove") -> float:
        """Distance between neighbours in scales of the noise."""
        if self.noise_multiplier == 0:
            return math.inf
        return contribution_norm(adjacency) / self.noise_multiplier

    @abstractmethod
    def _log_noise(self, x: NDArray) -> NDArray:
        """log density of the noise, or log probability of a whole number."""

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        distance, reach = self._distance(adjacency), self.scales_drawn * self._scale
        return (Outputs.of_noise(self._log_noise, shift=distance, reach=reach, whole=self.whole),)

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = shift^2 / 2 (Bun & Steinke 2016, Propositions 1.4 and 1.6)."""
        return 0.5 * self.shift(adjacency) ** 2

    def no_privacy(self) -> str:
        return "noise_multiplier = 0 adds no noise" if self.noise_multiplier == 0 else ""

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """`value` plus independent noise of scale `noise_multiplier` * `sensitivity`.

        For teaching: the last bits of floating-point noise tell of the value (see
        `dplearn.audit.floats`), and numbers of `rng` can be guessed.
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
    """Noise on one whole number, of scale `noise_multiplier` * `sensitivity`, both > 0."""

    sensitivity: int = 1

    conditions: ClassVar[tuple[str, ...]] = ("the query is one whole number",)
    whole: ClassVar[bool] = True
    tabled: ClassVar[bool] = False  # the law is a table, which ends somewhere

    def __post_init__(self) -> None:
        validate.scale(noise_multiplier=self.noise_multiplier)
        validate.integer(minimum=1, maximum=10**6, sensitivity=self.sensitivity)
        if self.tabled and self._scale > 1e4:
            raise ValueError(
                f"Expected noise_multiplier * sensitivity <= 1e4, got {self._scale:g}; "
                "the continuous Gaussian is indistinguishable there."
            )

    @property
    def _scale(self) -> float:
        return self.noise_multiplier * self.sensitivity

    def _distance(self, adjacency: Adjacency) -> int:
        return contribution_norm(adjacency) * self.sensitivity

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1, rng: np.random.Generator
    ) -> NDArray:
        """`value` plus independent noise of scale `noise_multiplier` * `sensitivity`.

        Here `sensitivity` is the query's own and must equal the field for the profile to hold.
        """
        return super().release(value, sensitivity=sensitivity, rng=rng)
