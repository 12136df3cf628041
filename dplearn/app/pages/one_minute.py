"""One minute in five scenes: a guess, the truth, a paper's figure, shuffled batches, a card."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from streamlit import config, net_util
from streamlit.components.v2 import component

from dplearn import browser
from dplearn.app.kit import language
from dplearn.app.kit.state import State
from dplearn.book.published import drawn_figures
from dplearn.run import DPSGD, Sampling

TITLE = "One minute"
GROUP = "See"
ORDER = 15
# Of the curve that is claimed.
_POINTS = 24
_NAMES = {"sigma": "noise_multiplier", "q": "sample_rate", "delta": "delta", "T": "here"}
_HOST = "--server.allowedHosts"
_START = f"dplearn app --server.address 0.0.0.0 {_HOST} localhost {_HOST} {{ip}}"


def state(address: object) -> State:
    """Nothing: the page in the browser has its state, and its address, to itself."""
    return State({})


def render() -> None:
    """The scenes; the server is asked for nothing after them."""
    st.session_state["page_in_view"] = "one_minute"
    data = {**told(), **_network(), "language": language.current()}
    _component(key="minute", data=[data], height="content")


def _network() -> dict[str, str | None]:
    """Origin at which the local network reaches this server, or how to start one that it does."""
    ip, listens = net_util.get_internal_ip(), config.get_option("server.address")
    hosts = config.get_option("server.allowedHosts")
    open_to_it = listens in (None, "", "0.0.0.0", "::", ip) and (not hosts or {ip, "*"} & {*hosts})
    if ip and open_to_it:
        return {"lan": f"http://{ip}:{config.get_option('server.port')}", "start": ""}
    return {"lan": None, "start": _START.format(ip=ip or "ADDRESS")}


@cache
def told() -> dict[str, Any]:
    """What the scenes show that the library knows: published figures, shuffled batches."""
    return {"published": list(drawn_figures()), "shuffled": shuffled()}


def shuffled() -> dict[str, Any]:
    """Both ends of epsilon of the shuffled preset, the curve that Poisson accounting claims of it,
    and both ends of the first published run, were it shuffled."""
    queries = (dict(parse_qsl(preset["query"])) for preset in browser.presets())
    asked = next(query for query in queries if query.get("sampling") == "shuffled")
    run = {symbol: float(asked[name]) for symbol, name in _NAMES.items()}
    steps = sorted({max(1, round(run["T"] * (k / _POINTS) ** 2)) for k in range(1, _POINTS + 1)})
    claim = _plan(run, "poisson").guarantees(
        delta=run["delta"], steps=steps, adjacency=asked["adjacency"]
    )
    first = next(drawn_figures())
    return {
        "run": {**run, "adjacency": asked["adjacency"]},
        "claim": [(t, guarantee.epsilon) for t, guarantee in zip(steps, claim, strict=True)],
        **_ends(run),
        "before": {name: first[name] for name in _NAMES} | _ends(first),
    }


def _plan(run: Mapping[str, float], sampling: Sampling) -> DPSGD:
    return DPSGD(
        noise_multiplier=run["sigma"], sample_rate=run["q"], steps=int(run["T"]), sampling=sampling
    )


def _ends(run: Mapping[str, float]) -> dict[str, float]:
    """What is proved from below and above of a run on shuffled batches."""
    proved = _plan(run, "shuffled").guarantee(delta=run["delta"])
    return {"lower": proved.lower, "upper": proved.epsilon}


_MOUNT = """
const minutes = new WeakMap();
export default function ({ data: [data], parentElement }) {
  if (minutes.has(parentElement)) return;
  const root = parentElement.querySelector("#minute");
  const shown = minute.mount(root, { engine: dplearn, explore: "./", ...data });
  minutes.set(parentElement, shown);
  return () => (shown.destroy(), minutes.delete(parentElement));
}"""
_component = component(
    "dplearn_minute",
    html="<div id='minute'></div>",
    css=f"{browser.style('scenes/scenes')} .dm {{ height: calc(100svh - 7.5rem); }}",
    js=f"{browser.source()}\n{browser.source('minute', 'scenes/scenes')}\n{_MOUNT}",
)
