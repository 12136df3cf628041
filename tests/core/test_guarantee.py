"""Printed guarantees never claim more than was proved."""

import dataclasses
import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each, examples
from dplearn.core.guarantee import Guarantee, Kind, Reference, round_down, round_up
from dplearn.statement import KINDS
from dplearn.teaching.figures.kit import text as on_figures


def guarantee(kind, epsilon=1.51432, delta=1e-5, **more):
    about = {"method": "m", "adjacency": "add_remove", **more}
    return Guarantee(epsilon=epsilon, delta=delta, kind=kind, **about)


NO_NOISE = {"epsilon": math.inf, "reason": "no noise"}


@each(
    "kind, is_bound, more, text, note",
    [
        ("exact", True, {}, "1.514 <= epsilon <= 1.515", ""),
        ("exact", True, {"epsilon": 2.0}, "epsilon = 2", ""),
        ("probable", False, {}, "epsilon <~ 1.515", ""),
        ("upper", True, {}, "epsilon <= 1.515", ""),
        ("lower", False, {}, "epsilon >= 1.514", ""),
        ("bracket", True, {"lower": 1.51287}, "1.512 <= epsilon <= 1.515", ""),
        ("approximate", False, {}, "epsilon ~ 1.514", " (an approximation, not a bound)"),
        ("upper", True, NO_NOISE, "epsilon <= inf", " (no noise)"),
    ],
)
def test_each_kind_of_guarantee_prints_its_own_sentence(kind, is_bound, more, text, note):
    stated = guarantee(kind, **more)
    assert str(stated) == f"{text} at delta = 1.0e-05, add_remove, by m{note}"
    assert stated.is_bound == is_bound


def test_labels_of_figures_show_a_relation_sign_except_for_upper_bounds():
    assert set(KINDS) == set(get_args(Kind))
    shown = {kind: on_figures.epsilon(guarantee(kind)) for kind in KINDS}
    signs = {kind: number.partition(on_figures.NARROW_SPACE)[0] for kind, number in shown.items()}
    bounds = dict.fromkeys(("exact", "upper", "bracket"), "1.52")
    assert signs == bounds | {"approximate": "≈", "lower": "≥", "probable": "≲"}
    assert shown["approximate"].endswith("1.51")


def test_sentence_states_delta_at_an_epsilon_if_delta_was_computed():
    for kind, lower, delta, text in (
        ("bracket", 0.0102241, 0.0102361, "0.01022 <= delta <= 0.01024 at epsilon = 1"),
        ("bracket", 1.23449e-300, 1.23451e-300, "1.234e-300 <= delta <= 1.235e-300 at epsilon = 1"),
        ("exact", 0.126937, 0.126937, "0.1269 <= delta <= 0.127 at epsilon = 1"),
        # Without a lower bound on delta the sentence is about epsilon.
        ("upper", 0.0, 0.0102361, "epsilon <= 1 at delta = 0.0102361"),
    ):
        stated = guarantee(kind, epsilon=1.0, delta=delta, delta_lower=lower)
        assert str(stated) == f"{text}, add_remove, by m"


@examples(200)
@given(st.floats(min_value=1e-300, max_value=1e300), st.sampled_from([2, 4]))
def test_round_up_is_not_below_and_round_down_not_above_the_value(value, digits):
    up, down = float(round_up(value, digits)), float(round_down(value, digits))
    # Tolerance: values within 1e-12 of a number with `digits` digits are printed as this number.
    assert up >= value * (1 - 2e-12) and down <= value * (1 + 2e-12)
    # The printed value differs by at most one unit of the last digit.
    unit = 1.001 * 10.0 ** (1 - digits)
    assert up <= value * (1 + unit) and down >= value * (1 - unit)


@each(
    "value, up, down",
    [(0.0, "0", "0"), (math.inf, "inf", "inf"), (1.5, "1.5", "1.5"), (99.999, "100", "99.99"),
     (1e-5, "1e-05", "1e-05"), (123456.0, "1.235e+05", "1.234e+05"),
     (np.float32(0.1), "0.1001", "0.1")],
)  # fmt: skip
def test_special_values_are_rounded_up_and_down(value, up, down):
    assert (round_up(value), round_down(value)) == (up, down)


@each(
    "ends",
    [
        {"epsilon": math.nan}, {"epsilon": -1e-9}, {"epsilon": 1.0, "lower": 1.1},
        {"lower": math.nan}, {"lower": -0.1}, {"delta": math.nan}, {"delta_lower": 2e-5},
    ],
)  # fmt: skip
def test_guarantee_refuses_bounds_that_are_negative_nan_or_exchanged(ends):
    with pytest.raises(ValueError, match=r"Expected 0 <= lower end <= (epsilon|delta), got"):
        guarantee("bracket", **ends)


def test_guarantee_is_immutable_and_reference_prints_as_citation():
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee("upper").epsilon = 0.1
    with pytest.raises(TypeError, match="read-only"):
        guarantee("upper").details["order"] = 2.0
    lemma = Reference("Bun & Steinke", 2016, "Lemma 1")
    assert str(lemma) == "Bun & Steinke (2016), Lemma 1"
