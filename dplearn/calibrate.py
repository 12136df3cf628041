"""From a target (epsilon, delta) back to one parameter of the run.

Every search returns a point at which the accountant was asked and answered with an epsilon
at most the target, together with that answer. Tightness depends on the search, truth does not.
Far from the target a coarse accountant shows the way where there is one. A search that has done
its work, counted in units that do not depend on the machine, returns the best point it has.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from dplearn.accountants import Accountant, accountant_of
from dplearn.accountants._runs import MOST_RUNS
from dplearn.accountants.pld import PLD
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee, read_back, round_up
from dplearn.core.solve import Crossing, Snap, crossing
from dplearn.core.work import Work, counting, spend
from dplearn.mechanisms import Mechanism
from dplearn.mechanisms._base import as_mechanism

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
    """Error: no value of the parameter reaches the target with this accountant."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A parameter and the guarantee proved at it."""

    parameter: str  # "noise_multiplier", "steps", "sample_rate" or "delta"
    value: float
    guarantee: "Guarantee | Attack"  # its epsilon, or true positive rate, is at most the target

    def __str__(self) -> str:
        if self.parameter == "steps":
            limit = " (the most that are tried)" if self.value == MOST_RUNS else ""
            return f"steps = {self.value}{limit}: {self.guarantee}"
        least = self.parameter == "noise_multiplier" and self.value == _SMALLEST
        limit = " (the least that is tried)" if least else ""
        # A delta may be rounded up; the guarantee was proved at the other values as they are shown.
        value = round_up(self.value, 6) if self.parameter == "delta" else read_back(self.value)
        return f"{self.parameter} = {value}{limit}: {self.guarantee}"


@dataclass(frozen=True)
class Attack:
    """Bracket of the best test's true positive rate, at a false positive rate, by "pld"."""

    lower: float  # bounds on its true positive rate
    true_positive_rate: float
    false_positive_rate: float
    adjacency: Adjacency

    def __str__(self) -> str:
        found, rate = round_up(self.true_positive_rate, 4), read_back(self.false_positive_rate)
        return f"true positive rate <= {found} at false positive rate {rate}, {self.adjacency}"


@validate.names_parameters
def smallest_noise_multiplier(
    mechanism: Any,
    accountant: Accountant | str = "pld",
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    true_positive_rate: float | None = None,
    false_positive_rate: float | None = None,
    advantage: float | None = None,
    steps: int = 1,
    adjacency: Adjacency | None = None,
    rtol: float = 1e-6,
) -> Calibration:
    """Calibration of the least noise with which `steps` runs of `mechanism` reach a target.

    The mechanism is any with a `noise_multiplier`, possibly inside, or a plan of one phase; its
    value is ignored. The `accountant` proves it for neighbours by `adjacency` (default: those of
    the sampling). The target is epsilon > 0 and delta in (0, 1); or an attack: at a
    `false_positive_rate` in (0, 1) no test has more than the `true_positive_rate`, which is larger
    and below 1 ("pld" alone bounds attacks); or an advantage in (0, 1), the largest difference of
    the two rates, which is delta at epsilon 0. The search stops at the relative width `rtol`, or at
    a tenth of that of the bracket, at most 1e-3, or within 0.2 once it has done its work of about a
    second; the value has as many digits as `rtol` asks for, and was tried. Between 1e-3, which is
    returned where less would do, and 1e7 it is searched; `Unreachable` is raised if none reaches
    the target.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> round(smallest_noise_multiplier(Gaussian(1.0), epsilon=1.0, delta=1e-5).value, 4)
    3.7306
    >>> attack = {"true_positive_rate": 0.05, "false_positive_rate": 0.01}
    >>> print(smallest_noise_multiplier(Gaussian(1.0), **attack))
    noise_multiplier = 1.467365: true positive rate <= 0.05 at false positive rate 0.01, add_remove
    """
    mechanism, steps, adjacency = _asked(mechanism, steps, adjacency)
    largest = _LARGEST
    while largest >= 1:  # some mechanisms tabulate their noise and stop early
        try:
            mechanism.vary(noise_multiplier=largest)
            break
        except ValueError:  # below 1 some other parameter is wrong: the search will say so
            largest /= 2
    rates = (true_positive_rate, false_positive_rate)
    given = [(epsilon, delta) != (None, None), rates != (None, None), advantage is not None]
    if sum(given) != 1:
        raise TypeError(
            "Expected epsilon and delta, or the two rates of an attack, or an advantage, got "
            f"{'some of several' if any(given) else 'none'} of them."
        )
    target: _Budget | _Rates | _Advantage
    if given[0]:
        target = _Budget(epsilon, delta, steps, adjacency)  # type: ignore[arg-type]
    elif given[1]:
        target = _Rates(*rates, steps, adjacency)  # type: ignore[arg-type]
    else:
        target = _Advantage(advantage, steps, adjacency)  # type: ignore[arg-type]
    place = _Place(0.0, math.log(_SMALLEST), math.log(largest))
    return _vary(accountant, mechanism, target, "noise_multiplier", 1, place, rtol)


