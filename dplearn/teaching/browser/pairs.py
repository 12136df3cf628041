"""Mechanisms for the browser: a catalogue of parameters, and tables of privacy losses.

The browser has closed forms of a few mechanisms. For the others, it gets a dominating privacy loss
distribution, Rényi divergences, output distributions, and lower bounds from neighbouring datasets.

Readers choose the base of a mechanism, from the bases of its `examples()`, and the fields that are
listed in `_NUMBERS`. All other fields come from one example.
"""

import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import ADJACENCIES, Adjacency
from dplearn.engine.lattice import Lattice
from dplearn.engine.lattice.laws import chords, connect_the_dots
from dplearn.engine.profile import Profile
from dplearn.mechanisms import MECHANISMS, Mechanism, Outputs

# Largest privacy loss in a table, and number of grid points on either side of 0.
_FAR, _NODES = 700.0, 1000
# Largest number of kinks of delta(eps) used as losses, if chords between kinks fit to _SAME.
_FEW, _SAME = 400, 1e-9
# Output densities are drawn above this fraction of their maximum, at this number of points.
_LOW, _PLACES = 1e-3, 240
ORDERS = tuple(float(a) for a in 1 + np.geomspace(0.01, 999, 90))
_RATES = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 30), np.linspace(0.12, 1.0, 30)])
# Titles of mechanisms, where they differ from the capitalised names.
TITLES = {
    "discrete_gaussian": "Discrete Gaussian",
    "shuffled": "Shuffled epochs",
    "random_allocation": "Random allocation (balls and bins)",
}
# Number fields of the page, mechanism parameters first: label, range, start, whether integer.
_NUMBERS = {
    "noise_multiplier": ("Noise multiplier σ", (0.04, 150.0), 1.0, False),
    "sensitivity": ("Sensitivity", (1, 15), 1, True),
    "range_epsilon": ("Range epsilon", (0.02, 20.0), 1.0, False),
    "gap_epsilon": ("Gap epsilon", (0.02, 20.0), 1.0, False),
    "sample_rate": ("Sample rate q", (0.002, 1.0), 0.1, False),
    "batches": ("Batches", (2, 500), 100, True),
    "local_epsilon": ("Local epsilon", (0.02, 15.0), 1.0, False),
    "answers": ("Answers", (2, 50), 2, True),
    "epsilon": ("Privacy loss ε", (0.001, 100), 1, False),
    "order": ("Rényi order α", (1.01, 1000), 8, False),
    "false_positive_rate": ("False alarms", (1e-6, 0.9), 0.05, False),
}
# Keys whose values in the catalogue or a table are texts to translate.
_WORDS = ("title", "label", "about", "conditions", "reason")


def worded(data: Any, in_each: Callable[[str], Any], part: str = "") -> Any:
    """Replace each text in a catalogue or table by its versions in all languages."""
    if isinstance(data, dict):
        below = lambda key: part if part in _WORDS else key
        return {key: worded(inner, in_each, below(key)) for key, inner in data.items()}
    return in_each(data) if part in _WORDS and isinstance(data, str) else data


def catalogue() -> dict[str, Any]:
    """Return all mechanisms and numbers of the page, with texts in English."""
    fields = ("label", "ends", "start", "whole")
    numbers = {key: dict(zip(fields, one, strict=True)) for key, one in _NUMBERS.items()}
    start = {key: number["start"] for key, number in numbers.items()}
    return {"mechanisms": {name: _entry(name, start) for name in MECHANISMS}, "numbers": numbers}


