"""Checks of arguments; their error messages name the argument."""

import difflib
import inspect
import math
from abc import ABCMeta
from collections.abc import Callable, Collection, Iterable
from functools import cache, wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
# Names that papers and other libraries give to the parameters of dplearn.
_SYNONYMS = {
    "noise_multiplier": ("sigma", "std", "stddev", "standard_deviation", "scale", "noise_std", "z"),
    "sample_rate": ("q", "sampling_prob", "sampling_probability", "sampling_rate", "gamma"),
    "epsilon": ("eps",),
    "false_positive_rate": ("fpr",),
    "true_positive_rate": ("tpr",),
    "steps": ("T", "k", "compositions", "num_steps", "iterations", "count"),
    "max_grad_norm": ("C", "clip", "clipping_norm", "l2_norm_clip"),
}


def _require(good: bool, name: str, value: object, expected: str) -> None:
    if not good:
        raise ValueError(f"Expected {name} {expected}, got {name}={value!r}.")


def _numbers(expected: str, good: Callable[[float], bool]) -> Callable[..., None]:
    """Return a function that raises unless every value is a real number for which `good` holds."""

    def check(**values: float) -> None:
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, Real):
                raise TypeError(f"Expected {name} {expected}, got {name}={value!r}.")
            try:
                x = float(value)
            except OverflowError:
                x = -math.inf if value < 0 else math.inf
            _require(good(x), name, value, expected)

    return check


positive = _numbers("> 0 and finite", lambda x: 0 < x < math.inf)
non_negative = _numbers(">= 0 and finite", lambda x: 0 <= x < math.inf)
probability = _numbers("in (0, 1)", lambda x: 0 < x < 1)
rate = _numbers("in (0, 1]", lambda x: 0 < x <= 1)


def between(lower: float, upper: float, **values: float) -> None:
    """Raise unless every value lies in [lower, upper]."""
    _numbers(f"in [{lower:g}, {upper:g}]", lambda x: lower <= x <= upper)(**values)


def scale(*, zero: bool = False, **values: float) -> None:
    """Raise unless every value lies in [1e-50, 1e50]; if `zero`, a value may also be 0."""
    expected = ("0 or " if zero else "") + "in [1e-50, 1e50]"
    _numbers(expected, lambda x: 1e-50 <= x <= 1e50 or (zero and x == 0))(**values)


def instance(cls: type, **values: object) -> None:
    """Raise TypeError unless every value is an instance of `cls`."""
    for name, value in values.items():
        if not isinstance(value, cls):
            kind = ("an " if cls.__name__[0] in "AEIOU" else "a ") + cls.__name__
            raise TypeError(f"Expected {name} to be {kind}, got {name}={value!r}.")


def integer(*, minimum: int, maximum: float = math.inf, **values: int) -> None:
    """Raise unless every value is a whole number in [minimum, maximum]."""
    upper = "" if maximum == math.inf else f" and <= {maximum:g}"
    expected = f"a whole number >= {minimum}{upper}"
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"Expected {name} {expected}, got {name}={value!r}.")
        _require(minimum <= int(value) <= maximum, name, value, expected)


def one_of(choices: Collection[str], **values: str) -> None:
    """Raise unless every value is among `choices`."""
    for name, value in values.items():
        _require(value in choices, name, value, "one of " + ", ".join(sorted(choices)))


def unsupported(what: str, why: str) -> NotImplementedError:
    """Return a NotImplementedError for a combination that no theorem covers."""
    return NotImplementedError(f"{what} is not supported: {why}")


class NamesParameters(ABCMeta):
    """Metaclass that suggests a parameter in the TypeError for an unknown keyword."""

    if not TYPE_CHECKING:  # so that type checkers read the parameters of __init__

        def __call__(cls, *args, **keywords):
            known_parameters(cls.__name__, _parameters(cls.__init__), keywords)
            return super().__call__(*args, **keywords)

    @property
    def __signature__(cls) -> inspect.Signature:
        """Signature of `__init__` for `help`, which would otherwise show that of `__call__`."""
        signature = inspect.signature(cls.__init__)
        return signature.replace(parameters=[*signature.parameters.values()][1:])


def names_parameters(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function to suggest a parameter in the TypeError for an unknown keyword."""

    @wraps(function)
    def checked(*args: P.args, **keywords: P.kwargs) -> R:
        known_parameters(function.__name__, _parameters(function), keywords)
        return function(*args, **keywords)

    return checked


def known_parameters(owner: str, parameters: Collection[str], keywords: Iterable[str]) -> None:
    """Raise TypeError for an unknown keyword, suggesting the nearest parameter."""
    for name in keywords:
        if name not in parameters:
            meant = [p for p in parameters if name in _SYNONYMS.get(p, ())]
            meant = meant or difflib.get_close_matches(name, parameters, n=1, cutoff=0.6)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            names = ", ".join(parameters)
            raise TypeError(f"Expected {names} as keywords of {owner}, got {name}{hint}")


@cache
def _parameters(function: Callable) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(function).parameters if name != "self")
