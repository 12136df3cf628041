"""Compare mechanisms with enumeration and integration by definition, also with P and Q swapped."""

import math
import re
from functools import partial

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import assert_numbers_are_checked, each
from dplearn import (
    MECHANISMS,
    CorrelatedGaussian,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
)
from dplearn.mechanisms import (
    Composed,
    PermuteAndFlip,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
)
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.shuffled import Shuffled
from dplearn.teaching.book import classical_gaussian_threshold
from outcomes import EPSILONS, delta_by_definition

# Distance between neighbours, in norms of one contribution.
each_adjacency = each(
    "adjacency, contributions", {"add_remove": 1, "replace_one": 2, "zero_out": 1}.items()
)


def renyi(log_p, log_q, order, axis=None):
    """Return a Rényi divergence by definition."""
    terms = order * log_p + (1 - order) * log_q
    return np.logaddexp.reduce(terms, axis=axis) / (order - 1)


def worst_delta(mechanism, adjacency, epsilon=EPSILONS):
    return np.max([p.delta(epsilon) for p in mechanism.profiles(adjacency)], axis=0)


@each("epsilon, delta", [(1.0, 1e-5), (0.5, 1e-9), (4.0, 1e-2), (30.0, 1e-4)])
def test_analytic_noise_is_least_and_classical_noise_reaches_delta_at_the_stated_epsilon(
    epsilon, delta
):
    exact = lambda noise, at: float(Gaussian(noise).profiles()[0].delta(at))
    least = Gaussian.analytic(epsilon=epsilon, delta=delta).noise_multiplier
    assert exact(least, epsilon) <= delta < exact(least * (1 - 1e-9), epsilon)
    end = classical_gaussian_threshold(delta=delta)
    assert exact(math.sqrt(2 * math.log(1.25 / delta)) / end, end) == pytest.approx(delta, rel=1e-6)


@each_adjacency
@each("scale", [0.5, 1.0, 20.0])
def test_laplace_profile_equals_its_closed_form(scale, adjacency, contributions):
    """Compare with Balle, Barthe & Gaboardi (2018), Theorem 3."""
    (profile,) = Laplace(scale).profiles(adjacency)
    epsilons = np.append(0.0, np.geomspace(1e-3, 9, 40))
    expected = -np.expm1(np.minimum((epsilons - contributions / scale) / 2, 0.0))
    np.testing.assert_allclose(profile.delta(epsilons), expected, atol=1e-15)


@each("answers, epsilon", [(2, 1.0), (10, 0.3), (3, 5.0), (20, 6.0)])
def test_delta_of_randomized_response_equals_enumeration(answers, epsilon):
    truth = math.exp(epsilon) / (math.exp(epsilon) + answers - 1)
    p = np.full(answers, (1 - truth) / (answers - 1))
    q, p[0] = p.copy(), truth
    q[1] = truth
    law = RandomizedResponse.from_probability(truth=truth, answers=answers)
    assert law.local_epsilon == pytest.approx(epsilon, rel=1e-12)
    (profile,) = law.profiles("replace_one")
    np.testing.assert_allclose(profile.delta(EPSILONS), delta_by_definition(p, q), atol=1e-14)
    for order in (1.5, 5.0, 50.0):
        (value,) = law.rdp([order], adjacency="replace_one")
        assert value == pytest.approx(renyi(np.log(p), np.log(q), order), rel=1e-12)


SHAPES = {
    Geometric: lambda scale: lambda k: -np.abs(k) / scale,
    DiscreteGaussian: lambda sigma: lambda k: -0.5 * (k / sigma) ** 2,
}


@each_adjacency
@each("noise, sensitivity", [(1.0, 1), (0.4, 3), (12.0, 1)])
@each("cls", SHAPES)
def test_delta_of_integer_noise_equals_a_sum(cls, noise, sensitivity, adjacency, contributions):
    (profile,) = cls(noise, sensitivity=sensitivity).profiles(adjacency)
    log_weight, k = SHAPES[cls](noise * sensitivity), np.arange(-900, 901)
    norm = np.logaddexp.reduce(log_weight(k))
    p, q = (np.exp(log_weight(k - s) - norm) for s in (contributions * sensitivity, 0))
    # Tolerance: 1801 terms, each with an error of one ulp. The swapped pair has the same profile.
    for one, other in ((p, q), (q, p)):
        exact = delta_by_definition(one, other)
        np.testing.assert_allclose(profile.delta(EPSILONS), exact, atol=1e-13)


