"""Public names have numpydoc tables: each parameter with type and range, Returns and Raises."""

import importlib
import inspect
import re
from functools import reduce

import pytest

import dplearn
from dplearn import accountants

# Modules whose public names need tables.
ROOMS = (
    *("dplearn", "dplearn.core.guarantee", "dplearn.engine.profile", "dplearn.engine.contour"),
    *("dplearn.engine.lattice", "dplearn.mechanisms", "dplearn.accountants"),
    *("dplearn.certificates", "dplearn.calibrate", "dplearn.statement", "dplearn.run"),
    *("dplearn.ledger", "dplearn.tuning", "dplearn.opacus", "dplearn.pate", "dplearn.federated"),
    *("dplearn.federated.noise", "dplearn.federated.simulation", "dplearn.audit"),
    *("dplearn.datasets", "dplearn.teaching.browser", "dplearn.teaching.choosing"),
    *("dplearn.teaching.explorer", "dplearn.teaching.figures", "dplearn.teaching.site"),
    *("dplearn.teaching.classroom", "dplearn.training"),
    *("dplearn.teaching.book", "dplearn.teaching.claims"),
)
RANGE = re.compile(r"[<>]|\b[Ii]n [\[({`]|\bshape\b|\bany\b|as in `|those of `")
MANY = 4  # a method with this many parameters or more needs a table


def public(module) -> dict:
    """Return the classes and functions of `__all__`; without it, those that the module defines."""
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__]
    names = getattr(module, "__all__", own if module.__name__ != "dplearn" else vars(module))
    each = {name: getattr(module, name) for name in names if name[0] != "_"}
    return {n: x for n, x in each.items() if inspect.isclass(x) or inspect.isfunction(x)}


def sections(doc: str) -> dict[str, dict[str, str]]:
    """Return for each section of a docstring its entries: names with type and description."""
    parts = re.split(r"^([A-Z]\w+)\n-{3,}\n", doc, flags=re.MULTILINE)
    tables: dict[str, dict[str, str]] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        table, keys = tables.setdefault(title, {}), []
        for line in body.split("\n\n")[0].splitlines():
            if not line.startswith(" "):
                names, _, kind = line.partition(" : ")
                keys = names.split(", ")
                table |= dict.fromkeys(keys, kind)
            elif table:
                table |= {key: f"{table[key]} {line}" for key in keys}
    return tables


def parameters(value) -> dict[str, inspect.Parameter]:
    """Return the parameters of a call; none for an exception or an abstract class."""
    if inspect.isclass(value) and (issubclass(value, Exception) or inspect.isabstract(value)):
        return {}
    given = inspect.signature(value).parameters.items()
    return {n: p for n, p in given if n not in ("self", "cls") and p.kind.name[:3] != "VAR"}


def entries(value, module) -> dict[str, str]:
    """Return the table of a function or class, with the tables that its docstring refers to."""
    doc, result = inspect.getdoc(value) or "", {}
    for path in re.findall(r"(?:those|fields) of `([\w.]+)`", " ".join(doc.split())):
        first, *more = path.split(".")
        homes = [m for m in (module, dplearn, accountants) if hasattr(m, first)]
        other = reduce(getattr, more, getattr(homes[0], first))
        result |= entries(other, homes[0])
    return result | sections(doc).get("Parameters", {})


def lacks(name: str, value, module):
    """Yield a sentence for each part that the docstring of a function or class lacks."""
    if not (doc := inspect.getdoc(value) or ""):
        yield f"{name}: no docstring"
    one_line = inspect.isfunction(value) and doc.startswith("Return") and "\n" not in doc
    if one_line and all(f"`{each}`" in doc for each in parameters(value)):
        return
    table, titles = entries(value, module), sections(doc)
    for each, parameter in parameters(value).items():
        if not table.get(each, "").strip():
            yield f"{name}: no type of {each}"
        kind = getattr(parameter.annotation, "__name__", str(parameter.annotation))
        if re.fullmatch(r"(int|float)( \| None)?", kind) and not RANGE.search(table.get(each, "")):
            yield f"{name}: no range of {each}"
    if inspect.isfunction(value) and value.__qualname__ == value.__name__:
        result = inspect.signature(value).return_annotation
        # A result whose class is from dplearn needs no Returns: the class has a docstring.
        ours = "dplearn" in getattr(result, "__module__", "")
        if "Returns" not in titles and not ours and result is not None:
            yield f"{name}: no Returns"
        source = inspect.getsource(inspect.unwrap(value))
        if re.search(r"^ +raise ", source, re.MULTILINE) and "Raises" not in titles:
            yield f"{name}: no Raises"


def methods(value):
    """Yield the public methods of a class that take many parameters."""
    for name, method in vars(value).items() if inspect.isclass(value) else ():
        function = inspect.unwrap(getattr(method, "__func__", method))
        if name[0] != "_" and inspect.isfunction(function) and len(parameters(function)) >= MANY:
            yield name, function


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_of_public_names_describe_all_parameters(room):
    module, lost = importlib.import_module(room), []
    for name, value in public(module).items():
        home = importlib.import_module(value.__module__)
        lost += lacks(name, value, home)
        for method, function in methods(value):
            lost += lacks(f"{name}.{method}", function, home)
    assert not lost, f"docstrings of {room} lack entries: {lost}"
