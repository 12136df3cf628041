"""The letters of print: what entries of the book are about, and how their parameters are named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from dplearn.teaching.book import Formula, book
from dplearn.teaching.book.kit.domains import Choice, Domain, Log, Whole, by_name
from dplearn.teaching.book.kit.parser import parse

# What the value of an entry is; entries about laws, lists and events have no letter of their own.
_ABOUT = {
    "epsilon": "B2 B3b B6 B9 B12b C1 C2 C2b C4b C5 C9 D1 D2 D3 D3b D3c D10 E1 E10 F1b F2 F7 H1 I3"
    " I4 I4b N1 N2b S1b",
    "delta": "B1 B5 B15 B17b C1b C2d C2e C4 C8 D6 D8 E1b E1c J2 J3b L3b",
    "sigma": "B4 B5b B19 B19b F1 F4 F5",
    "rdp": "A4 A8 A9 B7 C7 D4 D4b D5 E4 E5 E5b E6 E8 E8b J2b J4 M1 M5b S1 S2",
    "log_moment": "E7 E8c M4 M4b",
    "rho": "C7b C8b C10 F10",
    "mu": "C6 C8c K2 K2b N1b",
    "steps": "C3 C3b D3d",
    "rate": "E3",
    "scale": "B11",
    "variance": "B13 B14b E12b I1 I1b I2 I5 J1",
    "p": "B12 I3b N5",
    "probability": "B3 B8 B14 D5b D8b L2 L2b M2 M3",
    "adv": "A10 A10b N3",
    "kl": "A12",
    "tradeoff": "D7 K1 K1b K3 K4",
    "sensitivity": "B11b B16 B18 B18b F4b F6b",
}
ABOUT = {f"G-{id}": quantity for quantity, ids in _ABOUT.items() for id in ids.split()}

# Entries about more than their letters tell: what resembles them is placed there only if one of
# these words stands in the sentence.
_ONLY_WITH = {
    "score|exponential|range|candidate": "B6 B7 B7b B8 B11",
    r"(?<!\\)\bmax|select|report": "B9 B10 B10b",
    "staircase": "B13",
    "propos|threshold": "B15",
    "mean": "B16",
    "smooth": "B17 B17b",
    "group|user|famil|relative|household": "C8 C8b C8c",
    "disjoint|parallel|part": "C9",
    "replacement|fixed|subset": "E2 E3 E3b E6 E12 E12b E12c K2b",
    "shuffl|local": "E10 E11",
    "group|layer|multiplier": "F4 F4b F8",
    "adaptive|quantile|bit": "F5",
    "batch|divid|mean|update|sum|lot": "F1 F6 F6b",
    "tree|prefix": "F10",
    r"sparse|above\W?threshold|thresholds?\b": "H1 H2 H2b H2c",
    "respon|local|report|survey|user|coin|true|truth": "A9 B12 B12b I1 I1b I2",
    "encod|OUE|RAPPOR|hash|bits": "I3 I3b I4 I4b I5",
    "discrete|integer|lattice|skellam": "B3 B3b J1 J2 J2b J3 J3b J4",
    "vote|teacher|label|winner|PATE|noisy max|[GL]NMax": "M1 M2 M3 M4 M4b M5 M5b",
    "audit|attack|guess|canar|alarm|FPR|test": "N1 N1b N2 N2b N2c N4 N4b N4c N4d N5",
    "selec|tun|best|run": "S1 S1b",
    "iterat|hidden": "S2",
    "somebody|publish|shame": "D5 D5b",
    "drift": "D9",
    "reaches|optimal": "C2e C4 C4b",
}
ONLY_WITH = {f"G-{id}": words for words, ids in _ONLY_WITH.items() for id in ids.split()}
# Entries whose letters mean something else without these words.
NEVER_WITHOUT = {"G-C9", "G-I3", "G-I3b"}
# Words beside which an entry or misprint is not meant, unless its form has this parameter.
NOT_WITH = {
    "G-B12": (r"unary|encod|rappor|fair coin|generali[sz]ed|\$?\bk\$?\W(?:\w+ )?(?:answers|values)"
              r"|=[3-9]\$? (?:answers|values)", "answers"),
    "G-B7": (r"(?s)\A(?!.*(?:exponential|range)).*\bpure\b|DP\W*Rightarrow", ""),
    "G-B11": (r"\bneed|necess", ""),
    "G-F5": (r"bits? (?:are |is )?in\W*0", ""),
    "G-F10": (r"\boften\b|several|more than once|epochs", ""),
    "G-B14": (r"gauss|normal|geometric|discrete|uniform|\brate\b|inverse", ""),
    "G-N3": (r"delta|δ", "delta"),
    "G-F6b/fixed": ("fixed|public|constant|expected", ""),
}  # fmt: skip
# The event whose probability an entry has, without blanks and brackets.
EVENTS = {
    "G-B3": r"\w=\w", "G-B8": r"u\w*(,\w+)*<=OPT-2Delta/epsilonl(n|og)\|?R\|?\+t",
    "G-B14": r"\|\w\|>=?((t|tau),?(b|lambda)?|(b|lambda),?t)", "G-D5b": r"(some|any).*published",
    "G-D8b": "L>=?2epsilon", "G-L2": "L<=l", "G-L2b": "L<=l",
}  # fmt: skip
# Words beside which a misprint that they speak of is meant, rather than the sum of releases.
INSTEAD = r"\bgroups?\b|famil|user|[GL]NMax"
SUMMED = r"compos|releas|runs?\b|quer|round|mechanisms|steps|times"
# The words for what does not equal the entry, and words beside which a misprint of an entry is as
# likely as another entry that is right.
UNEQUAL_WITH = dict.fromkeys(("G-B14", "G-B14b"), r"lap(?:lace)?\b|double exp")
MISPRINT_WITH = {"G-C2d": r"advanced|slack|(?:delta|δ)\s*['′]"}
# Words beside the scale b of some noise, and why nothing can be said then.
UNCLEAR_SCALE = {
    r"(?:Delta|Δ)\s*(?:_\{?2|₂)":
        "Expected the L1 sensitivity for noise of scale b, got the L2 sensitivity.",
    "smooth": "Expected the sensitivity for noise of scale b, got a smooth one.",
    r"\brate\b|inverse": "Expected the scale of the noise, got its inverse.",
    r"above\s*threshold|sparse|noisy\s*max|exponential noise":
        "Expected noise on one answer: one of several scales is no claim of its own.",
}  # fmt: skip

# Letters by which print names a parameter of the book, apart from its own name.
LETTERS: Mapping[str, frozenset[str]] = {
    name: frozenset((*letters.split(), name))
    for name, letters in {
        "epsilon": "epsilon eps", "epsilon_0": "epsilon_0 epsilon0 eps_0 eps0",
        "local_epsilon": "epsilon", "total": "epsilon", "rate": "epsilon",
        "delta": "delta", "slack": "delta beta", "paid": "delta",
        "order": "alpha a lambda", "orders": "alpha lambda a",
        "rdp": "epsilon epsilon_bar rho D tau gamma", "step_rdp": "epsilon epsilon_bar D tau",
        "moment": "lambda alpha l", "log_moment": "K", "rho": "rho xi", "other_rho": "rho xi",
        "mu": "mu", "mu_1": "mu", "mu_2": "mu", "noise_multiplier": "sigma z s",
        "noise_std": "sigma z", "sigma": "sigma z", "sample_rate": "q p r gamma",
        "steps": "T k n t K m N", "batches": "B T n", "records": "n N", "draws": "m k",
        "batch": "m B L b", "users": "n N", "group": "k m g", "dimension": "d D p",
        "max_grad_norm": "C S", "max_norm": "C S", "sensitivity": "Delta S", "distance": "Delta S",
        "scale": "b lambda beta", "expected_batch": "L B n", "groups": "M k m",
        "false_positive_rate": "alpha a x FPR", "false_negative_rate": "beta FNR",
        "answers": "k d m", "values": "k", "symbols": "d k", "threshold": "t tau", "kl": "KL",
        "positives": "c k", "threshold_scale": "b b_1", "query_scale": "b b_2", "variance": "mu",
        "inverse_scale": "gamma", "flip": "q", "bit_noise": "sigma_b sigma", "noise": "f",
        "hashes": "h", "honest": "h", "yes": "y", "truth": "p", "one": "p", "other": "q",
       "zero_rate": "p", "one_rate": "q", "leaves": "n T", "upper": "u", "count": "n",
        "share": "pi", "frequency": "f", "clients": "n", "trials": "n", "shape": "eta",
        "lipschitz": "L", "record": "t", "loss": "l", "ones": "k", "pairs": "m", "queries": "m",
        "correct": "v", "guesses": "r", "alike": "k", "mean_p": "mu_0 mu_1", "mean_q": "mu_1 mu_2",
        "std_p": "sigma_0 sigma_1", "std_q": "sigma_1 sigma_2", "ratio": "r",
    }.items()
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """An entry as print has it: its own parameters, and what its value is."""

    entry: Formula
    about: str
    own: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """An entry in the fewer letters of print: their domains, and the entry's parameters of them."""

    domain: Mapping[str, Domain]
    into: Callable[..., Mapping[str, Any]]
    # What the form's value is, if not the entry's, and made of it how.
    about: str = ""
    value: Callable[..., float] = lambda value, **letters: value