def log_delta_of_discrete_gaussian(sigma, epsilon):
    """Return log delta to thirty digits, by definition."""
    with mpmath.workdps(30):
        mass = lambda k: mpmath.exp(-(mpf(k) ** 2) / (2 * sigma**2))
        first = math.floor(epsilon * sigma**2 + 0.5) + 1
        gaps = (mass(k - 1) - mpmath.exp(epsilon) * mass(k) for k in range(first, first + 1000))
        return float(mpmath.log(mpmath.fsum(gaps) / mpmath.jtheta(3, 0, mass(1))))


# At sigma = 20 the table is used up to epsilon = 1.85, where the mass outside it matters.
@each("sigma, epsilons", [(1.0, (300.0, 1000.0)), (20.0, (1.0, 2.0, 2.49, 2.497, 2.6))])
def test_bounds_for_the_discrete_gaussian_hold_beyond_its_table(sigma, epsilons):
    mechanism = DiscreteGaussian(sigma)
    (profile,), (witness,) = mechanism.profiles(), mechanism.witnesses()
    for epsilon in epsilons:
        exact = log_delta_of_discrete_gaussian(sigma, epsilon)
        # Losses are differences of logs that are as large as log delta, (epsilon sigma)^2 / 2.
        slack = 1e-10 + 1e-13 * abs(exact)
        assert witness.log_delta(epsilon) <= exact + slack
        # The bound may count one outcome too many.
        assert exact - slack <= profile.log_delta(epsilon) <= exact + max(epsilon, 12.0)


def test_discrete_gaussian_renyi_divergences_are_accurate_at_large_fractional_orders():
    """At these orders both sums over integers in the formula agree up to a factor of 1.1."""
    orders = np.array([400.5, 10_000.25])
    value, line = DiscreteGaussian(0.5).rdp(orders), 2 * orders
    assert np.all(value <= line) and np.all(value >= line - 0.1 / (orders - 1))


@each_adjacency
@each("range_epsilon", [0.3, 3.0])
def test_exponential_profile_is_that_of_the_worst_pair(range_epsilon, adjacency, contributions):
    # Two outcomes with losses t and t - span, such that the masses of p and of q sum to 1.
    mechanism, span = ExponentialMechanism(range_epsilon), contributions * range_epsilon
    t = np.linspace(1e-9, span - 1e-9, 4001)[:, None]
    p = (math.exp(span) - np.exp(t)) / math.expm1(span)
    p, q = np.hstack([p, 1 - p]), np.hstack([p * np.exp(-t), (1 - p) * np.exp(span - t)])
    epsilons = span * np.array([-0.9, -0.3, 0.0, 0.2, 0.8])
    worst = [np.max(np.maximum(p - math.exp(e) * q, 0).sum(axis=1)) for e in epsilons]
    # The worst t lies between two of 4001 points: a relative error of 1e-6 at most.
    np.testing.assert_allclose(worst, worst_delta(mechanism, adjacency, epsilons), rtol=1e-6)
    for order in (1.2, 3.0, 40.0):
        worst = np.max(renyi(np.log(p), np.log(q), order, axis=1))
        (value,) = mechanism.rdp([order], adjacency=adjacency)
        assert value == pytest.approx(worst, rel=1e-6)


SCORES = ExponentialMechanism(1.0)
EXAMPLES = [
    *(m for cls in MECHANISMS.values() for m in cls.examples() if cls is not Composed),
    *(PoissonSubsampled(SCORES, 0.1), WithoutReplacement(SCORES, 0.1)),
]


@each("mechanism", EXAMPLES)
@pytest.mark.slow
def test_delta_of_witnesses_is_at_most_that_of_profiles_and_equal_if_attained(mechanism):
    epsilons = np.append(0.0, np.geomspace(1e-6, 50, 80))
    for adjacency in ("add_remove", "replace_one", "zero_out"):
        try:
            bound = worst_delta(mechanism, adjacency, epsilons)
        except NotImplementedError:
            with pytest.raises(NotImplementedError, match=adjacency):
                mechanism.witnesses(adjacency)
            continue
        witnesses = mechanism.witnesses(adjacency)
        assert witnesses or not mechanism.attained
        assert all(w.has_tails for w in witnesses)
        for value in (w.delta(epsilons) for w in witnesses):
            # At epsilon >= 0 each witness is at most the bound, up to a few ulps.
            assert np.all(value <= bound * (1 + 1e-13))
        if mechanism.attained:
            worst = np.max([w.delta(epsilons) for w in witnesses], axis=0)
            np.testing.assert_allclose(worst, bound, rtol=1e-13, atol=1e-300)


