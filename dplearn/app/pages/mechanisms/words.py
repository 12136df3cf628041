"""The pictures of one pair in words: the sentence, the titles, and what a screen reader hears."""

import math
from collections.abc import Callable

from dplearn.app.kit.language import retold, translated
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
_P = {"remove": "P: record in", "add": "P: record out", "replace": "P: one record"}
_Q = {"remove": "Q: record out", "add": "Q: record in", "replace": "Q: another instead"}
_SENTENCE = (
    "An attacker who accepts **{alarms} false alarms** detects at most **{caught}** {records} "
    "({caught_kind}). At **ε\u00a0=\u00a0{epsilon:g}** it takes **δ\u00a0{sign}\u00a0{delta}** "
    "({delta_kind}); {loss} exceeds ε with probability {tail}. Neighbours: {neighbours}."
)
_TITLES = {
    "outputs": "P rises above e<sup>ε</sup>·Q by the area δ = {delta}",
    "loss": "L > ε with probability {tail}, and δ {sign} {delta}",
    "profile": "At ε = {epsilon:g}: δ {sign} {delta}",
    "renyi": "Order {order:g} {proves}",
    "tradeoff": "{alarms} false alarms catch<br>at most {caught}",
}
_ALTS = {
    "outputs": "Two laws of what is released, {p} and {q}; what P has above e^ε times Q is shaded.",
    "loss": "Histogram of the privacy loss under P; above ε the part that counts in δ is filled, "
    "the rest is hatched.",
    "profile": "Curve of δ over ε on a logarithmic axis, falling.",
    "renyi": "Rényi divergence over the order, rising, and the ε that each order proves at this "
    "δ. The divergence at order {order:g} is {divergence} nats.",
    "tradeoff": "Curve of missed records over false alarms, falling, and the two (ε, δ) lines "
    "that touch it from below.",
}


def assumptions(view: View) -> str:
    """What all of it assumes."""
    conditions = dict.fromkeys(a for m, _ in view.pair.mechanism.parts() for a in m.assumptions)
    return retold(f"True if: {'; '.join(conditions)}.")


def names_of(view: View) -> tuple[str, str]:
    """What P and Q are."""
    return translated(_P[view.role]), translated(_Q[view.role])


def beside(view: View) -> str:
    """What the epsilon in use is at that delta."""
    return translated("exact" if view.pair.exact else "profile")


def sentence(view: View) -> str:
    """What an attacker detects, and what it takes in delta."""
    rate, delta = view.detected, view.delta
    in_percent = lambda value: f"{round_down(100 * value, 3)} %"
    in_digits = lambda value: round_down(value, 4)
    return translated(
        _SENTENCE,
        alarms=_percent(view.rate),
        caught=_percent(rate.upper),
        records=translated(_DETECTED[view.role]),
        caught_kind=_kind(rate, in_percent),
        epsilon=view.epsilon,
        sign=_relation(delta),
        delta=_number(delta.upper),
        delta_kind=_kind(delta, in_digits),
        loss=translated("the loss" if view.pair.exact else "the dominating pair's loss"),
        tail=text.plain(answers.exceeds(view.pair, view.epsilon)),
        neighbours=retold(ADJACENCY.options[view.pair.adjacency].lower()),
    )


def titles(view: View) -> dict[str, str]:
    """A title for each picture."""
    delta = _number(view.delta.upper)
    proves = translated("proves no ε at δ = {delta}", delta=delta)
    if not math.isinf(view.converted):
        proves = translated(
            "proves ε ≤ {proved}<br>at this δ; {beside}: {epsilon:g}",
            proved=text.bound(view.converted),
            beside=beside(view),
            epsilon=view.epsilon,
        )
    told = {
        "delta": delta,
        "sign": _relation(view.delta),
        "tail": text.plain(answers.exceeds(view.pair, view.epsilon)),
        "epsilon": view.epsilon,
        "order": view.order,
        "proves": proves,
        "alarms": _percent(view.rate),
        "caught": _percent(view.detected.upper),
    }
    return {name: translated(_TITLES[name], **told) for name in _TITLES}


def alts(view: View) -> dict[str, str]:
    """Each picture for those who do not see it."""
    p, q = names_of(view)
    divergence = text.plain(answers.divergence(view.pair, view.order))
    told = {"p": p, "q": q, "order": view.order, "divergence": divergence}
    drawn = {name: translated(_ALTS[name], **told) for name in _ALTS}
    bare = lambda title: title.replace("<sup>", "^").replace("</sup>", "").replace("<br>", " ")
    return {key: f"{bare(title)}. {drawn[key]}" for key, title in titles(view).items()}


def _kind(bounds: Bounds, down: Callable[[float], str]) -> str:
    """What kind of number the upper end is."""
    if bounds.lower == bounds.upper:
        return translated("exact")
    if bounds.lower <= 0:
        return translated("upper bound")
    if bounds.upper - bounds.lower <= _SHARP * bounds.upper:
        return translated("certified from both sides")
    return translated("upper bound; a real pair gives {real}", real=down(bounds.lower))


def _relation(bounds: Bounds) -> str:
    return "=" if bounds.lower == bounds.upper else "≤"


def _number(value: float) -> str:
    """A probability, rounded up."""
    return text.bound(value, 4)


def _percent(value: float) -> str:
    """A probability in percent, rounded up."""
    return f"{text.bound(100 * value)} %"