_Q, _NOISE, _DELTA, _LOSS = Log(1e-3, 1.0), Log(0.2, 5.0), Log(1e-9, 0.5), Log(0.05, 3.0)
_ORDER, _K = Log(1.05, 50.0), Whole(1, 6)


def _two_gaussians(rdp_1: float, rdp_2: float) -> dict[str, Any]:
    return {
        "order": 2.0, "cut": 0.0, "first": rdp_1, "second": rdp_2, "noise": rdp_1**-0.5,
        "below": rdp_2**-0.5, "above": rdp_2**-0.5,
    }  # fmt: skip


def _coin(epsilon: float) -> dict[str, Any]:
    p = np.array([1.0, np.exp(-epsilon)]) / (1 + np.exp(-epsilon))
    return {"p": p, "q": p[::-1], "delta": 0.0, "epsilon": epsilon}


_over_order = lambda value, order, **_: value / (order - 1)
FORMS: dict[str, list[Form]] = {
    "G-A4": [
        Form(
            {"order": _ORDER, "noise_multiplier": _NOISE, "sensitivity": Choice(1.0, 2.0, 3.5)},
            lambda order, noise_multiplier, sensitivity: {
                "order": order, "mean_p": 0.0, "mean_q": sensitivity,
                "std_p": noise_multiplier, "std_q": noise_multiplier,
            },
        ),
        Form({"noise_multiplier": _NOISE, "sensitivity": Choice(1.0, 2.0, 3.5)},
             lambda noise_multiplier, sensitivity: {
                 "order": 1.0, "mean_p": 0.0, "mean_q": sensitivity,
                 "std_p": noise_multiplier, "std_q": noise_multiplier}, about="kl"),
    ],
    "G-B1": [Form({"epsilon": Log(0.01, 3.0), "scale": _NOISE}, lambda epsilon, scale: {
        "epsilon": epsilon, "ratio": 1 / scale})],
    "G-B2": [Form({"sensitivity": _NOISE, "scale": _NOISE}, lambda sensitivity, scale: {
        "shift": np.array([sensitivity]), "scale": scale})],
    # Bounded range gives so much of every order: concentrated DP.
    "G-B7": [Form({"epsilon": _LOSS}, lambda epsilon: {"epsilon": epsilon, "order": 2.0},
        about="rho", value=lambda value, **_: value / 2)],
    "G-B12": [Form({"epsilon": _LOSS}, lambda epsilon: {"epsilon": epsilon, "answers": 2})],
    "G-B14b": [Form({"sensitivity": _NOISE, "epsilon": _LOSS}, lambda sensitivity, epsilon: {
        "scale": sensitivity / epsilon})],
    "G-C1": [Form({"steps": _K, "epsilon": _LOSS}, lambda steps, epsilon: {
        "epsilons": np.full(steps, epsilon)})],
    "G-C1b": [Form({"steps": _K, "delta": Log(1e-6, 0.1)}, lambda steps, delta: {
        "deltas": np.full(steps, delta), "epsilons": np.full(steps, 0.1), "steps": steps})],
    "G-C6": [Form({"noise_multiplier": _NOISE, "sensitivity": _NOISE},
        lambda noise_multiplier, sensitivity: {
        "mus": np.array([sensitivity / noise_multiplier])}), Form({"steps": _K, "mu": _LOSS},
        lambda steps, mu: {"mus": np.full(steps, mu)}),
        Form({"mu": _LOSS}, lambda mu: {"mus": np.array([mu])}, about="rho",
             value=lambda value, **_: value**2 / 2),
        Form({"steps": _K, "rho": _LOSS},
             lambda steps, rho: {"mus": np.full(steps, np.sqrt(2 * rho))}, about="rho",
             value=lambda value, **_: value**2 / 2), *(
        Form({f"rho_{k + 1}": _LOSS for k in range(size)},
             lambda **rhos: {"mus": np.sqrt(2 * np.array([*rhos.values()]))},
             about="rho", value=lambda value, **_: value**2 / 2) for size in (2, 3))],
    "G-B18b": [Form({"max_norm": _NOISE}, lambda max_norm: {
        "max_norm": max_norm, "dimension": 10, "adjacency": "replace_one"})],
    # At the best order both terms of the sum are alike, up to one rho.
    "G-D3c": [Form({"rho": _LOSS, "delta": _DELTA}, lambda **letters: letters,
        about="order", value=lambda value, rho, **_: (value / rho + 1) / 2)],
    "G-C7": [Form({"rdp_1": _LOSS, "rdp_2": _LOSS}, _two_gaussians),
        Form({"steps": Whole(2, 6), "step_rdp": _LOSS},
             lambda steps, step_rdp: _two_gaussians(step_rdp, (steps - 1) * step_rdp))],
    # So many releases, and each with Laplace noise.
    "G-C10": [
        Form({"steps": _K, "epsilon": _LOSS}, lambda steps, epsilon: {"epsilon": epsilon},
             value=lambda value, steps, **_: steps * value),
        Form({"steps": _K, "scale": _NOISE, "sensitivity": _NOISE},
             lambda steps, scale, sensitivity: {"epsilon": sensitivity / scale},
             value=lambda value, steps, **_: steps * value)],
    # Somebody is published with chance delta, and nobody is protected better by any epsilon.
    "G-E1b": [Form({"delta": _DELTA, "sample_rate": _Q}, lambda delta, sample_rate: {
        "p": np.array([delta, 1 - delta]), "q": np.array([0.0, 1.0]), "epsilon": 0.5,
        "sample_rate": sample_rate})],
    "G-E7": [Form({"order": Log(1.5, 9.0), "noise_multiplier": Log(1.2, 20.0),
                   "sample_rate": Choice(1e-5)}, lambda order, noise_multiplier, sample_rate: {
        "moment": order - 1, "noise_multiplier": noise_multiplier, "sample_rate": sample_rate},
        about="rdp", value=_over_order)],
    # Noise on the sum instead of the mean, and of batches whose size nobody speaks of.
    "G-F1": [
        Form({"noise_multiplier": _NOISE, "max_grad_norm": _NOISE, "expected_batch": Log(2.0, 1e4)},
             lambda noise_multiplier, max_grad_norm, expected_batch: {
                 "noise_multiplier": noise_multiplier, "max_grad_norm": max_grad_norm,
                 "expected_batch": expected_batch, "dimension": 10},
             value=lambda value, expected_batch, **_: value * expected_batch),
        Form({"noise_multiplier": _NOISE, "max_grad_norm": _NOISE},
             lambda noise_multiplier, max_grad_norm: {
                 "noise_multiplier": noise_multiplier, "max_grad_norm": max_grad_norm,
                 "expected_batch": 1.0, "dimension": 10}),
    ],
    # Of two answers the area under the curve is half of 1 and the advantage.
    "G-N3": [Form({"epsilon": _LOSS}, _coin),
        Form({"epsilon": _LOSS}, _coin, about="auc", value=lambda value, **_: (1 + value) / 2)],
    "G-F4b": [Form({"groups": _K, "max_norm": _NOISE}, lambda groups, max_norm: {
        "norms": np.full(groups, max_norm)})],
    "G-K2": [Form({"sample_rate": Log(1e-3, 0.1), "steps": Whole(10, 10**6),
        "noise_multiplier": _NOISE}, lambda sample_rate, steps, noise_multiplier: {
        "spread": sample_rate * np.sqrt(steps), "noise_multiplier": noise_multiplier,
        "steps": 10**6})],
}  # fmt: skip
# Parameters that are lists: with numbered letters in print.
LISTS = {"epsilons": "epsilon", "deltas": "delta", "mus": "mu", "norms": "max_norm",
         "noise_multipliers": "noise_multiplier"}  # fmt: skip


