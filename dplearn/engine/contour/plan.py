"""Which rows share a line and a sum, how long it gets, and when to try again."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.contour.line import Line
from dplearn.engine.contour.table import Table, shared
from dplearn.engine.contour.trapezoid import Trapezoid

# Number of steps, epsilon and log delta, each of shape (n,); one of the last two is a guess.
Rows = tuple[NDArray, NDArray, NDArray]
# Most nodes, the freedom of the tilt, and how many times longer a period a row may take to share a
# line (see Table.tilts). The first try is short: where the guess was poor it only finds a better
# one, and a line costs more than the nodes it wastes. Then a row may pay with rounding for fewer.
Effort = tuple[int, float, float]
TRIES: tuple[Effort, ...] = (
    (2**8, 2.0, 3.0),
    (2**16, 2.0, 1.4),
    (2**16, 7.0, 1.4),
    (2**16, 7.0, 1.4),
)
_FEWEST_NODES = 2**6
# Most nodes in x, and most products of nodes in x and in t.
_MOST_WIDTH, _MOST_WORK = 2**13, 2**24
# Rows with different numbers of nodes go together until this many are wasted.
_WASTE = 2**13


def sums(
    table: Table, rows: Rows, log_tau: float, effort: Effort
) -> Iterator[tuple[NDArray, Trapezoid]]:
    """Indices of rows and their sum; nothing for rows that need more nodes."""
    (steps, epsilon, log_delta), (most, freedom, longer) = rows, effort
    need, at_zero = table.needs(steps, epsilon, log_delta, log_tau)
    for group, tilt in shared(*table.tilts((need, at_zero), steps, freedom, longer), longer):
        period = table.period((need[group], at_zero[group]), tilt)
        # Aliases that only such a period removes tell of a poor guess, or of no mu beyond lambda.
        if not period * tilt < 1e9:
            continue
        line = Line(table.pair, tilt)
        if line.x.size > _MOST_WIDTH:
            continue
        left = steps[group] * line.log_m - tilt * epsilon[group] + at_zero[group]
        most_nodes, h = min(most, _MOST_WORK // line.x.size), 2 * math.pi / period
        bound, cutoffs = line.cutoffs(steps[group], left, most_nodes * h)
        counts = cutoffs / h + 1
        if effort == TRIES[0]:
            counts = np.minimum(counts, most)
        values = np.empty(0)
        for part in _alike(counts, most_nodes):
            count = _round_up(float(np.max(counts[part])))
            # The first sum is the longest.
            if not values.size:
                values = line.transform(h, count)
            # Rows of one length share their powers.
            lengths = steps[group[part]]
            lengths = lengths[:1] if np.all(lengths == lengths[0]) else lengths
            cut = bound, cutoffs[part]
            plan = lengths, period, log_tau
            yield group[part], Trapezoid(table, line, values[:count], plan, cut)


def tries(
    table: Table, rows: Rows, log_tau: float, update: Callable[[NDArray, Trapezoid], NDArray]
) -> None:
    """Call `update` with indices of rows and their sum, until none is poor.

    It may improve the guesses among the rows, and returns which of its rows are poor.
    """
    left = np.arange(rows[0].size)
    for effort in TRIES:
        poor = np.ones(rows[0].size, dtype=bool)
        steps, epsilon, log_delta = (row[left] for row in rows)
        for part, total in sums(table, (steps, epsilon, log_delta), log_tau, effort):
            poor[left[part]] = update(left[part], total)
        left = left[poor[left]]
        if not left.size:
            return


def _alike(counts: NDArray, most: int) -> Iterator[NDArray]:
    """Rows that take the same number of nodes at little waste, the largest first."""
    order = np.argsort(-counts)
    order = order[counts[order] <= most]
    while order.size:
        waste = np.cumsum(counts[order[0]] - counts[order])
        yield order[waste <= _WASTE]
        order = order[waste > _WASTE]


def _round_up(count: float) -> int:
    """To 64, 80, 96, 112, 128, 160 ..., which have two digits of similar size."""
    whole = max(math.ceil(count), _FEWEST_NODES)
    part = 2 ** (whole - 1).bit_length() // 8
    return part * -(-whole // part)
