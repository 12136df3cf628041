"""Formulas as people write them mean what the plain one beside them means."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each, examples
from dplearn.teaching.book.kit.parser import nearest, parse
from dplearn.teaching.claims.reading import NotReadError, claims_of

NAMES = {
    "q", "p", "gamma", "sample_rate", "sigma", "z", "s", "noise_multiplier", "T", "k", "n", "t",
    "K", "m", "N", "steps", "delta", "epsilon", "eps", "epsilon_0", "eps_0", "epsilon0", "eps0",
    "alpha", "a", "lambda", "order",
}  # fmt: skip
VALUES = {"epsilon": 0.7, "eps": 0.6, "delta": 1e-5, "sigma": 1.3, "q": 0.01, "T": 1000.0, "k": 3.0}
VALUES |= {"alpha": 4.0, "z": 1.7, "epsilon_0": 0.1, "c2": 1.5, "c": 2.5, "Delta": 1.1, "rho": 0.3}
VALUES |= {"lambda": 5.0, "mu": 0.4, "N": 6e4, "noise_multiplier": 1.9, "epsilon0": 0.2}

# What readers of the explorer typed, the first 28 of which met a refusal or a surprise, and beside
# it the plain formula that it means.
TYPED = [
    line.split(" | ")
    for line in Path(__file__).with_name("typed.txt").read_text(encoding="utf-8").splitlines()
]


def right_of(typed):
    """Return the right side of a claim, the whole text of what is none."""
    try:
        return claims_of(typed)[0][0].text
    except NotReadError:
        return typed


def test_all_that_readers_typed_and_a_hundred_more_are_read():
    assert len(TYPED) >= 128
    for typed, meaning in TYPED:
        formula, same = parse(right_of(typed), NAMES), parse(meaning)
        assert formula.names == same.names, typed
        value = formula(**{n: VALUES[n] for n in formula.names})
        assert value == pytest.approx(float(same(**VALUES)), rel=1e-12), typed
        assert formula.latex


@each(
    "text, formula, about, relation",
    [
        ("σ ≥ 2/ε", "2/ε", "sigma", ">"), ("σ² = 2k", "2k", "sigma", "="),
        (r"$\varepsilon_{\mathrm{total}} \leq k\varepsilon$", "k*epsilon", "epsilon", "<"),
        ("ε(T) := T/2", "T/2", "epsilon", "="), ("δ(ε) ≥ 1/k", "1/k", "delta", ">"),
        ("D_α(P‖Q) ≥ αT", "alpha*T", "rdp", ">"), ("ρ = 2ε", "2ε", "rho", "="),
        ("Lap(k/ε)", "k/ε", "scale", "="), ("2ε", "2ε", "", "="), ("kρ-zCDP", "kρ", "rho", "="),
        ("ε ≈ 2q", "2q", "epsilon", "~"), ("(kε, δ)-DP", "kε", "epsilon", "="),
    ],
)  # fmt: skip
def test_the_left_side_says_what_a_claim_is_about(text, formula, about, relation):
    claim = claims_of(text)[0][0]
    assert (claim.about, claim.relation) == (about, relation)
    assert claim.right.program == parse(formula, NAMES).program


PRINTED = {
    r"\frac12\varepsilon^2": "epsilon^2/2", r"\frac1{2\sigma^2}": "1/(2*sigma^2)",
    "kρ+2√(kρ ln(1/δ))": "k*rho+2*sqrt(k*rho*log(1/delta))", r"\Phi^{-1}(1-a)": "probit(1-a)",
    r"{\sqrt{2\log\delta^{-1}}\over 2\epsilon}": "sqrt(2*log(1/delta))/(2*epsilon)",
    r"\sqrt{2\ln(1.25/\delta)}\Delta_2 f/\varepsilon": "sqrt(2*log(1.25/delta))*Delta/epsilon",
    r"\lVert\mu_0-\mu_1\rVert_2^2/(2\sigma^2)": "Delta^2/(2*sigma^2)", "ln²(k)": "log(k)^2",
    r"\lceil\log_2(n+1)\rceil/(2z^2)": "ceil(log2(n+1))/(2*z^2)", "e^ε²": "exp(epsilon^2)",
    r"\max\{0, 1-\delta\}": "max(0, 1-delta)", r"e^{\varepsilon}k": "exp(epsilon)*k",
    r"\left(\frac\mu2-\frac\varepsilon\mu\right)": "mu/2-epsilon/mu", "1/2σ²": "1/(2*sigma^2)",
    r"\operatorname{erf}^{-1}(1-a)*0 + k": "k", r"|k-n|/2": "abs(k-n)/2",
}  # fmt: skip


def test_print_means_the_plain_formula_and_keeps_what_decorates_a_letter():
    at = VALUES | {"n": 7.0, "a": 0.3}
    for text, plain in PRINTED.items():
        value = float(parse(text, printed=True)(**at))
        assert value == pytest.approx(float(parse(plain)(**at)), rel=1e-12), text
    names = parse(
        r"\tilde\varepsilon_0' + \epsilon_{\text{RDP}} + \varepsilon(\alpha)", printed=True
    )
    assert names.names == {"epsilon_0_prime_tilde", "epsilon_RDP", "D"}
    both = [parse("a/(b) c", printed=True, loose=loose) for loose in (False, True)]
    assert [float(f(a=6, b=2, c=3)) for f in both] == [1, 9]
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    total = parse(r"\sum_{i=1}^k\mu_i^2 + \max_i\mu_i", printed=True)(mu_i=rows)
    assert total.tolist() == [[7.0], [29.0]]
    for text in (r"O(k)", r"\prod_i k", r"\min_\alpha k", r"\begin{cases}k", "E[k]"):
        with pytest.raises(ValueError, match="closed form"):
            parse(text, printed=True)


def test_a_name_that_is_not_known_is_a_variable_and_has_a_nearest_one():
    assert parse("epsilonn sgima", NAMES).names == {"epsilonn", "sgima"}
    assert parse("q(1)", NAMES).names == {"q"}
    assert nearest("sgima", NAMES) == "; did you mean sigma" and nearest("xyzzy", NAMES) == ""


PIECES = st.sampled_from(
    [*"()+-*/^<>=!,.ε·−0123456789eTq_ \0'[]{}:;@\\", "**", "exp(", "max(", "binom(", "1e308",
     " and ", " not ", " or ", "<=", "9**9", "lambda ", "__class__", "inf", "nan", "if"]
)  # fmt: skip
RUBBISH = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join))


@examples(150)
@given(RUBBISH)
@pytest.mark.slow
def test_rubbish_gives_a_value_or_one_error(text):
    start = time.process_time()
    try:
        formula = parse(right_of(text), NAMES)
        value = formula(**dict.fromkeys(formula.names, np.array([0.5, 1e9])))
        assert value.dtype in (bool, float) and value.shape in ((), (2,))
        assert formula.latex
    except ValueError as error:
        assert str(error).startswith("Expected ")
    assert time.process_time() - start < 1
