"""Error messages give the argument's name, the expected range and the value."""

import math
import re
from functools import partial

import numpy as np
import pytest

from cases import each
from dplearn.core import validate

TYPES = ("none", "poisson")
# Check, expected range, valid values, values out of range, and values of a wrong type.
CASES = [
    (validate.positive, "> 0 and finite", (5e-324, np.float64(1)), (0.0, math.inf), ("1",)),
    (validate.non_negative, ">= 0 and finite", (0,), (-1e-300, math.nan), (None, True)),
    (validate.probability, "in (0, 1)", (1 - 2**-53,), (0.0, 1.0, math.nan), (0.5j,)),
    (validate.rate, "in (0, 1]", (1,), (0.0, 1.5), ([0.5],)),
    (partial(validate.integer, minimum=1), "a whole number >= 1", (1,), (0,), (3.0, True)),
    (partial(validate.integer, minimum=0, maximum=9), "a whole number >= 0 and <= 9",
     (np.int64(0), 9), (10,), ()),
    (partial(validate.one_of, TYPES[::-1]), "one of none, poisson", TYPES, ("shuffle",), ()),
]  # fmt: skip


@each("check, expected, good, values, types", CASES)
def test_error_states_argument_name_expected_range_and_value(check, expected, good, values, types):
    for value in good:
        check(sample_rate=value)
    cases = [(ValueError, value) for value in values]
    for error, value in [*cases, *((TypeError, value) for value in types)]:
        message = f"Expected sample_rate {expected}, got sample_rate={value!r}."
        with pytest.raises(error, match=f"^{re.escape(message)}$"):
            check(sample_rate=value)


def test_errors_name_the_first_invalid_argument_or_the_reason():
    with pytest.raises(ValueError, match="delta"):
        validate.probability(epsilon=0.5, delta=2.0, slack=3.0)
    error = validate.unsupported("replace_one for x", "it has no theorem")
    assert isinstance(error, NotImplementedError)
    assert str(error) == "replace_one for x is not supported: it has no theorem"
