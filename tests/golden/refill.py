"""Compute the values of a golden table anew: the table itself says for which parameters."""

import csv
from collections.abc import Callable
from multiprocessing import Pool
from pathlib import Path

Line = dict[str, str]


def refill(name: str, computed: Callable[[Line], Line]) -> None:
    """Write a table of this folder with what is computed for each of its lines."""
    table = Path(__file__).with_name(name)
    with table.open(newline="") as file:
        lines = csv.DictReader(file)
        columns = lines.fieldnames or ()
        with Pool() as pool:
            filled = pool.map(computed, lines, chunksize=1)
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(filled)
