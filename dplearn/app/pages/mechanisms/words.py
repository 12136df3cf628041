"""The pictures of one pair in words: the sentence, the titles, and what a screen reader hears."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dplearn.app.pages.mechanisms import answers as ask
from dplearn.app.pages.mechanisms.answers import Bounds, Pair
from dplearn.app.pages.mechanisms.fields import ADJACENCY
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


@dataclass(frozen=True)
class View:
    """One pair, and where on its curves one looks.

    Parameters
    ----------
    pair : Pair
    epsilon : float
        In nats.
    order : float
        Of the Rényi divergence.
    rate : float
        False positive rate of the attacker.
    """

    pair: Pair
    epsilon: float
    order: float
    rate: float

    @property
    def delta(self) -> Bounds:
        """Delta at epsilon."""
        return ask.delta(self.pair, self.epsilon)

    @property
    def detected(self) -> Bounds:
        """True positive rate of the best attacker."""
        return ask.detected(self.pair, self.rate)

    @property
    def converted(self) -> float:
        """Epsilon that the order proves at that delta."""
        return ask.converted(self.pair, self.order, self.delta.upper)

    @property
    def beside(self) -> str:
        """What the epsilon in use is at that delta."""
        return "exact" if self.pair.exact else "profile"

    @property
    def role(self) -> str:
        """Who differs between P and Q."""
        return "replace" if self.pair.adjacency == "replace_one" else self.pair.direction

    @property
    def names(self) -> tuple[str, str]:
        """What P and Q are."""
        return _NAMES[self.role]


def in_words(view: View) -> str:
    """What the attacker can do, what delta is, what kind either number is, for which neighbours."""
    found, delta = view.detected, view.delta
    whose = "the" if view.pair.exact else "the dominating pair's"
    neighbours = ADJACENCY.options[view.pair.adjacency].lower()
    return (
        f"An attacker who accepts **{percent(view.rate)} false alarms** detects at most "
        f"**{percent(found.upper)}** {_DETECTED[view.role]} ({_kind(found, percent_down)})."
        f" At **ε\u00a0=\u00a0{view.epsilon:g}** it takes "
        f"**δ\u00a0{_relation(delta)}\u00a0{number(delta.upper)}** "
        f"({_kind(delta, number_down)}); {whose} loss exceeds ε with probability "
        f"{plain(ask.exceeds(view.pair, view.epsilon))}. Neighbours: {neighbours}."
    )


def assumptions(view: View) -> str:
    """What must hold of the release."""
    said = dict.fromkeys(a for m, _ in view.pair.mechanism.parts() for a in m.assumptions)
    return f"True if: {'; '.join(said)}."


def titles(view: View) -> dict[str, str]:
    """The statement of each picture."""
    delta, epsilon = number(view.delta.upper), f"{view.epsilon:g}"
    tail = plain(ask.exceeds(view.pair, view.epsilon))
    sign, caught = _relation(view.delta), percent(view.detected.upper)
    return {
        "outputs": f"P rises above e<sup>ε</sup>·Q by the area δ = {delta}",
        "loss": f"L > ε with probability {tail}, and δ {sign} {delta}",
        "profile": f"At ε = {epsilon}: δ {sign} {delta}",
        "renyi": f"Order {view.order:g} {_proves(view)}",
        "tradeoff": f"{percent(view.rate)} false alarms catch<br>at most {caught}",
    }


def alts(view: View) -> dict[str, str]:
    """Each picture for those who do not see it."""
    said = {key: _plain_text(words) for key, words in titles(view).items()}
    p, q = view.names
    drawn = {
        "outputs": f"Two laws of what is released, {p} and {q}; what P has above e^ε times Q is "
        "shaded.",
        "loss": "Histogram of the privacy loss under P; above ε the part that counts in δ is "
        "filled, the rest is hatched.",
        "profile": "Curve of δ over ε on a logarithmic axis, falling.",
        "renyi": "Rényi divergence over the order, rising, and the ε that each order proves at "
        f"this δ. The divergence at order {view.order:g} is "
        f"{plain(ask.divergence(view.pair, view.order))} nats.",
        "tradeoff": "Curve of missed records over false alarms, falling, and the two (ε, δ) lines "
        "that touch it from below.",
    }
    return {key: f"{said[key]}. {drawn[key]}" for key in drawn}


def _plain_text(words: str) -> str:
    """A title without its marks."""
    for mark, sign in {"<sup>": "^", "</sup>": "", "<br>": " "}.items():
        words = words.replace(mark, sign)
    return words


def _proves(view: View) -> str:
    """What the order says at delta, and what the profile says."""
    if math.isinf(view.converted):
        return f"proves no ε at δ = {number(view.delta.upper)}"
    proved = text.bound(view.converted)
    return f"proves ε ≤ {proved}<br>at this δ; {view.beside}: {view.epsilon:g}"


def _kind(found: Bounds, down: Callable[[float], str]) -> str:
    """What kind of number the upper end is."""
    if found.lower == found.upper:
        return "exact"
    if found.lower <= 0:
        return "upper bound"
    if found.upper - found.lower <= _SHARP * found.upper:
        return "certified from both sides"
    return f"upper bound; a real pair gives {down(found.lower)}"


def _relation(found: Bounds) -> str:
    return "=" if found.lower == found.upper else "≤"


def number(value: float) -> str:
    """A probability, rounded up."""
    return text.bound(value, 4)


def number_down(value: float) -> str:
    """A probability, rounded down."""
    return round_down(value, 4)


def percent(value: float) -> str:
    """A probability in percent, rounded up."""
    return f"{text.bound(100 * value)} %"


def percent_down(value: float) -> str:
    """A probability in percent, rounded down."""
    return f"{round_down(100 * value, 3)} %"


def plain(value: float) -> str:
    """A number that is no bound."""
    return text.plain(value)
