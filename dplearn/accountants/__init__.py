"""Accountants: one theorem per file, all answering the same question."""

from dplearn.accountants._base import Accountant
from dplearn.ground import validate
from dplearn.ground.registry import Registry

accountants = Registry("dplearn.accountants", Accountant)

__all__ = ["Accountant", "accountant_of", "accountants"]


def accountant_of(accountant: Accountant | str) -> Accountant:
    """The accountant that this is, or that has this name in `accountants`."""
    if isinstance(accountant, str):
        validate.one_of(tuple(accountants), accountant=accountant)
        return accountants[accountant]()
    validate.instance(Accountant, accountant=accountant)
    return accountant
