"""dp-accounting 0.6.0: its accountants `rdp` and `pld`, with their default orders and grid."""

import math

import dp_accounting as dp
from dp_accounting import dp_event, pld, rdp

KINDS = {
    "gaussian": dp.GaussianDpEvent,
    "laplace": dp.LaplaceDpEvent,
    "discrete_laplace": lambda b: dp_event.DiscreteLaplaceDpEvent(1 / b, 1),
    "randomized_response": lambda e: dp.RandomizedResponseDpEvent(2 / (1 + math.exp(e)), 2),
}


def epsilon(case, name):
    if (kind := case["family"].replace("poisson_", "")) not in KINDS:
        raise NotImplementedError(kind)
    size = float(case.get("sigma") or case.get("b") or case["epsilon0"])
    event = KINDS[kind](size)
    event = dp.PoissonSampledDpEvent(float(case["q"]), event) if "q" in case else event
    of = dp.NeighboringRelation
    relation = of.REPLACE_ONE if "epsilon0" in case else of.ADD_OR_REMOVE_ONE
    accountant = {"rdp": rdp.RdpAccountant, "pld": pld.PLDAccountant}[name](
        neighboring_relation=relation
    )
    if not accountant.supports(event):
        raise NotImplementedError(kind)
    return accountant.compose(event, case["T"]).get_epsilon(float(case["delta"]))
