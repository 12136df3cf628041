"""Certificates: bounds on epsilon with machine-checked proofs; needs python-flint.

`certify` computes the numbers of a proof by the engine; `check` verifies them without the engine.
"""

try:
    from dplearn.certificates.check import NotProvedError, check
except ModuleNotFoundError as error:
    need = "certificates need ball arithmetic: pip install python-flint"
    raise ModuleNotFoundError(need) from error
from dplearn.certificates.make import certify

__all__ = ["NotProvedError", "certify", "check"]
