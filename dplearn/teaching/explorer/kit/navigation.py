"""Menu of the modules in `pages`, each of which has TITLE, GROUP, ORDER and render().

Streamlit runs this file. No folder `pages` is beside it: Streamlit would run the files there.
"""

import importlib
import itertools
import pkgutil
from pathlib import Path
from types import ModuleType

import streamlit as st

from dplearn.teaching.explorer import pages
from dplearn.teaching.explorer.kit import language, questions
from dplearn.teaching.explorer.kit.language import translated
from dplearn.teaching.explorer.pages import epsilon_vs_steps

GROUPS = ("See", "Check")


def modules() -> list[ModuleType]:
    """Return the page modules, sorted by GROUP and ORDER."""
    names = [e.name for e in pkgutil.iter_modules(pages.__path__) if not e.name.startswith("_")]
    loaded = [importlib.import_module(f"{pages.__name__}.{name}") for name in names]
    return sorted(loaded, key=lambda page: (GROUPS.index(page.GROUP), page.ORDER))


def path_of(page: ModuleType) -> str:
    """Return the URL path of a page, which is the name of its module."""
    return page.__name__.rpartition(".")[2]


def run_page() -> None:
    """Draw the menu, and run the page that the URL names, by default the first page."""
    query = st.query_params.to_dict()
    if (named := query.get(language.KEY)) in language.LANGUAGES:
        st.session_state[language.KEY] = named
    every = modules()
    entries = {
        page: st.Page(page.render, title=translated(page.TITLE), url_path=path_of(page))
        for page in every
    }
    shown = st.navigation([*entries.values()], position="hidden")
    # A URL with parameters of a training run but no page name opens epsilon against steps.
    if not shown.url_path and query.keys() & {"noise_multiplier", "mechanism", "sampling"}:
        st.switch_page(entries[epsilon_vs_steps], query_params=query)
    st.set_page_config(page_title=f"{shown.title} · dplearn", layout="wide")
    st.html(Path(__file__).with_name("look.css"))
    with st.container(horizontal=True, vertical_alignment="center", key="menu"):
        for group, members in itertools.groupby(every, lambda page: page.GROUP):
            st.html(f"<span>{translated(group)}</span>", width="content")
            for page in members:
                st.page_link(entries[page], query_params=language.address())
        (other,) = language.LANGUAGES.keys() - {language.current()}
        st.button(language.LANGUAGES[other], on_click=language.choose, args=(other,))
    # Heading for screen readers only, because the menu shows the title on screen.
    st.html(f"<h1>{shown.title}</h1>")
    try:
        shown.run()
        st.session_state["page_in_view"] = shown.url_path
    except questions.Refused as refusal:
        st.warning(str(refusal), icon=":material/hourglass:")


if __name__ == "__main__":
    run_page()
