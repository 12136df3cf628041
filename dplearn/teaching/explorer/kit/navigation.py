"""Menu of all modules in `pages`; each has TITLE, GROUP, ORDER and render().

Streamlit runs this file. No folder `pages` is beside it, because Streamlit would run its files.
"""

import importlib
import itertools
import pkgutil
from pathlib import Path
from types import ModuleType

import streamlit as st

from dplearn.core import validate
from dplearn.teaching.explorer import pages
from dplearn.teaching.explorer.kit import language, questions
from dplearn.teaching.explorer.kit.language import retold

GROUPS = ("See", "Check")
# The page that opens for an address with a run's parameters and no page name.
_OF_A_RUN = "epsilon_vs_steps"


def modules() -> list[ModuleType]:
    """Return the page modules, sorted by GROUP and ORDER."""
    names = [e.name for e in pkgutil.iter_modules(pages.__path__) if not e.name.startswith("_")]
    loaded = [importlib.import_module(f"{pages.__name__}.{name}") for name in names]
    for page in loaded:
        needed = "TITLE", "GROUP", "ORDER", "render"
        if lacking := [name for name in needed if not hasattr(page, name)]:
            raise TypeError(f"Expected {page.__name__} to have {', '.join(lacking)}, got none.")
        validate.one_of(GROUPS, GROUP=page.GROUP)
    return sorted(loaded, key=lambda page: (GROUPS.index(page.GROUP), page.ORDER))


def path_of(page: ModuleType) -> str:
    """Return the URL path of a page, the name of its file."""
    return page.__name__.rpartition(".")[2]


def run_page() -> None:
    """Run the page of the address below the menu; the first page is at the root."""
    query = st.query_params.to_dict()
    if (named := query.get(language.KEY)) in language.LANGUAGES:
        st.session_state[language.KEY] = named
    loaded = {
        path_of(page): (
            page,
            st.Page(
                page.render, title=retold(page.TITLE), url_path=path_of(page), default=not rank
            ),
        )
        for rank, page in enumerate(modules())
    }
    shown = st.navigation([entry for _, entry in loaded.values()], position="hidden")
    if not shown.url_path and query.keys() & {"noise_multiplier", "mechanism", "sampling"}:
        st.switch_page(loaded[_OF_A_RUN][1], query_params=query)
    st.set_page_config(page_title=f"{shown.title} · dplearn", layout="wide")
    st.html(Path(__file__).with_name("look.css"))
    with st.container(horizontal=True, vertical_alignment="center", key="menu"):
        for group, members in itertools.groupby(loaded.values(), lambda pair: pair[0].GROUP):
            st.html(f"<span>{retold(group)}</span>", width="content")
            for _, entry in members:
                st.page_link(entry, query_params=language.address())
        (other,) = language.LANGUAGES.keys() - {language.current()}
        st.button(language.LANGUAGES[other], on_click=language.choose, args=(other,))
    # Heading for screen readers only; the menu shows it on screen.
    st.html(f"<h1>{shown.title}</h1>")
    try:
        shown.run()
        st.session_state["page_in_view"] = shown.url_path
    except questions.Refused as refusal:
        st.warning(str(refusal), icon=":material/hourglass:")


if __name__ == "__main__":
    run_page()
