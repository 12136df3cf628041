"""Helpers to test the explorer without a browser: open an address, enter values, read texts."""

import functools
import json
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

from streamlit.components.v2 import manifest_scanner as scanner
from streamlit.testing.v1 import AppTest

from dplearn.teaching import browser
from dplearn.teaching.book import book
from dplearn.teaching.browser import pairs
from dplearn.teaching.explorer.kit import navigation
from dplearn.teaching.explorer.kit.fields import RANGES
from dplearn.teaching.explorer.pages import check_a_claim, formula_book
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation
from javascript import javascript

# Cached, because each new page would scan all installed packages for components (0.12 s).
scanner.scan_component_manifests = functools.cache(scanner.scan_component_manifests)


def page_at(path: str) -> ModuleType:
    """Return the page of a path; an empty path leads to epsilon against steps T."""
    named = {navigation.path_of(page): page for page in navigation.modules()}
    return named[path.strip("/") or "epsilon_vs_steps"]


def understood(path: str, address: dict[str, str]) -> None:
    """Raise KeyError or ValueError unless a page reads every field of its address."""
    page = navigation.path_of(page_at(path))
    numbers, words = dict(RANGES), {}
    if page == "epsilon_vs_steps":
        kinds = {key: dict.fromkeys(names) for key, names in confirmation.options().items()}
        with javascript(browser.source("run", "page/run")) as call:
            unread = call("x => run.fromAddress(...x).unread", [urlencode(address), kinds])
        if unread:
            raise ValueError(*unread)
        return
    elif page == "mechanisms":
        catalogue = pairs.catalogue()
        numbers = {key: number["ends"] for key, number in catalogue["numbers"].items()}
        words = {"mechanism": catalogue["mechanisms"], "adjacency": confirmation.ADJACENCIES}
    elif page == "check_a_claim":
        words = {key: [text] for key, text in address.items() if key in check_a_claim.START}
    elif page == "formula_book":
        id, misprint = address["id"], address.get("misprint", "none")
        words = {"id": [*book], "misprint": ["none", *(m.name for m in book[id].misprints)]}
        words |= {"picture": formula_book.PICTURES}
        # Only if needed: ranges of parameters depend on a counterexample, which takes seconds.
        parts = dict(formula_book.parameters(id, misprint)) if address.keys() - words.keys() else {}
        numbers = {name: part["ends"] for name, part in parts.items() if "ends" in part}
        words |= {"along": [*parts]}
        words |= {n: part["options"] for n, part in parts.items() if "options" in part}
    for key, text in address.items():
        if key in words:
            if text not in words[key]:
                raise ValueError(f"{key}={text}")
        elif not numbers[key][0] <= float(text) <= numbers[key][1]:
            raise ValueError(f"{key}={text}")


def opened(page: str = "", **address: str) -> AppTest:
    """Open one page, or the whole explorer, at an address."""
    script = f"from dplearn.teaching.explorer.pages.{page} import render\nrender()"
    app = AppTest.from_string(script) if page else AppTest.from_file(navigation.__file__)
    app.default_timeout = 600
    for key, value in address.items():
        app.query_params[key] = value
    return checked(app.run())


def again(app: AppTest, page: str = "") -> AppTest:
    """Open the address of a page in a new session."""
    return opened(page, **{key: str(value) for key, value in app.query_params.items()})


def checked(app: AppTest) -> AppTest:
    """Return the app; fail if it raised an exception."""
    assert not app.exception, [error.message for error in app.exception]
    return app


def enter(app: AppTest, field: str, text: str) -> AppTest:
    """Type a text into a field."""
    return checked(app.text_input(key=field).set_value(text).run())


def choose(app: AppTest, field: str, option: str) -> AppTest:
    """Choose an option of a select box."""
    return checked(app.selectbox(key=field).set_value(option).run())


def press(app: AppTest, label: str) -> AppTest:
    """Press the button of this name."""
    return checked(next(b for b in app.button if b.label == label).click().run())


def figure(app: AppTest, rank: int = 0) -> dict[str, Any]:
    """Return a figure as Plotly's JSON."""
    return json.loads(app.get("plotly_chart")[rank].proto.spec)


def title(app: AppTest, rank: int = 0) -> str:
    """Return the title above a figure."""
    titles = [e.proto.body for e in app.get("html") if e.proto.body.startswith("<p>")]
    return titles[rank].removeprefix("<p>").partition("<br>")[0].replace("\u00a0", " ")


def words(app: AppTest) -> str:
    """Return all text of the page, with ordinary spaces."""
    kinds = app.error, app.success, app.warning, app.info, app.markdown, app.caption
    return "\n".join(e.value for kind in kinds for e in kind).replace("\u00a0", " ")


def downloads(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]
