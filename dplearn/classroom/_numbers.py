"""Read what a student typed as a number, and write numbers for students."""

from typing import Any

import numpy as np


def read_number(value: Any) -> tuple[float | None, str]:
    """Number that `value` stands for, or None and a sentence on what to type instead."""
    if isinstance(value, str):
        return None, f"{value!r} is text; write the number without quotes."
    if callable(value):
        return None, "this is a function; call it and pass the number it returns."
    if isinstance(value, (bool, np.bool_)):
        return None, f"{value} is a truth value; a number is expected."
    try:
        array = np.asarray(value.detach() if hasattr(value, "detach") else value, dtype=float)
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


def written(number: float) -> str:
    """A number in four digits, and whole numbers below a million in full."""
    whole = abs(number) < 1e6 and number == round(number)
    return f"{number:.0f}" if whole else f"{number:.4g}"
