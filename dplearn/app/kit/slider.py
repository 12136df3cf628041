"""A slider that sends its position while it moves, so that the curves follow the hand.

Streamlit's own slider reports only when it is let go. This one is a plain range input: it
takes arrow keys, announces its value, and asks for the next run only when the last is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.components.v2 import component

_HTML = '<input type="range" min="0" step="1">'

_CSS = """
input { width: 100%; margin: 0; height: 1.6rem; accent-color: var(--st-primary-color);
        cursor: pointer; }
input:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""

_JS = """
const sliders = new WeakMap();

const pageIsIdle = () => {
  const app = document.querySelector('[data-test-script-state]');
  return !app || app.dataset.testScriptState === 'notRunning';
};

export default function ({ data, parentElement, setStateValue }) {
  const input = parentElement.querySelector('input');
  const me = sliders.get(input) ?? { held: false, sent: -1, since: 0 };
  sliders.set(input, me);

  const send = (final) => {
    me.sent = Number(input.value);
    me.since = performance.now();
    setStateValue('moved', { index: me.sent, final });
  };
  const name = () => input.setAttribute('aria-valuetext', data.texts[Number(input.value)]);
  const follow = () => {
    if (!me.held) return;
    const waited = performance.now() - me.since;
    const due = (waited > 60 && pageIsIdle()) || waited > 1500;
    if (due && Number(input.value) !== me.sent) send(false);
    requestAnimationFrame(follow);
  };

  input.max = data.texts.length - 1;
  input.setAttribute('aria-label', data.label);
  if (!me.held) {
    input.value = data.index;
    me.sent = data.index;
  }
  name();
  input.oninput = () => {
    name();
    if (!me.held) { me.held = true; follow(); }
  };
  input.onchange = () => { me.held = false; send(true); };
}
"""

_component = component("dplearn_slider", html=_HTML, css=_CSS, js=_JS)


def slider(
    label: str,
    *,
    key: str,
    texts: Sequence[str],
    index: int,
    on_move: Callable[[int, bool], None],
) -> None:
    """A slider over `texts`; `on_move` receives the new index and whether it was let go."""

    def moved() -> None:
        found = st.session_state[key].moved
        on_move(int(found["index"]), bool(found["final"]))

    _component(
        key=key,
        data={"label": label, "texts": list(texts), "index": index},
        on_moved_change=moved,
        height="content",
    )
