"""Page of a proved upper bound and an attack's lower bound for one training run."""

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.elements import component
from dplearn.teaching.explorer.kit.fields import Words

TITLE, GROUP, ORDER = Words("shared")["proof_and_attack"], "See", 30


def render() -> None:
    """Draw the page, which sends no further requests."""
    data = {"digits": browser.digits_as_text(), "language": language.current()}
    _component(key="attack_page", data=[data])


_component = component("attackPage", browser.style("page/page", "attack_page/attack_page"))
