"""Mechanisms against enumeration and integration of their definitions, in both directions."""

import copy
import itertools
import math
import re
from functools import partial

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import agrees, each, golden, number
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import (
    Composed,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomAllocation,
    RandomizedResponse,
    Shuffled,
    WithoutReplacement,
    mechanisms,
)

EPSILONS = np.concatenate([-np.geomspace(0.01, 9, 12), [0.0], np.geomspace(0.01, 9, 12)])

# How many contribution norms two neighbours can be apart.
each_adjacency = each(
    "adjacency, contributions", {"add_remove": 1, "replace_one": 2, "zero_out": 1}.items()
)


def hockey_stick(p, q, epsilon=EPSILONS):
    """delta by its definition, one value per epsilon."""
    epsilon = np.asarray(epsilon)[:, None]
    return np.maximum(p - np.exp(epsilon) * q, 0.0).sum(axis=1)


def renyi(log_p, log_q, order, axis=None):
    """Renyi divergence by its definition."""
    terms = order * log_p + (1 - order) * log_q
    return np.logaddexp.reduce(terms, axis=axis) / (order - 1)


def worst_delta(mechanism, adjacency, epsilon=EPSILONS):
    return np.max([p.delta(epsilon) for p in mechanism.profiles(adjacency)], axis=0)


def parameters(row):
    return {k: float(v) for k, v in (p.split("=") for p in row["parameters"].split("; "))}


def _flipped(replacement_probability, outcomes):
    # With that probability the answer is replaced by a uniform one, the true one included.
    truth = 1 - replacement_probability + replacement_probability / outcomes
    return RandomizedResponse.from_probability(truth=truth, answers=int(outcomes))


BUILD = {
    "laplace": lambda scale, sensitivity: Laplace(scale / sensitivity),
    "discrete_gaussian": lambda sigma, sensitivity: DiscreteGaussian(
        sigma / sensitivity, int(sensitivity)
    ),
    "randomized_response": lambda epsilon=None, outcomes=2, **flip: (
        _flipped(outcomes=outcomes, **flip)
        if flip
        else RandomizedResponse(epsilon, answers=int(outcomes))
    ),
    "two_coins": lambda truth_probability, yes_probability: RandomizedResponse.from_probability(
        truth=truth_probability + (1 - truth_probability) * yes_probability
    ),
    "exponential": lambda epsilon: ExponentialMechanism(epsilon),
}


@each("row", golden("mechanisms"))
def test_golden(row):
    mechanism, adjacency = BUILD[row["mechanism"]](**parameters(row)), row["adjacency"]
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
            # The limit: a divergence is smooth in its order, and grows.
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
            computed = delta_of_classical(**value)
        case "classical_threshold":
            delta = value["delta"]
            excess = lambda e: math.log(delta_of_classical(float(e), delta) / delta)
            computed = mpmath.findroot(excess, (4, 12), solver="anderson")
    assert agrees(float(computed), row)


def classical(*, epsilon, delta):
    """The classical noise beyond its proof, which covers epsilon < 1: it falls like 1/epsilon."""
    return Gaussian.classical(epsilon=0.5, delta=delta).noise_multiplier * 0.5 / epsilon


def delta_of_classical(epsilon, delta):
    noise = classical(epsilon=epsilon, delta=delta)
    return float(Gaussian(noise).profiles()[0].delta(epsilon))


def test_classical_noise_is_sound_and_refuses_what_is_not_proved():
    for epsilon, delta in itertools.product([0.01, 0.5, 0.999], [1e-12, 1e-5, 0.1]):
        noise = Gaussian.classical(epsilon=epsilon, delta=delta)
        assert noise.profiles()[0].delta(epsilon) < delta
    with pytest.raises(ValueError, match=r"epsilon in \(0, 1\)"):
        Gaussian.classical(epsilon=1.0, delta=1e-5)


