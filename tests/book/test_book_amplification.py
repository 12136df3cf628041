"""Oracles of sampling and shuffling on cases that are known, and laws between the entries."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from cases import each
from dplearn import book as formulas
from dplearn.book.chapters.amplification import truths as samples
from dplearn.book.kit import oracles
from dplearn.mechanisms import Gaussian


def test_sums_of_all_samples():
    assert samples.sums(combinations([1.0, -1.0, -1.0], 2)) == {0.0: 2.0, -2.0: 1.0}
    assert samples.sums(product([1.0, -1.0], repeat=2)) == {2.0: 1.0, 0.0: 2.0, -2.0: 1.0}


@each("order, direction", [(2.0, "remove"), (7.5, "remove"), (3.0, "add")])
def test_renyi_of_samples_is_that_of_the_densities(order, direction):
    pair = samples.log_mixture(samples.sampled(0.3), 0.8), oracles.log_normal(0.0, 0.8)
    truth = oracles.density_renyi(*(pair if direction == "remove" else pair[::-1]), order, -40, 40)
    about = {"order": order, "noise_multiplier": 0.8, "sample_rate": 0.3}
    assert samples.sampled_renyi(**about, direction=direction) == pytest.approx(truth, rel=1e-10)


def test_shuffled_coins_by_listing_all_answers():
    """Three reports: the held bits are 1, 0, 0 or 0, 0, 0, the answers any three bits."""
    truth = 1 / (1 + math.exp(-0.8))
    law = [np.zeros(4), np.zeros(4)]
    for held, answers in product((0, 1), product((0, 1), repeat=3)):
        bits = zip(answers, (held, 0, 0), strict=True)
        law[held][sum(answers)] += math.prod(truth if a == b else 1 - truth for a, b in bits)
    epsilon = samples.shuffled_coins_epsilon(local_epsilon=0.8, records=3, delta=0.05)
    deltas = [oracles.worst_event_delta(p=law[k], q=law[1 - k], epsilon=epsilon) for k in (0, 1)]
    assert max(deltas) == pytest.approx(0.05, rel=1e-9)


@each("epsilon, sigma", [(0.0, 1.0), (0.7, 0.6), (1.5, 0.5), (0.2, 3.0)])
def test_two_shuffled_batches_on_a_grid(epsilon, sigma):
    x = np.arange(-8 * sigma, 2 + 8 * sigma, sigma / 100)
    zero, one, two = (np.exp(oracles.log_normal(mean, sigma)(x)) for mean in (0.0, 1.0, 2.0))
    p, q = (0.5 * (np.outer(at, zero) + np.outer(zero, at)) for at in (two, one))
    truth = np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * (sigma / 100) ** 2
    delta = samples.shuffled_batches_delta(epsilon=epsilon, noise_multiplier=sigma, batches=2)
    assert delta == pytest.approx(truth, rel=1e-4)


def test_simulated_batches_enclose_the_integral():
    simulated = samples._by_simulation(0.7, 0.6, 2)
    exact = samples.shuffled_batches_delta(epsilon=0.7, noise_multiplier=0.6, batches=2)
    assert simulated.low < exact < simulated.high < simulated.low + 0.06


@each("sigma, epsilon", product([0.2, 1.0, 30.0], [0.0, 0.1, 2.0]))
def test_gaussian_delta_is_the_mechanisms_profile(sigma, epsilon):
    for distance, adjacency in ((1.0, "add_remove"), (2.0, "replace_one")):
        (profile,) = Gaussian(sigma).profiles(adjacency)
        noise = {"noise_multiplier": sigma, "distance": distance}
        delta = formulas.gaussian_delta(epsilon=epsilon, **noise)
        assert delta == pytest.approx(float(profile.delta(epsilon)), rel=1e-11), adjacency


def test_series_of_whole_orders_end():
    for order in (2, 5, 40):
        given = {"order": order, "noise_multiplier": 0.9, "sample_rate": 0.2}
        whole = formulas.sampled_gaussian_rdp_integer(**given)
        assert formulas.sampled_gaussian_rdp(**given) == pytest.approx(whole, rel=1e-12)


@each("sigma, q, steps", [(4.0, 0.01, 10_000), (0.5, 0.1, 10), (10.0, 1e-3, 100)])
def test_newer_conversions_are_smaller(sigma, q, steps):
    run = {"noise_multiplier": sigma, "sample_rate": q, "steps": steps, "delta": 1e-5}
    bounds = [formulas.dpsgd_epsilon, formulas.dpsgd_epsilon_mironov, formulas.moments_accountant]
    values = [bound(**run) for bound in bounds]
    assert values == sorted(values)


NOISE = {"noise_multiplier": 5.0, "sample_rate": 0.01}
REFUSED = [
    ("sampled_gaussian_rdp_much_noise", {"order": 200.0, **NOISE}, "nothing is proved"),
    ("sampled_gaussian_rdp_truncated", {"order": 200.0, **NOISE}, "nothing is proved"),
    ("log_moment_main_term", {"moment": 200.0, **NOISE}, "nothing is proved"),
    ("adaptive_clipping_multiplier", {"noise_multiplier": 2.0, "bit_noise": 1.0},
     r"noise_multiplier < 2 bit_noise = 2"),
    ("classical_gaussian_threshold", {"delta": 0.7}, r"delta in \(0, 0.5\]"),
    ("sampled_gaussian_rdp", {"order": 1.0, **NOISE}, "order > 1"),
]  # fmt: skip


@each("name, given, message", REFUSED)
def test_what_is_out_of_range_is_refused(name, given, message):
    with pytest.raises(ValueError, match=message):
        getattr(formulas, name)(**given)
