"""Imports point down only, and heavy libraries stay in their room."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "dplearn"
FLOORS = {
    0: {"ground"},
    1: {"engine"},
    2: {"mechanisms"},
    3: {"accountants"},
    4: {"run", "calibrate", "datasets"},
    5: {"training"},
    # The library ends here: what follows stands on it.
    6: {"book"},
    7: {"claims"},
    8: {"figures"},
    9: {"app", "classroom", "__main__", "__init__"},
}
FLOOR = {name: floor for floor, names in FLOORS.items() for name in names}
# On one floor these may look at each other, in this direction.
SIBLINGS: set[tuple[str, str]] = set()
ROOMS = {"torch": {"training"}, "plotly": {"figures"}, "streamlit": {"app"}}
FILES = sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """First component below dplearn: the module or folder that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Dotted names of all modules a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def home(name: str) -> str | None:
    """Floor-bearing part of an imported dplearn name, None for other packages."""
    pieces = name.split(".")
    if pieces[0] != "dplearn":
        return None
    return pieces[1] if len(pieces) > 1 and pieces[1] in FLOOR else "__init__"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    here = part(path)
    for there in {home(name) for name in imported(path)} - {None, here}:
        down = FLOOR[there] < FLOOR[here] or FLOOR[here] == 9
        assert down or (here, there) in SIBLINGS, f"{path.name} imports {there}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_stay_in_their_room(path):
    for name in imported(path):
        room = ROOMS.get(name.split(".")[0])
        assert room is None or part(path) in room, f"{path.name} imports {name}"


@pytest.mark.parametrize(
    "statement, allowed",
    [
        ("import dplearn", set()),
        ("import dplearn.__main__", set()),
        ("import dplearn.app.navigation", {"streamlit", "plotly", "pandas"}),
        ("import dplearn.app.navigation as n; n.modules()", {"streamlit", "plotly", "pandas"}),
    ],
)
def test_what_gets_loaded(statement, allowed):
    heavy = {"torch", "plotly", "streamlit", "pandas", "scipy.stats", "scipy.optimize"}
    heavy |= {"scipy.integrate", "matplotlib", "mpmath", "IPython"}
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heavy & set(loaded) <= allowed
