"""Calibration of one parameter of a run to a target (epsilon, delta).

Every search returns a point at which the accountant proved an epsilon of at most the target, and
the guarantee there: the search affects only tightness. It begins with a coarse accountant if there
is one, and returns its best point if it ends after too many evaluations.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dplearn.accountants import Accountant, accountant_of
from dplearn.accountants._runs import MOST_RUNS
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee, read_back, round_up
from dplearn.core.solve import crossing
from dplearn.mechanisms import Mechanism
from dplearn.mechanisms._base import as_mechanism

_SMALLEST, _LARGEST = 1e-3, 1e7
# Tolerance of the search with a coarse accountant.
_NEAR = 0.2
# Tolerance of the search that follows it, as a fraction of the bracket's width, and the maximum.
_PART, _WIDEST = 0.1, 1e-3
# Most evaluations of the accountant after a coarse one has reached the target.
_MOST_ANSWERS = 16


class Unreachable(ValueError):
    """Error of a target that no value of the parameter reaches by this accountant."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Value of a parameter and the guarantee proved at this value.

    Parameters
    ----------
    parameter : "noise_multiplier", "steps", "sample_rate" or "delta"
    value : float >= 0
    guarantee : Guarantee, with epsilon at most the target
    """

    parameter: str
    value: float
    guarantee: Guarantee

    def __str__(self) -> str:
        if self.parameter == "steps":
            limit = " (the most that are tried)" if self.value == MOST_RUNS else ""
            return f"steps = {self.value}{limit}: {self.guarantee}"
        least = self.parameter == "noise_multiplier" and self.value == _SMALLEST
        limit = " (the least that is tried)" if least else ""
        # Delta is printed rounded up; other parameters exactly, since the proof is for that value.
        value = round_up(self.value, 6) if self.parameter == "delta" else read_back(self.value)
        return f"{self.parameter} = {value}{limit}: {self.guarantee}"


@validate.names_parameters
def smallest_noise_multiplier(
    mechanism: Any,
    accountant: Accountant | str = "pld",
    *,
    epsilon: float,
    delta: float,
    steps: int = 1,
    adjacency: Adjacency | None = None,
    rtol: float = 1e-6,
) -> Calibration:
    """Return the least noise with which `steps` runs of `mechanism` reach (epsilon, delta).

    The value is rounded to the digits of `rtol` and proved as printed; 1e-3 is the least tried.

    Parameters
    ----------
    mechanism : Mechanism with a `noise_multiplier`, possibly nested, or a plan of one phase
    accountant : Accountant or str, one of `dplearn.ACCOUNTANTS`
    epsilon : float > 0
    delta : float in (0, 1)
    steps : int >= 1
    adjacency : str, by default that of the plan's sampling
    rtol : float > 0, relative error at which the search stops; it also stops at a tenth of the
        bracket's relative width, at most 1e-3, or after sixteen evaluations

    Raises
    ------
    Unreachable if no value reaches the target
    TypeError or ValueError if an argument is missing or out of range

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> print(smallest_noise_multiplier(Gaussian(1.0), epsilon=1.0, delta=1e-5))
    noise_multiplier = 3.730632: 0.9999 <= epsilon <= 1 at delta = 1.0e-05, add_remove, by pld
    """
    mechanism, question = _one_release(mechanism, delta, steps, adjacency)
    largest = _LARGEST
    while largest >= 1:  # `DiscreteGaussian` refuses large values
        try:
            mechanism.vary(noise_multiplier=largest)
            break
        except ValueError:  # if another parameter is wrong, the search raises the error
            largest /= 2
    place = {"guess": 0.0, "lower": math.log(_SMALLEST), "upper": math.log(largest)}
    return _vary(accountant, mechanism, epsilon, question, "noise_multiplier", 1, place, rtol)


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
    """Return the largest sample rate in (0, 1] that reaches (epsilon, delta), rounded down.

    Parameters and errors are those of `smallest_noise_multiplier`; `mechanism` has a `sample_rate`,
    and the search begins at 1e-12.
    """
    mechanism, question = _one_release(mechanism, delta, steps, adjacency)
    place = {"guess": math.log(100), "lower": 0.0, "upper": 12 * math.log(10)}
    return _vary(accountant, mechanism, epsilon, question, "sample_rate", -1, place, rtol)


@validate.names_parameters
def largest_steps(
    mechanism: Any,
    accountant: Accountant | str = "pld",
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | None = None,
) -> Calibration:
    """Return the largest number of runs within (epsilon, delta), from 0 to 10^12.

    Parameters and tolerances are those of `smallest_noise_multiplier`. If a bracket is wide, more
    runs may be possible.

    Raises
    ------
    ValueError if a plan draws whole epochs: see `Plan.affordable_steps`
    """
    accountant = accountant_of(accountant)
    if getattr(getattr(mechanism, "sampling_scheme", None), "batches", 1) > 1:
        raise ValueError("Expected steps drawn afresh, got epochs: ask plan.affordable_steps.")
    mechanism, question = _one_release(mechanism, delta, 1, adjacency)
    after = lambda law, steps: law.epsilon(mechanism, **question | {"steps": steps})
    place = {"guess": -math.log(1000), "lower": -math.log(MOST_RUNS), "upper": 0.0}
    place |= {"snap": _to_whole_steps}
    ask = lambda law, x: after(law, _whole(x))
    x, guarantee = _search(ask, accountant, epsilon, place, tolerance=0.0)
    if x == math.inf:
        return Calibration(parameter="steps", value=0, guarantee=after(accountant, 0))
    return Calibration(parameter="steps", value=_whole(x), guarantee=guarantee)


def _one_release(
    mechanism: Any, delta: float, steps: int, adjacency: Adjacency | None
) -> tuple[Mechanism, dict[str, Any]]:
    """Return the repeated mechanism of a run, and the accountant's other arguments."""
    adjacency = adjacency or getattr(mechanism, "default_adjacency", "add_remove")
    whole = as_mechanism(mechanism)
    if whole is not mechanism:
        (whole, count), *others = whole.parts()
        if others:
            got = f"got {mechanism!r}."
            raise ValueError(f"Expected a plan of one phase, whose noise is varied, {got}")
        steps *= count
    return whole, {"delta": delta, "steps": steps, "adjacency": adjacency}


