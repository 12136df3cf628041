"""The formula of the book that is most like a claim, to tell what the claim is."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dplearn.book import book
from dplearn.book.kit.expression import Expression
from dplearn.book.kit.written import parse
from dplearn.claims._parameters import canonical

# Differences below this, relative, count as equality.
SAME = 1e-6


@dataclass(frozen=True)
class Closest:
    """The formula of the book most like a claim."""

    id: str  # of the entry, as G-B4, or of the misprint, as G-B4/no-two
    name: str
    formula: str
    factor: float  # the typical ratio of the two, >= 1; 1 where they are the same
    same: bool  # whether they agree within 1e-6 at every point

    def __str__(self) -> str:
        if self.same:
            return f"This is {self.id}, {self.name}."
        if self.factor < 1 + SAME:
            return f"At half of the points or more it equals {self.id}, {self.name}."
        by = f"{self.factor:.4g}" if self.factor < 1e4 else f"{self.factor:.0e}"
        return f"Closest known: {self.id}, {self.name}; typically a factor {by} away."


@cache
def candidates(quantity: str, of: str) -> tuple[tuple[str, str, Expression], ...]:
    """Id, name and expression of all that the book holds about a quantity of a mechanism."""
    rows = []
    for id, entry in book.items():
        variants = [(f"{id}/{m.name}", f"{entry.title}, a misprint", m) for m in entry.misprints]
        rows += [
            (name, title, parse(typed.expression))
            for name, title, source in [(id, entry.title, entry), *variants]
            for typed in source.typed
            if typed.quantity == quantity and of in typed.mechanisms
        ]
    return tuple(rows)


def closest(claimed: NDArray, points: dict[str, NDArray], quantity: str, of: str) -> Closest | None:
    """The known formula nearest to the values claimed; None where there is nothing to compare."""
    best: Closest | None = None
    for id, name, formula in candidates(quantity, of):
        if not formula.names <= set(points):
            continue
        value = formula(**{n: points[n] for n in canonical(formula.names, points)})
        with np.errstate(all="ignore"):
            apart = np.abs(np.log(claimed) - np.log(value))
        # Roundings of subtractions are not differences of formulas.
        apart = apart[np.isfinite(apart) & (value > 1e-9)]
        if not apart.size:
            continue
        factor, same = float(np.exp(np.median(apart))), bool(np.max(apart) <= SAME)
        if best is None or (not same, factor) < (not best.same, best.factor):
            best = Closest(id, name, formula.text, factor, same)
    return best
