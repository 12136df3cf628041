"""What a claim is compared with: the certified answer, as a lower and an upper end."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants._runs import Runs, directions
from dplearn.accountants.theorems import optimal_composition, tails_error
from dplearn.engine.lattice import Lattice
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.solve import crossing, decreasing_root
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

_G, _P, _W = "gaussian", "poisson_subsampled_gaussian", "without_replacement_gaussian"
_L, _R, _PURE = "laplace", "randomized_response", "pure_dp"
# What is asked for this relative width or less costs so many times the price.
_ROUGH, FINER = 1e-5, 4
# Roundings of a closed form, relative.
_ROUNDED = 1e-11


@dataclass(frozen=True)
class Subject:
    """One quantity of one mechanism."""

    names: tuple[str, ...]  # the parameters that decide it, the two most telling ones first
    along: str | None  # the one whose values are answered in one call; None: all of them are
    bracket: Ends
    adjacency: str
    note: str  # what the truth is, in words
    rough: float = 1e-3  # relative width that is good enough for a survey
    proof: Ends | None = None  # of the points that are reported, if `bracket` is not certified
    price: float = 1.0  # of an answer, in hundredths of a second of one core where it was measured

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


@dataclass
class Purse:
    """What may be asked: a verdict must depend on the question, not on how busy a machine is."""

    left: float

    def pays(self, price: float) -> bool:
        """Whether there is enough for an answer; its price is then spent."""
        enough = price <= self.left
        self.left -= price if enough else 0.0
        return enough


def brackets(
    truth: Subject,
    points: Points,
    *,
    rtol: float,
    purse: Purse,
    order: NDArray | None = None,
) -> Bracket:
    """Lower and upper end at every point; nan where the purse did not suffice.

    `order` is that in which the points are taken up.
    """
    size = len(next(iter(points.values())))
    lower, upper = np.full(size, np.nan), np.full(size, np.nan)
    if truth.along is None:
        lower[:], upper[:] = truth.bracket({}, points, rtol)
        return lower, upper
    for shared, rows in _groups(truth, points, np.arange(size) if order is None else order):
        if not purse.pays(truth.price if rtol > _ROUGH else FINER * truth.price):
            break
        values = points[truth.along][rows] if truth.along else np.zeros(1)
        distinct, back = np.unique(values, return_inverse=True)
        low, high = _remembered(truth, shared, tuple(distinct.tolist()), rtol)
        lower[rows], upper[rows] = np.array(low)[back], np.array(high)[back]
    return lower, upper


def _groups(
    truth: Subject, points: Points, order: NDArray
) -> Iterator[tuple[tuple[tuple[str, float], ...], NDArray]]:
    """Points that differ only in the parameter `along`, in the order of their first ones."""
    names = [n for n in truth.names if n != truth.along]
    keys = np.stack([points[n][order] for n in names], axis=1)
    rows_of: dict[tuple[float, ...], list[int]] = {}
    for index, key in zip(order.tolist(), map(tuple, keys.tolist()), strict=True):
        rows_of.setdefault(key, []).append(index)
    for key, rows in rows_of.items():
        yield tuple(zip(names, key, strict=True)), np.array(rows)


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


@dataclass(frozen=True)
class _Step:
    """One step: how it is built from the parameters, and who its neighbours are."""

    names: tuple[str, ...]
    build: Callable[..., Mechanism]
    adjacency: Adjacency

    def made(self, values: Values) -> Mechanism:
        return self.build(*(values[name] for name in self.names))

    def epsilon(self, values: Values, along: Points, rtol: float) -> Bracket:
        steps = along["T"].astype(int)
        if rtol > 1e-5 and not isinstance(self.made(values), PoissonSubsampled):
            # The accountant would look for a better bound where the bracket is wide.
            sides = directions(Runs.of(self.made(values), 1, self.adjacency))
            return Lattice(rtol, 2**14).brackets(
                [side.profiles for side in sides],
                steps[:, None],
                delta=values["delta"],
                witnesses=[side.witnesses for side in sides],
            )
        # A rough question needs few cells.
        pld = ACCOUNTANTS["pld"](rtol=rtol, most_cells=2**12 if rtol > 1e-5 else 2**16)
        both = {"delta": values["delta"], "steps": steps, "adjacency": self.adjacency}
        guarantees = pld.epsilon_curve(self.made(values), **both)
        # The lower end leaves room for what an exact value was rounded up.
        lower = [g.lower * (1 - _ROUNDED) for g in guarantees]
        return np.array(lower), np.array([g.epsilon for g in guarantees])

    def delta(self, values: Values, along: Points, rtol: float) -> Bracket:
        """Epsilon is the total one; that of a pure step is epsilon_0."""
        step = self.made({**values, "epsilon": values.get("epsilon_0", 0.0)})
        row, epsilons = np.array([values["T"]]), along["epsilon"]
        lattice = Lattice(rtol, 2**12 if rtol > 1e-5 else 2**16)
        sides = directions(Runs.of(step, 1, self.adjacency))
        ends = [side.log_deltas(row, epsilons, lattice) for side in sides]
        lower, upper = np.exp(np.max(ends, axis=0))
        return lower * (1 - _ROUNDED), upper * (1 + _ROUNDED)

    def sigma(self, values: Values, along: Points, rtol: float) -> Bracket:
        """A noise multiplier that was seen to be too little, and one that was seen to suffice."""
        tried: dict[float, tuple[float, float]] = {}

        def excess(log_sigma: float) -> float:
            at = {**values, "sigma": math.exp(log_sigma)}
            low, high = self.epsilon(at, {"T": np.array([values["T"]])}, rtol / 10)
            tried[log_sigma] = float(low[0]), float(high[0])
            return math.log(high[0] / values["epsilon"]) if high[0] > 0 else -math.inf

        lowest, highest = math.log(0.02), math.log(1e5)
        enough = crossing(excess, guess=0.0, lower=lowest, upper=highest, tolerance=rtol)
        little = [x for x, (low, _) in tried.items() if low > values["epsilon"]]
        return np.exp([max(little, default=-math.inf)]), np.exp([enough.x])

    def rdp(self, values: Values, along: Points, rtol: float) -> Bracket:
        made = self.made(values)
        upper = made.rdp(along["alpha"], adjacency=self.adjacency)
        real = upper
        if not made.attained:
            witnesses = made.witnesses(self.adjacency)
            real = np.max([pair.renyi(along["alpha"]) for pair in witnesses], axis=0)
        return real * (1 - _ROUNDED), upper * (1 + _ROUNDED)


_STEPS = {
    _P: _Step(("sigma", "q"), lambda s, q: PoissonSubsampled(Gaussian(s), q), "add_remove"),
    _W: _Step(("sigma", "q"), lambda s, q: WithoutReplacement(Gaussian(s), q), "replace_one"),
    _L: _Step(("epsilon",), lambda e: Laplace(1 / e), "add_remove"),
    _R: _Step(("epsilon",), RandomizedResponse, "replace_one"),
}


def _gaussian_epsilon(_: Values, at: Points, rtol: float) -> Bracket:
    upper = gaussian_epsilon(at["delta"], np.sqrt(at["T"]) / at["sigma"])
    return upper * (1 - _ROUNDED), upper


def _gaussian_delta(_: Values, at: Points, rtol: float) -> Bracket:
    delta = np.exp(gaussian_log_delta(at["epsilon"], np.sqrt(at["T"]) / at["sigma"]))
    return delta * (1 - _ROUNDED), delta * (1 + _ROUNDED)


def _gaussian_sigma(_: Values, at: Points, rtol: float) -> Bracket:
    epsilon, log_delta = at["epsilon"], np.log(at["delta"])
    # mu^2 / 2 + mu sqrt(2 ln(1/delta)) = epsilon is enough: concentrated DP.
    enough = 1 / (np.sqrt(2 * (epsilon - log_delta)) - np.sqrt(-2 * log_delta))
    one = decreasing_root(
        lambda s: gaussian_log_delta(epsilon, 1 / s) - log_delta,
        lower=1e-6 * enough,
        upper=enough * (1 + 1e-9),
    )
    upper = np.sqrt(at["T"]) * one
    return upper * (1 - _ROUNDED), upper * (1 + _ROUNDED)


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
    step = _STEPS[_R]
    ends = [
        step.epsilon({"epsilon": e, "delta": d}, {"T": np.array([t])}, rtol)
        for e, d, t in zip(at["epsilon"], at["delta"], at["T"], strict=True)
    ]
    return tuple(np.concatenate(ends, axis=1))  # type: ignore[return-value]


def _amplified(_: Values, at: Points, rtol: float) -> Bracket:
    # log(1 + q (e^epsilon - 1)), with the roundings of three functions.
    value = np.log1p(at["q"] * np.expm1(at["epsilon"]))
    return value * (1 - 1e-15), value * (1 + 1e-15)


_BOTH, _ONE = "add_remove", "replace_one"
_EXACT = "the exact closed profile of the Gaussian"
_COMPOSED = "the certified composition of the privacy loss"
_WORST = "the worst mechanism of this kind, composed optimally (randomized response)"
_RDP = "the Rényi divergence of the worst neighbours, one step"
_MIXED = "the worst base with this guarantee, whose Poisson sample loses exactly this"

_SAMPLED = ("sigma", "T", "q", "delta")
_NOISE = ("epsilon", "T", "q", "delta")
_SPENT = ("epsilon", "sigma", "T", "q")
_ORDER = ("alpha", "sigma", "q")
_STEPPED = ("epsilon", "T", "epsilon_0")
_RESPONSES = {
    "epsilon": Subject(
        ("epsilon", "T", "delta"), None, _pure_epsilon, _ONE, _WORST, proof=_proved_pure_epsilon
    ),
    "delta": Subject(_STEPPED, "epsilon", _STEPS[_R].delta, _ONE, _WORST),
    "rdp": Subject(("alpha", "epsilon"), "alpha", _STEPS[_R].rdp, _ONE, _RDP),
}
# Randomized response is the worst of all that has epsilon, whoever the neighbours are.
_ANY = {quantity: replace(worst, adjacency="any") for quantity, worst in _RESPONSES.items()}

QUANTITIES: dict[str, dict[str, Subject]] = {
    "epsilon": {
        _G: Subject(("sigma", "T", "delta"), None, _gaussian_epsilon, _BOTH, _EXACT),
        _P: Subject(_SAMPLED, "T", _STEPS[_P].epsilon, _BOTH, _COMPOSED, price=2),
        _W: Subject(_SAMPLED, "T", _STEPS[_W].epsilon, _ONE, _COMPOSED, price=12),
        _L: Subject(("epsilon", "T", "delta"), "T", _STEPS[_L].epsilon, _BOTH, _COMPOSED, price=4),
        _R: _RESPONSES["epsilon"],
        _PURE: _ANY["epsilon"],
    },
    "delta": {
        _G: Subject(("epsilon", "sigma", "T"), None, _gaussian_delta, _BOTH, _EXACT),
        _P: Subject(_SPENT, "epsilon", _STEPS[_P].delta, _BOTH, _COMPOSED, price=2),
        _W: Subject(_SPENT, "epsilon", _STEPS[_W].delta, _ONE, _COMPOSED, price=3),
        _L: Subject(_STEPPED, "epsilon", _STEPS[_L].delta, _BOTH, _COMPOSED),
        _R: _RESPONSES["delta"],
        _PURE: _ANY["delta"],
    },
    "sigma": {
        _G: Subject(("epsilon", "delta", "T"), None, _gaussian_sigma, _BOTH, _EXACT),
        _P: Subject(_NOISE, "", _STEPS[_P].sigma, _BOTH, _COMPOSED, 1e-2, price=6),
        _W: Subject(_NOISE, "", _STEPS[_W].sigma, _ONE, _COMPOSED, 1e-2, price=20),
    },
    "rdp": {
        _G: Subject(("alpha", "sigma"), None, _gaussian_rdp, _BOTH, _RDP),
        _P: Subject(_ORDER, "alpha", _STEPS[_P].rdp, _BOTH, _RDP),
        _W: Subject(_ORDER, "alpha", _STEPS[_W].rdp, _ONE, _RDP),
        _L: Subject(("alpha", "epsilon"), "alpha", _STEPS[_L].rdp, _BOTH, _RDP),
        _R: _RESPONSES["rdp"],
        _PURE: _ANY["rdp"],
    },
    "amplified_epsilon": dict.fromkeys(
        ("approximate_dp", _PURE), Subject(("epsilon", "q"), None, _amplified, _BOTH, _MIXED)
    ),
}
