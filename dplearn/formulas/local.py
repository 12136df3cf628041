"""Local DP: everybody randomizes a bit, a symbol or a bit string before sending it."""

from __future__ import annotations

import math

from dplearn.formulas import _oracles_local as truth
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Choice, Linear, Log, Whole
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_WANG = "Wang, Blocki, Li & Jha"
_USERS = {"epsilon": Log(0.01, 10.0), "users": Whole(1, 1000)}


@formula(
    "G-I1",
    title="Randomized response: variance of the estimated share",
    kind="identity",
    statement=r"\mathrm{Var} = \frac{e^\varepsilon}{n(e^\varepsilon-1)^2}",
    requires="epsilon > 0 and users >= 1",
    reference=Reference(
        "Warner", 1965, "variance of the estimate, for p = e^epsilon/(1 + e^epsilon)"
    ),
    domain={**_USERS, "share": Linear(0.0, 1.0)},
    oracle=truth.share_variance,
    unsafe=None,
    examples=[({"epsilon": 1.0, "users": 32561}, "2.8275348e-05")],
    misprints=[
        Misprint(
            "laplace",
            r"\mathrm{Var} = \frac2{n\varepsilon^2}",
            claim=lambda epsilon, users: 2 / (users * epsilon**2),
            source="error bars borrowed from the Laplace mechanism",
            note="The variance of Laplace noise on every bit; lying coins need less.",
        ),
        Misprint(
            "central",
            r"\mathrm{Var} = \frac2{n^2\varepsilon^2}",
            claim=lambda epsilon, users: 2 / (users * epsilon) ** 2,
            source="comparisons that forget who adds the noise",
            note="The noise of one trusted curator, not that of n users.",
        ),
        Misprint(
            "random-users",
            r"\text{the same for users drawn at random}",
            oracle=truth.sampled_share_variance,
            source="surveys, whose answers are a sample",
            note="Then the share of the sample varies as well.",
        ),
    ],
)
def randomized_response_variance(*, epsilon: float, users: int) -> float:
    """Variance of the unbiased estimate of a share from randomized bits, for given users.

    Parameters
    ----------
    epsilon : float
        Local guarantee of each bit, > 0, nats.
    users : int
        Number of bits, >= 1.

    Returns
    -------
    float
        Exact, whatever the share is.

    References
    ----------
    Warner (1965); Wang, Blocki, Li & Jha (2017).

    Examples
    --------
    >>> round(randomized_response_variance(epsilon=1.0, users=32561), 12)
    2.8275348e-05
    """
    validate.positive(epsilon=epsilon, users=users)
    # e^x / (e^x - 1)^2 = 1 / (2 sinh(x/2))^2
    return 1 / (users * (2 * math.sinh(epsilon / 2)) ** 2)


@formula(
    "G-I1b",
    title="Randomized response: variance with that of the sample",
    kind="identity",
    statement=r"""\mathrm{Var} = \frac{e^\varepsilon}{n(e^\varepsilon-1)^2}
        + \frac{\pi(1-\pi)}n""",
    requires="epsilon > 0 and users >= 1 and 0 <= share and share <= 1",
    reference=Reference("Warner", 1965, "variance of the estimate"),
    domain={**_USERS, "share": Linear(0.0, 1.0)},
    oracle=truth.sampled_share_variance,
    unsafe=None,
    examples=[
        ({"epsilon": 1.0, "users": 100, "share": 0.5}, "0.01170673594", "0.01170673594"),
    ],
)
def randomized_survey_variance(*, epsilon: float, users: int, share: float) -> float:
    """Variance of the estimate of a population's share from a random sample of users.

    Parameters
    ----------
    epsilon, users
        As in `randomized_response_variance`.
    share : float
        pi in [0, 1], of the population.

    Returns
    -------
    float
        Exact for independent users.

    References
    ----------
    Warner (1965).

    Examples
    --------
    >>> round(randomized_survey_variance(epsilon=1.0, users=100, share=0.5), 6)
    0.011707
    """
    validate.positive(epsilon=epsilon, users=users)
    return (1 / (2 * math.sinh(epsilon / 2)) ** 2 + share * (1 - share)) / users


_REPORTS = {"epsilon": Log(0.05, 10.0), "users": Whole(1, 10**6)}


