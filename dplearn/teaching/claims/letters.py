"""The letters by which print names a parameter of the book, and what a letter is a kind of."""

import re
from collections.abc import Mapping

# Apart from its own name.
LETTERS: Mapping[str, frozenset[str]] = {
    name: frozenset((*letters.split(), name))
    for name, letters in {
        "epsilon": "epsilon eps", "epsilon_0": "epsilon_0 epsilon0 eps_0 eps0",
        "local_epsilon": "epsilon", "total": "epsilon", "rate": "epsilon",
        "delta": "delta beta", "slack": "delta beta", "paid": "delta", "beta": "beta alpha delta",
        "order": "alpha a lambda l tau", "orders": "alpha lambda a l tau",
        "rdp": "epsilon rho D tau gamma R", "moment": "lambda alpha l", "log_moment": "K alpha",
        "rho": "rho xi", "mu": "mu", "mu_1": "mu", "mu_2": "mu", "noise_multiplier": "sigma z s",
        "noise_std": "sigma z", "sigma": "sigma z", "sample_rate": "q p r gamma",
        "steps": "T k n t K m M N J R r c d", "batches": "B T n", "records": "n N",
        "draws": "m k n", "batch": "m B L b k", "users": "n N", "group": "k m g K",
        "dimension": "d D p k", "max_grad_norm": "C S", "max_norm": "C S C_m",
        "sensitivity": "Delta S C s d tau L_1", "distance": "Delta S", "scale": "b lambda s beta",
        "expected_batch": "L B n b m", "groups": "M k m", "threshold": "t tau x a l alpha beta",
        "false_positive_rate": "alpha a x FPR", "false_negative_rate": "beta FNR",
        "true_positive_rate": "TPR", "answers": "k d m n", "values": "k", "symbols": "d k",
        "kl": "KL D", "positives": "c k", "threshold_scale": "b b_1", "query_scale": "b b_2",
        "variance": "mu", "inverse_scale": "gamma", "flip": "q", "bit_noise": "sigma_b sigma",
        "noise": "f", "hashes": "h", "honest": "h", "yes": "y", "truth": "p", "one": "p",
        "other": "q", "zero_rate": "p", "one_rate": "q", "leaves": "n T", "upper": "u M b",
        "lower": "l m a", "count": "n N", "share": "pi", "frequency": "f", "clients": "n",
        "trials": "n", "shape": "eta", "lipschitz": "L", "record": "t", "loss": "l", "ones": "k",
        "queries": "m k", "mean_p": "mu_0 mu_1", "mean_q": "mu_1 mu_2",
        "std_p": "sigma_0 sigma_1", "std_q": "sigma_1 sigma_2", "t": "t", "stretch": "c",
    }.items()
}  # fmt: skip
# Parameters that are lists, and what each of their numbers is.
LISTS = {
    "epsilons": "epsilon", "deltas": "delta", "mus": "mu", "rhos": "rho", "rdps": "rdp",
    "norms": "max_norm", "noise_multipliers": "noise_multiplier",
}  # fmt: skip
# What is known by the letter of a quantity: a column of this name is one.
KINDS = {
    "epsilon": "epsilon total local_epsilon", "delta": "delta slack paid", "rho": "rho", "mu": "mu",
    "rdp": "rdp", "sigma": "noise_multiplier noise_std sigma", "scale": "scale threshold_scale query_scale",
    "steps": "steps",
    "rate": "sample_rate", "order": "order orders", "p": "truth one", "log_moment": "log_moment",
    "sensitivity": "sensitivity distance max_norm max_grad_norm",
}  # fmt: skip
KIND_OF = {column: kind for kind, columns in KINDS.items() for column in columns.split()}
# The columns that are lengths, which a sensitivity other than 1 multiplies.
LENGTHS = ("noise_multiplier", "noise_std", "scale", "sigma")
# The letters of a value, where it stands on the right and one of its parameters on the left.
VALUES = {
    "rdp": LETTERS["rdp"], "sigma": LETTERS["noise_multiplier"], "scale": LETTERS["scale"],
    "steps": LETTERS["steps"], "rate": LETTERS["sample_rate"], "rho": LETTERS["rho"],
    "log_moment": LETTERS["log_moment"], "delta": LETTERS["delta"], "p": frozenset("p"),
    "sensitivity": LETTERS["sensitivity"],
}  # fmt: skip


def base(name: str) -> str:
    """Return the letter without what decorates it."""
    return name.partition("_")[0]


def below(name: str) -> str:
    """Return what decorates the letter."""
    return name.partition("_")[2]


def fits(name: str, column: str, about: str = "") -> bool:
    """Return whether a printed letter may stand for a column, or for a value that is `about`."""
    marks = set(below(name).split("_"))
    is_rdp = about == "rdp" if about else column in ("rdp", "rdps")
    if marks & {"alpha", "RDP", "rdp"}:
        return is_rdp and base(name) in LETTERS["rdp"]
    letters = VALUES.get(about, frozenset({about})) if about else LETTERS.get(column, {column})
    one = LISTS.get(column, column)
    letters = LETTERS.get(one, letters) if column in LISTS else letters
    numbered = re.sub(r"_(prime|hat|tilde|bar)", "", name)
    return base(name) in letters or numbered in letters
