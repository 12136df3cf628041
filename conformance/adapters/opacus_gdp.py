"""opacus 1.6.0: its accountant `gdp`."""

from opacus.accountants import GaussianAccountant


def epsilon(case):
    if case["family"] not in ("gaussian", "poisson_gaussian"):
        raise NotImplementedError(case["family"])
    accountant = GaussianAccountant()
    accountant.history = [(float(case["sigma"]), float(case.get("q", 1)), case["T"])]
    return accountant.get_epsilon(delta=float(case["delta"]))
