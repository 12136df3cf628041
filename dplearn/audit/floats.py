"""Noise of floating-point numbers: outputs that only one of two neighbours can give, and a cure.

A proof about Laplace noise is about real numbers. A program draws one of 2^53 uniform numbers and
rounds; what comes out depends in its last bits on the value that was to be hidden.
"""

import math
from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.ground import validate

# Digits of a logarithm before it is rounded to a double: correctly but for one in 10^20.
_DIGITS = Context(prec=40)


def laplace_by_inversion(
    uniforms: ArrayLike, *, value: float = 0.0, scale: float = 1.0
) -> NDArray[np.float64]:
    """`value` plus Laplace noise as textbooks compute it from uniform numbers in [0, 1).

    It is not differentially private: see `reachable`. `Laplace.release` has the same defect.

    Examples
    --------
    >>> laplace_by_inversion([0.25, 0.5, 0.75]).round(4)
    array([-0.6931,  0.    ,  0.6931])
    """
    validate.positive(scale=scale)
    centred = np.asarray(uniforms, dtype=float) - 0.5
    with np.errstate(divide="ignore"):  # 0 gives an infinite number
        return value - scale * np.sign(centred) * np.log(1 - 2 * np.abs(centred))


def reachable(
    outputs: ArrayLike, release: Callable[[NDArray], NDArray], *, bits: int = 53
) -> NDArray[np.bool_]:
    """True for each output that a program gives for one of the uniform numbers k / 2^bits.

    The answers are exact: the last place on the grid whose release is below is found by bisection,
    and its neighbours are looked at. An output that is reached from one value and not from its
    neighbour has an infinite privacy loss.

    `release` is what the program releases for an array of uniform numbers, never decreasing but
    for the last bit of its logarithm. At 53 `bits`, 2 to 53, they are those of Python and NumPy.

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
    # A logarithm that errs in the last bit may exchange neighbours on the grid.
    near = np.clip(low[..., None] + np.arange(-4, 5), 0, 2**bits - 1)
    return np.any(release(np.ldexp(near.astype(float), -bits)) == outputs[..., None], axis=-1)


def snapped_laplace(
    value: ArrayLike, *, scale: float, bound: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Clamped values plus Laplace noise, rounded to multiples of a power of two, and clamped.

    Uniform numbers come from all doubles between 0 and 1, each with its own chance; the grid is
    the smallest power of two that is not below `scale`, so the last bits are gone. Its guarantee,
    for whoever does not know the numbers of `rng`, and its limits are those of `snapped_epsilon`
    (Mironov 2012, Section 5.2).

    Examples
    --------
    >>> snapped_laplace([0.3, 99.0], scale=1.5, bound=9.0, rng=np.random.default_rng(0))
    array([4., 8.])
    """
    snapped_epsilon(scale=scale, bound=bound)
    value = np.clip(np.asarray(value, dtype=float), -bound, bound)
    drawn = [(x, _uniform(rng), 2 * int(rng.integers(2)) - 1) for x in value.flat]
    return np.reshape([snapped(*one, scale, bound) for one in drawn], value.shape)


def snapped(value: float, uniform: float, sign: int, scale: float, bound: float) -> float:
    """Number released for one clamped value, one uniform number and one sign."""
    logarithm = float(_DIGITS.ln(Decimal(uniform)))
    grid = math.ldexp(1.0, math.ceil(math.log2(scale)))
    places = (value + sign * scale * logarithm) / grid
    whole = math.floor(places)
    nearest = (whole + (places - whole >= 0.5)) * grid
    return min(max(nearest, -bound), bound)


def _uniform(rng: np.random.Generator) -> float:
    """A double in (0, 1), with the chance of the real numbers between it and the next."""
    exponent = 1
    while rng.integers(2):
        exponent += 1
    return math.ldexp(float(rng.integers(2**52, 2**53)), -52 - exponent)


def snapped_epsilon(*, scale: float, bound: float) -> float:
    r"""Epsilon of `snapped_laplace` for values that differ by at most 1, at delta = 0.

    It is :math:`(1 + 2^{-49} B)/\lambda`, an upper bound, and not :math:`1/\lambda`, where values
    are clamped to [-B, B] and :math:`\lambda < B < 2^{46}\lambda` (Mironov 2012, Theorem 1).

    Examples
    --------
    >>> round(snapped_epsilon(scale=1.0, bound=2.0**40), 9)
    1.001953125
    """
    validate.positive(scale=scale, bound=bound)
    if not scale < bound < 2.0**46 * scale:
        raise ValueError(f"Expected bound > scale and < 2**46 scale, got {bound=!r}, {scale=!r}.")
    return math.nextafter((1 + math.ldexp(bound, -49)) / scale, math.inf)
