"""Guarantees: epsilon at a delta, with the adjacency of data sets and the method."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Literal, get_args

from dplearn.core.display import ReadOnly, in_latex, in_signs

__all__ = ["Adjacency", "Guarantee", "Kind", "Reference"]
Adjacency = Literal["add_remove", "replace_one", "zero_out"]
ADJACENCIES: tuple[Adjacency, ...] = get_args(Adjacency)

Kind = Literal["exact", "upper", "bracket", "probable", "approximate", "lower"]


@dataclass(frozen=True)
class Reference:
    """Citation of a theorem or section in a publication.

    Parameters
    ----------
    authors : str
    year : int > 0
    where : str, theorem or section
    """

    authors: str
    year: int
    where: str

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}), {self.where}"


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Epsilon at one delta: exact, a bound or an approximation, with method and assumptions.

    Parameters
    ----------
    epsilon : float >= 0, in nats: exact, a bound, the upper end of a bracket or an approximation
    delta : float in [0, 1]
    kind : "exact", "upper", "bracket", "approximate", "lower", or "probable", an upper bound that
        fails with the probability that `reason` states
    method : str, name of the accountant
    adjacency : "add_remove", "replace_one" or "zero_out"
    lower : float in [0, epsilon], lower bound on epsilon, 0 if none is proved
    assumptions : tuple of str, what must hold for the statement to be true
    reason : str, why epsilon is infinite, its bracket is wide, or it must not be published
    details : mapping of str to float, such as the best Rényi order
    delta_lower : float in [0, delta], lower bound on delta, if it was computed at a given epsilon
    only_for : str, the neighbouring data sets covered, if not all
    proof : str, the theorem that bounds epsilon, if the method has several

    Examples
    --------
    >>> print(Guarantee(epsilon=1.5149, delta=1e-5, kind="upper", method="pld",
    ...                 adjacency="add_remove"))
    epsilon <= 1.515 at delta = 1.0e-05, add_remove, by pld
    """

    epsilon: float
    delta: float
    kind: Kind
    method: str
    adjacency: Adjacency
    lower: float = 0.0
    assumptions: tuple[str, ...] = ()
    reason: str = ""
    details: Mapping[str, float] = field(default_factory=ReadOnly)
    delta_lower: float = 0.0
    only_for: str = ""
    proof: str = ""

    def __post_init__(self) -> None:
        ends = ("epsilon", self.lower, self.epsilon), ("delta", self.delta_lower, self.delta)
        for name, low, high in ends:
            if not 0 <= low <= high:
                got = f"{low!r} and {name}={high!r}"
                raise ValueError(f"Expected 0 <= lower end <= {name}, got {got}.")
        object.__setattr__(self, "details", ReadOnly(self.details))

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(in_signs(str(self)))}</p>"

    def _repr_latex_(self) -> str:
        return in_latex(str(self))

    @property
    def is_bound(self) -> bool:
        """Whether the true epsilon is proved to be at most `epsilon`."""
        return self.kind in ("exact", "upper", "bracket")

    def __str__(self) -> str:
        """Return a sentence with upper bounds rounded up and lower bounds rounded down."""
        only = f", for {self.only_for} only" if self.only_for else ""
        about = f"{self.adjacency}, by {self.method}{only}"
        exact = self.kind == "exact"
        if self.delta_lower > 0:  # delta was computed at a given epsilon
            ends = _between("delta", self.delta if exact else self.delta_lower, self.delta)
            return f"{ends} at epsilon = {read_back(self.epsilon)}, {about}"
        note = f" ({self.reason})" if self.reason else ""
        tail = f" at delta = {read_back(self.delta)}, {about}"
        if self.kind == "approximate":
            return f"epsilon ~ {self.epsilon:.4g}{tail} (an approximation, not a bound){note}"
        if self.kind == "lower":
            return f"epsilon >= {round_down(self.epsilon)}{tail}{note}"
        if self.kind == "probable":
            return f"epsilon <~ {round_up(self.epsilon)}{tail}{note}"
        ends = _between("epsilon", self.epsilon if exact else self.lower, self.epsilon)
        return f"{ends}{tail}{note}"


def _between(name: str, lower: float, upper: float) -> str:
    low, high = round_down(lower), round_up(upper)
    if low == high:
        return f"{name} = {high}"
    return f"{f'{low} <= ' if lower > 0 else ''}{name} <= {high}"


def read_back(value: float) -> str:
    """Return a short text, such as 1.0e-05, that converts back to exactly `value`."""
    short = f"{value:g}" if value == 0 or value >= 1e-3 else f"{value:.1e}"
    return short if float(short) == value else repr(float(value))


def round_up(value: float, digits: int = 4) -> str:
    """Return `value` rounded up to `digits` significant digits."""
    return _rounded(value, digits, ROUND_CEILING)


def round_down(value: float, digits: int = 4) -> str:
    """Return `value` rounded down to `digits` significant digits."""
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    value = float(value)  # for a float32, `nearest - value` would be rounded
    nearest = float(f"{value:.{digits}g}")
    if abs(nearest - value) > 1e-12 * abs(value):
        nearest = float(Context(digits, rounding).create_decimal(value))
    return f"{nearest:.{digits}g}"
