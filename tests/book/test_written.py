"""Formulas as people write them mean what the plain one beside them means."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from dplearn.book.kit.written import claim_of, nearest, parse, right_side
from dplearn.claims._parameters import PARAMETERS, aliases

NAMES = aliases(PARAMETERS)
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
        formula, same = right_side(claim_of(typed).formula, NAMES), parse(meaning)
        assert formula.names == same.names, typed
        value = formula(**{n: VALUES[n] for n in formula.names})
        assert value == pytest.approx(float(same(**VALUES)), rel=1e-12), typed
        assert formula.latex


@each(
    "text, formula, quantity, relation",
    [
        ("σ ≥ 2/ε", "2/ε", "sigma", "upper"),
        ("sigma >= 2", "2", "sigma", "upper"),
        (r"\sigma \ge 2", "2", "sigma", "upper"),
        ("z <= 2", "2", "sigma", "lower"),
        ("σ = 2", "2", "sigma", ""),
        ("ε ≤ kε", "kε", "epsilon", "upper"),
        (r"$\varepsilon_{\mathrm{total}} \leq k\varepsilon$", r"k\varepsilon$", "epsilon", "upper"),
        ("ε_total < 1", "1", "epsilon", "upper"),
        ("ε(T) := 1", "1", "epsilon", ""),
        ("ε' = q ε", "q ε", "amplified_epsilon", ""),
        ("ε′ ≤ q ε", "q ε", "amplified_epsilon", "upper"),
        (r"\epsilon\geq 1/\sigma", r"1/\sigma", "epsilon", "upper"),
        ("δ(ε) ≥ 1", "1", "delta", "lower"),
        ("D_α(P‖Q) ≤ α", "α", "rdp", "upper"),
        (r"D_{\alpha} \le \alpha", r"\alpha", "rdp", "upper"),
        ("2ε", "2ε", "", ""),
        ("1 + (ε < 1)", "1 + (ε < 1)", "", ""),
    ],
)
def test_the_left_side_says_what_a_claim_is_about(text, formula, quantity, relation):
    assert claim_of(text) == (formula, quantity, relation)
    assert right_side(text, NAMES).program == right_side(formula, NAMES).program


def test_a_name_that_is_not_known_is_a_variable_and_has_a_nearest_one():
    assert right_side("epsilonn sgima", NAMES).names == {"epsilonn", "sgima"}
    assert right_side("q(1)", NAMES).names == {"q"}
    assert nearest("sgima", NAMES) == "; did you mean sigma" and nearest("xyzzy", NAMES) == ""


PIECES = st.sampled_from(
    [*"()+-*/^<>=!,.ε·−0123456789eTq_ \0'[]{}:;@\\", "**", "exp(", "max(", "binom(", "1e308",
     " and ", " not ", " or ", "<=", "9**9", "lambda ", "__class__", "inf", "nan", "if"]
)  # fmt: skip
RUBBISH = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join))


@settings(max_examples=150)
@given(RUBBISH)
@pytest.mark.slow
def test_rubbish_gives_a_value_or_one_error(text):
    start = time.process_time()
    try:
        formula = right_side(claim_of(text).formula, NAMES)
        value = formula(**dict.fromkeys(formula.names, np.array([0.5, 1e9])))
        assert value.dtype in (bool, float) and value.shape in ((), (2,))
        assert formula.latex
    except ValueError as error:
        assert str(error).startswith("Expected ")
    assert time.process_time() - start < 1
