"""A pair of outputs as a table of numbers, with which the browser draws it.

The browser has closed forms of a few mechanisms. Of every other one it is sent a law of losses that
leaks no less, Rényi divergences, drawn laws, and what real pairs below the profile do.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.app.kit.language import in_each
from dplearn.engine.lattice import Lattice
from dplearn.engine.lattice.above import chords, connect_the_dots
from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import ADJACENCIES, Adjacency
from dplearn.mechanisms import Mechanism, Outputs

# The largest loss that is looked at, and the nodes of a profile on either side of 0.
_FAR, _NODES = 700.0, 1000
# So few losses are sent as they are, if the chords between them are the profile.
_FEW, _SAME = 400, 1e-9
# Laws are drawn where they are no lower than this part of their height, at so many places.
_LOW, _PLACES = 1e-3, 240
ORDERS = tuple(float(a) for a in 1 + np.geomspace(0.01, 999, 90))
_RATES = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 30), np.linspace(0.12, 1.0, 30)])


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
    def witnesses(self) -> tuple[Profile, ...]:
        """Profiles of real pairs below this one, where it is a bound."""
        if self.composed or self.mechanism.attained:
            return ()
        profiles = self.mechanism.witnesses(self.adjacency)
        return profiles[self.end :][:1] if self.two_sided else profiles


def covered(mechanism: Mechanism) -> tuple[Adjacency, ...]:
    """The adjacencies under which it has a profile."""
    return tuple(a for a in ADJACENCIES if not refusal(mechanism, a))


def refusal(mechanism: Mechanism, adjacency: Adjacency) -> str:
    """Why the mechanism has no profile under an adjacency, or an empty string."""
    try:
        for part, _ in mechanism.parts():
            part.require_theorem(adjacency)
    except NotImplementedError as error:
        return str(error)
    return ""


def conditions(mechanism: Mechanism) -> dict[str, str]:
    """What must hold of the release, by language."""
    return in_each("; ".join(dict.fromkeys(a for m, _ in mechanism.parts() for a in m.assumptions)))


@lru_cache(maxsize=64)
def profile(pair: Pair) -> Profile:
    """The profile, exact or from above; of a composition, by the dots of a lattice."""
    if not pair.composed:
        return pair.mechanism.profiles(pair.adjacency)[pair.end]
    mechanisms, counts = zip(*pair.mechanism.parts(), strict=True)
    sides = [m.profiles(pair.adjacency)[pair.end] for m in mechanisms]
    far = PLD().epsilon(pair.mechanism, delta=1e-12, adjacency=pair.adjacency).epsilon
    nodes = np.linspace(0.0, min(far, _FAR), 2 * _NODES)
    _, ahead = Lattice().log_deltas(sides, counts, epsilons=nodes)
    _, behind = Lattice().log_deltas([p.reverse() for p in sides], counts, epsilons=nodes[1:])
    both = np.concatenate([-nodes[:0:-1], nodes])
    masses, infinity = chords(both, np.append(np.exp(behind - nodes[1:])[::-1], np.exp(ahead)))
    with np.errstate(divide="ignore"):
        logs = np.append(np.log(masses), np.log(infinity))
    return Profile.from_atoms(logs, np.append(logs[:-1] - both, -np.inf))


@lru_cache(maxsize=64)
def table(pair: Pair) -> dict[str, Any]:
    """What `browser/mechanisms/table.js` reads."""
    divergences = pair.mechanism.rdp(ORDERS, adjacency=pair.adjacency)
    return {
        **_law(profile(pair)),
        "orders": ORDERS,
        "divergences": divergences.tolist(),
        "outputs": _drawn(pair.outputs) if pair.outputs else None,
        "reason": in_each(pair.mechanism.no_outputs),
        "real": _real(pair),
        "conditions": conditions(pair.mechanism),
    }


def _law(whole: Profile) -> dict[str, Any]:
    """Losses and log masses under P, none less than the profile's: its chords, rounded up."""
    kinks = np.asarray(whole.kinks, dtype=float)
    kinks = np.unique(kinks[kinks < _FAR])
    if 0 < kinks.size <= _FEW:
        nodes = np.concatenate([-kinks[::-1], [0.0], kinks])
        between = np.linspace(0.0, 1.2 * kinks[-1], 301)
        rise = _delta(nodes, *connect_the_dots(whole, nodes), between) - whole.delta(between)
        if np.max(rise) <= _SAME:
            return {"losses": nodes.tolist(), **_masses(*connect_the_dots(whole, nodes))}
    # To its very end, where it has one.
    far = float(whole.epsilon(0.0))
    if far > _FAR:
        far = min(float(whole.epsilon(1e-12 + 1.01 * float(whole.delta(_FAR)))), _FAR)
    nodes = np.linspace(-far, far, 2 * _NODES + 1)
    spacing = {"first": -far, "step": far / _NODES}
    return spacing | _masses(*connect_the_dots(whole, nodes)) | {"corners": []}


def _delta(nodes: NDArray, masses: NDArray, infinity: float, epsilon: NDArray) -> NDArray:
    """Delta of a law of losses."""
    part = np.maximum(-np.expm1(np.minimum(epsilon[:, None] - nodes, 0.0)), 0.0)
    return part @ masses + infinity


def _masses(masses: NDArray, infinity: float) -> dict[str, Any]:
    with np.errstate(divide="ignore"):
        logs = np.ceil(np.log(masses) * 1e10) / 1e10
    finite = [float(log) if log > -math.inf else None for log in logs]
    return {"logs": finite, "infinite": infinity}


def _drawn(outputs: Outputs) -> dict[str, Any]:
    """Both laws at places in ascending order."""
    x, _, p, q = outputs.nodes(1.0)
    high = np.flatnonzero(np.maximum(p, q) > _LOW * max(np.max(p), np.max(q)))
    low, top = float(x[high[0]]), float(x[high[-1]])
    if outputs.whole:
        x = np.arange(low, top + 1, 1 + (top - low) // _PLACES)
    else:
        corners = [c for c in outputs.corners if low < c < top]
        x = np.union1d(np.linspace(low, top, _PLACES), corners)
    laws = {"p": np.exp(outputs.log_p(x)), "q": np.exp(outputs.log_q(x))}
    told = {"whole": outputs.whole, "label": in_each(outputs.label), "x": x.tolist()}
    return told | {name: [float(f"{v:.6g}") for v in law] for name, law in laws.items()}


def _real(pair: Pair) -> dict[str, Any] | None:
    """The largest delta, and the fewest misses, of a real pair below the profile."""
    if not pair.witnesses:
        return None
    whole = profile(pair)
    epsilons = np.linspace(0.0, float(whole.epsilon(1e-6 * float(whole.delta(0.0)))), 120)
    deltas = np.max([w.delta(epsilons) for w in pair.witnesses], axis=0)
    misses = np.min([w.tradeoff(_RATES) for w in pair.witnesses], axis=0)
    values = {"epsilons": epsilons, "deltas": deltas, "rates": _RATES, "misses": misses}
    return {name: value.tolist() for name, value in values.items()}
