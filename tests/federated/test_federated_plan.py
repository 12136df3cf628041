"""Federated plans: sampling schemes, weighted means, and users with several records."""

import dataclasses
import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from cases import assert_numbers_are_checked, each
from dplearn import ACCOUNTANTS, DPSGD, Gaussian
from dplearn.federated import FederatedPlan, user_level
from plans import PLAN


@each(
    "sampling, adjacency",
    {
        "poisson": "add_remove",
        "without_replacement": "replace_one",
        "shuffled": "zero_out",
        "random_allocation": "add_remove",
    }.items(),
)
def test_epsilon_per_user_equals_that_of_the_same_run_on_records(sampling, adjacency):
    plan = dataclasses.replace(PLAN, sampling=sampling)
    run = DPSGD(noise_multiplier=2.11, sample_rate=0.05, steps=150, sampling=sampling)
    for rounds in (1, 37, 150):
        stated = plan.guarantee("rdp", delta=1e-5, steps=rounds)
        same = run.guarantee("rdp", delta=1e-5, steps=rounds)
        assert (stated.epsilon, stated.adjacency) == (same.epsilon, adjacency)
        assert str(stated) == f"{same}, per user" and len(stated.assumptions) > 2


def test_plan_without_sampling_is_not_amplified_and_sampling_must_be_stated():
    plan = dataclasses.replace(PLAN, sampling="none")
    everybody = ACCOUNTANTS["pld"]().epsilon(Gaussian(2.11), delta=1e-5, steps=150)
    assert plan.guarantee(delta=1e-5).epsilon == everybody.epsilon
    fields = {f.name: getattr(PLAN, f.name) for f in dataclasses.fields(PLAN)}
    del fields["sampling"]
    with pytest.raises(TypeError, match="sampling"):
        FederatedPlan(**fields)
    assert PLAN.affordable_steps("rdp", epsilon=0.5, delta=1e-5) < 150


@each("divisor", ["public", "present"])
@each("weights", [[1, 1, 1], [9, 1, 1, 1, 1], [0.2, 3.0, 0.0, 1.0, 1.0, 0.5]])
def test_noise_multiplier_of_weighted_updates_is_noise_over_sensitivity(weights, divisor):
    """Enumerate updates of -1 or 1 and the user left out, for the sensitivity of the mean."""
    weights, moved = np.array(weights), 0.0
    for updates in itertools.product((-1, 1), repeat=len(weights)):
        terms = weights * updates
        for user in range(len(weights)):
            rest = np.delete(weights, user).sum() if divisor == "present" else weights.sum()
            without = np.delete(terms, user).sum() / rest
            moved = max(moved, abs(terms.sum() / weights.sum() - without))
    everybody = {"sample_rate": 1.0, "sampling": "none", "noise_multiplier": 1.5}
    everybody["users"] = len(weights)
    delivered = dataclasses.replace(PLAN, **everybody).weighted(weights, divisor=divisor)
    assert delivered.noise_multiplier == pytest.approx(1.5 / len(weights) / moved, rel=1e-12)


