"""Certificates: an epsilon with a proof that anybody can check; needs python-flint.

`make` proposes the numbers of a proof with the engine, `check` proves them without it.
"""
