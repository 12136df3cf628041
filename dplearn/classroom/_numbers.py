"""Read what a student typed as a number, and write numbers for students."""

from typing import Any

import numpy as np

_LONGEST = 88  # characters of a value in a counterexample


def read_number(value: Any) -> tuple[float | None, str]:
    """Number that `value` stands for, or None and a sentence on what to type instead."""
    if isinstance(value, str):
        return None, f"{value!r} is text; write the number without quotes."
    if callable(value):
        return None, "this is a function; call it and pass the number it returns."
    if isinstance(value, (bool, np.bool_)):
        return None, f"{value} is a truth value; a number is expected."
    try:
        array = as_array(value)
    except OverflowError:
        return None, "this number is larger than 1e308; write one that a float can hold."
    except (TypeError, ValueError, RuntimeError):
        return None, f"{type(value).__name__} is no number; write one such as 0.25."
    if array.size != 1:
        return None, f"one number is expected, these are {array.size}."
    number = float(array.reshape(()))
    if np.isnan(number):
        return None, "nan is not a number; look for 0/0 or the log of a negative number."
    return number, ""


def as_array(value: Any) -> np.ndarray:
    """The numbers in `value`, a tensor with a gradient among what is understood."""
    return np.asarray(value.detach() if hasattr(value, "detach") else value, dtype=float)


def written(number: float) -> str:
    """A number in four digits, and whole numbers below a million in full."""
    whole = abs(number) < 1e6 and number == round(number)
    return f"{number + 0.0:.0f}" if whole else f"{number:.4g}"


def written_value(value: Any, digits: int = 6) -> str:
    """`value` on one line, cut where it is long."""
    text = _in_digits(value, digits)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _in_digits(value: Any, digits: int) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(_in_digits(each, digits) for each in value))}}}"
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float, np.number)):
        return f"{value:.{digits}g}" if abs(value) < 1e15 or value != value else str(value)
    if isinstance(value, dict):
        rows = (f"{_in_digits(k, digits)}: {_in_digits(v, digits)}" for k, v in value.items())
        return f"{{{', '.join(rows)}}}"
    if isinstance(value, (list, tuple)):
        opened, closed = "[]" if isinstance(value, list) else "()"
        return f"{opened}{', '.join(_in_digits(each, digits) for each in value)}{closed}"
    return getattr(value, "__name__", None) or str(value)
