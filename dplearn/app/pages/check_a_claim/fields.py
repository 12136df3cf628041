"""What a reader can set on the page that checks a claim, and claims to start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dplearn.app.kit.fields import Choice
from dplearn.app.kit.state import State
from dplearn.claims import PARAMETERS, QUANTITIES, setting
from dplearn.figures import SYMBOLS


@dataclass(frozen=True)
class Text:
    """A box for words; whether they make sense is for the library to say."""

    key: str
    label: str
    help: str
    default: str

    def parse(self, text: object) -> str:
        return str(text).strip()

    def show(self, value: str) -> str:
        return value


def settings(text: str) -> dict[str, Any]:
    """Names and what they are held at: ``delta=1e-5, T=1..100``."""
    return dict(setting(part) for part in text.split(",") if part.strip())


_QUANTITY = {
    "epsilon": "total ε",
    "delta": "δ",
    "sigma": "noise σ needed",
    "rdp": "Rényi divergence of one step",
    "amplified_epsilon": "ε after Poisson sampling",
}
_OF = {
    "gaussian": "Gaussian",
    "poisson_subsampled_gaussian": "Poisson-sampled Gaussian (DP-SGD)",
    "without_replacement_gaussian": "Gaussian, sampled without replacement",
    "laplace": "Laplace, ε per step",
    "randomized_response": "randomized response, ε per step",
    "pure_dp": "any ε-DP mechanism",
    "approximate_dp": "any (ε, δ)-DP mechanism",
}
_AUTO = "auto"

CLAIM = Text(
    "claim",
    "The claim",
    "Arithmetic with + - * / ^, exp, ln, sqrt, min, max, abs, erf, erfc, Phi, sinh, cosh, tanh, "
    "binom, floor, ceil, pi, e, inf. Greek letters may be typed or spelled out.",
    "sqrt(2*ln(1.25/delta))/epsilon",
)
QUANTITY = Choice("quantity", "is about", "", _QUANTITY, "sigma")
OF = Choice("of", "of", "", _OF, "gaussian")
RELATION = Choice(
    "relation",
    "and says that it is",
    "",
    {"upper": "at most this", "lower": "at least this", "equal": "equal to this"},
    "upper",
)
HELD = Text(
    "held",
    "Hold or limit parameters",
    "For instance: delta=1e-5, T=1..100. What is not named is tried over its whole range.",
    "",
)
_AXES = {_AUTO: "auto"} | {n: f"{SYMBOLS[n]}, {p.meaning}" for n, p in PARAMETERS.items()}
X, Y = (Choice(key, f"Map: {key} axis", "", _AXES, _AUTO) for key in ("x", "y"))


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State({kind.key: kind for kind in (CLAIM, QUANTITY, OF, RELATION, HELD, X, Y)})


@dataclass(frozen=True)
class Example:
    """A claim at hand."""

    title: str
    values: Mapping[str, str]


def _example(title: str, quantity: str, of: str, claim: str, held: str = "") -> Example:
    rest = {"relation": "upper", "held": held, "x": _AUTO, "y": _AUTO}
    return Example(title, {"claim": claim, "quantity": quantity, "of": of, **rest})


_POISSON = "poisson_subsampled_gaussian"
EXAMPLES = (
    _example("Classical Gaussian, any ε", "sigma", "gaussian", CLAIM.default),
    _example(
        "Order shifted", "epsilon", "gaussian",
        "alpha/(2*sigma^2) + ln(1/delta)/alpha",
    ),
    _example("ε′ = q ε", "amplified_epsilon", "approximate_dp", "q*epsilon"),
    _example("2ε√(2k ln 1/δ)", "epsilon", "pure_dp", "2*epsilon*sqrt(2*k*ln(1/delta))"),
    _example("q√(T ln 1/δ)/σ", "epsilon", _POISSON, "q*sqrt(T*ln(1/delta))/sigma"),
    _example(
        "Classical Gaussian, ε ≤ 1", "sigma", "gaussian", CLAIM.default, "epsilon=0.01..1"
    ),
    _example(
        "Rényi conversion", "epsilon", "gaussian",
        "alpha/(2*sigma^2) + ln(1/delta)/(alpha-1)",
    ),
    _example(
        "Amplification", "amplified_epsilon", "approximate_dp", "ln(1 + q*(exp(epsilon)-1))"
    ),
    _example(
        "Advanced composition", "epsilon", "pure_dp",
        "epsilon*sqrt(2*k*ln(1/delta)) + k*epsilon*(exp(epsilon)-1)",
    ),
)  # fmt: skip


def mechanisms_of(quantity: str) -> dict[str, str]:
    """Those for which there is a certified answer."""
    return {name: _OF[name] for name in QUANTITIES[quantity]}
