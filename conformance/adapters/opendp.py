"""opendp 0.16.0: zCDP to (epsilon, delta) of its Gaussian."""

import math

import opendp.prelude as dp

dp.enable_features("contrib")
SPACE = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def epsilon(case):
    if case["family"] not in ("gaussian",):
        raise NotImplementedError(case["family"])
    noise = dp.m.make_gaussian(*SPACE, scale=float(case["sigma"]) / math.sqrt(case["T"]))
    return dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(float(case["delta"]))
