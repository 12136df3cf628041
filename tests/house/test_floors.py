"""Imports point down only, and heavy libraries stay in their room."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "dplearn"
# From the ground up. What shares a floor does not import each other.
LIBRARY = (
    {"ground"},
    {"engine"},
    {"mechanisms"},
    {"accountants"},
    {"run", "calibrate", "certificates", "datasets"},
    {"training"},
)
ON_TOP = ({"book"}, {"claims"}, {"figures"}, {"app", "classroom"})
FLOORS = (*LIBRARY, *ON_TOP, {"__main__", "__init__"})
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
ROOMS = {
    "torch": {"training"},
    "plotly": {"figures"},
    "streamlit": {"app"},
    "flint": {"certificates"},
}
# What opens all of the house may look into all of it.
DOORS = {"__main__", "__init__"}
FILES = sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """First component below dplearn: the module or folder that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@functools.cache
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


def up(path: Path) -> list[str]:
    """One sentence for each import of a file that does not point down."""
    own = part(path)
    return [
        f"{path.relative_to(ROOT)} imports dplearn.{other}, which "
        + ("shares its floor" if FLOOR[other] == FLOOR[own] else f"stands on dplearn.{own}")
        for other in sorted({home(name) for name in imported(path)} - {None, own})
        if FLOOR[other] >= FLOOR[own] and own not in DOORS
    ]


def test_every_part_has_a_floor():
    lost = {part(path) for path in FILES} - set(FLOOR)
    assert not lost, f"{sorted(lost)} stand on no floor: name them in LIBRARY or ON_TOP"


def test_imports_point_down():
    wrong = [sentence for path in FILES for sentence in up(path)]
    order = " < ".join("/".join(sorted(names)) for names in FLOORS)
    assert not wrong, "\n".join([*wrong, f"Imports point down only: {order}"])


def test_heavy_libraries_stay_in_their_room():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}, whose room is {sorted(room)}"
        for path in FILES
        for name in imported(path)
        if (room := ROOMS.get(name.split(".")[0])) and part(path) not in room
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        pytest.param("import dplearn.__main__", set(), id="library"),
        pytest.param(
            "import dplearn.app.navigation as n; n.modules()",
            {"streamlit", "plotly", "pandas"},
            id="explorer",
            marks=pytest.mark.slow,
        ),
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