def _vary(
    accountant: Accountant | str,
    mechanism: Mechanism,
    epsilon: float,
    question: dict[str, Any],
    name: str,
    sign: int,
    place: dict[str, Any],
    tolerance: float,
) -> Calibration:
    """Return the least value (or largest, for `sign` = -1) of a parameter that reaches epsilon.

    Only values rounded to the digits of the tolerance are evaluated, so that the result is
    printed in full.
    """
    digits = min(max(1 - math.floor(math.log10(tolerance or 1e-16)), 6), 17)
    value_at = lambda x: float(f"{math.exp(sign * x):.{digits}g}")
    ask = lambda law, x: law.epsilon(mechanism.vary(**{name: value_at(x)}), **question)
    law = accountant_of(accountant)
    x, best = _search(ask, law, epsilon, place, tolerance=tolerance)
    if x == math.inf:
        raise Unreachable(
            f"Expected a reachable target, got epsilon={epsilon!r}: the smallest epsilon found "
            f"over all {name} is {best.epsilon:.4g} by {law.name}."
        )
    return Calibration(parameter=name, value=value_at(x), guarantee=best)


def _whole(minus_log_steps: float) -> int:
    return round(math.exp(-minus_log_steps))


def _to_whole_steps(x: float, a: float, b: float) -> float:
    """Return -log of a whole number of steps strictly between a and b, or b if there is none."""
    fewest = _whole(b) + 1 if b < math.inf else 1
    most = _whole(a) - 1 if a > -math.inf else MOST_RUNS
    # Rounding must not lose a step.
    steps = math.floor(math.exp(-x) * (1 + 1e-14))
    return -math.log(min(max(steps, fewest), most)) if fewest <= most else b


def _search(
    ask: Callable[[Accountant, float], Guarantee],
    accountant: Accountant,
    epsilon: float,
    place: dict[str, Any],
    *,
    tolerance: float,
) -> tuple[float, Guarantee]:
    """Return the smallest x with a guarantee of at most epsilon, and the guarantee.

    Epsilon decreases with x; if no x reaches the target, return inf and the guarantee at the upper
    end. `place` holds the initial guess and the limits of x.
    """
    validate.positive(epsilon=epsilon)
    answers: dict[float, Guarantee] = {}

    def crossed(law: Accountant, enough: float, part: float = 0.0, stop: float = math.inf) -> Any:
        """Return the crossing of epsilon; stop at `enough`, or at `part` of a bracket's width."""

        def excess(x: float) -> float:
            answers[x] = ask(law, x)
            # log epsilon is nearly linear in the logarithm of each parameter.
            upper = answers[x].epsilon
            log = math.log(upper / epsilon) if upper else -math.inf
            return max(log, math.ulp(1.0)) if upper > epsilon else min(log, 0.0)

        def close(x: float) -> float:
            if len(answers) >= stop:
                return math.inf
            low, high = answers[x].lower, answers[x].epsilon
            width = 1 - low / high if high else 0.0
            return max(enough, min(part * width, _WIDEST))

        return crossing(excess, tolerance=close, **place)

    part, most = 0.0, math.inf
    tried: list[tuple[float, Guarantee]] = []
    if (rough := accountant.coarse()) != accountant:
        near = crossed(rough, _NEAR)
        place, part = place | {"guess": near.root, "slope": near.slope}, _PART
        if near.x < math.inf:
            tried, most = [(near.x, answers[near.x])], len(answers) + _MOST_ANSWERS
            place |= {"upper": near.x}
    end = crossed(accountant, tolerance, part, most)
    tried.append((end.x, answers[end.x if end.x < math.inf else end.below]))
    return min(tried, key=lambda end: end[0])
