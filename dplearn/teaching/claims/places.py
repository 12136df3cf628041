"""Where in the book a claim belongs: the entries that its letters fit, ranked by their values.

Letters are given to an entry's parameters in every way that `vocabulary` allows; the values at
points of the entry's domain tell how near the formula is. Nothing is judged here.
"""

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.core.solve import decreasing_root
from dplearn.teaching.book import Formula, Misprint, book, starting_points
from dplearn.teaching.book.kit.domains import Choice
from dplearn.teaching.book.kit.expression import Expression
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.claims.reading import Claim, refuse
from dplearn.teaching.claims.slips import undone
from dplearn.teaching.claims.vocabulary import (
    ABOUT,
    EVENTS,
    LETTERS,
    MISPRINT_WITH,
    NEVER_WITHOUT,
    NOT_WITH,
    ONLY_WITH,
    UNCLEAR_SCALE,
    UNEQUAL_WITH,
    Place,
    places_of,
)

_POINTS, _ASSIGNMENTS = 64, 48
_SAME = 1e-6
_QUOTIENT = re.compile(r"(/\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))\s*(?=[A-Za-z0-9(√])")
# Ranks of a candidate, the best first: it equals an entry, one of its misprints, a multiple of the
# entry, or is one slip of the pen away from it.
EQUAL, MISPRINT, CONSTANT, SLIP, UNLIKE = range(5)


@dataclass(frozen=True)
class Candidate:
    """A place that fits the letters of a claim, and how its values are related to the entry's."""

    place: Place
    function: Callable[..., Any]  # the claim in the entry's parameters
    roles: dict[str, str]  # from every letter to the parameter it stands for
    rank: int
    factor: float = 1.0  # claim / entry in the median
    misprint: str = ""
    slip: str = ""  # what the entry has and the claim has not
    left_out: tuple[str, ...] = ()  # parameters of the entry that the claim does not speak of
    solved: bool = False
    turns: bool = False  # whether it was solved where it falls, and rises before

    @property
    def entry(self) -> Formula:
        """The entry as it is placed."""
        return self.place.entry

    @property
    def order(self) -> tuple[int, int]:
        """Sorts the most likely first."""
        return self.rank, len(self.left_out) if self.rank <= MISPRINT else 0


def formula_of(claim: Claim) -> Expression:
    """The right side as a program, with the letters of the vocabulary."""
    below = r"alpha|i|tot|total|iter|step|bar|RDP|M|t|f|D_alpha"
    text = re.sub(rf"\b([A-Za-z]+)_({below})\b", r"\1_bar", claim.right)
    text = re.sub(r"\b(epsilon_\w+) ?\( ?(alpha|tau|lambda) ?\)", r"\1", text)
    text = re.sub(r"\b(K|alpha|alpha_bar|K_bar|mu_bar) ?\( ?(lambda|alpha|l) ?\)", " K ", text)
    noisy = claim.quantity in ("sigma", "scale", "variance") or re.search(r"\bsigma\b", text)
    if noisy and "Delta" not in text:
        text = re.sub(r"(?<![A-Za-z_])s(?![A-Za-z_])", " Delta ", text)
    text = re.sub(r"\b([A-Za-z]+_\w+) ?\((?! ?\w+ ?\))", r"\1 * (", text)
    text = re.sub(r"\|([^|]+)\|", r" abs(\1) ", text)
    # Two releases, of which one has a prime.
    text = re.sub(r"^(\w+?)(?:_prime)? \+ \1(?:_prime)?$", r"\1_1 + \1_2", text.strip())
    rate = re.sub(r"\(\((m|B|L|b)\)/\((n|N)\)\)|\b(m|B|L|b) ?/ ?(n|N)\b", " q ", text)
    text = text if re.search(r"\b[mnBNL]\b", rate) else rate
    letters = {letter for names in LETTERS.values() for letter in names if "_" not in letter}
    try:
        formula = parse(text, letters)
    except ValueError as error:
        return refuse(str(error))
    if len(formula.program) == 1:
        refuse(f"Expected a formula, got {text.strip()} alone.")
    if open_ := sorted(n for n in formula.names if re.fullmatch(r"c_?[0-9]", n)):
        refuse(f"Expected a number in place of the constant {open_[0]}.")
    return formula