@formula(
    "G-I2",
    title="Generalized randomized response: variance for a rare symbol",
    kind="identity",
    statement=r"\mathrm{Var} = \frac{d-2+e^\varepsilon}{n(e^\varepsilon-1)^2}",
    requires="epsilon > 0 and users >= 1 and symbols >= 2",
    reference=Reference(_WANG, 2017, "equation (4)"),
    domain={**_REPORTS, "symbols": Whole(2, 60)},
    oracle=truth.symbol_variance,
    unsafe=None,
    examples=[({"epsilon": 1.0, "users": 1000, "symbols": 10}, "0.0036302487", "0.0036302487")],
    misprints=[
        Misprint(
            "frequent-symbol",
            r"\text{the same for a symbol of any frequency}",
            requires="epsilon > 0 and symbols >= 2 and 0 <= frequency and frequency <= 1",
            domain={"frequency": Linear(0.0, 1.0)},
            source="summaries without the word approximately",
            note="Reports of those who have the symbol vary too: f(d-2)/(n(e^eps - 1)) is missing.",
        ),
    ],
)
def grr_variance(*, epsilon: float, users: int, symbols: int) -> float:
    r"""Variance of the estimated frequency of an absent symbol under d-ary randomized response.

    Parameters
    ----------
    epsilon : float
        Local guarantee of each report, > 0, nats.
    users : int
        Number of reports, >= 1.
    symbols : int
        d >= 2; the true symbol is sent with odds :math:`e^\varepsilon` to 1 for each other.

    Returns
    -------
    float
        Exact for frequency 0, too small for others.

    References
    ----------
    Wang, Blocki, Li & Jha (2017).

    Examples
    --------
    >>> round(grr_variance(epsilon=1.0, users=1000, symbols=10), 6)
    0.00363
    """
    validate.positive(epsilon=epsilon, users=users)
    validate.integer(minimum=2, symbols=symbols)
    return (symbols - 2 + math.exp(epsilon)) / (users * math.expm1(epsilon) ** 2)


@formula(
    "G-I5",
    title="Optimized unary encoding: variance, seen in simulations",
    kind="identity",
    statement=r"\mathrm{Var} = \frac{4e^\varepsilon}{n(e^\varepsilon-1)^2} + \frac fn",
    requires="epsilon > 0 and users >= 1 and 0 <= frequency and frequency <= 1",
    reference=Reference(_WANG, 2017, "Section 5, before the small term is dropped"),
    domain={
        "epsilon": Log(0.05, 4.0),
        "users": Choice(1000, 20_000, 10**6),
        "frequency": Choice(0.0, 0.1, 0.5, 1.0),
    },
    oracle=truth.simulated,
    unsafe=None,
    examples=[({"epsilon": 1.0, "users": 20_000, "frequency": 0.0}, "0.00018413")],
    misprints=[
        Misprint(
            "rare-for-all",
            r"\mathrm{Var} = \frac{4e^\varepsilon}{n(e^\varepsilon-1)^2} \text{ for every } f",
            claim=lambda epsilon, users: oue_variance(epsilon=epsilon, users=users),
            source="the approximation for rare items, printed as an equality",
            note="Half of those who have the item do not report it.",
        ),
    ],
)
@formula(
    "G-I2b",
    title="Optimized unary encoding: variance for a rare item",
    kind="identity",
    statement=r"\mathrm{Var} = \frac{4e^\varepsilon}{n(e^\varepsilon-1)^2}",
    requires="epsilon > 0 and users >= 1",
    reference=Reference(_WANG, 2017, "equation (9)"),
    domain=_REPORTS,
    oracle=truth.bit_variance,
    unsafe=None,
    examples=[({"epsilon": 1.0, "users": 20_000}, "0.00018413", "0.00018413")],
)
def oue_variance(*, epsilon: float, users: int, frequency: float = 0.0) -> float:
    """Variance of the estimated frequency of an item under optimized unary encoding.

    Parameters
    ----------
    epsilon : float
        Local guarantee of each report, > 0, nats.
    users : int
        Number of reports, >= 1.
    frequency : float
        Share of the users who have the item, in [0, 1].

    Returns
    -------
    float
        Exact for given users.

    References
    ----------
    Wang, Blocki, Li & Jha (2017), Section 5.

    Examples
    --------
    >>> round(oue_variance(epsilon=1.0, users=20_000), 8)
    0.00018413
    """
    validate.positive(epsilon=epsilon, users=users)
    # 4 e^x / (e^x - 1)^2 = 1 / sinh(x/2)^2
    return (1 / math.sinh(epsilon / 2) ** 2 + frequency) / users


