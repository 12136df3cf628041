"""The slow ways to the truth about choices, on cases with another way to the truth."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from dplearn.book.chapters.selection import truths
from dplearn.book.kit.oracles import finite_renyi


def test_number_of_repetitions():
    k = np.arange(1, 51)
    for shape, law in ((1.0, 0.2 * 0.8 ** (k - 1)), (0.0, 0.8**k / (k * math.log(5)))):
        counts = truths.repetitions(shape=shape, stop=0.2)
        assert counts[:50] == pytest.approx(law, rel=1e-13), shape


def test_best_of_three_by_all_triples():
    scores = [0.2, 0.5, 0.3]
    law = np.zeros(3)
    for triple in itertools.product(range(3), repeat=3):
        law[max(triple)] += math.prod(scores[i] for i in triple)
    assert truths.best_of(scores, np.eye(3)[-1]) == pytest.approx(law, rel=1e-14)


def test_a_clipped_step():
    """One step into an interval so narrow that only its ends are ever reached."""
    run = {"lipschitz": 1.0, "noise_std": 2.0, "step_size": 0.5, "smoothness": 0.0}
    right = ndtr(0.5)
    ends = {"p": [right, 1 - right], "q": [1 - right, right]}
    for order in (1.5, 4.0):
        step = truths.last_iterate_renyi(order=order, **run, steps=1, record=1, width=1e-9)
        assert step == pytest.approx(finite_renyi(**ends, order=order), rel=1e-8), order


def test_linear_losses_only_shift_the_noise():
    run = {"lipschitz": 0.7, "noise_std": 2.0, "step_size": 0.3, "smoothness": 0.0}
    last = truths.last_iterate_renyi(order=3.0, **run, steps=6, record=4, width=25.0)
    # N(-s, v) against N(s, v), with the noise of all six steps.
    shift, variance = 0.3 * 0.7, 6 * (0.3 * 2.0) ** 2
    assert last == pytest.approx(3.0 * (2 * shift) ** 2 / (2 * variance), rel=1e-10)


def test_outcomes_of_a_sparse_vector_are_everything():
    answers = np.array([0.3, -1.0, 2.0])
    for positives, query_scale in itertools.product((1, 2), (0.0, 0.5, 3.0)):
        scales = {"threshold_scale": 1.5, "query_scale": query_scale}
        ways = truths.outcomes(3, positives)
        chances = [math.exp(truths.log_chance(o, answers[: len(o)], **scales)) for o in ways]
        assert sum(chances) == pytest.approx(1.0, rel=1e-10), (positives, query_scale)


def test_chance_above_a_noisy_threshold():
    log_chance = truths.log_chance((True,), [1.0], threshold_scale=1.0, query_scale=1.0)
    # The difference of two Laplace variables of scale 1 exceeds x with e^-x (2 + x) / 4.
    assert math.exp(log_chance) == pytest.approx(1 - math.exp(-1) * 3 / 4, rel=1e-11)
