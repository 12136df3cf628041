"""The menu is the folder: every public module of `pages` that has TITLE, ORDER and render()."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import streamlit as st

from dplearn.app import pages


def modules() -> list[ModuleType]:
    """The page modules, by ORDER."""
    names = [e.name for e in pkgutil.iter_modules(pages.__path__) if not e.name.startswith("_")]
    found = [importlib.import_module(f"{pages.__name__}.{name}") for name in names]
    return sorted(found, key=lambda page: page.ORDER)


def menu() -> list[st.Page]:
    """Streamlit's pages; the first is served at the root."""
    return [
        st.Page(
            page.render,
            title=page.TITLE,
            url_path=page.__name__.rpartition(".")[2],
            default=rank == 0,
        )
        for rank, page in enumerate(modules())
    ]
