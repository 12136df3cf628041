"""Links between pages, and the inputs of a page as the query of its URL.

Streamlit's own `bind` would write the displayed label of an option into the URL, not its name.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dplearn.teaching.explorer.kit import language


def to(page: str, fields: Mapping[str, Any]) -> str:
    """Return the relative URL of a page with `fields` as its query."""
    return f"{page}?{urlencode(fields)}"


def entry_link(id: str) -> str:
    """Return a Markdown link to a formula, such as G-B4, or to a wrong variant, G-B4/no-two."""
    name, _, misprint = id.partition("/")
    return f"[{id}]({to('formula_book', {'id': name, 'misprint': misprint or 'none'})})"


def follow(page: str, start: Mapping[str, str]) -> dict[str, str]:
    """Copy the fields in `start` from a new URL to the session; return the URL's other fields.

    A URL written by the page is not new. A page opened from the menu keeps its inputs.
    """
    state: Any = st.session_state
    query = {k: text for k, text in st.query_params.to_dict().items() if k != language.KEY}
    stays = state.get("page_in_view") == page
    is_new = query != state.get(f"{page}_address", {}) and bool(query or stays)
    if is_new:
        state[f"{page}_more"] = {key: text for key, text in query.items() if key not in start}
    for key, text in start.items():
        if is_new or key not in state:
            state[key] = query.get(key, text)
    return state.setdefault(f"{page}_more", {})


def write(page: str, start: Mapping[str, str], more: Mapping[str, str] | None = None) -> None:
    """Write `more`, and the inputs that differ from their start values, into the URL."""
    fields = {key: st.session_state[key] or text for key, text in start.items()}
    changed = {key: text for key, text in fields.items() if text != start[key]} | {**(more or {})}
    st.session_state[f"{page}_address"] = changed
    if (now := changed | language.address()) != st.query_params.to_dict():
        st.query_params.from_dict(now)
