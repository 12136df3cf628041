"""Plans: their steps, epochs and mechanisms."""

import dataclasses
import inspect
import math

import numpy as np
import pytest

from cases import each
from dplearn import (
    ACCOUNTANTS,
    DPSGD,
    Composed,
    Gaussian,
    Laplace,
    Phases,
    PoissonSubsampled,
    WithoutReplacement,
    largest_sample_rate,
    largest_steps,
    smallest_noise_multiplier,
)
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.sampling_scheme import (
    EPOCH_SAMPLINGS,
    SAMPLINGS,
    default_adjacency,
    sampled,
)
from dplearn.mechanisms.shuffled import Shuffled

RUN = DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=10_000)
TARGET = {"epsilon": 2.0, "delta": 1e-5}
SHUFFLED = dataclasses.replace(RUN, noise_multiplier=1.0, steps=300, sampling="shuffled")


@each(
    "size, batch, epochs, steps",
    [(60_000, 256, 60, 14063), (60_000, 240, 45, 11250), (10, 3, 0.1, 1), (7, 7, 3, 3),
     (1_000_003, 1, 1, 1_000_003), (10**8 + 1, 10**8, 1, 2),
     # The products size * epochs have rounding errors up to 2e-10.
     *((size, 1, epochs, round(size * epochs))
       for size in (10, 1000, 100_000) for epochs in (1.1, 2.2, 4.7, 9.3))],
)  # fmt: skip
def test_number_of_steps_is_rounded_up_but_not_by_rounding_errors(size, batch, epochs, steps):
    loader = {"dataset_size": size, "batch_size": batch, "epochs": epochs}
    run = DPSGD.from_epochs(**loader, noise_multiplier=1.0)
    assert (run.steps, run.sample_rate) == (steps, batch / size)


def test_each_sampling_scheme_maps_to_its_mechanism():
    make = lambda **changes: dataclasses.replace(RUN, **changes).mechanism
    assert make() == PoissonSubsampled(Gaussian(4.0), 0.01)
    assert make(sampling="without_replacement") == WithoutReplacement(Gaussian(4.0), 0.01)
    assert make(sampling="none", sample_rate=1.0) == Gaussian(4.0)
    assert make(sampling="shuffled") == Shuffled(Gaussian(4.0), 100)
    assert make(sampling="random_allocation") == RandomAllocation(Gaussian(4.0), 100)
    assert sampled(Laplace(2.0), sampling="poisson", sample_rate=0.5).base == Laplace(2.0)
    epochs = lambda n: dataclasses.replace(SHUFFLED, steps=n).composed.parts()[0][1]
    assert [epochs(n) for n in (0, 1, 100, 101, 300)] == [0, 1, 1, 2, 3]
    assert RUN.composed.parts() == ((RUN.mechanism, 10_000),)


def test_guarantee_of_a_plan_equals_the_epsilon_of_its_mechanism():
    for chosen in ("rdp", ACCOUNTANTS["rdp"]()):
        stated = RUN.guarantee(chosen, delta=1e-5)
        assert stated == ACCOUNTANTS["rdp"]().epsilon(RUN.mechanism, delta=1e-5, steps=10_000)
    assert RUN.guarantee(delta=1e-5).method == "pld"
    early = RUN.guarantee("rdp", delta=1e-5, steps=100)
    assert early.epsilon < stated.epsilon
    assert RUN.guarantee("rdp", delta=1e-5, steps=0).epsilon == 0.0
    zeroed = RUN.guarantee("rdp", delta=1e-5, adjacency="zero_out")
    assert (zeroed.adjacency, zeroed.epsilon) == ("zero_out", stated.epsilon)
    # The noise multiplier is in units of the clipping norm.
    assert dataclasses.replace(RUN, max_grad_norm=17.0).guarantee("rdp", delta=1e-5) == stated
    silent = dataclasses.replace(RUN, noise_multiplier=0.0).guarantee(delta=1e-5)
    assert silent.epsilon == math.inf and silent.reason


