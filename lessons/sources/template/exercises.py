"""Exercises of lesson NUMBER, TITLE."""

from dplearn.classroom import Exercise, Mistake
from dplearn.mechanisms import Gaussian

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

_epsilon = Exercise(
    key="KEY.3",
    right=float(_PROFILE.epsilon(1e-5)),
    praise="TODO",
    mistakes=(
        Mistake(
            float(_HALF_THE_NOISE.epsilon(1e-5)),
            ("TODO: a nudge.", "TODO: that is ε for noise multiplier 1."),
        ),
    ),
    hints=("TODO: a nudge.", "TODO: the point."),
)

EXERCISES = (_delta, _delta_further_out, _epsilon)