@each("delta", [1e-30, 1e-5, 0.5])
@each("epsilon", [0.0, 0.1, 3.0, 100.0])
def test_analytic_noise_is_enough_and_not_more(epsilon, delta):
    noise = Gaussian.analytic(epsilon=epsilon, delta=delta).noise_multiplier
    assert Gaussian(noise).profiles()[0].delta(epsilon) <= delta * (1 + 1e-13)
    assert Gaussian(noise * (1 - 1e-9)).profiles()[0].delta(epsilon) > delta


# Every law by summing or integrating over its outcomes.


def whole_numbers(log_weight, shift):
    """log P and log Q of noise of that shape, P moved by `shift`."""
    k = np.arange(-900, 901)
    norm = np.logaddexp.reduce(log_weight(k))
    return log_weight(k - shift) - norm, log_weight(k) - norm


SHAPES = {
    Geometric: lambda scale: lambda k: -np.abs(k) / scale,
    DiscreteGaussian: lambda sigma: lambda k: -0.5 * (k / sigma) ** 2,
}


@each_adjacency
@each("noise, sensitivity", [(1.0, 1), (0.4, 3), (12.0, 1)])
@each("cls", SHAPES)
def test_noise_on_whole_numbers(cls, noise, sensitivity, adjacency, contributions):
    mechanism = cls(noise, sensitivity=sensitivity)
    log_p, log_q = whole_numbers(SHAPES[cls](noise * sensitivity), contributions * sensitivity)
    p, q = np.exp(log_p), np.exp(log_q)
    (profile,) = mechanism.profiles(adjacency)
    # A sum of 1801 terms with an error of an ulp each; both orders are one by symmetry.
    np.testing.assert_allclose(profile.delta(EPSILONS), hockey_stick(p, q), atol=1e-13)
    np.testing.assert_allclose(profile.delta(EPSILONS), hockey_stick(q, p), atol=1e-13)
    orders = [1.3, 2.0, 7.5]
    truth = [renyi(log_p, log_q, a) for a in orders]
    np.testing.assert_allclose(mechanism.rdp(orders, adjacency=adjacency), truth, rtol=1e-11)


def test_discrete_gaussian_leaks_more_than_the_continuous_one():
    """Their divergences agree at whole orders, their profiles do not."""
    discrete, smooth = DiscreteGaussian(1.0), Gaussian(1.0)
    np.testing.assert_allclose(discrete.rdp([2, 5]), smooth.rdp([2, 5]), rtol=1e-12)
    assert discrete.rdp([2.5])[0] < smooth.rdp([2.5])[0]
    assert worst_delta(discrete, "add_remove", [1.0]) > worst_delta(smooth, "add_remove", [1.0])


def log_delta_of_discrete_gaussian(sigma, epsilon):
    """By the definition, in thirty digits."""
    with mpmath.workdps(30):
        mass = lambda k: mpmath.exp(-(mpf(k) ** 2) / (2 * sigma**2))
        first = math.floor(epsilon * sigma**2 + 0.5) + 1
        gaps = (mass(k - 1) - mpmath.exp(epsilon) * mass(k) for k in range(first, first + 1000))
        total = mpmath.nsum(mass, [-mpmath.inf, mpmath.inf])
        return float(mpmath.log(mpmath.fsum(gaps) / total))


def test_discrete_gaussian_past_its_table_is_still_above_the_truth():
    (profile,) = DiscreteGaussian(1.0).profiles()
    for epsilon in (300.0, 1000.0):
        truth = log_delta_of_discrete_gaussian(1, epsilon)
        # log delta is near -epsilon^2 / 2; the bound may count one outcome too many.
        assert truth - 1e-9 * abs(truth) <= float(profile.log_delta(epsilon)) <= truth + epsilon