@validate.names_parameters
def largest_sample_rate(
    mechanism: Any,
    accountant: Accountant | str = "pld",
    *,
    epsilon: float,
    delta: float,
    steps: int = 1,
    adjacency: Adjacency | None = None,
    rtol: float = 1e-6,
) -> Calibration:
    """Calibration of the largest sample rate in (0, 1] that reaches (epsilon, delta).

    Parameters are those of `smallest_noise_multiplier`; `mechanism` has a `sample_rate`,
    whose value is ignored. The value found is rounded down. `Unreachable` is raised if none down
    to 1e-12 reaches the target.
    """
    mechanism, steps, adjacency = _asked(mechanism, steps, adjacency)
    target = _Budget(epsilon, delta, steps, adjacency)
    place = _Place(math.log(100), 0.0, 12 * math.log(10))
    return _vary(accountant, mechanism, target, "sample_rate", -1, place, rtol)


@validate.names_parameters
def largest_steps(
    mechanism: Any,
    accountant: Accountant | str = "pld",
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | None = None,
) -> Calibration:
    """Calibration of the largest number of runs within (epsilon, delta); 0 if none is.

    Parameters are those of `smallest_noise_multiplier`; the search stops at 10^12, and where a
    bracket is wide or the work is done as close to the largest as there.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> largest_steps(Gaussian(10.0), epsilon=1.0, delta=1e-5).value
    7
    """
    accountant = accountant_of(accountant)
    if getattr(getattr(mechanism, "sampling_scheme", None), "batches", 1) > 1:
        raise ValueError("Expected steps drawn afresh, got epochs: ask plan.affordable_steps.")
    mechanism, _, adjacency = _asked(mechanism, 1, adjacency)
    target = _Budget(epsilon, delta, 0, adjacency)
    value, guarantee = _search(
        lambda accountant, x: replace(target, steps=_whole(x)).ask(accountant, mechanism),
        accountant,
        target,
        _Place(-math.log(1000), -math.log(MOST_RUNS), 0.0, snap=_to_whole_steps),
        tolerance=0.0,
    )
    if value < math.inf:
        return Calibration(parameter="steps", value=_whole(value), guarantee=guarantee)
    return Calibration(parameter="steps", value=0, guarantee=target.ask(accountant, mechanism))


@validate.names_parameters
def smallest_delta(
    mechanism: Any,
    accountant: Accountant | str = "pld",
    *,
    epsilon: float,
    steps: int = 1,
    adjacency: Adjacency | None = None,
) -> Calibration:
    """Calibration of the least delta with which `steps` runs of `mechanism` reach epsilon.

    Parameters are those of `smallest_noise_multiplier`. `Unreachable` is raised if the
    accountant proves no delta below 1.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> print(smallest_delta(Gaussian(1.0), epsilon=1.0))
    delta = 0.126937: 0.1269 <= delta <= 0.127 at epsilon = 1, add_remove, by pld
    """
    accountant = accountant_of(accountant)
    adjacency = adjacency or getattr(mechanism, "default_adjacency", "add_remove")
    guarantee = accountant.delta(mechanism, epsilon=epsilon, steps=steps, adjacency=adjacency)
    if guarantee.delta >= 1:
        raise Unreachable(
            f"Expected a reachable target, got epsilon={epsilon!r}: no delta below 1 is proved "
            f"by {accountant.name}."
        )
    return Calibration(parameter="delta", value=guarantee.delta, guarantee=guarantee)


