"""Formulas as text: the value Python would give, and one clear error for everything else."""

import math
import re
import time
from functools import partial

import numpy as np
import pytest
from scipy import special

from cases import each
from dplearn.teaching.book.kit.parser import parse

NAMES = {
    "q", "p", "gamma", "sample_rate", "sigma", "z", "s", "noise_multiplier", "T", "k", "n", "t",
    "K", "m", "N", "steps", "delta", "epsilon", "eps", "epsilon_0", "eps_0", "epsilon0", "eps0",
    "alpha", "a", "lambda", "order",
}  # fmt: skip
VALUES = {"epsilon": 0.7, "delta": 1e-5, "sigma": 1.3, "q": 0.01, "T": 1000.0, "k": 3.0}
NUMPY = ["exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "abs", "floor", "ceil", "sinh"]
PYTHON = {name: getattr(np, name) for name in [*NUMPY, "cosh", "tanh", "pi", "e", "inf"]}
PYTHON |= {"erf": special.erf, "erfc": special.erfc, "Phi": special.ndtr, "binom": special.binom}
PYTHON |= {"min": min, "max": max, "__builtins__": {}}


@each(
    "text",
    [
        "2+3*4**2", "-2**2", "2**-1", "2**3**2", "-3 - -2", "8/4/2", "8-4-2", "2*-3", ".5e-3+1.",
        "1<2<3", "1<3<2", "3>2>=2!=1", "1<2 and not 3<2 or 2<1", "not 1 < 2", "not not 1<2",
        "sqrt(2*log(1.25/delta))/epsilon", "q*sqrt(T*log(1/delta))/sigma",
        "log(1+q*expm1(epsilon))", "2*epsilon*sqrt(2*k*log(1/delta))",
        "max(epsilon, q, k)", "min(1, 2) - max(3, -4)",
        "binom(5, 2)", "Phi(1/(2*sigma)-epsilon) - exp(epsilon)*Phi(-1/(2*sigma)-epsilon)",
        "log1p(q)+log2(k)+log10(T)", "sinh(q)/cosh(q) - tanh(q)", "erf(q)+erfc(q)", "pi*e",
        "floor(k/2) + ceil(k/2) - abs(-k)", "1/inf", "(1)", "((q))",
    ],
)  # fmt: skip
def test_means_what_python_means(text):
    formula = parse(text)
    # The oracle is the evaluator that the parser replaces, on text that we wrote.
    expected = eval(text, dict(PYTHON), VALUES)
    assert formula(**VALUES) == pytest.approx(float(expected), rel=1e-15)
    assert formula(**VALUES).dtype == (bool if isinstance(expected, bool | np.bool) else float)
    assert formula.names == {n for n in VALUES if n in text.replace("exp", "").replace("sqrt", "")}


@each(
    "text, same",
    [
        ("ε·σ×δ − q^2", "epsilon*sigma*delta - q**2"),
        ("ln(ϵ) + Φ(α)/π", "log(epsilon) + Phi(alpha)/pi"),
        ("λ ≤ 1 or λ ≥ 2 and λ ≠ ∞", "lambda <= 1 or lambda >= 2 and lambda != inf"),
        ("σ_0 + ε1", "sigma_0 + epsilon1"),
    ],
)
def test_notation_of_the_blackboard(text, same):
    assert parse(text).program == parse(same).program


def test_arrays_broadcast_in_silence_and_missing_values_are_named():
    formula = parse("sigma/epsilon + log(sigma)")
    value = formula(sigma=np.array([[0.0], [1.0]]), epsilon=np.array([0.0, 1.0, 2.0]), unused=3)
    assert value.shape == (2, 3)
    assert np.isnan(value[0, 0]) and value[0, 1] == -np.inf and value[1, 0] == np.inf
    inside = parse("epsilon < 1 and epsilon > 0")(epsilon=[0.5, 1, np.nan])
    assert inside.tolist() == [True, False, False]
    # A condition counts as 0 or 1 in arithmetic.
    assert list(parse("(q<1) + (q<2)")(q=[0, 1, 2])) == [2, 1, 0]
    with pytest.raises(ValueError, match=r"Expected values for delta, q, got none\."):
        parse("q*delta*sigma")(sigma=1.0)


@each(
    "text, latex",
    [
        ("sqrt(2*k)/ε", r"\frac{\sqrt{2\,k}}{\varepsilon}"),
        ("a-(b-c)", r"a - \left(b - c\right)"),
        ("(a+b)^2*3", r"{\left(a + b\right)}^{2} \cdot 3"),
        ("-(a+b) < 1e-5 <= inf", r"-\left(a + b\right) < 10^{-5} \le \infty"),
        ("2*4^2 and not a", r"2 \cdot {4}^{2} \wedge \neg a"),
        ("erfc(abs(noise_multiplier))",
         r"\operatorname{erfc}\left(\left| \mathrm{noise\_multiplier} \right|\right)"),
        ("floor(binom(a, 2))", r"\left\lfloor \binom{a}{2} \right\rfloor"),
        ("(2e-7)^2", r"{\left(2 \cdot 10^{-7}\right)}^{2}"),
    ],
)  # fmt: skip
def test_latex(text, latex):
    assert parse(text).latex == latex


# No token begins with one of these, though Python, or a reader, takes some for part of a formula.
ODD = [*"_':;=.@\\\0ｅа١\ud800"]
HOSTILE = [
    ("", "position 1, got the end"),
    ("  \n ", "position 5, got the end"),
    ("2 \x85", r"position 3, got '\\x85'"),
    ("9**" * 3500 + "9", "2000 characters, got 10501"),
    ("**".join("9" * 600), "60 levels of nesting at position 184"),
    ("(" * 900 + "1" + ")" * 900, "60 levels of nesting at position 62"),
    ("-" * 1500 + "1", "60 levels of nesting"),
    ("not " * 400 + "1", "60 levels of nesting"),
    ("__import__('os').system('true')", "position 1, got '_'"),
    ("().__class__.__bases__[0]", r"position 2, got '\)'"),
    ("lambda x: x", "position 9, got ':'"),
    ("1 if 2 else 3", "position 6, got '2'"),
    ("max(*q)", r"position 5, got '\*'"),
    ("eval(1)", "a function or the name of a parameter at position 1, got 'eval'"),
    ("2 3", "an operator or the end at position 3, got '3'"),
    ("exp", r"\( after exp at position 4"),
    ("exp()", r"position 5, got '\)'"),
    ("exp(1, 2)", r"an operator or \) at position 6, got ','"),
    ("min(1)", "a second argument of min at position 6"),
    ("binom(1,2,3)", r"an operator or \) at position 10"),
    ("1,2", "position 2, got ','"),
    ("(1", r"an operator or \) at position 3, got the end"),
    ("1)", r"what \) closes before position 2"),
    ("(1]", r"what \] closes"),
    ("2**not 3", "position 4, got 'not'"),
    ("and", "position 1, got 'and'"),
    *[(f"1+{odd}", f"an operator at position 3, got {re.escape(repr(odd))}") for odd in ODD],
]


# Of whole claims, in names that the explorer knows.
CLAIMS = [
    ("√(2 lm(1.25/δ))/ε", "position 5, got 'lm'; did you mean ln."),
    ("sqr(2)", "position 1, got 'sqr'; did you mean sqrt"),
    ("Exp(2)", "did you mean exp"),
    (r"\sqrt[3]{T}", "sqrt"),
    ("ε' + kε", "epsilon with a prime or without, got both"),
    ("T.real", "got '.'"),
    ("np.load('x')", ""),
    (r"\input{x}", ""),
    ("np.", "got the end"),
]


@each("reader, cases", [(parse, HOSTILE), (partial(parse, names=NAMES), CLAIMS)])
def test_everything_else_is_one_error(reader, cases):
    for text, message in cases:
        start = time.process_time()
        with pytest.raises(ValueError, match=f"^Expected .*{message}") as refusal:
            reader(text)
        assert time.process_time() - start < 1, text
        assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 250, text


def test_long_but_flat_is_a_formula_of_floats():
    assert parse("9**9**9")() == math.inf == parse("9" * 1999)()
    assert np.isnan(parse("(-8)^(1/3)")())
    assert parse("+".join("1" * 1000))() == 1000
    assert parse("<".join("1" * 1000))() == 0
    assert parse(f"max({','.join('1' * 900)})")() == 1
    assert parse("(" * 59 + "1" + ")" * 59).latex == "1"
