"""Many entries of the book, the published figures, and the sources, each as a table."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.kit import questions
from dplearn.app.kit.fields import Words
from dplearn.app.kit.language import retold
from dplearn.app.kit.state import State
from dplearn.app.pages.formula_book import search
from dplearn.app.pages.formula_book.draw import checked_entries
from dplearn.app.pages.formula_book.fields import words
from dplearn.book import Verification, book
from dplearn.book.everything import verification
from dplearn.book.published import check_figure, published
from dplearn.book.spoken import VERDICTS, label

_say = Words("formula_book")
# Seconds for a table.
_PATIENCE = 60.0
_COLUMN, _NUMBER = st.column_config.Column, st.column_config.NumberColumn


def _draw_table(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Any], height: int = 577, **more: Any
) -> None:
    """Rows under the names of their columns; half a row says that more follow."""
    named = lambda row: {_say(f"columns.{key}"): value for key, value in row.items()}
    st.dataframe(
        [*map(named, rows)],
        hide_index=True,
        height=height,
        placeholder="",
        column_config=named(columns),
        **more,
    )


def show_entries(state: State) -> None:
    """A group or the whole book, and a button that checks it."""
    group, results = state.values["group"], checked_entries()
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
    for formula, result in ((book[id], results.get(id)) for id in ids):
        row = {"id": formula.id, "formula": formula.title, "kind": _say(f"kinds.{formula.kind}")}
        row |= {"status": words.status(result.status if result else "not yet")}
        row |= {"slack": result and result.worst_slack, "points": result and result.points}
        row |= {"seconds": result and round(result.seconds, 2), "variants": len(formula.misprints)}
        rows.append(row)
    _draw_table(rows, {"slack": _NUMBER(format="%.2g")})


def _verify(ids: Sequence[str], results: dict[str, Verification]) -> None:
    """One after the other until the time is over."""
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
        row = {"id": figure.id, "source": retold(figure.source)}
        row |= {"what": label(published()[figure.id]["quantity"]), "printed": figure.printed}
        row |= {"here": None if figure.status == "not computed" else figure.value}
        row |= {"verdict": retold(VERDICTS[figure.verdict]), "why": retold(figure.why)}
        rows.append(row)
    widths = {"id": 50, "source": 150, "what": 60, "printed": 80, "verdict": 130, "why": 350}
    columns = {name: _COLUMN(width=width) for name, width in widths.items()}
    _draw_table(rows, columns | {"here": _NUMBER(format="%.6g", width=80)}, row_height=72)
    st.caption(_say("figures"))


def show_sources(_: State) -> None:
    """Where each formula stands, and what was checked about the places."""
    of = {id: entry.reference for id, entry in book.items()}
    of |= {law.title: law.reference for law in ACCOUNTANTS.values()}
    checked = sum(reference.checked for reference in of.values())
    st.markdown(_say("cited", count=len(of), looked_up=checked))
    rows = []
    for name, source in of.items():
        row = {"theorem": name, "authors": source.authors, "year": str(source.year)}
        row |= {"place": source.where}
        row |= {"looked_up": _say(f"looked_up.{'yes' if source.checked else 'no'}")}
        rows.append(row)
    _draw_table(rows, {}, height=560)