@each(
    "mechanism, adjacency, named",
    [
        (PoissonSubsampled(SCORES, 0.1), "replace_one", "'replace_one' for Poisson"),
        (WithoutReplacement(Gaussian(1.0), 0.1), "add_remove", "'add_remove' for sampling without"),
        (RandomizedResponse(1.0), "add_remove", "'add_remove' for randomized_response"),
        (PoissonSubsampled(RandomizedResponse(1.0), 0.1), "add_remove", "randomized_response"),
        (WithoutReplacement(PoissonSubsampled(SCORES, 0.1), 0.5), "replace_one", "Poisson"),
        (Shuffled(Gaussian(1.0), 10), "add_remove", "'add_remove' for shuffled batches"),
        (Shuffled(Gaussian(1.0), 10), "add_remove", "use 'zero_out' or 'replace_one'"),
        (RandomAllocation(Gaussian(1.0), 10), "replace_one", "is for 'add_remove' and 'zero_out'"),
    ],
)
def test_mechanism_under_an_adjacency_without_theorem_is_refused(mechanism, adjacency, named):
    of = mechanism
    for question in (of.profiles, of.witnesses, of.zcdp, of.outputs, partial(of.rdp, [2.0])):
        with pytest.raises(NotImplementedError, match=re.escape(named)):
            question(adjacency=adjacency)


DRAWN = [Gaussian(1.0), Laplace(1.0), Geometric(1.0), DiscreteGaussian(1.0)]
NOT_DRAWN = [PoissonSubsampled(Gaussian(1.0), 0.5), WithoutReplacement(Gaussian(1.0), 0.5),
             Composed([Gaussian(1.0)]), ExponentialMechanism(1.0)]  # fmt: skip


def released(mechanism, value, sensitivity=1):
    rng = np.random.default_rng(7)
    return lambda: mechanism.release(value, sensitivity=sensitivity, rng=rng)


def correlated(strategy, **changes):
    given = {"noise_multiplier": 1.0} | changes
    return lambda: CorrelatedGaussian.from_strategy(strategy, **given)


BAD = {
    ValueError: [
        (lambda: Geometric(0.0), "noise_multiplier"),
        (lambda: DiscreteGaussian(1e5), "<= 1e4"),
        (lambda: DiscreteGaussian(1e3, 11), "sensitivity <= 1e4"),
        (lambda: DiscreteGaussian(0.0), "noise_multiplier"),
        (lambda: ExponentialMechanism(0.0), "range_epsilon"),
        (lambda: PermuteAndFlip(0.0), "gap_epsilon"),
        (lambda: RandomizedResponse(0.0), "local_epsilon"),
        (lambda: RandomizedResponse(1.0, answers=1), "answers"),
        (lambda: RandomizedResponse.from_probability(truth=0.3, answers=3), "truth > 1/answers"),
        (lambda: PoissonSubsampled(Gaussian(1.0), 1.5), "sample_rate"),
        (lambda: PoissonSubsampled(Composed([Gaussian(1.0)]), 0.5), "one mechanism"),
        (lambda: Composed([]), "at least one"),
        (lambda: Composed([(Gaussian(1.0), -1)]), "count"),
        (lambda: Gaussian(1.0).profiles("swap"), "adjacency"),
        (lambda: Gaussian(1.0).rdp([1.0]), "orders > 1"),
        (lambda: Gaussian(1.0).vary(sample_rate=0.1), "parameter of gaussian"),
        (lambda: WithoutReplacement(Gaussian(1.0), 0.1).vary(noise_multiplier=-1.0), "noise_mult"),
        *((released(mechanism, [1, 2], 0.0), "sensitivity") for mechanism in DRAWN),
        *((released(RandomizedResponse(1.0), [value]), "answers 0..1") for value in (-1, 2, 0.5)),
        (correlated(np.eye(3)[0]), "got shape (3,)"),
        (correlated(np.zeros((2, 2))), "not all 0"),
        (correlated(np.full((2, 2), math.nan)), "finite matrix"),
        (correlated(np.eye(3), separation=0), "separation a whole number >= 1"),
        (correlated(np.eye(3), noise_multiplier=-1.0), "noise_multiplier 0 or in"),
    ],
    TypeError: [
        (lambda: Shuffled(Laplace(1.0), 10), "base to be a Gaussian, got base=Laplace"),
        (lambda: Composed([1.0]), "mechanism to be a Mechanism"),
        (lambda: Composed([(Gaussian(1.0), 2.5)]), "count"),
        *((released(mechanism, [0.5]), "whole numbers") for mechanism in DRAWN[2:]),
        (correlated(np.eye(3), participations=1.5), "participations a whole number"),
    ],
    NotImplementedError: [(released(mechanism, [1.0]), mechanism.name) for mechanism in NOT_DRAWN],
}


