"""Tools of lessons: figures with words, predictions, evidence, exercises.

Lessons live in ``lessons/sources/NN_name``; ``dplearn lessons build`` turns them into notebooks.
Nothing here is needed to account for privacy.
"""

import os
import sys

from dplearn.teaching.classroom.checks import Exercise, Mistake, check, mine, pictures, yours
from dplearn.teaching.classroom.display import show
from dplearn.teaching.classroom.evidence import Evidence, estimate, estimate_delta
from dplearn.teaching.classroom.predictions import guess, predict, reveal
from dplearn.teaching.classroom.programs import Program, settled

# The lessons' networks are small: on a busy machine several threads would wait for each other for
# minutes.
if "ipykernel" in sys.modules:
    os.environ["OMP_NUM_THREADS"] = "1"  # for a torch that is imported later
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)

__all__ = [
    "Evidence",
    "Exercise",
    "Mistake",
    "Program",
    "check",
    "estimate",
    "estimate_delta",
    "guess",
    "mine",
    "pictures",
    "predict",
    "reveal",
    "settled",
    "show",
    "yours",
]
