"""autodp 0.2.3.1: Rényi divergences, `rdp`, and its analytical Fourier accountant, `afa`."""

import math

from autodp import mechanism_zoo as zoo
from autodp import transformer_zoo as compose

KINDS = {
    "gaussian": lambda sigma, **off: zoo.GaussianMechanism(sigma, approxDP_off=True, **off),
    "laplace": zoo.LaplaceMechanism,
    "discrete_gaussian": zoo.DiscreteGaussianMechanism,
    "randomized_response": lambda e, **off: zoo.RandresponseMechanism(
        1 / (1 + math.exp(-e)), **off
    ),
}


def epsilon(case, name):
    kind = case["family"].replace("poisson_", "")
    if kind not in KINDS or (name == "afa" and ("q" in case or kind.startswith("discrete"))):
        raise NotImplementedError(case["family"])
    off = {"RDP_off": True, "phi_off": False} if name == "afa" else {}
    one = KINDS[kind](float(case.get("sigma") or case.get("b") or case["epsilon0"]), **off)
    if "q" in case:
        one = compose.AmplificationBySampling()(one, float(case["q"]), improved_bound_flag=True)
    many = {"rdp": compose.Composition, "afa": compose.ComposeAFA}[name]()([one], [case["T"]])
    return many.get_approxDP(float(case["delta"]))
