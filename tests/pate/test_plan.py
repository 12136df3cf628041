"""PATE plans: guarantees, and aggregators that never exceed their plan."""

import math
from functools import partial

import numpy as np
import pytest

from cases import assert_numbers_are_checked
from dplearn import ACCOUNTANTS
from dplearn.mechanisms.gaussian import gaussian_epsilon
from dplearn.pate import NO_ANSWER, PATE, Aggregator, Votes

CONFIDENT = {"threshold": 200, "check_std": 150}
# Answers, queries, noise, check, delta, and epsilon as printed: six plans for votes on
# synthetic digits, four from Papernot et al. 2018, Tables 1 and 2.
SETTINGS = [
    (100, 100, 40, None, 1e-5, 1.356),
    (300, 300, 40, None, 1e-5, 2.502),
    (372, 640, 40, 150, 1e-5, 2.921),
    (300, 300, 80, None, 1e-5, 1.157),
    (300, 500, 150, 400, 1e-5, 0.618),
    (100, 100, 200, None, 1e-5, 0.234),
    (286, 640, 40, 150, 1e-5, 2.54),
    (3098, 8500, 40, 200, 1e-6, 11.1),
    (524, 1500, 40, 200, 1e-5, 3.54),
    (10_762, 12_000, 100, 500, 1e-8, 9.01),
]


def plan_of(answers, queries, noise_std, check_std):
    check = {"threshold": 200.0, "check_std": check_std} if check_std else {}
    return PATE(answers=answers, queries=queries, noise_std=noise_std, **check)


@pytest.mark.parametrize(("answers", "queries", "noise", "check", "delta", "epsilon"), SETTINGS)
def test_epsilon_of_a_plan_is_that_of_its_gaussians(answers, queries, noise, check, delta, epsilon):
    plan = plan_of(answers, queries, noise, check)
    stated = plan.guarantee(delta=delta)
    # One changed vote changes the counts by sqrt(2) in norm, and the largest count by 1.
    mu = math.sqrt(2 * answers / noise**2 + (queries / check**2 if check else 0))
    assert stated.epsilon == pytest.approx(float(gaussian_epsilon(delta, mu)), rel=1e-9)
    digits = len(f"{epsilon}".replace(".", "").lstrip("0"))
    assert float(f"{stated.epsilon:.{digits}g}") == epsilon
    assert stated.kind == "upper" and stated.lower == 0.0
    assert "one teacher" in stated.assumptions[0]


@pytest.mark.parametrize("name", list(ACCOUNTANTS))
def test_every_accountant_gives_an_upper_bound_on_epsilon(name):
    plan = plan_of(372, 640, 40, 150)
    stated = plan.guarantee(name, delta=1e-5)
    assert stated.kind == "upper" and stated.lower == 0.0
    assert stated.epsilon >= plan.guarantee(delta=1e-5).epsilon * (1 - 1e-9)


def test_bad_plans_are_refused():
    plan = {"answers": 10, "queries": 64, "noise_std": 40.0, "check_std": 150.0}
    assert_numbers_are_checked(partial(PATE, threshold=200.0), **plan)
    for fields, words in (
        ({"queries": 5}, "queries a whole number >= 10"),
        ({"noise_std": 0}, "noise_std"),
        ({"threshold": 200}, "threshold and check_std together or neither"),
        ({"check_std": 150}, "threshold and check_std together or neither"),
        ({"threshold": math.nan, "check_std": 150}, "threshold in"),
        ({"threshold": 200, "check_std": 0.0}, "check_std"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            PATE(**{"answers": 10, "noise_std": 40.0} | fields)


@pytest.mark.parametrize("check", [{}, CONFIDENT])
def test_numbers_of_answers_and_queries_never_exceed_the_plan(check):
    plan = PATE(answers=7, queries=20, noise_std=40, **check)
    aggregator = Aggregator(plan, rng=np.random.default_rng(3))
    rng, answered = np.random.default_rng(4), 0
    # Batches of unanimous or split votes, of few or many classes; some come after the last answer.
    for _ in range(200):
        teachers, classes = int(rng.integers(1, 500)), int(rng.integers(2, 20))
        law = rng.dirichlet(np.full(classes, rng.choice([0.01, 100.0])))
        votes = Votes(rng.multinomial(teachers, law, size=rng.integers(1, 4)))
        was_open = aggregator.open
        labels = aggregator.answer(votes)
        assert was_open or np.all(labels == NO_ANSWER)
        answered += int(np.sum(labels != NO_ANSWER))
        assert answered == aggregator.answered <= 7
        assert aggregator.asked <= 20
    assert not aggregator.open


def test_queries_are_counted_before_noise_is_drawn():
    class Interrupting(np.random.Generator):
        def normal(self, *_):
            raise KeyboardInterrupt

    rng = Interrupting(np.random.PCG64(0))
    aggregator = Aggregator(PATE(answers=5, noise_std=1.0), rng=rng)
    for spent in range(1, 6):
        with pytest.raises(KeyboardInterrupt):
            aggregator.answer(Votes([[3, 1]]))
        assert (aggregator.asked, aggregator.answered) == (spent, spent)
    assert aggregator.answer(Votes([[3, 1]])).tolist() == [NO_ANSWER]
