"""Page of four short scenes: a guess, the true value, a paper's figure, shuffled batches."""

from dplearn.teaching import browser
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.elements import component
from dplearn.teaching.explorer.kit.fields import Words

TITLE, GROUP, ORDER = Words("shared")["one_minute"], "See", 5


def render() -> None:
    """Draw the scenes, which send no further requests."""
    data = {"published": list(drawn_figures()), "shuffled": browser.shuffled()}
    data |= {"explore": "./epsilon_vs_steps", "language": language.current()}
    _component(key="minute", data=[data], height="content")


# The scenes fill the screen below the menu.
_STYLE = f"{browser.style('scenes/scenes')} .dm {{ height: calc(100svh - 7rem); }}"
_component = component("minute", _STYLE)
