"""A mapping that fills itself from the modules of one folder."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any


class Registry(Mapping[str, type]):
    """Name -> class for every concrete subclass defined in a package's modules.

    The folder is the list: a new file that defines a subclass of `base` with
    its own `name` is known at the next start, and nothing is registered by hand.
    Modules whose name begins with an underscore are not looked at; abstract classes stand
    there. `package` is the dotted name of the folder.

    Examples
    --------
    >>> from dplearn.accountants import ACCOUNTANTS
    >>> "rdp" in ACCOUNTANTS
    True
    """

    def __init__(self, package: str, base: type) -> None:
        self._package = package
        self._base = base

    @cached_property
    def _classes(self) -> dict[str, type]:
        named: dict[str, Any] = {}
        for entry in _own_classes(self._package):
            if not issubclass(entry, self._base):
                continue
            if problem := _lacking(entry, named):
                where = f"{entry.__module__}.{entry.__qualname__}"
                raise TypeError(f"Expected {where} to {problem}.")
            named[entry.name] = entry
        return dict(sorted(named.items()))

    def __getitem__(self, name: str) -> type:
        try:
            return self._classes[name]
        except KeyError:
            names = ", ".join(self._classes)
            raise KeyError(f"Expected one of {names}, got {name!r}.") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


def _lacking(entry: Any, named: Mapping[str, type]) -> str:
    """What a class must do to stand beside those named so far; "" if nothing."""
    name = getattr(entry, "name", None)
    if not isinstance(name, str):
        return "have a `name`, got none"
    if missing := sorted(getattr(entry, "__abstractmethods__", ())):
        return f"define {', '.join(missing)}, got an unfinished class"
    if (other := named.get(name, entry)) is not entry:
        return f"have a `name` of its own, got {name!r}, which {other.__module__} has"
    return ""


def _own_classes(package: str) -> Iterator[Any]:
    """Classes that a folder's public modules define, not import."""
    entries = pkgutil.iter_modules(importlib.import_module(package).__path__)
    for name in sorted(f"{package}.{e.name}" for e in entries if not e.name.startswith("_")):
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and value.__module__ == name:
                yield value
