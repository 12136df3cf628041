"""Formulas that are one slip of the pen away from an entry of the book."""

import re
from collections.abc import Iterator
from itertools import chain

from dplearn.teaching.book.kit.expression import Expression, Step

# What is undone: a sign or a number for another, ...
_FOR = {"+": "-", "-": "+", "*": "/", "/": "*", 1.0: 2.0, 2.0: 1.0, "exp": "expm1"}
_FOR |= {"log10": "log", "log2": "log"}
_NAMES = {"*": "·", "/": "a fraction bar", "-": "−", 1.0: "1", 2.0: "2", "expm1": "exp(…) − 1"}
# ... what was lost behind a part of the formula, ...
_LOST = {
    "a root more": (Step("sqrt", 1),),
    "a square more": (Step(2.0), Step("**", 2)),
    "a factor 2 more": (Step(2.0), Step("*", 2)),
    "a divisor 2 more": (Step(2.0), Step("/", 2)),
    "− 1 more": (Step(1.0), Step("-", 2)),
}
# ... and what was added.
_ADDED = {
    "sqrt": "one root less",
    "minus": "one minus less",
    "log": "one logarithm less",
    "exp": "one exponential less",
}
# A formula with fewer steps is a slip away from many.
_LEAST = 6


def undone(formula: Expression) -> Iterator[tuple[Expression, str]]:
    """The formulas of which this is a slip, each with what it has and this has not."""
    steps = formula.program
    if len(steps) < _LEAST:
        return
    for k, (what, inputs) in enumerate(steps):
        before, behind = steps[:k], steps[k + 1 :]
        if (right := _FOR.get(what)) is not None:
            text = f"{_NAMES.get(right, right)} in place of {_NAMES.get(what, what)}"
            yield Expression(formula.text, (*before, Step(right, inputs), *behind)), text
        if inputs == 1 and what in _ADDED:
            yield Expression(formula.text, (*before, *behind)), _ADDED[what]
        if (what, inputs) == ("**", 2) and not steps[k - 1].inputs:
            yield Expression(formula.text, (*before[:-1], *behind)), "no power there"
        alike = [j for j, step in enumerate(steps) if _stem(step) == _stem(steps[k])]
        if alike[0] == k or not _stem(steps[k]).endswith("_"):
            at = alike if _stem(steps[k]).endswith("_") else [k]
            for text, lost in _LOST.items():
                parts = ((step, *lost) if j in at else (step,) for j, step in enumerate(steps))
                yield Expression(formula.text, tuple(chain.from_iterable(parts))), text


def _stem(step: Step) -> str:
    """A numbered letter without its number, so that all of them are edited alike."""
    return re.sub("(?<=_)[1-9]$", "", str(step.what))
