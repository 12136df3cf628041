"""The truth about conversions: the worst pair of coins, minima on ever finer grids, sums."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dplearn.book.kit import oracles
from dplearn.ground.solve import first_true


def zoomed(f: Callable[[NDArray], NDArray], low: float, high: float) -> float:
    """The smallest value of a function with a single minimum."""
    for _ in range(12):
        x = np.linspace(low, high, 201)
        y = f(x)
        k = int(np.argmin(y))
        low, high = float(x[max(k - 2, 0)]), float(x[min(k + 2, 200)])
    return float(y[k])


def coins_within(*, orders, rdp, delta):
    """The largest epsilon at delta of two coins whose Rényi divergence is at most rdp.

    No pair of laws is worse: an event and its complement make a coin.
    """

    def log_odds(place: NDArray) -> NDArray:
        """-ln((a - delta) / b) for P(S) = a and the smallest Q(S) = b that is allowed."""
        log_a = np.log(delta + (1 - delta) * expit(place))
        # 1 - a without cancellation.
        log_miss = np.log1p(-delta) + np.log(expit(-place))

        def near(log_b: NDArray) -> NDArray:
            with np.errstate(divide="ignore"):
                log_other = np.log(-np.expm1(log_b))
            inside = orders * log_a + (1 - orders) * log_b
            outside = orders * log_miss + (1 - orders) * log_other
            return np.logaddexp(inside, outside) <= (orders - 1) * rdp

        log_b = first_true(near, lower=log_a * orders / (orders - 1) - rdp, upper=log_a)
        return log_b - np.log1p(-delta) - np.log(expit(place))

    return max(0.0, -zoomed(log_odds, -60.0, 36.0))


def pointwise_epsilon(*, orders, rdp, delta):
    """Epsilon at which (1 - e^(epsilon - z))_+ <= c e^((order - 1) z) gives delta.

    That is, with the smallest c for which it holds at every loss z = epsilon + t.
    """
    minus_log = lambda t: (orders - 1) * t - np.log(-np.expm1(-t))
    log_c = -zoomed(lambda log_t: minus_log(np.exp(log_t)), -20.0, 8.0)
    return max(0.0, rdp + (log_c - math.log(delta)) / (orders - 1))


def coins_renyi(*, epsilon, order):
    """The largest Rényi divergence of two coins whose losses lie in [-epsilon, epsilon]."""
    gain = epsilon * np.linspace(0.0, 1.0, 33)[1:, None]
    loss = epsilon * np.linspace(0.0, 1.0, 33)[1:]
    # Q gives the outcome with loss `gain` the probability q: q e^gain + (1 - q) e^-loss = 1.
    q = -np.expm1(-loss) / (np.exp(gain) - np.exp(-loss))
    # E_Q[e^(order L)] = 1 + ..., free of cancellation where the losses are small.
    if order * epsilon < 1:
        moment = q * np.expm1(order * gain) + (1 - q) * np.expm1(-order * loss)
        return float(np.max(np.log1p(moment))) / (order - 1)
    terms = np.log(q) + order * gain, np.log1p(-q) - order * loss
    return float(np.max(np.logaddexp(*terms))) / (order - 1)


def least_over_orders(*, rho, delta):
    """The smallest rho a + ln(1/delta) / (a - 1) over orders a > 1."""
    bound = lambda excess: rho * (1 + excess) - math.log(delta) / excess
    return zoomed(lambda log_excess: bound(np.exp(log_excess)), -20.0, 25.0)


def touching_steps(*, order, rho, delta):
    """Number of releases, not rounded, at which no other order gives a smaller bound."""

    def smaller_is_better(log_steps: float) -> bool:
        total = rho * math.exp(log_steps)
        more, less = (order - 1) * 1.01, (order - 1) / 1.01
        return total * more - math.log(delta) / more >= total * less - math.log(delta) / less

    return math.exp(oracles.smallest(smaller_is_better, low=-40.0, high=40.0))


def least_moment_bound(*, noise_multiplier, delta):
    """The smallest (K(l) + ln(1/delta)) / l over l > 0, with K by the trapezoidal rule."""
    log, mu = -math.log(delta), 1 / noise_multiplier

    def bound(log_moments: NDArray) -> NDArray:
        moments = np.exp(log_moments)
        x = np.arange(-12.0, 12.0 + mu * (np.max(moments) + 1), 0.5)
        log_p = oracles.log_normal(mu)(x)
        loss = log_p - oracles.log_normal()(x)
        total = np.logaddexp.reduce(log_p + moments[:, None] * loss, axis=1) + math.log(0.5)
        return (total + log) / moments

    centre = math.log(noise_multiplier * math.sqrt(2 * log))
    return zoomed(bound, centre - 1.5, centre + 1.5)


def most_powerful(p, q, false_positive_rate):
    """Smallest miss rate of tests of P against Q with this rate of false alarms.

    Neyman and Pearson: outcomes with the largest q/p are rejected first, the last one partly.
    """
    left, caught = false_positive_rate, []
    # The angle grows with p/q, and there is one also where q is 0.
    for a, b in sorted(zip(p, q, strict=True), key=lambda pair: math.atan2(*pair)):
        share = 1.0 if a <= left else left / a
        caught.append(share * b)
        left -= share * a
    return max(0.0, 1 - math.fsum(caught))


def largest_loss_tail(*, epsilon, delta):
    """The largest P(L >= 2 epsilon) of an (epsilon, delta)-DP pair, by linear programming."""
    from scipy.optimize import linprog  # Opening the explorer does without it.

    # P(S), Q(S) for S the outcomes with such a loss, and Q(S) e^(2 epsilon) <= P(S).
    e = math.exp(epsilon)
    bounds = [[1.0, -e], [-1.0, e * e], [-1.0, e], [e, -1.0]]
    limits = [delta, 0.0, e - 1 + delta, e - 1 + delta]
    return -float(linprog([-1.0, 0.0], A_ub=bounds, b_ub=limits, bounds=[(0, 1), (0, 1)]).fun)


def somebody_published(*, records, delta):
    """Probability that any of the records is published, one record at a time."""
    nobody = 1.0
    for _ in range(records):
        nobody -= nobody * delta
    return 1 - nobody


def profile_of_coins(*, local, steps):
    """The losses >= 0 of a few coins, where their profile has its kinks, and the deltas there."""
    losses = np.arange(steps % 2, steps + 1, 2) * local
    deltas = [oracles.coins_delta(epsilon=e, local=local, steps=steps) for e in losses]
    return losses, np.array(deltas)


def profile_of_pair(*, p, q):
    """The losses of a pair where they are positive, 0, and the deltas there."""
    losses = np.append(0.0, np.maximum(np.log(p) - np.log(q), 0.0))
    return losses, np.array([oracles.worst_event_delta(p=p, q=q, epsilon=e) for e in losses])


def miss_of_coins(*, local, steps, false_positive_rate):
    """Smallest miss rate of tests of the number of true answers, one more coin at a time."""
    (truth, lie), _ = oracles.randomized_response(epsilon=local)
    p = np.ones(1)
    for _ in range(steps):
        p = np.convolve(p, [lie, truth])
    return most_powerful(p=p, q=p[::-1], false_positive_rate=false_positive_rate)