def candidates(claim: Claim) -> list[Candidate]:
    """Places in which the claim can be read, the most likely first."""
    formula = formula_of(claim)
    found: list[Candidate] = []
    if claim.quantity == "variance" and not claim.root:
        deviation = candidates(replace(claim, quantity="sigma", root=True))
        found = [c for c in deviation if c.entry.id == "G-F1"]
    for id in ABOUT:
        for place in places_of(id, sum(bool(re.search(r"_[1-9]$", n)) for n in formula.names)):
            if not claim.quantity or place.about == claim.quantity:
                found += _fitting(place, formula, claim.root, False)
            if not claim.root and (solved := _solved(place, formula, claim)):
                found += _fitting(place, solved, False, True)
    found = [c for c in found if c.rank <= MISPRINT or not is_strange(claim, c)]
    if all(c.rank == UNLIKE for c in found):
        whole = [c.place for c in found if not c.left_out and not c.solved]
        found = [slip for place in whole for slip in _slips(place, formula, claim.root)]
    # a/(b) c is printed for (a/b) c as well.
    if (other := _QUOTIENT.sub(r"\1*", claim.right)) != claim.right:
        found += candidates(replace(claim, right=other))
    # What is plain and a constant off comes before what is equal and not spoken of.
    never = lambda c: _is_other(claim, c) or (c.entry.id in NEVER_WITHOUT and is_strange(claim, c))
    found = [c for c in found if c.rank < UNLIKE and not never(c)]
    return sorted(found, key=lambda c: (c.rank + 2.5 * is_strange(claim, c), *c.order))


def as_gaussian_noise(claim: Claim) -> Iterator[Candidate]:
    """Ways to read a claim that resembles nothing as the noise of the Gaussian mechanism."""
    formula = formula_of(claim)
    if claim.quantity == "sigma" and claim.relation in ("identity", "lower") and not claim.best:
        (place,) = places_of("G-B4", 0)
        for roles in _roles(place, formula):
            if {*roles.values()} == {*place.own}:
                yield _compared(place, formula, roles, claim.root, *_design(place))


def _is_other(claim: Claim, candidate: Candidate) -> bool:
    id = candidate.entry.id
    event = re.sub(r"[\s{}()\[\]\\]|[bB]igg?[lr]?|left|right|cdot|mathcal", "", claim.left)
    if claim.quantity == "probability" and not re.fullmatch(f"Pr?({EVENTS.get(id, '.*')})", event):
        return True
    named = f"{id}/{candidate.misprint}" if candidate.misprint else id
    words, parameter = NOT_WITH.get(named, NOT_WITH.get(id, ("$.", "")))
    missing = parameter not in candidate.place.own
    return missing and bool(re.search(words, claim.words, re.IGNORECASE))


def is_strange(claim: Claim, candidate: Candidate) -> bool:
    """Whether the entry is about more than letters, and no word beside the formula says so."""
    id = candidate.entry.id
    special = id in ONLY_WITH or (candidate.rank > EQUAL and id in UNEQUAL_WITH)
    return special and not is_spoken_of(claim, candidate)


def is_spoken_of(claim: Claim, candidate: Candidate) -> bool:
    """Whether a word beside the formula names what the entry is about."""
    words = (ONLY_WITH | UNEQUAL_WITH | MISPRINT_WITH).get(candidate.entry.id, "")
    return bool(words) and bool(re.search(words, claim.words, re.IGNORECASE))


# What a step has and what all steps have go by one letter.
_OF_A_STEP = ("epsilon", "delta", "rho")
# Letters that cannot be what all of them have.
_ONE_STEP = re.compile(r"\b(?:epsilon|delta|rho)_?(?:bar|0|i|step|iter|RDP)\b")


