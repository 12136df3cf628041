"""Recomputation of a golden table from the parameters in its lines."""

import csv
from collections.abc import Callable
from multiprocessing import Pool
from pathlib import Path

Line = dict[str, str]


def refill(name: str, source: str, computed: Callable[[Line], Line]) -> None:
    """Recompute the lines of a golden table that have this source or none."""
    table = Path(__file__).with_name(name)
    with table.open(newline="") as file:
        lines = list(csv.DictReader(file))
    due = [line for line in lines if line["source"] in (source, "")]
    with Pool() as pool:
        for line, values in zip(due, pool.map(computed, due, chunksize=1), strict=True):
            line |= {"source": source, **values}
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
