"""riskcal 1.5.1: its accountant by connect-the-dots."""

from riskcal.accountants.ctd import CTDAccountant


def epsilon(case):
    if case["family"] not in ("gaussian", "poisson_gaussian"):
        raise NotImplementedError(case["family"])
    accountant = CTDAccountant()
    accountant.history = [(float(case["sigma"]), float(case.get("q", 1)), case["T"])]
    return accountant.get_epsilon(delta=float(case["delta"]))