def _asked(
    mechanism: Any, steps: int, adjacency: Adjacency | None
) -> tuple[Mechanism, int, Adjacency]:
    adjacency = adjacency or getattr(mechanism, "default_adjacency", "add_remove")
    whole = as_mechanism(mechanism)
    if whole is mechanism:
        return whole, steps, adjacency
    (one, count), *others = whole.parts()
    if others:
        raise ValueError(f"Expected a plan of one phase, whose noise is varied, got {mechanism!r}.")
    return one, count * steps, adjacency


class _Place(NamedTuple):
    """Where a search begins, and between which ends it stays."""

    guess: float
    lower: float
    upper: float
    slope: float = math.nan  # of the logarithm of the share at the guess
    snap: Snap = lambda x, a, b: x


@dataclass(frozen=True)
class _Budget:
    """An epsilon to reach at delta after so many steps."""

    epsilon: float
    delta: float
    steps: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        validate.positive(epsilon=self.epsilon)

    def ask(self, accountant: Accountant, mechanism: Mechanism) -> Guarantee:
        return accountant.epsilon(
            mechanism, delta=self.delta, steps=self.steps, adjacency=self.adjacency
        )

    def shares(self, answer: Guarantee) -> tuple[float, float]:
        """Lower and upper end of the answer over the target: it is reached if the last is <= 1."""
        return answer.lower / self.epsilon, answer.epsilon / self.epsilon

    def missed(self, best: Guarantee, parameter: str) -> str:
        """One sentence on a target that is out of reach."""
        return (
            f"Expected a reachable target, got epsilon={self.epsilon!r}: the smallest epsilon "
            f"found over all {parameter} is {best.epsilon:.4g} by {best.method}."
        )


@dataclass(frozen=True)
class _Rates:
    """A true positive rate that no test may exceed at a false positive rate."""

    most: float
    rate: float
    steps: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        validate.probability(false_positive_rate=self.rate, true_positive_rate=self.most)
        if self.most <= self.rate:
            found = f"{self.most!r} and {self.rate!r}"
            raise ValueError(f"Expected true_positive_rate > false_positive_rate, got {found}.")

    def ask(self, accountant: Accountant, mechanism: Mechanism) -> Attack:
        if not isinstance(accountant, PLD):
            raise ValueError(f"Expected accountant='pld', which bounds attacks, got {accountant}.")
        lower, upper = accountant.true_positive_rate(
            mechanism,
            false_positive_rate=self.rate,
            steps=self.steps,
            adjacency=self.adjacency,
        )
        return Attack(float(lower), float(upper), self.rate, self.adjacency)

    def shares(self, answer: Attack) -> tuple[float, float]:
        """Both ends over the target, in mu of the Gaussian of these rates, which is 1 / noise."""
        rates = np.array([answer.lower, answer.true_positive_rate, self.most])
        lower, upper, most = ndtri(rates) - ndtri(self.rate)
        beyond = answer.true_positive_rate > self.most
        return lower / most, max(upper / most, math.nextafter(1.0, 2.0) if beyond else 0.0)

    def missed(self, best: Attack, parameter: str) -> str:
        """One sentence on a target that is out of reach."""
        return (
            f"Expected a reachable target, got true_positive_rate={self.most!r}: the smallest one "
            f"found over all {parameter} is {best.true_positive_rate:.4g}."
        )


