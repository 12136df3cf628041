"""Everything the page of mechanisms draws of one pair of neighbouring outputs."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.engine.lattice import Lattice
from dplearn.engine.lattice.above import chords, connect_the_dots
from dplearn.engine.lattice.below import Atoms
from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import ADJACENCIES, Adjacency
from dplearn.mechanisms import Mechanism, Outputs


@dataclass(frozen=True)
class Pair:
    """One ordered pair of neighbouring outputs; `direction` says whether P or Q has the record."""

    mechanism: Mechanism
    adjacency: Adjacency
    direction: str = "remove"

    @property
    def end(self) -> int:
        """Index into what a mechanism says per direction."""
        return 0 if self.direction == "remove" else -1

    @property
    def composed(self) -> bool:
        """Whether several releases are looked at as one."""
        return self.mechanism.parts() != ((self.mechanism, 1),)

    @property
    def two_sided(self) -> bool:
        """Whether the directions differ."""
        return any(len(m.profiles(self.adjacency)) > 1 for m, _ in self.mechanism.parts())

    @property
    def outputs(self) -> Outputs | None:
        """The two laws on a line, where there are such."""
        outputs = self.mechanism.outputs(self.adjacency)
        return outputs[self.end] if outputs else None

    @property
    def exact(self) -> bool:
        """Whether a real pair has this profile."""
        return self.mechanism.attained and not self.composed

    @property
    def witnesses(self) -> tuple[Profile, ...]:
        """Profiles of real pairs below this one."""
        if self.composed:
            return ()
        profiles = self.mechanism.witnesses(self.adjacency)
        return profiles[self.end :][:1] if self.two_sided else profiles

    @property
    def is_above_witnesses(self) -> bool:
        """Whether the profile is a bound, and real pairs below it are known."""
        return not self.exact and bool(self.witnesses)


def covered(mechanism: Mechanism) -> tuple[Adjacency, ...]:
    """The adjacencies under which it has a profile."""
    return tuple(a for a in ADJACENCIES if not refusal(mechanism, a))


def refusal(mechanism: Mechanism, adjacency: Adjacency) -> str:
    """Why the mechanism has no profile under an adjacency, or an empty string."""
    try:
        for part, _ in mechanism.parts():
            part.profiles(adjacency)
    except NotImplementedError as error:
        return str(error)
    return ""


_ORDERS = tuple(float(a) for a in 1 + np.geomspace(0.01, 999, 90))
_RATES = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 40), np.linspace(0.12, 1.0, 45)])
# Laws with so few atoms have corners to be seen.
_CORNERS = 40
# Bins over the bulk of the losses, and the share of either tail that the bulk leaves out.
_BINS, _OUTSIDE = 60, 1e-3
# The largest loss that is looked at, and the nodes of a tabulated profile on either side of 0.
_FAR, _NODES = 700.0, 2000


class Bounds(NamedTuple):
    """What is proved of a number from both sides; equal where it is exact, 0 where nothing is."""

    lower: float
    upper: float


class Losses(NamedTuple):
    """Masses of the privacy loss under P between edges, shape (n,) and (n + 1,).

    `counted` is the part P - e^epsilon Q of a bin above epsilon: these sum to delta.
    """

    edges: NDArray
    mass: NDArray
    counted: NDArray


@lru_cache(maxsize=64)
def profile(pair: Pair) -> Profile:
    """The profile, exact or from above; of a composition, by the dots of a lattice."""
    if not pair.composed:
        return pair.mechanism.profiles(pair.adjacency)[pair.end]
    mechanisms, counts = zip(*pair.mechanism.parts(), strict=True)
    sides = [m.profiles(pair.adjacency)[pair.end] for m in mechanisms]
    far = PLD().epsilon(pair.mechanism, delta=1e-12, adjacency=pair.adjacency).epsilon
    nodes = np.linspace(0.0, min(far, _FAR), _NODES)
    _, ahead = Lattice().log_deltas(sides, counts, epsilons=nodes)
    _, behind = Lattice().log_deltas([p.reverse() for p in sides], counts, epsilons=nodes[1:])
    both = np.concatenate([-nodes[:0:-1], nodes])
    value = np.concatenate([np.exp(behind - nodes[1:])[::-1], np.exp(ahead)])
    return _of_masses(both, *chords(both, value))


@lru_cache(maxsize=256)
def delta(pair: Pair, epsilon: float) -> Bounds:
    """Delta of the pair at epsilon."""
    if pair.composed and not pair.two_sided:
        guarantee = PLD().delta(pair.mechanism, epsilon=epsilon, adjacency=pair.adjacency)
        return Bounds(guarantee.delta_lower, guarantee.delta)
    upper = float(profile(pair).delta(epsilon))
    return Bounds(upper if pair.exact else float(real_deltas(pair, np.array(epsilon))), upper)


@lru_cache(maxsize=256)
def detected(pair: Pair, rate: float) -> Bounds:
    """True positive rate of the best attacker with this false positive rate."""
    if pair.composed and not pair.two_sided:
        lower, upper = PLD().true_positive_rate(
            pair.mechanism, false_positive_rate=rate, adjacency=pair.adjacency
        )
        return Bounds(float(lower), float(upper))
    upper = 1 - float(profile(pair).tradeoff(rate))
    return Bounds(upper if pair.exact else float(caught(pair, np.array([rate]))[0]), upper)


def caught(pair: Pair, rates: NDArray) -> NDArray:
    """True positive rates that thresholds on the loss reach against real pairs; 0 if none."""
    # Between two thresholds a coin decides which one to use.
    reached = [np.interp(rates, q[::-1], p[::-1]) for p, q in _thresholds(pair)]
    return np.max([np.zeros(rates.shape), *reached], axis=0)


@lru_cache(maxsize=64)
def _thresholds(pair: Pair) -> list[tuple[NDArray, NDArray]]:
    """P(L > x) and Q(L > x) of every real pair, along x."""
    x = np.geomspace(1e-4, 2 * reach(pair), 200)
    x = np.concatenate([[-_FAR], -x[::-1], [0.0], x, [_FAR]])
    return [beyond(w, x) for w in pair.witnesses if w.has_tails]


@lru_cache(maxsize=64)
def tradeoff(pair: Pair) -> tuple[NDArray, NDArray]:
    """False positive rates, corners of the curve included, and the least misses at each."""
    losses_of = law(pair)
    kinks = np.asarray(losses_of.kinks, dtype=float)
    kinks = kinks if kinks.size <= _CORNERS else kinks[:0]
    rates = np.union1d(_RATES, beyond(losses_of, np.concatenate([-kinks, [0.0], kinks]))[1])
    return rates, profile(pair).tradeoff(rates)


@lru_cache(maxsize=64)
def renyi(pair: Pair) -> tuple[NDArray, NDArray]:
    """Orders, and the Rényi divergence at each: the larger one of both directions."""
    return np.array(_ORDERS), pair.mechanism.rdp(_ORDERS, adjacency=pair.adjacency)


@lru_cache(maxsize=256)
def divergence(pair: Pair, order: float) -> float:
    """The Rényi divergence at one order."""
    return float(pair.mechanism.rdp([order], adjacency=pair.adjacency)[0])


def proved(orders: NDArray, divergences: NDArray, target: float) -> NDArray:
    """Epsilon that each order proves at delta = `target`; inf at 0."""
    if target <= 0:
        return np.full(orders.shape, np.inf)
    return rdp_to_epsilon(orders, divergences, delta=target)


@lru_cache(maxsize=64)
def reach(pair: Pair) -> float:
    """How far the profile is worth drawing."""
    whole = profile(pair)
    return min(float(whole.epsilon(1e-6 * float(whole.delta(0.0)))), _FAR)


def curve(pair: Pair, epsilon: float) -> tuple[NDArray, NDArray]:
    """Epsilons, and delta at each."""
    x = np.linspace(0.0, max(reach(pair), 1.25 * epsilon), 160)
    return x, profile(pair).delta(x)


def real_deltas(pair: Pair, epsilons: NDArray) -> NDArray:
    """The largest delta of a real pair; 0 where none is known."""
    return np.max([np.zeros(epsilons.shape), *(w.delta(epsilons) for w in pair.witnesses)], axis=0)


def beyond(law: Profile, loss: NDArray) -> tuple[NDArray, NDArray]:
    """P(L > x) and Q(L > x) at every real x."""
    ahead, behind = np.maximum(loss, 0.0), np.maximum(-loss, 0.0)
    # An atom that rounding moved off its place must not change sides.
    right = law.log_tails(ahead * (1 + 1e-9) + 1e-12)
    left = law.reverse().log_tails(behind * (1 - 1e-9))
    p, q = (
        np.where(loss >= 0, np.exp(r), -np.expm1(np.minimum(b, 0.0)))
        for r, b in zip(right, left[::-1], strict=True)
    )
    return p, q


@lru_cache(maxsize=64)
def law(pair: Pair) -> Profile:
    """A profile that knows its tails."""
    whole = profile(pair)
    if whole.has_tails:
        return whole
    if pair.exact and pair.witnesses[0].has_tails:
        return pair.witnesses[0]
    # To its very end, where it has one.
    far = min(float(whole.epsilon(0.0)), _FAR)
    far = far if far < _FAR else min(float(whole.epsilon(1e-12)), _FAR)
    nodes = np.linspace(-far, far, 2 * _NODES - 1)
    return _of_masses(nodes, *connect_the_dots(whole, nodes))


@lru_cache(maxsize=64)
def bulk(pair: Pair) -> tuple[float, float]:
    """Losses between which nearly all the mass under P lies."""
    x = np.concatenate([[0.0], np.geomspace(1e-6, _FAR, 600)])
    x = np.concatenate([-x[:0:-1], x])
    p, _ = beyond(law(pair), x)
    first = int(np.argmax(p < 1 - _OUTSIDE)) if p[-1] < 1 - _OUTSIDE else -1
    last = int(np.argmax(p < _OUTSIDE)) if p[-1] < _OUTSIDE else -1
    return float(x[max(first - 1, 0)]), float(x[last])


@lru_cache(maxsize=64)
def spacing(pair: Pair) -> float:
    """The gap between losses that lie on a lattice; inf where they do not."""
    return Atoms.of(law(pair), most=2 * _NODES).spacing()


def losses(pair: Pair, epsilon: float) -> Losses:
    """The loss under P in bins, one of whose edges is epsilon; the outermost are open."""
    low, high = bulk(pair)
    low, high = min(low, epsilon), max(high, epsilon)
    width, gap = (high - low) / _BINS, spacing(pair)
    # Losses on a lattice: as many of them in every bin.
    width = gap * math.ceil(width / gap) if gap < width else width
    k = np.arange(math.floor((low - epsilon) / width) - 1, math.ceil((high - epsilon) / width) + 2)
    edges = epsilon + width * k
    p, q = beyond(law(pair), edges)
    p[0], q[0], p[-1], q[-1] = 1.0, 1.0, 0.0, 0.0
    mass, other = -np.diff(p), -np.diff(q)
    counted = np.where(k[:-1] >= 0, mass - math.exp(epsilon) * other, 0.0)
    return Losses(edges, np.maximum(mass, 0.0), np.maximum(counted, 0.0))


def exceeds(pair: Pair, epsilon: float) -> float:
    """P(L > epsilon)."""
    return float(beyond(law(pair), np.array([epsilon]))[0][0])


def _of_masses(nodes: NDArray, masses: NDArray, infinity: float) -> Profile:
    """The profile of a law of losses under P."""
    with np.errstate(divide="ignore"):
        log_p = np.log(masses)
        return Profile.from_atoms(
            np.append(log_p, np.log(infinity)), np.append(log_p - nodes, -np.inf)
        )


@dataclass(frozen=True)
class View:
    """One pair, and where on its curves one looks: epsilon, Rényi order, false positive rate."""

    pair: Pair
    epsilon: float
    order: float
    rate: float

    @property
    def delta(self) -> Bounds:
        """Delta at epsilon."""
        return delta(self.pair, self.epsilon)

    @property
    def detected(self) -> Bounds:
        """True positive rate of the best attacker."""
        return detected(self.pair, self.rate)

    @property
    def converted(self) -> float:
        """Epsilon that the order proves at that delta."""
        at_order = np.array([divergence(self.pair, self.order)])
        return float(proved(np.array([self.order]), at_order, self.delta.upper)[0])

    @property
    def role(self) -> str:
        """Who differs between P and Q."""
        return "replace" if self.pair.adjacency == "replace_one" else self.pair.direction
