"""One entry of the book and the list beside it; many, published figures and sources as tables."""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dplearn.accountants import ACCOUNTANTS
from dplearn.teaching.book import Misprint, Verification, book
from dplearn.teaching.book.pictures import cloud, curve, example_code, shown
from dplearn.teaching.book.published import check_figure, published
from dplearn.teaching.book.run_all import verification
from dplearn.teaching.book.sentences import VERDICTS, label, signature
from dplearn.teaching.explorer.kit import controls, language, links, look, questions
from dplearn.teaching.explorer.kit.fields import Quantity, Words
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.kit.state import State
from dplearn.teaching.explorer.pages.formula_book import fields, search
from dplearn.teaching.explorer.pages.formula_book.fields import place_of, words
from dplearn.teaching.figures.formula import formula_cloud, formula_curve

_say = Words("formula_book")
# Seconds for a table.
_PATIENCE = 60.0
_COLUMN, _NUMBER = st.column_config.Column, st.column_config.NumberColumn
# What an address of the first page needs.
_RUN = ("noise_multiplier", "sample_rate", "steps", "delta")
# Seconds for a picture, while a slider moves and when it rests.
_DRAFT, _PICTURE = 0.4, 1.5


def show_entry(state: State) -> None:
    """The statement above; the picture on the left, on the right what was checked and code."""
    formula = book[state.values["id"]]
    st.markdown(f"#### {formula.id} · {formula.title}")
    with st.container(key="statement", gap="small"):
        st.latex(formula.statement)
        about = f"{words.kind_of(formula)} {words.hypothesis(formula)}"
        st.markdown(f"{about}  \n:small[{formula.reference}]")
    left, right = st.columns([9, 5], gap="medium")
    with right:
        results = st.session_state.setdefault("formula_checks", {})
        if st.button(_say("verify"), type="primary", icon=":material/check:", width="stretch"):
            with st.spinner(_say("comparing")):
                results[formula.id] = questions.ask(verification, formula.id)
        if result := results.get(formula.id):
            (st.success if result.good else st.error)(words.verified(result))
        else:
            st.caption(_say("checks", points=formula.points))
        if formula.misprints:
            st.markdown(f"**{_say('variants')}** ({len(formula.misprints)})")
            with st.container(key="variants", gap="small"):
                for misprint in formula.misprints:
                    _misprint(state, misprint)
        else:
            st.caption(_say("no_variant"))
        st.caption(f"`{signature(formula)}`")
        st.code(example_code(formula), wrap_lines=True)
        if address := claim_address(formula.id):
            st.markdown(f":material/fact_check: [{_say('as_claim')}]({address})")
        if address := run_address(place_of(state).parameters):
            st.markdown(f":material/show_chart: [{_say('as_run')}]({address})")
        for lesson in search.lessons_about(formula.id):
            st.markdown(f":material/school: {_say('lesson', title=lesson)}")
    with left:
        _picture(state)
        _below(state)


def _picture(state: State) -> None:
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
        alt = f"{_say('alt', id=place.claim.id)}, {book[place.id].title}. {headline}."
        look.draw_figure(draw(finding=headline), "formula_picture", alt)
    if not picture.complete and not state.moving:
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.caption(_say("stopped", seconds=seconds, points=len(picture.points)))
        right.button(_say("go_on"), key="go_on")


def _misprint(state: State, misprint: Misprint) -> None:
    id, chosen = state.values["id"], state.values["misprint"] == misprint.name
    key = f"open_{id}_{misprint.name}"
    st.session_state[key] = chosen

    def turned() -> None:
        _go(misprint=misprint.name if st.session_state[key] else "none")

    name = misprint.name.replace("-", " ")
    with st.expander(name, key=key, on_change=turned, icon=":material/close:"):
        if chosen:
            claim = shown(id, misprint.name)
            with st.spinner(_say("searching")):
                result = fields.searched(id, misprint.name)
            st.latex(claim.statement)
            if result.counterexample:
                case = words.case(claim.kind, result.counterexample)
                (st.error if result.unsafe else st.warning)(f"{case}  \n{words.danger(result)}")
            else:
                st.info(f"{words.status(result.status)} {result.reason}")
            lines = [misprint.note]
            if misprint.given is not None:
                given = words.hypothesis(claim)
                lines.append(_say("claimed", given=f"{given[0].lower()}{given[1:]}"))
            if address := claim_address(id, misprint.name):
                lines.append(f"[{_say('check_it')}]({address})")
            lines.append(f":small[{_say('met', place=misprint.met or _say('notes'))}]")
            st.markdown("  \n".join(lines))


def claim_address(id: str, misprint: str = "none") -> str:
    """Return the address at which an entry or a wrong variant is checked; "" where it has no
    setting."""
    entry = book[id]
    if not entry.settings:
        return ""
    wrong = None if misprint == "none" else entry.misprint(misprint)
    statement = entry.statement_of(wrong) if wrong else entry.statement
    about = {"claim": " ".join(statement.split()), "words": entry.settings[0].text}
    return links.to("check_a_claim", about)


def run_address(parameters: Mapping[str, Any]) -> str:
    """The address of the run that parameters describe, read after all its steps; "" of no run."""
    if not all(name in parameters for name in _RUN):
        return ""
    return links.to(".", {name: parameters[name] for name in _RUN} | {"here": parameters["steps"]})


def _go(**changed: str) -> None:
    st.session_state["formula_wish"] = changed