def _entry(name: str, start: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mechanism's entry: title, parameters, descriptions, adjacencies, conditions."""
    mechanism, keys = mechanism_of(name, start), _settable(name)
    neighbours = [a for a in ADJACENCIES if not refusal(mechanism, a)]
    text = inspect.getdoc(MECHANISMS[name]) or ""
    entries = dict(re.findall(r"^(\w+) : \w+(?:\n|\.)(.*(?:\n    .*)*)", text, re.MULTILINE))
    many = lambda m, n: f"{n} × {_short(m)}" if n > 1 else _short(m)
    examples = [" + ".join(many(*part) for part in e.parts()) for e in mechanism.examples()]
    return {
        "title": TITLES.get(name, name.replace("_", " ").capitalize()),
        "keys": keys,
        "bases": _bases(name) if "base" in keys else [],
        "examples": None if keys else examples,
        "about": {key: " ".join(entries.get(key, "").split()) for key in keys},
        "covered": neighbours,
        "two_sided": Pair(mechanism, neighbours[0]).two_sided,
        "conditions": conditions(mechanism),
    }


def mechanism_of(name: str, values: Mapping[str, Any]) -> Any:
    """Return the mechanism with these values; the mechanism's own checks raise ValueError."""
    examples = MECHANISMS[name].examples()
    example = examples[min(int(values.get("example", 1)), len(examples)) - 1]
    entries = dict[str, Any]()
    for key in _settable(name):
        if key == "base":
            base, bases = values.get("base"), _bases(name)
            entries["base"] = mechanism_of(base if base in bases else bases[0], values)
        else:
            *_, whole = _NUMBERS[key]
            entries[key] = int(values[key]) if whole else float(values[key])
    return dataclasses.replace(example, **entries) if entries else example


def _settable(name: str) -> list[str]:
    names = [field.name for field in dataclasses.fields(MECHANISMS[name])]  # type: ignore[arg-type]
    return [key for key in names if key in _NUMBERS or key == "base"]


def _bases(name: str) -> list[str]:
    """Return the names of the base mechanisms in a mechanism's examples."""
    return list(dict.fromkeys(e.base.name for e in MECHANISMS[name].examples()))


def _short(mechanism: Mechanism) -> str:
    values = (getattr(mechanism, f.name) for f in dataclasses.fields(mechanism))  # type: ignore[arg-type]
    shown = (_short(v) if isinstance(v, Mechanism) else f"{v}" for v in values)
    return f"{type(mechanism).__name__}({', '.join(shown)})"


@dataclass(frozen=True)
class Pair:
    """Pair (P, Q) of output distributions; P has the record if `direction` is "remove"."""

    mechanism: Mechanism
    adjacency: Adjacency
    direction: str = "remove"

    @property
    def end(self) -> int:
        """Index of `direction` in a mechanism's lists of privacy profiles and outputs: 0 or -1."""
        return 0 if self.direction == "remove" else -1

    @property
    def composed(self) -> bool:
        """Whether the mechanism is a composition."""
        return self.mechanism.parts() != ((self.mechanism, 1),)

    @property
    def two_sided(self) -> bool:
        """Whether removing and adding a record have different privacy profiles."""
        return any(len(m.profiles(self.adjacency)) > 1 for m, _ in self.mechanism.parts())

    @property
    def witnesses(self) -> tuple[Profile, ...]:
        """Privacy profiles of actual neighbours; () for a composition or if `profile` is exact."""
        if self.composed or self.mechanism.attained:
            return ()
        profiles = self.mechanism.witnesses(self.adjacency)
        return profiles[self.end :][:1] if self.two_sided else profiles


def refusal(mechanism: Mechanism, adjacency: Adjacency) -> str:
    """Return why a mechanism has no privacy profile under an adjacency, or an empty string."""
    try:
        for part, _ in mechanism.parts():
            part.require_theorem(adjacency)
    except NotImplementedError as error:
        return str(error)
    return ""


def conditions(mechanism: Mechanism) -> str:
    """Return the assumptions of a mechanism's guarantee as one text, without repetitions."""
    return "; ".join(dict.fromkeys(a for m, _ in mechanism.parts() for a in m.assumptions))


@lru_cache(maxsize=64)
def profile(pair: Pair) -> Profile:
    """Return a pair's privacy profile delta(eps) or an upper bound; compositions use the FFT."""
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
    """Return a pair's privacy losses, Rényi divergences, outputs and texts for `atoms.js`."""
    whole, real = profile(pair), None
    outputs = pair.mechanism.outputs(pair.adjacency)
    if pair.witnesses:
        # Largest deltas and smallest false negative rates over all actual neighbours.
        epsilons = np.linspace(0.0, float(whole.epsilon(1e-6 * float(whole.delta(0.0)))), 120)
        deltas = np.max([w.delta(epsilons) for w in pair.witnesses], axis=0)
        misses = np.min([w.tradeoff(_RATES) for w in pair.witnesses], axis=0)
        values = {"epsilons": epsilons, "deltas": deltas, "rates": _RATES, "misses": misses}
        real = {name: value.tolist() for name, value in values.items()}
    return {
        **_law(whole),
        "orders": ORDERS,
        "divergences": pair.mechanism.rdp(ORDERS, adjacency=pair.adjacency).tolist(),
        "outputs": _drawn(outputs[pair.end]) if outputs else None,
        "reason": None if outputs else pair.mechanism.no_outputs,
        "real": real,
        "conditions": conditions(pair.mechanism),
    }


def _law(whole: Profile) -> dict[str, Any]:
    """Return losses and log probabilities of a distribution whose privacy profile is >= `whole`."""
    kinks = np.asarray(whole.kinks, dtype=float)
    kinks = np.unique(kinks[kinks < _FAR])
    if 0 < kinks.size <= _FEW:
        nodes = np.concatenate([-kinks[::-1], [0.0], kinks])
        between = np.linspace(0.0, 1.2 * kinks[-1], 301)
        masses, infinity = connect_the_dots(whole, nodes)
        part = np.maximum(-np.expm1(np.minimum(between[:, None] - nodes, 0.0)), 0.0)
        if np.max(part @ masses + infinity - whole.delta(between)) <= _SAME:
            return {"losses": nodes.tolist(), **_masses(masses, infinity)}
    # Use a grid up to the largest privacy loss, but at most up to _FAR.
    far = float(whole.epsilon(0.0))
    if far > _FAR:
        far = min(float(whole.epsilon(1e-12 + 1.01 * float(whole.delta(_FAR)))), _FAR)
    nodes = np.linspace(-far, far, 2 * _NODES + 1)
    spacing = {"first": -far, "step": far / _NODES}
    return spacing | _masses(*connect_the_dots(whole, nodes)) | {"corners": []}


def _masses(masses: NDArray, infinity: float) -> dict[str, Any]:
    with np.errstate(divide="ignore"):
        logs = np.ceil(np.log(masses) * 1e10) / 1e10
    finite = [float(log) if log > -math.inf else None for log in logs]
    return {"logs": finite, "infinite": infinity}


def _drawn(outputs: Outputs) -> dict[str, Any]:
    x, _, p, q = outputs.nodes(1.0)
    high = np.flatnonzero(np.maximum(p, q) > _LOW * max(np.max(p), np.max(q)))
    low, top = float(x[high[0]]), float(x[high[-1]])
    if outputs.whole:
        x = np.arange(low, top + 1, 1 + (top - low) // _PLACES)
    else:
        corners = [c for c in outputs.corners if low < c < top]
        x = np.union1d(np.linspace(low, top, _PLACES), corners)
    laws = {"p": np.exp(outputs.log_p(x)), "q": np.exp(outputs.log_q(x))}
    fields = {"whole": outputs.whole, "label": outputs.label, "x": x.tolist()}
    return fields | {name: [float(f"{v:.6g}") for v in law] for name, law in laws.items()}
