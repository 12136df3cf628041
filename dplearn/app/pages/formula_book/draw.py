"""The parts of the page of the formula book."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from dplearn.app.kit import look
from dplearn.app.kit.state import State
from dplearn.app.pages.formula_book import controls, points, words
from dplearn.book import Formula, Misprint, Verification, book, verify
from dplearn.book.published import Figure, check_figure, published
from dplearn.figures import formula_cloud, formula_curve

# Seconds for a picture, while a slider moves and when it rests, and for a table.
_DRAFT, _PICTURE, _TABLE = 0.4, 1.5, 60.0
_STYLE = """<style>
.stMainBlockContainer { padding-top: 4.4rem; }
.st-key-statement .katex { font-size: 1.15rem; }
.st-key-variants .katex { font-size: 1rem; }
.st-key-variants .katex-display { overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0; }
.st-key-statement .katex-display { margin: 0.2rem 0; overflow-x: auto; overflow-y: hidden; }
.st-key-found [data-testid="stRadio"] label { padding: 0.15rem 0; }
.st-key-found p { font-size: 0.875rem; line-height: 1.25; }
</style>"""
_VERDICTS = {
    "reproduces": "reproduces",
    "within_rounding": "within rounding",
    "does_not_reproduce": "does not reproduce",
    "not_checkable": "cannot be checked",
}
_KNOWN = "formula_checks"


def style() -> None:
    """Room for the menu, formulas that fit."""
    look.style()
    st.html(_STYLE)


# One entry


def statement(entry: Formula) -> None:
    """What is claimed, of what, by whom, and how it is called."""
    st.markdown(f"#### {entry.id} · {entry.title}")
    with st.container(key="statement", gap="small"):
        st.latex(entry.statement)
        st.markdown(
            f"{words.KINDS[entry.kind]}. {words.hypothesis(entry)}  \n:small[{entry.reference}]"
        )


def code(entry: Formula) -> None:
    """The function, and a call to copy."""
    st.caption(f"`{words.signature(entry)}`")
    known = entry.printed[0].parameters if entry.printed else points.start(entry.id, "none")
    st.code(words.as_python(entry, known), wrap_lines=True)
    for lesson in words.lessons(entry.id):
        st.markdown(f":material/school: Lesson {lesson}")


def picture(state: State) -> None:
    """Formula against oracle, and whether all of it is there."""
    place, name = controls.place_of(state), state.values["along"]
    claim = points.shown(place.id, place.misprint)
    seconds = _DRAFT if state.moving else _PICTURE
    if name and state.values["picture"] == "curve":
        drawn, found, whole = points.curve(place, name, seconds=seconds)
        said = _finding(claim, found, place)
        figure = formula_curve(drawn, finding=said, x=words.label(name), ink=look.ink())
    else:
        drawn, found, whole = points.cloud(place.id, place.misprint, seconds=seconds)
        said = _finding(claim, found, place)
        figure = formula_cloud(drawn, finding=said, ink=look.ink())
    with st.container(key="picture"):
        alt = f"Value and truth of {claim.id}, {book[place.id].title}. {said}."
        bare = {"displayModeBar": False}
        st.plotly_chart(figure, theme=None, key="formula_picture", config=bare, alt=alt)
    if not whole and not state.moving:
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.caption(words.partial(seconds, len(found)))
        right.button("Go on", key="go_on")


def _finding(claim: Formula, found: Sequence[points.Point], place: points.Place) -> str:
    verdicts, slacks = [p.verdict for p in found], [p.slack for p in found]
    return words.finding(claim.kind, verdicts, slacks, place.misprint != "none")


def verification(entry: Formula) -> None:
    """A button that checks the entry in front of the reader, and what came out."""
    known = _known()
    if st.button("Verify now", type="primary", icon=":material/check:", width="stretch"):
        with st.spinner("Comparing with the oracle …"):
            known[entry.id] = verify(entry)
    if found := known.get(entry.id):
        (st.success if found.good else st.error)(words.verified(found))
    else:
        st.caption(f"Compares {entry.points} points of its domain with another way to the truth.")


def _known() -> dict[str, Verification]:
    """What this session has verified."""
    return st.session_state.setdefault(_KNOWN, {})


def misprints(state: State) -> None:
    """The wrong variants in circulation; the open one is drawn."""
    entry = book[state.values["id"]]
    if not entry.misprints:
        st.caption("No wrong variant of it is known to this book.")
        return
    st.markdown(f"**Wrong variants in circulation** ({len(entry.misprints)})")
    with st.container(key="variants", gap="small"):
        for misprint in entry.misprints:
            _misprint(state, misprint)


def _misprint(state: State, misprint: Misprint) -> None:
    id, chosen = state.values["id"], state.values["misprint"] == misprint.name
    key = f"open_{id}_{misprint.name}"
    st.session_state[key] = chosen

    def turned() -> None:
        controls.go(misprint=misprint.name if st.session_state[key] else "none")

    name = misprint.name.replace("-", " ")
    with st.expander(name, key=key, on_change=turned, icon=":material/close:"):
        if chosen:
            with st.spinner("Looking for a counterexample …"):
                found = points.refuted(id, misprint.name)
            _refutation(misprint, points.shown(id, misprint.name), found)


def _refutation(misprint: Misprint, claim: Formula, found: Any) -> None:
    st.latex(claim.statement)
    if found.counterexample:
        said = words.case(claim.kind, found.counterexample)
        (st.error if found.unsafe else st.warning)(f"{said}  \n{words.danger(found)}")
    else:
        st.info(f"{words.STATUS[found.status]} {found.reason}")
    asked = words.hypothesis(claim)
    asked = f"Claimed {asked[0].lower()}{asked[1:]}  \n" if misprint.given is not None else ""
    st.markdown(f"{misprint.note}  \n{asked}:small[Met in {misprint.met or 'notes'}.]")


# Many entries


def table(state: State) -> None:
    """A group or the whole book, and a button that checks it."""
    group, known = state.values["group"], _known()
    ids = words.matching("", "" if group == "all" else group)
    left, right = st.columns([3, 1], vertical_alignment="center")
    missing = [id for id in ids if id not in known]
    with left:
        where = "the whole book" if group == "all" else "one group"
        st.markdown(f"**{len(ids)} formulas**: {where}, as chosen in the sidebar.")
    todo = missing if missing and len(missing) < len(ids) else ids
    name = "Verify the rest" if todo is missing else "Verify all of them"
    if right.button(name, type="primary", icon=":material/check:", width="stretch"):
        _verify(todo, known)
    st.dataframe(
        [_row(book[id], known.get(id)) for id in ids],
        hide_index=True,
        height=560,
        placeholder="",
        column_config={"worst slack": st.column_config.NumberColumn(format="scientific")},
    )


def _verify(ids: Sequence[str], known: dict[str, Verification]) -> None:
    """One after the other until the time is over."""
    bar, began = st.progress(0.0), time.perf_counter()
    for done, id in enumerate(ids):
        if time.perf_counter() - began > _TABLE:
            bar.empty()
            st.warning(f"Stopped after {_TABLE:g} s with {done} of {len(ids)}. Press to go on.")
            return
        bar.progress(done / len(ids), f"{id} {book[id].title}")
        known[id] = verify(book[id])
    bar.empty()
    failed = [id for id in ids if not known[id].good]
    spent = f"{len(ids)} formulas in {time.perf_counter() - began:.1f} s"
    if failed:
        st.error(f"{spent}; not verified: {', '.join(failed)}.")
    else:
        st.success(f"{spent}: all verified.")


def _row(entry: Formula, found: Verification | None) -> dict[str, Any]:
    row: dict[str, Any] = {"id": entry.id, "formula": entry.title, "kind": entry.kind}
    row["status"] = words.STATUS[found.status] if found else "not yet"
    row["worst slack"] = found.worst_slack if found else None
    row["points"] = found.points if found else None
    row["seconds"] = round(found.seconds, 2) if found else None
    return row | {"wrong variants": len(entry.misprints)}


# Published figures


@lru_cache(maxsize=1)
def _figures() -> tuple[Figure, ...]:
    return tuple(check_figure(id) for id in published())


def figures() -> None:
    """Every published figure, what comes out here, and what to think of it."""
    with st.spinner("Computing every figure again …"):
        found = _figures()
    counts = {name: sum(f.verdict == v for f in found) for v, name in _VERDICTS.items()}
    for place, (name, count) in zip(st.columns(len(counts)), counts.items(), strict=True):
        place.metric(name, count)
    failed = [f.id for f in found if not f.good]
    if failed:
        st.error(f"The verdict in the table is not the one found here: {', '.join(failed)}.")
    column = st.column_config.Column
    widths = {"id": 50, "source": 150, "what": 60, "printed": 80, "verdict": 130, "why": 350}
    st.dataframe(
        [_figure(f) for f in found],
        hide_index=True,
        height=560,
        row_height=72,
        placeholder="",
        column_config={name: column(width=width) for name, width in widths.items()}
        | {"here": st.column_config.NumberColumn(format="%.6g", width=80)},
    )
    st.caption(
        "Printed: as in the source. Here: computed just now by the method of the source, where "
        "the code for it is in this package. Click a column to sort, a cell to read all of it."
    )


def _figure(found: Figure) -> dict[str, Any]:
    about = published()[found.id]
    return {
        "id": found.id,
        "source": found.source,
        "what": words.label(about["quantity"]),
        "printed": found.printed,
        "here": None if found.status == "not computed" else found.value,
        "verdict": _VERDICTS[found.verdict],
        "why": found.why,
    }
