"""The reference on the site explains each public name and each of its parameters."""

import importlib
import inspect
import re

import pytest

from dplearn.teaching.site import REFERENCE


def explained(value, module) -> str:
    """Return what the reference shows of a name: its text, what it refers to, a class's source."""
    text = " ".join((inspect.getdoc(value) or "").split())
    for name in re.findall(r"(?:those of|as in|fields of)(?: the)? `(\w+)`", text):
        text += explained(getattr(module, name, None), module)
    return text + (inspect.getsource(value) if inspect.isclass(value) else "")


@pytest.mark.parametrize("name", REFERENCE)
def test_each_public_name_and_parameter_is_explained(name):
    module = importlib.import_module(name)
    lost = {}
    for public in module.__all__:
        value = getattr(module, public)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        assert inspect.getdoc(value), f"{name}.{public} has no docstring"
        taken = inspect.signature(value).parameters if not inspect.isclass(value) else ()
        told = explained(value, module)
        if missing := [each for each in taken if not re.search(rf"\b{each}\b", told)]:
            lost[public] = missing
    assert not lost, f"the reference of {name} does not explain {lost}"
