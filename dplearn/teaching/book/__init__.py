"""Formula book: textbook formulas and their misprints, checked by independent computations.

``from dplearn.teaching.book import advanced_composition`` imports the function of an entry by name;
functions defined in the chapters raise ValueError outside their hypothesis.
"""

from typing import Any

from dplearn.teaching.book.chapters import book
from dplearn.teaching.book.kit.verdicts import Refutation, Verification, refute, verify

__all__ = ["Refutation", "Verification", "book", "refute", "verify"]


def __getattr__(name: str) -> Any:
    """Return the formula called `name` in the book as a Python function."""
    functions = {} if name.startswith("_") else book.functions
    if name not in functions:
        raise AttributeError(f"Expected the name of a function of the book, got {name!r}.")
    return functions[name]
