"""Textbook formulas as plain functions, one theme per file, and the book of them."""

from dplearn.formulas._base import Formula, Interval, Misprint, book
from dplearn.formulas._checks import Case, Refutation, Verification, refute, verify

__all__ = [
    "Case",
    "Formula",
    "Interval",
    "Misprint",
    "Refutation",
    "Verification",
    "book",
    "refute",
    "verify",
]
