"""A formula about one quantity of one mechanism against the certified answer.

Whether it fails is proved: a counterexample is a point at which the certified bracket lies on the
wrong side of it. That it holds is never proved here, only seen at many points.
"""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Reference
from dplearn.teaching.book import book
from dplearn.teaching.book.kit.checks import LEAST
from dplearn.teaching.book.kit.entry import Formula, Interval, Kind, Misprint
from dplearn.teaching.book.kit.expression import Expression
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.verdicts import refute
from dplearn.teaching.claims._parameters import PARAMETERS, Parameter, Setting, canonical, product
from dplearn.teaching.claims._truth import QUANTITIES, Points, Subject, ends_at, subject
from dplearn.teaching.claims.reading import Claim, claims_of
from dplearn.teaching.claims.verdict import (
    HOLDS,
    SAME,
    UNDECIDED,
    UNDEFINED,
    VIOLATED,
    Point,
    Region,
    Relation,
    Slice,
    Verdict,
)

_SHARP = 1e-7
# A name for a number that a claim leaves open.
_CONSTANT = re.compile(r"[cC]_?\d?")
# Quantities in which the order of a Renyi divergence may occur as a free choice.
_WITH_ORDER = ("epsilon", "delta", "sigma")


def side_of(claim: str) -> Claim:
    """What a claim says for a map; only of a divergence the sign tells the relation, else "".

    Of what somebody chooses, "at least this" says, as "at most this" does, that so much is enough.

    Examples
    --------
    >>> side_of("D_α ≥ 2α/σ^2").relation
    'lower'
    >>> side_of("ε′ = qε").quantity
    'amplified_epsilon'
    """
    first, *_ = claims_of(claim)
    if not first.left:
        return Claim("", "", claim)
    right = re.sub(r"_prime\b", "'", f"sqrt({first.right})" if first.root else first.right)
    sampled = re.fullmatch("epsilon_(prime|q|amplified|sampled)", first.left)
    if sampled and re.search(r"\b(q|sample_rate)\b", right):
        return Claim("amplified_epsilon", "", right)
    says = first.relation if first.quantity == "rdp" and first.relation != "identity" else ""
    return Claim(first.quantity, says, right)


def letters(quantity: str, of: str) -> set[str]:
    """Names that a claim about a quantity of a mechanism may use."""
    names = (*subject(quantity, of).names, "alpha")
    return {letter for n in names for letter in PARAMETERS[n].letters}


