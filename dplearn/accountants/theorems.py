"""Theorems of the accountants, which the formula book states and checks."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, expit


def rdp_to_epsilon_mironov(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> NDArray:
    """Return upper bounds on epsilon by the first conversion (Mironov 2017, Proposition 3).

    Each of `orders` > 1, with its divergence `rdp` in nats, gives a bound; the smallest is best.
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    return rdp - np.log(delta) / (orders - 1)


def rdp_to_epsilon(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> NDArray:
    """Return upper bounds on epsilon >= 0 by the improved conversion, elementwise.

    Parameters are those of `rdp_to_epsilon_mironov`. See Canonne, Kamath & Steinke (2020),
    Proposition 12; Balle et al. (2020), Theorem 21.
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    epsilon = rdp + np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    # (negative, delta)-DP implies (0, delta)-DP.
    return np.maximum(epsilon, 0.0)


def zcdp_to_epsilon(rho: ArrayLike, *, delta: float) -> NDArray:
    """Return the best epsilon of rho-zCDP by the improved conversion, elementwise in rho >= 0.

    It is at most rho + 2 sqrt(rho ln(1/delta)). See Bun & Steinke (2016), Proposition 1.3;
    Canonne, Kamath & Steinke (2020), Corollary 13 (number from memory).
    """
    rho, best = np.asarray(rho, dtype=float), best_zcdp_order(rho, delta=delta)
    return rdp_to_epsilon(best, np.where(rho > 0, rho * best, 0.0), delta=delta)


def best_zcdp_order(rho: ArrayLike, *, delta: float) -> NDArray:
    """Return the order that minimises the improved conversion of rho-zCDP, elementwise.

    Newton's method in log(alpha - 1), with alpha >= 1 + 1e-12; any order gives a valid bound.
    """
    rho, log_delta = np.maximum(np.asarray(rho, dtype=float), 1e-300), np.log(delta)
    # The bound's derivative, rho + (ln delta + ln alpha) / (alpha - 1)^2, times (alpha - 1)^2
    # rises and is convex in log(alpha - 1): Newton steps from above stay above the root.
    x = np.minimum(0.5 * np.log(-log_delta / rho), np.log(np.expm1(np.minimum(-log_delta, 700.0))))
    for _ in range(12):
        excess = np.exp(x)
        square = rho * excess * excess
        rise = 2 * square + excess / (1 + excess)
        x = x - (square + log_delta + np.log1p(excess)) / rise
    return 1 + np.exp(np.maximum(x, np.log(1e-12)))


def selection_rdp(
    *,
    order: ArrayLike,
    epsilon: ArrayLike,
    other_order: ArrayLike,
    other_epsilon: ArrayLike,
    shape: float,
    stop: float,
) -> NDArray:
    r"""Return the Rényi divergence of the best of K runs, from two divergences of one run.

    K has the truncated negative binomial law :math:`P(K=k) \propto (1-\gamma)^k
    \prod_{j<k}\frac{j+\eta}{j+1}` for k >= 1, with the shape eta > -1 and gamma = stop in (0, 1).
    Any `other_order` >= 1 gives an upper bound, in nats, at each `order` > 1. See Papernot &
    Steinke (2022), Theorem 2.
    """
    order, other_order = np.asarray(order, dtype=float), np.asarray(other_order, dtype=float)
    epsilon, other_epsilon = np.asarray(epsilon, dtype=float), np.asarray(other_epsilon)
    choice = (1 - 1 / other_order) * other_epsilon - np.log(stop) / other_order
    count = np.log(expected_tries(shape=shape, stop=stop)) / (order - 1)
    return epsilon + (1 + shape) * choice + count


def expected_tries(*, shape: float, stop: ArrayLike) -> NDArray:
    """Return the mean number of runs K in `selection_rdp`, elementwise."""
    stop, log_stop = np.asarray(stop, dtype=float), np.log(stop)
    # The fraction tends to 1 / ln(1/stop) as the shape tends to 0.
    part = -shape / np.expm1(shape * log_stop) if shape else -1 / log_stop
    return part * (1 - stop) / stop


def composition_slack(*, delta: ArrayLike, paid: ArrayLike, steps: ArrayLike) -> NDArray:
    """Return the delta left after `steps` releases of delta `paid` each; <= 0 if none is left.

    See Kairouz, Oh & Viswanath (2015), Theorem 3.3.
    """
    log_left = np.log1p(-np.asarray(delta)) - steps * np.log1p(-np.asarray(paid))
    # Cap negative slacks, which are all invalid, to avoid overflow.
    return -np.expm1(np.minimum(log_left, 1.0))


def heterogeneous_composition(
    *, epsilons: ArrayLike, counts: ArrayLike, slack: ArrayLike
) -> NDArray:
    """Return an upper bound on the total epsilon of different pure releases, in nats.

    `epsilons` (>= 0) and `counts` have shape (..., n_mechanisms), `slack` in (0, 1) and the bound
    (...). See Kairouz, Oh & Viswanath (2015), Theorem 3.5; the older drift e^epsilon - 1 is larger.
    """
    epsilons = np.asarray(epsilons, dtype=float)
    basic = np.sum(counts * epsilons, axis=-1)
    spread = np.sqrt(2 * -np.log(slack) * np.sum(counts * epsilons**2, axis=-1))
    drift = np.sum(counts * epsilons * np.tanh(epsilons / 2), axis=-1)
    return np.minimum(basic, spread + drift)


def optimal_composition(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""Return the exact epsilon of `steps` epsilon-DP releases at delta = `slack`.

    The worst releases are randomized responses, so the total loss is :math:`(2K - k)\varepsilon`
    with K binomial, and delta is linear in e^epsilon between neighbouring values of it. For epsilon
    >= 0 nats, steps >= 1 and slack in (0, 1) the result is the smallest epsilon valid for every
    choice of pure releases, rounded up. See Kairouz, Oh & Viswanath (2015), Theorem 3.3.
    """
    epsilon, steps, slack = np.broadcast_arrays(epsilon, steps, slack)
    epsilon, steps = epsilon.astype(float), steps.astype(float)
    # Bisection for the smallest whole k with delta <= slack at the loss (2k - steps) epsilon, up
    # to the k for which Hoeffding's inequality gives P(K >= k) <= slack.
    far = expit(epsilon) * steps + np.sqrt(-0.5 * steps * np.log(slack))
    low, high = np.floor(steps / 2) - 1, np.minimum(np.ceil(far) + 1, steps)
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        (p, q), error = binomial_tails(middle, epsilon, steps), tails_error(steps)
        # Capping the exponent only raises the computed delta; so does an underflow of Q(K > k).
        discount = np.exp(np.minimum((2 * middle - steps) * epsilon, 700.0)) * q
        fits = p * (1 + error) - discount * (1 - error) <= slack
        high, low = np.where(fits, middle, high), np.where(fits, low, middle)
    # Between two losses delta(x) is P(K >= k) - exp(x) Q(K >= k): solve delta(x) = slack for x.
    upper = (2 * high - steps) * epsilon
    p, q = binomial_tails(high - 1, epsilon, steps)
    excess = p * (1 + tails_error(steps)) - slack
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(excess) - np.log(q)
    inside = np.where((excess > 0) & (q > 0), inside, np.where(excess > 0, upper, -np.inf))
    return np.maximum(np.minimum(inside, upper), 0.0)


def tails_error(steps: NDArray) -> NDArray:
    """Return a bound on the relative error of `binomial_tails` due to rounded arguments."""
    return 3e-14 * (10 + np.sqrt(steps))


def binomial_tails(k: NDArray, epsilon: NDArray, steps: NDArray) -> tuple[NDArray, NDArray]:
    """Return P(K > k) for K ~ Binomial(steps, p), at p = expit(epsilon) and p = expit(-epsilon)."""
    exact, lie = expit(epsilon), expit(-epsilon)
    inner = np.clip(k, 0, steps - 1)
    p, q = (betainc(inner + 1, steps - inner, x) for x in (exact, lie))
    p, q = (np.where(k < 0, 1.0, np.where(k >= steps, 0.0, tail)) for tail in (p, q))
    return p, q
