"""From Rényi and concentrated DP to (epsilon, delta)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def rdp_to_epsilon_mironov(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> NDArray:
    r"""The first conversion, :math:`\rho + \ln(1/\delta)/(\alpha-1)`, elementwise.

    Parameters
    ----------
    orders : array_like
        alpha > 1.
    rdp : array_like
        rho at those orders, nats, broadcast against `orders`.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon for each order; any of them is valid, so take the smallest.

    References
    ----------
    Mironov (2017), Proposition 3. The bracket matters: ln(1/delta)/alpha - 1 is no bound.

    Examples
    --------
    >>> round(float(rdp_to_epsilon_mironov(10, 0.5, delta=1e-5)), 6)
    1.779214
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    return rdp - np.log(delta) / (orders - 1)


def rdp_to_epsilon(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> NDArray:
    r"""The improved conversion, elementwise and never below 0.

    .. math:: \rho + \ln\frac{\alpha-1}{\alpha} - \frac{\ln\delta + \ln\alpha}{\alpha-1}

    Parameters
    ----------
    orders : array_like
        alpha > 1.
    rdp : array_like
        rho at those orders, nats, broadcast against `orders`.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon for each order.

    References
    ----------
    Canonne, Kamath & Steinke (2020), Proposition 12; Balle et al. (2020), Theorem 21.

    Examples
    --------
    >>> round(float(rdp_to_epsilon(10, 0.5, delta=1e-5)), 6)
    1.418011
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    epsilon = rdp + np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    # (negative, delta)-DP implies (0, delta)-DP.
    return np.maximum(epsilon, 0.0)


def zcdp_to_epsilon(rho: ArrayLike, *, delta: float) -> NDArray:
    r"""Best epsilon of rho-zCDP by the improved conversion, elementwise.

    rho-zCDP says :math:`D_\alpha \le \rho\alpha` for every alpha > 1, so the order is free.

    Parameters
    ----------
    rho : array_like
        >= 0.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon, nats; never above rho + 2 sqrt(rho ln(1/delta)).

    References
    ----------
    Bun & Steinke (2016), Proposition 1.3; Canonne, Kamath & Steinke (2020), Corollary 13
    (number from memory).

    Examples
    --------
    >>> round(float(zcdp_to_epsilon(0.5, delta=1e-5)), 5)
    4.72839
    """
    rho = np.asarray(rho, dtype=float)
    return rdp_to_epsilon(
        best := best_zcdp_order(rho, delta=delta), np.where(rho > 0, rho * best, 0.0), delta=delta
    )


def best_zcdp_order(rho: ArrayLike, *, delta: float) -> NDArray:
    """The order that minimises the improved conversion of rho-zCDP, elementwise.

    Newton's iteration on the derivative in log(alpha - 1); any order gives a valid bound, so
    its accuracy decides tightness and not truth.
    """
    rho = np.maximum(np.asarray(rho, dtype=float), 1e-300)
    # d/d alpha of the bound is rho + (ln delta + ln alpha) / (alpha - 1)^2.
    lower, upper = np.full(rho.shape, -40.0), np.full(rho.shape, 400.0)
    for _ in range(80):
        middle = 0.5 * (lower + upper)
        excess = np.exp(middle)
        falling = rho * excess * excess + np.log(delta) + np.log1p(excess) < 0
        lower, upper = np.where(falling, middle, lower), np.where(falling, upper, middle)
    return 1 + np.exp(lower)
