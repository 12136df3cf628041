"""prv-accountant 0.2.0: the upper end, with an error of 0.1 in epsilon."""

import prv_accountant as prv
from prv_accountant import privacy_random_variables as laws


def epsilon(case):
    kinds = {
        "gaussian": lambda: laws.GaussianMechanism(float(case["sigma"])),
        "poisson_gaussian": lambda: laws.PoissonSubsampledGaussianMechanism(
            noise_multiplier=float(case["sigma"]), sampling_probability=float(case["q"])
        ),
        "laplace": lambda: laws.LaplaceMechanism(1 / float(case["b"])),
        "randomized_response": lambda: laws.PureDPMechanism(float(case["epsilon0"])),
    }
    if case["family"] not in kinds:
        raise NotImplementedError(case["family"])
    delta = float(case["delta"])
    asked = prv.PRVAccountant(kinds[case["family"]](), 0.1, delta / 1000, case["T"])
    return asked.compute_epsilon(delta, [case["T"]])[2]
