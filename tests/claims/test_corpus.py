"""Formulas that a script typed from the book, and slips of public trackers, as printed."""

import numpy as np
import pytest
from corpus import rows, wrongly

from cases import each
from dplearn.claims import proofread

# The theorem of a textbook (its issues #53 and #59) and of the explainer of a proposal (#1329).
ERRATA = [
    (r"\epsilon' = 2\epsilon\sqrt{2k\log(1/\delta')}",
     r"For $k$ mechanisms, each $\epsilon$-differentially private, the total privacy cost of the"
     r" entire $k$-fold adaptive composition is $(\epsilon', \delta')$, where", "exact optimum"),
    ("Laplace(epsilon / L1)",
     "noise distributed according to it should achieve epsilon differential privacy",
     "Twice the sensitivity"),
]  # fmt: skip


@each("formula, words, why", ERRATA)
def test_slips_that_were_reported_are_found_as_printed(formula, words, why):
    found = proofread(formula, words=words)
    assert found.verdict == "refuted" and why in found.reason and found.reading


@pytest.mark.slow
def test_nothing_of_a_sample_is_reversed_or_falsely_accused():
    every = [row for row in rows() if not row.held_out]
    drawn = np.random.default_rng(34).choice(len(every), 16, replace=False)
    for row in (every[k] for k in drawn):
        found = proofread(row.formula, words=row.words)
        assert not wrongly(row, found), (row, found)
        assert found.reading or found.verdict == "not read"
