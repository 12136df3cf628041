"""jax-privacy 2.0.0: its DP-SGD accountant by PLD, its own grid."""

from jax_privacy.accounting import accountants, analysis

CONFIG = accountants.PldAccountantConfig()


def epsilon(case):
    if case["family"] != "poisson_gaussian":
        raise NotImplementedError(case["family"])
    examples, delta = 10**9, float(case["delta"])
    about = {"num_samples": examples, "batch_size": round(float(case["q"]) * examples)}
    run = analysis.DpParams(noise_multipliers=float(case["sigma"]), delta=delta, **about)
    return analysis.DpsgdTrainingAccountant(CONFIG).compute_epsilon(case["T"], run)