class _Solved:
    """Another side of the same frontier: sigma as a function, from epsilon = f(sigma, delta)."""

    def __init__(self, formula: Expression, old: str, new: str) -> None:
        self.formula, self.old, self.new = formula, old, new
        self.names, self.turns = (formula.names - {old}) | {new}, False

    def __call__(self, **values: Any) -> NDArray:
        target = np.asarray(values[self.new], dtype=float)
        rest = {n: v for n, v in values.items() if n != self.new}
        gap = lambda log: self.formula(**rest, **{self.old: np.exp(log)}) - target
        low = np.full(target.shape, -20.0)
        high = np.full(target.shape, 0.0 if base(self.old) in ("p", "delta") else 20.0)
        with np.errstate(all="ignore"):
            # A formula that rises and falls has two inverses: the one where it falls is meant.
            seen = np.array([gap(low + (high - low) * k / 100) for k in range(101)])
            steps = np.diff(seen, axis=0)
            rises, falls = steps > _SAME * (1 + np.abs(seen[1:])), steps < 0
            self.turns = bool(np.any(rises.any(axis=0) & falls.any(axis=0)))
            if self.turns:
                peak = np.argmax(np.nan_to_num(seen, nan=-np.inf), axis=0)
                if np.any(rises & (np.arange(100)[:, None] >= peak)):
                    return np.full(target.shape, np.nan)
                low = low + (high - low) * peak / 100
            first, last = gap(low), gap(high)
            sign = np.sign(first)
            root = decreasing_root(
                lambda log: np.nan_to_num(sign * gap(log), nan=-1.0), lower=low, upper=high
            )
        return np.where(first * last < 0, np.exp(root), np.nan)


def _solved(place: Place, formula: Expression, claim: Claim) -> Any:
    """The claim as one about the entry's own quantity, where its right side has that letter."""
    quantity, about = claim.quantity, place.about
    letter_of = {"sigma": "noise_multiplier", "scale": "scale", "sensitivity": "max_norm"}
    if about in (*_OF_A_STEP, "p"):
        old = [n for n in formula.names if base(n) == about]
    elif about in letter_of:
        old = [n for n in formula.names if base(n) in LETTERS[letter_of[about]]]
    else:
        return None
    old = [about] if about in old else old
    new = {"steps": "T", "scale": "b", "norm": "C_m"}.get(quantity, quantity)
    if quantity == about:
        # On the left is what one step may spend, on the right what all of them do.
        if _ONE_STEP.search(claim.right):
            return None
        new = claim.left if re.fullmatch(r"\w+", claim.left) else ""
    fits = new and quantity in (*_OF_A_STEP, "sigma", "scale", "steps", "norm")
    enough = place.entry.kind in ("upper", "identity") and len(old) == 1 and fits
    return _Solved(formula, old[0], new) if enough and new not in formula.names else None


def base(name: str) -> str:
    """The letter without its decoration."""
    return "D" if name == "D_alpha" else re.sub(r"_[A-Za-z0-9]{1,5}$", "", name)


# Letters that print uses for a function of the entry's parameters.
_FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "sigma of rho": ("rho", lambda p: (2 * p["rho"]) ** -0.5),
    "sigma of mu": ("mu", lambda p: 1 / p["mu"]),
    "sigma of rdp": ("rdp orders", lambda p: (p["orders"] / (2 * p["rdp"])) ** 0.5),
    "rho of rdp": ("rdp orders", lambda p: p["rdp"] / p["orders"]),
    "K of rdp": ("rdp orders", lambda p: (p["orders"] - 1) * p["rdp"]),
    "moment of order": ("orders rdp", lambda p: p["orders"] - 1),
    "one release": ("", lambda p: 1.0),
    # The loss of one step by the classical rule.
    "classical": (
        "noise_multiplier delta",
        lambda p: np.sqrt(2 * np.log(1.25 / p["delta"])) / p["noise_multiplier"],
    ),
}
_STANDS_FOR = {
    **dict.fromkeys(("sigma", "z"), ("sigma of rho", "sigma of mu", "sigma of rdp")),
    "rho": ("rho of rdp",),
    "K": ("K of rdp",),
    "epsilon": ("classical",),
    **dict.fromkeys(("alpha", "lambda"), ("moment of order",)),
}
# How a letter changes where four releases are told as one.
_FOUR = dict.fromkeys(("rho", "epsilon_bar", "D_alpha", "K"), 4.0)
_FOUR |= {"mu": 2.0, "sigma": 0.5, "z": 0.5, "b": 0.25}


