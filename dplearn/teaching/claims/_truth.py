"""What a claim is compared with: the certified answer, as a lower and an upper end."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants._runs import Runs, directions
from dplearn.accountants.theorems import optimal_composition, tails_error
from dplearn.core.guarantee import Adjacency
from dplearn.core.solve import crossing, decreasing_root
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import (
    Gaussian,
    Laplace,
    Mechanism,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
)
from dplearn.mechanisms.gaussian import gaussian_epsilon, gaussian_log_delta

Values = Mapping[str, float]
Points = Mapping[str, NDArray]
Bracket = tuple[NDArray, NDArray]
# From shared values, the values of the other parameters and a relative width to aim at.
Ends = Callable[[Values, Points, float], Bracket]

# A relative width that is rough: few cells will do.
_ROUGH = 1e-5
# Roundings of a closed form, relative.
_ROUNDED = 1e-11


@dataclass(frozen=True)
class Subject:
    """One quantity of one mechanism."""

    parameters: str  # that decide it, the two most telling ones first
    bracket: Ends
    along: str | None = None  # the one whose values are answered in one call; None: all of them are
    adjacency: str = "add_remove"
    note: str = "the certified composition of the privacy loss"  # what the truth is, in words
    rough: float = 1e-3  # relative width that is good enough for a survey
    proof: Ends | None = None  # of the points that are reported, if `bracket` is not certified
    price: float = 1.0  # of an answer, in hundredths of a second of one core where it was measured

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, one by one."""
        return tuple(self.parameters.split())

    @property
    def costly(self) -> bool:
        """Whether every point costs milliseconds."""
        return self.along is not None and self.along != "alpha"


def subject(quantity: str, of: str) -> Subject:
    """The truth about one quantity of one mechanism; a ValueError if none is certified."""
    if quantity not in QUANTITIES:
        raise ValueError(f"Expected quantity among {', '.join(QUANTITIES)}, got {quantity!r}.")
    subjects = QUANTITIES[quantity]
    if of not in subjects:
        raise ValueError(f"Expected {quantity} of one of {', '.join(subjects)}, got {of!r}.")
    return subjects[of]


def ends_at(truth: Subject, points: Points, *, rtol: float) -> Bracket:
    """Lower and upper end at every point."""
    if truth.along is None:
        return truth.bracket({}, points, rtol)
    lower, upper = np.full((2, len(next(iter(points.values())))), np.nan)
    names = [n for n in truth.names if n != truth.along]
    # Points that differ only in the parameter `along` are answered together.
    keys, place = np.unique([points[n] for n in names], axis=1, return_inverse=True)
    for k, key in enumerate(keys.T.tolist()):
        rows = np.flatnonzero(place == k)
        values = points[truth.along][rows] if truth.along else np.zeros(1)
        distinct, back = np.unique(values, return_inverse=True)
        shared = tuple(zip(names, key, strict=True))
        low, high = _remembered(truth, shared, tuple(distinct.tolist()), rtol)
        lower[rows], upper[rows] = np.array(low)[back], np.array(high)[back]
    return lower, upper


