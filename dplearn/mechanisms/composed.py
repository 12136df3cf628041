"""Adaptive composition of different mechanisms."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Mechanism, as_mechanism
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.laplace import Laplace


@dataclass(frozen=True, init=False)
class Composed(Mechanism):
    """Adaptive composition of several mechanisms, each with its number of runs.

    Parameters
    ----------
    mechanisms : list of mechanisms or plans that run once, or of pairs (mechanism, number of runs)
    """

    pairs: tuple[tuple[Mechanism, int], ...]

    name = "composed"
    fields_of_examples = (([Gaussian(2.0), (Laplace(4.0), 3)],), ([(Gaussian(3.0), 2)],))
    no_outputs = "several releases together have no density on one line"

    def __init__(self, mechanisms: Iterable[Mechanism | tuple[Mechanism, int]]) -> None:
        counted = [m if isinstance(m, tuple) else (m, 1) for m in mechanisms]
        if not counted:
            raise ValueError("Expected mechanisms to hold at least one, got an empty list.")
        for _, count in counted:
            validate.integer(minimum=0, count=count)
        # Use Python integers, which do not overflow.
        pairs = tuple((as_mechanism(mechanism), int(count)) for mechanism, count in counted)
        object.__setattr__(self, "pairs", pairs)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(a for m, _ in self.parts() for a in m.assumptions))

    def parts(self) -> tuple[tuple[Mechanism, int], ...]:
        """Return (mechanism, count) pairs: nested counts multiply, equal mechanisms merge."""
        counts: dict[Mechanism, int] = {}
        for outer, times in self.pairs:
            for inner, count in outer.parts():
                counts[inner] = counts.get(inner, 0) + times * count
        return tuple(counts.items())

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        why = "it has no single profile, accountants read parts() instead"
        raise validate.unsupported("profiles() of composed", why)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return the sum of Rényi divergences (Mironov 2017, Proposition 1)."""
        each = (count * m.rdp(orders, adjacency=adjacency) for m, count in self.parts())
        return sum(each, np.zeros(orders.shape))

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        return math.fsum(m.pure_epsilon(adjacency) * count for m, count in self.parts() if count)

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """Return the sum of all rho (Bun & Steinke 2016, Lemma 1.7)."""
        each = [(m.zcdp(adjacency), count) for m, count in self.parts()]
        return None if any(rho is None for rho, _ in each) else sum(rho * n for rho, n in each)  # type: ignore[operator]

    def infinite_epsilon_reason(self) -> str:
        reasons = (m.infinite_epsilon_reason() for m, n in self.parts() if n)
        return next(filter(None, reasons), "")
