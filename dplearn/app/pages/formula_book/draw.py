"""The catalogue, and one entry: statement, picture with its controls, check, wrong variants."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, language, links, look, questions
from dplearn.app.kit.fields import Quantity
from dplearn.app.kit.language import translated
from dplearn.app.kit.state import State, load
from dplearn.app.pages.formula_book import fields, points, search, words
from dplearn.app.pages.formula_book.points import Place, refuted, shown, start
from dplearn.app.pages.formula_book.tables import verified
from dplearn.book import Formula, Misprint, book
from dplearn.book.everything import verification
from dplearn.book.kit.entry import Typed
from dplearn.book.kit.written import parse
from dplearn.claims import PARAMETERS, aliases

# What an address of the first page needs.
_RUN = ("noise_multiplier", "sample_rate", "steps", "delta")
# Seconds for a picture, while a slider moves and when it rests.
_DRAFT, _PICTURE = 0.4, 1.5
_STOPPED = "Stopped after {seconds:g} s with {points} points."
_CHECKS = "Compares {points} points or more of its domain with another way to the truth."


def entry(state: State) -> None:
    """The statement above; the picture on the left, on the right what was checked and code."""
    formula = book[state.values["id"]]
    st.markdown(f"#### {formula.id} · {formula.title}")
    with st.container(key="statement", gap="small"):
        st.latex(formula.statement)
        about = f"{words.kind_of(formula)} {words.hypothesis(formula)}"
        st.markdown(f"{about}  \n:small[{formula.reference}]")
    left, right = st.columns([9, 5], gap="medium")
    with right:
        _verification(formula)
        if formula.misprints:
            title = translated("Wrong variants in circulation")
            st.markdown(f"**{title}** ({len(formula.misprints)})")
            with st.container(key="variants", gap="small"):
                for misprint in formula.misprints:
                    _misprint(state, misprint)
        else:
            st.caption(translated("No wrong variant of it is known to this book."))
        st.caption(f"`{words.signature(formula)}`")
        printed = formula.printed
        parameters = printed[0].parameters if printed else start(formula.id, "none")
        st.code(words.as_python(formula, parameters), wrap_lines=True)
        _links(state, formula)
        for lesson in search.lessons(formula.id):
            title = translated("Lesson {title}", title=lesson)
            st.markdown(f":material/school: {title}")
    with left:
        _picture(state)
        below(state)


def _links(state: State, formula: Formula) -> None:
    """Where to go from here: the claim typed in, and the run, where the entry speaks of one."""
    if address := claim_address(formula.id):
        where = translated("Where does it hold? Check it as a claim")
        st.markdown(f":material/fact_check: [{where}]({address})")
    if address := run_address(place_of(state).parameters):
        every = translated("All accountants on this run")
        st.markdown(f":material/show_chart: [{every}]({address})")


def _picture(state: State) -> None:
    """Formula against oracle, and whether all of it is there."""
    place, name = place_of(state), state.values["along"]
    claim = place.claim
    seconds = _DRAFT if state.moving else _PICTURE
    along = name if state.values["picture"] == "curve" else ""
    figure, headline, picture = points.figure_of(place, along, seconds=seconds)
    with st.container(key="picture"):
        about = translated("Value and truth of {id}", id=claim.id)
        alt = f"{about}, {book[place.id].title}. {headline}."
        look.chart(figure, "formula_picture", alt)
    if not picture.complete and not state.moving:
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.caption(translated(_STOPPED, seconds=seconds, points=len(picture.points)))
        right.button(translated("Go on"), key="go_on")


def _verification(formula: Formula) -> None:
    """A button that checks the entry in front of the reader, and what came out."""
    results = verified()
    name = translated("Verify now")
    if st.button(name, type="primary", icon=":material/check:", width="stretch"):
        with st.spinner(translated("Comparing with the oracle …")):
            results[formula.id] = questions.ask(verification, formula.id)
    if result := results.get(formula.id):
        (st.success if result.good else st.error)(words.verified(result))
    else:
        st.caption(translated(_CHECKS, points=formula.points))


def _misprint(state: State, misprint: Misprint) -> None:
    """A wrong variant in circulation; the open one is drawn."""
    id, chosen = state.values["id"], state.values["misprint"] == misprint.name
    key = f"open_{id}_{misprint.name}"
    st.session_state[key] = chosen

    def turned() -> None:
        go(misprint=misprint.name if st.session_state[key] else "none")

    name = misprint.name.replace("-", " ")
    with st.expander(name, key=key, on_change=turned, icon=":material/close:"):
        if chosen:
            claim = shown(id, misprint.name)
            with st.spinner(translated("Looking for a counterexample …")):
                result = refuted(id, misprint.name)
            st.latex(claim.statement)
            if result.counterexample:
                case = words.case(claim.kind, result.counterexample)
                (st.error if result.unsafe else st.warning)(f"{case}  \n{words.danger(result)}")
            else:
                st.info(f"{words.status(result.status)} {result.reason}")
            given = words.hypothesis(claim)
            given = translated("Claimed {given}", given=f"{given[0].lower()}{given[1:]}")
            given = f"{given}  \n" if misprint.given is not None else ""
            address = claim_address(id, misprint.name)
            given += f"[{translated('Check it as a claim')}]({address})  \n" if address else ""
            met = translated("Met in {place}.", place=misprint.met or translated("notes"))
            st.markdown(f"{misprint.note}  \n{given}:small[{met}]")


def claim_address(id: str, misprint: str = "none") -> str:
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


def run_address(parameters: Mapping[str, Any]) -> str:
    """The address of the run that parameters describe, read after all its steps; "" of no run."""
    if not all(name in parameters for name in _RUN):
        return ""
    return links.to(".", **{name: parameters[name] for name in _RUN}, here=parameters["steps"])


_NAME, _WISH = "formula_book", "formula_wish"


def current() -> State:
    """The page as the session, its address or the last click has it."""
    wish = st.session_state.pop(_WISH, None)
    # The picture of a wrong variant begins at its counterexample.
    with st.spinner(translated("Looking for a counterexample …")):
        state = load(_NAME, fields.state)
        if wish:
            state = st.session_state[_NAME] = fields.turn(state, **wish)
    return state


def go(**changed: str) -> None:
    """To another entry, or another wrong variant, at the next run."""
    st.session_state[_WISH] = changed


def catalogue(state: State) -> None:
    """The sidebar: search, group, and the entries that match."""
    about = translated("Every formula is checked on this machine.")
    st.markdown(translated("**dplearn** · the formula book"), help=about)
    if language.current() != "en":
        st.caption(translated("The entries of the book are in English."))
    controls.note(state, "id")
    controls.box(state, fields.FIND, then=lambda state: state.values.update(group="all"))
    controls.choice(state, fields.groups(state.values["id"]))
    ids = search.matching(state.values["find"], state.values["group"])
    meant = " ".join(search.meant(state.values["find"]))
    count = translated("{count} of {all} formulas", count=len(ids), all=len(book))
    count += translated(" with `{words}`", words=meant) if meant else ""
    st.caption(count if ids else translated("Nothing found."))
    if not ids:
        return
    chosen, key = state.values["id"], "choice_id"
    st.session_state[key] = chosen if chosen in ids else None
    with st.container(height=520, border=False, key="found"):
        st.radio(
            translated("Formula"),
            ids,
            key=key,
            format_func=lambda id: f"**{id}** {book[id].title}",
            on_change=lambda: go(id=st.session_state[key]),
            label_visibility="collapsed",
        )


def tabs(state: State) -> list[Any]:
    """One entry, many, and the published figures; only the open one is filled."""
    names = {word: translated(name) for word, name in fields.VIEW.options.items()}
    key = "formula_view"
    st.session_state[key] = names[state.values["view"]]
    back = {name: word for word, name in names.items()}
    chosen = lambda: state.enter(fields.VIEW, back[st.session_state[key]])
    return list(st.tabs(list(names.values()), key=key, on_change=chosen))


def below(state: State) -> None:
    """Below the picture: what runs along the axis, and a control for every other parameter."""
    along: Any = state.fields["along"]
    if not along.options:
        return
    left, right = st.columns(2, gap="medium")
    controls.choice(state, fields.PICTURE, place=left)
    if state.values["picture"] != "curve":
        return
    controls.choice(state, along, place=right)
    names = [name for name in fields.entered(state) if name != state.values["along"]]
    for rank, name in enumerate(names):
        kind: Any = state.fields[fields.parameter_key(name)]
        place = (left, right)[rank % 2]
        if isinstance(kind, Quantity):
            controls.quantity(state, kind, place=place)
        elif len(kind.options) > 1:
            controls.choice(state, kind, place=place)
    # The parameters that have no control, and a button that draws others.
    at = place_of(state)
    own = (n for n in at.claim.parameters if fields.parameter_key(n) not in state.fields)
    if not (without := {name: at.parameters[name] for name in own}):
        return
    left, right = st.columns([5, 2], vertical_alignment="center")
    left.caption(words.given(without))
    after = str((at.draw + 1) % fields.DRAWS)
    draw = lambda: state.values.update(draw=after)
    right.button(translated("Draw others"), key="draw", on_click=draw, icon=":material/casino:")


def place_of(state: State) -> Place:
    """Entry, variant and parameters in use."""
    id, misprint, draw = (state.values[key] for key in ("id", "misprint", "draw"))
    return Place(id, misprint, int(draw), tuple(fields.entered(state).items()))
