"""Sentences about entries of the book, in the reader's language."""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dplearn.teaching.book import Refutation, Verification
from dplearn.teaching.book.kit import expression
from dplearn.teaching.book.kit.checks import Case
from dplearn.teaching.book.kit.entry import Formula, Interval
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import KINDS

_GROUPS = {
    "A": "Divergences and definitions", "B": "Basic mechanisms", "C": "Composition",
    "D": "Conversions", "E": "Amplification", "F": "Gaussian calibration, DP-SGD noise",
    "H": "Sparse vector", "I": "Local privacy", "J": "Discrete Gaussian, Skellam",
    "K": "Gaussian DP and f-DP", "L": "Privacy loss distributions", "M": "PATE", "N": "Auditing",
    "S": "Selection and iteration",
}  # fmt: skip
# Words for verdicts on published figures, and for outcomes of checks.
VERDICTS = {"reproduces": "reproduces", "within_one_percent": "within one percent"}
VERDICTS |= {"does_not_reproduce": "does not reproduce", "not_checkable": "cannot be checked"}
STATUS = {"verified": "✓ verified", "failed": "✗ failed", "error": "✗ error", "refuted": "refuted"}
STATUS |= {"stands": "stands: no counterexample found", "not yet": "not yet"}
_ABOVE = "at its tightest {share} % above the truth"
_BELOW = "at its tightest {share} % below the truth"
_SPENT = "at {points} points in {seconds:.2f} s"
_UNSAFE = "**Claims more privacy than there is**. "
_BOTH = "**Claims more privacy than there is**, and elsewhere errs on the safe side. "
_WRONG = "Wrong at {wrong} of {judged} points"
_HERE = "True at {where} of this picture, and false elsewhere"
_LIMIT = "On the way to the limit the relative error goes from {first} to {last}"
GREEK = {name: letter for letter, name in reversed(expression.GREEK.items())}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def group_name(group: str) -> str:
    """Return the letter and theme of a group of the book: ``C · Composition``."""
    return f"{group[2:]} · {_GROUPS.get(group[2:], 'More')}"


def label(name: str) -> str:
    """Return the name of a parameter as words, with Greek letters.

    Examples
    --------
    >>> label("noise_multiplier"), label("epsilon"), label("delta_0")
    ('noise multiplier', 'ε', 'δ 0')
    """
    return " ".join(GREEK.get(word, word) for word in name.split("_"))


def signature(formula: Formula) -> str:
    """Return the name and parameters of a formula's function, without types."""
    typed = inspect.signature(formula.function)
    bare = [p.replace(annotation=p.empty) for p in typed.parameters.values()]
    plain = typed.replace(parameters=bare, return_annotation=typed.empty)
    return f"{formula.function.__name__}{plain}"


