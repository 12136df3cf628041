"""Imports go to lower layers only, and heavy libraries stay in their folders."""

import ast
import functools
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from cases import clean_environment

ROOT = Path(__file__).parents[2] / "dplearn"
# Layers from the bottom up. Parts of one layer do not import each other.
LIBRARY = (
    {"core"},
    {"engine"},
    {"mechanisms"},
    {"accountants"},
    {"certificates"},
    {"statement"},
    {"calibrate"},
    {"run", "ledger"},
    {"tuning"},
)
SYSTEMS = ({"datasets", "opacus"}, {"training", "pate", "audit"}, {"federated"})
TEACHING = (
    {"teaching.book", "teaching.browser"},
    {"teaching.claims"},
    {"teaching.figures", "teaching.choosing"},
    {"teaching.explorer", "teaching.classroom"},
    {"teaching.site"},
    {"teaching.commands", "teaching"},
)
FLOORS = (*LIBRARY, *SYSTEMS, *TEACHING, {"__main__", "__init__"})
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
ROOMS = {
    "torch": "training federated pate",
    "plotly": "teaching.figures",
    "streamlit": "teaching.explorer",
    "flint": "certificates",
    "opacus": "opacus",
}
# Modules that may import every part.
DOORS = {"__main__", "__init__"}
FILES = sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """Return the part that a file belongs to: a module or folder of dplearn or dplearn.teaching."""
    return part_of([*path.relative_to(ROOT).with_suffix("").parts])


def part_of(names: list[str]) -> str:
    """Return the part to which a module belongs, by its name split at dots, without dplearn."""
    teaching = names[:1] == ["teaching"] and f"teaching.{names[1]}" in FLOOR if names[1:] else False
    first = ".".join(names[:2]) if teaching else "".join(names[:1])
    return first if first in FLOOR else "__init__"


@functools.cache
def imported(path: Path) -> set[str]:
    """Return the dotted names of all modules that a file imports, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def up(path: Path) -> list[str]:
    """Return a sentence for each import from another part of the same or a higher layer."""
    own = part(path)
    pieces = [name.split(".") for name in imported(path) if name.split(".")[0] == "dplearn"]
    others = {part_of(names[1:]) for names in pieces}
    return [
        f"{path.relative_to(ROOT)} imports dplearn.{other}, which "
        + ("shares its floor" if FLOOR[other] == FLOOR[own] else f"stands on dplearn.{own}")
        for other in sorted(others - {own})
        if FLOOR[other] >= FLOOR[own] and own not in DOORS
    ]


def test_every_module_has_a_layer_and_imports_no_higher_layer():
    files = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in FILES}
    lost = files - {name.split(".")[0] for name in FLOOR}
    assert not lost, f"{sorted(lost)} stand on no floor: name them in LIBRARY, SYSTEMS or TEACHING"
    wrong = [sentence for path in FILES for sentence in up(path)]
    order = " < ".join("/".join(sorted(names)) for names in FLOORS)
    assert not wrong, "\n".join([*wrong, f"Imports point down only: {order}"])


def test_imports_between_files_have_no_cycle():
    """Imports inside functions count, too; a package stands for its `__init__`."""
    dotted = {path: ".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in FILES}
    files = {name.removesuffix(".__init__"): path for path, name in dotted.items()}
    below = {
        own: {files.get(name) or files.get(name.rpartition(".")[0]) for name in imported(path)}
        - {None, path}
        for own, path in files.items()
    }
    # `__init__` modules may import every part.
    graph = {files[own]: {p for p in paths if p.stem != "__init__"} for own, paths in below.items()}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(" -> ".join(str(path.relative_to(ROOT)) for path in circle.args[1]))


def test_heavy_libraries_are_imported_only_in_their_folders():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}, whose room is {room}"
        for path in FILES
        for name in imported(path)
        if part(path) not in (room := ROOMS.get(name.split(".")[0], part(path))).split()
    ]
    assert not wrong, "\n".join(wrong)


def loaded(statement: str) -> set[str]:
    """Return the heavy libraries that a fresh interpreter has loaded after a statement."""
    heavy = {"torch", "plotly", "streamlit", "pandas", "scipy.stats", "scipy.optimize"}
    heavy |= {"scipy.integrate", "matplotlib", "mpmath", "IPython"}
    command = [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"]
    return heavy & set(subprocess.check_output(command, text=True, env=clean_environment()).split())


def test_the_command_line_loads_no_heavy_library():
    assert not loaded("import dplearn.__main__")


@pytest.mark.slow
def test_the_explorer_loads_only_display_libraries():
    loads = loaded("import dplearn.teaching.explorer.kit.navigation as n; n.modules()")
    assert loads <= {"streamlit", "plotly", "pandas"}
