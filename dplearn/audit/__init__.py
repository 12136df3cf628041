"""Audits: lower bounds on epsilon, proved by the outputs of a program.

An auditor inserts canaries at random into the training data and guesses from the outputs which were
included. Too many right guesses refute a small epsilon, at the confidence of one test planned
before the runs: the result is a `LowerBound`, never a guarantee.

`observe(train, canaries=...).bound(delta=...)` audits any training function. `from_scores` and
`from_counts` use many independent runs with and without one canary, `one_run` and `from_guesses`
many canaries of one or a few runs. `two_worlds` tests counts at several planned times against
the whole trade-off curve of one plan."""

from dplearn.audit.bounds import (
    LowerBound,
    from_counts,
    from_guesses,
    from_scores,
    one_run,
    two_worlds,
)
from dplearn.audit.runs import Observations, observe

__all__ = [
    "LowerBound",
    "Observations",
    "from_counts",
    "from_guesses",
    "from_scores",
    "observe",
    "one_run",
    "two_worlds",
]