@pytest.mark.slow
@each("epsilon", [1.0, 2.0, 2.49, 2.497, 2.6])
def test_discrete_gaussian_holds_the_truth_where_its_table_ends(epsilon):
    """At sigma = 20 the table serves up to 2.49875, and what is outside is not small beside it."""
    mechanism, truth = DiscreteGaussian(20.0), log_delta_of_discrete_gaussian(20, epsilon)
    (profile,), (witness,) = mechanism.profiles(), mechanism.witnesses()
    # Losses are differences of logs near 800, and 1 / 400 apart: relative errors of 1e-13 * 400.
    assert witness.log_delta(epsilon) <= truth + 1e-10
    assert profile.log_delta(epsilon) >= truth - 1e-10


@each("answers", [2, 3, 10])
@each("local_epsilon", [0.1, 2.0])
def test_randomized_response_over_all_pairs_of_answers(local_epsilon, answers):
    coin = RandomizedResponse(local_epsilon, answers)
    total = math.exp(local_epsilon) + answers - 1
    laws = (np.eye(answers) * math.expm1(local_epsilon) + 1) / total
    for p, q in itertools.permutations(laws, 2):
        value = worst_delta(coin, "replace_one")
        np.testing.assert_allclose(value, hockey_stick(p, q), atol=1e-14)
        truth = renyi(np.log(p), np.log(q), 2.5)
        assert coin.rdp([2.5], adjacency="replace_one")[0] == pytest.approx(truth, rel=1e-12)


@each_adjacency
@each("scale", [0.3, 1.0, 5.0])
def test_laplace_by_integration(scale, adjacency, contributions):
    (profile,), shift = Laplace(scale).profiles(adjacency), contributions
    for epsilon in (-0.5 * shift / scale, 0.0, 0.4 * shift / scale):
        # L(x) = (|x| - |x - s|) / b exceeds eps to the right of this point.
        cut = 0.5 * (shift + epsilon * scale)
        p = mpmath.quad(lambda x: mpmath.exp(-abs(x - shift) / scale), [cut, shift, mpmath.inf])
        q = mpmath.quad(lambda x: mpmath.exp(-x / scale), [cut, mpmath.inf])
        delta = float((p - mpmath.exp(epsilon) * q) / (2 * scale))
        assert float(profile.delta(epsilon)) == pytest.approx(delta, rel=1e-12, abs=1e-15)


@each("part", [0.1, 0.37, 0.5])
@each("total", [0.5, 2.0, 6.0])
def test_a_shift_along_two_axes_leaks_no_more_than_along_one(total, part):
    """Vector Laplace: E over the first coordinate's loss of the second one's profile."""
    a, (others,) = part * total, Laplace(1 / (total * (1 - part))).profiles()
    (scalar,) = Laplace(1 / total).profiles()
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for epsilon in np.linspace(-total, total, 41):
        # Atoms 1/2 at a and e^{-a}/2 at -a, density e^{(l - a)/2} / 4 between; the second
        # profile has kinks at its own two ends.
        ends = np.clip([-a, epsilon - total + a, epsilon + total - a, a], -a, a)
        split = 0.5 * others.delta(epsilon - a) + 0.5 * math.exp(-a) * others.delta(epsilon + a)
        for left, right in itertools.pairwise(ends):
            loss = 0.5 * (left + right) + 0.5 * (right - left) * nodes
            density = np.exp((loss - a) / 2) / 4 * others.delta(epsilon - loss)
            split += 0.5 * (right - left) * weights @ density
        assert split <= float(scalar.delta(epsilon)) + 1e-14
        # At the ends all is equal, in between much is lost.
        assert abs(epsilon) > 0.9 * total or split < float(scalar.delta(epsilon))


# The exponential mechanism against score tables.

RNG = np.random.default_rng(20070603)


