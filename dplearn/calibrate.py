"""From a target (epsilon, delta) back to one parameter of the run.

Every search returns a point at which the accountant was asked and answered with an epsilon
at most the target, together with that answer. Tightness depends on the search, truth does not.
Far from the target a rougher accountant shows the way where there is one. A search that has done
its work, counted in units that do not depend on the machine, returns the best point it has.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from dplearn.accountants import Accountant
from dplearn.accountants._runs import MOST_RUNS
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency, Guarantee, round_down, round_up
from dplearn.ground.solve import Crossing, Snap, crossing
from dplearn.ground.work import Work, counting, spend
from dplearn.mechanisms import Mechanism

_SMALLEST, _LARGEST = 1e-3, 1e7
# How near the target the search begins anew, with the accountant itself.
_NEAR = 0.2
# How closely it ends: a part of the width of the bracket, within which its ends may jump, or less.
_PART, _WIDEST = 0.1, 1e-3
# Units of work of one search, after which what is proved will do: about a second of one core.
_MOST_WORK = 1.3e8
# What any answer costs at least.
_ANSWER = 3e5


class Unreachable(ValueError):
    """No value of the parameter reaches the target with this accountant."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A parameter and the guarantee proved at it."""

    parameter: str  # "noise_multiplier", "steps", "sample_rate" or "delta"
    value: float
    guarantee: Guarantee  # its epsilon is at most the target

    def __str__(self) -> str:
        if self.parameter == "steps":
            limit = " (the most that are tried)" if self.value == MOST_RUNS else ""
            return f"steps = {self.value}{limit}: {self.guarantee}"
        # What is shown is proved as well.
        rounded = round_down if self.parameter == "sample_rate" else round_up
        return f"{self.parameter} = {rounded(self.value, 6)}: {self.guarantee}"


def smallest_noise_multiplier(
    accountant: Accountant,
    *,
    mechanism: Mechanism,
    epsilon: float,
    delta: float,
    steps: int = 1,
    adjacency: Adjacency = "add_remove",
    rtol: float = 1e-6,
) -> Calibration:
    """The least noise with which `steps` runs of `mechanism` reach (epsilon, delta).

    The mechanism is any with a `noise_multiplier`, possibly inside; its value is ignored. The
    target is epsilon > 0 and delta in (0, 1). The search stops at the relative width `rtol`,
    or at a tenth of that of the bracket, at most 1e-3, or within 0.2 once it has done its work of
    about a second; the value is rounded up. `Unreachable` is raised if none up to 1e7 reaches the
    target.

    Examples
    --------
    >>> from dplearn.accountants import accountants
    >>> from dplearn.mechanisms import Gaussian
    >>> least = smallest_noise_multiplier(
    ...     accountants["pld"](), mechanism=Gaussian(1.0), epsilon=1.0, delta=1e-5
    ... )
    >>> round(least.value, 4)
    3.7306
    """
    largest = _LARGEST
    while not _allows(mechanism, largest):
        largest /= 2
    place = {"guess": 0.0, "ends": (math.log(_SMALLEST), math.log(largest)), "tolerance": rtol}
    question = {"delta": delta, "steps": steps, "adjacency": adjacency}
    return _vary(accountant, mechanism, epsilon, "noise_multiplier", 1, place, question)


def largest_sample_rate(
    accountant: Accountant,
    *,
    mechanism: Mechanism,
    epsilon: float,
    delta: float,
    steps: int = 1,
    adjacency: Adjacency = "add_remove",
    rtol: float = 1e-6,
) -> Calibration:
    """The largest sample rate in (0, 1] with which `steps` runs reach (epsilon, delta).

    Parameters are those of `smallest_noise_multiplier`; `mechanism` has a `sample_rate`,
    whose value is ignored. The value found is rounded down. `Unreachable` is raised if none down
    to 1e-12 reaches the target.
    """
    place = {"guess": math.log(100), "ends": (0.0, 12 * math.log(10)), "tolerance": rtol}
    question = {"delta": delta, "steps": steps, "adjacency": adjacency}
    return _vary(accountant, mechanism, epsilon, "sample_rate", -1, place, question)


def largest_steps(
    accountant: Accountant,
    *,
    mechanism: Mechanism,
    epsilon: float,
    delta: float,
    adjacency: Adjacency = "add_remove",
) -> Calibration:
    """The largest number of runs that stays within (epsilon, delta); 0 if not even one does.

    Parameters are those of `smallest_noise_multiplier`; the search stops at 10^12, and where a
    bracket is wide or the work is done as close to the largest as there.

    Examples
    --------
    >>> from dplearn.accountants import accountants
    >>> from dplearn.mechanisms import Gaussian
    >>> largest_steps(
    ...     accountants["pld"](), mechanism=Gaussian(10.0), epsilon=1.0, delta=1e-5
    ... ).value
    7
    """

    def guarantee_at(accountant: Accountant, minus_log_steps: float) -> Guarantee:
        steps = _whole(minus_log_steps)
        return accountant.epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)

    value, guarantee = _search(
        guarantee_at,
        accountant,
        epsilon,
        guess=-math.log(1000),
        ends=(-math.log(MOST_RUNS), 0.0),
        tolerance=0.0,
        snap=_to_whole_steps,
    )
    if value < math.inf:
        return Calibration(parameter="steps", value=_whole(value), guarantee=guarantee)
    nothing = accountant.epsilon(mechanism, delta=delta, steps=0, adjacency=adjacency)
    return Calibration(parameter="steps", value=0, guarantee=nothing)


