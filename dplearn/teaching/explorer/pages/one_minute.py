"""One minute in five scenes: a guess, the truth, a paper's figure, shuffled batches, a card."""

import streamlit as st
from streamlit import config, net_util

from dplearn.teaching import browser
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.scripts import component

_say = Words("shared")
TITLE, GROUP, ORDER = _say["one_minute"], "See", 15
_HOST = "--server.allowedHosts"
_START = f"dplearn app --server.address 0.0.0.0 {_HOST} localhost {_HOST} {{ip}}"


def render() -> None:
    """The scenes; the server is asked for nothing after them."""
    st.session_state["page_in_view"] = "one_minute"
    data = {"published": list(drawn_figures()), "shuffled": browser.shuffled(), **_network()}
    data |= {"explore": "./", "language": language.spoken()}
    _component(key="minute", data=[data], height="content")


def _network() -> dict[str, str | None]:
    """Origin at which the local network reaches this server, or how to start one that it does."""
    ip, listens = net_util.get_internal_ip(), config.get_option("server.address")
    hosts = config.get_option("server.allowedHosts")
    open_to_it = listens in (None, "", "0.0.0.0", "::", ip) and (not hosts or {ip, "*"} & {*hosts})
    if ip and open_to_it:
        return {"lan": f"http://{ip}:{config.get_option('server.port')}", "start": ""}
    return {"lan": None, "start": _START.format(ip=ip or "ADDRESS")}


# The menu above leaves the rest of the screen.
_STYLE = f"{browser.style('scenes/scenes')} .dm {{ height: calc(100svh - 7.5rem); }}"
_component = component("minute", _STYLE)
