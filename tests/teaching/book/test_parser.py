"""Formulas as people write them mean what the plain one beside them means."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each, examples
from dplearn.teaching.book.kit.parser import nearest, parse
from dplearn.teaching.claims import PARAMETERS, side_of

NAMES = {letter for p in PARAMETERS.values() for letter in p.letters}
VALUES = {"epsilon": 0.7, "eps": 0.6, "delta": 1e-5, "sigma": 1.3, "q": 0.01, "T": 1000.0, "k": 3.0}
VALUES |= {"alpha": 4.0, "z": 1.7, "epsilon_0": 0.1, "c2": 1.5, "c": 2.5, "Delta": 1.1, "rho": 0.3}
VALUES |= {"lambda": 5.0, "mu": 0.4, "N": 6e4, "noise_multiplier": 1.9, "epsilon0": 0.2}

# What readers of the explorer typed, the first 28 of which met a refusal or a surprise, and beside
# it the plain formula that it means.
TYPED = [
    line.split(" | ")
    for line in Path(__file__).with_name("typed.txt").read_text(encoding="utf-8").splitlines()
]


def test_all_that_readers_typed_and_a_hundred_more_are_read():
    assert len(TYPED) >= 128
    for typed, meaning in TYPED:
        formula, same = parse(side_of(typed).right, NAMES), parse(meaning)
        assert formula.names == same.names, typed
        value = formula(**{n: VALUES[n] for n in formula.names})
        assert value == pytest.approx(float(same(**VALUES)), rel=1e-12), typed
        assert formula.latex


@each(
    "text, formula, quantity, relation",
    [
        ("σ ≥ 2/ε", "2/ε", "sigma", ""),
        (r"\sigma \ge 2", "2", "sigma", ""),
        ("σ² = 2", "sqrt(2)", "sigma", ""),
        (r"$\varepsilon_{\mathrm{total}} \leq k\varepsilon$", "k*epsilon", "epsilon", ""),
        ("ε(T) := 1", "1", "epsilon", ""),
        ("ε' = q ε", "q*epsilon", "amplified_epsilon", ""),
        ("ε′ ≤ k ε", "k*epsilon", "epsilon", ""),
        ("δ(ε) ≥ 1", "1", "delta", ""),
        ("D_α(P‖Q) ≥ αT", "alpha*T", "rdp", "lower"),
        (r"D_{\alpha} \le \alpha", "alpha", "rdp", "upper"),
        ("ρ = 2ε", "2ε", "rho", ""),
        ("2ε", "2ε", "", ""),
        ("1 + (ε < 1)", "1 + (ε < 1)", "", ""),
    ],
)
def test_the_left_side_says_what_a_claim_is_about(text, formula, quantity, relation):
    side = side_of(text)
    assert (side.quantity, side.relation) == (quantity, relation)
    assert parse(side.right, NAMES).program == parse(formula, NAMES).program


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
        formula = parse(side_of(text).right, NAMES)
        value = formula(**dict.fromkeys(formula.names, np.array([0.5, 1e9])))
        assert value.dtype in (bool, float) and value.shape in ((), (2,))
        assert formula.latex
    except ValueError as error:
        assert str(error).startswith("Expected ")
    assert time.process_time() - start < 1
