"""Formulas of the book to proofread: right, misprinted, randomly edited, and without a claim.

The truth of each comes from the book's oracles, which do not use `proofread`.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import signature

import numpy as np

from dplearn.teaching.book import book, refute
from dplearn.teaching.book.kit import terms
from dplearn.teaching.book.kit.checks import compare, side_of, starting_points
from dplearn.teaching.book.kit.domains import Choice
from dplearn.teaching.book.kit.entry import Misprint
from dplearn.teaching.book.kit.expression import Expression, Step
from dplearn.teaching.book.kit.parser import parse

EDITS = 100


@dataclass(frozen=True)
class Row:
    """Formula in LaTeX to proofread; `about` is right, misprint, edit or nothing (no claim)."""

    id: str
    about: str
    formula: str
    words: str = ""
    claim: Expression | None = None  # the edited expression, in the entry's parameters


def rows() -> list[Row]:
    """Return all formulas of the corpus, with the words around them."""
    forms = [(e.id, "right", e.statement, e.title) for e in book.values()]
    forms += [
        (f"{e.id}/{m.name}", "misprint", e.statement_of(m), e.title)
        for e in book.values()
        for m in e.misprints
    ]
    forms += [(f"nothing-{i}", "nothing", *pair) for i, pair in enumerate(NOTHING)]
    return [Row(*form) for form in forms] + edits()


# Printed expressions of entries whose function has more than one line.
PRINTED = {
    "G-A8": "log(order/(2*order-1)*exp((order-1)/scale) + (order-1)/(2*order-1)*exp(-order/scale))"
    "/(order-1)",
    "G-B5": "Phi(1/(2*noise_multiplier) - epsilon*noise_multiplier)"
    " - exp(epsilon)*Phi(-1/(2*noise_multiplier) - epsilon*noise_multiplier)",
    "G-C2": "epsilon*sqrt(2*steps*log(1/slack)) + steps*epsilon*(exp(epsilon) - 1)",
    "G-C2b": "epsilon*sqrt(2*steps*log(1/slack))"
    " + steps*epsilon*(exp(epsilon) - 1)/(exp(epsilon) + 1)",
    "G-C3": "2*log(1/slack)/(2 - exp(epsilon))**2",
    "G-D1": "rdp + log(1/delta)/(orders - 1)",
    "G-D2": "rdp + log((orders-1)/orders) - (log(delta) + log(orders))/(orders-1)",
    "G-D3": "rho + 2*sqrt(rho*log(1/delta))",
    "G-D4": "log((sinh(order*epsilon) - sinh((order-1)*epsilon))/sinh(epsilon))/(order-1)",
    "G-E1": "log(1 + sample_rate*(exp(epsilon) - 1))",
}


# Copying errors: operations that are replaced by others, or lost.
SLIPS = {2.0: 1.0, 0.5: 1.0, "+": "-", "-": "+", "/": "*", "**": "*", "log": "log10"}
LOST = ("sqrt", "exp", "expm1", "log", "log1p", "minus")


def edits() -> list[Row]:
    """Return 100 printed expressions and misprints, each with one random edit."""
    rng, forms = np.random.default_rng(34), dict[str, Row]()
    wrong = [(e, m.claim) for e in book.values() if not e.along for m in e.misprints]
    wrong = [(e, parse(claim)) for e, claim in wrong if isinstance(claim, str)]
    printed = [(book[id], parse(text)) for id, text in PRINTED.items()]
    # A formula that lacks one of the parameters may be true in another situation.
    bases = [
        (e, f) for e, f in wrong + 12 * printed if f.names == {*signature(e.function).parameters}
    ]
    while len(forms) < EDITS:
        entry, formula = bases[rng.integers(len(bases))]
        k = int(rng.integers(len(formula.program)))
        what, inputs = formula.program[k]
        lost = what in LOST and (what not in SLIPS or rng.random() < 0.5)
        if lost or what in SLIPS:
            step = () if lost else (Step(SLIPS[what], inputs),)
            edited = Expression("", (*formula.program[:k], *step, *formula.program[k + 1 :]))
            latex = terms.same_left_side(entry.statement, edited)
            forms[latex] = Row(f"{entry.id}~{latex}", "edit", latex, entry.title, edited)
    return [*forms.values()]


@lru_cache(None)
def truth(id: str, claim: Expression | None) -> str:
    """Return the oracle's judgement: "right", "unsafe", "safe", "wrong" or "condition".

    A misprint with another value is "unsafe" if it overstates privacy at some point, "safe" if it
    never does, and "wrong" if no error of the entry overstates privacy. A misprint that only
    drops a condition is a "condition".
    """
    if claim:
        return _of_edit(book[id.partition("~")[0]], claim)
    if "/" not in id:
        return "right"
    entry, name = book[id.partition("/")[0]], id.partition("/")[2]
    misprint = entry.misprint(name)
    if misprint.claim is None and misprint.oracle is None:
        return "condition"
    outcome = refute(entry, misprint)
    if entry.unsafe is None:
        return "wrong"
    return "unsafe" if outcome.unsafe else "safe"


def _of_edit(entry, form: Expression) -> str:
    points = starting_points(entry, points=300)
    never_below = min(map(entry.value, points)) >= 0
    # A negative bound of a nonnegative value means 0.
    floored = lambda **at: max(float(form(**at)), 0.0) if never_below else float(form(**at))
    edited = replace(
        entry.claimed(Misprint("edit", "", "-", floored)),
        kind="identity" if entry.kind != "asymptotic" else entry.kind,
        tolerance=1e-6,
    )
    sides = set()
    for point in points:
        try:
            sides.add(side_of(edited, compare(edited, point)))
        except (ArithmeticError, ValueError):
            continue
    if entry.unsafe is None:
        return "right" if sides == {"right"} else "wrong"
    return "right" if sides <= {"right"} else "unsafe" if {entry.unsafe, "none"} & sides else "safe"


def wrongly(row: Row, finding, *, named: bool = False) -> str:
    """Return how a finding contradicts the truth: "reversed", "falsely accused", or "".

    A finding that names another entry is no error, unless the words have `named` the situation;
    then it is no error only if it refutes a formula that has a hypothesis.
    """
    judged_right = finding.verdict in ("holds", "safe")
    if row.about == "nothing":
        return "falsely accused" if judged_right or finding.verdict == "refuted" else ""
    own = finding.entry == re.split("[/~]", row.id)[0]
    if not (own or named) or not (judged_right or finding.verdict == "refuted"):
        return ""
    if own and row.about == "misprint" and _is_another(row):
        return ""
    if not own and finding.verdict == "refuted" and book[re.split("[/~]", row.id)[0]].given:
        return ""
    true = truth(row.id, row.claim)
    if finding.verdict == "refuted":
        return "falsely accused" if true in ("right", "safe") and row.about != "misprint" else ""
    return "reversed" if true in ("unsafe", "wrong") else ""


def _is_another(row: Row) -> bool:
    """Return whether a misprint may be right in another situation of its entry."""
    entry = book[row.id.partition("/")[0]]
    misprint = entry.misprint(row.id.partition("/")[2])
    if misprint.claim is None:
        return True
    letters = parse(misprint.claim).names if isinstance(misprint.claim, str) else set()
    return bool(letters) and any(
        letters == {n for n, d in s.domain.items() if not isinstance(d, Choice)}
        for s in entry.settings
    )


# Formulas without a claim about privacy: losses, optimisers, norms, distributions.
NOTHING = [
    (r"L(\theta) = \frac1n\sum_{i=1}^n \ell(\theta, x_i)", "The training loss."),
    (r"m_t = \beta_1 m_{t-1} + (1-\beta_1) g_t", "Adam keeps a mean of gradients."),
    (r"\hat m_t = \frac{m_t}{1-\beta_1^t}", "The mean is corrected for its start."),
    (r"\lVert g\rVert_2 = \sqrt{g_1^2 + g_2^2}", "The norm of a gradient."),
    (r"\delta = 10^{-5}", "We take this value."),
    (r"\sigma = 1.1", "The noise multiplier."),
    (r"T = \frac{En}{B}", "The number of steps."),
    (r"p = \frac{1}{1 + e^{-x}}", "The logistic function."),
    (r"\sigma^2 = \frac1n\sum_i (x_i - \bar x)^2", "The variance of the data."),
    (r"\hat y = \operatorname{softmax}(Wx)", "The prediction."),
    (r"F_1 = \frac{2PR}{P+R}", "The F score."),
    (r"\eta_t = \frac{\eta_0}{\sqrt t}", "The learning rate falls."),
    (r"\lambda = 0.01", "Weight decay."),
    (r"\delta = y - \hat y", "The error of the output layer."),
    (r"\varepsilon_t = \varepsilon_0\,\gamma^t", "Exploration decays in the bandit."),
    (r"z = \mu + \sigma\varepsilon", "The reparametrisation of the autoencoder."),
    (r"e^{i\pi} + 1 = 0", "Euler."),
    (r"\mu_{t+1} = \mu_t + \alpha(x_t - \mu_t)", "A running mean."),
    (r"b = \bar y - w\bar x", "The intercept."),
    (r"D_{KL}(P\Vert Q) = \sum_i p_i\ln\frac{p_i}{q_i}", "The divergence of two laws."),
    (r"k = \lceil\log_2 n\rceil", "The depth of the tree."),
    (r"\varepsilon_{mach} = 2^{-52}", "The precision of doubles."),
    (r"\delta x = A^{-1}\delta b", "Perturbation of a linear system."),
    (r"t = \frac{\bar x - \mu}{s/\sqrt n}", "Student's statistic."),
    (r"\mu = \frac{a+b}{2}", "The mean of a uniform law."),
]
