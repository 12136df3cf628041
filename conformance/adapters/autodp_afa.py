"""autodp 0.2.3.1: the analytical Fourier accountant."""

import math

from autodp import mechanism_zoo as zoo
from autodp.transformer_zoo import ComposeAFA

OFF = {"RDP_off": True, "phi_off": False}


def epsilon(case):
    if case["family"] == "gaussian":
        one = zoo.GaussianMechanism(float(case["sigma"]), approxDP_off=True, **OFF)
    elif case["family"] == "laplace":
        one = zoo.LaplaceMechanism(float(case["b"]), **OFF)
    elif case["family"] == "randomized_response":
        one = zoo.RandresponseMechanism(1 / (1 + math.exp(-float(case["epsilon0"]))), **OFF)
    else:
        raise NotImplementedError(case["family"])
    return ComposeAFA()([one], [case["T"]]).get_approxDP(float(case["delta"]))