@lru_cache(maxsize=20_000)
def _remembered(
    truth: Subject, shared: tuple[tuple[str, float], ...], values: tuple[float, ...], rtol: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The truth does not depend on who claims what about it."""
    try:
        along = {truth.along: np.array(values)} if truth.along else {}
        lower, upper = truth.bracket(dict(shared), along, rtol)
    except ArithmeticError:  # a quadrature that did not converge decides nothing
        lower, upper = np.zeros(len(values)), np.full(len(values), np.inf)
    return tuple(np.ravel(lower).tolist()), tuple(np.ravel(upper).tolist())


def _rounded(value: NDArray) -> Bracket:
    """Both ends of a closed form, with room for its roundings."""
    return value * (1 - _ROUNDED), value * (1 + _ROUNDED)


@dataclass(frozen=True)
class _Step:
    """One step: how it is built from the parameters, and who its neighbours are."""

    parameters: str
    build: Callable[..., Mechanism]
    adjacency: Adjacency

    def of(self, quantity: str, parameters: str, along: str | None = None, **more: Any) -> Subject:
        """One of its quantities, by default along the first parameter; that of noise is coarse."""
        first = parameters.split()[0] if along is None else along
        rough = 1e-2 if quantity == "sigma" else Subject.rough
        bracket = getattr(self, quantity)
        return Subject(parameters, bracket, first, self.adjacency, rough=rough, **more)

    def made(self, values: Values) -> Mechanism:
        return self.build(*(values[name] for name in self.parameters.split()))

    def epsilon(self, values: Values, along: Points, rtol: float) -> Bracket:
        step, steps, rough = self.made(values), along["T"].astype(int), rtol > _ROUGH
        if rough and not isinstance(step, PoissonSubsampled):
            # The accountant would look for a better bound where the bracket is wide.
            sides = directions(Runs.of(step, 1, self.adjacency))
            return Lattice(rtol, 2**14).brackets(
                [side.profiles for side in sides],
                steps[:, None],
                delta=values["delta"],
                witnesses=[side.witnesses for side in sides],
            )
        # A rough question needs few cells.
        pld = ACCOUNTANTS["pld"](rtol=rtol, most_cells=2**12 if rough else 2**16)
        guarantees = pld.epsilon_curve(
            step, delta=values["delta"], steps=steps, adjacency=self.adjacency
        )
        # The lower end leaves room for what an exact value was rounded up.
        lower = [g.lower * (1 - _ROUNDED) for g in guarantees]
        return np.array(lower), np.array([g.epsilon for g in guarantees])

    def delta(self, values: Values, along: Points, rtol: float) -> Bracket:
        """Epsilon is the total one; that of a pure step is epsilon_0."""
        step = self.made({**values, "epsilon": values.get("epsilon_0", 0.0)})
        row, epsilons = np.array([values["T"]]), along["epsilon"]
        lattice = Lattice(rtol, 2**12 if rtol > _ROUGH else 2**16)
        sides = directions(Runs.of(step, 1, self.adjacency))
        lower, upper = np.exp(
            np.max([side.log_deltas(row, epsilons, lattice) for side in sides], axis=0)
        )
        return lower * (1 - _ROUNDED), upper * (1 + _ROUNDED)

    def sigma(self, values: Values, along: Points, rtol: float) -> Bracket:
        """A noise multiplier that was seen to be too little, and one that was seen to suffice."""
        little = [-math.inf]

        def excess(log_sigma: float) -> float:
            at = {**values, "sigma": math.exp(log_sigma)}
            (low,), (high,) = self.epsilon(at, {"T": np.array([values["T"]])}, rtol / 10)
            if low > values["epsilon"]:
                little.append(log_sigma)
            return math.log(high / values["epsilon"]) if high > 0 else -math.inf

        lowest, highest = math.log(0.02), math.log(1e5)
        enough = crossing(excess, guess=0.0, lower=lowest, upper=highest, tolerance=rtol)
        return np.exp([max(little)]), np.exp([enough.x])

    def rdp(self, values: Values, along: Points, rtol: float) -> Bracket:
        made = self.made(values)
        real = upper = made.rdp(along["alpha"], adjacency=self.adjacency)
        if not made.attained:
            witnesses = made.witnesses(self.adjacency)
            real = np.max([pair.renyi(along["alpha"]) for pair in witnesses], axis=0)
        return real * (1 - _ROUNDED), upper * (1 + _ROUNDED)


_POISSON = _Step("sigma q", lambda s, q: PoissonSubsampled(Gaussian(s), q), "add_remove")
_FIXED = _Step("sigma q", lambda s, q: WithoutReplacement(Gaussian(s), q), "replace_one")
_LAPLACE = _Step("epsilon", lambda epsilon: Laplace(1 / epsilon), "add_remove")
_RESPONSE = _Step("epsilon", RandomizedResponse, "replace_one")


def _gaussian_epsilon(_: Values, at: Points, rtol: float) -> Bracket:
    upper = gaussian_epsilon(at["delta"], np.sqrt(at["T"]) / at["sigma"])
    return upper * (1 - _ROUNDED), upper


def _gaussian_delta(_: Values, at: Points, rtol: float) -> Bracket:
    return _rounded(np.exp(gaussian_log_delta(at["epsilon"], np.sqrt(at["T"]) / at["sigma"])))


def _gaussian_sigma(_: Values, at: Points, rtol: float) -> Bracket:
    epsilon, log_delta = at["epsilon"], np.log(at["delta"])
    # mu^2 / 2 + mu sqrt(2 ln(1/delta)) = epsilon is enough: concentrated DP.
    enough = 1 / (np.sqrt(2 * (epsilon - log_delta)) - np.sqrt(-2 * log_delta))
    one = decreasing_root(
        lambda s: gaussian_log_delta(epsilon, 1 / s) - log_delta,
        lower=1e-6 * enough,
        upper=enough * (1 + 1e-9),
    )
    return _rounded(np.sqrt(at["T"]) * one)


def _gaussian_rdp(_: Values, at: Points, rtol: float) -> Bracket:
    value = at["alpha"] / (2 * at["sigma"] ** 2)
    return value, value


def _pure_epsilon(_: Values, at: Points, rtol: float) -> Bracket:
    """Closed form; beyond 600, where probabilities underflow, its lower end is no proof."""
    upper = optimal_composition(epsilon=at["epsilon"], steps=at["T"], slack=at["delta"])
    # The slope of delta makes what the masses are granted an error of epsilon.
    room = 10 * tails_error(at["T"]) * (upper + 2 / (1 - at["delta"]))
    return np.maximum(upper - room, 0), upper


def _proved_pure_epsilon(_: Values, at: Points, rtol: float) -> Bracket:
    """Bracket of `_pure_epsilon` by the lattice, point by point."""
    ends = [
        _RESPONSE.epsilon({"epsilon": e, "delta": d}, {"T": np.array([t])}, rtol)
        for e, d, t in zip(at["epsilon"], at["delta"], at["T"], strict=True)
    ]
    return tuple(np.concatenate(ends, axis=1))  # type: ignore[return-value]


def _amplified(_: Values, at: Points, rtol: float) -> Bracket:
    # log(1 + q (e^epsilon - 1)), with the roundings of three functions.
    value = np.log1p(at["q"] * np.expm1(at["epsilon"]))
    return value * (1 - 1e-15), value * (1 + 1e-15)


_exact = partial(Subject, note="the exact closed profile of the Gaussian")
_WORST = "the worst mechanism of this kind, composed optimally (randomized response)"
_SAMPLED = "the worst base with this guarantee, whose Poisson sample loses exactly this"
_DIVERGENCE = "the Rényi divergence of the worst neighbours, one step"
_PURE = Subject("epsilon T delta", _pure_epsilon, None, "replace_one", _WORST)
QUANTITIES: dict[str, dict[str, Subject]] = {
    "epsilon": {
        "gaussian": _exact("sigma T delta", _gaussian_epsilon),
        "poisson_subsampled_gaussian": _POISSON.of("epsilon", "sigma T q delta", "T", price=2),
        "without_replacement_gaussian": _FIXED.of("epsilon", "sigma T q delta", "T", price=12),
        "laplace": _LAPLACE.of("epsilon", "epsilon T delta", "T", price=4),
        "randomized_response": replace(_PURE, proof=_proved_pure_epsilon),
    },
    "delta": {
        "gaussian": _exact("epsilon sigma T", _gaussian_delta),
        "poisson_subsampled_gaussian": _POISSON.of("delta", "epsilon sigma T q", price=2),
        "without_replacement_gaussian": _FIXED.of("delta", "epsilon sigma T q", price=3),
        "laplace": _LAPLACE.of("delta", "epsilon T epsilon_0"),
        "randomized_response": _RESPONSE.of("delta", "epsilon T epsilon_0", note=_WORST),
    },
    "sigma": {
        "gaussian": _exact("epsilon delta T", _gaussian_sigma),
        "poisson_subsampled_gaussian": _POISSON.of("sigma", "epsilon T q delta", "", price=6),
        "without_replacement_gaussian": _FIXED.of("sigma", "epsilon T q delta", "", price=20),
    },
    "rdp": {
        "gaussian": Subject("alpha sigma", _gaussian_rdp, note=_DIVERGENCE),
        "poisson_subsampled_gaussian": _POISSON.of("rdp", "alpha sigma q", note=_DIVERGENCE),
        "without_replacement_gaussian": _FIXED.of("rdp", "alpha sigma q", note=_DIVERGENCE),
        "laplace": _LAPLACE.of("rdp", "alpha epsilon", note=_DIVERGENCE),
        "randomized_response": _RESPONSE.of("rdp", "alpha epsilon", note=_DIVERGENCE),
    },
    "amplified_epsilon": dict.fromkeys(
        ("approximate_dp", "pure_dp"), Subject("epsilon q", _amplified, note=_SAMPLED)
    ),
}
# Randomized response is the worst of all that has epsilon, whoever the neighbours are.
for _quantity in ("epsilon", "delta", "rdp"):
    _worst = QUANTITIES[_quantity]["randomized_response"]
    QUANTITIES[_quantity]["pure_dp"] = replace(_worst, adjacency="any")