@each_adjacency
@each("range_epsilon", [0.1, 1.0, 4.0])
def test_exponential_mechanism_dominates_every_score_table(range_epsilon, adjacency, contributions):
    mechanism = ExponentialMechanism(range_epsilon)
    (profile,) = mechanism.profiles(adjacency)
    bound, rdp = profile.delta(EPSILONS), mechanism.rdp([1.5, 8.0], adjacency=adjacency)
    _, (twice,) = Lattice().brackets([[profile]], [[2]], delta=0.01)
    for size in (2, 3, 6) * 20:
        scores = RNG.normal(size=size) * RNG.choice([0.5, 5])
        # Scores that move by all that is allowed are the worst, some stay in between.
        moved = scores + contributions * np.clip(RNG.normal(size=size) * 3, -1, 1)
        p, q = (np.exp(range_epsilon * u / 2) for u in (scores, moved))
        p, q = p / p.sum(), q / q.sum()
        assert np.all(hockey_stick(p, q) <= bound + 1e-14)
        truth = [renyi(np.log(p), np.log(q), a) for a in (1.5, 8.0)]
        assert np.all(truth <= rdp + 1e-14)
        p2, q2 = np.outer(p, p).ravel(), np.outer(q, q).ravel()
        assert hockey_stick(p2, q2, [twice])[0] <= 0.01


@each("range_epsilon", [0.3, 3.0])
def test_exponential_profile_is_the_worst_of_two_outcomes(range_epsilon):
    # Losses t and t - range; both laws sum to 1.
    t = np.linspace(1e-9, range_epsilon - 1e-9, 4001)[:, None]
    p = (math.exp(range_epsilon) - np.exp(t)) / math.expm1(range_epsilon)
    p, q = np.hstack([p, 1 - p]), np.hstack([p * np.exp(-t), (1 - p) * np.exp(range_epsilon - t)])
    mechanism = ExponentialMechanism(range_epsilon)
    epsilons = range_epsilon * np.array([-0.9, -0.3, 0.0, 0.2, 0.8])
    worst = [np.max(np.maximum(p - math.exp(e) * q, 0).sum(axis=1)) for e in epsilons]
    # The worst t lies between two of 4001 points: a relative error of 1e-6 at most.
    np.testing.assert_allclose(worst, worst_delta(mechanism, "add_remove", epsilons), rtol=1e-6)
    for order in (1.2, 3.0, 40.0):
        worst = np.max(renyi(np.log(p), np.log(q), order, axis=1))
        assert mechanism.rdp([order])[0] == pytest.approx(worst, rel=1e-6)


# Sampling, by enumeration of all subsets.


def sampled_counts(records, subsets, scale=1.5):
    """Law of the noisy count of a random subset, over whole outcomes; subsets: {subset: chance}."""
    k = np.arange(-60, 70)
    norm = (1 - math.exp(-1 / scale)) / (1 + math.exp(-1 / scale))
    return sum(
        chance * norm * np.exp(-np.abs(k - sum(records[i] for i in subset)) / scale)
        for subset, chance in subsets.items()
    )


def poisson_subsets(size, q):
    every = itertools.chain(*(itertools.combinations(range(size), r) for r in range(size + 1)))
    return {s: q ** len(s) * (1 - q) ** (size - len(s)) for s in every}


@each("q", [0.05, 0.6])
def test_poisson_sampling_of_a_tiny_data_set(q):
    remove, add = PoissonSubsampled(Geometric(1.5), q).profiles()
    tight = False
    for others in itertools.product([0, 1], repeat=2):
        small = sampled_counts(others, poisson_subsets(2, q))
        large = sampled_counts((*others, 1), poisson_subsets(3, q))
        assert np.all(hockey_stick(large, small) <= remove.delta(EPSILONS) + 1e-14)
        assert np.all(hockey_stick(small, large) <= add.delta(EPSILONS) + 1e-14)
        tight |= np.allclose(hockey_stick(large, small), remove.delta(EPSILONS), atol=1e-14)
        # zero_out: the record's place stays and contributes nothing.
        zeroed = sampled_counts((*others, 0), poisson_subsets(3, q))
        np.testing.assert_allclose(zeroed, small, atol=1e-15)
    assert tight, "a record alone in its data set attains the profile"
    # To sample companions that contribute nothing changes nothing.
    small = sampled_counts((), poisson_subsets(0, q))
    large = sampled_counts((1,), poisson_subsets(1, q))
    remove, add = PoissonSubsampled(Geometric(1.5), q).witnesses()
    np.testing.assert_allclose(remove.delta(EPSILONS), hockey_stick(large, small), atol=1e-14)
    np.testing.assert_allclose(add.delta(EPSILONS), hockey_stick(small, large), atol=1e-14)


