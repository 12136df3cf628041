"""Everything a reader can set on the page of mechanisms, asked of the registry.

A mechanism's parameters are the fields of its class. Numbers become sliders that reach a
little further than its `examples()`, another mechanism inside becomes a choice among those the
examples hold, and whatever else it is made of is taken from one example as a whole.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import statistics
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_type_hints

from dplearn.app.kit import run_fields as catalogue
from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.state import State
from dplearn.mechanisms import Mechanism, mechanisms

# How far a slider goes beyond the smallest and the largest value of the examples.
_BEYOND = 5

MECHANISM = Choice(
    "mechanism",
    "Mechanism",
    "One randomised release. The pictures show the worst pair of neighbouring outputs.",
    catalogue.words(mechanisms),
    "gaussian",
)
EXAMPLE = Choice(
    "example",
    "What is run",
    "",
    {
        str(rank + 1): str(rank + 1)
        for rank in range(max(len(law.examples()) for law in mechanisms.values()))
    },
    "1",
)
ADJACENCY = catalogue.ADJACENCY
DIRECTION = Choice(
    "direction",
    "Who has the record",
    "Losses are measured under P. Removing and adding a record are two different pairs, and "
    "both must be hard to tell apart.",
    {"remove": "P", "add": "Q"},
    "remove",
)
EPSILON = Quantity(
    "epsilon",
    "Privacy loss ε",
    "How much more likely, as a factor e^ε, any output may be under P than under Q before it "
    "counts as a failure.",
    default=1,
    lower=0.001,
    upper=100,
    per_decade=20,
)
ORDER = Quantity(
    "order",
    "Rényi order α",
    "Which moment of the loss one looks at: large orders see rare large losses, small ones the "
    "typical loss.",
    default=8,
    lower=1.01,
    upper=1000,
    per_decade=20,
)
RATE = Quantity(
    "false_positive_rate",
    "False alarms",
    "How often the attacker may accuse when Q is true: the false positive rate of the test.",
    default=0.05,
    lower=1e-6,
    upper=0.9,
)
_VIEW = (EPSILON, ORDER, RATE)


def parameters(name: str) -> dict[str, type]:
    """Field of a mechanism to its type, in the order of the class."""
    law = mechanisms[name]
    hints = get_type_hints(law)
    return {field.name: hints[field.name] for field in dataclasses.fields(law)}


def bases(name: str, key: str) -> list[str]:
    """Names of the mechanisms that the examples of another one hold in a field."""
    return list(dict.fromkeys(getattr(e, key).name for e in mechanisms[name].examples()))


def is_number(kind: type) -> bool:
    return kind in (int, float)


def is_mechanism(kind: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, Mechanism)


def needs_example(name: str) -> bool:
    """Whether something in it is neither a number nor a mechanism."""
    return not all(is_number(k) or is_mechanism(k) for k in parameters(name).values())


def build(name: str, values: Mapping[str, Any]) -> Any:
    """The mechanism that the values describe.

    Raises
    ------
    ValueError
        If the mechanism refuses them; its own words.
    """
    examples, fields = mechanisms[name].examples(), {}
    example = examples[min(int(values["example"]), len(examples)) - 1]
    for key, kind in parameters(name).items():
        if is_number(kind):
            fields[key] = kind(values[key])
        elif is_mechanism(kind):
            fields[key] = build(inner(name, key, values), values)
    return dataclasses.replace(example, **fields) if fields else example


def inner(name: str, key: str, values: Mapping[str, Any]) -> str:
    """Name of the mechanism inside: the one chosen, where the examples know it."""
    known = bases(name, key)
    return values[key] if values[key] in known else known[0]


def used(name: str, values: Mapping[str, Any]) -> list[str]:
    """Keys of everything that decides what the mechanism is, outermost first."""
    keys = ["example"] if needs_example(name) else []
    for key, kind in parameters(name).items():
        if is_number(kind):
            keys.append(key)
        elif is_mechanism(kind):
            keys += [key, *used(inner(name, key, values), values)]
    return keys


def hidden(values: Mapping[str, Any]) -> set[str]:
    """Parameters of mechanisms that are not in view."""
    return set(_parameters()) - set(used(values["mechanism"], values))


@cache
def fields() -> dict[str, Quantity | Choice]:
    """All that the page knows, parameters of every mechanism included."""
    return {k.key: k for k in (MECHANISM, *_parameters().values(), ADJACENCY, DIRECTION, *_VIEW)}


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State(fields(), hidden)


def described(name: str, key: str, values: Mapping[str, Any]) -> str:
    """What a class says about a parameter of its own, or of a mechanism inside."""
    for own, kind in parameters(name).items():
        if own != key and is_mechanism(kind):
            inside = inner(name, own, values)
            if key in used(inside, values):
                return described(inside, key, values)
    text = inspect.getdoc(mechanisms[name]) or ""
    found = re.search(rf"^{key} : .*\n((?:    .*\n?)+)", text, re.MULTILINE)
    return " ".join(found.group(1).split()) if found else ""


def spelled(mechanism: Mechanism) -> str:
    """What is run, part by part."""
    parts = [(f"{count} × " if count > 1 else "") + _short(m) for m, count in mechanism.parts()]
    return " + ".join(parts)


def _short(mechanism: Mechanism) -> str:
    values = (getattr(mechanism, f.name) for f in dataclasses.fields(mechanism))  # type: ignore[arg-type]
    shown = (_short(v) if isinstance(v, Mechanism) else f"{v}" for v in values)
    return f"{type(mechanism).__name__}({', '.join(shown)})"


@cache
def _parameters() -> dict[str, Quantity | Choice]:
    kinds = {k: kind for name in mechanisms for k, kind in parameters(name).items()}
    found: dict[str, Quantity | Choice] = {"example": EXAMPLE}
    for key, kind in kinds.items():
        if is_number(kind):
            found[key] = _quantity(key)
        elif is_mechanism(kind):
            inside = [b for name in mechanisms if key in parameters(name) for b in bases(name, key)]
            found[key] = Choice(key, key.capitalize(), "", catalogue.words(inside), inside[0])
    return found


def _quantity(key: str) -> Quantity:
    """A slider around the values that examples have."""
    values = [value for law in mechanisms.values() for e in law.examples() for value in _in(e, key)]
    labels = {kind.key: kind.label for kind in (catalogue.NOISE, catalogue.RATE)}
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

    def takes(example: Any) -> bool:
        try:
            dataclasses.replace(example, **{key: value})
        except ValueError:
            return False
        return True

    return any(takes(mechanisms[n].examples()[0]) for n in mechanisms if key in parameters(n))
