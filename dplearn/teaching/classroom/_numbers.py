"""Parsing and formatting of numbers in students' answers, without NumPy for use in Pyodide."""

import math
from typing import Any

_LONGEST = 88  # maximum number of characters of a value in a counterexample
BEYOND = "numbers beyond 1.8e308 are infinite here; write a finite one."


def read_number(value: Any) -> tuple[float | None, str]:
    """Return (number, "") for a numeric answer, otherwise (None, what to type instead)."""
    if isinstance(value, str):
        return None, f"{value!r} is text; write the number without quotes."
    if callable(value):
        return None, "this is a function; call it and pass the number it returns."
    if isinstance(unpacked(value), bool):
        return None, f"{value} is a truth value; a number is expected."
    try:
        numbers = as_floats(value)
    except OverflowError:
        return None, BEYOND
    except (TypeError, ValueError, RuntimeError):
        return None, f"{type(value).__name__} is no number; write one such as 0.25."
    if math.prod(shape := shape_of(numbers)) != 1:
        return None, f"one number is expected, these are {math.prod(shape)}."
    for _ in shape:
        (numbers,) = numbers
    if math.isnan(numbers):
        return None, "nan is not a number; look for 0/0 or the log of a negative number."
    return numbers, ""


def as_floats(value: Any) -> Any:
    """Return a number, sequence, array or tensor as a float or nested lists of floats."""
    value = unpacked(value.detach() if hasattr(value, "detach") else value)
    if not isinstance(value, (list, tuple, range)):
        return float(value)
    rows = [as_floats(each) for each in value]
    if len({shape_of(row) for row in rows}) > 1:
        raise ValueError("Expected rows of equal shape.")
    return rows


def unpacked(value: Any) -> Any:
    """Convert an array to lists of Python numbers; return other values unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def shape_of(numbers: Any) -> tuple[int, ...]:
    """Return the shape of nested lists of floats, () for one float."""
    if not isinstance(numbers, list):
        return ()
    return (len(numbers), *(shape_of(numbers[0]) if numbers else ()))


def written(number: float) -> str:
    """Format a number in four significant digits; write whole numbers below a million in full."""
    whole = abs(number) < 1e6 and number == round(number)
    return f"{number + 0.0:.0f}" if whole else f"{number:.4g}"


def written_value(value: Any, digits: int = 6) -> str:
    """Format a value as text on one line, truncated if it is long."""
    text = _in_digits(value, digits)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _in_digits(value: Any, digits: int) -> str:
    value = unpacked(value)
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(_in_digits(each, digits) for each in value))}}}"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return f"{value:.{digits}g}" if abs(value) < 1e15 or value != value else str(value)
    if isinstance(value, dict):
        rows = (f"{_in_digits(k, digits)}: {_in_digits(v, digits)}" for k, v in value.items())
        return f"{{{', '.join(rows)}}}"
    if isinstance(value, (list, tuple)):
        opened, closed = "[]" if isinstance(value, list) else "()"
        return f"{opened}{', '.join(_in_digits(each, digits) for each in value)}{closed}"
    return getattr(value, "__name__", None) or str(value)
