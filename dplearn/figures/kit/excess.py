"""What an accountant asks for beyond what is certified: ratios of results, and their words."""

import math
from collections.abc import Mapping

from dplearn.figures.kit import text
from dplearn.figures.kit.certificate import floor, is_certified
from dplearn.figures.kit.template import style_of
from dplearn.ground.guarantee import Guarantee, round_down

# Ratios closer to 1 are called 1; a share that is missing is news from the second on.
_SAME, _NEWS = 5e-4, 0.1


def ratio(guarantee: Guarantee, reference: Guarantee) -> float | None:
    """Epsilon over the reference's lower end, or its upper end where it has no lower one.

    Never smaller than epsilon over the true value in the first case, never larger in the
    second. None where one of the two is zero or infinite.
    """
    base = floor(reference) if is_certified(reference) else reference.epsilon
    comparable = 0 < base < math.inf and 0 < guarantee.epsilon < math.inf
    return guarantee.epsilon / base if comparable else None


def shortfalls(now: Mapping[str, Guarantee], reference: Guarantee) -> dict[str, float]:
    """Who claims less than what is certified, and the share that is missing.

    Empty where the reference has no lower end: then nothing is proved against anybody.
    """
    ratios = {n: ratio(g, reference) for n, g in now.items()} if is_certified(reference) else {}
    return {n: 1 - r for n, r in ratios.items() if r is not None and r < 1 - _SAME}


def times(value: float | None, certified: bool) -> str:
    """A ratio as a reader meets it: rounded up, and down where it is an "at least".

    Examples
    --------
    >>> times(1.0936, True), times(0.9953, True), times(1.0000001, True), times(2.345, False)
    ('1.094 ×', '0.995 ×', '1 ×', '≥ 2.34 ×')
    """
    if value is None:
        return "–"
    if not certified:
        return f"≥ {round_down(value, 3)} ×"
    if abs(value - 1) < _SAME:
        return "1 ×"
    if value < 1:
        return f"{text.plain(value)} ×"
    return f"{text.bound(value, 4 if value < 2 else 3)} ×"


def comparison(now: Mapping[str, Guarantee], reference: Guarantee, steps: int) -> str:
    """Who asks for how much more than needed, at one number of steps: the best and the worst.

    Who claims much less than is certified is the worst of all.
    """
    at, sure = f"At T = {text.whole(steps)}", is_certified(reference)
    ratios = {n: r for n, g in now.items() if (r := ratio(g, reference)) is not None}
    others = [n for n in ratios if now[n].is_bound and now[n].method != reference.method]
    if not ratios:
        return f"{at} there is no finite ε to compare with"
    missing, label = shortfalls(now, reference), {name: style_of(name).label for name in now}
    hider = max(missing, key=missing.__getitem__, default="")
    hides = f"{label[hider]} hides {text.plain(100 * missing[hider], 2)} %" if hider else ""
    if not others:
        return f"{at} {hides} of ε" if hides else f"{at} no other bound is drawn"
    ordered = sorted(others, key=ratios.__getitem__)
    best, worst = ordered[0], ordered[-1]
    head = f"{at} {label[best]} asks for {_much(ratios[best], sure)}"
    if hides and missing[hider] >= _NEWS:
        return f"{head}, {hides}"
    return head if worst == best else f"{head}, {label[worst]} for {_more(ratios[worst], sure)}"


def _much(value: float, sure: bool) -> str:
    """How much epsilon somebody asks for."""
    if value < 1 + _SAME and sure:
        return "no more ε than needed"
    return f"{_more(value, sure)} {'the ε needed' if value >= 2 else 'ε than needed'}"


def _more(value: float, sure: bool) -> str:
    """A percentage up to twice, a factor beyond; rounded to the side that is proved."""
    least, shown = ("", text.bound) if sure else ("at least ", round_down)
    if value >= 2:
        return f"{least}{shown(value, 3)} ×"
    return f"{least}{shown(100 * (value - 1), 2)} % more"
