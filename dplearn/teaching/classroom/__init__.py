"""Tools for lessons: figures, students' guesses, exercises, and tests of published values.

Lessons live in ``lessons/sources/NN_name``; ``dplearn lessons build`` turns them into notebooks.
The accountants need nothing of this package.
"""

import os
import sys

from dplearn.teaching.classroom.checks import Exercise, Mistake, check, mine, pictures, yours
from dplearn.teaching.classroom.display import show
from dplearn.teaching.classroom.evidence import Evidence, estimate, estimate_delta
from dplearn.teaching.classroom.predictions import guess, predict, reveal
from dplearn.teaching.classroom.programs import Program, settled

# Use one thread in notebooks: networks are small, and on a busy machine threads block each other.
if "ipykernel" in sys.modules:
    os.environ["OMP_NUM_THREADS"] = "1"  # for PyTorch, if it is imported later
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)

__all__ = ["Evidence", "Exercise", "Mistake", "Program", "check", "estimate", "estimate_delta"]
__all__ += ["guess", "mine", "pictures", "predict", "reveal", "settled", "show", "yours"]
