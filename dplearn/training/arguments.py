"""Which arguments of a module follow the records, learned from passes over two numbers of them.

An adjacency matrix of N nodes or a window of T positions may have as many rows as the lot has
records, by chance. A look at one lot cannot tell; a look at two and at three records can.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from dplearn.ground import validate
from dplearn.training.recording import Call, Tape

# By kind of call, how many rows of each argument belong to one record: 0 if all records share it.
Rows = dict[tuple[Any, ...], tuple[int, ...]]


def learned(two: Tape, three: Tape) -> Rows:
    """Rows per record of the arguments of all calls; -1 where the two passes do not tell."""
    rows: Rows = {}
    sides = _first_sides(two), _first_sides(three)
    for kind in sides[0].keys() & sides[1].keys():
        calls = zip(sides[0][kind], sides[1][kind], strict=False)  # data may choose how many
        uses = {tuple(map(_per_record, *call)) for call in calls}
        rows[kind] = uses.pop() if len(uses) == 1 else (-1,) * len(kind[1:])
    return rows


def _first_sides(tape: Tape) -> dict[tuple[Any, ...], list[list[int]]]:
    """By kind of call, the number of rows of each argument in each call."""
    sides = defaultdict(list)
    for call in tape.calls:
        first = [len(x) if isinstance(x, Tensor) and x.dim() else 0 for x in call.leaves()]
        sides[call.kind()].append(first)
    return sides


def _per_record(two: int, three: int) -> int:
    """Rows that belong to a record, from the rows of two records and of three."""
    return 0 if two == three else two // 2 if 3 * two == 2 * three else -1


def rows_of(call: Call, rows: Rows, batch: int) -> Sequence[int]:
    """Rows per record of the arguments of this call; NotImplementedError if nobody knows."""
    leaves = call.leaves()
    learned = rows.get(call.kind(), (-1,) * len(leaves))
    for count, leaf in zip(learned, leaves, strict=True):
        if count < 0 and isinstance(leaf, Tensor) and leaf.dim() and len(leaf) % batch == 0:
            raise validate.unsupported(
                f"an argument of {call.name!r} ({type(call.module).__name__}) of shape "
                f"{tuple(leaf.shape)}",
                "some passes show that it follows the records and others that it does not, "
                "or none does. Give it the same number of rows per record in every call.",
            )
    return [max(count, 0) for count in learned]