def list_entries(state: State) -> None:
    """The sidebar: search, group, and the entries that match."""
    st.markdown(_say("heading"), help=_say("purpose"))
    if language.spoken() != "en":
        st.caption(_say("english"))
    controls.note(state, "id")
    controls.text_box(state, fields.FIND, then=lambda state: state.values.update(group="all"))
    group: Any = state.fields["group"]
    controls.choice(state, group)
    ids = search.matching(state.values["find"], state.values["group"])
    searched = " ".join(search.searched_words(state.values["find"]))
    count = _say("count", count=len(ids), all=len(book))
    count += _say("with_words", words=searched) if searched else ""
    st.caption(count if ids else _say("no_entry"))
    if not ids:
        return
    chosen, key = state.values["id"], "choice_id"
    st.session_state[key] = chosen if chosen in ids else None
    with st.container(height=520, border=False, key="found"):
        st.radio(
            _say("id.label"),
            ids,
            key=key,
            format_func=lambda id: f"**{id}** {book[id].title}",
            on_change=lambda: _go(id=st.session_state[key]),
            label_visibility="collapsed",
        )


def _below(state: State) -> None:
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
    at = place_of(state)
    own = (n for n in at.claim.parameters if fields.parameter_key(n) not in state.fields)
    if not (without := {name: at.parameters[name] for name in own}):
        return
    left, right = st.columns([5, 2], vertical_alignment="center")
    left.caption(words.given(without))
    after = str((at.draw + 1) % fields.DRAWS)
    draw = lambda: state.values.update(draw=after)
    right.button(_say("others"), key="draw", on_click=draw, icon=":material/casino:")


def _draw_table(
    keys: str, rows: Iterable[Sequence[Any]], columns: Mapping[str, Any], height: int | None = None
) -> None:
    """Rows under the names of their columns; half a row says that more follow."""
    names = [_say(f"columns.{key}") for key in keys.split()]
    st.dataframe(
        [dict(zip(names, row, strict=True)) for row in rows],
        hide_index=True,
        height=577,
        row_height=height,
        placeholder="",
        column_config={_say(f"columns.{key}"): column for key, column in columns.items()},
    )


def show_entries(state: State) -> None:
    """A group or the whole book, and a button that checks it."""
    group, results = state.values["group"], st.session_state.setdefault("formula_checks", {})
    ids = search.matching("", group)
    left, right = st.columns([2, 1], vertical_alignment="center")
    missing = [id for id in ids if id not in results]
    which = _say("whole" if group == "all" else "one_group")
    left.markdown(_say("many", count=len(ids), which=which))
    todo = missing if missing and len(missing) < len(ids) else ids
    name = _say("rest" if todo is missing else "all")
    if right.button(name, type="primary", icon=":material/check:", width="stretch"):
        _verify(todo, results)
    rows = []
    for formula in (book[id] for id in ids):
        about = formula.id, formula.title, _say(f"kinds.{formula.kind}")
        checked = words.status("not yet"), None, None, None
        if result := results.get(formula.id):
            seconds = round(result.seconds, 2)
            checked = words.status(result.status), result.worst_slack, result.points, seconds
        rows.append((*about, *checked, len(formula.misprints)))
    keys = "id formula kind status slack points seconds variants"
    _draw_table(keys, rows, {"slack": _NUMBER(format="%.2g")})


def _verify(ids: Sequence[str], results: dict[str, Verification]) -> None:
    bar, began = st.progress(0.0), time.perf_counter()
    for done, id in enumerate(ids):
        if time.perf_counter() - began > _PATIENCE:
            bar.empty()
            st.warning(_say("stopped_at", seconds=_PATIENCE, done=done, count=len(ids)))
            return
        bar.progress(done / len(ids), f"{id} {book[id].title}")
        results[id] = questions.ask(verification, id)
    bar.empty()
    failed, seconds = [id for id in ids if not results[id].good], time.perf_counter() - began
    if failed:
        st.error(_say("failed", count=len(ids), seconds=seconds, ids=", ".join(failed)))
    else:
        st.success(_say("verified", count=len(ids), seconds=seconds))


def show_figures(_: State) -> None:
    """Every published figure, what comes out here, and what to think of it."""
    with st.spinner(_say("computing")):
        computed = [questions.ask(check_figure, id) for id in published()]
    counts = {name: sum(f.verdict == v for f in computed) for v, name in VERDICTS.items()}
    for place, (name, count) in zip(st.columns(len(counts)), counts.items(), strict=True):
        place.metric(retold(name), count)
    if failed := [f.id for f in computed if not f.good]:
        st.error(_say("other", ids=", ".join(failed)))
    rows = []
    for figure in computed:
        what = label(published()[figure.id]["quantity"])
        here = None if figure.status == "not computed" else figure.value
        verdict, why = retold(VERDICTS[figure.verdict]), retold(figure.why)
        rows.append((figure.id, retold(figure.source), what, figure.printed, here, verdict, why))
    widths = {"id": 50, "source": 150, "what": 60, "printed": 80, "verdict": 130, "why": 350}
    columns = {name: _COLUMN(width=width) for name, width in widths.items()}
    columns["here"] = _NUMBER(format="%.6g", width=80)
    _draw_table("id source what printed here verdict why", rows, columns, 72)
    st.caption(_say("figures"))


def show_sources(_: State) -> None:
    """Where each formula stands, and what was checked about the places."""
    of = {id: entry.reference for id, entry in book.items()}
    of |= {law.title: law.reference for law in ACCOUNTANTS.values()}
    checked = sum(reference.checked for reference in of.values())
    st.markdown(_say("cited", count=len(of), looked_up=checked))
    answer = {True: _say("looked_up.yes"), False: _say("looked_up.no")}
    rows = ((name, r.authors, str(r.year), r.where, answer[r.checked]) for name, r in of.items())
    _draw_table("theorem authors year place looked_up", rows, {})