def delta_of_sum(losses, masses, steps, epsilon, width):
    """Return E[max(1 - exp(epsilon - L), 0)], L a sum of `steps` losses rounded to `width`."""
    size, whole = 2**18, np.rint(losses / width).astype(int)
    law = np.fft.rfft(np.bincount(whole % size, masses, minlength=size))
    around = int(steps * whole @ masses) + np.arange(-size // 2, size // 2)
    law, total = np.fft.irfft(law**steps, size)[around % size], around * width
    return law[total > epsilon] @ -np.expm1(epsilon - total[total > epsilon])


@pytest.mark.slow
@each(
    "records, rate, noise, steps, stated",
    [
        (20, 0.05, 2.11, 150, 43.63),
        (2, 0.05, 2.11, 150, 2.225),
        (20, 0.05, 1.0, 150, 181.45),
        (3, 0.9, 3.0, 1, None),
        (5, 1.0, 3.0, 4, None),
    ],
)
def test_user_level_epsilon_matches_numerical_composition(records, rate, noise, steps, stated):
    """Discretise the losses of the binomial mixture and compose them by FFT, in both orders."""
    plan = DPSGD(noise_multiplier=noise, sample_rate=rate, steps=steps)
    result = user_level(plan, records=records, delta=1.5e-4)
    assert result.lower > result.epsilon * (1 - 1e-3)
    assert result.epsilon == pytest.approx(stated or result.epsilon, rel=2e-4)
    x = np.linspace(-9 * noise, records + 9 * noise, 100_001)
    middle, plain = 0.5 * (x[1:] + x[:-1]), np.diff(ndtr(x / noise))
    chances = [(k, p) for k, p in enumerate(binom.pmf(range(records + 1), records, rate)) if p]
    mixed = sum(p * np.diff(ndtr((x - k) / noise)) for k, p in chances)
    loss = np.log(sum(p * np.exp(k * (middle - k / 2) / noise**2) for k, p in chances))
    # The rounding errors of all steps are assumed to sum to at most one width.
    width = result.epsilon / 50_000
    for epsilon, holds in ((result.lower - width, np.greater), (result.epsilon + width, np.less)):
        both = ((loss, mixed), (-loss, plain))
        assert holds(max(delta_of_sum(*one, steps, epsilon, width) for one in both), 1.5e-4)


def test_equal_gradients_of_a_user_leak_more_than_random_gradients():
    """Compare a user's three equal gradients with random ones, over all eight possible lots."""
    rng, noise, rate, axis = np.random.default_rng(5), 0.8, 0.3, np.linspace(-6, 8, 141)
    place = np.stack(np.meshgrid(axis, axis), axis=-1)
    lots = np.array(list(itertools.product((0, 1), repeat=3)))
    chances = rate ** lots.sum(1) * (1 - rate) ** (3 - lots.sum(1))

    def law(mean):
        density = np.exp(-0.5 * np.square((place - mean) / noise).sum(-1))
        return density / density.sum()

    def deltas(gradients):
        mixed, plain = np.tensordot(chances, [law(mean) for mean in lots @ gradients], 1), law(0)
        pairs = ((mixed, plain), (plain, mixed))
        return np.array([(p - e * q).clip(0).sum() for p, q in pairs for e in (1.1, 1.6, 7)])

    worst = deltas(np.tile([1.0, 0.0], (3, 1)))
    for candidate in range(12):
        gradients = rng.normal((2 * (candidate % 3), 0), size=(3, 2))
        gradients /= np.maximum(np.linalg.norm(gradients, axis=1), candidate % 2)[:, None]
        assert np.all(deltas(gradients) <= worst + 1e-9)


def test_bad_plans_are_refused():
    change = partial(dataclasses.replace, PLAN)
    numbers = {"users": 10, "rounds": 3, "max_update_norm": 1.0, "noise_multiplier": 1.0}
    assert_numbers_are_checked(change, **numbers)
    for changes, message in (
        ({"users": 0}, "users a whole number >= 1, got users=0"),
        ({"max_update_norm": 0}, "max_update_norm > 0 and finite, got max_update_norm=0"),
        ({"sample_rate": 2.0, "sampling": "none"}, "sample_rate in"),
        ({"sampling": "sometimes"}, "sampling one of"),
    ):
        with pytest.raises(ValueError, match=message):
            change(**changes)


def test_weights_and_sampling_schemes_without_a_theorem_are_refused():
    two = dataclasses.replace(PLAN, users=2)
    for weights in ([0.0, 0.0], [1.0, -1.0], [1.0, math.nan]):
        with pytest.raises(ValueError, match="Expected weights that are finite"):
            two.weighted(weights, divisor="public")
    for weights in ([], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match=r"shape \(2,\), one weight for each of plan.users"):
            two.weighted(weights, divisor="public")
    with pytest.raises(ValueError, match="divisor one of present, public, got divisor='leaves'"):
        two.weighted([1.0, 1.0], divisor="leaves")
    with pytest.raises(NotImplementedError, match=r"those present with sample_rate=0\.05"):
        two.weighted([1.0, 1.0], divisor="present")
    shuffled = DPSGD(noise_multiplier=1.0, sample_rate=0.1, steps=10, sampling="shuffled")
    with pytest.raises(NotImplementedError, match="several records under sampling='shuffled'"):
        user_level(shuffled, records=2, delta=1e-5)
    many = dataclasses.replace(shuffled, sampling="poisson")
    with pytest.raises(ValueError, match="records a whole number >= 1 and <= 1000, got"):
        user_level(many, records=1001, delta=1e-5)
    everybody = dataclasses.replace(shuffled, sampling="none", sample_rate=1.0)
    assert user_level(everybody, records=2000, delta=1e-5).kind == "exact"
    with pytest.raises(ValueError, match=r"sample_rate = 1 .* got sample_rate=0\.1"):
        dataclasses.replace(shuffled, sampling="none")