def test_shuffled_epochs_drop_the_incomplete_batch():
    question = {"dataset_size": 60_000, "batch_size": 256, "noise_multiplier": 1.0}
    run = DPSGD.from_epochs(**question, epochs=60, sampling="shuffled")
    assert run.steps == 60 * 234 and run.composed.parts() == ((run.mechanism, 60),)
    assert run.mechanism.left_out == pytest.approx(96 / 60_000)
    assert any("is left out of it" in clause for clause in run.mechanism.assumptions)
    whole = DPSGD.from_epochs(**question | {"batch_size": 240}, epochs=60, sampling="shuffled")
    assert whole.mechanism == Shuffled(Gaussian(1.0), 250)
    used = dataclasses.replace(run, drop_last=False)
    assert used.mechanism == Shuffled(Gaussian(1.0), 234)
    assert any("drop_last" in clause for clause in used.mechanism.assumptions)
    # If every record is used, an epoch is one Gaussian release.
    alone = ACCOUNTANTS["pld"]().epsilon(Gaussian(1.0), delta=1e-5, steps=60)
    assert used.guarantee(delta=1e-5).epsilon == pytest.approx(alone.epsilon, rel=1e-3)


@pytest.mark.slow
@each("sampling", EPOCH_SAMPLINGS)
def test_upper_bounds_count_begun_epochs_and_lower_bounds_complete_epochs(sampling):
    law = ACCOUNTANTS["pld"](rtol=1e-2, most_cells=2**12)
    run = dataclasses.replace(SHUFFLED, sampling=sampling, sample_rate=0.1, noise_multiplier=2.0)
    one, two = (run.guarantee(law, delta=1e-5, steps=n) for n in (10, 20))
    between = run.guarantee(law, delta=1e-5, steps=15)
    assert (between.epsilon, between.lower) == (two.epsilon, one.lower)
    assert one.epsilon < two.epsilon and 0 < one.lower < two.lower
    begun = run.guarantee(law, delta=1e-5, steps=9)
    assert (begun.epsilon, begun.lower, begun.kind) == (one.epsilon, 0.0, "upper")
    assert run.guarantee(law, delta=1e-5, steps=0).epsilon == 0.0
    # The treatment of an incomplete batch is unknown, so there is no lower bound.
    run = dataclasses.replace(run, sample_rate=3 / 40)
    stated = run.guarantee(law, delta=1e-5, steps=2 * 13)
    # The bound assumes 13 batches; with 14 there are as many epochs, and each leaks no more.
    even = dataclasses.replace(run, sample_rate=1 / 14).guarantee(law, delta=1e-5, steps=2 * 14)
    assert (stated.lower, stated.kind) == (0.0, "upper")
    assert stated.epsilon >= even.epsilon


@each("sampling", SAMPLINGS + EPOCH_SAMPLINGS)
def test_guarantees_at_several_steps_equal_those_computed_one_by_one(sampling):
    rate = 1.0 if sampling == "none" else 0.01
    run = dataclasses.replace(RUN, sampling=sampling, sample_rate=rate)
    steps = [0, 1, 100, 150, 1000]
    curve = run.guarantees("rdp", delta=1e-5, steps=np.array(steps))
    for there, n in zip(curve, steps, strict=True):
        alone = run.guarantee("rdp", delta=1e-5, steps=n)
        # Without replacement, quadrature panels are shared by all orders, which changes rounding.
        rel = 1e-12 if sampling == "without_replacement" else 0.0
        assert there.epsilon == pytest.approx(alone.epsilon, rel=rel, abs=0.0)
        own = {"epsilon": alone.epsilon, "details": alone.details}
        assert dataclasses.replace(there, **own) == alone
    assert {g.adjacency for g in curve} == {default_adjacency(sampling)}


