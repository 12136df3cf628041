"""Formulas as people write them mean what the strict grammar means by the formula beside them."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from test_expression import HOSTILE, RUBBISH, gives_a_value_or_one_error

from cases import each
from dplearn.book import book
from dplearn.ground.expression import parse
from dplearn.ground.written import nearest, read, split

NAMES = {
    "epsilon",
    "eps",
    "epsilon_0",
    "delta",
    "sigma",
    "z",
    "noise_multiplier",
    "q",
    "T",
    "k",
    "alpha",
}
VALUES = {"epsilon": 0.7, "eps": 0.6, "delta": 1e-5, "sigma": 1.3, "q": 0.01, "T": 1000.0, "k": 3.0}
VALUES |= {"alpha": 4.0, "z": 1.7, "epsilon_0": 0.1, "c2": 1.5, "c": 2.5, "Delta": 1.1, "rho": 0.3}
VALUES |= {"lambda": 5.0, "mu": 0.4, "N": 6e4, "noise_multiplier": 1.9, "epsilon0": 0.2}

# What readers of the explorer typed, the first 28 of which met a refusal or a surprise, and beside
# it the formula of the strict grammar that it means.
TYPED = [
    line.split(" | ")
    for line in Path(__file__).with_name("typed.txt").read_text(encoding="utf-8").splitlines()
]


def test_all_that_readers_typed_and_a_hundred_more_are_read():
    assert len(TYPED) >= 128
    for typed, meaning in TYPED:
        formula, same = read(split(typed).formula, NAMES), parse(meaning)
        assert formula.names == same.names, typed
        value = formula(**{n: VALUES[n] for n in formula.names})
        assert value == pytest.approx(float(same(**VALUES)), rel=1e-12), typed
        assert formula.latex


def test_what_the_book_holds_is_read_as_before():
    every = [
        typed.expression
        for entry in book.values()
        for source in (entry, *entry.misprints)
        for typed in source.typed
    ]
    assert len(every) > 20
    for text in every:
        assert read(text, NAMES).program == parse(text).program, text


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
        ("δ(ε) ≥ 1", "1", "delta", "lower"),
        ("D_α(P‖Q) ≤ α", "α", "rdp", "upper"),
        (r"D_{\alpha} \le \alpha", r"\alpha", "rdp", "upper"),
        ("2ε", "2ε", "", ""),
        ("1 + (ε < 1)", "1 + (ε < 1)", "", ""),
    ],
)
def test_the_left_side_says_what_a_claim_is_about(text, formula, quantity, relation):
    assert split(text) == (formula, quantity, relation)
    assert read(text, NAMES).program == read(formula, NAMES).program


# What the wider notation makes a product, or closes with more brackets.
_OTHERWISE = {"q(1)", "2(3)", "(1", "1)", "1j", "1 if 2 else 3", "lambda x: x"}
REFUSALS = [
    *[(text, "Expected ") for text, _ in HOSTILE if text not in _OTHERWISE],
    ("(1", r"position 3, got the end"),
    ("1)", r"what \) closes before position 2"),
    ("(1]", r"what \] closes"),
    ("lambda x: x", "position 9, got ':'"),
    ("σ ≥ √(2 lm(1.25/δ))/ε", "position 9, got 'lm'; did you mean ln."),
    ("sqr(2)", "position 1, got 'sqr'; did you mean sqrt"),
    ("Exp(2)", "did you mean exp"),
    (r"\frac1\delta", r"\{ after .frac at position 6"),
    (r"\sqrt[3]{T}", "sqrt"),
    ("2 3", "an operator or the end at position 3, got '3'"),
    ("ε' + kε", "epsilon with a prime or without, got both"),
    ("σ ≥ ", "position 5, got the end"),
    ("T.real", "got '.'"),
    ("().__class__", "Expected"),
    ("np.load('x')", "Expected"),
    (r"\input{x}", "Expected"),
    ("np.", "got the end"),
]


@each("text, message", REFUSALS)
def test_everything_else_is_one_error(text, message):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=f"^Expected .*{message}|^{message}") as refusal:
        read(text, NAMES)
    assert time.perf_counter() - start < 1
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 250


def test_a_name_that_is_not_known_is_a_variable_and_has_a_nearest_one():
    assert read("epsilonn sgima", NAMES).names == {"epsilonn", "sgima"}
    assert read("q(1)", NAMES).names == {"q"}
    assert nearest("sgima", NAMES) == "; did you mean sigma" and nearest("xyzzy", NAMES) == ""


@settings(max_examples=150)
@given(RUBBISH)
@pytest.mark.slow
def test_rubbish_gives_a_value_or_one_error(text):
    gives_a_value_or_one_error(lambda written: read(split(written).formula, NAMES), text)