@each("error, build, named", [(error, *case) for error in BAD for case in BAD[error]])
def test_errors_name_invalid_values_and_types(error, build, named):
    expected = "" if error is NotImplementedError else "Expected .*"
    with pytest.raises(error, match=expected + re.escape(named)):
        build()


@each("example", [m for cls in MECHANISMS.values() if cls is not Composed for m in cls.examples()])
def test_invalid_numbers_are_refused(example):
    assert_numbers_are_checked(example.vary, **vars(example))


def test_counts_of_nested_mechanisms_multiply_and_equal_mechanisms_merge():
    inner = Composed([Gaussian(1.0), (Laplace(2.0), 3)])
    outer = Composed([(inner, 2), Gaussian(1.0), (Laplace(4.0), 0)])
    assert dict(outer.parts()) == {Gaussian(1.0): 3, Laplace(2.0): 6, Laplace(4.0): 0}
    assert outer.zcdp() == pytest.approx(3 / 2 + 6 * (math.exp(-0.5) - 0.5), rel=1e-14)
    orders = [2.0, 7.5]
    total = 3 * Gaussian(1.0).rdp(orders) + 6 * Laplace(2.0).rdp(orders)
    np.testing.assert_allclose(outer.rdp(orders), total, rtol=1e-14)
    with pytest.raises(NotImplementedError, match=r"profiles\(\) of composed .*parts\(\)"):
        outer.profiles()


def test_zero_noise_gives_infinite_epsilon_even_if_nested():
    silent = PoissonSubsampled(Gaussian(0.0), 0.1)
    assert silent.infinite_epsilon_reason() == Laplace(0.0).infinite_epsilon_reason() != ""
    assert Gaussian(0.0).outputs() == silent.outputs() == ()
    assert Composed([Laplace(1.0), silent]).infinite_epsilon_reason()
    assert not Composed([Laplace(1.0), (silent, 0)]).infinite_epsilon_reason()
    assert worst_delta(Gaussian(0.0), "add_remove", [5.0]) == 1.0
    for cls, word in ((Shuffled, "permutation"), (RandomAllocation, "uniformly")):
        epoch = cls(Gaussian(0.0), 10)
        assert epoch.infinite_epsilon_reason() and worst_delta(epoch, "zero_out", [100.0]) == 1.0
        assert np.all(np.isinf(epoch.rdp([2.0], adjacency="zero_out")))
        assert any(word in clause for clause in epoch.assumptions)
    assert Shuffled(Gaussian(0.0), 10).witnesses("zero_out")[0].delta(100.0) == 1.0


def test_renyi_divergences_of_large_geometric_noise_are_accurate():
    """Subtracting 1 from the moment once caused a relative error of 1.5e-7."""
    shift, rate = 200, mpf(1) / (mpf(88.9) * 200)
    with mpmath.workdps(40):
        half = 1 / (1 + mpmath.exp(-rate))
        inner = [half * (1 - mpmath.exp(-rate)) * mpmath.exp(-rate * k) for k in range(1, shift)]
        q = [half, *inner, half * mpmath.exp(-rate * shift)]
        for order in (1.01, 1.5, 64.5):
            moment = mpmath.fsum(
                a**order * b ** (1 - order) for a, b in zip(q[::-1], q, strict=True)
            )
            (value,) = Geometric(88.9, sensitivity=shift).rdp([order])
            assert value == pytest.approx(float(mpmath.log(moment) / (order - 1)), rel=1e-11)