def readings(side: Claim, *, judged: bool = False) -> list[tuple[str, str]]:
    """Quantity and mechanism of every map that knows the names of a claim.

    Of a claim that the book has judged, only those that the book has it for.
    """
    able: dict[tuple[str, str], tuple[Expression, dict[str, str]]] = {}
    for quantity in [side.quantity] if side.quantity else QUANTITIES:
        for of, truth in QUANTITIES.get(quantity, {}).items():
            with suppress(ValueError):
                found = parse(side.right, letters(quantity, of)).bound({"Delta": 1.0})
                names = canonical(found.names, (*truth.names, "alpha"))
                able[quantity, of] = found, names
    if not judged:
        return [*able]
    out = []
    sources = (source for entry in book.values() for source in (entry, *entry.misprints))
    for form in (form for source in sources for form in source.typed):
        for place in ((form.quantity, of) for of in form.mechanisms):
            if place not in able:
                continue
            (claim, names), typed = able[place], parse(form.expression)
            at = {p: np.array(PARAMETERS[p].tried[2:5]) for p in {"T", *names.values()}}
            if "T" not in names.values():
                at["T"] = np.ones(3)
            if typed.names <= {*at}:
                values = claim(**{name: at[parameter] for name, parameter in names.items()})
                out += [place] * np.allclose(values, typed(**at), rtol=1e-9, equal_nan=True)
    return out


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

    def at(self, points: Points) -> tuple[NDArray, NDArray]:
        """What is claimed at every point, and by how much rounding may have moved it."""
        names = canonical(self.expression.names, self.axes)
        given = {name: points[p] for name, p in names.items()}
        shape = next(iter(points.values())).shape
        claimed = np.broadcast_to(np.asarray(self.expression(**given), dtype=float), shape)
        rounding = self.expression.rounding(**given)
        return claimed, np.where(np.isfinite(rounding), rounding, np.inf) + LEAST

    def try_(self, points: Points, *, sharp: bool = False) -> Tried:
        """Compare at every point."""
        claimed, unsure = self.at(points)
        rtol = _SHARP if sharp or self.relation == "equal" else self.truth.rough
        proof = replace(self.truth, bracket=self.truth.proof or self.truth.bracket)
        lower, upper = ends_at(proof if sharp else self.truth, points, rtol=rtol)
        # All quantities are >= 0: a claim below that says 0.
        stated, same = np.maximum(claimed, 0), SAME * np.abs(claimed)
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

    def survey(self) -> Tried:
        """The claim at all combinations of plain values."""
        values = {n: a.tried if n in self.free else (a.lower,) for n, a in self.axes.items()}
        return self.try_(product(values))

    def sharply(self, parameters: Mapping[str, float]) -> Tried:
        """The claim at one point, at full accuracy."""
        return self.try_({n: np.array([float(parameters[n])]) for n in self.axes}, sharp=True)

    def confirmed(self, parameters: Mapping[str, float]) -> Point | None:
        """The point, if it is a counterexample at full accuracy."""
        again = self.sharply(parameters)
        return again.point(0) if again.status[0] == VIOLATED else None

    def plainest(self, tried: Tried) -> Point | None:
        """The counterexample nearest to a textbook example, a visible one if there is any."""
        with np.errstate(all="ignore"):
            cost = (np.abs(np.log(tried.ratio)) < 0.02).astype(float)
        for name in self.free:
            cost += np.vectorize(self.axes[name].oddness)(tried.points[name])
        cost[tried.status != VIOLATED] = np.inf
        for index in np.argsort(cost, kind="stable")[:5]:
            if cost[index] < np.inf and (found := self.confirmed(tried.point(index).parameters)):
                return found
        return None

    def elsewhere(self) -> Point | None:
        """A counterexample that the book's search finds in the whole space."""
        column = lambda p: {n: np.array([float(p[n])]) for n in self.axes}

        def claimed(**p: Any) -> float:
            (value,), (unsure,) = self.at(column(p))
            return max(float(value), 0.0) if unsure < np.inf else math.nan

        def truth(**p: Any) -> Interval:
            (low,), (high,) = ends_at(self.truth, column(p), rtol=self.truth.rough)
            value = claimed(**p)  # where it has none nothing is said
            return Interval(value, value) if math.isnan(value) else Interval(low, high)

        entry = Formula(
            id="typed",
            function=claimed,
            title="",
            kind=cast("Kind", {"equal": "identity"}.get(self.relation, self.relation)),
            reference=Reference("", 0, ""),
            oracle=truth,
            domain={name: axis.domain for name, axis in self.axes.items()},
            tolerance=SAME,
        )
        points = max(8, int(100 / self.truth.price)) if self.truth.costly else 100
        found = refute(entry, Misprint("typed", "", "-"), points=points).counterexample
        return self.confirmed(found.parameters) if found else None


def verdict_on(
    claim: str,
    *,
    quantity: str,
    of: str,
    relation: Relation = "upper",
    fixed: Mapping[str, Setting] | None = None,
    axes: tuple[str, str] | None = None,
) -> Verdict:
    """Verdict on a claimed formula: where it holds or fails, and how loose it is.

    The claim is a formula in the parameters of the quantity, as `teaching.book.kit.parser` reads
    it, or has a left side as printed, of which `side_of` tells the quantity. A constant such as c
    or c2 is fixed at a number; Δ is 1, noise being measured in sensitivities. The quantity is total
    ``"epsilon"`` after T steps at delta; ``"delta"`` at epsilon; ``"sigma"``, the noise multiplier
    that suffices for (epsilon, delta); ``"rdp"``, the Rényi divergence of one step at order alpha;
    or ``"amplified_epsilon"`` of a Poisson sample at rate q of what has epsilon. The mechanism `of`
    which it is one is a key of ``QUANTITIES[quantity]``; with ``"pure_dp"`` the claim is about
    every epsilon-DP mechanism, and epsilon is one step's.

    The relation says that the quantity is at most, at least or equal to the formula; for sigma,
    ``"upper"`` says that the noise is enough. Parameters may be fixed at a number or kept to a
    range (low, high); T is 1 where the claim does not speak of it. The map has two axes; where it
    shows no counterexample the book's search looks for one in the whole space.

    Violations are proved, at full accuracy for those that are reported. Differences below 1e-6,
    relative, count as equality. A ValueError says that the formula cannot be read or speaks of
    other parameters, or that there is no certified answer for this quantity of this mechanism.

    Examples
    --------
    >>> found = verdict_on("sqrt(2*log(1.25/delta))/epsilon", quantity="sigma", of="gaussian")
    >>> found.status
    'violated'
    >>> found.simplest.parameters
    {'epsilon': 10.0, 'delta': 1e-05, 'T': 1.0}
    >>> round(found.region.turns, 2)
    8.42
    """
    side = side_of(claim)
    quantity, relation = side.quantity or quantity, cast("Relation", side.relation or relation)
    validate.one_of(("upper", "lower", "equal"), relation=relation)
    trial = _trial(side.right, quantity, of, relation, fixed or {})
    area, drawn = _map(trial, axes)
    tried = drawn if trial.truth.costly else trial.survey()
    simplest = trial.plainest(tried) or trial.plainest(drawn)
    if not simplest and np.any(tried.status == HOLDS) and not np.any(tried.status == VIOLATED):
        simplest = trial.elsewhere()
    if simplest:
        area, drawn = _map(trial, axes, simplest)
        tried = drawn if trial.truth.costly else tried
    return Verdict(
        claim=trial.expression.text,
        quantity=quantity,
        of=of,
        relation=relation,
        fixed={n: a.lower for n, a in trial.axes.items() if a.lower == a.upper},
        truth=trial.truth.note,
        adjacency=trial.truth.adjacency,
        points=tried.status.size,
        decided=int(np.sum((tried.status == HOLDS) | (tried.status == VIOLATED))),
        violated=int(np.sum(tried.status == VIOLATED)),
        simplest=simplest,
        region=_region(trial, tried, simplest),
        looseness=tried.looseness,
        map=area,
    )


