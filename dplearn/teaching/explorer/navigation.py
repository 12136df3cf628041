"""The menu is the folder: every page in `pages`, a module with TITLE, GROUP, ORDER and render().

Streamlit runs this file for `dplearn app`.
"""

import importlib
import itertools
import pkgutil
from types import ModuleType

import streamlit as st

from dplearn.core import validate
from dplearn.teaching.explorer import pages
from dplearn.teaching.explorer.kit import language, look, questions
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.kit.state import tell_unseen

GROUPS = ("See", "Check")


def modules() -> list[ModuleType]:
    """The pages, by GROUP and ORDER; each, or its `fields`, has the state it begins with."""
    names = [e.name for e in pkgutil.iter_modules(pages.__path__) if not e.name.startswith("_")]
    loaded = [importlib.import_module(f"{pages.__name__}.{name}") for name in names]
    for page in loaded:
        needed = "TITLE", "GROUP", "ORDER", "render"
        if lacking := [name for name in needed if not hasattr(page, name)]:
            raise TypeError(f"Expected {page.__name__} to have {', '.join(lacking)}, got none.")
        validate.one_of(GROUPS, GROUP=page.GROUP)
    return sorted(loaded, key=lambda page: (GROUPS.index(page.GROUP), page.ORDER))


def path_of(page: ModuleType) -> str:
    """The path of a page: the name of its file."""
    return page.__name__.rpartition(".")[2]


def run_page() -> None:
    """Run the page that the address names, below a menu of all; the first is at the root."""
    language.follow_address()
    loaded = modules()
    menu = [
        st.Page(page.render, title=retold(page.TITLE), url_path=path_of(page), default=not rank)
        for rank, page in enumerate(loaded)
    ]
    chosen = st.navigation(menu, position="top")
    title = f"{chosen.title} · dplearn"
    st.set_page_config(page_title=title, layout="wide", initial_sidebar_state=360)
    # The name of each group stands before its first page: Streamlit's own groups open at a click.
    rules, links = "", ':is([data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"])'
    for group, pages_of in itertools.groupby(loaded, lambda page: page.GROUP):
        first = next(pages_of)
        end = "" if first is loaded[0] else path_of(first)
        rules += f'{links}[href$="/{end}"]::before {{ content: "{retold(group)}" / ""; }}'
    # A heading for those who go by headings; others see it in the menu.
    st.html(f"<h1>{chosen.title}</h1><style>{rules}</style>")
    look.style_page(path_of(loaded[menu.index(chosen)]))
    try:
        chosen.run()
    except questions.Refused as refusal:
        st.warning(str(refusal), icon=":material/hourglass:")
    tell_unseen()


if __name__ == "__main__":
    run_page()
