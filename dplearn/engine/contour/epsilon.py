"""Bounds for composed sampled Gaussians: on delta at given epsilons, on epsilon at a delta."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.contour.line import Line
from dplearn.engine.contour.pair import LEAST_SIGMA, SampledGaussian
from dplearn.engine.contour.table import Table, largest_power, shared
from dplearn.engine.contour.trapezoid import SHARE, Nodes, Trapezoid

# Discard brackets whose error bounds exceed this fraction of delta.
_POOR = 1e-2
# Number of Newton steps between checks whether a row needs another tilt.
_PATIENCE = 4
# Lower and upper bounds.
Ends = tuple[NDArray, NDArray]
# For n compositions: numbers of steps, epsilons, log deltas; epsilons or log deltas are guesses.
Rows = tuple[NDArray, NDArray, NDArray]
# Settings of one attempt: maximum number of nodes in t, `freedom` and `longer` of Table.tilts.
# The first of TRIES has few nodes and only improves poor guesses; the last two have fewer nodes
# and a larger rounding error.
Effort = tuple[int, float, float]
TRIES: tuple[Effort, ...] = ((2**8, 2.0, 3.0), (2**12, 2.0, 1.4))
TRIES += tuple((2**16, freedom, 1.4) for freedom in (2.0, 7.0, 7.0))
# Attempts for rows whose bracket is wide or missing: a tilt near the saddle point of each row.
ALONE: tuple[Effort, ...] = tuple((2**16, freedom, 1.01) for freedom in (0.5, 1.0, 2.0, 7.0))
_FEWEST_NODES = 2**6
# Maximum number of nodes in x, and maximum product of the numbers of nodes in x and in t.
_MOST_WIDTH, _MOST_WORK = 2**13, 2**24
# Rows share a sum unless together they would have more unneeded nodes than this.
_WASTE = 2**14


def deltas(pair: SampledGaussian, steps: int, epsilons: ArrayLike, *, rtol: float = 1e-6) -> Ends:
    """Return certified bounds on log delta at each epsilon, for `steps` compositions of `pair`.

    Parameters
    ----------
    pair : SampledGaussian
    steps : int >= 1
    epsilons : array of float >= 0, shape (n,)
    rtol : float > 0, target relative width

    Returns
    -------
    Lower and upper bounds; if the sum fails, -inf, and the smaller of 0 and the Chernoff bound
    """
    epsilon = np.asarray(epsilons, dtype=float)
    if pair.sigma < LEAST_SIGMA:
        return np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)
    table = Table(pair, largest_power(pair, -20.0))
    every = np.full(epsilon.shape, float(steps))
    guess = table.guess_log_delta(every, epsilon)
    upper = np.minimum(np.min(table.chernoff(every, epsilon), axis=1), 0.0)
    lower = np.full(epsilon.shape, -np.inf)

    def update(rows: NDArray, total: Trapezoid) -> NDArray:
        at, value = epsilon[rows], total.sums(total.terms, epsilon[rows])
        estimate = total.log_scale(at) + np.log(np.where(value > 0, value, 1.0))
        # A sum <= 0 is a rounding error: lower the guess of log delta.
        guess[rows] = np.where(value > 0, np.minimum(estimate, upper[rows]), guess[rows] - 3)
        charges = total.charges(at, guess[rows])
        size, (rounding, cut, aliases) = total.size(at, guess[rows]), charges
        high, low = size + rounding + cut, size - rounding - cut - aliases
        upper[rows] = np.minimum(upper[rows], guess[rows] + np.log(np.maximum(high, 1e-300)))
        proved = guess[rows] + np.log(np.maximum(low, 1e-300))
        lower[rows] = np.maximum(lower[rows], np.where(low > 0, proved, -np.inf))
        return total.poor(charges)

    tries(table, (every, epsilon, guess), math.log(SHARE * rtol), update)
    return lower, upper


def brackets(pair: SampledGaussian, steps: ArrayLike, *, delta: float, rtol: float = 1e-6) -> Ends:
    """Return certified bounds on epsilon at `delta` for each number of `steps`, shape (n,).

    Other parameters are those of `deltas`.

    Parameters
    ----------
    delta : float in (0, 1)

    Returns
    -------
    Lower and upper bounds, 0 and inf on failure
    """
    steps = np.asarray(steps, dtype=float)
    if pair.sigma < LEAST_SIGMA:
        return np.zeros(steps.shape), np.full(steps.shape, np.inf)
    table = Table(pair, largest_power(pair, math.log(delta)))
    return _brackets(table, steps, math.log(delta), math.log(SHARE * rtol))


def worse_brackets(
    steps: ArrayLike, *, sigma: float, q: float, delta: float, rtol: float = 1e-6
) -> Ends:
    """Return certified bounds on epsilon for removing or adding a record, whichever is larger.

    Parameters are those of `brackets` and fields of `SampledGaussian`. Epsilon for
    removing is bounded first. If a Chernoff bound or a rough sum proves that the upper end is valid
    for adding, too, that is enough; otherwise epsilon for adding is bounded as well.

    Returns
    -------
    Lower and upper bounds
    """
    steps, log_delta = np.asarray(steps, dtype=float), math.log(delta)
    lower, upper = brackets(SampledGaussian(sigma, q, "remove"), steps, delta=delta, rtol=rtol)
    rows = np.flatnonzero(np.isfinite(upper))
    if not rows.size:
        return lower, upper
    pair = SampledGaussian(sigma, q, "add")
    table = Table(pair, largest_power(pair, log_delta))
    rows = rows[np.min(table.chernoff(steps[rows], upper[rows]), axis=1) > log_delta]
    proved, target = np.zeros(rows.shape, dtype=bool), np.full(rows.shape, log_delta)
    left = (steps[rows], upper[rows], target)
    for part, total in sums(table, left, math.log(1e-3), (2**12, 7.0, 3.0)):
        proved[part] = _at_most(total, upper[rows][part], log_delta)
    rows = rows[~proved]
    if rows.size:
        low, high = _brackets(table, steps[rows], log_delta, math.log(SHARE * rtol))
        chernoff = (steps[rows, None] * table.k_above + table.log_c - log_delta) / table.mu_below
        high = np.minimum(high, np.maximum(np.min(chernoff, axis=1), 0.0))
        lower[rows], upper[rows] = np.maximum(lower[rows], low), np.maximum(upper[rows], high)
    return lower, upper


def _brackets(table: Table, steps: NDArray, log_delta: float, log_tau: float) -> Ends:
    target = np.full(steps.shape, log_delta)
    guess = table.guess_epsilon(steps, log_delta)
    lower, upper = np.zeros(steps.size), np.full(steps.size, np.inf)

    def update(rows: NDArray, total: Trapezoid) -> NDArray:
        root, fall = _root(total, guess[rows], log_delta)
        charges = total.charges(root, log_delta)
        # Keep the old guess if the bounds on rounding and truncation exceed delta.
        guess[rows] = np.where(charges[0] + charges[1] < 1, root, guess[rows])
        poor = total.poor(charges)
        if not np.all(poor):
            # Move both ends of the bracket away from the root until they are proved bounds.
            low, high = np.full(root.shape, -np.inf), np.full(root.shape, np.inf)
            out, both = charges[0] + charges[1], sum(charges)
            for widen in (1.1, 2.0, 5.0, 20.0):
                right = root + np.minimum(widen * out, 1) / fall
                left = root - np.minimum(widen * both, 1) / fall
                high = np.where(np.isinf(high) & _at_most(total, right, log_delta), right, high)
                spare = total.size(left, log_delta) - sum(total.charges(left, log_delta))
                low = np.where(np.isinf(low) & (spare >= 1), left, low)
                if np.all(np.isfinite(high - low)):
                    break
            held = np.isfinite(high) & (both <= _POOR) & ~poor
            lower[rows] = np.maximum(lower[rows], np.where(held, low, 0.0))
            upper[rows] = np.minimum(upper[rows], np.where(held, np.maximum(high, 0), np.inf))
        return poor | (lower[rows] == 0) & (upper[rows] > 0)

    tries(table, (steps, guess, target), log_tau, update)
    # Rows without an upper bound had a poor guess: begin again at the table's guess.
    open_, rtol = np.isinf(upper), math.exp(log_tau) / SHARE
    guess[open_] = table.guess_epsilon(steps[open_], log_delta)
    wide = np.flatnonzero(open_ | (upper - lower > rtol * upper))
    tries(table, (steps, guess, target), log_tau, update, ALONE, wide)
    return lower, upper


def _root(total: Trapezoid, guess: NDArray, log_delta: float) -> tuple[NDArray, NDArray]:
    """Return the epsilon at which the sum S equals delta, and -d log S / d epsilon there."""
    epsilon, stride = guess, 3 / total.line.tilt
    low, high = np.full(guess.shape, -np.inf), np.full(guess.shape, np.inf)
    # A Newton step squares the gap: stop if the next gap is far below the error bounds.
    enough = np.sqrt(np.minimum(0.03 * sum(total.charges(guess, log_delta)), 1e-2))
    done = np.zeros(guess.shape, dtype=bool)
    for i in range(40):
        value, slope = total.sums(total.both, epsilon)
        good = (value > 1e-280) & (slope > 0)
        value = np.where(good, value, 1e-280)
        fall = np.where(good, np.maximum(slope / value, 1e-6 * total.line.tilt), total.line.tilt)
        gap = total.log_scale(epsilon) + np.log(value) - log_delta
        low, high = np.where(gap > 0, epsilon, low), np.where(gap > 0, high, epsilon)
        # Newton step for log S; S <= 0, a rounding error, means that epsilon is too large.
        new = epsilon + np.where(good, np.minimum(np.maximum(gap / fall, -stride), stride), -stride)
        middle = np.where(np.isfinite(high - low), 0.5 * (low + high), new)
        new = np.where((new > low) & (new < high), new, middle)
        # Freeze converged roots: rounding would move them to the middle of the bracket.
        epsilon = np.where(done, epsilon, new)
        done |= good & (np.abs(gap) <= enough)
        if np.all(done):
            break
        if i % _PATIENCE == _PATIENCE - 1:
            # Stop rows that need another tilt, because their error bounds are too large.
            charges = total.charges(epsilon, log_delta)
            done |= total.poor(charges) | (sum(charges) > _POOR)
    return epsilon, fall


def _at_most(total: Trapezoid, epsilon: NDArray, log_delta: float) -> NDArray:
    """Return whether delta(epsilon) <= e^log_delta is proved; aliases only raise the sum."""
    return total.size(epsilon, log_delta) + sum(total.above(epsilon, log_delta)) <= 1


def sums(
    table: Table, rows: Rows, log_tau: float, effort: Effort
) -> Iterator[tuple[NDArray, Trapezoid]]:
    """Yield indices of rows that share a sum, and the sum; omit rows that need too many nodes."""
    (steps, epsilon, log_delta), (most, freedom, longer) = rows, effort
    need, at_zero = table.needs(steps, epsilon, log_delta, log_tau)
    for group, tilt in shared(*table.tilts((need, at_zero), steps, freedom, longer), longer):
        period = table.period((need[group], at_zero[group]), tilt)
        # Skip rows with a long period, due to a poor guess or a grid without mu above lambda.
        if not period * tilt < 1e9:
            continue
        line = Line(table.pair, tilt)
        if line.x.size > _MOST_WIDTH:
            continue
        left = steps[group] * line.log_m - tilt * epsilon[group] + at_zero[group]
        most_nodes, h = min(most, _MOST_WORK // line.x.size), 2 * math.pi / period
        bound, cutoffs, log_b = line.cutoffs(steps[group], left, most_nodes * h)
        counts = cutoffs / h + 1
        if effort == TRIES[0]:
            counts = np.minimum(counts, most)
        nodes = None
        for part, count in _alike(counts, most_nodes):
            # The first sum is the longest, so later sums use a part of its nodes.
            nodes = nodes or Nodes(table, line, period, count)
            # Rows with equal numbers of steps T share the powers M^T.
            lengths = steps[group[part]]
            lengths = lengths[:1] if np.all(lengths == lengths[0]) else lengths
            cut = bound, cutoffs[part], log_b[part]
            yield group[part], Trapezoid(nodes, count, lengths, log_tau, cut)


def tries(
    table: Table,
    rows: Rows,
    log_tau: float,
    update: Callable[[NDArray, Trapezoid], NDArray],
    efforts: tuple[Effort, ...] = TRIES,
    left: NDArray | None = None,
) -> None:
    """Call `update` on each group of rows and its sum; repeat with the next effort for poor rows.

    `update` may improve guesses in `rows`; it returns a mask of rows with large error bounds.
    """
    left = np.arange(rows[0].size) if left is None else left
    for effort in efforts:
        if not left.size:
            break
        poor = np.ones(left.size, dtype=bool)
        steps, epsilon, log_delta = (row[left] for row in rows)
        for part, total in sums(table, (steps, epsilon, log_delta), log_tau, effort):
            poor[part] = update(left[part], total)
        left = left[poor]


def _alike(counts: NDArray, most: int) -> Iterator[tuple[NDArray, int]]:
    """Yield groups of rows that need similar numbers of nodes, each with a number that suffices."""
    order = np.argsort(-counts)
    order = order[counts[order] <= most]
    while order.size:
        waste = np.cumsum(counts[order[0]] - counts[order])
        whole = max(math.ceil(counts[order[0]]), _FEWEST_NODES)
        # Round up to 64, 80, 96, 112, 128, 160, ..., which factor into two similar sizes.
        part = 2 ** (whole - 1).bit_length() // 8
        yield order[waste <= _WASTE], part * -(-whole // part)
        order = order[waste > _WASTE]
