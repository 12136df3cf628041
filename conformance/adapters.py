"""How `run.py` asks other accountants: a function of a case for each, some with a word in front."""

import math
import runpy
from importlib.util import find_spec
from pathlib import Path


def read(case, *families):
    """Size of the noise, rate, T and delta of a case of these families; others are refused."""
    if case["family"] not in families:
        raise NotImplementedError(case["family"])
    size = case.get("sigma") or case.get("b") or case["epsilon0"]
    return float(size), float(case.get("q", 1)), case["T"], float(case["delta"])


def opacus(name, case):
    """opacus 1.6.0: its accountants `rdp`, `prv` and `gdp`."""
    from opacus.accountants import create_accountant

    *run, delta = read(case, "gaussian", "poisson_gaussian")
    accountant = create_accountant(name)
    accountant.history = [tuple(run)]
    return accountant.get_epsilon(delta=delta)


def dp_accounting(name, case):
    """dp-accounting 0.6.0: its accountants `rdp` and `pld`, with their default orders and grid."""
    import dp_accounting as dp

    kinds = {
        "gaussian": dp.GaussianDpEvent,
        "laplace": dp.LaplaceDpEvent,
        "discrete_laplace": lambda b: dp.dp_event.DiscreteLaplaceDpEvent(1 / b, 1),
        "randomized_response": lambda e: dp.RandomizedResponseDpEvent(2 / (1 + math.exp(e)), 2),
    }
    sampled = "poisson_gaussian", "poisson_laplace", "without_replacement_replace_one"
    size, q, steps, delta = read(case, *kinds, "gaussian_replace_one", *sampled)
    family = case["family"].removeprefix("poisson_")
    event = kinds["gaussian" if family.endswith("replace_one") else family](size)
    if case["family"] == sampled[2]:
        event = dp.SampledWithoutReplacementDpEvent(10**9, round(q * 10**9), event)
    elif "q" in case:
        event = dp.PoissonSampledDpEvent(q, event)
    relation = (
        "REPLACE_ONE"
        if family.endswith("replace_one") or "epsilon0" in case
        else "ADD_OR_REMOVE_ONE"
    )
    replaced = dp.NeighboringRelation[relation]
    accountants = {"rdp": dp.rdp.RdpAccountant, "pld": dp.pld.PLDAccountant}
    accountant = accountants[name](neighboring_relation=replaced)
    if not accountant.supports(event):
        raise NotImplementedError(case["family"])
    return accountant.compose(event, steps).get_epsilon(delta)


def prv_accountant(case):
    """prv-accountant 0.2.0: the upper end, with an error of 0.1 in epsilon."""
    import prv_accountant as prv
    from prv_accountant import privacy_random_variables as laws

    kinds = {
        "gaussian": lambda sigma, q: laws.GaussianMechanism(sigma),
        "poisson_gaussian": lambda sigma, q: laws.PoissonSubsampledGaussianMechanism(q, sigma),
        "laplace": lambda b, q: laws.LaplaceMechanism(1 / b),
        "randomized_response": lambda epsilon0, q: laws.PureDPMechanism(epsilon0),
    }
    size, q, steps, delta = read(case, *kinds)
    accountant = prv.PRVAccountant(kinds[case["family"]](size, q), 0.1, delta / 1000, steps)
    return accountant.compute_epsilon(delta, [steps])[2]


def autodp(name, case):
    """autodp 0.2.3.1: Rényi divergences, `rdp`, and its analytical Fourier accountant, `afa`."""
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo as compose

    off = {"RDP_off": True, "phi_off": False} if name == "afa" else {}
    kinds = {
        "gaussian": lambda sigma: zoo.GaussianMechanism(sigma, approxDP_off=True, **off),
        "laplace": lambda b: zoo.LaplaceMechanism(b, **off),
        "randomized_response": lambda e: zoo.RandresponseMechanism(1 / (1 + math.exp(-e)), **off),
        "discrete_gaussian": zoo.DiscreteGaussianMechanism,
    }
    covered = [*kinds, "poisson_gaussian", "poisson_laplace"] if name == "rdp" else [*kinds][:3]
    size, q, steps, delta = read(case, *covered)
    one = kinds[case["family"].replace("poisson_", "")](size)
    if "q" in case:
        one = compose.AmplificationBySampling()(one, q, improved_bound_flag=True)
    many = compose.ComposeAFA() if name == "afa" else compose.Composition()
    return many([one], [steps]).get_approxDP(delta)


def jax_privacy(case):
    """jax-privacy 2.0.0: its DP-SGD accountant, by the PLD of dp-accounting."""
    from jax_privacy.accounting import accountants, analysis

    sigma, q, steps, delta = read(case, "poisson_gaussian", "without_replacement_replace_one")
    method = "POISSON" if case["family"] == "poisson_gaussian" else "FIXED_BATCH_SIZE"
    about = {"num_samples": 10**9, "batch_size": round(q * 10**9)}
    about["sampling_method"] = analysis.SamplingMethod[method]
    run = analysis.DpParams(noise_multipliers=sigma, delta=delta, **about)
    accountant = analysis.DpsgdTrainingAccountant(accountants.PldAccountantConfig())
    return accountant.compute_epsilon(steps, run)


def tf_privacy(case):
    """tensorflow-privacy 0.9.0: its Gaussian DP formula; the file alone, without TensorFlow."""
    folder = Path(find_spec("tensorflow_privacy").origin).parent
    formula = runpy.run_path(str(folder / "privacy/analysis/gdp_accountant.py"))
    sigma, q, steps, delta = read(case, "gaussian", "poisson_gaussian")
    return formula["compute_eps_poisson"](steps * q, sigma, 1, q, delta)


def diffprivlib(case):
    """diffprivlib 0.6.6 with scikit-learn 1.6: its BudgetAccountant, delta as slack."""
    from diffprivlib.accountant import BudgetAccountant

    size, _, steps, delta = read(case, "laplace", "discrete_laplace", "randomized_response")
    each = size if "epsilon0" in case else 1 / size
    return BudgetAccountant(spent_budget=[(each, 0)] * steps).total(slack=delta)[0]


def opendp(case):
    """opendp 0.16.0: zCDP to (epsilon, delta) of its Gaussian."""
    import opendp.prelude as dp

    sigma, _, steps, delta = read(case, "gaussian")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    noise = dp.m.make_gaussian(*space, scale=sigma / math.sqrt(steps))
    return dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(delta)
