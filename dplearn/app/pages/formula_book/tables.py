"""Many entries of the formula book in a table, the published figures, and the sources."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dplearn.accountants import accountants
from dplearn.app.kit import questions
from dplearn.app.kit.look import VERDICTS
from dplearn.app.kit.state import State
from dplearn.app.pages.formula_book import search, words
from dplearn.book import Formula, Verification, book
from dplearn.book.everything import verification
from dplearn.book.published import Figure, check_figure, published

# Seconds for a table.
_PATIENCE = 60.0


def verified() -> dict[str, Verification]:
    """What this session has verified."""
    return st.session_state.setdefault("formula_checks", {})


def entries(state: State) -> None:
    """A group or the whole book, and a button that checks it."""
    group, results = state.values["group"], verified()
    ids = search.matching("", group)
    left, right = st.columns([3, 1], vertical_alignment="center")
    missing = [id for id in ids if id not in results]
    which = "the whole book" if group == "all" else "one group"
    left.markdown(f"**{len(ids)} formulas**: {which}, as chosen in the sidebar.")
    todo = missing if missing and len(missing) < len(ids) else ids
    name = "Verify the rest" if todo is missing else "Verify all of them"
    if right.button(name, type="primary", icon=":material/check:", width="stretch"):
        _verify(todo, results)
    st.dataframe(
        [_entry(book[id], results.get(id)) for id in ids],
        hide_index=True,
        height=560,
        placeholder="",
        column_config={"worst slack": st.column_config.NumberColumn(format="scientific")},
    )


def _verify(ids: Sequence[str], results: dict[str, Verification]) -> None:
    """One after the other until the time is over."""
    bar, began = st.progress(0.0), time.perf_counter()
    for done, id in enumerate(ids):
        if time.perf_counter() - began > _PATIENCE:
            bar.empty()
            st.warning(f"Stopped after {_PATIENCE:g} s with {done} of {len(ids)}. Press to go on.")
            return
        bar.progress(done / len(ids), f"{id} {book[id].title}")
        results[id] = questions.ask(verification, id)
    bar.empty()
    failed = [id for id in ids if not results[id].good]
    spent = f"{len(ids)} formulas in {time.perf_counter() - began:.1f} s"
    if failed:
        st.error(f"{spent}; not verified: {', '.join(failed)}.")
    else:
        st.success(f"{spent}: all verified.")


def _entry(formula: Formula, result: Verification | None) -> dict[str, Any]:
    return {
        "id": formula.id,
        "formula": formula.title,
        "kind": formula.kind,
        "status": words.STATUS[result.status] if result else "not yet",
        "worst slack": result.worst_slack if result else None,
        "points": result.points if result else None,
        "seconds": round(result.seconds, 2) if result else None,
        "wrong variants": len(formula.misprints),
    }


def figures() -> None:
    """Every published figure, what comes out here, and what to think of it."""
    with st.spinner("Computing every figure again …"):
        computed = [questions.ask(check_figure, id) for id in published()]
    counts = {name: sum(f.verdict == v for f in computed) for v, name in VERDICTS.items()}
    for place, (name, count) in zip(st.columns(len(counts)), counts.items(), strict=True):
        place.metric(name, count)
    failed = [f.id for f in computed if not f.good]
    if failed:
        st.error(f"The verdict in the table is not the one found here: {', '.join(failed)}.")
    column = st.column_config.Column
    widths = {"id": 50, "source": 150, "what": 60, "printed": 80, "verdict": 130, "why": 350}
    st.dataframe(
        [_figure(f) for f in computed],
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


def sources() -> None:
    """Where each formula stands, and what was checked about the places."""
    of = {id: entry.reference for id, entry in book.items()}
    of |= {law.title: law.reference for law in accountants.values()}
    looked_up = sum(reference.checked for reference in of.values())
    st.markdown(
        f"Of {len(of)} theorems {looked_up} had the number looked up in the paper. The others are "
        "cited from memory, and a preprint and its journal version may count differently. "
        "**No formula rests on its citation**: each is compared on this machine with the truth "
        "computed from the definition (*Check many*)."
    )
    rows = [
        {
            "of": name,
            "authors": r.authors,
            "year": str(r.year),
            "place": r.where,
            "looked up": "yes" if r.checked else "no",
        }
        for name, r in of.items()
    ]
    st.dataframe(rows, hide_index=True, height=560, placeholder="")


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        "source": figure.source,
        "what": words.label(published()[figure.id]["quantity"]),
        "printed": figure.printed,
        "here": None if figure.status == "not computed" else figure.value,
        "verdict": VERDICTS[figure.verdict],
        "why": figure.why,
    }
