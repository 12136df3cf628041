"""What a page shows, in the session and in its address.

The address is read when a session starts and when the reader goes back or forward; after
that the session leads and the address follows. Reading it at every run would undo a change
made while the browser was still being told about the one before.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.fields import Field, Words, quoted
from dplearn.teaching.explorer.kit.language import retold

_say = Words("shared")
# Of many names that an address has in vain a few are told.
_MOST_ASTRAY = 3
Values = Mapping[str, Any]
Hidden = Callable[[Values], Collection[str]]


@dataclass
class State:
    """Values in use, what the boxes show, and what went wrong at which control.

    `hidden` goes from the values to the keys that do not count and stay out of the address;
    `values` are the last good ones, `typed` is the text of entries that were not good, `notes`
    holds one message per control, and `moving` says that a slider is held down. `bare` is what the
    page shows at an address that names nothing, where somebody has gone back to it; `unseen` is
    what the address said in vain and no control has shown, by name.
    """

    fields: Mapping[str, Field]
    hidden: Hidden = lambda _: ()
    values: dict[str, Any] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    moving: bool = False
    bare: Mapping[str, str] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = {key: kind.default for key, kind in self.fields.items()} | self.values

    def enter(self, kind: Field, text: object) -> None:
        """Take a reader's entry, or say at the control why not."""
        self.typed.pop(kind.key, None)
        self.notes.pop(kind.key, None)
        try:
            # A control may show more than the name, such as what epochs come to in steps.
            named = replace(kind, label=self.fields[kind.key].label)
            self.values[kind.key] = named.parse(text)
        except ValueError as error:
            self.typed[kind.key] = str(text)
            used = kind.show(self.values[kind.key]) or _say["errors.empty"]
            self.notes[kind.key] = _say.said("errors.used", problem=error.args[0], value=used)

    def read(self, address: Mapping[str, str]) -> None:
        """Start over from an address; what it does not name takes its default."""
        self.values, self.typed, self.notes = {}, {}, {}
        self.__post_init__()
        for key, kind in self.fields.items():
            if key in address:
                self.enter(kind, address[key])
        # Rubbish from an address is reported once and not shown as if it had been typed.
        self.typed.clear()
        strange = [quoted(key) for key in address if key not in self.fields][:_MOST_ASTRAY]
        self.unseen = self.notes | {name: _say.said("astray", name=name) for name in strange}

    def address(self) -> dict[str, str]:
        """Every value that is in use and not the default."""
        skip = self.hidden(self.values)
        return {
            key: kind.show(self.values[key])
            for key, kind in self.fields.items()
            if key not in skip and self.values[key] != kind.default
        }


def load(name: str, make: Callable[[Mapping[str, str]], State]) -> State:
    """This session's state of a page, read from the address where that leads.

    The menu leads to a page by an address that names nothing: who goes back there finds what it
    showed.
    """
    bare, address = f"{name}_bare", _named()
    travelled = bool(getattr(get_script_run_ctx(), "is_history_navigation", False))
    from_menu = st.session_state.get("page_in_view") != name and not address and not travelled
    st.session_state["page_in_view"] = name
    if name in st.session_state and from_menu:
        st.session_state[bare] = st.session_state[name].address()
        st.session_state[name].bare = {}
    if name not in st.session_state or travelled:
        left = {} if address else st.session_state.get(bare, {})
        st.session_state[name] = make(address or left)
        st.session_state[name].read(address or left)
        st.session_state[name].bare = left
    return st.session_state[name]


def tell_unseen() -> None:
    """Tell for a while what the address of the page in view said in vain and no control tells."""
    state = st.session_state.get(st.session_state.get("page_in_view", ""), State({}))
    for message in state.unseen.values():
        st.toast(retold(message), icon=":material/error:", duration="long")
    state.unseen = {}


def save(state: State) -> None:
    """Let the address follow, once a slider has been let go; a way back must not end here."""
    old, new = _named(), state.address()
    if not state.moving and old != new and (old or new != state.bare):
        st.query_params.from_dict(new | language.address())


def _named() -> dict[str, str]:
    """What the address names beside the language, which is that of all pages."""
    return {key: text for key, text in st.query_params.to_dict().items() if key != language.KEY}
