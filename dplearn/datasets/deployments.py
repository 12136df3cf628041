"""Public uses of differential privacy: who promised whom what, for how long."""

import csv
from dataclasses import dataclass
from functools import cache
from typing import Any

from dplearn.datasets.shipped import shipped_table

MODELS = ("local", "central")
UNITS = ("user", "person", "housing_unit", "unsaid")
PERIODS = ("report", "query", "day", "week", "month", "model", "once", "unsaid")


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A row of ``data/deployments.csv``: an epsilon that was printed, and what it is about."""

    id: str
    organisation: str
    what: str
    year: int  # in which it began
    model: str  # of `MODELS`: noise on the device, or at whoever holds the data
    unit: str  # of `UNITS`
    period: str  # of `PERIODS`: what one epsilon pays for
    epsilon: float
    delta: float | None  # 0 for pure differential privacy; None where the source is silent
    adjacency: str  # empty where the source is silent
    source: str
    unsaid: str  # what the source, as read for this table, does not say

    @property
    def comparable(self) -> tuple[str, str, str]:
        """What two uses must share before their epsilons can be put side by side."""
        return self.model, self.unit, self.period


@cache
def deployments() -> tuple[Deployment, ...]:
    """Every row of the table, in its order."""
    with shipped_table("deployments.csv").open(encoding="utf-8", newline="") as file:
        return tuple(_read(row) for row in csv.DictReader(file))


def _read(row: dict[str, Any]) -> Deployment:
    """A row with its numbers as numbers."""
    delta = float(row["delta"]) if row["delta"] else None
    numbers = {"year": int(row["year"]), "epsilon": float(row["epsilon"]), "delta": delta}
    return Deployment(**row | numbers)
