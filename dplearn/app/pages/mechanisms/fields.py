"""Everything a reader can set on the page of mechanisms, asked of the registry.

A mechanism's parameters are the fields of its class. Numbers reach a little further than in its
`examples()`, another mechanism inside becomes a choice among those the examples hold, and whatever
else it is made of is taken from one example as a whole.
"""

import dataclasses
import inspect
import re
import statistics
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, get_type_hints

from dplearn.app.kit.fields import Choice, Field, Quantity, by_key
from dplearn.app.kit.language import in_each
from dplearn.app.kit.run_fields import ADJACENCY, NOISE, words
from dplearn.app.kit.run_fields import RATE as SAMPLE_RATE
from dplearn.app.kit.state import State
from dplearn.app.pages.mechanisms.tables import Pair, conditions, covered
from dplearn.mechanisms import MECHANISMS, Mechanism

# How far a slider goes beyond the smallest and the largest value of the examples.
_BEYOND = 5
_NUMBERS = (int, float)
DIRECTION = Choice("direction", "Who has the record", "", {"remove": "P", "add": "Q"})
EPSILON = Quantity("epsilon", "Privacy loss ε", "", default=1, lower=0.001, upper=100)
ORDER = Quantity("order", "Rényi order α", "", default=8, lower=1.01, upper=1000)
FALSE_ALARMS = Quantity(
    "false_positive_rate", "False alarms", "", default=0.05, lower=1e-6, upper=0.9
)


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State(_fields(tuple(MECHANISMS.items())), _hidden)


@lru_cache(maxsize=2)
def _fields(registered: tuple[tuple[str, type], ...]) -> dict[str, Field]:
    """All that can be set, parameters of every mechanism included."""
    names = words(MECHANISMS)
    law = Choice("mechanism", "Mechanism", "", names, "gaussian")
    return by_key(law, *_parameters().values(), ADJACENCY, DIRECTION, EPSILON, ORDER, FALSE_ALARMS)


# Reading annotations is slow, and a page asks for them a thousand times.
@lru_cache
def parameters(name: str) -> dict[str, type]:
    """Field of a mechanism to its type, in the order of the class.

    A share that may be 0 has no logarithmic scale: it stays as it is.
    """
    law: Any = MECHANISMS[name]
    hints = get_type_hints(law)
    own = {field.name: hints[field.name] for field in dataclasses.fields(law)}
    none = {key for key in own for e in law.examples() if own[key] is float and not getattr(e, key)}
    return {key: kind for key, kind in own.items() if kind is not bool and key not in none}


def bases(name: str, key: str) -> list[str]:
    """Names of the mechanisms that the examples of another one hold in a field."""
    return list(dict.fromkeys(getattr(e, key).name for e in MECHANISMS[name].examples()))


def _is_mechanism(kind: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, Mechanism)


def build(name: str, values: Mapping[str, Any]) -> Any:
    """The mechanism that the values describe, or its own ValueError where it refuses them."""
    examples, entries = MECHANISMS[name].examples(), {}
    example = examples[min(int(values["example"]), len(examples)) - 1]
    for key, kind in parameters(name).items():
        if kind in _NUMBERS:
            entries[key] = kind(values[key])
        elif _is_mechanism(kind):
            entries[key] = build(_inner(name, key, values), values)
    return dataclasses.replace(example, **entries) if entries else example


def _inner(name: str, key: str, values: Mapping[str, Any]) -> str:
    """Name of the mechanism inside: the one chosen, where the examples know it."""
    possible = bases(name, key)
    return values[key] if values[key] in possible else possible[0]


