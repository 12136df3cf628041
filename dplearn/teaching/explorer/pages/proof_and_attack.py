"""A proof from above and an attack from below, on one training run, in the reader's browser."""

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.scripts import component

_say = Words("shared")
TITLE, GROUP, ORDER = _say["proof_and_attack"], "See", 30


def render() -> None:
    """Draw the page; the server is asked for nothing after that."""
    data = {"digits": browser.digits_as_text(), "language": language.spoken()}
    _component(key="attack_page", data=[data])


_component = component("attackPage", browser.style("page/page", "attack_page/attack_page"))
