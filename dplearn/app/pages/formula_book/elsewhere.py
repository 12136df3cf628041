"""Where an entry of the formula book leads: to the page of claims, and to the first one."""

from collections.abc import Mapping
from typing import Any

from dplearn.app.kit import links
from dplearn.app.pages.formula_book.place import shown
from dplearn.book import book
from dplearn.book.kit.entry import Typed
from dplearn.claims import PARAMETERS, aliases
from dplearn.ground.written import parse

_RUN = ("noise_multiplier", "sample_rate", "steps", "delta")


def claim(id: str, misprint: str = "none") -> str:
    """The address at which an entry or a wrong variant is checked as a claim; "" where none is."""
    source = book[id] if misprint == "none" else book[id].misprint(misprint)
    if not source.typed:
        return ""
    limits = {typed: _limits(typed, shown(id, misprint).domain) for typed in source.typed}
    # The form that says most of where the formula is claimed to hold.
    typed = max(limits, key=lambda typed: limits[typed].count("="))
    about = {"quantity": typed.quantity, "of": typed.mechanisms[0], "held": limits[typed]}
    return links.to("check_a_claim", claim=typed.expression, **about)


def _limits(typed: Typed, domain: Mapping[str, Any]) -> str:
    """The ranges of an entry, of those names that its typed form has, in the words of the page."""
    limits = []
    for name in sorted(parse(typed.expression).names):
        whole = PARAMETERS[name]
        for own in aliases([name]) & set(domain):
            if isinstance(getattr(domain[own], "low", None), int | float):
                low, high = max(domain[own].low, whole.lower), min(domain[own].high, whole.upper)
                limits += [f"{name}={low:.9g}..{high:.9g}"] * (
                    (low, high) != (whole.lower, whole.upper)
                )
    return ", ".join(limits)


def run(parameters: Mapping[str, Any]) -> str:
    """The address of the run that parameters describe, read after all its steps; "" of no run."""
    if not all(name in parameters for name in _RUN):
        return ""
    return links.to(".", **{name: parameters[name] for name in _RUN}, here=parameters["steps"])