@formula(
    "G-I2c",
    title="When generalized randomized response beats unary encoding",
    kind="identity",
    statement=r"\mathrm{Var}_{\mathrm{GRR}} < \mathrm{Var}_{\mathrm{OUE}}"
    r" \iff d < 3e^\varepsilon + 2",
    requires="epsilon > 0",
    reference=Reference(_WANG, 2017, "Section 5.3"),
    domain={"epsilon": Log(0.05, 3.5)},
    oracle=truth.where_variances_meet,
    unsafe=None,
    points=30,
    examples=[({"epsilon": 1.0}, "10.154845", "10.154845")],
    misprints=[
        Misprint(
            "plain-exponential",
            r"d < e^\varepsilon",
            claim=lambda epsilon: math.exp(epsilon),
            source="rules of thumb",
            note="At epsilon = 1 it would switch at 3 symbols instead of 10.",
        ),
    ],
)
def grr_beats_oue_below(*, epsilon: float) -> float:
    r"""Number of symbols :math:`3e^\varepsilon + 2` below which GRR is more precise than OUE.

    Parameters
    ----------
    epsilon : float
        Local guarantee, > 0, nats.

    Returns
    -------
    float
        Exact for symbols of frequency 0.

    References
    ----------
    Wang, Blocki, Li & Jha (2017).

    Examples
    --------
    >>> round(grr_beats_oue_below(epsilon=1.0), 2)
    10.15
    """
    validate.positive(epsilon=epsilon)
    return 3 * math.exp(epsilon) + 2


@formula(
    "G-I3",
    title="Unary encoding",
    kind="identity",
    statement=r"""\varepsilon = \ln\frac{p(1-q)}{(1-p)q},\quad
        p = P(1\to1),\ q = P(0\to1)""",
    requires="0 < other and other <= one and one < 1",
    reference=Reference(_WANG, 2017, "Section 4.2"),
    domain={
        "one": Linear(0.001, 0.999),
        "other": Linear(0.001, 0.999),
        "symbols": Whole(2, 8),
    },
    oracle=truth.one_hot_epsilon,
    examples=[({"one": 0.75, "other": 0.25, "symbols": 4}, "2.1972245773362196", "2.1972245773")],
    misprints=[
        Misprint(
            "one-bit",
            r"\varepsilon = \ln\frac pq",
            claim=lambda one, other: math.log(one / other),
            source="homework that looks at the bit that is set",
            note="A replaced symbol clears one bit and sets another; both tell.",
        ),
    ],
)
def unary_encoding_epsilon(*, one: float, other: float) -> float:
    """Local epsilon of a one-hot vector all of whose bits are randomized.

    Parameters
    ----------
    one, other : float
        Probabilities to report a 1 for the bit that is set, and for each other bit;
        0 < other <= one < 1.

    Returns
    -------
    float
        Exact when the symbol is replaced by another, nats.

    References
    ----------
    Wang, Blocki, Li & Jha (2017), Section 4.2; Near & Abuah, Programming DP, chapter 13.

    Examples
    --------
    >>> round(unary_encoding_epsilon(one=0.75, other=0.25), 6)
    2.197225
    """
    validate.probability(one=one, other=other)
    return math.log(one) - math.log(other) + math.log1p(-other) - math.log1p(-one)


@formula(
    "G-I3b",
    title="Optimized unary encoding",
    kind="identity",
    statement=r"""p = \tfrac12,\ q = \frac1{e^\varepsilon+1}
        \text{ has the smallest variance for rare items}""",
    requires="epsilon > 0",
    reference=Reference(_WANG, 2017, "Section 4.2.2"),
    domain={"epsilon": Log(0.05, 10.0)},
    oracle=truth.best_other,
    tolerance=1e-5,
    unsafe=None,
    points=30,
    examples=[({"epsilon": 1.0}, "0.2689414214")],
    misprints=[
        Misprint(
            "symmetric",
            r"p = 1 - q,\ q = \frac1{e^{\varepsilon/2}+1} \text{ has the smallest variance}",
            claim=lambda epsilon: 1 / (math.exp(epsilon / 2) + 1),
            source="implementations that flip all bits with the same probability",
            note="Private, but the many zeros deserve more truth than the single one.",
        ),
    ],
)
def oue_false_one(*, epsilon: float) -> float:
    """Probability to report a 1 for a bit that is not set, in optimized unary encoding.

    The bit that is set is reported with probability 1/2.

    Parameters
    ----------
    epsilon : float
        Local guarantee, > 0, nats.

    Returns
    -------
    float
        Exact: the best for rare items.

    References
    ----------
    Wang, Blocki, Li & Jha (2017), Section 4.2.2.

    Examples
    --------
    >>> round(oue_false_one(epsilon=1.0), 6)
    0.268941
    """
    validate.positive(epsilon=epsilon)
    return 1 / (math.exp(epsilon) + 1)


