"""Base class of mechanisms that run a whole epoch, and discretised distributions of sums.

The distribution of a sum of independent values is computed by repeated doubling, and each time
discretised to a few hundred points. Moving each mass to the two points beside it, with the same
mean, raises expectations of convex functions; merging the values of a cell lowers them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.mechanisms._base import Wrapped
from dplearn.mechanisms.gaussian import Gaussian

POINTS = 512  # number of points of a discretised distribution
_WARP = 0.2  # growth rate of the points' spacing away from the median, tuned by experiment
_NEGLIGIBLE = 1e-50  # probability of the lower tail that is merged into one cell


@dataclass(frozen=True)
class Epoch(Wrapped):
    """Base class of one-epoch mechanisms: a Gaussian release per batch, all batches drawn at once.

    The profile of `base` is an upper bound, for an attacker who knows which batch has the record.
    """

    base: Gaussian
    batches: int

    no_outputs = "one epoch releases a vector per batch, not one number"

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        return math.inf  # infinite, as for a single Gaussian

    def __post_init__(self) -> None:
        validate.instance(Gaussian, base=self.base)
        validate.integer(minimum=1, batches=self.batches)

    @property
    def attained(self) -> bool:
        return self.batches == 1


class Masses(NamedTuple):
    """Values of a discrete variable, such as a likelihood ratio, with their probabilities."""

    value: NDArray
    mass: NDArray
    along: tuple[NDArray, ...] = ()  # for each value, conditional means of other variables


def repeated(one: Any, times: int, join: Callable) -> Any:
    """Combine `times` copies of `one` with `join`, by repeated doubling."""
    total = None
    while times:
        if times % 2:
            total = one if total is None else join(total, one)
        times //= 2
        one = join(one, one) if times else one
    return total


def cell_masses(z: NDArray) -> NDArray:
    """Return standard normal probabilities of (-inf, z_0], (z_0, z_1], ..., (z_n, inf)."""
    ends = np.concatenate([[-np.inf], z, [np.inf]])
    a, b = ends[:-1], ends[1:]
    return np.where(b < 0, ndtr(b) - ndtr(a), ndtr(-a) - ndtr(-b))


def sum_of(one: Masses, two: Masses, above: bool) -> Masses:
    """Return a discretised sum: in convex order above the exact sum if `above`, else below it."""
    points = _points(one, two)
    value = np.add.outer(one.value, two.value).ravel()
    mass = np.multiply.outer(one.mass, two.mass).ravel()
    cell = np.clip(np.searchsorted(points, value, side="right") - 1, 0, points.size - 2)
    if above:
        share = mass * np.clip((value - points[cell]) / (points[cell + 1] - points[cell]), 0, 1)
        remaining = np.bincount(cell, mass - share, points.size)
        means, masses = [points], remaining + np.bincount(cell + 1, share, points.size)
    else:
        sums = [np.add.outer(x, y).ravel() for x, y in zip(one.along, two.along, strict=True)]
        masses = np.bincount(cell, mass, points.size)
        each = np.where(masses > 0, masses, 1.0)
        means = [np.bincount(cell, mass * x, points.size) / each for x in (value, *sums)]
    keep = masses > 0
    value, *along = (x[keep] for x in means)
    return Masses(value, masses[keep] / mass.sum(), tuple(along))


def _points(one: Masses, two: Masses) -> NDArray:
    """Return points to discretise a sum: evenly spaced near its median, logarithmically beyond."""
    (x, p, _), (y, q, _) = _grouped(one), _grouped(two)
    value, mass = np.add.outer(x, y).ravel(), np.multiply.outer(p, q).ravel()
    order = np.argsort(value)
    at = np.searchsorted(np.cumsum(mass[order]), [_NEGLIGIBLE, 0.16, 0.5, 0.84])
    low, left, centre, right = value[order][np.minimum(at, value.size - 1)]
    high = one.value[-1] + two.value[-1]
    # Right of the median value = centre + scale sinh(u); left of it 1 / value has this form.
    scale = max(right - centre, 1e-12 * centre)
    inverse = max(1 / left - 1 / centre, 1e-12 / centre)
    ends = np.arcsinh([(1 / centre - 1 / low) / inverse, (high - centre) / scale])
    first, last = np.arcsinh(_WARP * ends)
    rise = np.sinh(np.sinh(np.linspace(first, last, POINTS - 1)) / _WARP)
    below = 1 / (1 / centre - inverse * np.minimum(rise, 0.0))
    points = np.where(rise < 0, below, centre + scale * rise)
    points[-1] = high
    return np.unique(np.append(one.value[0] + two.value[0], np.minimum(points, high)))


def _grouped(law: Masses) -> Masses:
    first = np.arange(0, law.value.size, 8)
    mass = np.add.reduceat(law.mass, first)
    return Masses(np.add.reduceat(law.mass * law.value, first) / mass, mass)
