"""Calibration of one parameter of a run to a target such as (epsilon, delta).

Every search returns a value for which the accountant proved the target, with that guarantee. The
search affects only tightness, not validity. Far from the target a coarse version of the accountant
is used if there is one. A search that ends after too many evaluations returns its best value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dplearn.accountants import Accountant, accountant_of
from dplearn.accountants._runs import MOST_RUNS
from dplearn.accountants.pld import PLD
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee, read_back, round_up
from dplearn.core.solve import crossing
from dplearn.mechanisms import Mechanism
from dplearn.mechanisms._base import as_mechanism

_SMALLEST, _LARGEST = 1e-3, 1e7  # smallest and largest noise multiplier tried
_NEAR = 0.2  # tolerance of the first search, by a coarse version of the accountant
# Relative tolerance of the final search: _PART * (upper - lower) / upper, at most _WIDEST.
_PART, _WIDEST = 0.1, 1e-3
_MOST_ANSWERS = 16  # limit on evaluations in the final search, if the first reached the target


class Unreachable(ValueError):
    """Error raised if the accountant proves the target for no value of the parameter."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Value of a parameter that reaches a target, and the guarantee proved for it.

    Parameters
    ----------
    parameter : "noise_multiplier", "steps", "sample_rate" or "delta"
    value : float >= 0
    guarantee : Guarantee or Attack, with epsilon or true positive rate at most the target
    """

    parameter: str
    value: float
    guarantee: "Guarantee | Attack"

    def __str__(self) -> str:
        if self.parameter == "steps":
            limit = " (the most that are tried)" if self.value == MOST_RUNS else ""
            return f"steps = {self.value}{limit}: {self.guarantee}"
        least = self.parameter == "noise_multiplier" and self.value == _SMALLEST
        limit = " (the least that is tried)" if least else ""
        # Round delta up; print other parameters exactly, because the proof is for that value.
        value = round_up(self.value, 6) if self.parameter == "delta" else read_back(self.value)
        return f"{self.parameter} = {value}{limit}: {self.guarantee}"


@dataclass(frozen=True)
class Attack:
    """Bounds on the best attack's true positive rate at a false positive rate, by "pld".

    Parameters
    ----------
    lower : float in [0, 1], lower bound on the true positive rate
    true_positive_rate : float in [0, 1], upper bound
    false_positive_rate : float in (0, 1)
    adjacency : str
    """

    lower: float
    true_positive_rate: float
    false_positive_rate: float
    adjacency: Adjacency

    def __str__(self) -> str:
        upper, rate = round_up(self.true_positive_rate, 4), read_back(self.false_positive_rate)
        return f"true positive rate <= {upper} at false positive rate {rate}, {self.adjacency}"


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
    """Return the smallest noise multiplier for which `steps` runs of `mechanism` reach a target.

    The target is epsilon and delta, or the two rates of an attack, or an advantage. The value is
    rounded to the digits of `rtol` and proved as printed; none below 1e-3 is tried.

    Parameters
    ----------
    mechanism : Mechanism with a `noise_multiplier`, possibly nested, or a plan of one phase
    accountant : Accountant or str; only "pld" bounds attacks
    epsilon : float > 0
    delta : float in (0, 1)
    true_positive_rate : float in (0, 1), largest of any attack; above the false positive rate
    false_positive_rate : float in (0, 1)
    advantage : float in (0, 1), the largest difference of the rates, which is delta at epsilon 0
    steps : int >= 1
    adjacency : str, by default that of a plan's sampling, "add_remove" for a mechanism
    rtol : float > 0, relative error at which the search stops; it also stops at a tenth of the
        bracket's relative width, at most 1e-3, or after sixteen evaluations

    Raises
    ------
    Unreachable if no value reaches the target
    TypeError or ValueError if the target is incomplete, or an argument out of range

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> round(smallest_noise_multiplier(Gaussian(1.0), epsilon=1.0, delta=1e-5).value, 4)
    3.7306
    >>> attack = {"true_positive_rate": 0.05, "false_positive_rate": 0.01}
    >>> print(smallest_noise_multiplier(Gaussian(1.0), **attack))
    noise_multiplier = 1.467364: true positive rate <= 0.05 at false positive rate 0.01, add_remove
    """
    mechanism, steps, adjacency = _asked(mechanism, steps, adjacency)
    largest = _LARGEST
    while largest >= 1:  # `DiscreteGaussian` refuses a large multiplier
        try:
            mechanism.vary(noise_multiplier=largest)
            break
        except ValueError:  # the search below raises errors of other parameters
            largest /= 2
    rates: Any = (true_positive_rate, false_positive_rate)
    given = [(epsilon, delta) != (None, None), rates != (None, None), advantage is not None]
    if sum(given) != 1:
        targets = "epsilon and delta, or the two rates of an attack, or an advantage"
        raise TypeError(f"Expected {targets}, got {'several' if any(given) else 'none'} of them.")
    question: Any = {"steps": steps, "adjacency": adjacency}
    if given[0]:
        target = _budget(epsilon, delta, **question)  # type: ignore[arg-type]
    elif given[1]:
        target = _rates(*rates, **question)
    else:
        validate.probability(advantage=advantage)  # type: ignore[arg-type]
        ask = lambda law, m: law.delta(m, epsilon=0.0, **question)
        target = _Target("advantage", advantage, ask, lambda g: (g.delta_lower, g.delta))  # type: ignore[arg-type]
    place = {"guess": 0.0, "lower": math.log(_SMALLEST), "upper": math.log(largest)}
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
    """Return the largest sample rate in (0, 1] for which (epsilon, delta) is proved, rounded down.

    Parameters and errors are those of `smallest_noise_multiplier`; `mechanism` has a `sample_rate`,
    and rates from 1e-12 on are tried.
    """
    mechanism, steps, adjacency = _asked(mechanism, steps, adjacency)
    target = _budget(epsilon, delta, steps, adjacency)
    place = {"guess": math.log(100), "lower": 0.0, "upper": 12 * math.log(10)}
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
    """Return the largest number of steps for which (epsilon, delta) is proved, from 0 to 10^12.

    Parameters and tolerances are those of `smallest_noise_multiplier`. The result may be
    too small if the accountant's bracket of epsilon is wide.

    Raises
    ------
    ValueError if a plan draws whole epochs: see `Plan.affordable_steps`
    """
    accountant = accountant_of(accountant)
    if getattr(getattr(mechanism, "sampling_scheme", None), "batches", 1) > 1:
        raise ValueError("Expected steps drawn afresh, got epochs: ask plan.affordable_steps.")
    mechanism, _, adjacency = _asked(mechanism, 1, adjacency)
    after = lambda steps: _budget(epsilon, delta, steps, adjacency)
    ask = lambda accountant, x: after(_whole(x)).ask(accountant, mechanism)
    place = {"guess": -math.log(1000), "lower": -math.log(MOST_RUNS), "upper": 0.0}
    place |= {"snap": _to_whole_steps}
    value, guarantee = _search(ask, accountant, after(0), place, tolerance=0.0)
    if value < math.inf:
        return Calibration(parameter="steps", value=_whole(value), guarantee=guarantee)
    return Calibration(parameter="steps", value=0, guarantee=after(0).ask(accountant, mechanism))


def _asked(
    mechanism: Any, steps: int, adjacency: Adjacency | None
) -> tuple[Mechanism, int, Adjacency]:
    adjacency = adjacency or getattr(mechanism, "default_adjacency", "add_remove")
    if isinstance(mechanism, Mechanism):
        return mechanism, steps, adjacency
    (one, count), *others = as_mechanism(mechanism).parts()
    if others:
        raise ValueError(f"Expected a plan of one phase, whose noise is varied, got {mechanism!r}.")
    return one, count * steps, adjacency


class _Target(NamedTuple):
    name: str
    most: float
    ask: Callable[[Accountant, Mechanism], Any]  # returns a `Guarantee` or an `Attack`
    ends: Callable[[Any], tuple[float, float]]  # lower and upper bound on the quantity `name`


def _budget(epsilon: float, delta: float, steps: int, adjacency: Adjacency) -> _Target:
    validate.positive(epsilon=epsilon)
    ask = lambda law, m: law.epsilon(m, delta=delta, steps=steps, adjacency=adjacency)
    return _Target("epsilon", epsilon, ask, lambda g: (g.lower, g.epsilon))


def _rates(most: float, rate: float, steps: int, adjacency: Adjacency) -> _Target:
    validate.probability(false_positive_rate=rate, true_positive_rate=most)
    if most <= rate:
        got = f"{most!r} and {rate!r}"
        raise ValueError(f"Expected true_positive_rate > false_positive_rate, got {got}.")

    def ask(law: Accountant, mechanism: Mechanism) -> Attack:
        if not isinstance(law, PLD):
            raise ValueError(f"Expected accountant='pld', which bounds attacks, got {law}.")
        question: Any = {"false_positive_rate": rate, "steps": steps, "adjacency": adjacency}
        lower, upper = law.true_positive_rate(mechanism, **question)
        return Attack(float(lower), float(upper), rate, adjacency)

    return _Target("true_positive_rate", most, ask, lambda a: (a.lower, a.true_positive_rate))


def _vary(
    accountant: Accountant | str,
    mechanism: Mechanism,
    target: _Target,
    name: str,
    sign: int,
    place: dict[str, Any],
    tolerance: float,
) -> Calibration:
    """Return the least value of parameter `name` (largest if sign < 0) that reaches the target.

    Only values rounded to the digits of the tolerance are evaluated, so that the result is
    printed in full.
    """
    digits = min(max(1 - math.floor(math.log10(tolerance or 1e-16)), 6), 17)
    value_at = lambda x: float(f"{math.exp(sign * x):.{digits}g}")
    ask = lambda law, x: target.ask(law, mechanism.vary(**{name: value_at(x)}))
    law = accountant_of(accountant)
    x, best = _search(ask, law, target, place, tolerance=tolerance)
    if x == math.inf:
        raise Unreachable(
            f"Expected a reachable target, got {target.name}={target.most!r}: the smallest "
            f"{target.name} found over all {name} is {target.ends(best)[1]:.4g} by {law.name}."
        )
    return Calibration(parameter=name, value=value_at(x), guarantee=best)


def _whole(minus_log_steps: float) -> int:
    return round(math.exp(-minus_log_steps))


def _to_whole_steps(x: float, a: float, b: float) -> float:
    """Round x = -log(steps) to whole steps strictly between a and b; return b if none exist."""
    fewest = _whole(b) + 1
    most = _whole(a) - 1 if a > -math.inf else MOST_RUNS
    # The factor keeps a rounding error from losing a step.
    steps = math.floor(math.exp(-x) * (1 + 1e-14))
    return -math.log(min(max(steps, fewest), most)) if fewest <= most else b


def _search(
    ask: Callable[[Accountant, float], Any],
    accountant: Accountant,
    target: _Target,
    place: dict[str, Any],
    *,
    tolerance: float,
) -> tuple[float, Any]:
    """Return the smallest x at which the accountant's result reaches the target, and that result.

    The bounds decrease with x; if none reaches the target, return inf and the result at the end.
    `place` holds the initial guess and the limits of x.
    """
    answers: dict[float, Any] = {}

    def crossed(law: Accountant, enough: float, part: float = 0.0, stop: float = math.inf) -> Any:
        """Return a bracket of the x at which the accountant's upper bound equals the target."""

        def excess(x: float) -> float:
            answers[x] = answer = ask(law, x)
            # Interpolate log epsilon: it is nearly linear in the logarithm of each parameter.
            upper, most = target.ends(answer)[1], target.most
            log = math.log(upper / most) if upper else -math.inf
            return max(log, math.ulp(1.0)) if upper > most else min(log, 0.0)

        def close(x: float) -> float:
            if len(answers) >= stop:
                return math.inf
            low, high = target.ends(answers[x])
            width = 1 - low / high if high else 0.0
            return max(enough, min(part * width, _WIDEST))

        return crossing(excess, tolerance=close, **place)

    part, most = 0.0, math.inf
    tried: list[tuple[float, Any]] = []
    if (rough := accountant.coarse()) != accountant:
        near = crossed(rough, _NEAR)
        place, part = place | {"guess": near.root, "slope": near.slope}, _PART
        if near.x < math.inf:
            tried, most = [(near.x, answers[near.x])], len(answers) + _MOST_ANSWERS
            place |= {"upper": near.x}
    end = crossed(accountant, tolerance, part, most)
    tried.append((end.x, answers[end.x if end.x < math.inf else end.below]))
    return min(tried, key=lambda end: end[0])