@dataclass(frozen=True)
class _Advantage:
    """Largest difference of an attacker's true and false positive rate, which is delta at 0."""

    most: float
    steps: int
    adjacency: Adjacency

    def __post_init__(self) -> None:
        validate.probability(advantage=self.most)

    def ask(self, accountant: Accountant, mechanism: Mechanism) -> Guarantee:
        return accountant.delta(mechanism, epsilon=0.0, steps=self.steps, adjacency=self.adjacency)

    def shares(self, answer: Guarantee) -> tuple[float, float]:
        return answer.delta_lower / self.most, answer.delta / self.most

    def missed(self, best: Guarantee, parameter: str) -> str:
        return (
            f"Expected a reachable target, got advantage={self.most!r}: the smallest advantage "
            f"found over all {parameter} is {best.delta:.4g}."
        )


def _vary(
    accountant: Accountant | str,
    mechanism: Mechanism,
    target: _Budget | _Rates | _Advantage,
    name: str,
    sign: int,
    place: _Place,
    tolerance: float,
) -> Calibration:
    """Return the parameter of the mechanism whose logarithm, times `sign`, is the least that works.

    Only values with as many digits as the tolerance asks for are tried, so that the one that is
    found is printed in full.
    """
    digits = min(max(1 - math.floor(math.log10(tolerance or 1e-16)), 6), 17)
    value_at = lambda x: float(f"{math.exp(sign * x):.{digits}g}")

    def ask(accountant: Accountant, x: float) -> Any:
        return target.ask(accountant, mechanism.vary(**{name: value_at(x)}))

    x, best = _search(ask, accountant_of(accountant), target, place, tolerance=tolerance)
    if x == math.inf:
        raise Unreachable(target.missed(best, name))
    return Calibration(parameter=name, value=value_at(x), guarantee=best)


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
    ask: Callable[[Accountant, float], Any],
    accountant: Accountant,
    target: _Budget | _Rates | _Advantage,
    place: _Place,
    *,
    tolerance: float,
) -> tuple[float, Any]:
    """Smallest x at which the accountant's answer reaches the target, and that answer.

    The answers fall with x; inf and the answer at the upper end if none reaches it.
    """
    part, last = 0.0, _NEAR
    tried: list[tuple[float, Any]] = []
    with counting() as work:
        crossed = partial(_crossed, shares=target.shares, work=work)
        if (rough := accountant.coarse()) != accountant:
            near, answer = crossed(partial(ask, rough), place, enough=_NEAR)
            place, part = place._replace(guess=near.root, slope=near.slope), _PART
            if near.x < math.inf:
                tried, last = [(near.x, answer)], math.inf
                place = place._replace(upper=near.x)
        if not tried or work.units < _MOST_WORK:
            exact = partial(ask, accountant)
            end, answer = crossed(exact, place, enough=tolerance, part=part, last=last)
            tried.append((end.x, answer))
    return min(tried, key=lambda end: end[0])


def _crossed(
    ask: Callable[[float], Any],
    place: _Place,
    *,
    shares: Callable[[Any], tuple[float, float]],
    work: Work,
    enough: float,
    part: float = 0.0,
    last: float = 0.0,
) -> tuple[Crossing, Any]:
    """Where the answers cross the target, and the one there.

    Near it is what is `enough`, or a `part` of the bracket, or `last` once the work is done.
    """
    answers: dict[float, Any] = {}
    cost = 0.0

    def excess(x: float) -> float:
        nonlocal cost
        before = work.units
        spend(_ANSWER)
        answers[x] = answer = ask(x)
        cost = work.units - before
        # In the logarithm of each parameter that of epsilon is nearly straight.
        share = shares(answer)[1]
        return math.log(share) if share else -math.inf

    def close(x: float) -> float:
        if work.units + cost > _MOST_WORK:
            return max(enough, last)
        low, high = shares(answers[x])
        width = 1 - low / high if high else 0.0
        return max(enough, min(part * width, _WIDEST))

    end = crossing(
        excess,
        guess=place.guess,
        lower=place.lower,
        upper=place.upper,
        tolerance=close,
        slope=place.slope,
        snap=place.snap,
    )
    return end, answers[end.x if end.x < math.inf else end.below]
