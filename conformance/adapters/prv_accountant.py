"""prv-accountant 0.2.0: the upper end, with an error of 0.1 in epsilon."""

import prv_accountant as prv
from prv_accountant import privacy_random_variables as laws

KINDS = {
    "gaussian": laws.GaussianMechanism,
    "poisson_gaussian": lambda sigma, q: laws.PoissonSubsampledGaussianMechanism(q, sigma),
    "laplace": lambda b: laws.LaplaceMechanism(1 / b),
    "randomized_response": laws.PureDPMechanism,
}


def epsilon(case):
    if case["family"] not in KINDS:
        raise NotImplementedError(case["family"])
    sizes = [float(case[name]) for name in ("sigma", "b", "epsilon0", "q") if name in case]
    law, delta = KINDS[case["family"]](*sizes), float(case["delta"])
    asked = prv.PRVAccountant(law, 0.1, delta / 1000, case["T"])
    return asked.compute_epsilon(delta, [case["T"]])[2]
