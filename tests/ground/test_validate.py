"""The wording of errors: name, what was expected, what was found."""

import math
import re

import numpy as np
import pytest

from conftest import each
from dplearn.ground import validate

WRONG_VALUES = [
    (validate.positive, {}, 0.0, "> 0 and finite"),
    (validate.positive, {}, math.inf, "> 0 and finite"),
    (validate.positive, {}, math.nan, "> 0 and finite"),
    (validate.non_negative, {}, -1e-300, ">= 0 and finite"),
    (validate.non_negative, {}, math.nan, ">= 0 and finite"),
    (validate.non_negative, {}, math.inf, ">= 0 and finite"),
    (validate.probability, {}, 0.0, "in (0, 1)"),
    (validate.probability, {}, 1.0, "in (0, 1)"),
    (validate.probability, {}, math.nan, "in (0, 1)"),
    (validate.rate, {}, 0.0, "in (0, 1]"),
    (validate.rate, {}, 1.5, "in (0, 1]"),
    (validate.integer, {"minimum": 1}, 0, "a whole number >= 1"),
    (validate.integer, {"minimum": 1, "maximum": 9}, 10, "a whole number >= 1 and <= 9"),
]
WRONG_TYPES = [
    (validate.positive, {}, "1", "> 0"),
    (validate.positive, {}, True, "> 0"),
    (validate.non_negative, {}, None, ">= 0"),
    (validate.probability, {}, 0.5j, "in (0, 1)"),
    (validate.rate, {}, [0.5], "in (0, 1]"),
    (validate.integer, {"minimum": 0}, 3.0, "a whole number >= 0"),
    (validate.integer, {"minimum": 0}, True, "a whole number >= 0"),
]


@each(
    "check, limits, value, expected, error",
    [(*case, ValueError) for case in WRONG_VALUES] + [(*case, TypeError) for case in WRONG_TYPES],
)
def test_message_has_name_expectation_and_finding(check, limits, value, expected, error):
    message = f"Expected sample_rate {expected}, got sample_rate={value!r}."
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        check(**limits, sample_rate=value)


@each(
    "check, limits, value",
    [
        (validate.positive, {}, 5e-324),
        (validate.positive, {}, np.float64(1.0)),
        (validate.non_negative, {}, 0),
        (validate.probability, {}, 1 - 2**-53),
        (validate.rate, {}, 1),
        (validate.integer, {"minimum": 0, "maximum": 9}, np.int64(0)),
        (validate.integer, {"minimum": 0, "maximum": 9}, 9),
    ],
)
def test_corners_are_accepted(check, limits, value):
    check(**limits, steps=value)


def test_the_first_wrong_argument_is_named():
    with pytest.raises(ValueError, match="delta"):
        validate.probability(epsilon=0.5, delta=2.0, slack=3.0)


def test_choices_are_listed():
    message = "Expected sampling one of none, poisson, got sampling='shuffle'."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        validate.one_of(("poisson", "none"), sampling="shuffle")
    validate.one_of(("poisson", "none"), sampling="none")


def test_unsupported_names_the_combination_and_the_reason():
    error = validate.unsupported("replace_one for x", "it has no theorem")
    assert isinstance(error, NotImplementedError)
    assert str(error) == "replace_one for x is not supported: it has no theorem"
