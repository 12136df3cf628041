"""The slow ways to the truth about choices, on cases that are known otherwise."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from dplearn.book.chapters.selection import truths as truth
from dplearn.book.kit.oracles import finite_renyi


def test_number_of_repetitions():
    geometric = truth.repetitions(shape=1.0, stop=0.2)
    assert geometric[:50] == pytest.approx(0.2 * 0.8 ** np.arange(50), rel=1e-13)
    logarithmic = truth.repetitions(shape=0.0, stop=0.2)
    k = np.arange(1, 51)
    assert logarithmic[:50] == pytest.approx(0.8**k / (k * math.log(5)), rel=1e-13)


def test_best_of_three_by_all_triples():
    scores = [0.2, 0.5, 0.3]
    law = np.zeros(3)
    for triple in itertools.product(range(3), repeat=3):
        law[max(triple)] += math.prod(scores[i] for i in triple)
    found, _ = truth.best_of_fixed(p=scores, q=scores, runs=3)
    assert found == pytest.approx(law, rel=1e-14)


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_a_clipped_step(order):
    """One step into an interval so narrow that only its ends are ever reached."""
    found = truth.last_iterate_renyi(
        order=order, lipschitz=1.0, noise_std=2.0, step_size=0.5, smoothness=0.0,
        steps=1, record=1, radius=1e-9,
    )  # fmt: skip
    right = ndtr(0.5)
    assert found == pytest.approx(finite_renyi(p=[right, 1 - right], q=[1 - right, right],
                                               order=order), rel=1e-8)  # fmt: skip


def test_linear_losses_only_shift_the_noise():
    found = truth.last_iterate_renyi(
        order=3.0, lipschitz=0.7, noise_std=2.0, step_size=0.3, smoothness=0.0,
        steps=6, record=4, radius=15.0,
    )  # fmt: skip
    # N(-s, v) against N(s, v), with the noise of all six steps.
    shift, variance = 0.3 * 0.7, 6 * (0.3 * 2.0) ** 2
    assert found == pytest.approx(3.0 * (2 * shift) ** 2 / (2 * variance), rel=1e-10)


@pytest.mark.parametrize("query_scale", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("positives", [1, 2])
def test_outcomes_of_a_sparse_vector_are_everything(positives, query_scale):
    answers = np.array([0.3, -1.0, 2.0])
    total = sum(
        math.exp(truth.log_chance(o, answers[: len(o)], threshold_scale=1.5,
                                  query_scale=query_scale))
        for o in truth._outcomes(3, positives)
    )  # fmt: skip
    assert total == pytest.approx(1.0, rel=1e-10)


def test_chance_above_a_noisy_threshold():
    found = truth.log_chance((True,), [1.0], threshold_scale=1.0, query_scale=1.0)
    # The difference of two Laplace variables of scale 1 exceeds x with e^-x (2 + x) / 4.
    assert math.exp(found) == pytest.approx(1 - math.exp(-1) * 3 / 4, rel=1e-11)
