"""From a target (epsilon, delta) back to one parameter of the run.

Every search returns a point at which the accountant was asked and answered with an epsilon
at most the target, together with that answer. Tightness depends on the search, truth does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dplearn import _validate as validate
from dplearn._solve import decreasing_root
from dplearn.accountants import Accountant
from dplearn.guarantee import Adjacency, Guarantee
from dplearn.mechanisms import Mechanism

_SMALLEST, _LARGEST = 1e-3, 1e7
_MOST_STEPS = 10**12


class Unreachable(ValueError):
    """No value of the parameter reaches the target with this accountant."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A parameter and the guarantee proved at it.

    Parameters
    ----------
    parameter : str
        ``"noise_multiplier"``, ``"steps"`` or ``"sample_rate"``.
    value : float or int
    guarantee : Guarantee
        Its epsilon is at most the target.
    """

    parameter: str
    value: float
    guarantee: Guarantee

    def __str__(self) -> str:
        return f"{self.parameter} = {self.value:.6g}: {self.guarantee}"


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

    Parameters
    ----------
    accountant : Accountant
    mechanism : Mechanism
        Any instance with a `noise_multiplier`, possibly inside; its value is ignored.
    epsilon, delta : float
        Target, > 0 and in (0, 1).
    steps : int
    adjacency : {"add_remove", "replace_one", "zero_out"}
    rtol : float
        Relative width at which the search stops; the value is rounded up.

    Raises
    ------
    Unreachable
        If no noise multiplier up to 1e7 reaches the target with this accountant.

    Examples
    --------
    >>> from dplearn.accountants import accountants
    >>> from dplearn.mechanisms import Gaussian
    >>> found = smallest_noise_multiplier(
    ...     accountants["pld"](), mechanism=Gaussian(1.0), epsilon=1.0, delta=1e-5
    ... )
    >>> round(found.value, 4)
    3.7306
    """
    _check_target(epsilon, delta)

    def ask(log_sigma: float) -> Guarantee:
        varied = mechanism.vary(noise_multiplier=math.exp(log_sigma))
        return accountant.epsilon(varied, delta=delta, steps=steps, adjacency=adjacency)

    largest = _LARGEST
    while not _allows(mechanism, largest):
        largest /= 2
    log_value, guarantee = _search(
        ask, epsilon, math.log(_SMALLEST), math.log(largest), rtol, "noise_multiplier"
    )
    return Calibration(parameter="noise_multiplier", value=math.exp(log_value), guarantee=guarantee)


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
    whose value is ignored. The value found is rounded down.

    Raises
    ------
    Unreachable
        If no sample rate down to 1e-12 reaches the target with this accountant.
    """
    _check_target(epsilon, delta)

    def ask(minus_log_rate: float) -> Guarantee:
        varied = mechanism.vary(sample_rate=math.exp(-minus_log_rate))
        return accountant.epsilon(varied, delta=delta, steps=steps, adjacency=adjacency)

    value, guarantee = _search(ask, epsilon, 0.0, 12 * math.log(10), rtol, "sample_rate")
    return Calibration(parameter="sample_rate", value=math.exp(-value), guarantee=guarantee)


def largest_steps(
    accountant: Accountant,
    *,
    mechanism: Mechanism,
    epsilon: float,
    delta: float,
    adjacency: Adjacency = "add_remove",
) -> Calibration:
    """How many runs of `mechanism` stay within (epsilon, delta); 0 if not even one does.

    Parameters are those of `smallest_noise_multiplier`; the search stops at 10^12.

    Examples
    --------
    >>> from dplearn.accountants import accountants
    >>> from dplearn.mechanisms import Gaussian
    >>> largest_steps(
    ...     accountants["pld"](), mechanism=Gaussian(10.0), epsilon=1.0, delta=1e-5
    ... ).value
    7
    """
    _check_target(epsilon, delta)

    def ask(steps: list[int]) -> list[tuple[int, Guarantee]]:
        found = accountant.epsilon_curve(mechanism, delta=delta, steps=steps, adjacency=adjacency)
        return list(zip(steps, found, strict=True))

    # Powers of two, eight at a time, then ever finer divisions: one curve shares its work.
    good, bad, power = ask([0])[0], 0, 1
    while bad == 0 and power <= _MOST_STEPS:
        trial = [t for t in (power << k for k in range(8)) if t <= _MOST_STEPS]
        good, bad = _split(ask(trial), good, epsilon)
        power <<= 8
    bad = bad or _MOST_STEPS + 1
    while bad - good[0] > 1:
        inner = np.unique(np.linspace(good[0], bad, 18).astype(int)[1:-1])
        trial = [int(t) for t in inner if good[0] < t < bad] or [good[0] + 1]
        good, narrowed = _split(ask(trial), good, epsilon)
        bad = narrowed or bad
    # Asked alone the last digits may differ: report what a reader would get.
    alone = ask([good[0]])[0][1]
    guarantee = alone if alone.epsilon <= epsilon else good[1]
    return Calibration(parameter="steps", value=good[0], guarantee=guarantee)


def _split(
    found: list[tuple[int, Guarantee]], good: tuple[int, Guarantee], epsilon: float
) -> tuple[tuple[int, Guarantee], int]:
    """The last entry before epsilon is passed, and the first that passes it (0 if none does)."""
    for entry in found:
        if entry[1].epsilon > epsilon:
            return good, entry[0]
        good = entry
    return good, 0


def _allows(mechanism: Mechanism, noise_multiplier: float) -> bool:
    """Whether the mechanism takes so much noise; some tabulate it and stop early."""
    try:
        mechanism.vary(noise_multiplier=noise_multiplier)
    except ValueError:
        return noise_multiplier < 1.0  # some other parameter is wrong: let it speak
    return True


def _check_target(epsilon: float, delta: float) -> None:
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)


def _search(
    ask: Callable[[float], Guarantee],
    epsilon: float,
    lower: float,
    upper: float,
    rtol: float,
    name: str,
) -> tuple[float, Guarantee]:
    """Smallest x in [lower, upper] at which `ask(x)` was seen within epsilon, and its answer."""
    asked: dict[float, Guarantee] = {}

    def excess(x: np.ndarray) -> np.ndarray:
        guarantee = asked.setdefault(float(x), ask(float(x)))
        # On a log scale the answer is nearly straight; 0 and inf are capped.
        size = min(max(guarantee.epsilon, 1e-300), 1e300)
        return np.asarray(math.log(size) - math.log(epsilon))

    if excess(np.asarray(upper)) > 0:
        raise Unreachable(
            f"Expected a reachable target, got epsilon={epsilon!r}: the smallest epsilon found "
            f"over all {name} is {asked[upper].epsilon:.4g} by {asked[upper].method}."
        )
    # Close the bracket geometrically before interpolating.
    width, right = 0.5, upper
    left = max(lower, min(0.0, upper))
    if excess(np.asarray(left)) <= 0:
        while left > lower and excess(np.asarray(left)) <= 0:
            right, left, width = left, max(lower, left - width), 2 * width
    else:
        while (trial := min(left + width, upper)) < upper and excess(np.asarray(trial)) > 0:
            left, width = trial, 2 * width
        right = trial
    # An absolute width in the logarithm is a relative one in the parameter.
    scale = max(abs(left), abs(right), 1e-3)
    x = float(
        decreasing_root(excess, lower=np.asarray(left), upper=np.asarray(right), rtol=rtol / scale)
    )
    return x, asked[x]
