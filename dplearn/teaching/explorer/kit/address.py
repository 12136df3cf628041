"""Addresses: links between pages, and what a page that the server draws shows at one.

Streamlit's own `bind` would write the words on the screen into the address, not their names.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dplearn.teaching.explorer.kit import language


def to(page: str, fields: Mapping[str, Any]) -> str:
    """Return the address of a page with these fields, relative to any page."""
    return f"{page}?{urlencode(fields)}"


def entry_link(id: str) -> str:
    """Return Markdown that leads to an entry of the book or, as G-B4/no-two, to a wrong variant."""
    name, _, misprint = id.partition("/")
    return f"[{id}]({to('formula_book', {'id': name, 'misprint': misprint or 'none'})})"


def follow(page: str, start: Mapping[str, str]) -> dict[str, str]:
    """Let the session have what the address says where it says other than the page has written.

    Returns what the address names beside the fields. From the menu a page is as it was left.
    """
    state: Any = st.session_state
    asked = {k: text for k, text in st.query_params.to_dict().items() if k != language.KEY}
    here = state.get("page_in_view") == page
    travelled = asked != state.get(f"{page}_address", {}) and bool(asked or here)
    if travelled:
        state[f"{page}_more"] = {key: text for key, text in asked.items() if key not in start}
    for key, text in start.items():
        if travelled or key not in state:
            state[key] = asked.get(key, text)
    return state.setdefault(f"{page}_more", {})


def write(page: str, start: Mapping[str, str], more: Mapping[str, str] | None = None) -> None:
    """Let the address name every field that is not as at the start, and more."""
    fields = {key: st.session_state[key] or text for key, text in start.items()}
    said = {key: text for key, text in fields.items() if text != start[key]} | {**(more or {})}
    st.session_state[f"{page}_address"] = said
    if (now := said | language.address()) != st.query_params.to_dict():
        st.query_params.from_dict(now)
