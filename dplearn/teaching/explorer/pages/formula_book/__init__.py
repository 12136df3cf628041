"""Every formula of the book, checked in front of the reader, and its wrong variants refuted."""

import streamlit as st

from dplearn.teaching.book import book
from dplearn.teaching.book.sentences import group_name
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.pages.formula_book import entry, search, tables

_say = Words("formula_book")
TITLE, GROUP, ORDER = _say["title"], "Check", 50
_VIEWS = {
    "formula": entry.show_entry,
    "table": tables.show_entries,
    "figures": tables.show_figures,
    "sources": tables.show_sources,
}


def render() -> None:
    """Draw the list of entries beside one of them, or a table."""
    left, right = st.columns([3, 10], gap="medium")
    with left:
        _list()
    names = _say.table("view.options")
    with right:
        view = st.segmented_control(
            _say("view.label"),
            [*names],
            format_func=names.get,
            default="formula",
            required=True,
            key="view",
            bind="query-params",
            label_visibility="collapsed",
        )
        _VIEWS[view]()


def _list() -> None:
    """Draw search, group, and the entries that match."""
    if language.spoken() != "en":
        st.caption(_say("english"))
    query = st.text_input(
        _say("find.label"), key="find", help=_say("find.help"), bind="query-params"
    )
    groups = _say.table("group.options")
    groups |= {one.group: language.retold(group_name(one.group)) for one in book.values()}
    group = st.selectbox(
        _say("group.label"), [*groups], format_func=groups.get, key="group", bind="query-params"
    )
    ids = search.matching(query or "", "all" if query else group)
    count = _say("count", count=len(ids), all=len(book))
    words = " ".join(search.searched_words(query or ""))
    st.caption(count + (_say("with_words", words=words) if words else ""))
    # The entry in view stays in the list: a list without it would choose another one.
    shown = st.session_state.get("id") or st.query_params.get("id", "")
    ids += [shown] * (shown in book and shown not in ids)
    with st.container(height=520, border=False, key="found"):
        st.radio(
            _say("id.label"),
            ids or [*book],
            key="id",
            format_func=lambda id: f"**{id}** {book[id].title}",
            on_change=entry.begin,
            bind="query-params",
            label_visibility="collapsed",
        )
