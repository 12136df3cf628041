"""Oracles of sampling and shuffling on cases that are known, and laws between the entries."""

import itertools
import math

import numpy as np
import pytest

from dplearn import book as formulas
from dplearn.book.chapters.amplification import truths as samples
from dplearn.book.kit import oracles
from dplearn.mechanisms import Gaussian


def test_sums_of_all_samples():
    subsets, draws = (
        itertools.combinations([1.0, -1, -1], 2),
        itertools.product([1.0, -1], repeat=2),
    )
    assert samples.sums(subsets) == {0.0: 2.0, -2.0: 1.0}
    assert samples.sums(draws) == {2.0: 1.0, 0.0: 2.0, -2.0: 1.0}


def test_renyi_of_samples_is_that_of_the_densities():
    pair = samples.log_mixture(samples.sampled(0.3), 0.8), oracles.log_normal(0.0, 0.8)
    given = {"noise_multiplier": 0.8, "sample_rate": 0.3}
    for order, direction, laws in (
        (2, "remove", pair),
        (7.5, "remove", pair),
        (3, "add", pair[::-1]),
    ):
        truth = oracles.density_renyi(*laws, order, -40.0, 40.0)
        value = samples.sampled_renyi(order=order, **given, direction=direction)
        assert value == pytest.approx(truth, rel=1e-10), (order, direction)


def test_shuffled_coins_by_listing_all_answers():
    """Three reports: the held bits are 1, 0, 0 or 0, 0, 0, the answers any three bits."""
    truth = 1 / (1 + math.exp(-0.8))
    law = [np.zeros(4), np.zeros(4)]
    for held, answers in itertools.product((0, 1), itertools.product((0, 1), repeat=3)):
        bits = zip(answers, (held, 0, 0), strict=True)
        law[held][sum(answers)] += math.prod(truth if a == b else 1 - truth for a, b in bits)
    epsilon = samples.shuffled_coins_epsilon(local_epsilon=0.8, records=3, delta=0.05)
    deltas = [oracles.worst_event_delta(p=law[k], q=law[1 - k], epsilon=epsilon) for k in (0, 1)]
    assert max(deltas) == pytest.approx(0.05, rel=1e-9)


def test_two_shuffled_batches_on_a_grid():
    for epsilon, sigma in [(0.0, 1.0), (0.7, 0.6), (1.5, 0.5), (0.2, 3.0)]:
        x = np.arange(-8 * sigma, 2 + 8 * sigma, sigma / 100)
        at = {mean: np.exp(oracles.log_normal(mean, sigma)(x)) for mean in (0.0, 1.0, 2.0)}
        one, two = (0.5 * (np.outer(at[m], at[0.0]) + np.outer(at[0.0], at[m])) for m in (1.0, 2.0))
        truth = np.maximum(two - math.exp(epsilon) * one, 0.0).sum() * (sigma / 100) ** 2
        delta = samples.shuffled_batches_delta(epsilon=epsilon, noise_multiplier=sigma, batches=2)
        assert delta == pytest.approx(truth, rel=1e-4), (epsilon, sigma)


def test_simulated_batches_enclose_the_integral():
    simulated = samples._by_simulation(0.7, 0.6, 2)
    exact = samples.shuffled_batches_delta(epsilon=0.7, noise_multiplier=0.6, batches=2)
    assert simulated.low < exact < simulated.high < simulated.low + 0.06


def test_gaussian_delta_is_the_mechanisms_profile():
    neighbours = {"add_remove": 1.0, "replace_one": 2.0}
    for sigma, adjacency in itertools.product((0.2, 1.0, 30.0), neighbours):
        (profile,) = Gaussian(sigma).profiles(adjacency)
        noise = {"noise_multiplier": sigma, "distance": neighbours[adjacency]}
        for epsilon in (0.0, 0.1, 2.0):
            delta = formulas.gaussian_delta(epsilon=epsilon, **noise)
            truth = pytest.approx(float(profile.delta(epsilon)), rel=1e-11)
            assert delta == truth, (sigma, adjacency, epsilon)


def test_series_of_whole_orders_end():
    for order in (2, 5, 40):
        given = {"order": order, "noise_multiplier": 0.9, "sample_rate": 0.2}
        whole = formulas.sampled_gaussian_rdp_integer(**given)
        assert formulas.sampled_gaussian_rdp(**given) == pytest.approx(whole, rel=1e-12)


def test_newer_conversions_are_smaller():
    for sigma, q, steps in [(4.0, 0.01, 10_000), (0.5, 0.1, 10), (10.0, 1e-3, 100)]:
        given = {"noise_multiplier": sigma, "sample_rate": q, "steps": steps, "delta": 1e-5}
        names = ("dpsgd_epsilon", "dpsgd_epsilon_mironov", "moments_accountant")
        values = [getattr(formulas, name)(**given) for name in names]
        assert values == sorted(values), given


def test_closed_bounds_refuse_what_is_not_proved():
    given = {"order": 200.0, "noise_multiplier": 5.0, "sample_rate": 0.01}
    for bound in ("sampled_gaussian_rdp_much_noise", "sampled_gaussian_rdp_truncated"):
        with pytest.raises(ValueError, match="nothing is proved"):
            getattr(formulas, bound)(**given)
    with pytest.raises(ValueError, match="nothing is proved"):
        formulas.log_moment_main_term(moment=given.pop("order"), **given)


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match=r"noise_multiplier < 2 bit_noise = 2"):
        formulas.adaptive_clipping_multiplier(noise_multiplier=2.0, bit_noise=1.0)
    with pytest.raises(ValueError, match=r"delta in \(0, 0.5\]"):
        formulas.classical_gaussian_threshold(delta=0.7)
    with pytest.raises(ValueError, match="order > 1"):
        formulas.sampled_gaussian_rdp(order=1.0, noise_multiplier=1.0, sample_rate=0.1)
