"""Planted bugs are caught as the table says, correct code no more often than the level allows."""

from dataclasses import replace

import pytest
from scipy.stats import binom

from audit import BUGS, CONFIDENCE, UNSEEN, row

pytestmark = pytest.mark.slow
AUDITS = 5


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught_and_one_is_known_not_to_be(bug):
    caught, *_ = row(bug, AUDITS)
    assert caught == 0 if bug.name in UNSEEN else caught >= 0.8 * AUDITS


def test_correct_code_is_accused_no_more_often_than_the_level_allows():
    accused, *_ = row(replace(BUGS[0], name="correct"), 100)
    assert accused <= binom.isf(1e-6, 100, 1 - CONFIDENCE)
    # Of the epsilon there is, most can be proved: an audit that sees nothing proves nothing.
    assert row(replace(BUGS[0], name="correct"), 5).epsilon > 0.2 * BUGS[0].claimed.epsilon