def smallest_delta(
    accountant: Accountant,
    *,
    mechanism: Mechanism,
    epsilon: float,
    steps: int = 1,
    adjacency: Adjacency = "add_remove",
) -> Calibration:
    """The least delta with which `steps` runs of `mechanism` reach epsilon.

    Parameters are those of `Accountant.delta`, which finds it. `Unreachable` is raised if this
    accountant proves no delta below 1.

    Examples
    --------
    >>> from dplearn.accountants import accountants
    >>> from dplearn.mechanisms import Gaussian
    >>> print(smallest_delta(accountants["pld"](), mechanism=Gaussian(1.0), epsilon=1.0))
    delta = 0.126937: delta = 0.1269 at epsilon = 1, add_remove, by pld
    """
    validate.instance(Accountant, accountant=accountant)
    guarantee = accountant.delta(mechanism, epsilon=epsilon, steps=steps, adjacency=adjacency)
    if guarantee.delta >= 1:
        raise Unreachable(
            f"Expected a reachable target, got epsilon={epsilon!r}: no delta below 1 is proved "
            f"by {accountant.name}."
        )
    return Calibration(parameter="delta", value=guarantee.delta, guarantee=guarantee)


def _allows(mechanism: Mechanism, noise_multiplier: float) -> bool:
    """Whether the mechanism takes so much noise; some tabulate it and stop early."""
    try:
        mechanism.vary(noise_multiplier=noise_multiplier)
    except ValueError:
        return noise_multiplier < 1.0  # some other parameter is wrong: let it speak
    return True


def _vary(
    accountant: Accountant,
    mechanism: Mechanism,
    epsilon: float,
    name: str,
    sign: int,
    place: dict[str, Any],
    question: dict[str, Any],
) -> Calibration:
    """The parameter of the mechanism whose logarithm, times `sign`, is the least that will do."""

    def guarantee_at(accountant: Accountant, x: float) -> Guarantee:
        return accountant.epsilon(mechanism.vary(**{name: math.exp(sign * x)}), **question)

    x, best = _search(guarantee_at, accountant, epsilon, **place)
    if x == math.inf:
        raise Unreachable(
            f"Expected a reachable target, got epsilon={epsilon!r}: the smallest epsilon found "
            f"over all {name} is {best.epsilon:.4g} by {best.method}."
        )
    return Calibration(parameter=name, value=math.exp(sign * x), guarantee=best)


def _whole(minus_log_steps: float) -> int:
    return round(math.exp(-minus_log_steps))


def _to_whole_steps(x: float, a: float, b: float) -> float:
    """-log of a whole number of steps strictly between two others, or b if there is none."""
    fewest = _whole(b) + 1 if b < math.inf else 1
    most = _whole(a) - 1 if a > -math.inf else MOST_RUNS
    # A hair more, lest rounding take a step away.
    steps = math.floor(math.exp(-x) * (1 + 1e-14))
    return -math.log(min(max(steps, fewest), most)) if fewest <= most else b


def _search(
    guarantee_at: Callable[[Accountant, float], Guarantee],
    accountant: Accountant,
    epsilon: float,
    *,
    guess: float,
    ends: tuple[float, float],
    tolerance: float,
    snap: Snap = lambda x, a, b: x,
) -> tuple[float, Guarantee]:
    """Smallest x at which the accountant answers within epsilon, and what it answers there.

    The epsilon of `guarantee_at` falls with x; inf and the answer at the upper end if it is
    never so small.
    """
    validate.instance(Accountant, accountant=accountant)
    validate.positive(epsilon=epsilon)
    part, last = 0.0, _NEAR
    start: dict[str, Any] = {"guess": guess, "upper": ends[1]}
    tried: list[tuple[float, Guarantee]] = []
    with counting() as work:
        crossed = partial(_crossed, epsilon=epsilon, work=work, lower=ends[0], snap=snap)
        if (rough := accountant.rougher()) != accountant:
            near, answer = crossed(partial(guarantee_at, rough), enough=_NEAR, **start)
            start = {"guess": near.root, "slope": near.slope, "upper": ends[1]}
            part = _PART
            if near.x < math.inf:
                tried, last, start["upper"] = [(near.x, answer)], math.inf, near.x
        if not tried or work.units < _MOST_WORK:
            ask = partial(guarantee_at, accountant)
            end, answer = crossed(ask, enough=tolerance, part=part, last=last, **start)
            tried.append((end.x, answer))
    return min(tried, key=lambda end: end[0])


def _crossed(
    guarantee_at: Callable[[float], Guarantee],
    *,
    epsilon: float,
    work: Work,
    enough: float,
    part: float = 0.0,
    last: float = 0.0,
    **start: Any,
) -> tuple[Crossing, Guarantee]:
    """Where the answers cross epsilon, and the one there.

    Near it is what is `enough`, or a `part` of the bracket, or `last` once the work is done.
    """
    answers: dict[float, Guarantee] = {}
    cost = 0.0

    def excess(x: float) -> float:
        nonlocal cost
        before = work.units
        spend(_ANSWER)
        answers[x] = answer = guarantee_at(x)
        cost = work.units - before
        # In the logarithm of each parameter that of epsilon is nearly straight.
        return (math.log(answer.epsilon) if answer.epsilon else -math.inf) - math.log(epsilon)

    def close(x: float) -> float:
        if work.units + cost > _MOST_WORK:
            return max(enough, last)
        answer = answers[x]
        width = 1 - answer.lower / answer.epsilon if answer.epsilon else 0.0
        return max(enough, min(part * width, _WIDEST))

    end = crossing(excess, tolerance=close, **start)
    return end, answers[end.x if end.x < math.inf else end.below]
