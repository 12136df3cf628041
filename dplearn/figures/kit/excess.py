"""What an accountant asks for beyond what is certified: ratios of results, and their words."""

import math
from collections.abc import Mapping

from dplearn.figures.kit import text
from dplearn.figures.kit.certificate import floor, is_certified, width
from dplearn.figures.kit.template import style_of
from dplearn.ground.guarantee import Guarantee, round_down

# Ratios closer to 1 are called 1; a share that is missing is news from the second on; a bracket
# up to the third is one number, so that a draft reads like what it is a draft of.
_SAME, _NEWS, _SHARP = 5e-4, 0.1, 1e-3


def ratio(guarantee: Guarantee, reference: Guarantee) -> float | None:
    """Epsilon over the reference's lower end, or its upper end where it has no lower one.

    Never smaller than epsilon over the true value in the first case, never larger in the
    second. None where one of the two is zero or infinite.
    """
    base = floor(reference) if is_certified(reference) else reference.epsilon
    comparable = 0 < base < math.inf and 0 < guarantee.epsilon < math.inf
    return guarantee.epsilon / base if comparable else None


def sign(reference: Guarantee) -> str:
    """What a ratio to the reference is of that to the truth: no less, no more, or the same."""
    if not is_certified(reference):
        return "≥ "
    return "≤ " if width(reference) > _SHARP else ""


def shortfalls(now: Mapping[str, Guarantee], reference: Guarantee) -> dict[str, float]:
    """Who claims less than what is certified, and the share that is missing.

    Empty where the reference has no lower end: then nothing is proved against anybody.
    """
    ratios = {n: ratio(g, reference) for n, g in now.items()} if is_certified(reference) else {}
    return {n: 1 - r for n, r in ratios.items() if r is not None and r < 1 - _SAME}


def times(value: float | None, sign: str = "") -> str:
    """A ratio with the `sign` of its reference: rounded up, and down where it is an "at least".

    Examples
    --------
    >>> times(1.0936), times(0.9953), times(1.0000001), times(2.345, "≥ "), times(26.71, "≤ ")
    ('1.094 ×', '0.995 ×', '1 ×', '≥ 2.34 ×', '≤ 26.8 ×')
    """
    if value is None:
        return "–"
    if sign == "≥ ":
        return f"{sign}{round_down(value, 3)} ×"
    if abs(value - 1) < _SAME:
        return f"{sign}1 ×"
    if value < 1 and not sign:
        return f"{text.plain(value)} ×"
    return f"{sign}{text.bound(value, 4 if 1 < value < 2 else 3)} ×"


def comparison(now: Mapping[str, Guarantee], reference: Guarantee, steps: int) -> str:
    """Who asks for how much more than needed, at one number of steps: the best and the worst.

    Who claims much less than is certified is the worst of all.
    """
    at, side = f"At T = {text.whole(steps)}", sign(reference)
    ratios = {n: r for n, g in now.items() if (r := ratio(g, reference)) is not None}
    others = [n for n in ratios if now[n].is_bound and now[n].method != reference.method]
    if not ratios:
        return f"{at} there is no finite ε to compare with"
    missing, label = shortfalls(now, reference), {name: style_of(name).label for name in now}
    hider = max(missing, key=missing.__getitem__, default="")
    hides = f"{label[hider]} hides {hidden(missing[hider], side)}" if hider else ""
    if not others:
        return f"{at} {hides} of ε" if hides else f"{at} no other bound is drawn"
    ordered = sorted(others, key=ratios.__getitem__)
    best, worst = ordered[0], ordered[-1]
    head = f"{at} {label[best]} asks for {_much(ratios[best], side)}"
    if hides and missing[hider] >= _NEWS:
        return f"{head}, {hides}"
    return head if worst == best else f"{head}, {label[worst]} for {_more(ratios[worst], side)}"


def hidden(share: float, side: str) -> str:
    """A share that is missing in words; a wide bracket proves it from below only."""
    return f"{f'at least {round_down(100 * share, 2)}' if side else text.plain(100 * share, 2)} %"


def _much(value: float, side: str) -> str:
    """How much epsilon somebody asks for."""
    if value < 1 + _SAME and side != "≥ ":
        return "no more ε than needed"
    return f"{_more(value, side)} {'the ε needed' if value >= 2 else 'ε than needed'}"


def _more(value: float, side: str) -> str:
    """A percentage up to twice, a factor beyond; rounded to the side that is proved."""
    least = {"": "", "≤ ": "up to ", "≥ ": "at least "}[side]
    shown = round_down if side == "≥ " else text.bound
    if value >= 2:
        return f"{least}{shown(value, 3)} ×"
    return f"{least}{shown(100 * (value - 1), 2)} % more"
