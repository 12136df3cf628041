"""diffprivlib 0.6: its BudgetAccountant, delta as slack."""

from diffprivlib.accountant import BudgetAccountant


def epsilon(case):
    if case["family"] not in ("laplace", "discrete_laplace", "randomized_response"):
        raise NotImplementedError(case["family"])
    each = float(case["epsilon0"]) if "epsilon0" in case else 1 / float(case["b"])
    spent = BudgetAccountant(spent_budget=[(each, 0)] * case["T"])
    return spent.total(slack=float(case["delta"]))[0]
