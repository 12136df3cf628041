"""Events of dp-accounting."""

import math

import dp_accounting as dp
from dp_accounting import dp_event

RELATIONS = {"randomized_response": dp.NeighboringRelation.REPLACE_ONE}
KINDS = {
    "gaussian": lambda case: dp.GaussianDpEvent(float(case["sigma"])),
    "laplace": lambda case: dp.LaplaceDpEvent(float(case["b"])),
    "discrete_laplace": lambda case: dp_event.DiscreteLaplaceDpEvent(1 / float(case["b"]), 1),
    "randomized_response": lambda case: dp.RandomizedResponseDpEvent(
        2 / (1 + math.exp(float(case["epsilon0"]))), 2
    ),
}


def epsilon(accountant, case):
    kind = case["family"].replace("poisson_", "")
    if kind not in KINDS:
        raise NotImplementedError(kind)
    event = KINDS[kind](case)
    event = dp.PoissonSampledDpEvent(float(case["q"]), event) if "q" in case else event
    relation = RELATIONS.get(kind, dp.NeighboringRelation.ADD_OR_REMOVE_ONE)
    asked = accountant(neighboring_relation=relation)
    if not asked.supports(event):
        raise NotImplementedError(kind)
    return asked.compose(event, case["T"]).get_epsilon(float(case["delta"]))
