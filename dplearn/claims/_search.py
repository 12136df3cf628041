"""Trying a claim: many points at once, then towards the worst and the simplest of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dplearn.book.kit.expression import Expression
from dplearn.claims._parameters import Parameter, canonical, product
from dplearn.claims._truth import FINER, Points, Purse, Subject, ends_at
from dplearn.claims.verdict import (
    HOLDS,
    SAME,
    UNDECIDED,
    UNDEFINED,
    VIOLATED,
    Point,
    Region,
    Relation,
)

_SHARP = 1e-7
# A double that is smaller has lost its digits.
_LEAST = 1e-290


@dataclass(frozen=True)
class Trial:
    """A claim, the truth it is compared with, and the space in which it is tried."""

    expression: Expression
    relation: Relation
    truth: Subject
    axes: Mapping[str, Parameter]

    @property
    def free(self) -> list[str]:
        """Parameters that are not held at one value."""
        return [name for name, axis in self.axes.items() if axis.lower < axis.upper]

    def try_(
        self, points: Points, *, purse: Purse, sharp: bool = False, order: NDArray | None = None
    ) -> Tried:
        """Compare at every point that the purse has enough for."""
        names = canonical(self.expression.names, self.axes)
        given = {name: points[p] for name, p in names.items()}
        shape = next(iter(points.values())).shape
        claimed = np.broadcast_to(np.asarray(self.expression(**given), dtype=float), shape)
        rounding = self.expression.rounding(**given)
        rtol = _SHARP if sharp or self.relation == "equal" else self.truth.rough
        proof = replace(self.truth, bracket=self.truth.proof or self.truth.bracket)
        truth = proof if sharp else self.truth
        lower, upper = ends_at(truth, points, rtol=rtol, purse=purse, order=order)
        # All quantities are >= 0: a claim below that says 0.
        stated, same = np.maximum(claimed, 0), SAME * np.abs(claimed)
        unsure = np.where(np.isfinite(rounding), rounding, np.inf) + _LEAST
        same = np.where(np.isfinite(same), same, 0.0)
        with np.errstate(invalid="ignore"):
            too_small, enough = stated + same + unsure < lower, stated + same - unsure >= upper
            too_large, little = stated - same - unsure > upper, stated - same + unsure <= lower
        bad, good = {
            "upper": (too_small, enough),
            "lower": (too_large, little),
            "equal": (too_small | too_large, enough & little),
        }[self.relation]
        undefined = np.isnan(claimed) & ~np.isnan(lower)
        status = np.select([undefined, bad, good], [UNDEFINED, VIOLATED, HOLDS], UNDECIDED)
        return Tried(points, claimed, lower, upper, status)

    def badness(self, tried: Tried) -> NDArray:
        """Distance of the claim beyond the truth, in logarithms; -inf where nothing is known."""
        with np.errstate(all="ignore"):
            gap = np.log(np.maximum(tried.claimed, 1e-300)) - np.log(
                np.maximum(0.5 * (tried.lower + tried.upper), 1e-300)
            )
        worst = {"upper": -gap, "lower": gap, "equal": np.abs(gap)}[self.relation]
        return np.where(np.isfinite(worst) & np.isfinite(tried.claimed), worst, -np.inf)


@dataclass(frozen=True)
class Tried:
    """Points, what is claimed there, the truth, and who is right."""

    points: Points
    claimed: NDArray
    lower: NDArray
    upper: NDArray
    status: NDArray

    def point(self, index: int) -> Point:
        parameters = {name: float(v[index]) for name, v in self.points.items()}
        claimed, lower, upper = (float(a[index]) for a in (self.claimed, self.lower, self.upper))
        return Point(parameters=parameters, claimed=claimed, lower=lower, upper=upper)

    @property
    def ratio(self) -> NDArray:
        """Claim / truth by the middle of the bracket; nan where one is unknown."""
        with np.errstate(all="ignore"):
            return self.claimed / (0.5 * (self.lower + self.upper))

    @property
    def looseness(self) -> tuple[float, float] | None:
        """Median and largest ratio where the claim holds."""
        loose = self.ratio[(self.status == HOLDS) & np.isfinite(self.ratio)]
        return (float(np.median(loose)), float(np.max(loose))) if loose.size else None


def survey(trial: Trial, *, purse: Purse) -> Tried:
    """The claim over the whole space; plain values first, then at random."""
    axes = {n: a.coarse if trial.truth.costly else a.fine for n, a in trial.axes.items()}
    points = product({n: v if len(v) > 1 else (trial.axes[n].lower,) for n, v in axes.items()})
    odd = oddness(trial, points)
    order = np.argsort(odd, kind="stable")
    later = np.random.default_rng(0).permutation(order[order.size // 10 :])
    return trial.try_(points, purse=purse, order=np.append(order[: order.size // 10], later))


def oddness(trial: Trial, points: Points) -> NDArray:
    """Small where the parameters are those of a textbook example."""
    total = np.zeros(next(iter(points.values())).shape)
    for name in trial.free:
        values, back = np.unique(points[name], return_inverse=True)
        total += np.array([trial.axes[name].oddness(v) for v in values])[back]
    return total


def simplest(trial: Trial, tried: Tried) -> Point | None:
    """The plainest counterexample, a visible one if there is any, seen at full accuracy."""
    cost = oddness(trial, tried.points) + (trial.badness(tried) < 0.02)
    cost = np.where(tried.status == VIOLATED, cost, np.inf)
    for index in np.argsort(cost, kind="stable")[:5]:
        if cost[index] == np.inf:
            break
        if point := confirmed(trial, tried.point(int(index)).parameters):
            return point
    return None


def confirmed(trial: Trial, parameters: Mapping[str, float]) -> Point | None:
    """The point, if it is a counterexample at full accuracy."""
    # For the one that is reported there is always enough.
    again = trial.try_(one(parameters), purse=Purse(math.inf), sharp=True)
    return again.point(0) if again.status[0] == VIOLATED else None


def one(parameters: Mapping[str, float]) -> dict[str, NDArray]:
    return {name: np.array([value]) for name, value in parameters.items()}


def climb(trial: Trial, start: Point, *, purse: Purse) -> tuple[Point, bool]:
    """From a point towards worse ones, one parameter at a time; and whether it is violated."""
    base = trial.try_(one(start.parameters), purse=purse)
    for factor in (3.0, 1.5, 1.1):
        while purse.left > 0:
            near = trial.try_(_neighbours(trial, base.point(0).parameters, factor), purse=purse)
            bad = trial.badness(near)
            best = int(np.argmax(bad))
            if not bad[best] > trial.badness(base)[0] + 1e-3:
                break
            base = trial.try_(one(near.point(best).parameters), purse=purse)
    return base.point(0), bool(base.status[0] == VIOLATED)


def _neighbours(trial: Trial, at: Mapping[str, float], factor: float) -> dict[str, NDArray]:
    rows = [
        {**at, name: trial.axes[name].near(at[name] * scale, 2)}
        for name in trial.free
        for scale in (factor, 1 / factor)
    ] or [dict(at)]
    return {name: np.array([row[name] for row in rows]) for name in at}


def region(trial: Trial, tried: Tried, example: Point | None, *, purse: Purse) -> Region | None:
    """The one-parameter rule that covers most points that hold, if it covers a good part.

    It is told with the place where the claim begins to fail towards the counterexample.
    """
    bad, good = tried.status == VIOLATED, tried.status == HOLDS
    if example is None or not np.any(bad):
        return None
    rules = []
    for name in trial.free:
        values = tried.points[name]
        for side, first in (("<=", np.min(values[bad])), (">=", np.max(values[bad]))):
            inside = good & ((values < first) if side == "<=" else (values > first))
            if np.any(inside):
                edge = np.max(values[inside]) if side == "<=" else np.min(values[inside])
                rules.append((int(inside.sum()), name, side, float(edge)))
    if not rules or max(rules)[0] < 0.1 * good.sum():
        return None
    points, name, side, edge = max(rules)
    if edge == (min if side == "<=" else max)(trial.axes[name].fine):
        return Region(parameter=name, side="=", value=edge, points=points)
    turns = _turn(trial, name, edge, example, purse=purse)
    return Region(parameter=name, side=side, value=edge, points=points, turns=turns)


def _turn(trial: Trial, name: str, good: float, bad: Point, *, purse: Purse) -> float | None:
    """First value at which the claim fails, from the region's edge to the counterexample.

    None where the edge does not hold, or the effort does not suffice to find it.
    """
    failing = bad.parameters[name]

    def holds(value: float) -> bool:
        at = one({**bad.parameters, name: value})
        return trial.try_(at, purse=Purse(math.inf), sharp=True).status[0] == HOLDS

    if not holds(good):
        return None
    while abs(failing / good - 1) > 1e-4:
        if not purse.pays(FINER * trial.truth.price):
            return None
        middle = float(np.sqrt(good * failing))
        middle = float(round(middle)) if trial.axes[name].whole else middle
        if middle in (good, failing):
            break
        good, failing = (middle, failing) if holds(middle) else (good, middle)
    return failing