def coins_of_a_subset(bits, size, truth):
    """Law of how many of a random subset of that size answer 1.

    The theorem speaks of a set: an answer must not tell which place it was given from.
    """
    subsets = list(itertools.combinations(bits, size))
    law = np.zeros(size + 1)
    for chosen, answers in itertools.product(subsets, itertools.product([0, 1], repeat=size)):
        pairs = zip(chosen, answers, strict=True)
        chance = math.prod(truth if bit == answer else 1 - truth for bit, answer in pairs)
        law[sum(answers)] += chance / len(subsets)
    return law


@each("size", [1, 2])
@each("local_epsilon", [0.5, 2.0])
def test_without_replacement_over_all_subsets_and_neighbours(local_epsilon, size):
    truth = 1 / (1 + math.exp(-local_epsilon))
    step = WithoutReplacement(RandomizedResponse(local_epsilon), size / 3)
    (profile,) = step.profiles("replace_one")
    bound, worst = profile.delta(EPSILONS), np.zeros(EPSILONS.size)
    _, (twice,) = Lattice().brackets([[profile]], [[2]], delta=0.02)
    for bits in itertools.product([0, 1], repeat=3):
        p, q = (coins_of_a_subset(b, size, truth) for b in (bits, (1 - bits[0], *bits[1:])))
        worst = np.maximum(worst, hockey_stick(p, q))
        # Two fresh subsets of the same data: the single pair must dominate compositions too.
        p2, q2 = np.outer(p, p).ravel(), np.outer(q, q).ravel()
        assert hockey_stick(p2, q2, [twice])[0] <= 0.02
    assert np.all(worst <= bound + 1e-14)
    if size == 1:
        np.testing.assert_allclose(worst, bound, atol=1e-14)


# Witnesses: what composes from below.

EXAMPLES = [m for cls in mechanisms.values() for m in cls.examples() if cls is not Composed]


@each("mechanism", EXAMPLES)
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


def test_what_is_not_attained_has_no_witness_even_inside():
    table = ExponentialMechanism(1.0)
    assert PoissonSubsampled(table, 0.1).witnesses() == ()
    assert WithoutReplacement(table, 0.1).witnesses("replace_one") == ()
    with pytest.raises(ValueError, match="adjacency"):
        table.witnesses("swap")


@each("size", [1, 2, 3])
@each("base", [Geometric(1.5), DiscreteGaussian(1.5)])
def test_witnesses_without_replacement_are_a_pair_of_datasets(base, size):
    """Records are -1 or 1, the query their sum; all are -1 but, on one side, the new record."""
    k, shape = np.arange(-80, 81), SHAPES[type(base)](1.5)
    log_norm = np.logaddexp.reduce(shape(k))

    def law(records):
        subsets = list(itertools.combinations(records, size))
        return sum(np.exp(shape(k - sum(s)) - log_norm) for s in subsets) / len(subsets)

    with_one, without = law((1, -1, -1)), law((-1, -1, -1))
    step = WithoutReplacement(base, size / 3)
    (profile,), witnesses = step.profiles("replace_one"), step.witnesses("replace_one")
    pairs = [(with_one, without), (without, with_one)][: len(witnesses)]
    assert len(witnesses) == (1 if size == 3 else 2)
    for witness, (p, q) in zip(witnesses, pairs, strict=True):
        truth = hockey_stick(p, q)
        # Negative epsilon too: this is one pair, where the profile joins the halves of two.
        np.testing.assert_allclose(witness.delta(EPSILONS), truth, atol=1e-14)
        assert np.all(truth <= profile.delta(EPSILONS) + 1e-14)
    if size < 3:
        negative = EPSILONS < 0
        gap = profile.delta(EPSILONS[negative]) - hockey_stick(*pairs[0])[negative]
        assert np.max(gap) > 1e-3


