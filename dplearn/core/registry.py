"""A dictionary that fills itself from the modules of one folder."""

import importlib
import pkgutil
from typing import Any


class Registry(dict[str, Any]):
    """Classes by name: every concrete subclass of `base` that a package's modules define.

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
        named: dict[str, Any] = {}
        for entry in pkgutil.iter_modules(importlib.import_module(package).__path__):
            if entry.name.startswith("_"):
                continue
            module = importlib.import_module(f"{package}.{entry.name}")
            # Defined there, not imported.
            own = (
                v for v in vars(module).values() if getattr(v, "__module__", "") == module.__name__
            )
            for cls in own:
                if isinstance(cls, type) and issubclass(cls, base):
                    if problem := _lacking(cls, named):
                        where = f"{cls.__module__}.{cls.__qualname__}"
                        raise TypeError(f"Expected {where} to {problem}.")
                    named[cls.name] = cls
        super().__init__(sorted(named.items()))

    def __missing__(self, name: str) -> Any:
        raise KeyError(f"Expected one of {', '.join(self)}, got {name!r}.")


def _lacking(cls: Any, named: dict[str, Any]) -> str:
    """Words for what a class must do to stand beside those named so far; "" if nothing."""
    name = getattr(cls, "name", None)
    if not isinstance(name, str):
        return "have a `name`, got none"
    if missing := sorted(getattr(cls, "__abstractmethods__", ())):
        return f"define {', '.join(missing)}, got an unfinished class"
    if (other := named.get(name, cls)) is not cls:
        return f"have a `name` of its own, got {name!r}, which {other.__module__} has"
    return ""
