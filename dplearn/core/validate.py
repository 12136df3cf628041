"""All wording of errors about arguments: the keyword becomes the name in the message."""

import math
from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real


def _require(good: bool, name: str, value: object, expected: str) -> None:
    if not good:
        raise ValueError(f"Expected {name} {expected}, got {name}={value!r}.")


def _numbers(
    values: Mapping[str, object], expected: str, good: Callable[[float], bool], more: str = ""
) -> None:
    """Raise unless every value is a real number, not a truth value, and a good one."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"Expected {name} {expected}, got {name}={value!r}.")
        try:
            x = float(value)
        except OverflowError:
            x = -math.inf if value < 0 else math.inf
        _require(good(x), name, value, expected + more)


def positive(**values: float) -> None:
    """Raise unless every value is a finite number > 0."""
    _numbers(values, "> 0", lambda x: 0 < x < math.inf, " and finite")


def non_negative(**values: float) -> None:
    """Raise unless every value is a finite number >= 0."""
    _numbers(values, ">= 0", lambda x: 0 <= x < math.inf, " and finite")


def probability(**values: float) -> None:
    """Raise unless every value lies strictly between 0 and 1."""
    _numbers(values, "in (0, 1)", lambda x: 0 < x < 1)


def rate(**values: float) -> None:
    """Raise unless every value lies in (0, 1]."""
    _numbers(values, "in (0, 1]", lambda x: 0 < x <= 1)


def between(lower: float, upper: float, **values: float) -> None:
    """Raise unless every value lies in [lower, upper]."""
    _numbers(values, f"in [{lower:g}, {upper:g}]", lambda x: lower <= x <= upper)


def scale(*, zero: bool = False, **values: float) -> None:
    """Raise unless every value, squared or inverted, is a number; 0 passes where it may."""
    expected = ("0 or " if zero else "") + "in [1e-50, 1e50]"
    _numbers(values, expected, lambda x: 1e-50 <= x <= 1e50 or (zero and x == 0))


def instance(cls: type, **values: object) -> None:
    """Raise unless every value is an instance of the class, not the class or its name."""
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
    """NotImplementedError for a combination that no theorem here covers, to be raised."""
    return NotImplementedError(f"{what} is not supported: {why}")
