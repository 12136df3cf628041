"""The pictures of one pair in words: the sentence, the titles, and what a screen reader hears."""

import math
from collections.abc import Callable

from dplearn.app.kit.run_fields import ADJACENCY
from dplearn.app.pages.mechanisms import answers
from dplearn.app.pages.mechanisms.answers import Bounds, View
from dplearn.figures import text
from dplearn.ground.guarantee import round_down

# Brackets narrower than this, relative, are as good as one number here.
_SHARP = 1e-3
# What an attacker detects, by who differs between P and Q.
_DETECTED = {
    "remove": "of the records that are in",
    "add": "of the records that are missing",
    "replace": "of the replaced records",
}
_NAMES = {
    "remove": ("P: record in", "Q: record out"),
    "add": ("P: record out", "Q: record in"),
    "replace": ("P: one record", "Q: another instead"),
}


def assumptions(view: View) -> str:
    """What all of it assumes."""
    conditions = dict.fromkeys(a for m, _ in view.pair.mechanism.parts() for a in m.assumptions)
    return f"True if: {'; '.join(conditions)}."


def names_of(view: View) -> tuple[str, str]:
    """What P and Q are."""
    return _NAMES[view.role]


def sentence(view: View) -> str:
    """What an attacker detects, and what it takes in delta."""
    rate, delta = view.detected, view.delta
    in_percent = lambda value: f"{round_down(100 * value, 3)} %"
    in_digits = lambda value: round_down(value, 4)
    whose = "the" if view.pair.exact else "the dominating pair's"
    neighbours = ADJACENCY.options[view.pair.adjacency].lower()
    return (
        f"An attacker who accepts **{_percent(view.rate)} false alarms** detects at most "
        f"**{_percent(rate.upper)}** {_DETECTED[view.role]} ({_kind(rate, in_percent)})."
        f" At **ε\u00a0=\u00a0{view.epsilon:g}** it takes "
        f"**δ\u00a0{_relation(delta)}\u00a0{_number(delta.upper)}** "
        f"({_kind(delta, in_digits)}); {whose} loss exceeds ε with probability "
        f"{text.plain(answers.exceeds(view.pair, view.epsilon))}. Neighbours: {neighbours}."
    )


def titles(view: View) -> dict[str, str]:
    """A title for each picture."""
    delta, sign = _number(view.delta.upper), _relation(view.delta)
    tail = text.plain(answers.exceeds(view.pair, view.epsilon))
    alarms, caught = _percent(view.rate), _percent(view.detected.upper)
    proves = f"proves no ε at δ = {delta}"
    if not math.isinf(view.converted):
        proved = text.bound(view.converted)
        proves = f"proves ε ≤ {proved}<br>at this δ; {view.beside}: {view.epsilon:g}"
    return {
        "outputs": f"P rises above e<sup>ε</sup>·Q by the area δ = {delta}",
        "loss": f"L > ε with probability {tail}, and δ {sign} {delta}",
        "profile": f"At ε = {view.epsilon:g}: δ {sign} {delta}",
        "renyi": f"Order {view.order:g} {proves}",
        "tradeoff": f"{alarms} false alarms catch<br>at most {caught}",
    }


def alts(view: View) -> dict[str, str]:
    """Each picture for those who do not see it."""
    p, q = names_of(view)
    drawn = {
        "outputs": f"Two laws of what is released, {p} and {q}; what P has above e^ε times Q is "
        "shaded.",
        "loss": "Histogram of the privacy loss under P; above ε the part that counts in δ is "
        "filled, the rest is hatched.",
        "profile": "Curve of δ over ε on a logarithmic axis, falling.",
        "renyi": "Rényi divergence over the order, rising, and the ε that each order proves at "
        f"this δ. The divergence at order {view.order:g} is "
        f"{text.plain(answers.divergence(view.pair, view.order))} nats.",
        "tradeoff": "Curve of missed records over false alarms, falling, and the two (ε, δ) lines "
        "that touch it from below.",
    }
    bare = lambda title: title.replace("<sup>", "^").replace("</sup>", "").replace("<br>", " ")
    return {key: f"{bare(title)}. {drawn[key]}" for key, title in titles(view).items()}


def _kind(bounds: Bounds, down: Callable[[float], str]) -> str:
    """What kind of number the upper end is."""
    if bounds.lower == bounds.upper:
        return "exact"
    if bounds.lower <= 0:
        return "upper bound"
    if bounds.upper - bounds.lower <= _SHARP * bounds.upper:
        return "certified from both sides"
    return f"upper bound; a real pair gives {down(bounds.lower)}"


def _relation(bounds: Bounds) -> str:
    return "=" if bounds.lower == bounds.upper else "≤"


def _number(value: float) -> str:
    """A probability, rounded up."""
    return text.bound(value, 4)


def _percent(value: float) -> str:
    """A probability in percent, rounded up."""
    return f"{text.bound(100 * value)} %"
