"""Nine guarantees of one run, and scores of rehearsals at several epsilons."""

import math

import pytest
from scipy.stats import norm

from dplearn import DPSGD
from dplearn.teaching.choosing import readings, rehearse

RUN = DPSGD(noise_multiplier=4.0, sample_rate=0.25, steps=40)
READINGS = readings(RUN, delta=1e-4, records=1000, of_one=1)


def test_guarantees_have_the_delta_and_adjacency_of_their_assumption():
    known = READINGS["the attacker knows the lots"].epsilon
    mu = math.sqrt(RUN.steps) / RUN.noise_multiplier
    delta = norm.cdf(mu / 2 - known / mu) - math.exp(known) * norm.cdf(-mu / 2 - known / mu)
    assert delta == pytest.approx(1e-4, rel=1e-5)
    # With one record per person, the user-level epsilon is the plan's record-level epsilon.
    alone, planned = READINGS["a person with 1 records"], READINGS["as planned: δ = 0.0001"]
    assert alone.epsilon == pytest.approx(planned.epsilon, rel=1e-9)
    assert {g.delta for g in READINGS.values()} == {1e-3, 1e-4, 1e-6}
    assert {g.adjacency for g in READINGS.values()} == {"add_remove", "replace_one", "zero_out"}


def test_only_a_larger_delta_gives_a_smaller_epsilon_than_planned():
    first, planned, *others = READINGS.values()
    assert first.epsilon < planned.epsilon and len(others) == 7
    assert all(g.is_bound and planned.lower < g.epsilon < math.inf for g in others)


def test_guarantees_are_listed_only_for_poisson_sampling():
    run = DPSGD(noise_multiplier=4.0, sample_rate=0.25, steps=40, sampling="shuffled")
    with pytest.raises(
        ValueError, match=r"Expected sampling='poisson' in the plan, got 'shuffled'"
    ):
        readings(run, delta=1e-4, records=1000, of_one=1)


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement"])
def test_trial_runs_have_the_least_noise_for_each_epsilon(sampling):
    run = DPSGD(noise_multiplier=4.0, sample_rate=0.25, steps=4, sampling=sampling)
    called = []
    score = lambda plan, seed: called.append((plan, seed)) or seed
    curve = rehearse(score, run, epsilons=(1.0, math.inf), delta=1e-4, repeats=2)
    for point in curve:
        assert point.plan.guarantee(delta=1e-4).epsilon <= point.epsilon
    assert curve[0].plan.guarantee(delta=1e-4).epsilon > 0.99
    assert curve[1].plan.noise_multiplier == 0
    assert called == [(point.plan, seed) for point in curve for seed in (0, 1)]
    assert curve[0].scores == (0, 1) and curve[0].mean == 0.5
    with pytest.raises(ValueError, match="got epsilon=nan"):
        rehearse(score, run, epsilons=[math.nan], delta=1e-4)
