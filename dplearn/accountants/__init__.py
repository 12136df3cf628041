"""Accountants: one theorem per file, all answering the same question."""

from dplearn._registry import Registry
from dplearn.accountants._base import Accountant

accountants = Registry("dplearn.accountants", Accountant)

__all__ = ["Accountant", "accountants"]
