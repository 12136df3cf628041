"""An entry of the formula book in words and numbers that people read."""

import inspect
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dplearn.app.kit.language import translated
from dplearn.book import Case, Formula, Interval, Refutation, Verification
from dplearn.book.kit.words import KINDS
from dplearn.book.kit.written import parse
from dplearn.figures.kit import text

STATUS = {
    "verified": "✓ verified",
    "failed": "✗ failed",
    "error": "✗ error",
    "refuted": "refuted",
    "stands": "stands: no counterexample found",
    "not yet": "not yet",
}
_ABOVE = "at its tightest {share} % above the truth"
_BELOW = "at its tightest {share} % below the truth"
_SPENT = "at {points} points in {seconds:.2f} s"
_UNSAFE = "**Claims more privacy than there is**. "
_BOTH = "**Claims more privacy than there is**, and elsewhere errs on the safe side. "
_LIMIT = "On the way to the limit the relative error goes from {first} to {last}"
# Unicode spells lambda in its own way.
GREEK = {
    unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda"): letter
    for letter in "αβγδεζηθικλμνξοπρστυφχψω"
}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def status(name: str) -> str:
    """The outcome of a check, in a word."""
    return translated(STATUS[name])


def number(value: float, digits: int = 4) -> str:
    """A number as it is written by hand: ``−2.5 · 10⁻¹⁷``."""
    if math.isnan(value):
        return translated("no value")
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
        return translated("yes" if value else "no")
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
    return re.sub(r"^(An?) ([^:]+)", r"\1 **\2**", translated(KINDS[formula.kind]))


def hypothesis(formula: Formula) -> str:
    """What is asked of the parameters, as Markdown."""
    if not formula.hypothesis:
        return translated("For all parameters.")
    if callable(formula.given):
        return translated("If: {hypothesis}", hypothesis=formula.hypothesis)
    conditions = parse(formula.given).latex.replace(r"\wedge", r"\;\text{ and }\;")
    return translated("If ${conditions}$.", conditions=conditions)


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
        error = translated("largest relative error {size}", size=size)
        return error if slack else translated("no difference beyond rounding")
    if slack == 0:
        return translated("somewhere bound and truth are equal")
    above = (kind == "upper") == (slack > 0)
    return translated(_ABOVE if above else _BELOW, share=number(100 * abs(slack), 3))


def verified(result: Verification) -> str:
    """The outcome of a check."""
    if result.status == "error":
        return f"**{status(result.status)}** {result.reason}"
    spent = translated(_SPENT, points=result.points, seconds=result.seconds)
    words = f"**{status(result.status)}** {spent}  \n{gap(result.kind, result.worst_slack)}"
    if not result.worst:
        return words
    where = translated("there: {parameters}", parameters=given(result.worst.parameters))
    return f"{words}  \n{where}"


def against(kind: str, truth: Interval) -> str:
    """What a value should have been."""
    if kind == "upper":
        return translated("at least {low} is needed", low=number(truth.low))
    if kind == "lower":
        return translated("at most {high} is true", high=number(truth.high))
    if truth.low == truth.high:
        return translated("the truth is {low}", low=number(truth.low))
    ends = {"low": number(truth.low), "high": number(truth.high)}
    return translated("the truth is from {low} to {high}", **ends)


def case(kind: str, point: Case) -> str:
    """One point, what is claimed there, and what is true."""
    at = given(point.parameters)
    where = translated("At {parameters} it", parameters=at) if at else translated("It")
    gives = translated("gives **{value}**", value=number(point.value))
    gives = translated("has no value") if math.isnan(point.value) else gives
    return f"{where} {gives}; **{against(kind, point.truth)}**."


def danger(result: Refutation) -> str:
    """On which side a refuted claim errs, and where it is harmless."""
    sides = translated("Errs on the safe side. ") if result.safe_side else ""
    if result.unsafe:
        sides = translated(_BOTH if result.safe_side else _UNSAFE)
    return sides + translated(
        "True at {share:.0f} % of the points tried.", share=100 * result.harmless
    )


def headline(kind: str, verdicts: Sequence[str], slacks: Sequence[float], claimed: bool) -> str:
    """What a picture shows, in one line."""
    judged = [(v, s) for v, s in zip(verdicts, slacks, strict=True) if v]
    if kind == "asymptotic" and len(judged) == 1 < len(slacks):
        first, last = number(abs(slacks[0]), 2), number(abs(slacks[-1]), 2)
        return translated(_LIMIT, first=first, last=last)
    wrong = [v for v, _ in judged if v != "right"]
    if not judged:
        return translated("Nothing to compare here: move a slider")
    if wrong:
        tail = translated(", on the safe side") if set(wrong) == {"safe"} else ""
        tail = translated(", and claims too much privacy") if "unsafe" in wrong else tail
        points = {"wrong": len(wrong), "judged": len(judged)}
        return translated("Wrong at {wrong} of {judged} points", **points) + tail
    many = translated("all {count} points", count=len(judged))
    where = many if len(judged) > 1 else translated("the one point")
    if claimed:
        return translated("True at {where} of this picture, and false elsewhere", where=where)
    tightest = gap(kind, min(s for _, s in judged))
    return translated("Right at {where}: {gap}", where=where, gap=tightest)
