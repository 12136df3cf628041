"""Links between pages: relative, so that they work behind any address."""

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from dplearn.teaching.book import book


def to(page: str, fields: Mapping[str, Any]) -> str:
    """Address of a page with these fields; "." is the first page."""
    return f"{page}?{urlencode(fields)}"


def entry_link(id: str) -> str:
    """Markdown that leads to an entry of the book or, as G-B4/no-two, to a wrong variant."""
    name, _, misprint = id.partition("/")
    return f"[{id}]({to('formula_book', {'id': name, 'misprint': misprint or 'none'})})"


@lru_cache
def entries_of(law: type) -> str:
    """Markdown that leads to the entries whose functions a class of the library calls."""
    # Functions of the book that live in the library are the same objects.
    members = [getattr(member, "__func__", member) for member in vars(law).values()]
    used: set[int] = set()
    for method in filter(inspect.isfunction, members):
        names, known = method.__code__.co_names, method.__globals__
        modules = (vars(m) for m in map(known.get, names) if inspect.ismodule(m))
        used |= {id(scope.get(name)) for scope in (known, *modules) for name in names}
    return ", ".join(
        entry_link(key) for key, formula in book.items() if id(formula.function) in used
    )
