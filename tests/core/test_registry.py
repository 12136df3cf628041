"""Registries list public modules, skip private ones and report incomplete classes."""

import importlib
import shutil
import sys

import pytest

import dplearn.accountants.pld
import dplearn.mechanisms
from dplearn.accountants import ACCOUNTANTS, Accountant
from dplearn.core.registry import Registry
from dplearn.mechanisms import Gaussian

NEW = """
from dplearn.accountants.composition import Basic

class Doubled(Basic):
    name = "doubled"

class Stranger:
    name = "stranger"
"""


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Return a copy of the accountants package under another name, with new modules."""
    folder = tmp_path / "more_accountants"
    shutil.copytree(importlib.import_module("dplearn.accountants").__path__[0], folder)
    (folder / "__init__.py").write_text("")
    (folder / "doubled.py").write_text(NEW)
    (folder / "_hidden.py").write_text(NEW.replace("doubled", "hidden"))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield folder
    for name in [n for n in sys.modules if n.startswith("more_accountants")]:
        del sys.modules[name]


def test_class_in_a_new_module_is_registered_and_works(copied):
    copied = Registry("more_accountants", Accountant)
    assert set(copied) == {*ACCOUNTANTS, "doubled"}
    assert copied["doubled"]().epsilon(Gaussian(1.0), delta=1e-5).method == "doubled"
    # A class imported into another module is registered once, from its own module.
    assert copied["doubled"].__module__ == "more_accountants.doubled"
    assert copied["basic"].__module__ == "more_accountants.composition"


def test_registry_has_the_classes_of_its_package_and_sorted_names():
    assert dplearn.mechanisms.Gaussian is dplearn.MECHANISMS["gaussian"] is Gaussian
    assert dplearn.accountants.pld.PLD is ACCOUNTANTS["pld"]
    with pytest.raises(KeyError, match=r"Expected one of .*rdp.*, got 'magic'"):
        ACCOUNTANTS["magic"]
    assert "magic" not in ACCOUNTANTS and list(ACCOUNTANTS) == sorted(ACCOUNTANTS)


@pytest.mark.parametrize(
    "old, new, problem",
    [
        ('name = "doubled"', "name = None", "have a `name`, got none"),
        ('name = "doubled"', 'name = "basic"', "have a `name` of its own, got 'basic', which more"),
        ("class Doubled(Basic)", "class Doubled(Basic.__base__)", "define _bounds, got an unfin"),
    ],
)
def test_error_on_an_incomplete_class_names_the_problem(copied, old, new, problem):
    path = copied / "doubled.py"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(TypeError, match=rf"more_accountants\.doubled\.Doubled to {problem}"):
        Registry("more_accountants", Accountant)
