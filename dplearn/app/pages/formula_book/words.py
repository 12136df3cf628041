"""An entry of the formula book in words and numbers that people read."""

import inspect
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dplearn.book import Case, Formula, Interval, Refutation, Verification
from dplearn.book.kit.words import KINDS
from dplearn.figures import text
from dplearn.ground.expression import parse

STATUS = {
    "verified": "✓ verified",
    "failed": "✗ failed",
    "error": "✗ error",
    "refuted": "refuted",
    "stands": "stands: no counterexample found",
}
# Unicode spells lambda in its own way.
GREEK = {
    unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda"): letter
    for letter in "αβγδεζηθικλμνξοπρστυφχψω"
}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """A number as it is written by hand: ``−2.5 · 10⁻¹⁷``."""
    if math.isnan(value):
        return "no value"
    sign, value = "−" if value < 0 else "", abs(value)
    if math.isinf(value):
        return f"{sign}∞"
    if value == 0 or 1e-3 <= value < 1e6:
        whole = value >= 10**digits or value == round(value)
        return sign + (text.whole(value) if whole else f"{value:.{digits}g}")
    lead, _, power = f"{value:.{digits - 1}e}".partition("e")
    lead = lead.rstrip("0").rstrip(".") if "." in lead else lead
    ten = f"10{str(int(power)).translate(_RAISED)}"
    return sign + (ten if lead == "1" else f"{lead} · {ten}")


def spelled(value: Any) -> str:
    """A parameter: a number, numbers in brackets, or a word."""
    if isinstance(value, np.ndarray | list | tuple):
        return f"({', '.join(spelled(x) for x in value)})"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        return number(float(value))
    return str(value).replace("_", " ")


def label(name: str) -> str:
    """A keyword as words, with Greek letters.

    Examples
    --------
    >>> label("noise_multiplier"), label("epsilon"), label("delta_0")
    ('noise multiplier', 'ε', 'δ 0')
    """
    return " ".join(GREEK.get(word, word) for word in name.split("_"))


def given(parameters: Mapping[str, Any]) -> str:
    """Parameters and their values."""
    return ", ".join(f"{label(n)} = {spelled(x)}" for n, x in parameters.items())


def wrapped(parameters: Mapping[str, Any]) -> str:
    """The same for a label on a picture: a line each."""
    return "<br>".join(f"{label(n)} = {spelled(x)}"[:90] for n, x in parameters.items())


def kind_of(formula: Formula) -> str:
    """What the value is of the truth, as Markdown."""
    return re.sub(r"^(An?) ([^:]+)", r"\1 **\2**", KINDS[formula.kind])


def hypothesis(formula: Formula) -> str:
    """What is asked of the parameters, as Markdown."""
    if not formula.hypothesis:
        return "For all parameters."
    if callable(formula.given):
        return f"If: {formula.hypothesis}"
    conditions = parse(formula.given).latex.replace(r"\wedge", r"\;\text{ and }\;")
    return f"If ${conditions}$."


def as_python(formula: Formula, parameters: Mapping[str, Any]) -> str:
    """Lines that import the function and call it; the result stands in a comment."""
    function = formula.function
    names = inspect.signature(function).parameters
    plain = lambda x: x.tolist() if isinstance(x, np.ndarray | np.generic) else x
    handed = ", ".join(f"{n}={plain(parameters[n])!r}" for n in names if n in parameters)
    value = formula.value({**parameters})
    return (
        f"from dplearn.book import {function.__name__}\n\n"
        f"{function.__name__}({handed})  # {value:.6g}"
    )


def signature(formula: Formula) -> str:
    """Name and parameters of the function, without the types."""
    typed = inspect.signature(formula.function)
    bare = [p.replace(annotation=p.empty) for p in typed.parameters.values()]
    plain = typed.replace(parameters=bare, return_annotation=typed.empty)
    return f"{formula.function.__name__}{plain}"


def gap(kind: str, slack: float) -> str:
    """How far a value is from the truth, in words."""
    if kind in ("identity", "asymptotic"):
        size = number(abs(slack), 3)
        return f"largest relative error {size}" if slack else "no difference beyond rounding"
    if slack == 0:
        return "somewhere bound and truth are equal"
    side = "above" if (kind == "upper") == (slack > 0) else "below"
    return f"at its tightest {number(100 * abs(slack), 3)} % {side} the truth"


def verified(result: Verification) -> str:
    """The outcome of a check."""
    if result.status == "error":
        return f"**{STATUS[result.status]}** {result.reason}"
    where = f"  \nthere: {given(result.worst.parameters)}" if result.worst else ""
    return (
        f"**{STATUS[result.status]}** at {result.points} points in {result.seconds:.2f} s  \n"
        f"{gap(result.kind, result.worst_slack)}{where}"
    )


def against(kind: str, truth: Interval) -> str:
    """What a value should have been."""
    if kind == "upper":
        return f"at least {number(truth.low)} is needed"
    if kind == "lower":
        return f"at most {number(truth.high)} is true"
    if truth.low == truth.high:
        return f"the truth is {number(truth.low)}"
    return f"the truth is from {number(truth.low)} to {number(truth.high)}"


def case(kind: str, point: Case) -> str:
    """One point, what is claimed there, and what is true."""
    where = f"At {given(point.parameters)} it" if point.parameters else "It"
    gives = "has no value" if math.isnan(point.value) else f"gives **{number(point.value)}**"
    return f"{where} {gives}; **{against(kind, point.truth)}**."


def danger(result: Refutation) -> str:
    """On which side a refuted claim errs, and where it is harmless."""
    sides = "Errs on the safe side. " if result.safe_side else ""
    if result.unsafe:
        elsewhere = ", and elsewhere errs on the safe side" if result.safe_side else ""
        sides = f"**Claims more privacy than there is**{elsewhere}. "
    return f"{sides}True at {100 * result.harmless:.0f} % of the points tried."


def headline(kind: str, verdicts: Sequence[str], slacks: Sequence[float], claimed: bool) -> str:
    """What a picture shows, in one line."""
    judged = [(v, s) for v, s in zip(verdicts, slacks, strict=True) if v]
    if kind == "asymptotic" and len(judged) == 1 < len(slacks):
        first, last = number(abs(slacks[0]), 2), number(abs(slacks[-1]), 2)
        return f"On the way to the limit the relative error goes from {first} to {last}"
    wrong = [v for v, _ in judged if v != "right"]
    if not judged:
        return "Nothing to compare here: move a slider"
    if wrong:
        tail = ", on the safe side" if set(wrong) == {"safe"} else ""
        tail = ", and claims too much privacy" if "unsafe" in wrong else tail
        return f"Wrong at {len(wrong)} of {len(judged)} points{tail}"
    where = f"all {len(judged)} points" if len(judged) > 1 else "the one point"
    if claimed:
        return f"True at {where} of this picture, and false elsewhere"
    return f"Right at {where}: {gap(kind, min(s for _, s in judged))}"
