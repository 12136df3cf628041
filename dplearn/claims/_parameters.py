"""The parameters a claim may speak of: names, ranges, and the values at which it is tried."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dplearn.book.kit.written import nearest, parse

# A number, or the two ends of a range.
Setting = float | tuple[float, float]


@dataclass(frozen=True)
class Parameter:
    """One axis of the space in which a claim is tried."""

    name: str
    meaning: str
    aliases: tuple[str, ...]
    lower: float  # no less, and no more than `upper`, may be asked at all
    upper: float
    usual: float  # its value in a slice along other parameters
    coarse: tuple[float, ...]  # where a costly truth is asked
    fine: tuple[float, ...]  # where a cheap one is
    whole: bool = False

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
        values = tuple(v for v in self.fine if low < v < high)
        values = (low, *values, high) if low < high else (low,)
        if 1 < len(values) < 6:
            values = self.between(low, high, 7)
        usual = min(max(self.usual, low), high)
        few = tuple(v for v in self.coarse if low <= v <= high)
        few = few if len(few) > 2 else values
        return replace(self, lower=low, upper=high, usual=usual, coarse=few, fine=values)

    def between(self, low: float, high: float, number: int) -> tuple[float, ...]:
        """About `number` values with few digits on a logarithmic scale, ends included."""
        if low >= high:
            return (low,)
        inner = [self.near(v, 2) for v in np.geomspace(low, high, number)[1:-1]]
        return tuple(sorted({low, high, *(v for v in inner if low < v < high)}))

    def near(self, value: float, digits: int) -> float:
        """`value` in few digits, whole where it must be, among the values tried."""
        value = float(f"{value:.{digits}g}")
        value = float(round(value)) if self.whole else value
        return min(max(value, min(self.fine)), max(self.fine))

    def oddness(self, value: float) -> float:
        """Distance of a value from one that would be chosen as an example."""
        mantissa = f"{value:.9e}".partition("e")[0].rstrip("0").rstrip(".")
        digits = len(mantissa.replace(".", ""))
        plain = 1.0 if self.name == "T" else self.usual
        odd = {"1": 0.0, "2": 0.4, "5": 0.4}.get(mantissa, 0.8)
        return 2 * (digits - 1) + odd + 0.5 * abs(math.log10(value / plain))


def _steps(first: int, last: int, mantissas: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{m}e{k}") for k in range(first, last + 1) for m in mantissas)


_EPSILON = Parameter(
    "epsilon", "privacy loss in nats", ("eps",), 1e-4, 300, 1.0,
    (0.1, 0.5, 1, 2, 5, 10), (*_steps(-2, -1, (1, 2, 5)), 1, 2, 3, 4, 5, 6, 8, 10, 20, 50),
)  # fmt: skip
_ORDERS = (1.1, 1.2, 1.5, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
PARAMETERS = {
    p.name: p
    for p in (
        Parameter(
            "q", "sample rate", ("sample_rate",), 1e-6, 1, 0.01,
            (1e-4, 1e-3, 0.01, 0.1, 1), (*_steps(-4, -1, (1, 2, 5)), 1),
        ),
        Parameter(
            "sigma", "noise multiplier", ("z", "noise_multiplier"), 0.05, 1e4, 1.0,
            (0.5, 0.7, 1, 2, 5, 20), (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100),
        ),
        Parameter(
            "T", "number of steps", ("k", "steps"), 1, 1e6, 100,
            (1, 10, 100, 1000, 1e4), (*_steps(0, 4, (1, 2, 5)), 1e5), True,
        ),
        Parameter(
            "delta", "additive slack", (), 1e-30, 0.999, 1e-5,
            (1e-2, 1e-5, 1e-8), (*_steps(-12, -1, (1,)), 0.5),
        ),
        _EPSILON,
        replace(
            _EPSILON, name="epsilon_0", meaning="privacy loss of one step",
            aliases=("epsilon0", "eps0", "eps_0"), usual=0.1,
            coarse=(0.01, 0.1, 0.5, 1, 2), fine=_steps(-2, 0, (1, 2, 5)),
        ),
        Parameter(
            "alpha", "Rényi order", ("order",), 1 + 1e-6, 1000, 5, _ORDERS, _ORDERS,
        ),
    )
}  # fmt: skip


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


def aliases(allowed: Iterable[str]) -> set[str]:
    """Names that any of these parameters may be given."""
    return {alias for p in allowed for alias in (p, *PARAMETERS[p].aliases)}


def canonical(names: Iterable[str], allowed: Iterable[str]) -> dict[str, str]:
    """From every name to the allowed parameter it stands for; a ValueError if there is none."""
    parameter_of = {a: p for p in allowed for a in (p, *PARAMETERS[p].aliases)}
    # A step's epsilon has two names where there is no other epsilon.
    if "epsilon" in parameter_of and "epsilon_0" not in parameter_of:
        parameter_of |= dict.fromkeys(("epsilon_0", *PARAMETERS["epsilon_0"].aliases), "epsilon")
    if wrong := sorted(set(names) - set(parameter_of)):
        texts = [" or ".join((p, *PARAMETERS[p].aliases)) for p in allowed]
        near = nearest(wrong[0], parameter_of)
        raise ValueError(f"Expected names among {', '.join(texts)}, got {', '.join(wrong)}{near}.")
    return {name: parameter_of[name] for name in names}


def product(axes: Mapping[str, tuple[float, ...]]) -> dict[str, NDArray]:
    """Combinations of the axes' values: one flat array per parameter."""
    grids = np.meshgrid(*(np.array(v, dtype=float) for v in axes.values()), indexing="ij")
    return {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}
