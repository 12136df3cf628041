"""Three ways in: to the settings of a run, to a budget, to a formula."""

from pathlib import Path

from streamlit.components.v2 import component

from dplearn.app.kit.language import translated

DOORS = {
    "run": "I have a run",
    "budget": "I have a budget",
    "check_a_claim": "I have a formula",
}


def show() -> None:
    """Three links; two lead to controls of this page, without a word to the server."""
    _component(key="doors", data={name: translated(label) for name, label in DOORS.items()})


_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_LINKS = "".join(f'<a id="{name}" href="{name}"></a>' for name in DOORS)
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_component = component("dplearn_doors", html=f"<nav>{_LINKS}</nav>", css=_STYLE, js=_SCRIPT)
