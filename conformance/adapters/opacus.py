"""opacus 1.6.0: its accountants `rdp`, `prv` and `gdp`."""

from opacus.accountants import create_accountant


def epsilon(case, name):
    if case["family"] not in ("gaussian", "poisson_gaussian"):
        raise NotImplementedError(case["family"])
    accountant = create_accountant(name)
    accountant.history = [(float(case["sigma"]), float(case.get("q", 1)), case["T"])]
    return accountant.get_epsilon(delta=float(case["delta"]))
