"""Accountants: one theorem per file, all answering the same question."""

from dplearn.accountants._base import Accountant
from dplearn.ground.registry import Registry

accountants = Registry("dplearn.accountants", Accountant)

__all__ = ["Accountant", "accountants"]
