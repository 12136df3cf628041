"""Page that shows a pair of output distributions of any mechanism in five panels.

The browser draws it (`dplearn/teaching/browser/mechanisms`). For mechanisms without a closed form
in the browser, the server computes one table; dragging sends no request.
"""

from typing import Any

import streamlit as st

from dplearn.core.guarantee import ADJACENCIES
from dplearn.mechanisms import MECHANISMS
from dplearn.teaching.browser import pairs
from dplearn.teaching.explorer.kit import fields, language, questions
from dplearn.teaching.explorer.kit.accountants import style_sheet
from dplearn.teaching.explorer.kit.elements import component
from dplearn.teaching.explorer.kit.fields import Words, chosen

TITLE, GROUP, ORDER = Words("shared")["mechanisms"], "See", 20
_KEY, _ANSWER = "mechanisms_page", "mechanisms_answer"


def render() -> None:
    """Draw the page from the catalogue, the language and the reply to its last request."""
    catalogue = pairs.worded(pairs.catalogue(), language.in_each)
    data = {"catalogue": catalogue, "language": language.current()}
    data |= {"answer": st.session_state.get(_ANSWER)}
    # Pass a list, because Streamlit searches all values of a dictionary for data frames.
    _page(key=_KEY, data=[data], on_asked_change=_answer)


def table_or_refusal(question: dict[str, Any]) -> dict[str, Any]:
    """Return the table that the page requests or, in all languages, the reason for a refusal."""
    try:
        name = chosen(question, "mechanism", MECHANISMS)
        adjacency = chosen({"adjacency": "add_remove"} | question, "adjacency", ADJACENCIES)
        direction = chosen({"direction": "remove"} | question, "direction", ("remove", "add"))
        values: dict[str, Any] = {"example": int(question.get("example", 1))}
        values["base"] = question.get("base", "gaussian")
        for key, number in pairs.catalogue()["numbers"].items():
            values[key] = fields.number({key: number["start"]} | question, key, number["ends"])
        pair = pairs.Pair(pairs.mechanism_of(name, values), adjacency, direction)  # type: ignore[arg-type]
        return {"table": pairs.worded(questions.ask(pairs.table, pair), language.in_each)}
    except NotImplementedError as error:
        return {"refused": language.in_each(language.reason(str(error)))}
    except ValueError as error:
        return {"refused": {"en": str(error), "zh": f"程序库不接受这组参数：{error}"}}


def _answer() -> None:
    question = st.session_state[_KEY].asked
    st.session_state[_ANSWER] = {"key": question.get("key"), **table_or_refusal(question)}


_page = component("mechanismsPage", style_sheet("page/page", "mechanisms/mechanisms"))
