"""Oracles of entries that are no identities, against known values and enumeration.

The oracle of an identity is checked by its entry and by printed digits.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from cases import each
from dplearn.teaching import book as formulas
from dplearn.teaching.book.chapters import choices, sampling, selection, sensitivity
from dplearn.teaching.book.chapters.auditing import chance_of_correct
from dplearn.teaching.book.chapters.conversion import pointwise_epsilon
from dplearn.teaching.book.chapters.pate import gnmax_law
from dplearn.teaching.book.kit import oracles

P, Q = oracles.leaky_response(epsilon=0.7, delta=0.03)
VALUES = [
    (oracles.worst_event_epsilon_at, {"p": P, "q": Q, "delta": 0.03}, 0.7, 1e-12),
    (oracles.worst_event_epsilon_at, {"p": P, "q": Q, "delta": 0.029}, math.inf, 0),
    (oracles.worst_event_epsilon_at, {"p": P, "q": P, "delta": 0.0}, 0.0, 0),
    # The threshold ln(2/delta) / (2 epsilon) does not give this delta, 9.43e-10, but 1.0858e-5.
    (sensitivity.propose_test_release_delta,
     {"at": 2.0, "epsilon": 1.0, "threshold": math.log(2 / 9.43e-10) / 2}, 1.0858e-5, 1e-4),
    (lambda **at: np.exp(gnmax_law(**at))[1], {"votes": [150, 50], "noise_std": 40.0},
     0.03854993587, 1e-9),
]  # fmt: skip


@each("oracle, parameters, value, rel", VALUES)
def test_oracle_returns_known_value(oracle, parameters, value, rel):
    assert oracle(**parameters) == pytest.approx(value, rel=rel)


def test_rdp_to_epsilon_equals_bound_from_pointwise_inequality():
    for orders, rdp, delta in ((10.0, 0.5, 1e-5), (1.1, 3.0, 1e-3), (200.0, 0.01, 1e-9)):
        expected = pointwise_epsilon(orders=orders, rdp=rdp, delta=delta)
        epsilon = float(formulas.rdp_to_epsilon(orders, rdp, delta=delta))
        assert epsilon == pytest.approx(expected, rel=1e-9)


def test_epsilon_of_shuffled_responses_agrees_with_enumeration():
    """Enumerate all answers of three records with true bits 1, 0, 0 or 0, 0, 0."""
    expected = 1 / (1 + math.exp(-0.8))
    law = [np.zeros(4), np.zeros(4)]
    for held, answers in itertools.product((0, 1), itertools.product((0, 1), repeat=3)):
        bits = zip(answers, (held, 0, 0), strict=True)
        law[held][sum(answers)] += math.prod(expected if a == b else 1 - expected for a, b in bits)
    epsilon = sampling.shuffled_responses_epsilon(local_epsilon=0.8, records=3, delta=0.05)
    both = [oracles.worst_event_delta(p=law[k], q=law[1 - k], epsilon=epsilon) for k in (0, 1)]
    assert max(both) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.slow
@each("epsilon, sigma", [(0.0, 1.0), (0.7, 0.6), (1.5, 0.5), (0.2, 3.0)])
def test_delta_of_two_shuffled_batches_equals_a_sum_over_a_grid(epsilon, sigma):
    """The integral for delta equals a sum over a grid, and is in the interval from simulation."""
    x = np.arange(-8 * sigma, 2 + 8 * sigma, sigma / 100)
    zero, one, two = (np.exp(oracles.log_normal(mean, sigma)(x)) for mean in (0.0, 1.0, 2.0))
    p, q = (0.5 * (np.outer(at, zero) + np.outer(zero, at)) for at in (two, one))
    expected = np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * (sigma / 100) ** 2
    delta = sampling.shuffled_batches_delta(epsilon=epsilon, noise_multiplier=sigma, batches=2)
    assert delta == pytest.approx(expected, rel=1e-4)
    simulated = sampling._by_simulation(epsilon, sigma, 2)
    assert simulated.low < delta < simulated.high < simulated.low + 0.06


def test_probabilities_of_candidates_and_outcomes_sum_to_1():
    law = {"scale": 0.7, "law": choices.LAPLACE}
    turned = (np.roll([0.3, 1.0, -0.5], k) for k in range(3))
    chances = [choices.argmax_probability(scores=scores, **law) for scores in turned]
    assert sum(chances) == pytest.approx(1.0, rel=1e-10)
    answers = np.array([0.3, -1.0, 2.0])
    for positives, query_scale in itertools.product((1, 2), (0.0, 0.5, 3.0)):
        scales = {"threshold_scale": 1.5, "query_scale": query_scale}
        ways = selection.outcomes(3, positives)
        chances = [math.exp(selection.log_chance(o, answers[: len(o)], **scales)) for o in ways]
        assert sum(chances) == pytest.approx(1.0, rel=1e-10), (positives, query_scale)


def test_smooth_sensitivity_corollary_fails_from_epsilon_14():
    """Laplace noise 2 S / epsilon, beta = epsilon / (2 ln(2/delta)), fails at epsilon = 14."""
    for epsilon, good in ((13.0, True), (14.0, False)):
        about = {"epsilon": epsilon, "beta": epsilon / (2 * math.log(2e5))}
        assert (sensitivity.dilated_laplace_delta(**about) <= 1e-5) == good, epsilon


def test_number_of_repetitions_and_best_of_three_have_known_distributions():
    k = np.arange(1, 51)
    for shape, law in ((1.0, 0.2 * 0.8 ** (k - 1)), (0.0, 0.8**k / (k * math.log(5)))):
        counts = selection.repetitions(shape=shape, stop=0.2)
        assert counts[:50] == pytest.approx(law, rel=1e-13), shape
    scores, best = [0.2, 0.5, 0.3], np.zeros(3)
    for triple in itertools.product(range(3), repeat=3):
        best[max(triple)] += math.prod(scores[i] for i in triple)
    assert selection.best_of(scores, np.eye(3)[-1]) == pytest.approx(best, rel=1e-14)


def test_last_iterate_divergence_on_a_tiny_interval_has_closed_form():
    run = {"lipschitz": 1.0, "noise_std": 2.0, "step_size": 0.5, "smoothness": 0.0}
    ends = np.array([ndtr(0.5), 1 - ndtr(0.5)])
    for order in (1.5, 4.0):
        step = selection.last_iterate_renyi(order=order, **run, steps=1, record=1, width=1e-9)
        expected = oracles.finite_renyi(p=ends, q=ends[::-1], order=order)
        assert step == pytest.approx(expected, rel=1e-8), order


def test_one_run_p_value_at_delta_0_is_binomial_tail():
    about = {"canaries": 50, "guesses": 40, "epsilon": 0.8, "delta": 0.0}
    expected = 1 / (1 + math.exp(-0.8))
    masses = [math.comb(40, k) * expected**k * (1 - expected) ** (40 - k) for k in range(41)]
    for correct in (28, 30, 40):
        exact = pytest.approx(sum(masses[correct:]), rel=1e-10)
        assert formulas.one_run_p_value(**about, correct=correct) == exact, correct
        assert chance_of_correct(**about, correct=correct) == exact, correct
