"""The parameters of which a certified answer depends: names, ranges, the values that are tried."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dplearn.teaching.book.kit.domains import Choice, Domain, Log, Whole
from dplearn.teaching.book.kit.parser import nearest, parse
from dplearn.teaching.claims.vocabulary import LETTERS

# A number, or the two ends of a range.
Setting = float | tuple[float, float]


@dataclass(frozen=True)
class Parameter:
    """One axis of the space in which a claim is tried."""

    name: str
    meaning: str
    key: str  # its name in the book, whose letters it has
    lower: float  # no less, and no more than `upper`, may be asked at all
    upper: float
    usual: float  # its value in a slice along other parameters
    tried: tuple[float, ...]  # plain values among which a map looks for an example
    whole: bool = False

    @property
    def letters(self) -> frozenset[str]:
        """Names that it may be given; an r would make a product of a mistyped root, sqr(2)."""
        return LETTERS[self.key] - {"r"} | {self.name}

    def within(self, setting: Setting) -> Parameter:
        """Axis held at a number or kept to a range."""
        low, high = setting if isinstance(setting, tuple) else (setting, setting)
        good = self.lower <= low <= high <= self.upper
        if not good or (self.whole and not (low == round(low) and high == round(high))):
            kind = "a whole number" if self.whole else "a number"
            raise ValueError(
                f"Expected {self.name} to be {kind} or a range in [{self.lower:g}, {self.upper:g}],"
                f" got {setting!r}."
            )
        values = (low, *(v for v in self.tried if low < v < high), high)
        usual = min(max(self.usual, low), high)
        return replace(self, lower=low, upper=high, usual=usual, tried=tuple(sorted({*values})))

    @property
    def domain(self) -> Domain:
        """Its values as the book draws them."""
        low, high = self.tried[0], self.tried[-1]
        if low == high:
            return Choice(low)
        return Whole(round(low), round(high)) if self.whole else Log(low, high)

    def between(self, number: int) -> tuple[float, ...]:
        """About `number` values on a logarithmic scale: plain ones, and if they are few, others."""
        low, high = self.tried[0], self.tried[-1]
        if low == high:
            return (low,)
        if len(self.tried) >= number:
            few = np.linspace(0, len(self.tried) - 1, number).round().astype(int)
            return tuple(self.tried[k] for k in few)
        inner = [float(f"{v:.2g}") for v in np.geomspace(low, high, number)[1:-1]]
        inner = [float(round(v)) for v in inner] if self.whole else inner
        return tuple(sorted({*self.tried, *(v for v in inner if low < v < high)}))

    def oddness(self, value: float) -> float:
        """Distance of a value from one that would be chosen as an example."""
        mantissa = f"{value:.9e}".partition("e")[0].rstrip("0").rstrip(".")
        digits = len(mantissa.replace(".", ""))
        plain = 1.0 if self.name == "T" else self.usual
        odd = {"1": 0.0, "2": 0.4, "5": 0.4}.get(mantissa, 0.8)
        return 2 * (digits - 1) + odd + 0.5 * abs(math.log10(value / plain))


def _steps(first: int, last: int, mantissas: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{m}e{k}") for k in range(first, last + 1) for m in mantissas)


_PARTS = (1, 2, 5)
_NOISE = (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
_SLACK = (*_steps(-12, -1, (1,)), 0.5)
_LOSS = (*_steps(-2, -1, _PARTS), 1, 2, 3, 4, 5, 6, 8, 10, 20, 50)
_PER_STEP = _steps(-2, 0, _PARTS)
_ORDERS = (1.1, 1.2, 1.5, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
PARAMETERS = {
    p.name: p
    for p in (
        Parameter("q", "sample rate", "sample_rate", 1e-6, 1, 0.01, (*_steps(-4, -1, _PARTS), 1)),
        Parameter("sigma", "noise multiplier", "noise_multiplier", 0.05, 1e4, 1.0, _NOISE),
        Parameter("T", "number of steps", "steps", 1, 1e6, 100, (*_steps(0, 4, _PARTS), 1e5), True),
        Parameter("delta", "additive slack", "delta", 1e-30, 0.999, 1e-5, _SLACK),
        Parameter("epsilon", "privacy loss in nats", "epsilon", 1e-4, 300, 1.0, _LOSS),
        Parameter("epsilon_0", "privacy loss of one step", "epsilon_0", 1e-4, 300, 0.1, _PER_STEP),
        Parameter("alpha", "Rényi order", "order", 1 + 1e-6, 1000, 5, _ORDERS),
    )
}


def setting(text: str) -> tuple[str, Setting]:
    """A name and what it is held at, from ``"q=0.01"`` or ``"T=10..1000"``; else a ValueError."""
    name, _, value = text.partition("=")
    low, dots, high = value.partition("..")
    try:
        # In 15 digits 10⁻⁵ is what 1e-5 is.
        ends = [float(f"{parse(end)():.15g}") for end in ((low, high) if dots else (low,))]
        (one,) = parse(name.strip()).names
        return one, (ends[0], ends[1]) if dots else ends[0]
    except ValueError:
        raise ValueError(f"Expected NAME=VALUE or NAME=LOW..HIGH, got {text!r}.") from None


def canonical(names: Iterable[str], allowed: Iterable[str]) -> dict[str, str]:
    """From every name to the allowed parameter it stands for; a ValueError if there is none."""
    parameter_of = {letter: p for p in allowed for letter in PARAMETERS[p].letters}
    # A step's epsilon has two names where there is no other epsilon.
    if "epsilon" in parameter_of and "epsilon_0" not in parameter_of:
        parameter_of |= dict.fromkeys(PARAMETERS["epsilon_0"].letters, "epsilon")
    if wrong := sorted(set(names) - set(parameter_of)):
        got = ", ".join(wrong) + nearest(wrong[0], parameter_of)
        raise ValueError(f"Expected names among {', '.join(allowed)}, got {got}.")
    return {name: parameter_of[name] for name in names}


def product(axes: Mapping[str, tuple[float, ...]]) -> dict[str, NDArray]:
    """Combinations of the axes' values: one flat array per parameter."""
    grids = np.meshgrid(*(np.array(v, dtype=float) for v in axes.values()), indexing="ij")
    return {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}
