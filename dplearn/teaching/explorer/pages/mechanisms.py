"""One pair of neighbouring outputs, seen in five ways, for every mechanism there is.

The browser draws it (`dplearn/teaching/browser/mechanisms`). The server is asked once for the table
of a mechanism that the browser has no closed form of, and not for any move.
"""

from functools import lru_cache
from typing import Any

import streamlit as st

from dplearn.mechanisms import MECHANISMS
from dplearn.teaching.browser import pairs
from dplearn.teaching.explorer.kit import language, questions
from dplearn.teaching.explorer.kit.accountants import style_sheet
from dplearn.teaching.explorer.kit.fields import ADJACENCY, Field, Quantity, Words, by_key
from dplearn.teaching.explorer.kit.scripts import component
from dplearn.teaching.explorer.kit.state import State

_say = Words("mechanisms")
TITLE, GROUP, ORDER = _say["title"], "See", 20
_KEY, _ANSWER = "mechanisms_page", "mechanisms_answer"


def render() -> None:
    """The page, mounted once; later runs bring it a table or another language."""
    st.session_state["page_in_view"] = "mechanisms"
    catalogue, _ = _known(tuple(MECHANISMS.items()))
    answer = st.session_state.get(_ANSWER)
    told = {"catalogue": catalogue, "language": language.spoken(), "answer": answer}
    # In a list: Streamlit would look for data frames among the values of a dictionary.
    _page(key=_KEY, data=[told], on_asked_change=_asked, on_language_change=_spoken)


@lru_cache(maxsize=2)
def _known(registered: tuple[tuple[str, type], ...]) -> tuple[dict[str, Any], dict[str, Field]]:
    """The catalogue with its words by language, and a field for all that can be set."""
    plain = pairs.catalogue()
    titles = {name: told["title"] for name, told in plain["mechanisms"].items()}
    ranks = {str(k): str(k) for k in range(1, 1 + max(len(m.examples()) for _, m in registered))}
    fields: list[Field] = [
        _say.selection("mechanism", titles, default="gaussian"),
        _say.selection("example", ranks),
        _say.selection("base", titles, default="gaussian"),
        ADJACENCY,
        _say.selection("direction"),
    ]
    for key, told in plain["numbers"].items():
        (low, high), whole = told["ends"], told["whole"]
        fields.append(Quantity(key, told["label"], "", told["start"], low, high, whole=whole))
    return pairs.worded(plain, language.in_each), by_key(*fields)


def blank_state() -> State:
    """The page before anything is entered."""
    return State(_known(tuple(MECHANISMS.items()))[1])


def table_or_refusal(question: dict[str, Any]) -> dict[str, Any]:
    """The table that a page asks for, or why there is none, by language."""
    asked = blank_state()
    asked.read({key: str(value) for key, value in question.items()})
    try:
        if asked.notes:
            raise ValueError(next(iter(asked.notes.values())))
        mechanism = pairs.mechanism_of(asked.values["mechanism"], asked.values)
        pair = pairs.Pair(mechanism, asked.values["adjacency"], asked.values["direction"])
        return {"table": pairs.worded(questions.ask(pairs.table, pair), language.in_each)}
    except (ValueError, NotImplementedError) as error:
        return {"refused": language.in_each(str(error))}


def _asked() -> None:
    question = st.session_state[_KEY].asked
    st.session_state[_ANSWER] = {"key": question["key"], **table_or_refusal(question)}


def _spoken() -> None:
    language.choose(st.session_state[_KEY].language)


_page = component("mechanismsPage", style_sheet("page/page", "mechanisms/mechanisms"))
