"""Parsed formulas have Python's value; other text raises ValueError."""

import math
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from cases import each, examples
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.claims import VERDICTS, proofread
from dplearn.teaching.claims.reading import claims_of

VALUES = {"epsilon": 0.7, "delta": 1e-5, "sigma": 1.3, "q": 0.01, "T": 1000.0, "k": 3.0, "z": 1.7}
VALUES |= {"alpha": 4.0, "epsilon_0": 0.1, "c_2": 1.5, "c": 2.5, "Delta": 1.1, "rho": 0.3, "n": 7.0}
VALUES |= {"lambda": 5.0, "mu": 0.4, "N": 6e4, "delta_prime": 1e-6, "epsilon_prime": 2.0, "a": 0.3}
NUMPY = ["exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "abs", "floor", "ceil", "sinh"]
PYTHON = {name: getattr(np, name) for name in [*NUMPY, "cosh", "tanh", "pi", "e", "inf"]}
PYTHON |= {"erf": special.erf, "erfc": special.erfc, "Phi": special.ndtr, "binom": special.binom}
PYTHON |= {"min": min, "max": max, "__builtins__": {}}


@each("text", [
    "2+3*4**2", "-2**2", "2**-1", "2**3**2", "-3 - -2", "8/4/2", "8-4-2", "2*-3", ".5e-3+1.",
    "1/inf", "1<2<3", "1<3<2", "3>2>=2!=1", "1<2 and not 3<2", "not 1 < 2", "not not 1<2",
    "sqrt(2*log(1.25/delta))/epsilon", "log(1+q*expm1(epsilon))",
    "max(epsilon, q, k)", "min(1, 2) - max(3, -4)", "log1p(q)+log2(k)+log10(T)",
    "binom(5, 2)", "Phi(1/(2*sigma)-epsilon) - exp(epsilon)*Phi(-1/(2*sigma)-epsilon)",
    "sinh(q)/cosh(q) - tanh(q)", "erf(q)+erfc(q)", "pi*e", "floor(k/2) + ceil(k/2) - abs(-k)",
])  # fmt: skip
def test_book_expressions_equal_the_values_from_python(text):
    formula = parse(text)
    # The oracle is Python's `eval`, on text from this file only.
    expected = eval(text, dict(PYTHON), VALUES)
    assert formula(**VALUES) == pytest.approx(float(expected), rel=1e-15)
    assert formula(**VALUES).dtype == (bool if isinstance(expected, bool | np.bool) else float)


def test_expression_is_elementwise_and_error_names_missing_variables():
    inside = parse("epsilon < 1 and epsilon > 0")(epsilon=[0.5, 1, np.nan])
    assert inside.dtype == bool and inside.tolist() == [True, False, False]
    assert list(parse("(q<1) + (q<2)")(q=[0, 1, 2])) == [2, 1, 0]
    with pytest.raises(ValueError, match="Expected values for delta, q, got none"):
        parse("q*delta*sigma")(sigma=1.0)


@each("text, latex", [
    ("sqrt(2*k)/epsilon", r"\frac{\sqrt{2\,k}}{\varepsilon}"),
    ("a-(b-c)", r"a - \left(b - c\right)"),
    ("(a+b)**2*3", r"{\left(a + b\right)}^{2} \cdot 3"),
    ("-(a+b) < 1e-5 <= inf", r"-\left(a + b\right) < 10^{-5} \le \infty"),
    ("2*4**2 and not a", r"2 \cdot {4}^{2} \wedge \neg a"),
    ("erfc(abs(noise_multiplier))",
     r"\operatorname{erfc}\left(\left| \mathrm{noise\_multiplier} \right|\right)"),
    ("floor(binom(a, 2))", r"\left\lfloor \binom{a}{2} \right\rfloor"),
    ("(2e-7)**2", r"{\left(2 \cdot 10^{-7}\right)}^{2}"),
])  # fmt: skip
def test_formulas_are_printed_as_latex(text, latex):
    assert parse(text).latex == latex


# Formulas as typed by readers, with the equivalent book expressions.
TYPED = [
    line.split(" | ")
    for line in Path(__file__).with_name("typed.txt").read_text(encoding="utf-8").splitlines()
]


def right_of(typed):
    """Return the parsed right side of a claim, or the parsed text if it is not a claim."""
    try:
        return claims_of(typed)[0][0].right
    except ValueError:
        return parse(typed, printed=True)


def test_typed_formula_equals_book_expression():
    assert len(TYPED) > 160
    for typed, plain in TYPED:
        formula, same = right_of(typed), parse(plain)
        assert formula.names == same.names, typed
        assert float(formula(**VALUES)) == pytest.approx(float(same(**VALUES)), rel=1e-12), typed


def test_accents_and_subscripts_belong_to_names_and_sums_reduce_lists():
    text = r"\tilde\varepsilon_0' + \epsilon_{\text{RDP}} + \varepsilon(\alpha)"
    assert parse(text, printed=True).names == {"epsilon_0_prime_tilde", "epsilon_RDP", "D"}
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    total = parse(r"\sum_{i=1}^k\mu_i^2 + \max_i\mu_i", printed=True)(mu_i=rows)
    assert total.tolist() == [[7.0], [29.0]]
    for text in (r"O(k)", r"\prod_i k", r"\min_\alpha k", r"\begin{cases}k", "E[k]"):
        with pytest.raises(ValueError, match="closed form"):
            parse(text, printed=True)


# Characters that cannot begin a token, although Python or printed formulas use some of them.
ODD = [*"_':;=.@\\\0ｅа١\ud800"]
HOSTILE = [
    ("", "position 1, got the end"),
    ("  \n ", "position 5, got the end"),
    ("2 \x85", r"position 3, got '\\x85'"),
    ("9**" * 3500 + "9", "2000 characters, got 10501"),
    ("(" * 900 + "1" + ")" * 900, "60 levels of nesting at position 62"),
    ("-" * 1500 + "1", "60 levels of nesting"),
    ("not " * 400 + "1", "60 levels of nesting"),
    ("__import__('os').system('true')", "position 1, got '_'"),
    ("().__class__.__bases__[0]", r"position 2, got '\)'"),
    ("lambda x: x", "position 9, got ':'"),
    ("max(*q)", r"position 5, got '\*'"),
    ("exp", r"\( after exp at position 4"),
    ("exp()", r"position 5, got '\)'"),
    ("exp(1, 2)", r"an operator or \) at position 6, got ','"),
    ("min(1)", "a second argument of min at position 6"),
    ("binom(1,2,3)", r"an operator or \) at position 10"),
    ("1,2", "position 2, got ','"),
    ("(1", r"an operator or \) at position 3, got the end"),
    ("1)", r"what \) closes before position 2"),
    ("(1]", r"what \] closes"),
    ("and", "position 1, got 'and'"),
    (r"\input{x}", ""),
    ("np.", "got the end"),
    *[(f"1+{odd}", f"an operator at position 3, got {re.escape(repr(odd))}") for odd in ODD],
]


def test_invalid_text_raises_value_error_with_position():
    for text, message in HOSTILE:
        start = time.process_time()
        with pytest.raises(ValueError, match=f"^Expected .*{message}") as refusal:
            parse(text)
        assert time.process_time() - start < 1, text
        assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 250, text


def test_long_flat_formulas_are_evaluated_in_floats():
    assert parse("9**9**9")() == math.inf == parse("9" * 1999)()
    assert np.isnan(parse("(-8)**(1/3)")())
    assert parse("+".join("1" * 1000))() == 1000
    assert parse("<".join("1" * 1000))() == 0
    assert parse(f"2**{'-' * 1900}1")() == 2
    assert parse(f"max({','.join('1' * 900)})")() == 1
    assert parse("(" * 59 + "1" + ")" * 59).latex == "1"


PIECES = st.sampled_from(
    [*"()+-*/^<>=!,.ε·−0123456789eTq_ \0'[]{}:;@\\", "**", "exp(", "max(", "binom(", "1e308",
     " and ", " not ", " or ", "<=", "9**9", "lambda ", "__class__", "inf", "nan", "if",
     r"\frac", r"\sum_i", r"\text{-DP}", r"\ln", r"\tilde", r"\sigma", "D_α", "Pr[", "ε=", "√"]
)  # fmt: skip
RUBBISH = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join))


@examples(150)
@given(RUBBISH)
@pytest.mark.slow
def test_random_text_has_value_or_raises_value_error(text):
    assert proofread(text, words=text).verdict in VERDICTS
    start = time.process_time()
    try:
        formula = right_of(text)
        value = formula(**dict.fromkeys(formula.names, np.array([0.5, 1e9])))
        # A sum over a list keeps the axis, with length 1.
        assert value.dtype in (bool, float) and value.shape in ((), (1,), (2,))
        assert formula.latex
    except ValueError as error:
        assert str(error).startswith("Expected ")
    assert time.process_time() - start < 1
