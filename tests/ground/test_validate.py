"""The wording of errors: name, what was expected, what was found."""

import math
import re

import numpy as np
import pytest

from cases import each
from dplearn.ground import validate

# What is expected in words, and values and types that are refused; the words for a type are
# shorter where it is not said that a number is finite.
WRONG = [
    (validate.positive, {}, "> 0", " and finite", (0.0, math.inf, math.nan), ("1", True)),
    (validate.non_negative, {}, ">= 0", " and finite", (-1e-300, math.nan, math.inf), (None,)),
    (validate.probability, {}, "in (0, 1)", "", (0.0, 1.0, math.nan), (0.5j,)),
    (validate.rate, {}, "in (0, 1]", "", (0.0, 1.5), ([0.5],)),
    (validate.integer, {"minimum": 1}, "a whole number >= 1", "", (0,), (3.0, True)),
    (validate.integer, {"minimum": 1, "maximum": 9}, "a whole number >= 1 and <= 9", "", (10,), ()),
]


@each("check, limits, expected, more, values, types", WRONG)
def test_message_has_name_expectation_and_finding(check, limits, expected, more, values, types):
    cases = [(ValueError, value, expected + more) for value in values]
    for error, value, words in [*cases, *((TypeError, value, expected) for value in types)]:
        message = f"Expected sample_rate {words}, got sample_rate={value!r}."
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
