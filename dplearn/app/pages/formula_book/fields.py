"""What a reader can set on the page of the formula book; the book says what there is."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dplearn.app.kit.fields import Choice, Field, Quantity, Text, by_key
from dplearn.app.kit.state import State
from dplearn.app.pages.formula_book import points
from dplearn.app.pages.formula_book.words import label, spelled
from dplearn.book import book
from dplearn.book.kit import domains

_GROUPS = {
    "A": "Divergences and definitions",
    "B": "Basic mechanisms",
    "C": "Composition",
    "D": "Conversions",
    "E": "Amplification",
    "F": "Gaussian calibration, DP-SGD noise",
    "H": "Sparse vector",
    "I": "Local privacy",
    "J": "Discrete Gaussian, Skellam",
    "K": "Gaussian DP and f-DP",
    "L": "Privacy loss distributions",
    "M": "PATE",
    "N": "Auditing",
    "S": "Selection and iteration",
}
NONE = "none"
_ABOUT_FIND = (
    "Words, symbols (σ, sqrt) or parts of a formula, id, source, group, wrong variant or lesson; "
    "of several words all must occur."
)
FIND = Text("find", "Search", _ABOUT_FIND, "")
_VIEW_NAMES = {"formula": "Formula", "table": "Check many", "figures": "Published figures"}
VIEW = Choice("view", "View", "", _VIEW_NAMES | {"sources": "Sources"})
PICTURE = Choice(
    "picture",
    "Picture",
    "A curve holds all parameters but one; the cloud shows every point of the verification.",
    {"curve": "along one parameter", "cloud": "all points of the check"},
)
# How often the parameters that have no slider can be drawn anew.
DRAWS = 10


def groups(id: str) -> Choice:
    """The groups that the book has; at first that of the entry."""
    present = dict.fromkeys(entry.group for entry in book.values())
    names = {g: f"{g[2:]} · {_GROUPS.get(g[2:], 'More')}" for g in present}
    return Choice("group", "Group", "", {"all": "All groups", **names}, book[id].group)


@cache
def ids() -> Choice:
    """The entries of the book."""
    first, *_, last = book
    titles = {id: f"{id} {entry.title}" for id, entry in book.items()}
    return Choice("id", "Formula", "", titles, among=f"an id of the book, {first} to {last}")


def misprints(id: str) -> Choice:
    """The wrong variants of an entry."""
    names = {m.name: m.name.replace("-", " ") for m in book[id].misprints}
    return Choice("misprint", "Wrong variant", "", {NONE: "none", **names})


def along(id: str, misprint: str) -> Choice:
    """The parameters that can run along the x axis."""
    claim = points.shown(id, misprint)
    numbers = (n for n, domain in claim.domain.items() if isinstance(domain, domains.Linear))
    names = (*(claim.along or {}), *numbers)
    return Choice("along", "Along the x axis", "", {n: label(n) for n in names}, (*names, "")[0])


def state(address: Mapping[str, str] | None = None) -> State:
    """The page at an entry, or at the first where the address names none."""
    address = address or {}
    id, misprint = address.get("id", ""), address.get("misprint", NONE)
    id = id if id in book else ids().default
    chosen = misprints(id)
    misprint = misprint if misprint in chosen.options else NONE
    ranks = {str(k): f"draw {k}" if k else "as given" for k in range(DRAWS)}
    drawn = Choice("draw", "Drawn at random", "", ranks)
    own = [ids(), chosen, FIND, groups(id), VIEW, PICTURE, along(id, misprint), drawn]
    fields = by_key(*own, *_parameters(id, misprint))
    hidden = lambda values: () if values["along"] else ("along",)
    return State(fields, hidden, {"id": id, "misprint": misprint})


def turn(old: State, **changed: str) -> State:
    """The page at another entry or wrong variant; search and view stay."""
    at = {"id": old.values["id"], "misprint": NONE, **changed}
    new = state(at)
    new.values |= {key: old.values[key] for key in ("find", "group", "view", "picture")}
    if at["id"] == old.values["id"] and old.values["along"] in new.fields["along"].options:  # type: ignore[union-attr]
        new.values["along"] = old.values["along"]
    return new


def entered(state: State) -> dict[str, Any]:
    """Values of the parameters that have a control, as the function wants them."""
    at = state.values["id"], state.values["misprint"]
    claim, start, entries = points.shown(*at), points.start(*at), {}
    for name in claim.parameters:
        if (key := parameter_key(name)) in state.fields:
            value: Any = state.values[key]
            domain: Any = claim.domain.get(name)
            if isinstance(domain, domains.Whole):
                value = round(value)
            elif not isinstance(domain, domains.Linear):
                options = (claim.along or {}).get(name) or domain.values
                value = next(v for v in (*options, start[name]) if str(v) == value)
            entries[name] = value
    return entries


def parameter_key(name: str) -> str:
    """A parameter in the address; a name of the page's own gives way."""
    return f"the_{name}" if name in _PAGE else name


_PAGE = ("id", "misprint", "find", "group", "view", "picture", "along", "draw")


def _parameters(id: str, misprint: str) -> Iterator[Field]:
    """Controls for the parameters of an entry, set to where its picture begins."""
    claim = points.shown(id, misprint)
    start = points.start(id, misprint)
    for name, domain in claim.domain.items():
        if isinstance(domain, domains.Linear):
            first = float(start[name])
            yield Quantity(
                parameter_key(name),
                label(name),
                "",
                first,
                float(domain.low),
                float(domain.high),
                per_decade=20,
                whole=isinstance(domain, domains.Whole),
                even=not isinstance(domain, domains.Log),
                also=(*domain.also, first),
            )
        elif isinstance(domain, domains.Choice):
            yield _choice(name, domain.values, start[name])
    for name, values in (claim.along or {}).items():
        yield _choice(name, values, start[name])


def _choice(name: str, values: Any, default: Any) -> Choice:
    options = {str(v): spelled(v) for v in (*values, default)}
    return Choice(parameter_key(name), label(name), "", options, str(default))
