"""All wording of errors about arguments: the keyword becomes the name in the message."""

import math
from collections.abc import Collection
from numbers import Integral, Real


def _number(name: str, value: object, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"Expected {name} {expected}, got {name}={value!r}.")
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def _require(good: bool, name: str, value: object, expected: str) -> None:
    if not good:
        raise ValueError(f"Expected {name} {expected}, got {name}={value!r}.")


def positive(**values: float) -> None:
    """Raise unless every value is a finite number > 0."""
    for name, value in values.items():
        x = _number(name, value, "> 0")
        _require(x > 0 and math.isfinite(x), name, value, "> 0 and finite")


def non_negative(**values: float) -> None:
    """Raise unless every value is a finite number >= 0."""
    for name, value in values.items():
        x = _number(name, value, ">= 0")
        _require(x >= 0 and math.isfinite(x), name, value, ">= 0 and finite")


def scale(*, zero: bool = False, **values: float) -> None:
    """Raise unless every value, squared or inverted, is a number; 0 passes where it may."""
    expected = ("0 or " if zero else "") + "in [1e-50, 1e50]"
    for name, value in values.items():
        x = _number(name, value, expected)
        _require(1e-50 <= x <= 1e50 or (zero and x == 0), name, value, expected)


def instance(cls: type, **values: object) -> None:
    """Raise unless every value is an instance of the class, not the class or its name."""
    for name, value in values.items():
        if not isinstance(value, cls):
            kind = ("an " if cls.__name__[0] in "AEIOU" else "a ") + cls.__name__
            raise TypeError(f"Expected {name} to be {kind}, got {name}={value!r}.")


def probability(**values: float) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    for name, value in values.items():
        x = _number(name, value, "in (0, 1)")
        _require(0 < x < 1, name, value, "in (0, 1)")


def rate(**values: float) -> None:
    """Raise unless every value lies in (0, 1]."""
    for name, value in values.items():
        x = _number(name, value, "in (0, 1]")
        _require(0 < x <= 1, name, value, "in (0, 1]")


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
    """The error for a combination that no theorem here covers."""
    return NotImplementedError(f"{what} is not supported: {why}")
