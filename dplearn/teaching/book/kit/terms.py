"""Symbols, descriptions and kinds of the book's parameters, and LaTeX of expressions."""

import re
from collections.abc import Mapping

from dplearn.teaching.book.kit.expression import Expression
from dplearn.teaching.book.kit.parser import parse

KINDS = {
    "identity": "An identity: the value is the truth.",
    "upper": "An upper bound: the value is never below the truth.",
    "lower": "A lower bound: the value is never above the truth.",
    "asymptotic": "A limit: the error shrinks at every step towards it.",
}
QUANTITIES = {  # quantities that a formula may give, with their printed letters
    "epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ", "rdp": "D_α", "log_moment": "K(λ)",
    "sigma": "σ", "scale": "b", "variance": "Var", "probability": "Pr", "p": "p",
    "error": "the error", "kl": "KL", "adv": "Adv", "auc": "AUC", "tradeoff": "f",
    "sensitivity": "Δ", "steps": "k", "rate": "q", "order": "α",
}  # fmt: skip
# Stems of words that indicate several releases; `GROUP` has those for several people.
REPEATED = "compos releas fold round step quer 组合"
# Situations that several chapters describe: one Gaussian release, and k Gaussian releases.
ALONE = (
    "Gaussian noise of standard deviation σ on one answer of L2 sensitivity Δ",
    "对一个 L2 敏感度 Δ 的回答加标准差 σ 的高斯噪声",
)
TOGETHER = (
    "k releases, each with Gaussian noise of standard deviation σ on an answer of L2 sensitivity Δ",
    "k 次发布，每次对 L2 敏感度 Δ 的回答加标准差 σ 的高斯噪声",
)
GROUP = "group user famil household relative correlated 群 家庭"
MEANINGS = {  # symbol and meaning of a parameter, unless an entry gives its own
    "epsilon": (r"\varepsilon", "privacy loss bound, nats"),
    "delta": (r"\delta", "what a probability may grow by beyond the factor e^epsilon"),
    "beta": (r"\beta", "chance of a larger error"),
    "slack": (r"\delta'", "additive slack that composition adds"),
    "order": (r"\alpha", "order of the Rényi divergence"),
    "orders": (r"\alpha", "orders of the Rényi divergence"),
    "rdp": (r"\rho", "Rényi divergence at those orders, nats"),
    "rho": (r"\rho", "zCDP parameter"),
    "mu": (r"\mu", "distance of two unit normal laws"),
    "p": ("P", "probabilities of the outputs for one dataset"),
    "q": ("Q", "probabilities of the outputs for its neighbour"),
    "noise_multiplier": (r"\sigma", "noise standard deviation / largest norm of a contribution"),
    "noise_std": (r"\sigma", "standard deviation of the noise"),
    "sigma": (r"\sigma", "parameter of the noise"),
    "sample_rate": ("q", "chance of a record to be in one batch"),
    "steps": ("k", "number of releases"),
    "batches": ("B", "steps of an epoch"),
    "records": ("n", "number of records"),
    "batch": ("m", "records in a batch"),
    "users": ("n", "number of reports"),
    "group": ("k", "number of records that change"),
    "dimension": ("d", "number of coordinates"),
    "norms": ("C_m", "clipping norms of the groups, > 0"),
    "max_grad_norm": ("C", "clipping norm of one record's gradient"),
    "sensitivity": (r"\Delta", "largest change by one record"),
    "scale": ("b", "scale of the Laplace noise"),
    "rate": (r"\varepsilon", "nats per unit"),
    "distance": (r"\Delta", "distance of neighbouring sums, in clipping norms"),
    "false_positive_rate": (r"\alpha", "chance of a false alarm"),
    "false_negative_rate": (r"\beta", "chance to overlook the record"),
    "votes": ("n_j", "votes for each class, the largest first"),
    "moment": (r"\lambda", "order of the log moment, one less than that of the divergence"),
    "threshold_scale": ("b_1", "scale of the noise on the threshold"),
    "query_scale": ("b_2", "scale of the noise on each answer"),
    "positives": ("c", "answers above the threshold that are paid for"),
    "queries": ("m", "number of queries"),
    "adjacency": ("", "what neighbours are"),
    "other_rho": (r"\rho_2", "zCDP parameter of the second release"),
    "other_order": (r"\hat\lambda", "order of the second divergence"),
    "other_epsilon": (r"\varepsilon(\hat\lambda)", "Rényi divergence at that order, nats"),
    "r": ("R", "probabilities of the outputs for a third dataset"),
    "mean_p": (r"\mu_0", "mean of P"),
    "std_p": (r"\sigma_0", "standard deviation of P"),
    "mean_q": (r"\mu_1", "mean of Q"),
    "std_q": (r"\sigma_1", "standard deviation of Q"),
    "monotone": ("", "whether all scores or answers move in the same direction"),
    "kl": ("", "KL divergence >= 0, nats"),
    "noise": ("f", "chance to replace a bit of the Bloom filter by a fair coin"),
    "hashes": ("h", "bits that a value sets"),
    "width": ("h", "width of the lattice, > 0, nats"),
    "scores": ("u", "scores of the candidates, that of candidate i first"),
    "shape": (r"\eta", "shape > -1 of the law of K; 1 is the geometric law, 0 the logarithmic one"),
    "stop": (r"\gamma", "parameter of the law of K, in (0, 1); the smaller the more runs"),
    "paid": (r"\delta_0", "additive slack of one release, in [0, 1)"),
    "t": ("t", "how far below the best the choice may fall, on a scale of nats"),
    "lower": ("l", "smallest value of a record"),
    "upper": ("u", "largest value of a record"),
    "deltas": (r"\delta(\varepsilon)", "the profile at the epsilons that are drawn"),
    "draws": ("m", "records drawn for a batch, each from all of them"),
    "frequency": ("f", "share of the users who hold the value"),
    "loss": ("l", "value of the privacy loss, nats"),
    "rdp_1": (r"\varepsilon_1", "Rényi divergence at the first order, nats"),
    "rdp_2": (r"\varepsilon_2", "Rényi divergence at the second order, nats"),
    "trials": ("n", "number of tests"),
    "canaries": ("m", "records put in or left out, each by a coin of its own"),
    "guesses": ("r", "canaries on which the attacker ventured a guess"),
    "flip": ("q", "at least the probability that another class wins"),
    "inverse_scale": (r"\gamma", "noise of density gamma e^(-gamma |x|) / 2 is on every count"),
    "confidence": (r"(1 - \alpha)", "of the two-sided interval of each error rate"),
    "other_p": ("P'", "probabilities of the outputs of the second pair, for one dataset"),
    "other_q": ("Q'", "probabilities of the outputs of the second pair, for its neighbour"),
    "correct": ("v", "guesses that are right"),
    "significance": (r"\beta", "chance of a false proof"),
    "clients": ("n", "number of clients, each with noise of its own"),
    "mu_1": (r"\mu_1", "distance of the first release in standard deviations"),
    "mu_2": (r"\mu_2", "that of the second"),
}
LETTERS: Mapping[str, frozenset[str]] = {  # printed letters of each parameter, and its name
    name: frozenset((*letters.split(), name))
    for name, letters in {
        "epsilon": "epsilon eps", "local_epsilon": "epsilon", "rate": "epsilon",
        "delta": "delta beta", "slack": "delta beta", "paid": "delta", "beta": "beta alpha delta",
        "order": "alpha a lambda l tau", "orders": "alpha lambda a l tau",
        "rdp": "epsilon rho D tau gamma R", "moment": "lambda alpha l", "log_moment": "K alpha",
        "rho": "rho xi", "mu": "mu", "mu_1": "mu", "mu_2": "mu", "noise_multiplier": "sigma z s",
        "noise_std": "sigma z", "sigma": "sigma z", "sample_rate": "q p r gamma",
        "steps": "T k n t K m M N J R r c d", "records": "n N", "draws": "m k n",
        "batch": "m B L b k", "users": "n N", "group": "k m g K c", "dimension": "d D p k",
        "max_grad_norm": "C S", "max_norm": "C S C_m", "sensitivity": "Delta S C s d tau L_1",
        "scale": "b lambda s beta", "expected_batch": "L B n b m", "groups": "M k m",
        "threshold": "t tau x a l alpha beta", "false_positive_rate": "alpha a x FPR",
        "false_negative_rate": "beta FNR", "answers": "k d m n", "values": "k", "symbols": "d k",
        "kl": "KL D", "inverse_scale": "gamma", "flip": "q", "bit_noise": "sigma_b sigma",
        "noise": "f", "hashes": "h", "honest": "h", "yes": "y", "truth": "p", "one": "p",
        "other": "q", "zero_rate": "p", "one_rate": "q", "leaves": "n T", "upper": "u M b",
        "lower": "l m a", "count": "n N", "share": "pi", "frequency": "f", "trials": "n",
        "shape": "eta", "lipschitz": "L", "record": "t", "loss": "l", "queries": "m k",
        "mean_p": "mu_0 mu_1", "mean_q": "mu_1 mu_2", "std_p": "sigma_0 sigma_1",
        "std_q": "sigma_1 sigma_2", "t": "t", "stretch": "c",
    }.items()
}  # fmt: skip
# Parameters that hold lists, each mapped to the parameter for one item.
LISTS = {f"{x}s": x for x in ("epsilon", "delta", "mu", "rho", "rdp", "noise_multiplier")}
# Quantity that each parameter holds, as a key of `QUANTITIES`.
KIND_OF = {"local_epsilon": "epsilon", "slack": "delta", "paid": "delta", "sample_rate": "rate"}
KIND_OF |= {"truth": "p", "one": "p", "noise_multiplier": "sigma", "noise_std": "sigma"}
KIND_OF |= {"max_norm": "sensitivity", "max_grad_norm": "sensitivity"}
KIND_OF |= {name: name for name in ("epsilon", "delta", "rho", "mu", "rdp", "sigma", "scale")}
KIND_OF |= {name: name for name in ("steps", "log_moment", "sensitivity")}
LENGTHS = ("noise_multiplier", "noise_std", "scale", "sigma")  # given in units of the sensitivity
# Printed letters for the value of an entry, in formulas solved for one of its parameters.
VALUES = {"sigma": LETTERS["noise_multiplier"], "rate": LETTERS["sample_rate"]}
VALUES["sensitivity"] = LETTERS["sensitivity"]
VALUES |= {x: LETTERS[x] for x in ("rdp", "scale", "steps", "rho", "log_moment", "delta")}
_RELATION = re.compile(r"=|\\le|\\ge|\\approx|\\lesssim")


def typeset(formula: str | Expression) -> str:
    """Return the LaTeX of an expression, with the symbols of its parameters."""
    formula = parse(formula) if isinstance(formula, str) else formula
    symbol = lambda name: MEANINGS.get(name[1].replace(r"\_", "_"), (name[0],))[0]
    return re.sub(r"\\mathrm\{([^{}]+)\}", symbol, formula.latex)


def same_left_side(statement: str, claim: str | Expression) -> str:
    """Return the wrong `claim` in LaTeX after the left side of the correct `statement`."""
    heads = ((m, statement[: m.start()]) for m in _RELATION.finditer(statement))
    relation = next((m for m, head in heads if head.count("{") == head.count("}")), None)
    left = statement[: relation.end()] + " " if relation and "\\min" not in statement else ""
    return left + typeset(claim)
