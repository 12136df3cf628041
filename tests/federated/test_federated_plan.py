"""A plan about users: the theorem of each way to take part, and what is not delivered."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from cases import each
from dplearn import DPSGD, Gaussian, accountants
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
def test_each_way_to_take_part_has_the_theorem_of_its_scheme(sampling, adjacency):
    plan = dataclasses.replace(PLAN, sampling=sampling)
    run = DPSGD(noise_multiplier=2.11, sample_rate=0.05, steps=150, sampling=sampling)
    for rounds in (1, 37, 150):
        stated = plan.guarantee("rdp", delta=1e-5, steps=rounds)
        same = run.guarantee("rdp", delta=1e-5, steps=rounds)
        assert (stated.epsilon, stated.adjacency) == (same.epsilon, adjacency)
        assert str(stated) == f"{same}, per user" and len(stated.assumptions) > 2


def test_unknown_participation_amplifies_nothing_and_there_is_no_default():
    plan = dataclasses.replace(PLAN, sampling="none")
    everybody = accountants["pld"]().epsilon(Gaussian(2.11), delta=1e-5, steps=150)
    assert plan.guarantee(delta=1e-5).epsilon == everybody.epsilon
    assert plan.expected_clients == 150
    fields = {f.name: getattr(PLAN, f.name) for f in dataclasses.fields(PLAN)}
    del fields["sampling"]
    with pytest.raises(TypeError, match="sampling"):
        FederatedPlan(**fields)
    assert PLAN.affordable_steps("rdp", epsilon=0.5, delta=1e-5) < 150


@each("share, users", [(0.5, 10), (0.1, 10), (0.9, 3)])
def test_a_weighted_mean_delivers_less_by_its_largest_share(share, users):
    """The mean moves by share * C where noise is z C / users; the definition, on a line."""
    weights = [share] + [(1 - share) / (users - 1)] * (users - 1)
    paper = dataclasses.replace(PLAN, users=users, rounds=1, noise_multiplier=1.0, sampling="none")
    stated = paper.weighted(weights).guarantee(delta=1e-5)
    mu = share * users
    x = stated.epsilon / mu
    assert ndtr(mu / 2 - x) - math.exp(stated.epsilon) * ndtr(-mu / 2 - x) == pytest.approx(1e-5)


@each("records, rate", [(1, 0.05), (2, 0.05), (20, 0.05), (5, 1.0)])
def test_a_user_with_several_records_loses_at_most_what_is_stated(records, rate):
    """One step, both directions, against the mixture of binomially many records."""
    plan = DPSGD(noise_multiplier=3.0, sample_rate=rate, steps=1)
    stated = user_level(plan, records=records, delta=1e-4)
    x, counts = np.linspace(-40, 60, 200_001), np.arange(records + 1)
    normal = lambda mean: np.exp(-0.5 * ((x - mean) / 3.0) ** 2) / (3.0 * math.sqrt(2 * math.pi))
    chances = binom.pmf(counts, records, rate)
    mixed, plain = sum(p * normal(k) for p, k in zip(chances, counts, strict=True)), normal(0)
    excess = lambda p, q: (x[1] - x[0]) * np.maximum(p - math.exp(stated.epsilon) * q, 0).sum()
    worst = max(excess(mixed, plain), excess(plain, mixed))
    assert worst <= 1e-4 * (1 + 1e-6)
    if records == 1 or rate == 1:
        assert worst == pytest.approx(1e-4, rel=1e-4)


@each(
    "changes, message",
    [
        ({"users": 0}, "users a whole number >= 1, got users=0"),
        ({"rounds": 1.5}, "rounds a whole number >= 0, got rounds=1.5"),
        ({"max_update_norm": 0}, "max_update_norm > 0 and finite, got max_update_norm=0"),
        ({"sample_rate": 2.0, "sampling": "none"}, "sample_rate in"),
        ({"sampling": "sometimes"}, "sampling one of"),
    ],
)
def test_bad_plans_are_refused_in_one_sentence(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        dataclasses.replace(PLAN, **changes)


def test_what_has_no_theorem_is_refused():
    for weights in ([], [0.0, 0.0], [1.0, -1.0], [[1.0]], [math.nan]):
        with pytest.raises(ValueError, match="Expected weights"):
            PLAN.weighted(weights)
    shuffled = DPSGD(noise_multiplier=1.0, sample_rate=0.1, steps=10, sampling="shuffled")
    with pytest.raises(NotImplementedError, match="several records under sampling='shuffled'"):
        user_level(shuffled, records=2, delta=1e-5)
    idle = dataclasses.replace(shuffled, sampling="none")
    for records in (1, 2):
        with pytest.raises(ValueError, match=r"sample_rate = 1 .* got sample_rate=0\.1"):
            user_level(idle, records=records, delta=1e-5)
