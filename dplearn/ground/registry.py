"""A mapping that fills itself from the modules of one folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any


class Registry(Mapping[str, type]):
    """Name -> class for every concrete subclass defined in a package's modules.

    The folder is the list: a new file that defines a subclass of `base` with
    its own `name` is known at the next start, and nothing is registered by hand.
    Modules whose name begins with an underscore are not looked at. `package` is the dotted
    name of the folder.

    Examples
    --------
    >>> from dplearn.accountants import accountants
    >>> "rdp" in accountants
    True
    """

    def __init__(self, package: str, base: type) -> None:
        self._package = package
        self._base = base

    @cached_property
    def _classes(self) -> dict[str, type]:
        classes = [
            value
            for module in _modules(self._package)
            for value in vars(module).values()
            if self._is_entry(value, module.__name__)
        ]
        for entry in classes:
            if not isinstance(getattr(entry, "name", None), str):
                where = f"{entry.__module__}.{entry.__qualname__}"
                raise TypeError(f"Expected {where} to have a `name`, got none.")
        return {entry.name: entry for entry in classes}

    def _is_entry(self, value: Any, module: str) -> bool:
        """Whether it is a finished class of the module's own, not one imported there."""
        return (
            isinstance(value, type)
            and issubclass(value, self._base)
            and value.__module__ == module
            and not getattr(value, "__abstractmethods__", None)
        )

    def __getitem__(self, name: str) -> type:
        try:
            return self._classes[name]
        except KeyError:
            names = ", ".join(self._classes)
            raise KeyError(f"Expected one of {names}, got {name!r}.") from None

    def __getattr__(self, name: str) -> Any:
        """Attribute of the package, behind whose name in `dplearn` the registry stands.

        ``import dplearn.mechanisms as m`` binds `m` to ``dplearn.mechanisms``, the registry.
        """
        if name.startswith("__") or "_package" not in vars(self):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._package), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


def _modules(package: str) -> Iterator[Any]:
    """Public modules of a folder, in alphabetical order."""
    folder = importlib.import_module(package)
    for entry in sorted(pkgutil.iter_modules(folder.__path__), key=lambda e: e.name):
        if not entry.name.startswith("_"):
            yield importlib.import_module(f"{package}.{entry.name}")
