"""Students' guesses of results, stored in the kernel's memory and drawn beside the results."""

import math
from collections.abc import Mapping
from typing import Any

from dplearn.core import validate
from dplearn.core.guarantee import round_down, round_up
from dplearn.teaching.classroom._numbers import BEYOND, read_number, written
from dplearn.teaching.classroom.display import show

_guesses: dict[str, float] = {}


def predict(name: str, value: Any) -> None:
    """Store a student's guess of a quantity and print a confirmation.

    Parameters
    ----------
    name : str, quantity to be guessed
    value : Any, the guess, a finite number; None is no guess yet

    Examples
    --------
    >>> predict("epsilon", 3)
    epsilon: your guess 3 is noted.
    >>> predict("epsilon", None)
    epsilon: no guess yet. Put a number in place of None and run the cell again.
    """
    _guesses.pop(name, None)
    if value is None:
        print(f"{name}: no guess yet. Put a number in place of None and run the cell again.")
        return
    number, problem = read_number(value)
    if number is None or math.isinf(number):
        print(f"{name}: {problem or BEYOND}")
    else:
        _guesses[name] = number
        print(f"{name}: your guess {written(number)} is noted.")


def guess(name: str) -> float | None:
    """Return the stored guess for the quantity `name`, or None without one."""
    return _guesses.get(name)


# Label of a bound, and the function that rounds it to the safe side.
_BOUNDS = {"upper": ("proved at most", round_up), "lower": ("proved at least", round_down)}
# A guess that is wrong by a larger factor is not drawn, because the axis would be too long.
_TOO_FAR = 1e6


def reveal(
    name: str, *, truth: float, kind: str = "exact", others: Mapping[str, float] | None = None
) -> None:
    """Draw a result, the student's guess and other values on one logarithmic axis.

    Parameters
    ----------
    name : str, name that `predict` gave to the guess
    truth : float, result, or a proved bound on it, > 0
    kind : "exact", or "upper" or "lower" if `truth` is a bound, which is rounded to the safe side
    others : Mapping of str to float > 0, further values by name, such as those of a textbook
    """
    from dplearn.teaching.figures import number_line

    validate.one_of(("exact", *_BOUNDS), kind=kind)
    label, rounded = _BOUNDS.get(kind, ("truth", written))
    points = {label: float(rounded(truth)), **(others or {})}
    value = guess(name)
    if value is not None and truth / _TOO_FAR < value < truth * _TOO_FAR:
        points["your guess"] = value
    values = ", ".join(f"{label} {written(x)}" for label, x in points.items())
    stated = f"{label if kind in _BOUNDS else 'it is'} {rounded(truth)}{_verdict(value, truth)}"
    show(number_line(points, title=f"{name}: {stated}"), f"{name}: {values}.")


def _verdict(value: float | None, truth: float) -> str:
    if value is None:
        return ""
    if value <= 0:
        return f"; your guess {written(value)} is not positive"
    factor = max(value / truth, truth / value)
    if factor < 1.05:
        return ", and you knew"
    side = "too large" if value > truth else "too small"
    times = f"{factor:.2g}" if factor < _TOO_FAR else "more than a million"
    return f"; your guess was {times} times {side}"
