"""What a reader can set about teachers and their answers."""

from collections.abc import Mapping

from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State, idle
from dplearn.pate import SHIPPED

_ABOUT_TEACHERS = (
    "60 000 drawn digits were divided among so many teachers. More of them know less each, and "
    "their counts stand more noise."
)
TEACHERS = Choice(
    "teachers", "Teachers", _ABOUT_TEACHERS, {str(n): f"{n} teachers" for n in SHIPPED}, "250"
)
NOISE = Quantity(
    "noise_std",
    "Noise on each count σ₂ (votes)",
    "Standard deviation of the Gaussian noise on every count; the largest noisy count wins.",
    default=40,
    lower=5,
    upper=400,
)
CHECK = Choice(
    "check",
    "Answer",
    "Confident-GNMax first checks with noise whether the favourite has enough votes; every check "
    "is paid, whether or not an answer follows.",
    {"every": "every query", "agreed": "if enough agree"},
)
THRESHOLD = Quantity(
    "threshold", "Threshold T (votes)", "", default=200, lower=10, upper=1000, whole=True
)
CHECK_STD = Quantity(
    "check_std", "Noise of the check σ₁ (votes)", "", default=150, lower=10, upper=1000
)
_ABOUT_QUERIES = "How many of a thousand further digits are shown to the teachers."
QUERIES = Quantity(
    "queries", "Queries", _ABOUT_QUERIES, default=300, lower=10, upper=1000, whole=True
)
_ABOUT_ANSWERS = "The cap, fixed beforehand: after so many answers no more is asked."
ANSWERS = Quantity(
    "answers", "At most so many answers", _ABOUT_ANSWERS, 200, lower=1, upper=1000, whole=True
)


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    kinds = (TEACHERS, NOISE, CHECK, THRESHOLD, CHECK_STD, QUERIES, ANSWERS, DELTA)
    hidden = {"check": {"every": ("threshold", "check_std"), "agreed": ()}}
    return State(by_key(*kinds), idle(hidden))
