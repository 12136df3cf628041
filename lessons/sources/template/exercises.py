"""Exercises of lesson NUMBER, TITLE."""

from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import Exercise, Mistake, Program

(_PROFILE,) = Gaussian(2.0).profiles()
(_HALF_THE_NOISE,) = Gaussian(1.0).profiles()

_delta = Exercise(
    key="KEY.1",
    right=float(_PROFILE.delta(1)),
    praise="TODO: what the right number shows.",
    mistakes=(
        Mistake(
            float(_HALF_THE_NOISE.delta(1)),
            ("TODO: which noise is this for?", "TODO: the point. The noise multiplier is 2."),
        ),
    ),
    hints=("TODO: a nudge.", "TODO: the point."),
)

_delta_further_out = Exercise(
    key="KEY.2",
    right=float(_PROFILE.delta(2)),
    praise="TODO",
    mistakes=(Mistake(float(_PROFILE.delta(1)), ("TODO: a nudge.", "TODO: that is δ at ε = 1.")),),
    hints=("TODO: a nudge.", "TODO: the point."),
)


def _delta_of(epsilon, sigma):
    (profile,) = Gaussian(sigma).profiles()
    return float(profile.delta(epsilon))


_code = Program(
    key="KEY.3",
    right=_delta_of,
    cases=((0.0, 1.0), (1.0, 2.0), (3.0, 0.5)),
    praise="TODO: what the right function shows.",
    mistakes=(
        Mistake(
            lambda epsilon, sigma: _delta_of(epsilon, 1 / sigma),
            ("TODO: a nudge.", "TODO: you turned the noise upside down."),
        ),
    ),
    hints=("TODO: a nudge.", "TODO: the point."),
)

EXERCISES = (_delta, _delta_further_out, _code)
