"""tensorflow-privacy 0.9.0: its Gaussian DP formula; the file alone, which needs no TensorFlow."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

FILE = "tensorflow_privacy/privacy/analysis/gdp_accountant.py"
SPEC = spec_from_file_location(
    "gdp", next(p for p in sys.path if "site-packages" in p) + "/" + FILE
)
GDP = module_from_spec(SPEC)
SPEC.loader.exec_module(GDP)


def epsilon(case):
    if case["family"] not in ("gaussian", "poisson_gaussian"):
        raise NotImplementedError(case["family"])
    q, sigma, delta = float(case.get("q", 1)), float(case["sigma"]), float(case["delta"])
    return GDP.compute_eps_poisson(case["T"] * q, sigma, 1, q, delta)
