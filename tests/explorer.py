"""The explorer without a browser: open it at an address, enter something, read what it shows."""

import functools
import json
from types import ModuleType
from typing import Any

from streamlit.components.v2 import manifest_scanner as scanner
from streamlit.testing.v1 import AppTest

from dplearn.teaching.explorer import navigation
from dplearn.teaching.explorer.kit.fields import by_key
from dplearn.teaching.explorer.kit.state import State

# Every new page would look through all installed packages for components: 0.12 s, each time.
scanner.scan_component_manifests = functools.cache(scanner.scan_component_manifests)


def page_at(path: str) -> ModuleType:
    """The page that a path leads to; the first one is at the root."""
    named = {navigation.path_of(page): page for page in navigation.modules()}
    return named[path.strip("/")] if path.strip("/") else navigation.modules()[0]


def start(page: Any, address: dict[str, str] | None = None) -> State:
    """The state that a page begins with; one of several files has it among its fields."""
    if hasattr(page, "FIELDS"):
        return State(by_key(*page.FIELDS))
    if hasattr(page, "fields"):
        return page.fields.state_at(address)
    # A page of which the server reads nothing has no state.
    return page.blank_state() if hasattr(page, "blank_state") else State({})


def opened(page: str = "", **address: str) -> AppTest:
    """One page, or the whole explorer, opened at an address."""
    script = f"from dplearn.teaching.explorer.pages.{page} import render\nrender()"
    app = AppTest.from_string(script) if page else AppTest.from_file(navigation.__file__)
    app.default_timeout = 600
    app.session_state["more"] = True  # settings that are folded away at first
    for key, value in address.items():
        app.query_params[key] = value
    return checked(app.run())


def again(app: AppTest, page: str = "") -> AppTest:
    """What the address of a page shows to somebody else."""
    return opened(page, **{key: str(value) for key, value in app.query_params.items()})


def checked(app: AppTest) -> AppTest:
    """The same, if nothing went wrong."""
    assert not app.exception, [error.message for error in app.exception]
    return app


def enter(app: AppTest, field: str, text: str) -> AppTest:
    """Type into a box."""
    return checked(app.text_input(key=f"box_{field}").set_value(text).run())


def choose(app: AppTest, field: str, option: str) -> AppTest:
    """Choose from a list."""
    return checked(app.selectbox(key=f"choice_{field}").set_value(option).run())


def press(app: AppTest, label: str) -> AppTest:
    """Press the button of this name."""
    return checked(next(b for b in app.button if b.label == label).click().run())


def figure(app: AppTest, rank: int = 0) -> dict[str, Any]:
    """A figure as Plotly's JSON."""
    return json.loads(app.get("plotly_chart")[rank].proto.spec)


def traces(app: AppTest, rank: int = 0) -> dict[str, dict]:
    """Name to trace of a figure."""
    return {trace["name"]: trace for trace in figure(app, rank)["data"]}


def title(app: AppTest, rank: int = 0) -> str:
    """The title of a figure."""
    return figure(app, rank)["layout"]["title"]["text"].replace("\u00a0", " ")


def errors(app: AppTest) -> list[str]:
    """Every message that reports an error."""
    return [message.value for message in app.error]


def words(app: AppTest) -> str:
    """All text of the page, with ordinary spaces."""
    kinds = app.error, app.success, app.warning, app.info, app.markdown, app.caption
    return "\n".join(e.value for kind in kinds for e in kind).replace("\u00a0", " ")


def downloads(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]
