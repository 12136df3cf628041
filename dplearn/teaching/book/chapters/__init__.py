"""The formula book: the entries of all chapters, by id."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from dplearn.teaching.book.kit.entry import Formula, entries, waiting


class Book(Mapping[str, Formula]):
    """Mapping from an id, such as G-A1, to the entry of that formula, sorted by id.

    Examples
    --------
    >>> from dplearn.teaching.book import book
    >>> book["G-A1"].kind
    'identity'
    """

    @cached_property
    def _entries(self) -> dict[str, Formula]:
        for module in pkgutil.iter_modules(__path__, f"{__name__}."):
            importlib.import_module(module.name)
        if waiting:
            names = ", ".join(function.__name__ for function in waiting)
            raise ValueError(f"Expected @formula above the other decorators, got none at {names}.")
        # Compare digits as numbers, so that G-A2 comes before G-A10.
        natural = lambda id: [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", id)]
        return {id: entries[id] for id in sorted(entries, key=natural)}

    @cached_property
    def functions(self) -> dict[str, Callable]:
        """Functions of all entries by name; those defined in the chapters check their arguments."""
        own = lambda e: e.function.__module__.startswith(__name__)
        return {e.function.__name__: e.guarded if own(e) else e.function for e in self.values()}

    def __getitem__(self, id: str) -> Formula:
        return self._entries[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


book = Book()
