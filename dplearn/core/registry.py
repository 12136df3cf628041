"""A dictionary of the classes that a package's modules define."""

import importlib
import pkgutil
from typing import Any


class Registry(dict[str, Any]):
    """Dict of the subclasses of `base` that a package's modules define, with their `name` as key.

    Modules are found by listing the package; names that begin with an underscore are skipped.
    """

    def __init__(self, package: str, base: type) -> None:
        named: dict[str, Any] = {}
        entries = pkgutil.iter_modules(importlib.import_module(package).__path__)
        for file in (entry.name for entry in entries if not entry.name.startswith("_")):
            module = importlib.import_module(f"{package}.{file}")
            for cls in vars(module).values():
                own = isinstance(cls, type) and cls.__module__ == module.__name__  # not imported
                if not (own and issubclass(cls, base)):
                    continue
                name, problem = getattr(cls, "name", None), ""
                if not isinstance(name, str):
                    problem = "have a `name`, got none"
                elif missing := sorted(getattr(cls, "__abstractmethods__", ())):
                    problem = f"define {', '.join(missing)}, got an unfinished class"
                elif (other := named.get(name, cls)) is not cls:
                    where = other.__module__
                    problem = f"have a `name` of its own, got {name!r}, which {where} has"
                if problem:
                    raise TypeError(f"Expected {cls.__module__}.{cls.__qualname__} to {problem}.")
                named[cls.name] = cls
        super().__init__(sorted(named.items()))

    def __missing__(self, name: str) -> Any:
        raise KeyError(f"Expected one of {', '.join(self)}, got {name!r}.")
