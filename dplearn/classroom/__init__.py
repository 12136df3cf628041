"""What a lesson needs besides the library: figures with words, guesses, evidence, exercises.

Lessons live in ``lessons/sources/NN_name``; ``dplearn lessons build`` turns them into notebooks.
Nothing here is needed to account for privacy.
"""

from dplearn.classroom.checks import Exercise, Mistake, check, mine
from dplearn.classroom.display import show
from dplearn.classroom.evidence import Estimate, Evidence, estimate, estimate_delta
from dplearn.classroom.predictions import guess, predict, reveal
from dplearn.classroom.programs import Program, settled

__all__ = [
    "Estimate",
    "Evidence",
    "Exercise",
    "Mistake",
    "Program",
    "check",
    "estimate",
    "estimate_delta",
    "guess",
    "mine",
    "predict",
    "reveal",
    "settled",
    "show",
]
