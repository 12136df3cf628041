"""One pair of neighbouring outputs, seen in five ways, for every mechanism there is.

The browser draws it (`dplearn/browser/mechanisms`). The server is asked once for the table of a
mechanism that the browser has no closed form of, and not for any move.
"""

from typing import Any

import streamlit as st

from dplearn import browser
from dplearn.app.kit import language, questions
from dplearn.app.kit.scripts import component
from dplearn.app.pages.mechanisms import fields
from dplearn.app.pages.mechanisms.tables import Pair, table

TITLE = "Mechanisms"
GROUP = "See"
ORDER = 20
_KEY, _ANSWER = "mechanisms_page", "mechanisms_answer"


def render() -> None:
    """The page, mounted once; later runs bring it a table or another language."""
    st.session_state["page_in_view"] = "mechanisms"
    told = {
        "catalogue": fields.catalogue(),
        "language": language.current(),
        "answer": st.session_state.get(_ANSWER),
    }
    # In a list: Streamlit would look for data frames among the values of a dictionary.
    _page(key=_KEY, data=[told], on_asked_change=_asked, on_language_change=_spoken)


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """The table that a page asks for, or why there is none, by language."""
    state = fields.state()
    state.read({key: str(value) for key, value in question.items() if key in state.fields})
    values = state.values
    try:
        if state.notes:
            raise ValueError(next(iter(state.notes.values())))
        mechanism = fields.build(values["mechanism"], values)
        pair = Pair(mechanism, values["adjacency"], values["direction"])
        return {"table": questions.ask(table, pair)}
    except (ValueError, NotImplementedError) as error:
        return {"refused": language.in_each(str(error))}


def _asked() -> None:
    question = st.session_state[_KEY].asked
    st.session_state[_ANSWER] = {"key": question["key"], **answer(question)}


def _spoken() -> None:
    language.choose(st.session_state[_KEY].language)


_page = component("mechanismsPage", browser.style("page/page", "mechanisms/mechanisms"))
