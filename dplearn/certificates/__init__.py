"""Certificates: an epsilon with a machine-checkable proof; needs python-flint.

`certify` computes the numbers of a proof with the engine; `check` verifies them without it.
"""

try:
    from dplearn.certificates.check import NotProvedError, check
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "certificates need ball arithmetic: pip install python-flint"
    ) from error
from dplearn.certificates.make import certify

__all__ = ["NotProvedError", "certify", "check"]