@cache
def places_of(id: str, numbered: int) -> tuple[Place, ...]:
    """The entry as it stands, and in the fewer letters of print."""
    entry, about = book[id], ABOUT[id]
    own = tuple(n for n in signature(entry.function).parameters if n in entry.parameters)
    lists = [n for n in own if n in LISTS]
    forms = list(FORMS.get(id, ()))
    if lists and numbered > 1:  # one about a list as one about so many numbered letters
        name = lists[0]
        letters = {f"{LISTS[name]}_{k + 1}": Log(0.05, 3.0) for k in range(numbered)}
        fixed = {n: np.zeros(numbered) for n in entry.domain if n in LISTS and n != name}
        rest = {n: d for n, d in entry.domain.items() if n != "steps" and n not in LISTS}

        def into(**at: Any) -> dict[str, Any]:
            return {name: np.array([at[n] for n in letters]), "steps": numbered, **fixed}

        forms.append(Form({**letters, **rest}, into))
    out = [] if lists else [Place(entry, about, own)]
    return (*out, *(_shaped(entry, form, about) for form in forms))


def _shaped(entry: Formula, form: Form, about: str) -> Place:

    def through(function: str | Callable[..., Any] | None) -> Callable[..., Any]:
        call = by_name(parse(function) if isinstance(function, str) else function)  # type: ignore[arg-type]

        def value(**letters: Any) -> Any:
            out = call({**letters, **form.into(**letters)})
            if not hasattr(out, "low"):
                return form.value(out, **letters)
            low, high = (form.value(end, **letters) for end in (out.low, out.high))
            return replace(out, low=low, high=high)

        return value

    lifted = [m for m in entry.misprints if m.claim is not None and not (m.domain or m.given)]
    entry = replace(
        entry,
        function=through(entry.function),
        oracle=through(entry.oracle),
        domain=form.domain,
        given="",
        along=None,
        printed=(),
        misprints=tuple(replace(m, claim=through(m.claim)) for m in lifted),
    )
    return Place(entry, form.about or about, tuple(form.domain))
