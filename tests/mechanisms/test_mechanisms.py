"""Mechanisms against enumeration and integration of their definitions, in both directions."""

import math
import re
from functools import partial

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import agrees, each, golden, number
from dplearn import MECHANISMS, DiscreteGaussian, ExponentialMechanism, Gaussian, Geometric, Laplace
from dplearn.accountants import ACCOUNTANTS
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

# Distance of neighbours in contribution norms.
each_adjacency = each(
    "adjacency, contributions", {"add_remove": 1, "replace_one": 2, "zero_out": 1}.items()
)


def renyi(log_p, log_q, order, axis=None):
    """Return a Rényi divergence by definition."""
    terms = order * log_p + (1 - order) * log_q
    return np.logaddexp.reduce(terms, axis=axis) / (order - 1)


def worst_delta(mechanism, adjacency, epsilon=EPSILONS):
    return np.max([p.delta(epsilon) for p in mechanism.profiles(adjacency)], axis=0)


def built(row):
    """Return the mechanism of a line of the table."""
    p = {k: float(v) for k, v in (p.split("=") for p in row["parameters"].split("; "))}
    match row["mechanism"]:
        case "laplace":
            return Laplace(p["scale"] / p["sensitivity"])
        case "discrete_gaussian":
            return DiscreteGaussian(p["sigma"] / p["sensitivity"], int(p["sensitivity"]))
        case "two_coins":
            exact, yes = p["truth_probability"], p["yes_probability"]
            return RandomizedResponse.from_probability(truth=exact + (1 - exact) * yes)
        case "randomized_response" if "epsilon" not in p:
            # With that probability the answer is replaced by a uniform one, possibly the true one.
            replaced, k = p["replacement_probability"], int(p["outcomes"])
            return RandomizedResponse.from_probability(truth=1 - replaced + replaced / k, answers=k)
        case "randomized_response":
            return RandomizedResponse(p["epsilon"], answers=int(p["outcomes"]))
    return ExponentialMechanism(p["epsilon"])


@each("row", golden("mechanisms"))
def test_golden(row):
    mechanism, adjacency = built(row), row["adjacency"]
    match row["quantity"]:
        case "delta":
            value = worst_delta(mechanism, adjacency, np.array([number(row["epsilon"])]))[0]
        case "epsilon":
            value = mechanism.profiles(adjacency)[0].epsilon(1e-300)
        case "probability_true":
            # Total variation is p - r, and p + (k - 1) r = 1.
            k = mechanism.answers
            value = (worst_delta(mechanism, adjacency, np.array([0.0]))[0] * (k - 1) + 1) / k
        case "rdp" if number(row["order"]) == 1:
            # Compare limits: a divergence is smooth and increasing in its order.
            below, above = mechanism.rdp([1 + 1e-5, 1 + 2e-5], adjacency=adjacency)
            value = 2 * below - above
        case "rdp":
            (value,) = mechanism.rdp([number(row["order"])], adjacency=adjacency)
    assert agrees(float(value), row)


# The other lines belong to profiles, see test_profile.py.
CALIBRATION = [r for r in golden("gaussian") if r["quantity"] not in ("epsilon", "delta")]


@each("row", CALIBRATION)
def test_golden_calibration(row):
    value = {k: number(row[k]) for k in ("epsilon", "delta") if row[k]}
    match row["quantity"]:
        case "noise_multiplier":
            computed = Gaussian.analytic(**value).noise_multiplier
        case "classical_noise_multiplier":
            computed = classical(**value)
        case "delta_of_classical":
            (profile,) = Gaussian(classical(**value)).profiles()
            computed = profile.delta(value["epsilon"])
        case "classical_threshold":
            computed = classical_gaussian_threshold(**value)
    assert agrees(float(computed), row)


