"""What a reader can set on the page of the formula book; the book says what there is."""

from collections.abc import Iterator, Mapping
from typing import Any

from dplearn.teaching.book import Formula, Refutation, book, sentences
from dplearn.teaching.book.kit import domains
from dplearn.teaching.book.pictures import View, first_parameters, refuted, shown
from dplearn.teaching.book.run_all import refutation
from dplearn.teaching.book.sentences import group_name, label
from dplearn.teaching.explorer.kit import questions
from dplearn.teaching.explorer.kit.fields import Field, Quantity, Selection, Words, by_key
from dplearn.teaching.explorer.kit.language import Said, retold
from dplearn.teaching.explorer.kit.state import State

_say = Words("formula_book")
# What is said of an entry, in the reader's language.
words = sentences.Wording(lambda sentence, **values: retold(Said(sentence, **values)))
# Names in an address that are the page's own: a parameter gives way to them.
_PAGE = ("id", "misprint", "find", "group", "view", "picture", "along", "draw")
FIND = _say.text("find")
VIEW, PICTURE = _say.selection("view"), _say.selection("picture")
# How often the parameters that have no slider can be drawn anew.
DRAWS = 10


def searched(id: str, misprint: str) -> Refutation:
    """The outcome of the search for a counterexample, asked of another process."""
    return refuted(id, misprint, lambda *asked: questions.ask(refutation, *asked))


def state_at(address: Mapping[str, str] | None = None) -> State:
    """The page at an entry, or at the first where the address names none."""
    named = address or {}
    id = named["id"] if named.get("id") in book else next(iter(book))
    wrong = {m.name: m.name.replace("-", " ") for m in book[id].misprints}
    misprint = named["misprint"] if named.get("misprint") in wrong else "none"
    if misprint != "none":
        searched(id, misprint)
    claim = shown(id, misprint)
    titles = {key: f"{key} {entry.title}" for key, entry in book.items()}
    groups = {entry.group: group_name(entry.group) for entry in book.values()}
    axes = {name: label(name) for name in View(id, misprint).axes}
    ranks = {str(k): f"draw {k}" if k else "as given" for k in range(DRAWS)}
    fields = by_key(
        _say.selection("id", titles),
        _say.selection("misprint", {"none": "none", **wrong}),
        FIND,
        _say.selection("group", _say.table("group.options") | groups, default=book[id].group),
        VIEW,
        PICTURE,
        _say.selection("along", axes, default=(*axes, "")[0]),
        _say.selection("draw", ranks),
        *_parameters(claim, first_parameters(id, misprint)),
    )
    hidden = lambda values: () if values["along"] else ("along",)
    return State(fields, hidden, {"id": id, "misprint": misprint})


def turn(old: State, changed: Mapping[str, str]) -> State:
    """The page at another entry or wrong variant; search and view stay."""
    at = {"id": old.values["id"], "misprint": "none", **changed}
    new = state_at(at)
    new.values |= {key: old.values[key] for key in ("find", "group", "view", "picture")}
    if at["id"] == old.values["id"] and old.values["along"] in new.fields["along"].options:  # type: ignore[union-attr]
        new.values["along"] = old.values["along"]
    return new


def entered(state: State) -> dict[str, Any]:
    """Values of the parameters that have a control, as the function wants them."""
    at = state.values["id"], state.values["misprint"]
    claim, begin, entries = shown(*at), first_parameters(*at), {}
    for name in claim.parameters:
        if (key := parameter_key(name)) in state.fields:
            value: Any = state.values[key]
            domain: Any = claim.domain.get(name)
            if isinstance(domain, domains.Whole):
                value = round(value)
            elif not isinstance(domain, domains.Linear):
                options = (claim.along or {}).get(name) or domain.values
                value = next(v for v in (*options, begin[name]) if str(v) == value)
            entries[name] = value
    return entries


def place_of(state: State) -> View:
    """Entry, variant and parameters in use."""
    id, misprint, draw = (state.values[key] for key in ("id", "misprint", "draw"))
    return View(id, misprint, int(draw), tuple(entered(state).items()))


def parameter_key(name: str) -> str:
    """A parameter in the address; a name of the page's own gives way."""
    return f"the_{name}" if name in _PAGE else name


def _parameters(claim: Formula, begin: Mapping[str, Any]) -> Iterator[Field]:
    choices = {n: d.values for n, d in claim.domain.items() if isinstance(d, domains.Choice)}
    for name, domain in claim.domain.items():
        if isinstance(domain, domains.Linear):
            yield Quantity(
                parameter_key(name),
                label(name),
                "",
                float(begin[name]),
                float(domain.low),
                float(domain.high),
                per_decade=20,
                whole=isinstance(domain, domains.Whole),
                even=not isinstance(domain, domains.Log),
                also=(*domain.also, float(begin[name])),
            )
    for name, values in (choices | dict(claim.along or {})).items():
        options = {str(v): words.spelled(v) for v in (*values, begin[name])}
        yield Selection(parameter_key(name), label(name), "", options, str(begin[name]))