_RAPPOR = Reference("Erlingsson, Pihur & Korolova", 2014, "Theorem 1")


@formula(
    "G-I4",
    title="RAPPOR: all reports on one value together",
    kind="identity",
    statement=r"\varepsilon_\infty = 2h\ln\frac{1-f/2}{f/2}",
    requires="0 < noise and noise <= 1 and hashes >= 1",
    reference=_RAPPOR,
    domain={"noise": Log(1e-3, 1.0), "hashes": Whole(1, 5)},
    oracle=truth.permanent_epsilon,
    examples=[({"noise": 0.5, "hashes": 2}, "4.394449155", "4.394449155")],
    misprints=[
        Misprint(
            "bits-of-one-value",
            r"\varepsilon_\infty = h\ln\frac{1-f/2}{f/2}",
            claim=lambda noise, hashes: hashes * math.log((1 - noise / 2) / (noise / 2)),
            source="summaries that count the bits of one value",
            note="The other value sets h bits too: 2h bits differ.",
        ),
    ],
)
def rappor_epsilon(*, noise: float, hashes: int) -> float:
    """Local epsilon of RAPPOR's permanent randomized bits, however often they are reported.

    Parameters
    ----------
    noise : float
        f in (0, 1]: probability to replace a bit of the Bloom filter by a fair coin.
    hashes : int
        h >= 1: bits that a value sets.

    Returns
    -------
    float
        Exact for values without a common bit, an upper bound for others; nats.

    References
    ----------
    Erlingsson, Pihur & Korolova (2014), Theorem 1.

    Examples
    --------
    >>> round(rappor_epsilon(noise=0.5, hashes=2), 6)
    4.394449
    """
    validate.rate(noise=noise)
    return 2 * hashes * math.log(2 / noise - 1)


@formula(
    "G-I4b",
    title="RAPPOR: one report",
    kind="identity",
    statement=r"""\varepsilon_1 = h\ln\frac{q^*(1-p^*)}{p^*(1-q^*)},\quad
        p^* = \tfrac f2(p+q) + (1-f)p,\ q^* = \tfrac f2(p+q) + (1-f)q""",
    requires="""0 < noise and noise <= 1 and hashes >= 1
        and 0 < zero_rate and zero_rate <= one_rate and one_rate < 1""",
    reference=Reference("Erlingsson, Pihur & Korolova", 2014, "Theorem 2"),
    domain={
        "noise": Log(1e-3, 1.0),
        "hashes": Whole(1, 5),
        "zero_rate": Linear(0.001, 0.999),
        "one_rate": Linear(0.001, 0.999),
    },
    oracle=truth.one_report_epsilon,
    examples=[
        (
            {"noise": 0.5, "hashes": 2, "zero_rate": 0.5, "one_rate": 0.75},
            "1.074285864",
            "1.074285864",
        )
    ],
    misprints=[
        Misprint(
            "as-if-permanent",
            r"\varepsilon_1 = h\ln\frac{q(1-p)}{p(1-q)}",
            claim=lambda noise, hashes, zero_rate, one_rate: rappor_report_epsilon(
                noise=0.0, hashes=hashes, zero_rate=zero_rate, one_rate=one_rate
            ),
            source="implementations without the first stage",
            note="That is the second stage alone; the first one adds to its noise.",
        ),
    ],
)
def rappor_report_epsilon(*, noise: float, hashes: int, zero_rate: float, one_rate: float) -> float:
    """Local epsilon of a single RAPPOR report.

    Parameters
    ----------
    noise, hashes
        As in `rappor_epsilon`; here 0 stands for no permanent noise.
    zero_rate, one_rate : float
        p and q: probabilities to report a 1 for a permanent bit 0 and 1;
        0 < zero_rate <= one_rate < 1.

    Returns
    -------
    float
        Exact for values without a common bit, an upper bound for others; nats.

    References
    ----------
    Erlingsson, Pihur & Korolova (2014), Theorem 2.

    Examples
    --------
    >>> round(rappor_report_epsilon(noise=0.5, hashes=2, zero_rate=0.5, one_rate=0.75), 6)
    1.074286
    """
    validate.probability(zero_rate=zero_rate, one_rate=one_rate)
    middle = noise / 2 * (zero_rate + one_rate)
    p, q = middle + (1 - noise) * zero_rate, middle + (1 - noise) * one_rate
    return hashes * (math.log(q / p) + math.log1p(-p) - math.log1p(-q))
