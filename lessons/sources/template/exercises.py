"""Exercises of lesson NUMBER, TITLE."""

import math
from statistics import NormalDist

from dplearn.teaching.classroom import Exercise, Mistake, Program


def _delta(factor, second):
    """Return a function of noise, with `factor` and `second` in its second term."""
    below = NormalDist().cdf
    return lambda epsilon, sigma: (
        below(1 / (2 * sigma) - epsilon * sigma)
        - factor(epsilon) * below(second(1 / (2 * sigma), epsilon * sigma))
    )


_right = _delta(math.exp, lambda half, shift: -half - shift)

_code = Program(
    key="KEY.1",
    right=_right,
    cases=((0.5, 1.0), (1.0, 2.0), (3.0, 0.5)),
    praise="TODO: what the right function shows.",
    mistakes=(
        Mistake(
            _delta(math.exp, lambda half, shift: half - shift),
            ("TODO: a nudge.", "TODO: that is the first term again, with the sign of 1/(2σ)."),
        ),
        Mistake(
            _delta(math.exp, lambda half, shift: shift - half),
            ("TODO: a nudge.", "TODO: the sign of εσ."),
        ),
        Mistake(
            _delta(lambda epsilon: 1.0, lambda half, shift: -half - shift),
            ("TODO: a nudge.", "TODO: the factor."),
        ),
    ),
    hints=("TODO: a nudge.", "TODO: the point."),
)

_number = Exercise(
    key="KEY.2",
    right=_right(1.0, 2.0),
    praise="TODO: what the right number shows.",
    mistakes=(
        Mistake(
            _right(1.0, 1.0),
            ("TODO: which noise is this for?", "TODO: the point. The noise multiplier is 2."),
        ),
    ),
    hints=("TODO: a nudge.", "TODO: the point."),
)

_further_out = Exercise(
    key="KEY.3",
    right=_right(2.0, 2.0),
    praise="TODO",
    mistakes=(Mistake(_right(1.0, 2.0), ("TODO: a nudge.", "TODO: that is δ at ε = 1.")),),
    hints=("TODO: a nudge.", "TODO: the point."),
)

EXERCISES = (_code, _number, _further_out)
