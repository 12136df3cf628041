"""All entries of the book, and published figures, each as a table."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dplearn.teaching.book import Verification, book
from dplearn.teaching.book.published import check_figure, published
from dplearn.teaching.book.run_all import verification
from dplearn.teaching.book.sentences import VERDICTS, label
from dplearn.teaching.explorer.kit import questions
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.pages.formula_book.entry import words

_say = Words("formula_book")
# Seconds for a table.
_PATIENCE = 60.0
_COLUMN, _NUMBER = st.column_config.Column, st.column_config.NumberColumn


def _draw_table(
    keys: str, rows: Iterable[Sequence[Any]], columns: Mapping[str, Any], height: int | None = None
) -> None:
    """Draw rows under the names of their columns; half a row says that more follow."""
    names = [_say(f"columns.{key}") for key in keys.split()]
    st.dataframe(
        [dict(zip(names, row, strict=True)) for row in rows],
        hide_index=True,
        height=577,
        row_height=height,
        placeholder="",
        column_config={_say(f"columns.{key}"): column for key, column in columns.items()},
    )


def show_entries() -> None:
    """Draw all entries, and a button that checks them."""
    results = st.session_state.setdefault("formula_checks", {})
    ids = [*book]
    left, right = st.columns([2, 1], vertical_alignment="center")
    missing = [id for id in ids if id not in results]
    left.markdown(_say("many", count=len(ids)))
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


def show_figures() -> None:
    """Draw every published figure, what comes out here, and what to think of it."""
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
