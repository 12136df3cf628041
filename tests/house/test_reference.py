"""`help(dplearn)` and the reference on the site list every public name."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest
from test_numpydoc import ROOMS

import dplearn
from dplearn.teaching.site import REFERENCE

pytestmark = pytest.mark.slow


def public_names(module) -> dict:
    """Return the public names of a module in the site's reference."""
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__]
    chosen = getattr(module, "__all__", [name for name in own if not name.startswith("_")])
    return {name: getattr(module, name) for name in chosen}


def test_help_lists_every_public_name_on_at_most_four_screens():
    shown = subprocess.check_output(
        [sys.executable, "-c", "import dplearn; help(dplearn)"], text=True
    )
    assert shown.count("\n") < 200
    result = set(re.findall(r"`([A-Za-z_]\w+)`", dplearn.__doc__))
    public = {n for n, x in vars(dplearn).items() if n[0] != "_" and not inspect.ismodule(x)}
    assert result == public
    documented = {x for name in REFERENCE for x in public_names(importlib.import_module(name))}
    assert public <= documented and set(REFERENCE) <= set(ROOMS), "without tables"