def _trial(
    claim: str, quantity: str, of: str, relation: Relation, fixed: Mapping[str, Setting]
) -> Trial:
    """The question in canonical names; one step where the claim does not count them."""
    truth = subject(quantity, of)
    names = (*truth.names, *(("alpha",) if quantity in _WITH_ORDER else ()))
    expression = parse(claim, letters(quantity, of))
    constants = {
        n: v for n, v in fixed.items() if _CONSTANT.fullmatch(n) and not isinstance(v, tuple)
    }
    if open_ := sorted(n for n in expression.names - set(constants) if _CONSTANT.fullmatch(n)):
        raise ValueError(f"Expected a value of {open_[0]}, got none: hold {open_[0]}=1, say.")
    expression = expression.bound({"Delta": 1.0} | constants)
    spoken = set(canonical(expression.names, names).values())
    held = {canonical([n], names)[n]: value for n, value in fixed.items() if n not in constants}
    if "T" in names and "T" not in spoken:
        held.setdefault("T", 1.0)
    used = [n for n in names if n in truth.names or n in spoken]
    space = {n: PARAMETERS[n].within(held[n]) if n in held else PARAMETERS[n] for n in used}
    return Trial(expression, relation, truth, space)


def _region(trial: Trial, tried: Tried, example: Point | None) -> Region | None:
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
    if edge == (min if side == "<=" else max)(trial.axes[name].tried):
        return Region(parameter=name, side="=", value=edge, points=points)
    # The first value at which the claim fails, from the edge, if it holds there, to the example.
    holds = lambda x: trial.sharply({**example.parameters, name: x}).status[0] == HOLDS
    last, turns = edge, example.parameters[name] if holds(edge) else None
    while turns is not None and abs(turns / last - 1) > 1e-4:
        middle = float(np.sqrt(last * turns))
        middle = float(round(middle)) if trial.axes[name].whole else middle
        if middle in (last, turns):
            break
        last, turns = (middle, turns) if holds(middle) else (last, middle)
    return Region(parameter=name, side=side, value=edge, points=points, turns=turns)


def _map(
    trial: Trial, axes: tuple[str, str] | None, through: Point | None = None
) -> tuple[Slice, Tried]:
    """Return a slice through a counterexample or the usual values, by default of free axes."""
    space, truth = trial.axes, trial.truth
    names = sorted(space, key=lambda n: n not in trial.free)
    names = [canonical([n], names)[n] for n in axes] if axes else names
    shown = names[0], names[1]
    if shown[0] == shown[1]:
        raise ValueError(f"Expected axes to be two different parameters, got {axes!r}.")
    fixed = {
        n: through.parameters[n] if through else a.usual for n, a in space.items() if n not in shown
    }
    # As fine as can be paid for: every cell, or every row where one answer serves for it.
    answers = int(min(500 / truth.price, 121))
    few = min(answers, 13) if truth.along in shown else math.isqrt(answers)
    number = {n: (31 if n == truth.along else few) if truth.costly else 41 for n in shown}
    x, y = (space[n].between(number[n]) for n in shown)
    points = product({shown[1]: y, shown[0]: x, **{n: (value,) for n, value in fixed.items()}})
    tried = trial.try_({n: points[n] for n in space})
    ratio, status = (
        tuple(map(tuple, values.reshape(len(y), len(x)).tolist()))
        for values in (tried.ratio, tried.status)
    )
    return Slice(axes=shown, x=x, y=y, fixed=fixed, ratio=ratio, status=status), tried
