"""Floating-point noise: outputs that only one of two neighbours can give, and snapping.

A proof about Laplace noise assumes real numbers. A program draws one of 2^53 uniform numbers and
rounds; the last bits of its output depend on the value to be hidden.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate


def laplace_by_inversion(
    uniforms: ArrayLike, *, value: float = 0.0, scale: float = 1.0
) -> NDArray[np.float64]:
    """Return `value` plus Laplace noise, by textbook inversion of uniform numbers in [0, 1).

    It is not differentially private: see `reachable`. `Laplace.release` has the same defect.

    Examples
    --------
    >>> laplace_by_inversion([0.25, 0.5, 0.75]).round(4)
    array([-0.6931,  0.    ,  0.6931])
    """
    validate.positive(scale=scale)
    centred = np.asarray(uniforms, dtype=float) - 0.5
    with np.errstate(divide="ignore"):  # a uniform of 0 gives -inf
        return value - scale * np.sign(centred) * np.log(1 - 2 * np.abs(centred))


def reachable(
    outputs: ArrayLike, release: Callable[[NDArray], NDArray], *, bits: int = 53
) -> NDArray[np.bool_]:
    """Return whether a program gives each output for some uniform number k / 2^bits.

    An output reachable from one value and not from its neighbour has an infinite privacy loss.
    The result is exact, by bisection on the grid. `release` maps an array of uniform numbers to
    outputs and must not decrease, except by rounding of its logarithm. `bits` is from 2 to 53;
    uniform numbers of Python and NumPy have 53.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy.

    Examples
    --------
    >>> outputs = laplace_by_inversion(np.random.default_rng(0).random(1000))
    >>> anna = lambda uniforms: laplace_by_inversion(uniforms, value=1.0)
    >>> reachable(outputs, laplace_by_inversion).all(), reachable(outputs, anna).mean() < 0.25
    (np.True_, np.True_)
    """
    validate.integer(minimum=2, maximum=53, bits=bits)
    outputs = np.asarray(outputs, dtype=float)
    low, high = np.zeros(outputs.shape, np.int64), np.full(outputs.shape, 2**bits - 1)
    for _ in range(bits + 1):
        middle = (low + high) // 2
        below = release(np.ldexp(middle.astype(float), -bits)) < outputs
        low = np.where(below, np.minimum(middle + 1, high), low)
        high = np.where(below, high, middle)
    # Rounding of the logarithm may swap the outputs of adjacent grid points.
    near = np.clip(low[..., None] + np.arange(-4, 5), 0, 2**bits - 1)
    return np.any(release(np.ldexp(near.astype(float), -bits)) == outputs[..., None], axis=-1)


def snapped_epsilon(*, scale: float, bound: float) -> float:
    r"""Return epsilon at delta = 0 of snapped Laplace noise for values at most 1 apart.

    A snapped release is a clamped value plus noise of this scale, made of all doubles between 0 and
    1, rounded to multiples of the smallest power of two that is not below the scale, and clamped.
    Epsilon is :math:`(1 + 2^{-49} B)/\lambda`, an upper bound, and not :math:`1/\lambda`, where
    values are clamped to [-B, B] and :math:`\lambda < B < 2^{46}\lambda` (Mironov 2012, Theorem 1).

    Examples
    --------
    >>> round(snapped_epsilon(scale=1.0, bound=2.0**40), 9)
    1.001953125
    """
    validate.positive(scale=scale, bound=bound)
    if not scale < bound < 2.0**46 * scale:
        raise ValueError(f"Expected bound > scale and < 2**46 scale, got {bound=!r}, {scale=!r}.")
    return math.nextafter((1 + math.ldexp(bound, -49)) / scale, math.inf)
