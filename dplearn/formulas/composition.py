r"""Composition of (epsilon, delta) guarantees.

Every theorem here has the same shape: n releases that are :math:`(\varepsilon_0, \delta_0)`-DP
leave a `slack` of :math:`\delta' = 1 - (1-\delta)/(1-\delta_0)^n` once the per-step
deltas are paid, and bound epsilon of n pure releases at that slack.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc


def composition_slack(*, delta: ArrayLike, paid: ArrayLike, steps: ArrayLike) -> NDArray:
    """What is left of `delta` after `steps` releases paid `paid` each; <= 0 if nothing.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.3.

    Examples
    --------
    >>> round(float(composition_slack(delta=1e-5, paid=1e-8, steps=100)), 8)
    9e-06
    """
    log_left = np.log1p(-np.asarray(delta)) - steps * np.log1p(-np.asarray(paid))
    # Overpaid by much is as bad as overpaid by a little.
    return -np.expm1(np.minimum(log_left, 1.0))


def advanced_composition(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""Total epsilon of `steps` epsilon-DP releases at delta = `slack`, the first theorem.

    Parameters
    ----------
    epsilon : array_like
        Guarantee of one release, >= 0, in nats.
    steps : array_like
        Number of adaptive releases, >= 1.
    slack : array_like
        Added failure probability, in (0, 1).

    Returns
    -------
    ndarray
        Upper bound :math:`\sqrt{2k\ln(1/\delta')}\,\varepsilon + k\varepsilon(e^\varepsilon - 1)`.

    References
    ----------
    Dwork, Rothblum & Vadhan (2010), Theorem III.3.

    Examples
    --------
    >>> round(float(advanced_composition(epsilon=0.1, steps=100, slack=1e-5)), 6)
    5.850235
    """
    epsilon = np.asarray(epsilon, dtype=float)
    with np.errstate(over="ignore"):
        drift = steps * epsilon * np.expm1(epsilon)
    return _spread(epsilon, steps, slack) + drift


def advanced_composition_kov(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""The same with the smaller drift :math:`k\varepsilon\tanh(\varepsilon/2)`.

    Parameters, units and kind as in `advanced_composition`.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.4.

    Examples
    --------
    >>> round(float(advanced_composition_kov(epsilon=0.1, steps=100, slack=1e-5)), 5)
    5.29811
    """
    epsilon = np.asarray(epsilon, dtype=float)
    return _spread(epsilon, steps, slack) + steps * epsilon * np.tanh(epsilon / 2)


def _spread(epsilon: NDArray, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    return epsilon * np.sqrt(2 * np.asarray(steps, dtype=float) * -np.log(slack))


def heterogeneous_composition(
    *, epsilons: ArrayLike, counts: ArrayLike, slack: ArrayLike
) -> NDArray:
    r"""Total epsilon of different pure releases: the smaller of two closed bounds,

    :math:`\sum_i n_i\varepsilon_i` and :math:`\sqrt{2\ln(1/\delta')\sum_i n_i\varepsilon_i^2}
    + \sum_i n_i\varepsilon_i\tanh(\varepsilon_i/2)`. The older drift :math:`e^\varepsilon - 1`
    is never smaller than tanh, so its theorem adds nothing to the minimum.

    Parameters
    ----------
    epsilons, counts : array_like, shape (..., n_mechanisms)
        Guarantee >= 0 and number of releases of each mechanism.
    slack : array_like, shape (...)
        In (0, 1).

    Returns
    -------
    ndarray, shape (...)
        Upper bound, nats.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.5.

    Examples
    --------
    >>> round(float(heterogeneous_composition(epsilons=[0.1], counts=[100], slack=1e-5)), 5)
    5.29811
    """
    epsilons = np.asarray(epsilons, dtype=float)
    basic = np.sum(counts * epsilons, axis=-1)
    spread = np.sqrt(2 * -np.log(slack) * np.sum(counts * epsilons**2, axis=-1))
    drift = np.sum(counts * epsilons * np.tanh(epsilons / 2), axis=-1)
    return np.minimum(basic, spread + drift)


def optimal_composition(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""Exact epsilon of `steps` epsilon-DP releases at delta = `slack`.

    The worst releases are randomized responses, so the total loss is
    :math:`(2K - k)\varepsilon` with K binomial, and delta is linear in e^epsilon between
    neighbouring values of it.

    Parameters
    ----------
    epsilon : array_like
        Guarantee of one release, >= 0, in nats.
    steps : array_like
        Number of releases, >= 1.
    slack : array_like
        delta, in (0, 1).

    Returns
    -------
    ndarray
        The smallest epsilon valid for every choice of pure releases, rounded up.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.3.

    Examples
    --------
    >>> round(float(optimal_composition(epsilon=0.1, steps=100, slack=1e-5)), 6)
    4.306791
    """
    epsilon, steps, slack = np.broadcast_arrays(
        np.asarray(epsilon, dtype=float), np.asarray(steps, dtype=float), slack
    )
    # Smallest whole k with delta at loss L_k small enough, by bisection on k.
    low, high = np.floor(steps / 2) - 1, steps.copy()
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        fits = _delta_at_loss(middle, epsilon, steps) <= slack
        high, low = np.where(fits, middle, high), np.where(fits, low, middle)
    # Below L_k: delta(e) = P(K >= k) - e^e Q(K >= k), solved for delta = slack.
    upper = (2 * high - steps) * epsilon
    p, q = _tails(high - 1, epsilon, steps)
    excess = p * (1 + _BETAINC_ERROR) - slack
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(excess) - np.log(q)
    inside = np.where((excess > 0) & (q > 0), inside, np.where(excess > 0, upper, -np.inf))
    return np.maximum(np.minimum(inside, upper), 0.0)


# Relative error granted to the incomplete beta function.
_BETAINC_ERROR = 1e-10


def _tails(k: NDArray, epsilon: NDArray, steps: NDArray) -> tuple[NDArray, NDArray]:
    """P(K > k) and Q(K > k) for -1 <= k <= steps."""
    truth = 0.5 * (1 + np.tanh(epsilon / 2))
    lie = 0.5 * (1 - np.tanh(epsilon / 2))
    inner = np.clip(k, 0, steps - 1)
    p, q = (betainc(inner + 1, steps - inner, x) for x in (truth, lie))
    ends = [k < 0, k >= steps]
    return np.select(ends, [1.0, 0.0], p), np.select(ends, [1.0, 0.0], q)


def _delta_at_loss(k: NDArray, epsilon: NDArray, steps: NDArray) -> NDArray:
    """delta of the composed randomized responses at the loss L_k, rounded up."""
    p, q = _tails(k, epsilon, steps)
    # A capped exponent, like a Q that underflowed, makes delta larger.
    discount = np.exp(np.minimum((2 * k - steps) * epsilon, 700.0)) * q
    return np.maximum(p * (1 + _BETAINC_ERROR) - discount * (1 - _BETAINC_ERROR), 0.0)
