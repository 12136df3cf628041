"""Guess first, look later: guesses are kept in the kernel's memory and shown beside the truth."""

from collections.abc import Mapping
from typing import Any

from dplearn.classroom._numbers import read_number
from dplearn.classroom.display import show

_guesses: dict[str, float] = {}


def predict(name: str, value: Any) -> None:
    """Note the guess `value` for the quantity `name`; None means no guess yet.

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
    if number is None:
        print(f"{name}: {problem}")
        return
    _guesses[name] = number
    print(f"{name}: your guess {number:.4g} is noted.")


def guess(name: str) -> float | None:
    """Guess noted for `name`, or None."""
    return _guesses.get(name)


def reveal(name: str, *, truth: float, others: Mapping[str, float] | None = None) -> None:
    """Draw the truth > 0, the guess for `name` and `others` on one logarithmic line.

    `others` are further values > 0 worth comparing, such as what a textbook prints.
    """
    from dplearn.figures import number_line

    points = {"truth": truth, **(others or {})}
    value = guess(name)
    if value is not None and value > 0:
        points["your guess"] = value
    values = ", ".join(f"{label} {x:.4g}" for label, x in points.items())
    show(number_line(points, title=f"{name}: {_verdict(value, truth)}"), f"{name}: {values}.")


def _verdict(value: float | None, truth: float) -> str:
    """One clause about how far off the guess was."""
    if value is None:
        return f"it is {truth:.4g}"
    if value <= 0:
        return f"it is {truth:.4g}; your guess {value:.4g} is not positive"
    factor = max(value / truth, truth / value)
    if factor < 1.05:
        return f"it is {truth:.4g}, and you knew"
    side = "too large" if value > truth else "too small"
    return f"it is {truth:.4g}; your guess was {factor:.2g} times {side}"
