"""dp-accounting 0.6.0: privacy loss distributions, default grid."""

from _dp_accounting import epsilon as asked
from dp_accounting.pld import PLDAccountant


def epsilon(case):
    return asked(PLDAccountant, case)
