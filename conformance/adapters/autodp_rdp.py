"""autodp 0.2.3.1: Rényi divergences."""

import math

from autodp import mechanism_zoo as zoo
from autodp.transformer_zoo import AmplificationBySampling, Composition

KINDS = {
    "gaussian": lambda case: zoo.GaussianMechanism(float(case["sigma"]), approxDP_off=True),
    "laplace": lambda case: zoo.LaplaceMechanism(float(case["b"])),
    "discrete_gaussian": lambda case: zoo.DiscreteGaussianMechanism(float(case["sigma"])),
    "randomized_response": lambda case: zoo.RandresponseMechanism(
        1 / (1 + math.exp(-float(case["epsilon0"])))
    ),
}


def epsilon(case, kinds=KINDS):
    kind = case["family"].replace("poisson_", "")
    if kind not in kinds:
        raise NotImplementedError(kind)
    one = kinds[kind](case)
    if "q" in case:
        one = AmplificationBySampling()(one, float(case["q"]), improved_bound_flag=True)
    return Composition()([one], [case["T"]]).get_approxDP(float(case["delta"]))
