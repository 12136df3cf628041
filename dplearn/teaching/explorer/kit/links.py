"""Links between pages: relative, so that they work behind any address."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def to(page: str, fields: Mapping[str, Any]) -> str:
    """Address of a page with these fields; "." is the first page."""
    return f"{page}?{urlencode(fields)}"


def entry_link(id: str) -> str:
    """Markdown that leads to an entry of the book or, as G-B4/no-two, to a wrong variant."""
    name, _, misprint = id.partition("/")
    return f"[{id}]({to('formula_book', {'id': name, 'misprint': misprint or 'none'})})"