def test_without_replacement_needs_the_distance_of_replacement():
    """Golden: q = 0.1, sigma = 1; the distance of one contribution would be 4 times too small."""
    epsilon = math.log1p(0.1 * math.expm1(1.0))
    (profile,) = WithoutReplacement(Gaussian(1.0), 0.1).profiles("replace_one")
    assert float(profile.delta(epsilon)) == pytest.approx(0.05098616601, abs=1e-11)


def test_sampling_twice_is_sampling_once_with_the_product():
    twice = PoissonSubsampled(PoissonSubsampled(Laplace(0.7), 0.4), 0.2)
    once = PoissonSubsampled(Laplace(0.7), 0.08)
    for a, b in zip(twice.profiles(), once.profiles(), strict=True):
        np.testing.assert_allclose(a.delta(EPSILONS), b.delta(EPSILONS), atol=1e-15)


# Combinations without a theorem, bad input, and structure.


SHUFFLED = Shuffled(Gaussian(1.0), 10)
ALLOCATED = RandomAllocation(Gaussian(1.0), 10)


@each(
    "mechanism, adjacency, named",
    [
        (PoissonSubsampled(Gaussian(1.0), 0.1), "replace_one", "'replace_one' for Poisson"),
        (WithoutReplacement(Gaussian(1.0), 0.1), "add_remove", "'add_remove' for sampling without"),
        (WithoutReplacement(Gaussian(1.0), 0.1), "zero_out", "'zero_out' for sampling without"),
        (RandomizedResponse(1.0), "add_remove", "'add_remove' for randomized_response"),
        (PoissonSubsampled(RandomizedResponse(1.0), 0.1), "add_remove", "randomized_response"),
        (WithoutReplacement(PoissonSubsampled(Gaussian(1.0), 0.1), 0.5), "replace_one", "Poisson"),
        (SHUFFLED, "add_remove", "'add_remove' for shuffled batches"),
        (SHUFFLED, "add_remove", "use 'zero_out' or 'replace_one'"),
        (ALLOCATED, "replace_one", "is for 'add_remove' and 'zero_out'"),
    ],
)
def test_what_no_theorem_covers_is_refused_by_name(mechanism, adjacency, named):
    refused = partial(pytest.raises, NotImplementedError, match=re.escape(named))
    rdp = partial(mechanism.rdp, [2.0])
    for ask in (mechanism.profiles, mechanism.witnesses, mechanism.zcdp, mechanism.outputs, rdp):
        with refused():
            ask(adjacency=adjacency)


def test_a_composition_has_no_single_profile():
    with pytest.raises(NotImplementedError, match=r"profiles\(\) of composed .*parts\(\)"):
        Composed([Gaussian(1.0)]).profiles()


