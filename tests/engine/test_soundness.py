"""A sweep over everything the pld accountant covers: two proofs never contradict each other."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dplearn import Composed, DiscreteGaussian, Gaussian, Geometric, Laplace, accountants
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import PoissonSubsampled, RandomizedResponse, WithoutReplacement

pytestmark = pytest.mark.slow
# Coarser than what people see, so that many questions fit into a minute.
PLD = accountants["pld"](rtol=1e-4)
OTHERS = {name: a() for name, a in accountants.items() if name != "pld"}
# What rounding may do to numbers that are computed in two ways.
ROUNDING = 1e-9


def log_uniform(lower, upper):
    return st.floats(math.log10(lower), math.log10(upper)).map(lambda x: 10.0**x)


rates = log_uniform(1e-4, 1.0)
noise = log_uniform(0.3, 50.0)
plain = st.one_of(
    st.builds(Gaussian, noise),
    st.builds(Laplace, noise),
    st.builds(Geometric, noise, st.integers(1, 4)),
    st.builds(DiscreteGaussian, log_uniform(0.5, 20.0), st.integers(1, 3)),
)
answers = st.builds(RandomizedResponse, log_uniform(0.01, 4.0), st.integers(2, 9))
sampled = st.builds(PoissonSubsampled, plain, rates)
drawn = st.builds(WithoutReplacement, st.one_of(plain), rates)
step_counts = st.floats(0.0, 6.0).map(lambda x: int(10**x))
deltas = log_uniform(1e-30, 0.3)


def kinds(adjacency):
    """Mechanisms that the adjacency allows."""
    if adjacency == "replace_one":
        return st.one_of(plain, answers, drawn)
    return st.one_of(plain, sampled)


adjacencies = st.sampled_from(["add_remove", "replace_one", "zero_out"])
questions = adjacencies.flatmap(lambda a: st.tuples(kinds(a), st.just(a)))
lists = adjacencies.flatmap(
    lambda a: st.tuples(
        st.lists(st.tuples(kinds(a), st.integers(1, 60)), min_size=2, max_size=3), st.just(a)
    )
)


def assert_sane(found):
    """A number, of the kind that it says it is."""
    assert 0 <= found.lower <= found.epsilon < math.inf
    assert found.is_bound and found.kind in ("exact", "bracket", "upper")
    if found.kind == "exact":
        # Both ends are taken beyond the rounding of log delta.
        assert found.epsilon - found.lower <= 1e-9 * (1 + found.epsilon)
    else:
        assert (found.kind == "bracket") == (found.lower > 0)


def assert_overlap(one, other):
    assert one.lower <= other.epsilon * (1 + ROUNDING)
    assert other.lower <= one.epsilon * (1 + ROUNDING)


def assert_others_agree(found, mechanism, *, steps, delta, adjacency):
    """No other theorem proves less than what is proved to be needed."""
    for other in OTHERS.values():
        if other.supports(mechanism, adjacency):
            bound = other.epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)
            assert not bound.is_bound or found.lower <= bound.epsilon * (1 + ROUNDING), bound


@settings(max_examples=120)
@given(questions, step_counts, deltas)
def test_one_mechanism(question, steps, delta):
    mechanism, adjacency = question
    asked = {"delta": delta, "adjacency": adjacency}
    found = PLD.epsilon(mechanism, steps=steps, **asked)
    assert_sane(found)
    assert_others_agree(found, mechanism, steps=steps, **asked)
    # One run alone is a lower bound, and so are fewer runs or more delta.
    for easier in (
        PLD.epsilon(mechanism, steps=1, **asked),
        PLD.epsilon(mechanism, steps=max(steps - 1, 0), **asked),
        PLD.epsilon(mechanism, steps=steps, **{**asked, "delta": min(1.01 * delta, 0.4)}),
    ):
        assert easier.lower <= found.epsilon * (1 + ROUNDING)


@settings(max_examples=60)
@given(lists, deltas)
def test_lists_in_any_order(question, delta):
    parts, adjacency = question
    asked = {"delta": delta, "adjacency": adjacency}
    found = PLD.epsilon(Composed(parts), **asked)
    assert_sane(found)
    assert_others_agree(found, Composed(parts), steps=1, **asked)
    assert_overlap(found, PLD.epsilon(Composed(parts[::-1]), **asked))
    # A part of the list leaks no more than the list.
    assert PLD.epsilon(Composed(parts[1:]), **asked).lower <= found.epsilon * (1 + ROUNDING)


@settings(max_examples=40)
@given(noise, rates, step_counts, log_uniform(1e-15, 0.3))
def test_contour_and_lattice_agree(sigma, rate, steps, delta):
    """Two engines, no common code: both ends of one against those of the other."""
    assume(rate < 1 and steps > 1)
    step = PoissonSubsampled(Gaussian(sigma), rate)
    found = PLD.epsilon(step, steps=steps, delta=delta)
    sides = [[p] for p in step.profiles()]
    lower, upper = Lattice(rtol=1e-3).brackets(sides, [[steps]], delta=delta, witnesses=sides)
    assert 0 <= lower[0] <= upper[0]
    assert lower[0] <= found.epsilon * (1 + ROUNDING)
    assert found.lower <= upper[0] * (1 + ROUNDING)
