"""Which rows share a line and a sum, how long it gets, and when to try again."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.contour.line import Line
from dplearn.engine.contour.small_rate import Remainder, Split
from dplearn.engine.contour.table import Table, shared
from dplearn.engine.contour.trapezoid import Nodes, Trapezoid

# Number of steps, epsilon and log delta, each of shape (n,); one of the last two is a guess.
Rows = tuple[NDArray, NDArray, NDArray]
# Most nodes, the freedom of the tilt, how many times longer a period a row may take to share a
# line (see Table.tilts), and whether uninformative runs are left out (see small_rate). The first
# try is short: where the guess was poor it only finds a better one, and a line costs more than the
# nodes it wastes. At the end a row may pay with rounding for fewer.
Effort = tuple[int, float, float, bool]
TRIES: tuple[Effort, ...] = (
    (2**8, 2.0, 3.0, False),
    (2**12, 2.0, 1.4, False),
    (2**16, 2.0, 1.4, True),
    (2**16, 2.0, 1.4, True),
    (2**16, 2.0, 1.4, False),
    (2**16, 7.0, 1.4, False),
    (2**16, 7.0, 1.4, False),
)
# For rows that stay wide or open: each on a line of its own, as near the saddle point as it can.
ALONE: tuple[Effort, ...] = tuple((2**16, freedom, 1.01, False) for freedom in (0.5, 1.0, 2.0, 7.0))
_FEWEST_NODES = 2**6
# Most nodes in x, and most products of nodes in x and in t.
_MOST_WIDTH, _MOST_WORK = 2**13, 2**24
# Rows with different numbers of nodes go together until this many are wasted.
_WASTE = 2**14


def sums(
    table: Table, rows: Rows, log_tau: float, effort: Effort
) -> Iterator[tuple[NDArray, Trapezoid]]:
    """Indices of rows and their sum; nothing for rows that need more nodes."""
    (steps, epsilon, log_delta), (most, freedom, longer, split) = rows, effort
    need, at_zero = table.needs(steps, epsilon, log_delta, log_tau)
    for group, tilt in shared(*table.tilts((need, at_zero), steps, freedom, longer), longer):
        period = table.period((need[group], at_zero[group]), tilt)
        # Aliases that only such a period removes tell of a poor guess, or of no mu beyond lambda.
        if not period * tilt < 1e9:
            continue
        x0, least, size = None, 0.95 * epsilon[group], None
        if split:
            remainder = Remainder(table.pair)
            x0, size = remainder.place(steps[group], least, log_tau + log_delta[group])
            if size is None:
                continue
        line = Line(table.pair, tilt) if x0 is None else Split(table.pair, tilt, x0)
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
            # The first sum is the longest.
            nodes = nodes or Nodes(table, line, period, count)
            # Rows of one length share their powers.
            lengths = steps[group[part]]
            lengths = lengths[:1] if np.all(lengths == lengths[0]) else lengths
            cut = bound, cutoffs[part], log_b[part]
            left_out = None if size is None else (least[part], size[part])
            yield group[part], Trapezoid(nodes, count, lengths, log_tau, cut, left_out)


def tries(
    table: Table,
    rows: Rows,
    log_tau: float,
    update: Callable[[NDArray, Trapezoid], NDArray],
    efforts: tuple[Effort, ...] = TRIES,
    left: NDArray | None = None,
) -> None:
    """Call `update` with indices of rows and their sum, until none of those `left` is poor.

    It may improve the guesses among the rows, and returns which of its rows are poor.
    """
    left = np.arange(rows[0].size) if left is None else left
    for effort in efforts:
        now = left[table.rarely_sampled(rows[0][left])] if effort[3] else left
        if not now.size:
            continue
        poor = np.ones(rows[0].size, dtype=bool)
        steps, epsilon, log_delta = (row[now] for row in rows)
        for part, total in sums(table, (steps, epsilon, log_delta), log_tau, effort):
            poor[now[part]] = update(now[part], total)
        left = left[poor[left]]


def _alike(counts: NDArray, most: int) -> Iterator[tuple[NDArray, int]]:
    """Yield rows that share a number of nodes at little waste, and that number, largest first."""
    order = np.argsort(-counts)
    order = order[counts[order] <= most]
    while order.size:
        waste = np.cumsum(counts[order[0]] - counts[order])
        whole = max(math.ceil(counts[order[0]]), _FEWEST_NODES)
        # Rounded up to 64, 80, 96, 112, 128, 160, ..., which have two digits of similar size.
        part = 2 ** (whole - 1).bit_length() // 8
        yield order[waste <= _WASTE], part * -(-whole // part)
        order = order[waste > _WASTE]
