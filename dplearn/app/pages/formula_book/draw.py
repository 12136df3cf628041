"""The catalogue beside one entry, a table of many, the published figures or the sources."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.kit import controls, language, links, look, questions
from dplearn.app.kit.fields import Quantity
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State, load
from dplearn.app.pages.formula_book import fields, search
from dplearn.app.pages.formula_book.fields import place_of, words
from dplearn.book import Formula, Misprint, Verification, book
from dplearn.book.everything import verification
from dplearn.book.kit.entry import Typed
from dplearn.book.kit.words import KINDS
from dplearn.book.kit.written import parse
from dplearn.book.pictures import cloud, curve, example_code, shown
from dplearn.book.published import Figure, check_figure, published
from dplearn.book.spoken import VERDICTS, label, signature
from dplearn.claims import PARAMETERS, aliases
from dplearn.figures.formula import formula_cloud, formula_curve

# What an address of the first page needs.
_RUN = ("noise_multiplier", "sample_rate", "steps", "delta")
# Seconds for a picture, while a slider moves and when it rests.
_DRAFT, _PICTURE = 0.4, 1.5
_STOPPED = "Stopped after {seconds:g} s with {points} points."
_CHECKS = "Compares {points} points or more of its domain with another way to the truth."
# Seconds for a table.
_PATIENCE = 60.0
_MANY = "**{count} formulas**: {which}, as chosen in the sidebar."
_STOPPED_AT = "Stopped after {seconds:g} s with {done} of {count}. Press to go on."
_FAILED = "{count} formulas in {seconds:.1f} s; not verified: {ids}."
_OTHER = "The verdict in the table is not the one found here: {ids}."
_FIGURES = (
    "Printed: as in the source. Here: computed just now by the method of the source, where the "
    "code for it is in this package. Click a column to sort, a cell to read all of it."
)
_CITED = (
    "Of {count} theorems {looked_up} had the number looked up in the paper. The others are cited "
    "from memory, and a preprint and its journal version may count differently. **No formula rests "
    "on its citation**: each is compared on this machine with the truth computed from the "
    "definition (*Check many*)."
)
_KINDS = {name: name for name in KINDS}


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
        st.caption(f"`{signature(formula)}`")
        st.code(example_code(formula), wrap_lines=True)
        _links(state, formula)
        for lesson in search.lessons(formula.id):
            title = translated("Lesson {title}", title=lesson)
            st.markdown(f":material/school: {title}")
    with left:
        _picture(state)
        _below(state)


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
    place, along = place_of(state), state.values["along"]
    seconds = _DRAFT if state.moving else _PICTURE
    if along and state.values["picture"] == "curve":
        picture = curve(place, along, seconds=seconds)
        draw = partial(formula_curve, picture.drawn, x=label(along))
    else:
        picture = cloud(place, words, seconds=seconds)
        draw = partial(formula_cloud, picture.drawn)
    headline = picture.headline(place, words)
    with st.container(key="picture"):
        about = translated("Value and truth of {id}", id=place.claim.id)
        alt = f"{about}, {book[place.id].title}. {headline}."
        look.chart(draw(finding=headline), "formula_picture", alt)
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
        _go(misprint=misprint.name if st.session_state[key] else "none")

    name = misprint.name.replace("-", " ")
    with st.expander(name, key=key, on_change=turned, icon=":material/close:"):
        if chosen:
            claim = shown(id, misprint.name)
            with st.spinner(translated("Looking for a counterexample …")):
                result = fields.searched(id, misprint.name)
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


def _go(**changed: str) -> None:
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
    group: Any = state.fields["group"]
    controls.choice(state, group)
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
            on_change=lambda: _go(id=st.session_state[key]),
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


def _below(state: State) -> None:
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


def verified() -> dict[str, Verification]:
    """What this session has verified."""
    return st.session_state.setdefault("formula_checks", {})


def entries(state: State) -> None:
    """A group or the whole book, and a button that checks it."""
    group, results = state.values["group"], verified()
    ids = search.matching("", group)
    left, right = st.columns([2, 1], vertical_alignment="center")
    missing = [id for id in ids if id not in results]
    which = translated("the whole book" if group == "all" else "one group")
    left.markdown(translated(_MANY, count=len(ids), which=which))
    todo = missing if missing and len(missing) < len(ids) else ids
    name = translated("Verify the rest" if todo is missing else "Verify all of them")
    if right.button(name, type="primary", icon=":material/check:", width="stretch"):
        _verify(todo, results)
    st.dataframe(
        [_entry(book[id], results.get(id)) for id in ids],
        hide_index=True,
        height=577,  # half a row says that more follow
        placeholder="",
        column_config={translated("worst slack"): st.column_config.NumberColumn(format="%.2g")},
    )


def _verify(ids: Sequence[str], results: dict[str, Verification]) -> None:
    """One after the other until the time is over."""
    bar, began = st.progress(0.0), time.perf_counter()
    for done, id in enumerate(ids):
        if time.perf_counter() - began > _PATIENCE:
            bar.empty()
            st.warning(translated(_STOPPED_AT, seconds=_PATIENCE, done=done, count=len(ids)))
            return
        bar.progress(done / len(ids), f"{id} {book[id].title}")
        results[id] = questions.ask(verification, id)
    bar.empty()
    failed = [id for id in ids if not results[id].good]
    spent = {"count": len(ids), "seconds": time.perf_counter() - began}
    if failed:
        st.error(translated(_FAILED, ids=", ".join(failed), **spent))
    else:
        st.success(translated("{count} formulas in {seconds:.1f} s: all verified.", **spent))


def _entry(formula: Formula, result: Verification | None) -> dict[str, Any]:
    return {
        "id": formula.id,
        translated("formula"): formula.title,
        translated("kind"): translated(_KINDS[formula.kind]),
        translated("status"): words.status(result.status if result else "not yet"),
        translated("worst slack"): result.worst_slack if result else None,
        translated("points"): result.points if result else None,
        translated("seconds"): round(result.seconds, 2) if result else None,
        translated("wrong variants"): len(formula.misprints),
    }


def figures(_: State) -> None:
    """Every published figure, what comes out here, and what to think of it."""
    with st.spinner(translated("Computing every figure again …")):
        computed = [questions.ask(check_figure, id) for id in published()]
    counts = {name: sum(f.verdict == v for f in computed) for v, name in VERDICTS.items()}
    for place, (name, count) in zip(st.columns(len(counts)), counts.items(), strict=True):
        place.metric(translated(name), count)
    failed = [f.id for f in computed if not f.good]
    if failed:
        st.error(translated(_OTHER, ids=", ".join(failed)))
    column = st.column_config.Column
    widths = {"id": 50, "source": 150, "what": 60, "printed": 80, "verdict": 130, "why": 350}
    st.dataframe(
        [_figure(f) for f in computed],
        hide_index=True,
        height=577,  # half a row says that more follow
        row_height=72,
        placeholder="",
        column_config={translated(name): column(width=width) for name, width in widths.items()}
        | {translated("here"): st.column_config.NumberColumn(format="%.6g", width=80)},
    )
    st.caption(translated(_FIGURES))


def sources(_: State) -> None:
    """Where each formula stands, and what was checked about the places."""
    of = {id: entry.reference for id, entry in book.items()}
    of |= {law.title: law.reference for law in ACCOUNTANTS.values()}
    looked_up = sum(reference.checked for reference in of.values())
    st.markdown(translated(_CITED, count=len(of), looked_up=looked_up))
    rows = [
        {
            translated("theorem"): name,
            translated("authors"): r.authors,
            translated("year"): str(r.year),
            translated("place"): r.where,
            translated("looked up"): translated("yes" if r.checked else "no"),
        }
        for name, r in of.items()
    ]
    st.dataframe(rows, hide_index=True, height=560, placeholder="")


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        translated("source"): retold(figure.source),
        translated("what"): label(published()[figure.id]["quantity"]),
        translated("printed"): figure.printed,
        translated("here"): None if figure.status == "not computed" else figure.value,
        translated("verdict"): translated(VERDICTS[figure.verdict]),
        translated("why"): retold(figure.why),
    }
