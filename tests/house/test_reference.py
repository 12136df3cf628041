"""The reference on the site explains each public name and each of its parameters."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest

import dplearn
from dplearn.teaching.site import REFERENCE

pytestmark = pytest.mark.slow


def explained(value, module) -> str:
    """Return the docstrings of a value and of the names it refers to, and a class's source."""
    text = " ".join((inspect.getdoc(value) or "").split())
    for name in re.findall(r"(?:those of|as in|fields of)(?: the)? `(\w+)`", text):
        text += explained(getattr(module, name, None), module)
    return text + (inspect.getsource(value) if inspect.isclass(value) else "")


def public_names(module) -> dict:
    """Return the names that the reference of a module shows."""
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__]
    chosen = getattr(module, "__all__", [name for name in own if not name.startswith("_")])
    return {name: getattr(module, name) for name in chosen}


def test_help_names_each_public_name_on_four_screens():
    shown = subprocess.check_output(
        [sys.executable, "-c", "import dplearn; help(dplearn)"], text=True
    )
    assert shown.count("\n") < 200
    result = set(re.findall(r"`([A-Za-z_]\w+)`", dplearn.__doc__))
    public = {n for n, x in vars(dplearn).items() if n[0] != "_" and not inspect.ismodule(x)}
    assert result == public
    documented = {x for name in REFERENCE for x in public_names(importlib.import_module(name))}
    assert public <= documented


@pytest.mark.parametrize("name", REFERENCE)
def test_each_public_name_and_parameter_is_explained(name):
    module = importlib.import_module(name)
    lost = {}
    for public, value in public_names(module).items():
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        assert inspect.getdoc(value), f"{name}.{public} has no docstring"
        taken = inspect.signature(value).parameters if not inspect.isclass(value) else ()
        result = explained(value, module)
        if missing := [each for each in taken if not re.search(rf"\b{each}\b", result)]:
            lost[public] = missing
    assert not lost, f"the reference of {name} does not explain {lost}"
