"""A proof from above and an attack from below, on one training run, in the reader's browser."""

import streamlit as st

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.scripts import component

_say = Words("shared")
TITLE, GROUP, ORDER = _say["proof_and_attack"], "See", 30
_KEY = "attack_page"


def render() -> None:
    """Draw the page; the server is asked for nothing after that but another language."""
    st.session_state["page_in_view"] = "proof_and_attack"
    data = {"digits": browser.digits_as_text(), "language": language.spoken()}
    chosen = lambda: language.choose(st.session_state[_KEY].language)
    _component(key=_KEY, data=[data], on_language_change=chosen)


_component = component("attackPage", browser.style("page/page", "attack_page/attack_page"))
