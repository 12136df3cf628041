"""What a reader can set on the page that checks a claim, and claims to start from."""

from collections.abc import Mapping
from contextlib import suppress

from dplearn.app.kit.fields import Choice, Text, by_key
from dplearn.app.kit.state import State
from dplearn.claims import PARAMETERS, QUANTITIES, aliases, canonical
from dplearn.figures import SYMBOLS
from dplearn.ground.written import read, split

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
_ABOUT_CLAIM = (
    "As on paper: σ ≥ √(2 ln 1.25/δ)/ε, q ε², LaTeX, np.sqrt; Greek letters may be spelled out. A "
    "left side says what the claim is about. There are + - * / ^, exp, ln, sqrt, min, max, abs, "
    "erf, erfc, Phi, sinh, cosh, tanh, binom, floor, ceil, pi, e, inf."
)
CLAIM = Text("claim", "The claim", _ABOUT_CLAIM, "sqrt(2*ln(1.25/delta))/epsilon")
QUANTITY = Choice("quantity", "is about", "", _QUANTITY, "sigma")
OF = Choice("of", "of", "", _OF, "gaussian")
_RELATION_NAMES = {"upper": "at most this", "lower": "at least this", "equal": "equal to this"}
RELATION = Choice("relation", "and says that it is", "", _RELATION_NAMES)
_ABOUT_HELD = "For instance: δ=1e-5, T=1..100. What is not named is tried over its whole range."
HELD = Text("held", "Hold or limit parameters", _ABOUT_HELD, "")
_AXES = {"auto": "auto"} | {n: f"{SYMBOLS[n]}, {p.meaning}" for n, p in PARAMETERS.items()}
X, Y = (Choice(key, f"Map: {key} axis", "", _AXES) for key in ("x", "y"))
_POISSON = "poisson_subsampled_gaussian"
# Title -> quantity, mechanism, claim, and what is held.
EXAMPLES = {
    "Classical Gaussian, any ε": ("sigma", "gaussian", CLAIM.default, ""),
    "Order shifted": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/alpha", ""),
    "ε′ = q ε": ("amplified_epsilon", "approximate_dp", "q*epsilon", ""),
    "2ε√(2k ln 1/δ)": ("epsilon", "pure_dp", "2*epsilon*sqrt(2*k*ln(1/delta))", ""),
    "q√(T ln 1/δ)/σ": ("epsilon", _POISSON, "q*sqrt(T*ln(1/delta))/sigma", ""),
    "Classical Gaussian, ε ≤ 1": ("sigma", "gaussian", CLAIM.default, "epsilon=0.01..1"),
    "Rényi conversion": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/(alpha-1)", ""),
    "Amplification": ("amplified_epsilon", "approximate_dp", "ln(1 + q*(exp(epsilon)-1))", ""),
    "Advanced composition": (
        "epsilon",
        "pure_dp",
        "epsilon*sqrt(2*k*ln(1/delta)) + k*epsilon*(exp(epsilon)-1)",
        "",
    ),
}


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State(by_key(CLAIM, QUANTITY, OF, RELATION, HELD, X, Y))


def start(state: State, title: str) -> None:
    """An example replaces everything."""
    state.read(dict(zip(("quantity", "of", "claim", "held"), EXAMPLES[title], strict=True)))


def drop_left_side(state: State) -> None:
    """After a choice of what the claim is about: its left side does not say so any more."""
    with suppress(ValueError):
        state.values["claim"] = split(state.values["claim"]).formula


def suit_claim(state: State) -> None:
    """After a change of the formula: the first mechanism that knows all of its names, if any."""
    suit(state)
    possible = QUANTITIES[state.values["quantity"]]
    for of in (state.values["of"], *possible):
        with suppress(ValueError):
            names = (*possible[of].names, "alpha")
            canonical(read(state.values["claim"], aliases(names)).names, names)
            state.values["of"] = of
            return


def suit(state: State) -> None:
    """What the left side of the claim is about; the first mechanism where it does not know ours."""
    with suppress(ValueError):  # which is told where the claim is read
        _, quantity, relation = split(state.values["claim"])
        state.values |= {"quantity": quantity} if quantity else {}
        state.values |= {"relation": relation} if relation else {}
    possible = QUANTITIES[state.values["quantity"]]
    if state.values["of"] not in possible:
        state.values["of"] = next(iter(possible))
