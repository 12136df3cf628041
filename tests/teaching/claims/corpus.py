"""Formulas of the book to proofread: right, misprinted, randomly edited, and without a claim.

The truth of each comes from the book's oracles, which do not use the reader under test. Every
fifth formula is `held_out` from tuning.
"""

import ast
import inspect
import re
import textwrap
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dplearn.teaching.book import book, refute
from dplearn.teaching.book.kit import terms
from dplearn.teaching.book.kit.checks import compare, side_of, starting_points
from dplearn.teaching.book.kit.domains import Choice
from dplearn.teaching.book.kit.entry import Misprint
from dplearn.teaching.book.kit.parser import parse

EDITS = 100


@dataclass(frozen=True)
class Row:
    """A formula in LaTeX; `about` is "right", "misprint", "edit" or "nothing" (no claim)."""

    id: str
    about: str
    formula: str
    words: str = ""
    claim: str = ""  # the edited expression, in the entry's parameters

    @property
    def held_out(self) -> bool:
        return zlib.crc32(self.id.encode()) % 5 == 4


# Rows


def rows() -> list[Row]:
    """Return all formulas, with the words around them."""
    forms = [(e.id, "right", e.statement, e.title) for e in book.values()]
    forms += [
        (f"{e.id}/{m.name}", "misprint", e.statement_of(m), e.title)
        for e in book.values()
        for m in e.misprints
    ]
    forms += [(f"nothing-{i}", "nothing", *pair) for i, pair in enumerate(NOTHING)]
    return [Row(*form) for form in forms] + edits()


# Printed expressions of functions with more than one line.
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


def expression(entry) -> str:
    """Return the function of an entry as one expression in its parameters, or ""."""
    function = inspect.unwrap(entry.function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        *steps, last = [
            s for s in tree.body if not isinstance(getattr(s, "value", None), ast.Constant)
        ]
        values: dict[str, ast.expr] = {}
        for step in steps:
            values[step.targets[0].id] = _Inlined(values).visit(step.value)
        text = ast.unparse(_Inlined(values).visit(last.value))
        text = re.sub(r"\b(?:math|np)\.|\bfloat(?=\()", "", text).replace("ndtr", "Phi")
        names = parse(text).names
    except (AttributeError, SyntaxError, ValueError, OSError, IndexError, TypeError):
        return ""
    return text if names and names <= set(inspect.signature(function).parameters) else ""


class _Inlined(ast.NodeTransformer):
    def __init__(self, values) -> None:
        self.values = values

    def visit_Name(self, node):
        return self.values.get(node.id, node)


class _Edited(ast.NodeTransformer):
    """Transformer that makes copying error number `place` in an expression."""

    def __init__(self, place: int) -> None:
        self.left = place

    def here(self) -> bool:
        self.left -= 1
        return self.left == -1

    def visit_Constant(self, node):
        return ast.Constant(1) if node.value == 2 and self.here() else node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return node.operand if isinstance(node.op, ast.USub) and self.here() else node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name == "sqrt" and self.here():
            return node.args[0]
        if name == "log" and self.here():
            node.func = ast.Name("log10")
        elif (name in ("expm1", "exp") and self.here()) or (name == "log1p" and self.here()):
            return node.args[0]
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow) and self.here():
            return node.left
        if isinstance(node.op, ast.Add | ast.Sub) and self.here():
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        elif isinstance(node.op, ast.Sub) and isinstance(node.right, ast.Constant) and self.here():
            return node.left
        elif isinstance(node.op, ast.Div) and self.here():
            node.op = ast.Mult()
        return node


def edits() -> list[Row]:
    """Return 100 random edits of entries whose function is one expression."""
    rng, forms = np.random.default_rng(34), []
    whole = PRINTED | {e.id: text for e in book.values() if not e.along and (text := expression(e))}
    while len(forms) < EDITS:
        ids = list(PRINTED if rng.random() < 0.4 else whole)
        id = ids[rng.integers(len(ids))]
        tree = ast.parse(whole[id], mode="eval")
        plain, edited = ast.unparse(tree), ast.unparse(_Edited(int(rng.integers(12))).visit(tree))
        key = f"{id}~{edited}"
        if edited != plain and key not in {row.id for row in forms}:
            latex = terms.same_left_side(book[id].statement, edited)
            forms.append(Row(key, "edit", latex, book[id].title, edited))
    return forms


# Truth


@lru_cache(None)
def truth(id: str, claim: str) -> str:
    """Return the truth by the oracle: "right", "unsafe", "safe", "wrong" or "condition".

    A misprint with another value is "unsafe" if it overstates privacy at some point, "safe" if it
    never does, and "wrong" if the entry has no unsafe direction. A misprint that only drops a
    condition is a "condition".
    """
    if "~" in id:
        entry = book[id.partition("~")[0]]
        return _of_edit(entry, claim)
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


def _of_edit(entry, claim: str) -> str:
    points = starting_points(entry, points=300)
    form, never_below = parse(claim), min(map(entry.value, points)) >= 0
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
    """Return the error of a finding: "reversed", "falsely accused", or "" for none.

    A finding about another entry, which it names, is no error, unless the words have `named` the
    setting; then only a refuted bound with a hypothesis is no error.
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
    """Return whether a misprint may be right in another setting of its entry."""
    entry = book[row.id.partition("/")[0]]
    misprint = entry.misprint(row.id.partition("/")[2])
    if misprint.claim is None:
        return True
    letters = parse(misprint.claim).names if isinstance(misprint.claim, str) else set()
    return bool(letters) and any(
        letters == {n for n, d in s.domain.items() if not isinstance(d, Choice)}
        for s in entry.settings
    )


# Losses, optimisers, norms, settings, laws: formulas without a claim about privacy.
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
