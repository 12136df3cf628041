"""Many entries of the formula book in a table, the published figures, and the sources."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.kit import questions
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.look import VERDICTS
from dplearn.app.kit.state import State
from dplearn.app.pages.formula_book import search, words
from dplearn.book import Formula, Verification, book
from dplearn.book.everything import verification
from dplearn.book.kit.words import KINDS
from dplearn.book.published import Figure, check_figure, published

# Seconds for a table.
_PATIENCE = 60.0
_MANY = "**{count} formulas**: {which}, as chosen in the sidebar."
_STOPPED = "Stopped after {seconds:g} s with {done} of {count}. Press to go on."
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
            st.warning(translated(_STOPPED, seconds=_PATIENCE, done=done, count=len(ids)))
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
        translated("what"): words.label(published()[figure.id]["quantity"]),
        translated("printed"): figure.printed,
        translated("here"): None if figure.status == "not computed" else figure.value,
        translated("verdict"): translated(VERDICTS[figure.verdict]),
        translated("why"): retold(figure.why),
    }