def _roles(place: Place, formula: Any) -> Iterator[dict[str, str]]:
    """Every way to give the letters of a formula to the parameters of a place."""
    own = place.own
    has_delta = {"sensitivity", "distance"} & {*own}
    names = sorted(formula.names if has_delta else formula.names - {"Delta"})
    # Letters that print uses for a parameter; those of a numbered one have its number.
    letters: dict[str, Collection[str]] = {}
    for p in own:
        one, number = re.fullmatch(r"(.+?)(_[1-9])?", p).groups()  # type: ignore[union-attr]
        numbered = [letter + (number or "") for letter in LETTERS.get(one, (one,))]
        letters[p] = LETTERS.get(p, numbered)
    fits = []
    for name in names:
        letter = base(name)
        direct = [p for p in own if not {name, letter}.isdisjoint(letters[p])]
        exact = [p for p in direct if p == name]
        derived = [
            r
            for r in _STANDS_FOR.get(letter, ())
            if {*_FUNCTIONS[r][0].split()} <= {*own} and not r.startswith(place.about)
            if r != "classical" or {"T", "k"} & formula.names
        ]
        fits.append(exact or direct + derived)
    missing = [n for n, fit in zip(names, fits, strict=True) if not fit]
    one = len(missing) == 1 and missing[0] in "TknN" and (len(names) > 2 or "b" in names)
    if one and _scales(place, formula, names, missing[0]):
        fits = [fit or ["one release"] for fit in fits]
    for chosen in itertools.islice(itertools.product(*fits), _ASSIGNMENTS):
        shifted = "moment of order" in chosen and "K of rdp" not in chosen
        if not shifted and len({*chosen}) == len(chosen):
            yield dict(zip(names, chosen, strict=True))


def _scales(place: Place, formula: Any, names: list[str], count: str) -> bool:
    """Whether k releases are one release whose loss is k times as large."""
    grows = {"sigma": 2.0, "scale": 4.0}.get(place.about, 1.0)
    if grows == 1 and not any(n in _FOUR or base(n) in _FOUR for n in names):
        return False
    rng = np.random.default_rng(0)
    one = {n: rng.uniform(0.2, 0.8, 5) for n in (*names, "Delta")}
    one = {n: v + 1 if base(n) in ("alpha", "lambda") else v for n, v in one.items()}
    one[count] = np.ones(5)
    times = {n: _FOUR.get(n, _FOUR.get(base(n), 1.0)) for n in names if grows == 1}
    four = {**one, **{n: one[n] / x for n, x in times.items()}, count: np.full(5, 4.0)}
    with np.errstate(all="ignore"):
        return bool(np.allclose(grows * formula(**one), formula(**four), rtol=1e-9, atol=0.0))


def _fitting(place: Place, formula: Any, root: bool, solved: bool) -> list[Candidate]:
    """The best way to read a formula in one place; none if its letters do not fit."""
    # Noise is in units of the sensitivity where the formula does not speak of one.
    free = [n for n in ("distance", "sensitivity") if n in place.own]
    if free and not {"Delta", "S", "C"} & formula.names:
        place = _pinned(place, free[0])
    points, values = _design(place)
    # What is a list of numbers has no letter.
    lists = {n for n, x in points[0].items() if isinstance(x, np.ndarray)} if points else set()
    roles = [r for r in _roles(place, formula) if points and not lists & _parameters(r)]
    found = [_compared(place, formula, r, root, points, values) for r in roles]
    turns = solved and formula.turns
    best = [min(found, key=lambda c: c.order)] if found else []
    return [replace(c, solved=solved, turns=turns) for c in best]


def _slips(place: Place, formula: Expression, root: bool) -> Iterator[Candidate]:
    """A formula as a slip of the entry, if undoing it gives the entry's values."""
    points, values = _design(place)
    for roles in _roles(place, formula):
        for right, slip in undone(formula):
            ratios = _ratios(_on_points(_bound(right, roles, root), roles, points), values)
            if ratios.size >= 5 and np.max(np.abs(ratios)) < _SAME:
                typed = _bound(formula, roles, root)
                yield Candidate(place, typed, roles, SLIP, slip=slip)
                return