@dataclass(frozen=True)
class Wording:
    """Sentences about entries; `translated` translates a template and inserts its values."""

    translated: Callable[..., str] = str.format

    def status(self, name: str) -> str:
        """Return the words for a status such as "failed" in the reader's language."""
        return self.translated(STATUS[name])

    def number(self, value: float, digits: int = 4) -> str:
        """Return a number in mathematical notation: ``−2.5 · 10⁻¹⁷``."""
        if math.isnan(value):
            return self.translated("no value")
        sign, value = "−" if value < 0 else "", abs(value)
        if math.isinf(value):
            return f"{sign}∞"
        if value == 0 or 1e-3 <= value < 1e6:
            whole = value >= 10**digits or value == round(value)
            grouped = f"{value:,.0f}".replace(",", "\u202f")
            return sign + (grouped if whole else f"{value:.{digits}g}")
        lead, _, power = f"{value:.{digits - 1}e}".partition("e")
        lead = lead.rstrip("0").rstrip(".") if "." in lead else lead
        ten = f"10{str(int(power)).translate(_RAISED)}"
        return sign + (ten if lead == "1" else f"{lead} · {ten}")

    def spelled(self, value: Any) -> str:
        """Return a parameter's value as text: a number, numbers in brackets, or a word."""
        if isinstance(value, np.ndarray | list | tuple):
            return f"({', '.join(self.spelled(x) for x in value)})"
        if isinstance(value, bool | np.bool_):
            return self.translated("yes" if value else "no")
        if isinstance(value, int | float | np.number):
            return self.number(float(value))
        return str(value).replace("_", " ")

    def given(self, parameters: Mapping[str, Any], mark: str = ", ", most: int = 999) -> str:
        """Return the parameters and their values, each with at most `most` characters."""
        return mark.join(f"{label(n)} = {self.spelled(x)}"[:most] for n, x in parameters.items())

    def kind_of(self, formula: Formula) -> str:
        """Return a sentence on the kind of a formula (bound, identity or limit) as Markdown."""
        return re.sub(r"^(An?) ([^:]+)", r"\1 **\2**", self.translated(KINDS[formula.kind]))

    def hypothesis(self, formula: Formula) -> str:
        """Return the hypothesis of a formula as Markdown."""
        if not formula.hypothesis:
            return self.translated("For all parameters.")
        if callable(formula.given):
            return self.translated("If: {hypothesis}", hypothesis=formula.hypothesis)
        conditions = parse(formula.given).latex.replace(r"\wedge", r"\;\text{ and }\;")
        return self.translated("If ${conditions}$.", conditions=conditions)

    def gap(self, kind: str, slack: float) -> str:
        """Return a phrase on how far a formula's value is from the true value."""
        if kind in ("identity", "asymptotic"):
            size = self.number(abs(slack), 3)
            error = self.translated("largest relative error {size}", size=size)
            return error if slack else self.translated("no difference beyond rounding")
        if slack == 0:
            return self.translated("somewhere bound and truth are equal")
        above = (kind == "upper") == (slack > 0)
        return self.translated(_ABOVE if above else _BELOW, share=self.number(100 * abs(slack), 3))

    def verified(self, result: Verification) -> str:
        """Return the outcome of a verification as Markdown."""
        if result.status == "error":
            return f"**{self.status(result.status)}** {result.reason}"
        spent = self.translated(_SPENT, points=result.points, seconds=result.seconds)
        gap = self.gap(result.kind, result.worst_slack)
        lines = [f"**{self.status(result.status)}** {spent}", gap]
        if result.worst:
            at = self.given(result.worst.parameters)
            lines.append(self.translated("there: {parameters}", parameters=at))
        return "  \n".join(lines)

    def against(self, kind: str, truth: Interval) -> str:
        """Describe the true value, or for a bound the least or largest valid value."""
        if kind == "upper":
            return self.translated("at least {low} is needed", low=self.number(truth.low))
        if kind == "lower":
            return self.translated("at most {high} is true", high=self.number(truth.high))
        if truth.low == truth.high:
            return self.translated("the truth is {low}", low=self.number(truth.low))
        low, high = self.number(truth.low), self.number(truth.high)
        return self.translated("the truth is from {low} to {high}", low=low, high=high)

    def case(self, kind: str, point: Case) -> str:
        """Return a sentence on the claimed and the true value at one point."""
        at = self.given(point.parameters)
        where = self.translated("At {parameters} it" if at else "It", parameters=at)
        gives = self.translated("gives **{value}**", value=self.number(point.value))
        gives = self.translated("has no value") if math.isnan(point.value) else gives
        return f"{where} {gives}; **{self.against(kind, point.truth)}**."

    def danger(self, result: Refutation) -> str:
        """Describe on which side a refuted claim errs, and at which share of points it is true."""
        sides = self.translated("Errs on the safe side. ") if result.safe_side else ""
        if result.unsafe:
            sides = self.translated(_BOTH if result.safe_side else _UNSAFE)
        share = 100 * result.harmless
        return sides + self.translated("True at {share:.0f} % of the points tried.", share=share)

    def headline(self, place: Any, points: Sequence[Any]) -> str:
        """Return a headline that summarises the comparisons `points` of a picture of `place`."""
        kind = place.claim.kind
        judged = [p for p in points if p.verdict]
        if kind == "asymptotic" and len(judged) == 1 < len(points):
            first, last = (self.number(abs(points[k].slack), 2) for k in (0, -1))
            return self.translated(_LIMIT, first=first, last=last)
        wrong = [p.verdict for p in judged if p.verdict != "right"]
        if not judged:
            return self.translated("Nothing to compare here: move a slider")
        if wrong:
            tail = self.translated(", on the safe side") if set(wrong) == {"safe"} else ""
            tail = self.translated(", and claims too much privacy") if "unsafe" in wrong else tail
            return self.translated(_WRONG, wrong=len(wrong), judged=len(judged)) + tail
        many = self.translated("all {count} points", count=len(judged))
        where = many if len(judged) > 1 else self.translated("the one point")
        if place.misprint != "none":
            return self.translated(_HERE, where=where)
        tightest = self.gap(kind, min(p.slack for p in judged))
        return self.translated("Right at {where}: {gap}", where=where, gap=tightest)
