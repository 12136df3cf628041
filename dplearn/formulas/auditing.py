"""Auditing: what attacks prove about epsilon, and what epsilon allows attackers to do."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, ndtr, ndtri

from dplearn.formulas import _oracles as oracles
from dplearn.formulas import _oracles_auditing as truth
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import (
    Choice,
    Derived,
    Distribution,
    Given,
    Linear,
    Log,
    Parameters,
    Whole,
)
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_KOV = "Kairouz, Oh & Viswanath"
_SNJ = "Steinke, Nasr & Jagielski"

# One test


def _random_event(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.random(len(drawn["p"])) < 0.5


def _rate(name: str, inside: bool) -> Derived:
    """Probability of the event, or of its complement, under one of the laws."""

    def make(drawn: Parameters) -> float:
        rate = math.fsum(drawn[name][drawn["event"] == inside])
        return rate if rate < 1 - 1e-12 else 1.0  # probabilities add up to 1 - 1e-16

    return Derived(make)


def _one_ratio(*, false_positive_rate: float, false_negative_rate: float, delta: float) -> float:
    room = 1 - delta - false_negative_rate
    return max(math.log(room / false_positive_rate), 0.0) if room > 0 else 0.0


_RATES = {"false_positive_rate": Log(1e-4, 0.5), "false_negative_rate": Log(1e-4, 0.5)}


@formula(
    "G-N1",
    title="What one test proves about epsilon",
    kind="lower",
    statement=r"""\varepsilon \ge \max\Big\{\ln\frac{1-\delta-\mathrm{FPR}}{\mathrm{FNR}},
        \ln\frac{1-\delta-\mathrm{FNR}}{\mathrm{FPR}}, 0\Big\}""",
    requires="0 <= delta and delta < 1",
    reference=Reference(_KOV, 2015, "Theorem 2.1"),
    domain={
        "p": Distribution(4),
        "q": Distribution(4),
        "event": Given(_random_event),
        "false_positive_rate": _rate("p", True),
        "false_negative_rate": _rate("q", False),
        "delta": Log(1e-6, 0.3, also=(0.0,)),
    },
    oracle=oracles.worst_event_epsilon_at,
    examples=[
        ({"false_positive_rate": 0.01, "false_negative_rate": 0.6, "delta": 1e-5}, "3.688854453"),
    ],
    misprints=[
        Misprint(
            "one-ratio",
            r"\ln\frac{1-\delta-\mathrm{FNR}}{\mathrm{FPR}} \text{ is all that a test proves}",
            claim=_one_ratio,
            kind="identity",
            domain={**dict.fromkeys(("p", "q", "event")), **_RATES},
            oracle=truth.epsilon_of_a_test,
            source="audits that look at true positives only",
            note="Valid, but an attack that rarely misses is told by the other ratio.",
        ),
        Misprint(
            "no-delta",
            r"\varepsilon \ge \ln\frac{1-\mathrm{FPR}}{\mathrm{FNR}} \text{ at } \delta > 0",
            claim=lambda false_positive_rate, false_negative_rate: (
                math.log((1 - false_positive_rate) / false_negative_rate)
                if false_negative_rate > 0
                else math.inf
            ),
            requires="0 < delta and delta < 1 and false_positive_rate < 1",
            source="audits of approximate DP by the formula of pure DP",
            note="Accuses wrongly: some of the success is allowed by delta.",
        ),
    ],
    unsafe=None,
)
def audit_epsilon(
    *, false_positive_rate: float, false_negative_rate: float, delta: float = 0.0
) -> float:
    """The epsilon that a test with known error rates proves at delta.

    Parameters
    ----------
    false_positive_rate, false_negative_rate : float
        In [0, 1]; for an estimate put in upper confidence limits.
    delta : float
        In [0, 1).

    Returns
    -------
    float
        Lower bound on epsilon, nats; inf where it is shown that none does.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 2.1; Jagielski, Ullman & Oprea (2020).

    Examples
    --------
    >>> round(audit_epsilon(false_positive_rate=0.01, false_negative_rate=0.6, delta=1e-5), 6)
    3.688854
    """
    found = 0.0
    a, b = false_positive_rate, false_negative_rate
    for first, second in ((a, b), (b, a)):
        room = 1 - delta - first
        if room > 0:
            found = max(found, math.log(room / second) if second > 0 else math.inf)
    return found


def _gaussian_test(flip: bool) -> Derived:
    """Error rates of a test that rejects where x lies in [start, start + length]."""

    def make(drawn: Parameters) -> float:
        ends = drawn["start"], drawn["start"] + drawn["length"]
        low, high = (x - drawn["mu"] * flip for x in ends)
        if flip:
            return float(ndtr(low) + ndtr(-high))
        return float(ndtr(-low) - ndtr(-high))

    return Derived(make)


def _gaussian_fit(*, epsilon: float, false_positive_rate: float, delta: float) -> float:
    """epsilon at delta of the Gaussian with this operating point of randomized response."""
    a = false_positive_rate
    miss = max(1 - math.exp(epsilon) * a, math.exp(-epsilon) * (1 - a))
    mu = audit_mu(false_positive_rate=a, false_negative_rate=miss)
    return oracles.gaussian_epsilon(delta=delta, mu=mu)


@formula(
    "G-N1b",
    title="What one test proves about mu",
    kind="lower",
    statement=r"\mu \ge \Phi^{-1}(1-\mathrm{FPR}) - \Phi^{-1}(\mathrm{FNR})",
    requires="""0 < false_positive_rate and false_positive_rate < 1
        and 0 < false_negative_rate and false_negative_rate < 1""",
    reference=Reference("Nasr, Hayes, Steinke, Balle, Tramèr et al.", 2023, "Section 4"),
    domain={
        "mu": Log(0.1, 5.0),
        "start": Linear(-3.0, 5.0),
        "length": Log(0.1, 100.0, also=(math.inf,)),
        "false_positive_rate": _gaussian_test(False),
        "false_negative_rate": _gaussian_test(True),
    },
    oracle=lambda mu: mu,
    examples=[({"false_positive_rate": 0.01, "false_negative_rate": 0.6}, "2.0730007")],
    misprints=[
        Misprint(
            "for-every-mechanism",
            r"""\varepsilon \ge \varepsilon(\delta) \text{ of } N(\mu,1) \text{ at that } \mu,
                \text{ whatever the mechanism}""",
            claim=_gaussian_fit,
            requires="epsilon > 0",
            domain={
                **dict.fromkeys(("mu", "start", "length", "false_negative_rate")),
                "false_positive_rate": Log(1e-3, 0.4),
                "epsilon": Log(0.1, 4.0),
                "delta": Log(1e-8, 1e-2),
            },
            oracle=lambda epsilon: epsilon,
            source="audits that fit a Gaussian curve through one point",
            note="Only a Gaussian mechanism has that curve; pure DP stays below its own epsilon.",
        ),
    ],
    unsafe=None,
)
def audit_mu(*, false_positive_rate: float, false_negative_rate: float) -> float:
    """The mu that a test with known error rates proves.

    Parameters
    ----------
    false_positive_rate, false_negative_rate : float
        In (0, 1); for an estimate put in upper confidence limits.

    Returns
    -------
    float
        Lower bound on mu of a mu-GDP mechanism. It says something about epsilon at another
        point of the curve only where the mechanism is known to be Gaussian.

    References
    ----------
    Nasr et al. (2023), Section 4.

    Examples
    --------
    >>> round(audit_mu(false_positive_rate=0.01, false_negative_rate=0.6), 6)
    2.073001
    """
    validate.probability(
        false_positive_rate=false_positive_rate, false_negative_rate=false_negative_rate
    )
    return float(-ndtri(false_positive_rate) - ndtri(false_negative_rate))


# Confidence


def _normal_limit(*, errors: int, trials: int, confidence: float) -> float:
    rate = errors / trials
    return rate + float(ndtri((1 + confidence) / 2)) * math.sqrt(rate * (1 - rate) / trials)


_CONFIDENCE = Choice(0.8, 0.9, 0.95, 0.99, 0.999)
_COUNTS = {
    "trials": Whole(1, 2000),
    "errors": Given(lambda rng, drawn: int(drawn["trials"] * rng.random() ** 3)),
    "confidence": _CONFIDENCE,
}


@formula(
    "G-N2",
    title="Upper confidence limit of an error rate",
    kind="identity",
    statement=r"""\hat r = B^{-1}_{k+1,\,n-k}\big(1-\tfrac\alpha2\big),\quad
        P(\mathrm{Bin}(n, \hat r) \le k) = \tfrac\alpha2""",
    requires="0 <= errors and errors < trials and 0 < confidence and confidence < 1",
    reference=Reference("Clopper & Pearson", 1934, "the whole paper"),
    domain=_COUNTS,
    oracle=truth.largest_likely_rate,
    examples=[({"errors": 0, "trials": 1000, "confidence": 0.95}, "0.003682084", "0.003682084")],
    misprints=[
        Misprint(
            "normal",
            r"\hat r = \frac kn + z_{1-\alpha/2}\sqrt{\frac kn\Big(1-\frac kn\Big)\Big/n}",
            claim=_normal_limit,
            source="introductions to statistics",
            note="No error at all would mean a rate of 0, and an infinite epsilon.",
        ),
    ],
    unsafe=None,
    tolerance=1e-8,
)  # fmt: skip
def clopper_pearson_upper(*, errors: int, trials: int, confidence: float = 0.95) -> float:
    """Upper end of the two-sided confidence interval of a rate.

    Parameters
    ----------
    errors, trials : int
        Counts, 0 <= errors <= trials.
    confidence : float
        In (0, 1); (1 - confidence) / 2 is the chance that the rate lies above.

    Returns
    -------
    float
        Exact limit; 1 where all trials failed.

    References
    ----------
    Clopper & Pearson (1934).

    Examples
    --------
    >>> round(clopper_pearson_upper(errors=0, trials=1000), 9)
    0.003682084
    """
    validate.integer(minimum=1, trials=trials)
    validate.integer(minimum=0, maximum=trials, errors=errors)
    validate.probability(confidence=confidence)
    if errors == trials:
        return 1.0
    return float(betaincinv(errors + 1, trials - errors, (1 + confidence) / 2))


@formula(
    "G-N2b",
    title="The largest epsilon that n trials can certify",
    kind="identity",
    statement=r"""\varepsilon_{\max} = \ln\frac{1-\delta-\hat r_0}{\hat r_0},\quad
        \hat r_0 = 1 - (\alpha/2)^{1/n}""",
    requires="trials >= 1 and 0 < confidence and confidence < 1 and 0 <= delta and delta < 0.5",
    reference=Reference("Jagielski, Ullman & Oprea", 2020, "Section 4"),
    domain={
        "trials": Whole(1, 100_000),
        "confidence": _CONFIDENCE,
        "delta": Log(1e-8, 0.1, also=(0.0,)),
    },
    oracle=truth.best_of_all_outcomes,
    examples=[({"trials": 1000, "confidence": 0.95, "delta": 1e-5}, "5.600577", "5.600577")],
    misprints=[
        Misprint(
            "no-ceiling",
            r"\text{an attack that never errs proves } \varepsilon = \infty",
            claim=lambda: math.inf,
            source="reports of attacks with no false positives",
            note="Some false positives may have been missed: n trials show about ln n at most.",
        ),
    ],
    unsafe=None,
    tolerance=1e-8,
)
def largest_certifiable_epsilon(
    *, trials: int, confidence: float = 0.95, delta: float = 0.0
) -> float:
    """The epsilon certified by `trials` runs of each kind without any error.

    Parameters
    ----------
    trials : int
        Runs with the record, and as many without, >= 1.
    confidence : float
        Of the two-sided interval of each rate, in (0, 1).
    delta : float
        In [0, 1).

    Returns
    -------
    float
        No audit of this kind can report more, nats.

    References
    ----------
    Jagielski, Ullman & Oprea (2020), Section 4.

    Examples
    --------
    >>> round(largest_certifiable_epsilon(trials=1000, delta=1e-5), 6)
    5.600577
    """
    validate.integer(minimum=1, trials=trials)
    validate.probability(confidence=confidence)
    limit = -math.expm1(math.log((1 - confidence) / 2) / trials)
    room = 1 - delta - limit
    return max(math.log(room / limit), 0.0) if room > 0 else 0.0


@formula(
    "G-N2c",
    title="How rarely an audit accuses wrongly",
    kind="upper",
    statement=r"P(\hat\varepsilon > \varepsilon) \le \alpha",
    requires="positive + negative < 1",
    reference=Reference("Jagielski, Ullman & Oprea", 2020, "Section 4"),
    domain={
        "trials": Whole(5, 200),
        "positive": Log(0.001, 0.5),
        "negative": Log(0.001, 0.9),
        "confidence": _CONFIDENCE,
    },
    oracle=truth.chance_of_accusing,
    examples=[
        ({"confidence": 0.95, "trials": 20, "positive": 0.1, "negative": 0.3}, "0.05"),
    ],
    misprints=[
        Misprint(
            "point-estimates",
            r"""P(\hat\varepsilon > \varepsilon) \le \alpha \text{ for }
                \hat\varepsilon \text{ from the observed rates}""",
            oracle=lambda trials, positive, negative, confidence: truth.chance_of_accusing(
                trials=trials,
                positive=positive,
                negative=negative,
                confidence=confidence,
                estimated=True,
            ),
            source="attack papers that report an empirical epsilon",
            note="An estimate is above the truth about every other time.",
        ),
    ],
    unsafe=None,
    points=50,
)
def audit_error(*, confidence: float) -> float:
    """Chance that upper confidence limits in place of both error rates prove a false epsilon.

    Parameters
    ----------
    confidence : float
        Of the two-sided interval of each rate, in (0, 1).

    Returns
    -------
    float
        Upper bound: each limit fails with half of it.

    References
    ----------
    Jagielski, Ullman & Oprea (2020), Section 4.

    Examples
    --------
    >>> round(audit_error(confidence=0.95), 12)
    0.05
    """
    validate.probability(confidence=confidence)
    return 1 - confidence


# What a guarantee allows


def _smallest_epsilon(drawn: Parameters) -> float:
    return oracles.worst_event_epsilon_at(**{name: drawn[name] for name in ("p", "q", "delta")})


@formula(
    "G-N3",
    title="Advantage of guessing who is a member",
    kind="upper",
    statement=r"\mathrm{Adv} = \mathrm{TPR} - \mathrm{FPR} \le"
    r" \frac{e^\varepsilon - 1 + 2\delta}{e^\varepsilon + 1}",
    requires="epsilon >= 0 and delta >= 0",
    reference=Reference("Humphries et al.", 2020, "Theorem 3.3"),
    domain={
        "p": Distribution(4),
        "q": Distribution(4),
        "delta": Log(1e-6, 0.5, also=(0.0,)),
        "epsilon": Derived(_smallest_epsilon),
    },
    oracle=lambda p, q: oracles.worst_event_delta(p=p, q=q, epsilon=0.0),
    examples=[({"epsilon": 1.0, "delta": 1e-5}, "0.462122536")],
    misprints=[
        Misprint(
            "yeom",
            r"\mathrm{Adv} = e^\varepsilon - 1 \text{ at worst, under pure DP}",
            claim=lambda epsilon: math.expm1(epsilon),
            kind="identity",
            domain={**dict.fromkeys(("p", "q", "delta")), "epsilon": Log(0.01, 5.0)},
            requires="epsilon > 0",
            oracle=lambda epsilon: oracles.worst_event_delta(
                **dict(zip("pq", oracles.randomized_response(epsilon=epsilon), strict=True)),
                epsilon=0.0,
            ),
            source="the first bound of this kind, taken for tight",
            note="A bound, twice the truth for small epsilon, and above 1 from ln 2 on.",
        ),
        Misprint(
            "minus-delta",
            r"\mathrm{Adv} \le 1 - e^{-\varepsilon} - \delta",
            claim=lambda epsilon, delta: -math.expm1(-epsilon) - delta,
            source="surveys of membership inference",
            note="A larger delta cannot help: its sign is wrong.",
        ),
        Misprint(
            "of-a-gaussian",
            r"\text{a Gaussian mechanism lets an attacker reach it}",
            claim=lambda mu, delta: membership_advantage(
                epsilon=oracles.gaussian_epsilon(delta=delta, mu=mu), delta=delta
            ),
            kind="identity",
            requires="mu > 0",
            domain={
                **dict.fromkeys(("p", "q", "epsilon")),
                "mu": Log(0.1, 5.0),
                "delta": Log(1e-9, 1e-3),
            },
            oracle=truth.gaussian_distance,
            source="turning a reported epsilon into a success rate",
            note="One point of the curve says little about another: use the curve.",
            examples=[({"mu": 1.0, "delta": 1e-5}, "0.97519", "0.38292492")],
        ),
    ],
)
def membership_advantage(*, epsilon: float, delta: float = 0.0) -> float:
    """Largest advantage of an attacker who guesses whether a record was used.

    Parameters
    ----------
    epsilon : float
        >= 0, nats; may be inf.
    delta : float
        In [0, 1).

    Returns
    -------
    float
        Upper bound on true minus false positive rate; with even odds he guesses right with
        probability (1 + advantage) / 2. Attained by randomized response.

    References
    ----------
    Kairouz, Oh & Viswanath (2015); Humphries et al. (2020), Theorem 3.3.

    Examples
    --------
    >>> round(membership_advantage(epsilon=1.0, delta=1e-5), 6)
    0.462123
    """
    if not (epsilon >= 0 and 0 <= delta < 1):
        raise ValueError(f"Expected epsilon >= 0 and delta in [0, 1), got {epsilon!r}, {delta!r}.")
    # (e^x - 1) / (e^x + 1) is tanh(x/2), and nothing overflows.
    odds_against = math.exp(-epsilon)
    return math.tanh(epsilon / 2) + 2 * delta * odds_against / (1 + odds_against)


# One run


def _reachable(drawn: Parameters) -> int:
    """The most correct guesses that are not rarer than the significance level."""
    names = ("canaries", "guesses", "epsilon", "delta")
    v = np.arange(drawn["guesses"] + 1)
    chance = truth.chance_of_correct(v, **{name: drawn[name] for name in names})
    return int(v[chance > drawn["significance"]][-1])


_RUN = {
    "canaries": Whole(1, 100_000),
    "guesses": Given(
        lambda rng, drawn: max(1, int(min(drawn["canaries"], 2000) * rng.random() ** 2))
    ),
    "epsilon": Linear(0.0, 4.0),
    "delta": Log(1e-8, 1e-2, also=(0.0,)),
}
_COUNTED = """0 <= correct and correct <= guesses and guesses <= canaries
    and delta >= 0 and epsilon >= 0"""


@formula(
    "G-N4",
    title="One training run: the p-value",
    kind="upper",
    statement=r"""P(W \ge v) \le f(v) + 2m\delta\max_{1\le i\le v}\frac{f(v-i)-f(v)}i,\quad
        f(v) = P\Big(\mathrm{Bin}\Big(r, \frac{e^\varepsilon}{1+e^\varepsilon}\Big) \ge v\Big)""",
    requires=_COUNTED,
    reference=Reference(_SNJ, 2023, "Theorem 5.2"),
    domain={**_RUN, "correct": Given(lambda rng, drawn: int(rng.integers(drawn["guesses"] + 1)))},
    oracle=truth.chance_of_one,
    examples=[
        ({"canaries": 1000, "guesses": 100, "correct": 75, "epsilon": 0.672984664, "delta": 1e-4},
         "0.05000000"),
    ],
    misprints=[
        Misprint(
            "no-delta",
            r"P(W \ge v) \le f(v)",
            claim=lambda canaries, guesses, correct, epsilon: one_run_p_value(
                canaries=canaries, guesses=guesses, correct=correct, epsilon=epsilon, delta=0.0
            ),
            source="simplified versions of the audit",
            note="Accuses wrongly: with delta > 0 many canaries may be given away at once.",
        ),
        Misprint(
            "guesses-for-canaries",
            r"P(W \ge v) \le f(v) + 2r\delta\max_i\frac{f(v-i)-f(v)}i",
            claim=lambda guesses, correct, epsilon, delta: one_run_p_value(
                canaries=guesses, guesses=guesses, correct=correct, epsilon=epsilon, delta=delta
            ),
            source="codes that forget the abstentions",
            note="Every canary may be given away, also those on which no guess was planned.",
        ),
    ],
    unsafe=None,
    absolute=1e-14,
)  # fmt: skip
def one_run_p_value(
    *, canaries: int, guesses: int, correct: int, epsilon: float, delta: float
) -> float:
    """How likely so many correct guesses are if the run was (epsilon, delta)-DP.

    Parameters
    ----------
    canaries : int
        m >= 1, each included with probability 1/2 on its own.
    guesses : int
        r <= m canaries on which the attacker ventured a guess.
    correct : int
        v <= r of these were right.
    epsilon, delta : float
        The claim to be tested, nats.

    Returns
    -------
    float
        Upper bound on the probability, at most 1.

    References
    ----------
    Steinke, Nasr & Jagielski (2023), Theorem 5.2 and Appendix D.

    Examples
    --------
    >>> about = {"canaries": 1000, "guesses": 100, "correct": 75, "delta": 1e-4}
    >>> round(one_run_p_value(**about, epsilon=0.673), 4)
    0.05
    """
    validate.integer(minimum=1, canaries=canaries)
    validate.integer(minimum=0, maximum=canaries, guesses=guesses)
    validate.integer(minimum=0, maximum=guesses, correct=correct)
    k = np.arange(guesses + 1)
    ways = gammaln(guesses + 1) - gammaln(k + 1) - gammaln(guesses - k + 1)
    masses = np.exp(
        ways - k * np.log1p(math.exp(-epsilon)) - (guesses - k) * np.logaddexp(0, epsilon)
    )
    # gained[i-1] = P(v > Bin >= v - i)
    gained = np.cumsum(masses[:correct][::-1])
    best = np.max(gained / np.arange(1, correct + 1), initial=0.0)
    return min(float(np.sum(masses[correct:]) + 2 * canaries * delta * best), 1.0)


@formula(
    "G-N4b",
    title="One training run: the epsilon it proves",
    kind="lower",
    statement=r"\hat\varepsilon = \sup\{\varepsilon : \text{p-value of } v < \beta\},\quad"
    r" P(\hat\varepsilon > \varepsilon) \le \beta",
    requires=_COUNTED.replace("epsilon >= 0", "0 < significance and significance < 1"),
    reference=Reference(_SNJ, 2023, "Corollary 5.4"),
    domain={**_RUN, "significance": Choice(0.01, 0.05, 0.1), "correct": Derived(_reachable)},
    # Not to be exceeded at any outcome that is likely enough.
    oracle=lambda epsilon: epsilon,
    examples=[
        ({"canaries": 1000, "guesses": 100, "correct": 75, "delta": 1e-4, "significance": 0.05},
         "0.672984664"),
        ({"canaries": 100_000, "guesses": 1510, "correct": 1439, "delta": 1e-5,
          "significance": 0.05}, "2.67585101"),
        ({"canaries": 100_000, "guesses": 1510, "correct": 1439, "delta": 0.0,
          "significance": 0.05}, "2.806207"),
    ],
    misprints=[
        Misprint(
            "no-delta",
            r"\text{the same with } \delta = 0",
            claim=lambda canaries, guesses, correct, significance: one_run_epsilon(
                canaries=canaries, guesses=guesses, correct=correct, delta=0.0,
                significance=significance,
            ),
            source="simplified versions of the audit",
            note="Accuses wrongly: what delta allows is counted as epsilon.",
            examples=[
                ({"canaries": 100_000, "guesses": 1510, "correct": 1439, "significance": 0.05},
                 "2.806207"),
            ],
        ),
        Misprint(
            "share",
            r"\hat\varepsilon = \ln\frac v{r-v}",
            claim=lambda guesses, correct: math.log(correct / (guesses - correct)),
            requires="0 < correct and correct < guesses and guesses <= canaries",
            source="reading the share of right guesses as the odds",
            note="That is the estimate, without any confidence.",
        ),
    ],
    unsafe=None,
    points=50,
)  # fmt: skip
def one_run_epsilon(
    *, canaries: int, guesses: int, correct: int, delta: float, significance: float
) -> float:
    """The epsilon that the guesses on one training run prove.

    Parameters
    ----------
    canaries, guesses, correct, delta
        As in `one_run_p_value`.
    significance : float
        beta in (0, 1): the chance of a false proof.

    Returns
    -------
    float
        Lower bound on epsilon with confidence 1 - beta, nats, rounded down.

    References
    ----------
    Steinke, Nasr & Jagielski (2023), Corollary 5.4 and Appendix D.

    Examples
    --------
    >>> about = {"canaries": 1000, "guesses": 100, "correct": 75}
    >>> round(one_run_epsilon(**about, delta=1e-4, significance=0.05), 6)
    0.672985
    """
    validate.probability(significance=significance)

    def rare(epsilon: float) -> bool:
        about = {"canaries": canaries, "guesses": guesses, "correct": correct, "delta": delta}
        return one_run_p_value(**about, epsilon=epsilon) < significance

    low, high = 0.0, 1.0
    if not rare(low):
        return low
    while rare(high):
        low, high = high, 2 * high
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rare(middle) else (low, middle)
    return low


# More than two values


def _random_channel(rng: Generator, drawn: Parameters) -> NDArray:
    """Laws of the output for each value: random, or randomized response."""
    k = int(rng.integers(2, 6))
    if rng.random() < 0.3:
        odds = math.exp(rng.uniform(0.0, 4.0))
        return (np.ones((k, k)) + (odds - 1) * np.eye(k)) / (odds + k - 1)
    return rng.dirichlet(np.full(int(rng.integers(2, 6)), 2.0), size=k)


def _epsilon_of_channel(drawn: Parameters) -> float:
    channel = drawn["channel"]
    return float(np.max(np.log(np.max(channel, axis=0) / np.min(channel, axis=0))))


_KNOWN = {
    "channel": Given(_random_channel),
    "values": Derived(lambda drawn: len(drawn["channel"])),
    "epsilon": Derived(_epsilon_of_channel),
}


@formula(
    "G-N5",
    title="Guessing one of k values",
    kind="upper",
    statement=r"P(\text{guess right}) \le \frac{e^\varepsilon}{e^\varepsilon + k - 1}",
    requires="epsilon >= 0 and values >= 1",
    reference=Reference("Kairouz, Bonawitz & Ramage", 2016, "Section 4"),
    domain=_KNOWN,
    oracle=truth.best_guesser,
    examples=[({"epsilon": 1.0, "values": 10}, "0.2319693167")],
    misprints=[
        Misprint(
            "odds-times-prior",
            r"P(\text{guess right}) = e^\varepsilon/k \text{ at worst}",
            claim=lambda epsilon, values: min(math.exp(epsilon) / values, 1.0),
            kind="identity",
            requires="epsilon > 0 and values >= 2",
            domain={"channel": None, "values": Whole(2, 50), "epsilon": Log(0.01, 5.0)},
            oracle=lambda epsilon, values: truth.best_guesser(
                channel=(np.ones((values, values)) + math.expm1(epsilon) * np.eye(values))
                / (math.exp(epsilon) + values - 1)
            ),
            source="bounding the posterior by e^epsilon times the prior",
            note="A bound, but probabilities add up to 1: the other values keep their share.",
        ),
        Misprint(
            "approximate-dp",
            r"\text{the same under } (\varepsilon,\delta)\text{-DP}",
            domain={**_KNOWN, "delta": Log(1e-5, 0.2)},
            oracle=lambda channel, delta: delta + (1 - delta) * truth.best_guesser(channel=channel),
            source="dropping what is small",
            note="With probability delta the value may be shown as it is.",
        ),
    ],
)
def guessing_probability(*, epsilon: float, values: int) -> float:
    r"""Largest chance to guess which of `values` equally likely values a record has.

    Parameters
    ----------
    epsilon : float
        Pure guarantee between any two of the values, >= 0, nats.
    values : int
        k >= 1.

    Returns
    -------
    float
        Upper bound :math:`e^\varepsilon/(e^\varepsilon+k-1)`, attained by randomized response.

    References
    ----------
    Kairouz, Bonawitz & Ramage (2016), Section 4; Balle, Cherubin & Hayes (2022).

    Examples
    --------
    >>> round(guessing_probability(epsilon=1.0, values=10), 6)
    0.231969
    """
    validate.non_negative(epsilon=epsilon)
    validate.integer(minimum=1, values=values)
    return 1 / (1 + (values - 1) * math.exp(-epsilon))
