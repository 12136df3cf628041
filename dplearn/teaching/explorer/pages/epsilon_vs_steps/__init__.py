"""Page of epsilon against the number of steps, per accountant, drawn by the browser.

The browser computes the runs that its engine covers. It asks the server for all other runs, for
confirmations, and for the details that a paper needs.
"""

from typing import Any

import streamlit as st

from dplearn.mechanisms.sampling_scheme import default_adjacency
from dplearn.teaching import browser
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.explorer.kit import language, scripts
from dplearn.teaching.explorer.kit.accountants import accountants, style_sheet
from dplearn.teaching.explorer.kit.fields import Words, named
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation, details
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import DROP_LAST

_say = Words("epsilon_vs_steps")
TITLE, GROUP, ORDER = _say["title"], "See", 10
_QUESTION, _ANSWER = "epsilon_question", "epsilon_answer"


def render() -> None:
    """Draw the page, and below it the details that the reader requested."""
    _page()
    if proved := st.session_state.get("epsilon_details"):
        with st.container(key="details"):
            details.show_details(proved)


@st.fragment
def _page() -> None:
    """Draw the page as a fragment; a question from the browser reruns only this fragment."""
    if question := st.session_state.pop(_QUESTION, None):
        answer = confirmation.library_reply(question)
        st.session_state[_ANSWER] = answer | {key: question.get(key) for key in ("id", "kind")}
        if question.get("kind") == "prove" and "refused" not in answer:
            st.session_state["epsilon_details"] = confirmation.details_of(question)
            st.rerun()
    # Supported runs: names, display texts, default adjacencies.
    names = confirmation.options()
    kinds: dict[str, Any] = {key: named(names[key]) for key in ("mechanism", "sampling")}
    # Full batches are entered as q = 100 %.
    del kinds["sampling"]["none"]
    natural = {name: default_adjacency(name.removesuffix(DROP_LAST)) for name in kinds["sampling"]}  # type: ignore[arg-type]
    fields = {"language": language.current(), "kinds": kinds | {"natural": natural}}
    fields |= {"answer": st.session_state.get(_ANSWER)}
    fields |= {"presets": browser.presets(), "published": list(drawn_figures())}
    fields |= {"accountants": accountants()}
    # A list, because Streamlit searches the values of a dictionary for data frames.
    _component(key="epsilon", data=[fields], on_asked_change=_store_question)


def _store_question() -> None:
    st.session_state[_QUESTION] = st.session_state["epsilon"].asked


_component = scripts.component("epsilonPage", style_sheet("page/page"))
