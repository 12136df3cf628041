"""Audits: what the outputs of a program prove about its epsilon, from below.

An auditor puts canaries into the data of some runs and not of others, and guesses from the outputs
which were in. Guesses that are right too often are impossible, at the confidence of one look that
was planned before, for a program of a small epsilon: a `LowerBound`, never a guarantee.

`observe(train, canaries=...).bound(delta=...)` does it with any training function. `from_scores`
and `from_counts` judge many independent runs with and without one canary, `one_run` and
`from_guesses` many canaries of one run, or of a few. `two_worlds` judges planned looks at growing
counts against the whole curve of one plan."""

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
