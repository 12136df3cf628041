"""tensorflow-privacy 0.9.0: its Gaussian DP formula; the file alone, which needs no TensorFlow."""

import runpy
import sys

PLACE = next(p for p in sys.path if "site-packages" in p) + "/tensorflow_privacy/privacy/analysis"
EPSILON = runpy.run_path(f"{PLACE}/gdp_accountant.py")["compute_eps_poisson"]


def epsilon(case):
    if case["family"] not in ("gaussian", "poisson_gaussian"):
        raise NotImplementedError(case["family"])
    q, sigma, delta = float(case.get("q", 1)), float(case["sigma"]), float(case["delta"])
    return EPSILON(case["T"] * q, sigma, 1, q, delta)