def _used(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Mechanism and key of everything that decides what is run, outermost first."""
    own = parameters(name)
    if not all(kind in _NUMBERS or _is_mechanism(kind) for kind in own.values()):
        yield name, "example"
    for key, kind in own.items():
        if kind in _NUMBERS or _is_mechanism(kind):
            yield name, key
        if _is_mechanism(kind):
            yield from _used(_inner(name, key, values), values)


def used(name: str, values: Mapping[str, Any]) -> list[str]:
    """Keys of everything that decides what the mechanism is, outermost first."""
    return [key for _, key in _used(name, values)]


def _hidden(values: Mapping[str, Any]) -> set[str]:
    """Parameters of mechanisms that are not in view."""
    own = {key for name in MECHANISMS for key in parameters(name)}
    return {"example", *own} - set(used(values["mechanism"], values))


def described(name: str, key: str, values: Mapping[str, Any]) -> str:
    """What the innermost class that has a parameter says about it."""
    owner = {own: law for law, own in _used(name, values)}[key]
    text = inspect.getdoc(MECHANISMS[owner]) or ""
    entry = re.search(rf"^{key} : .*\n((?:    .*\n?)+)", text, re.MULTILINE)
    return " ".join(entry.group(1).split()) if entry else ""


def spelled(mechanism: Mechanism) -> str:
    """What is run, part by part."""
    parts = mechanism.parts()
    return " + ".join(f"{count} × {_short(m)}" if count > 1 else _short(m) for m, count in parts)


def _short(mechanism: Mechanism) -> str:
    values = (getattr(mechanism, f.name) for f in dataclasses.fields(mechanism))  # type: ignore[arg-type]
    shown = (_short(v) if isinstance(v, Mechanism) else f"{v}" for v in values)
    return f"{type(mechanism).__name__}({', '.join(shown)})"


def _parameters() -> dict[str, Field]:
    """A field for each parameter of a mechanism, and one for the examples as a whole."""
    ranks = range(1, 1 + max(len(law.examples()) for law in MECHANISMS.values()))
    own: dict[str, Field] = {
        "example": Choice("example", "What is run", "", {str(k): str(k) for k in ranks})
    }
    for key, kind in {k: v for name in MECHANISMS for k, v in parameters(name).items()}.items():
        if kind in _NUMBERS:
            own[key] = _quantity(key)
        elif _is_mechanism(kind):
            inside = [b for name in MECHANISMS if key in parameters(name) for b in bases(name, key)]
            own[key] = Choice(key, key.capitalize(), "", words(inside))
    return own


def _quantity(key: str) -> Quantity:
    """A slider around the values that examples have."""
    labels = {kind.key: kind.label for kind in (NOISE, SAMPLE_RATE)}
    values = [value for law in MECHANISMS.values() for e in law.examples() for value in _in(e, key)]
    whole = all(isinstance(v, int) for v in values)
    kind = Quantity(
        key,
        labels.get(key, key.replace("_", " ").capitalize()),
        "",
        default=statistics.median_low(values),
        lower=max(min(values) / _BEYOND, 1) if whole else min(values) / _BEYOND,
        upper=max(values) * _BEYOND,
        per_decade=20,
        whole=whole,
    )
    good = [mark for mark in kind.marks() if _accepted(key, int(mark) if whole else mark)]
    return dataclasses.replace(kind, lower=good[0], upper=good[-1])


def _in(mechanism: Mechanism, key: str) -> Iterator[Any]:
    """The values of a parameter in a mechanism and in those inside it."""
    for field in dataclasses.fields(mechanism):  # type: ignore[arg-type]
        value = getattr(mechanism, field.name)
        if isinstance(value, Mechanism):
            yield from _in(value, key)
        elif field.name == key:
            yield value


def _accepted(key: str, value: float) -> bool:
    """Whether some mechanism takes this value."""
    for name in MECHANISMS:
        if key in parameters(name):
            with suppress(ValueError):
                dataclasses.replace(MECHANISMS[name].examples()[0], **{key: value})
                return True
    return False


def catalogue() -> dict[str, Any]:
    """Every mechanism and number of the page, with its words by language."""
    return _catalogue(tuple(MECHANISMS.items()))


@lru_cache(maxsize=2)
def _catalogue(registered: tuple[tuple[str, type], ...]) -> dict[str, Any]:
    fields = state().fields
    told = {key: kind for key, kind in fields.items() if isinstance(kind, Quantity)}
    return {
        "mechanisms": {name: _told(name) for name, _ in registered},
        "numbers": {
            key: {
                "label": in_each(kind.label),
                "ends": (kind.lower, kind.upper),
                "start": kind.default,
                "whole": kind.whole,
            }
            for key, kind in told.items()
        },
    }


def _told(name: str) -> dict[str, Any]:
    """A mechanism: its own parameters, what they are, and for which neighbours it has a profile."""
    values, own = state().values, parameters(name)
    mechanism = build(name, values)
    known = [key for key, kind in own.items() if kind in _NUMBERS or _is_mechanism(kind)]
    neighbours, examples = covered(mechanism), type(mechanism).examples()
    return {
        "title": in_each(words([name])[name]),
        "keys": known,
        "bases": bases(name, "base") if "base" in known else [],
        "examples": None if len(known) == len(own) else [spelled(e) for e in examples],
        "about": {key: in_each(described(name, key, values)) for key in used(name, values)},
        "covered": neighbours,
        "two_sided": Pair(mechanism, neighbours[0]).two_sided,
        "conditions": conditions(mechanism),
    }
