"""Is a claimed bound true? A formula that somebody typed, against the certified answer.

Whether a claim fails is proved: a counterexample is a point at which the certified bracket lies
on the wrong side of it. That a claim holds is never proved here, only seen at many points.

From the bottom: `_parameters` (names, ranges, values tried), `_truth` (the certified brackets),
`verdict` (what is found), `_search` (survey, counterexamples, region).

A formula as it is printed, with no mechanism named, is for `proofread`: `reading` (spelling and
sides), `vocabulary` (the letters of the book), `places` (the entries that it resembles),
`judging` (what is found, by the search of the book).
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np

from dplearn.book.kit.written import parse
from dplearn.claims import _search as search
from dplearn.claims._parameters import PARAMETERS, Setting, aliases, canonical, product, setting
from dplearn.claims._truth import QUANTITIES, Purse, subject
from dplearn.claims.judging import Finding, Reading, proofread
from dplearn.claims.reading import claims_of
from dplearn.claims.verdict import (
    HOLDS,
    STATUS,
    VIOLATED,
    Point,
    Region,
    Relation,
    Slice,
    Verdict,
)
from dplearn.ground import validate

__all__ = [
    "PARAMETERS",
    "QUANTITIES",
    "STATUS",
    "Finding",
    "Point",
    "Reading",
    "Region",
    "Side",
    "Slice",
    "Verdict",
    "aliases",
    "canonical",
    "proofread",
    "setting",
    "side_of",
    "verdict_on",
]

# What survey, search for the worst, border and map may cost at most.
_SHARES = (400.0, 150.0, 250.0, 500.0)
# A name for a number that a claim leaves open.
_CONSTANT = re.compile(r"[cC]_?\d?")
# Quantities in which the order of a Renyi divergence may occur as a free choice.
_WITH_ORDER = ("epsilon", "delta", "sigma")


def verdict_on(
    claim: str,
    *,
    quantity: str,
    of: str,
    relation: Relation = "upper",
    fixed: Mapping[str, Setting] | None = None,
    axes: tuple[str, str] | None = None,
    effort: float = 1.0,
) -> Verdict:
    """Verdict on a claimed formula: where it holds or fails, and how loose it is.

    The claim is a formula in the parameters of the quantity, as `dplearn.book.kit.written` reads
    it, or has a left side as printed, of which `side_of` tells the quantity. A constant such as c
    or c2 is fixed at a number; Δ is 1, noise being measured in sensitivities. The quantity is total
    ``"epsilon"`` after T steps at delta; ``"delta"`` at epsilon; ``"sigma"``, the noise multiplier
    that suffices for (epsilon, delta); ``"rdp"``, the Rényi divergence of one step at order alpha;
    or ``"amplified_epsilon"`` of a Poisson sample at rate q of what has epsilon. The mechanism `of`
    which it is one is a key of ``QUANTITIES[quantity]``; with ``"pure_dp"`` the claim is about
    every epsilon-DP mechanism, and epsilon is one step's.

    The relation says that the quantity is at most, at least or equal to the formula; for sigma,
    ``"upper"`` says that the noise is enough. Parameters may be fixed at a number or kept to a
    range (low, high); T is 1 where the claim does not speak of it. The map has two axes. The
    effort, > 0, limits how much is asked: 1 takes ten seconds of a core or so where each answer is
    costly. The verdict depends on it and not on the machine, and says how many points it decided.

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
    validate.positive(effort=effort)
    side = side_of(claim)
    quantity, relation = side.quantity or quantity, cast("Relation", side.relation or relation)
    validate.one_of(("upper", "lower", "equal"), relation=relation)
    trial = _trial(side.right, quantity, of, relation, fixed or {})
    survey, climb, turn, cells = (Purse(effort * share) for share in _SHARES)
    tried = search.survey(trial, purse=survey)
    simple, worst = _counterexamples(trial, tried, climb)
    region = search.region(trial, tried, simple, purse=turn)
    picture, drawn = _map(trial, axes, simple, cells)
    if not simple:
        simple = worst = search.simplest(trial, drawn)
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
        simplest=simple,
        worst=worst,
        region=region,
        looseness=tried.looseness,
        map=picture,
    )


class Side(NamedTuple):
    """What a claim is about and in which relation, as far as it says, and its right side."""

    quantity: str
    relation: str
    right: str