QUIET = dataclasses.replace(RUN, noise_multiplier=1.0, sample_rate=0.02, steps=50)
SCHEDULE = Phases((RUN, QUIET, dataclasses.replace(RUN, max_grad_norm=0.1, steps=7)))


@pytest.mark.slow
@each("name", [*ACCOUNTANTS])
def test_phases_compose_their_completed_steps(name):
    """Compare with counts written out by hand; equal phases are one mechanism."""
    law, question = ACCOUNTANTS[name](), {"delta": 1e-5, "adjacency": "add_remove"}
    rows = {9: (9, 0), 10_000: (10_000, 0), 10_040: (10_000, 40), 10_057: (10_007, 50)}
    rows |= {0: (0, 0), 30_050: (30_000, 50)}  # beyond the plan the last phase goes on
    parts = RUN.mechanism, QUIET.mechanism
    run = lambda counts: Composed(list(zip(parts, counts, strict=True)))
    alone = {n: row for n, row in rows.items() if row[1] == 0}
    for n, (count, _) in alone.items():
        assert SCHEDULE.guarantee(name, steps=n, delta=1e-5) == law.epsilon(
            parts[0], steps=count, **question
        )
    if not law.supports(run((1, 1))):
        with pytest.raises(NotImplementedError, match=name):
            SCHEDULE.guarantee(name, delta=1e-5)
        return
    for n, row in rows.items():
        stated, composed = SCHEDULE.guarantee(name, steps=n, delta=1e-5), run(row)
        exact = law.epsilon(composed, **question)
        assert stated.epsilon == pytest.approx(exact.epsilon, rel=1e-3)
        assert (stated.kind, stated.lower <= exact.epsilon) == (exact.kind, True)
    assert SCHEDULE.guarantee(name, delta=1e-5).epsilon == pytest.approx(
        SCHEDULE.guarantee(name, delta=1e-5, steps=10_057).epsilon
    )


def test_phases_map_each_step_to_its_phase():
    assert SCHEDULE.composed.parts() == ((RUN.mechanism, 10_007), (QUIET.mechanism, 50))
    assert SCHEDULE.steps == 10_057
    owners = {0: 0, 9_999: 0, 10_000: 1, 10_049: 1, 10_050: 2, 10_056: 2}
    before = [0, 10_000, 10_050]
    for step, i in owners.items():
        assert SCHEDULE.at(step) == (SCHEDULE.phases[i], before[i])
    assert RUN.at(3) == (RUN, 0)
    # Phases without steps are skipped.
    idle = Phases((RUN, dataclasses.replace(QUIET, noise_multiplier=0.0, steps=0), QUIET))
    assert idle.at(10_000) == (QUIET, 10_000)
    assert idle.guarantee(delta=1e-5) == Phases((RUN, QUIET)).guarantee(delta=1e-5)


@pytest.mark.slow
def test_upper_bounds_count_begun_and_lower_bounds_complete_epochs_of_each_phase():
    first = dataclasses.replace(SHUFFLED, sample_rate=0.1, steps=15)
    run = Phases((first, dataclasses.replace(first, noise_multiplier=2.0, steps=10)))
    loud, quiet = (phase.mechanism for phase in run.phases)
    law, question = ACCOUNTANTS["pld"](rtol=1e-3), {"delta": 1e-5, "adjacency": "zero_out"}
    stated = run.guarantee(law, delta=1e-5)
    begun = law.epsilon(Composed([(loud, 2), quiet]), **question)
    complete = law.epsilon(Composed([loud, quiet]), **question)
    # Tolerance: all rows of counts share the cells of one lattice.
    assert stated.epsilon == pytest.approx(begun.epsilon, rel=1e-3)
    assert stated.lower == pytest.approx(complete.lower, rel=1e-3) and stated.lower > 0