def classical(*, epsilon, delta):
    """Return the classical noise, also for epsilon >= 1, where its proof does not hold."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


SHAPES = {
    Geometric: lambda scale: lambda k: -np.abs(k) / scale,
    DiscreteGaussian: lambda sigma: lambda k: -0.5 * (k / sigma) ** 2,
}


@each_adjacency
@each("noise, sensitivity", [(1.0, 1), (0.4, 3), (12.0, 1)])
@each("cls", SHAPES)
def test_noise_on_whole_numbers(cls, noise, sensitivity, adjacency, contributions):
    (profile,) = cls(noise, sensitivity=sensitivity).profiles(adjacency)
    log_weight, k = SHAPES[cls](noise * sensitivity), np.arange(-900, 901)
    norm = np.logaddexp.reduce(log_weight(k))
    p, q = (np.exp(log_weight(k - s) - norm) for s in (contributions * sensitivity, 0))
    # A sum of 1801 terms with an error of an ulp each; both orders are one by symmetry.
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


# At sigma = 20 the table is used up to 1.85, where the mass outside is not negligible.
@each("sigma, epsilons", [(1.0, (300.0, 1000.0)), (20.0, (1.0, 2.0, 2.49, 2.497, 2.6))])
def test_discrete_gaussian_bounds_hold_beyond_its_table(sigma, epsilons):
    mechanism = DiscreteGaussian(sigma)
    (profile,), (witness,) = mechanism.profiles(), mechanism.witnesses()
    for epsilon in epsilons:
        exact = log_delta_of_discrete_gaussian(sigma, epsilon)
        # Losses are differences of logs as large as that of delta, about (epsilon sigma)^2 / 2.
        slack = 1e-10 + 1e-13 * abs(exact)
        assert witness.log_delta(epsilon) <= exact + slack
        # The bound may count one outcome too many.
        assert exact - slack <= profile.log_delta(epsilon) <= exact + max(epsilon, 12.0)


def test_discrete_gaussian_divergences_at_large_fractional_orders():
    """There the two sums over the lattice differ by a factor between 1 and 1.1."""
    orders = np.array([400.5, 10_000.25])
    value, line = DiscreteGaussian(0.5).rdp(orders), 2 * orders
    assert np.all(value <= line) and np.all(value >= line - 0.1 / (orders - 1))


@each("part", [0.1, 0.37, 0.5])
@each("total", [0.5, 2.0, 6.0])
def test_laplace_shift_along_two_axes_is_dominated_by_one_axis(total, part):
    """Vector Laplace: independent coordinates compose."""
    axes = Composed([Laplace(1 / (total * part)), Laplace(1 / (total * (1 - part)))])
    (scalar,) = Laplace(1 / total).profiles()
    for epsilon in np.array([0.0, 0.5, 0.95]) * total:
        split = ACCOUNTANTS["pld"]().delta(axes, epsilon=float(epsilon))
        assert split.delta_lower <= scalar.delta(epsilon)
        # Equality at the ends, a large difference in between.
        assert epsilon > 0.9 * total or split.delta < scalar.delta(epsilon)


@each_adjacency
@each("range_epsilon", [0.3, 3.0])
def test_exponential_profile_is_that_of_the_worst_pair(range_epsilon, adjacency, contributions):
    # Losses t and t - span; both laws sum to 1.
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
def test_witnesses_lie_below_the_profiles_and_attained_ones_touch(mechanism):
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
            # Over epsilon >= 0 alone every ordered pair lies below; rounding of a few ulp.
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
def test_combinations_without_theorem_are_refused_by_name(mechanism, adjacency, named):
    of = mechanism
    for question in (of.profiles, of.witnesses, of.zcdp, of.outputs, partial(of.rdp, [2.0])):
        with pytest.raises(NotImplementedError, match=re.escape(named)):
            question(adjacency=adjacency)


BAD = {
    ValueError: [
        (lambda: Gaussian(math.nan), "noise_multiplier"),
        (lambda: Geometric(0.0), "noise_multiplier"),
        (lambda: Geometric(1.0, sensitivity=0), "sensitivity"),
        (lambda: DiscreteGaussian(1e5), "<= 1e4"),
        (lambda: ExponentialMechanism(0.0), "range_epsilon"),
        (lambda: PermuteAndFlip(0.0), "gap_epsilon"),
        (lambda: RandomizedResponse(0.0), "local_epsilon"),
        (lambda: RandomizedResponse(1.0, answers=1), "answers"),
        (lambda: RandomizedResponse.from_probability(truth=0.3, answers=3), "truth > 1/answers"),
        (lambda: PoissonSubsampled(Gaussian(1.0), 1.5), "sample_rate"),
        (lambda: PoissonSubsampled(Composed([Gaussian(1.0)]), 0.5), "one mechanism"),
        (lambda: Shuffled(Gaussian(1.0), 0), "batches a whole number >= 1"),
        (lambda: Composed([]), "at least one"),
        (lambda: Composed([(Gaussian(1.0), -1)]), "count"),
        (lambda: Gaussian(1.0).profiles("swap"), "adjacency"),
        (lambda: Gaussian(1.0).rdp([1.0]), "orders > 1"),
        (lambda: Gaussian(1.0).vary(sample_rate=0.1), "parameter of gaussian"),
        (lambda: WithoutReplacement(Gaussian(1.0), 0.1).vary(noise_multiplier=-1.0), "noise_mult"),
    ],
    TypeError: [
        (lambda: Gaussian("1"), "noise_multiplier"),
        (lambda: Geometric(1.0, sensitivity=1.5), "sensitivity"),
        (lambda: RandomizedResponse(1.0, answers=2.0), "answers"),
        (lambda: Shuffled(Gaussian(1.0), 2.5), "batches"),
        (lambda: Shuffled(Laplace(1.0), 10), "base to be a Gaussian, got base=Laplace"),
        (lambda: Composed([1.0]), "mechanism to be a Mechanism"),
        (lambda: Composed([(Gaussian(1.0), 2.5)]), "count"),
    ],
}


@each("error, build, named", [(error, *case) for error in BAD for case in BAD[error]])
def test_bad_values_and_types_are_named(error, build, named):
    with pytest.raises(error, match=f"Expected .*{re.escape(named)}"):
        build()


def test_parts_multiply_and_merge():
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


def test_divergences_of_large_geometric_noise_are_accurate():
    """Subtracting 1 from the sum of ratios once lost 1.5e-7."""
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