def side_of(claim: str) -> Side:
    """The two sides of a claim; only of a divergence the sign tells the relation.

    Of what somebody chooses, "at least this" says, as "at most this" does, that so much is enough.

    Examples
    --------
    >>> side_of("D_α ≥ 2α/σ^2")
    Side(quantity='rdp', relation='lower', right='2 alpha/ sigma^2')
    >>> side_of("ε′ = qε").quantity
    'amplified_epsilon'
    """
    first, *_ = claims_of(claim)
    if not first.left:
        return Side("", "", claim)
    right = re.sub(r"_prime\b", "'", f"sqrt({first.right})" if first.root else first.right)
    sampled = re.fullmatch("epsilon_(prime|q|amplified|sampled)", first.left)
    if sampled and re.search(r"\b(q|sample_rate)\b", right):
        return Side("amplified_epsilon", "", right)
    says = first.relation if first.quantity == "rdp" and first.relation != "identity" else ""
    return Side(first.quantity, says, right)


def _trial(
    claim: str, quantity: str, of: str, relation: Relation, fixed: Mapping[str, Setting]
) -> search.Trial:
    """The question in canonical names; one step where the claim does not count them."""
    truth = subject(quantity, of)
    names = (*truth.names, *(("alpha",) if quantity in _WITH_ORDER else ()))
    expression = parse(claim, aliases(names))
    constants = {
        n: value
        for n, value in fixed.items()
        if _CONSTANT.fullmatch(n) and not isinstance(value, tuple)
    }
    if open_ := sorted(n for n in expression.names - set(constants) if _CONSTANT.fullmatch(n)):
        raise ValueError(f"Expected a value of {open_[0]}, got none: hold {open_[0]}=1, say.")
    expression = expression.bound({"Delta": 1.0} | constants)
    spoken = set(canonical(expression.names, names).values())
    parameters = {n: value for n, value in fixed.items() if n not in constants}
    held = {canonical([name], names)[name]: setting for name, setting in parameters.items()}
    if "T" in names and "T" not in spoken:
        held.setdefault("T", 1.0)
    used = [n for n in names if n in truth.names or n in spoken]
    space = {n: PARAMETERS[n].within(held[n]) if n in held else PARAMETERS[n] for n in used}
    return search.Trial(expression, relation, truth, space)


def _counterexamples(
    trial: search.Trial, tried: search.Tried, purse: Purse
) -> tuple[Point | None, Point | None]:
    """The simplest and the worst; looked for between the points where these show none."""
    bad = trial.badness(tried)
    bad = np.where(tried.status == VIOLATED, bad + 1e3, bad)
    if not np.any(np.isfinite(bad)):
        return None, None
    simple = search.simplest(trial, tried)
    top, violated = search.climb(trial, tried.point(int(np.argmax(bad))), purse=purse)
    worst = search.confirmed(trial, top.parameters) if violated else None
    return simple or worst, worst or simple


def _map(
    trial: search.Trial, axes: tuple[str, str] | None, through: Point | None, purse: Purse
) -> tuple[Slice, search.Tried]:
    """A slice through the counterexample, or through the usual values."""
    shown, space = _axes(trial, axes), trial.axes
    fixed = {
        n: through.parameters[n] if through else a.usual for n, a in space.items() if n not in shown
    }
    along = trial.truth.along
    # As fine as can be paid for: every cell, or every row where one answer serves for it.
    answers = int(min(purse.left / trial.truth.price, 121))
    few = min(answers, 13) if along in shown else math.isqrt(answers)
    number = {n: (31 if n == along else few) if trial.truth.costly else 41 for n in shown}
    x, y = (space[n].between(min(space[n].fine), max(space[n].fine), number[n]) for n in shown)
    axis_of = {shown[1]: y, shown[0]: x, **{n: (value,) for n, value in fixed.items()}}
    points = product(axis_of)
    tried = trial.try_({n: points[n] for n in space}, purse=purse)
    ratio, status = (
        tuple(map(tuple, values.reshape(len(y), len(x)).tolist()))
        for values in (tried.ratio, tried.status)
    )
    return Slice(axes=shown, x=x, y=y, fixed=fixed, ratio=ratio, status=status), tried


def _axes(trial: search.Trial, axes: tuple[str, str] | None) -> tuple[str, str]:
    """The two parameters of the map: those asked for, or the most telling free ones."""
    names = list(trial.axes)
    if axes:
        chosen = tuple(canonical([n], names)[n] for n in axes)
        if len(chosen) != 2 or chosen[0] == chosen[1]:
            raise ValueError(f"Expected axes to be two different parameters, got {axes!r}.")
        return chosen
    first, second = sorted(names, key=lambda n: n not in trial.free)[:2]
    return first, second
