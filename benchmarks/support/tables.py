"""Numbers as cells of Markdown tables."""

import math
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from dplearn.core.guarantee import Guarantee

# Below our certified lower end by more than this is an error of the peer's, not of rounding.
ROUNDING = 1e-9


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Short rows are filled up."""
    filled = [[*row, *[""] * (len(head) - len(row))] for row in rows]
    lines = [head, ["---"] * len(head), *filled]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def arguments(about: str | None, results: Path, *, rounds: int) -> ArgumentParser:
    """Parse which part to run, how many rounds, and whether to write the results."""
    parser = ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--write", nargs="?", const=results, type=Path)
    return parser


def report(path: Path | None, *parts: str) -> None:
    """Print a page, and write it to a file if one is named."""
    print(text := "\n\n".join(parts))
    if path:
        path.write_text(text + "\n")


def report_section(
    path: Path | None, title: str, note: str, order: Sequence[str], name: str, section: str
) -> None:
    """Print a section, and put it into a page in their order; others stay as they are."""
    print(f"## {name}\n\n{section}", flush=True)
    if not path:
        return
    parts = path.read_text().split("\n## ")[1:] if path.exists() else []
    sections = {part.split("\n")[0]: part.partition("\n")[2].strip() for part in parts}
    sections[name] = section
    last = [one for one in sections if one not in order]  # kept: measured by others
    body = [f"## {one}\n\n{sections[one]}" for one in (*order, *last) if one in sections]
    path.write_text("\n\n".join([title, note, *body]) + "\n")


def wall(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def ratio(value: float) -> str:
    return f"×{value:.2g}" if value < 99.5 else f"×{value:.0f}"


def excess(values: Sequence[float], lower: np.ndarray) -> str:
    """min … median … max of value / lower - 1 where both are known, and how many are negative."""
    found = np.array(values)
    lower = lower[: found.size]
    known = np.isfinite(found) & (lower > 0)
    if not known.any():
        return "–"
    over = found[known] / lower[known] - 1
    parts = " … ".join(f"{x:+.1e}" for x in (over.min(), np.median(over), over.max()))
    under = int((over < -ROUNDING).sum())
    return f"{parts} **UNDER {under}/{found.size}**" if under else parts


def error(value: float, ours: Guarantee) -> str:
    """One value against our bracket."""
    if not math.isfinite(value):
        return "inf" if value > 0 else "error"
    if ours.lower == 0:
        return f"{value / ours.epsilon - 1:+.0e} of our upper end"
    over = value / ours.lower - 1
    return f"**{over:+.0e} UNDER**" if over < -ROUNDING else f"{over:+.0e}"


def width(ours: Guarantee) -> str:
    return f"{ours.epsilon / ours.lower - 1:.0e}" if ours.lower else "no lower end"