def _parameters(roles: dict[str, str]) -> set[str]:
    return {
        p for r in roles.values() for p in (_FUNCTIONS[r][0].split() if r in _FUNCTIONS else [r])
    }


@lru_cache(300)
def _pinned(place: Place, name: str) -> Place:
    one = Choice(1) if isinstance(book[place.entry.id].domain.get(name), Choice) else Choice(1.0)
    kept = [m for m in place.entry.misprints if not isinstance(m.domain.get(name), Choice)]
    misprints = [replace(m, domain={n: d for n, d in m.domain.items() if n != name}) for m in kept]
    domain = {**place.entry.domain, name: one}
    entry = replace(place.entry, domain=domain, misprints=tuple(misprints))
    return Place(entry, place.about, tuple(n for n in place.own if n != name))


@lru_cache(1500)
def _design(place: Place, misprint: Misprint | None = None) -> tuple[list[dict[str, Any]], NDArray]:
    """Points of a domain, and the values of the entry or the misprint; none if it has none."""
    entry = place.entry.claimed(misprint) if misprint else place.entry
    along = {name: values[-1] for name, values in (entry.along or {}).items()}
    try:
        drawn = starting_points(entry, points=24 if misprint else _POINTS)
        points = [{**p, **along} for p in drawn]
        with np.errstate(all="ignore"):
            return points, np.array([entry.value(p) for p in points])
    except (ValueError, ArithmeticError, TypeError, KeyError):
        return [], np.zeros(0)


def _bound(formula: Any, roles: dict[str, str], root: bool) -> Callable[..., Any]:
    """The claim as a function of the entry's parameters, elementwise."""

    def typed(**p: Any) -> Any:
        with np.errstate(all="ignore"):
            given = {n: _FUNCTIONS[r][1](p) if r in _FUNCTIONS else p[r] for n, r in roles.items()}
            given.setdefault("Delta", 1.0)
            value = formula(**given)
            return np.sqrt(value) if root else value

    return typed


def _on_points(function: Callable[..., Any], roles: dict[str, str], points: list[dict]) -> NDArray:
    columns = {n: np.array([p[n] for p in points], dtype=float) for n in _parameters(roles)}
    return np.broadcast_to(np.asarray(function(**columns), dtype=float), (len(points),))


def _compared(
    place: Place, formula: Any, roles: dict[str, str], root: bool, points: list[dict], values: Any
) -> Candidate:
    function = _bound(formula, roles, root)
    ours = _on_points(function, roles, points)
    free = [p for p in place.own if p not in _parameters(roles)]
    unused = tuple(p for p in free if len({str(x.get(p)) for x in points}) > 1)
    ratio = _ratios(ours, values)
    rank, misprint, middle = UNLIKE, "", 0.0
    if ratio.size >= 5:
        middle = min(float(np.median(ratio)), 700.0)
        # Where the entry says that there is no bound, only its misprints have one.
        open_ = bool(np.any(np.isposinf(values) & np.isfinite(ours)))
        same = bool(np.max(np.abs(ratio)) < _SAME)
        if (open_ or not same) and (misprint := _misprint(place, function, roles)):
            rank = MISPRINT
        elif same:
            rank = EQUAL
        elif np.ptp(ratio) < _SAME:
            rank = CONSTANT
    return Candidate(place, function, roles, rank, math.exp(middle), misprint, left_out=unused)


def _ratios(ours: NDArray, values: NDArray) -> NDArray:
    """Logarithms of claim / entry, where both have a sign in common and digits."""
    with np.errstate(all="ignore"):
        ratios = np.log(np.abs(ours) / np.abs(values))
    return ratios[
        np.isfinite(ratios) & (np.sign(ours) == np.sign(values)) & (np.abs(values) > 1e-12)
    ]