BAD = {
    ValueError: [
        (lambda: Gaussian(-1.0), "noise_multiplier"),
        (lambda: Gaussian(math.nan), "noise_multiplier"),
        (lambda: Laplace(math.inf), "noise_multiplier"),
        (lambda: Geometric(0.0), "noise_multiplier"),
        (lambda: Geometric(1.0, sensitivity=0), "sensitivity"),
        (lambda: DiscreteGaussian(0.0), "noise_multiplier"),
        (lambda: DiscreteGaussian(1e5), "<= 1e4"),
        (lambda: ExponentialMechanism(0.0), "range_epsilon"),
        (lambda: RandomizedResponse(0.0), "local_epsilon"),
        (lambda: RandomizedResponse(1.0, answers=1), "answers"),
        (lambda: RandomizedResponse.from_probability(truth=0.3, answers=3), "truth > 1/answers"),
        (lambda: PoissonSubsampled(Gaussian(1.0), 0.0), "sample_rate"),
        (lambda: PoissonSubsampled(Gaussian(1.0), 1.5), "sample_rate"),
        (lambda: PoissonSubsampled(Composed([Gaussian(1.0)]), 0.5), "one mechanism"),
        (lambda: WithoutReplacement(Gaussian(1.0), -0.1), "sample_rate"),
        (lambda: Shuffled(Gaussian(1.0), 0), "batches a whole number >= 1"),
        (lambda: RandomAllocation(Gaussian(1.0), 0), "batches a whole number >= 1"),
        (lambda: Composed([]), "at least one"),
        (lambda: Composed([(Gaussian(1.0), -1)]), "count"),
        (lambda: Gaussian(1.0).profiles("swap"), "adjacency"),
        (lambda: Gaussian(1.0).rdp([1.0]), "orders > 1"),
        (lambda: Gaussian(1.0).rdp([2.0], method="series"), "method"),
        (lambda: Gaussian(1.0).vary(sample_rate=0.1), "parameter of gaussian"),
    ],
    TypeError: [
        (lambda: Gaussian("1"), "noise_multiplier"),
        (lambda: Geometric(1.0, sensitivity=1.5), "sensitivity"),
        (lambda: RandomizedResponse(1.0, answers=2.0), "answers"),
        (lambda: Shuffled(Gaussian(1.0), 2.5), "batches"),
        (lambda: Shuffled(Laplace(1.0), 10), "base to be a Gaussian, got base=Laplace"),
        (lambda: RandomAllocation(Laplace(1.0), 10), "base to be a Gaussian, got base=Laplace"),
        (lambda: Composed([1.0]), "to hold Mechanism"),
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
    assert outer.zcdp() == pytest.approx(3 / 2 + 6 / 8, rel=1e-15)
    orders = [2.0, 7.5]
    total = 3 * Gaussian(1.0).rdp(orders) + 6 * Laplace(2.0).rdp(orders)
    np.testing.assert_allclose(outer.rdp(orders), total, rtol=1e-14)


def test_zero_noise_is_no_privacy_even_deep_inside():
    silent = PoissonSubsampled(Gaussian(0.0), 0.1)
    assert silent.no_privacy() == Laplace(0.0).no_privacy() != ""
    assert Composed([Laplace(1.0), silent]).no_privacy()
    assert not Composed([Laplace(1.0), (silent, 0)]).no_privacy()
    assert worst_delta(Gaussian(0.0), "add_remove", [5.0]) == 1.0
    for cls, word in ((Shuffled, "permutation"), (RandomAllocation, "uniformly")):
        epoch = cls(Gaussian(0.0), 10)
        assert epoch.no_privacy() and worst_delta(epoch, "zero_out", [100.0]) == 1.0
        assert np.all(np.isinf(epoch.rdp([2.0], adjacency="zero_out")))
        assert any(word in clause for clause in epoch.assumptions)
    assert Shuffled(Gaussian(0.0), 10).witnesses("zero_out")[0].delta(100.0) == 1.0


def test_vary_changes_one_parameter_and_leaves_the_original():
    step = WithoutReplacement(Gaussian(1.0), 0.1)
    varied = step.vary(noise_multiplier=2.0, sample_rate=0.5)
    assert varied == WithoutReplacement(Gaussian(2.0), 0.5)
    assert step == WithoutReplacement(Gaussian(1.0), 0.1)
    with pytest.raises(ValueError, match="noise_multiplier"):
        step.vary(noise_multiplier=-1.0)


@each("cls", mechanisms.values())
def test_mechanisms_are_values(cls):
    for example in cls.examples():
        assert isinstance(example, cls)
        assert copy.deepcopy(example) == example
        assert hash(copy.deepcopy(example)) == hash(example)