def test_phases_may_mix_sampling_schemes_with_the_same_adjacency():
    zeroed = Phases((RUN, SHUFFLED)).guarantee("rdp", delta=1e-5, adjacency="zero_out")
    parts = Composed([(RUN.mechanism, 10_000), (SHUFFLED.mechanism, 3)])
    exact = ACCOUNTANTS["rdp"]().epsilon(parts, delta=1e-5, adjacency="zero_out")
    assert zeroed.epsilon == pytest.approx(exact.epsilon, rel=1e-12)


@each(
    "accountant, steps, fields",
    [("pld", 1000, {"sample_rate": 0.01, "steps": 1000}),
     ("pld", 2344, {"dataset_size": 60_000, "batch_size": 256, "epochs": 10}),
     ("rdp", 250, {"sample_rate": 0.01, "steps": 250, "sampling": "shuffled"}),
     ("zcdp", 50, {"sample_rate": 1.0, "steps": 50, "sampling": "none"})],
)  # fmt: skip
def test_least_noise_that_reaches_a_target_epsilon_is_found(accountant, steps, fields):
    run = DPSGD.for_epsilon(3.0, accountant, delta=1e-5, **fields, max_grad_norm=0.5)
    less = dataclasses.replace(run, noise_multiplier=0.99 * run.noise_multiplier)
    spent, more = (plan.guarantee(accountant, delta=1e-5).epsilon for plan in (run, less))
    assert 2.9 < spent <= 3.0 < more
    assert (run.max_grad_norm, run.steps) == (0.5, steps)
    assert run.sampling == fields.get("sampling", "poisson")


@pytest.mark.slow
def test_accountants_and_searches_accept_plans_in_place_of_mechanisms():
    run, target = DPSGD(noise_multiplier=1.1, sample_rate=0.004, steps=1000), TARGET
    step, counted = run.mechanism, {"steps": 1000}
    for search in (smallest_noise_multiplier, largest_sample_rate):
        assert search(run, **target) == search(step, **counted, **target)
    assert largest_steps(run, **target) == largest_steps(step, **target)
    assert run.delta(epsilon=1.0) == ACCOUNTANTS["pld"]().delta(step, epsilon=1.0, **counted)
    assert ACCOUNTANTS["rdp"]().epsilon(run, delta=1e-5) == run.guarantee("rdp", delta=1e-5)
    assert Composed([run, (run, 2)]).parts() == ((step, 3000),)
    assert Phases([run, run]) == Phases((run, run))
    # Plans of epochs count epochs, and have another default adjacency.
    epochs = {"sample_rate": 0.01, "steps": 200, "sampling": "shuffled", "drop_last": True}
    found = smallest_noise_multiplier(DPSGD(noise_multiplier=1.1, **epochs), **target)
    assert found.guarantee.adjacency == "zero_out"
    assert DPSGD.for_epsilon(**target, **epochs).noise_multiplier == pytest.approx(found.value)


def test_plan_bounds_the_true_positive_rate_and_advantage_of_attacks():
    run, rates = dataclasses.replace(RUN, steps=1000), np.array([[0.01, 0.1], [0.5, 0.9]])
    lower, upper = run.true_positive_rate(false_positive_rate=rates)
    assert lower.shape == (2, 2) and np.all(rates < lower) and np.all(lower <= upper)
    assert np.all(upper - rates <= run.delta(epsilon=0.0).delta)
    least = smallest_noise_multiplier(Gaussian(1.0), advantage=0.05)
    # The total variation of N(0, 1) and N(mu, 1) is erf(mu / sqrt(8)).
    assert math.erf(1 / least.value / math.sqrt(8)) == pytest.approx(0.05, rel=1e-5)
    assert least.guarantee.delta <= 0.05


def test_signature_of_a_class_lists_its_parameters():
    assert [*inspect.signature(Gaussian).parameters] == ["noise_multiplier"]
    assert [*inspect.signature(DPSGD).parameters][:2] == ["noise_multiplier", "sample_rate"]
