"""Divergences: of finite distributions, and of Gaussians in closed form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn import _validate as validate


def hockey_stick(p: ArrayLike, q: ArrayLike, *, epsilon: float = 0.0) -> float:
    r"""Hockey-stick divergence :math:`\sum_i (p_i - e^\varepsilon q_i)_+`.

    A release is (epsilon, delta)-DP exactly when this is at most delta for every ordered
    pair of neighbouring outputs.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.
    epsilon : float
        Any real number; 0 gives the total variation distance.

    Returns
    -------
    float
        Exact, in [0, 1].

    Raises
    ------
    ValueError
        If p or q is not a distribution, or the shapes differ.

    References
    ----------
    Barthe & Olmedo (2013); Balle & Wang (2018), Theorem 5.

    Examples
    --------
    >>> round(hockey_stick([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], epsilon=0.5), 10)
    0.1702557459
    """
    p, q = _distributions(p, q)
    return float(np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0)))


def max_divergence(p: ArrayLike, q: ArrayLike) -> float:
    r"""Max divergence :math:`\sup_{S: P(S) > 0} \ln P(S)/Q(S)`: the epsilon of pure DP.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.

    Returns
    -------
    float
        Exact, nats; inf if q vanishes where p does not.

    References
    ----------
    Dwork & Roth (2014), Definition 3.6.

    Examples
    --------
    >>> round(max_divergence([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 10)
    0.9162907319
    """
    return renyi(p, q, order=math.inf)


def kl_divergence(p: ArrayLike, q: ArrayLike) -> float:
    r"""Kullback–Leibler divergence :math:`\sum_i p_i \ln(p_i / q_i)`: the mean privacy loss.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.

    Returns
    -------
    float
        Exact, nats; inf if q vanishes where p does not.

    Examples
    --------
    >>> round(kl_divergence([0.75, 0.25], [0.25, 0.75]), 6)
    0.549306
    """
    return renyi(p, q, order=1.0)


def renyi(p: ArrayLike, q: ArrayLike, *, order: float) -> float:
    r"""Rényi divergence :math:`\frac1{\alpha-1}\ln\sum_i p_i^\alpha q_i^{1-\alpha}`.

    Parameters
    ----------
    p, q : array_like, shape (n,)
        Probabilities that sum to 1.
    order : float
        alpha in [0, inf]. 0 gives -ln Q(p > 0), 1 the KL divergence, inf the max divergence.

    Returns
    -------
    float
        Exact, nats; inf if alpha >= 1 and q vanishes where p does not, or if the supports
        are disjoint.

    Raises
    ------
    ValueError
        If p or q is not a distribution, the shapes differ, or order < 0.

    References
    ----------
    van Erven & Harremoës (2014), Theorems 4 to 6.

    Examples
    --------
    >>> round(renyi([0.75, 0.25], [0.25, 0.75], order=2), 6)
    0.847298
    """
    p, q = _distributions(p, q)
    if not order >= 0:
        raise ValueError(f"Expected order in [0, inf], got order={order!r}.")
    both, alone = (p > 0) & (q > 0), np.any((p > 0) & (q == 0))
    if not np.any(both) or (order >= 1 and alone):
        return math.inf
    log_p, log_q = np.log(p[both]), np.log(q[both])
    if order == math.inf:
        return float(np.max(log_p - log_q))
    if order == 1:
        return float(np.sum(p[both] * (log_p - log_q)))
    log_sum = np.logaddexp.reduce(order * log_p + (1 - order) * log_q)
    return max(float(log_sum) / (order - 1), 0.0)


def renyi_gaussian(
    *, order: float, mean_p: float, std_p: float, mean_q: float, std_q: float
) -> float:
    r"""Rényi divergence of two Gaussians of any variances.

    .. math:: D_\alpha = \frac{\alpha(\mu_p-\mu_q)^2}{2\sigma_\alpha^2}
        + \frac{1}{1-\alpha}\ln\frac{\sigma_\alpha}{\sigma_p^{1-\alpha}\sigma_q^\alpha},
        \qquad \sigma_\alpha^2 = (1-\alpha)\sigma_p^2 + \alpha\sigma_q^2

    The logarithm holds sigma_alpha, the square root: with its square the value can be negative.

    Parameters
    ----------
    order : float
        alpha in [0, inf].
    mean_p, mean_q : float
    std_p, std_q : float
        Standard deviations > 0.

    Returns
    -------
    float
        Exact, nats; inf where sigma_alpha^2 <= 0, the condition for finiteness.

    References
    ----------
    Gil, Alajaji & Linder (2013); van Erven & Harremoës (2014), equation (10).

    Examples
    --------
    >>> round(renyi_gaussian(order=2, mean_p=0, std_p=1, mean_q=1, std_q=1.5), 6)
    0.470263
    """
    validate.positive(std_p=std_p, std_q=std_q)
    if not order >= 0:
        raise ValueError(f"Expected order in [0, inf], got order={order!r}.")
    gap, log_ratio = (mean_p - mean_q) ** 2, math.log(std_q / std_p)
    if order == math.inf:
        return _max_divergence_gaussian(gap, std_p, std_q)
    if order == 1:
        return log_ratio + (std_p**2 + gap) / (2 * std_q**2) - 0.5
    variance = (1 - order) * std_p**2 + order * std_q**2
    if variance <= 0:
        return math.inf
    log_term = 0.5 * math.log(variance) - (1 - order) * math.log(std_p) - order * math.log(std_q)
    return order * gap / (2 * variance) + log_term / (1 - order)


def _max_divergence_gaussian(gap: float, std_p: float, std_q: float) -> float:
    """sup of the log ratio: finite only if Q is wider, or the two are equal."""
    if std_p == std_q:
        return 0.0 if gap == 0 else math.inf
    if std_p > std_q:
        return math.inf
    return math.log(std_q / std_p) + gap / (2 * (std_q**2 - std_p**2))


def _distributions(p: ArrayLike, q: ArrayLike) -> tuple[NDArray, NDArray]:
    pair = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    for name, x in zip("pq", pair, strict=True):
        if x.ndim != 1 or not np.all(x >= 0) or not abs(x.sum() - 1) <= 1e-9:
            raise ValueError(f"Expected {name} to be probabilities that sum to 1, got {name}={x}.")
    if pair[0].shape != pair[1].shape:
        raise ValueError(
            f"Expected p and q of one length, got {pair[0].size} and {pair[1].size} values."
        )
    return pair
