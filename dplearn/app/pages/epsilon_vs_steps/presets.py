"""Published runs, each as the address that shows it."""

from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from dplearn import browser
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields


@dataclass(frozen=True)
class Preset:
    """A published run: the query of its address, and where it is described.

    `printed` are rows of data/published.csv that belong to it without naming its parameters.
    """

    title: str
    query: str
    source: str
    printed: tuple[str, ...]

    @property
    def address(self) -> dict[str, str]:
        """Fields and their values as text."""
        return dict(parse_qsl(self.query))


CUSTOM = "Custom"
OWN = "Your own run. Choose a published one to compare, or to start again."
PRESETS = tuple(
    Preset(row["title"], row["query"], row["source"], tuple(row["printed"]))
    for row in browser.presets()
)
_DRAWN = ("accountants", "x_axis", "y_axis", "pinned", "present")


def start(state: State, preset: Preset) -> None:
    """Set the whole run as the preset has it; what is drawn of it stays."""
    drawn = {key: text for key, text in state.address().items() if key in _DRAWN}
    state.read({**drawn, **preset.address})


def current(state: State) -> Preset | None:
    """The preset that the state shows, if it shows one."""
    return _by_run().get(_run(state))


def _run(state: State) -> tuple[Any, ...]:
    """What makes two states the same run: all but where one looks and what one draws."""
    skip = {*state.hidden(state.values), "here", "budget", *_DRAWN}
    return tuple(value for key, value in state.values.items() if key not in skip)


@cache
def _by_run() -> dict[tuple[Any, ...], Preset]:
    by_run, state = {}, fields.state()
    for preset in PRESETS:
        state.read(preset.address)
        by_run[_run(state)] = preset
    return by_run
