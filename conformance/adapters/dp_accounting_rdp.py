"""dp-accounting 0.6.0: Rényi divergences, default orders."""

from _dp_accounting import epsilon as asked
from dp_accounting.rdp import RdpAccountant


def epsilon(case):
    return asked(RdpAccountant, case)
