"""Accountants: guarantees of composed releases, one accountant for each theorem."""

from dplearn.accountants._base import Accountant
from dplearn.core import validate
from dplearn.core.registry import Registry
from dplearn.mechanisms import Mechanism

ACCOUNTANTS = Registry("dplearn.accountants", Accountant)

__all__ = ["ACCOUNTANTS", "Accountant", "accountant_of"]


def accountant_of(accountant: Accountant | str) -> Accountant:
    """Return an accountant given as itself or by its name in `ACCOUNTANTS`."""
    if isinstance(accountant, str):
        validate.one_of(tuple(ACCOUNTANTS), accountant=accountant)
        return ACCOUNTANTS[accountant]()
    validate.instance(Accountant, accountant=accountant)
    return accountant


Mechanism._accountant = staticmethod(accountant_of)