def _misprint(place: Place, function: Callable[..., Any], roles: dict[str, str]) -> str:
    """The name of the misprint that a claim equals; "" if there is none."""
    for misprint in place.entry.misprints:
        if misprint.claim is None:
            continue
        points, wrong = _design(place, misprint)
        try:
            ours = _on_points(function, roles, points) if points else np.zeros(0)
        except (KeyError, TypeError, ValueError):
            continue
        good = np.isfinite(ours) & np.isfinite(wrong) & (np.abs(wrong) > 1e-12)
        same = np.abs(ours[good] - wrong[good]) <= _SAME * np.abs(wrong[good])
        if same.size >= 5 and bool(np.all(same)):
            return misprint.name
    return ""


# Words beside "at most" that say that so much is enough, and words for a sensitivity that is not 1.
_NEEDED = r"need|requir|suffic|enough|necess|smallest|least|calibrat|optimal|exact"
_NOT_ONE = (
    r"replac|substitut|swap|bounded DP|sensitivity\W+(?:\w+\W+){0,2}(?:0|[2-9]|1[./\d])"
    r"|chang\w+ (?:\w+ ){0,2}(?:two|both|all|several)|by at most (?:[2-9]|1\d)"
)


def is_at_one(claim: Claim) -> bool:
    """Whether a formula is about the noise that suffices, and names no sensitivity."""
    noise = claim.quantity in ("sigma", "scale")
    return noise and not {"Delta", "S", "C"} & formula_of(claim).names


def require_clear_noise(claim: Claim) -> None:
    """Raise where a formula about noise does not say enough to be judged."""
    names, noise = formula_of(claim).names, claim.quantity in ("sigma", "scale")
    says = lambda words: re.search(words, claim.words, re.IGNORECASE)
    for words, why in UNCLEAR_SCALE.items():
        if claim.quantity == "scale" and says(words):
            refuse(why)
    if noise and claim.relation == "upper" and not says(_NEEDED):
        refuse("It is not clear whether so much noise is enough, or no more than that is added.")
    noise = noise or {"sigma", "z", "b"} & names
    if noise and not {"Delta", "S", "C"} & names and says(_NOT_ONE):
        refuse("Expected the sensitivity in it, which the words say is not 1, got none.")


def wrong_units(claim: Claim) -> str:
    """What is wrong with the units: twice the sensitivity needs twice the noise; "" if nothing.

    Nor may the noise that a budget pays for grow with the budget.
    """
    formula = formula_of(claim)
    scales = ("sigma", "scale", "sensitivity")
    # Beside a norm C a multiplier z has no unit.
    multiplied = claim.quantity == "sigma" and {"z", "C"} <= formula.names
    noise = [n for n in formula.names if base(n) in ("sigma", "z", "b", "s", "C")[2 * multiplied :]]
    expected = 2.0 if claim.quantity in scales else 1.0
    if multiplied or ("Delta" in formula.names and (noise or claim.quantity in scales)):
        ratio = _doubled(formula, [*noise, "Delta"]) ** (0.5 if claim.root else 1.0)
        if math.isfinite(ratio) and abs(ratio - expected) >= 1e-9:
            return (
                "Twice the sensitivity and twice the noise change the right side by a factor"
                f" {ratio:.4g} instead of {expected:g}."
            )
    if claim.left == "b":
        ratio = _doubled(formula, [n for n in formula.names if base(n) == "epsilon"])
        if math.isfinite(ratio) and ratio > 1 + 1e-9:
            return f"Twice ε gives {ratio:.4g} times the noise, but more privacy takes more noise."
    return ""


def _doubled(formula: Expression, names: list[str]) -> float:
    """By what factor the value changes where some names are twice as large."""
    numbers = (1.37, 1.91, 2.3, 3.1, 4.7, 5.3, 6.1, 7.3, 8.9)
    one = dict(zip(sorted(formula.names), itertools.cycle(numbers)))
    one |= {n: 0.01 for n in one if base(n) == "delta"}
    one |= {"Delta": 1.3} if "Delta" in one else {}
    two = {n: 2 * v if n in names else v for n, v in one.items()}
    with np.errstate(all="ignore"):
        return float(np.divide(formula(**two), formula(**one)))
