"""Compare sampled mechanisms with enumeration of all subsets and definitions of divergences."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import laplace

from cases import each
from dplearn import DiscreteGaussian, Gaussian, Geometric, Laplace, RandomizedResponse
from dplearn.engine.lattice import Lattice
from dplearn.mechanisms import PoissonSubsampled, WithoutReplacement
from outcomes import EPSILONS, delta_by_definition, sampled


def sampled_sum(records, subsets, scale=1.5):
    """Return the masses of a random subset's sum with geometric noise, from {subset: chance}."""
    k = np.arange(-80, 81)
    return sum(
        chance * math.tanh(0.5 / scale) * np.exp(-np.abs(k - sum(records[list(s)])) / scale)
        for s, chance in subsets.items()
    )


def poisson_sum(q, *records):
    """Return the masses of the noisy sum of a Poisson sample of rate q."""
    size = len(records)
    every = itertools.chain(*(itertools.combinations(range(size), r) for r in range(size + 1)))
    subsets = {s: q ** len(s) * (1 - q) ** (size - len(s)) for s in every}
    return sampled_sum(np.array(records), subsets)


@each("q", [0.05, 0.6])
def test_profiles_of_poisson_sampling_bound_delta_of_all_tiny_datasets(q):
    (remove, add), tight = PoissonSubsampled(Geometric(1.5), q).profiles(), False
    for others in itertools.product([0, 1], repeat=2):
        small, large = poisson_sum(q, *others), poisson_sum(q, *others, 1)
        assert np.all(delta_by_definition(large, small) <= remove.delta(EPSILONS) + 1e-14)
        assert np.all(delta_by_definition(small, large) <= add.delta(EPSILONS) + 1e-14)
        tight |= np.allclose(delta_by_definition(large, small), remove.delta(EPSILONS), atol=1e-14)
        # zero_out: the record contributes nothing.
        np.testing.assert_allclose(poisson_sum(q, *others, 0), small, atol=1e-15)
    assert tight, "a record alone in its data set attains the profile"
    # A record alone in its data set attains the witnesses, too.
    small, large = poisson_sum(q), poisson_sum(q, 1)
    remove, add = PoissonSubsampled(Geometric(1.5), q).witnesses()
    for witness, pair in ((remove, (large, small)), (add, (small, large))):
        exact = delta_by_definition(*pair)
        np.testing.assert_allclose(witness.delta(EPSILONS), exact, atol=1e-14)


@each("q", [0.05, 0.6, 1.0])
def test_profile_under_replace_one_bounds_delta_of_all_tiny_datasets(q):
    (profile,), tight = PoissonSubsampled(Geometric(1.5), q).profiles("replace_one"), False
    for old, new, *others in itertools.product([-1, 0, 1], repeat=4):
        leak = delta_by_definition(poisson_sum(q, *others, new), poisson_sum(q, *others, old))
        assert np.all(leak <= profile.delta(EPSILONS) + 1e-14)
        tight |= np.allclose(leak, profile.delta(EPSILONS), atol=1e-14)
    assert tight, "a record among others that contribute nothing attains the profile"


def whole_law(noise):
    """Return the distribution function of integer noise, from the sum of its masses."""
    k = np.arange(-400, 401)
    total = np.cumsum(np.exp(noise._log_noise(k)))
    return lambda x: total[np.clip(np.floor(x).astype(int) + 400, 0, 800)]


# Noise of scale b, its distribution function, and whether contributions are integers.
NOISES = [
    (lambda b: Gaussian(b), lambda b: lambda x: ndtr(x / b), False),
    (lambda b: Laplace(b), lambda b: laplace(scale=b).cdf, False),
    (lambda b: Geometric(b / 3, 3), lambda b: whole_law(Geometric(b / 3, 3)), True),
    (lambda b: DiscreteGaussian(b / 3, 3), lambda b: whole_law(DiscreteGaussian(b / 3, 3)), True),
]


@each("build, law, whole", NOISES)
def test_opposite_contributions_are_the_worst_pair_under_replace_one(build, law, whole):
    """Each sum over cells is a lower bound on delta, as merging outputs is post-processing."""
    rng, epsilons = np.random.default_rng(9), np.array([-2.0, -0.2, 0.0, 0.05, 0.5, 2.0])
    for candidate in range(36):
        scale, q = rng.uniform(0.4, 3), rng.choice([0.01, 0.3, 0.9])
        (profile,) = PoissonSubsampled(build(scale), q).profiles("replace_one")
        most = 3 if whole else 1
        u, v = (most, -most) if candidate < 6 else rng.uniform(-most, most, 2)
        u, v = (round(u), round(v)) if whole else (u, v)
        edges = np.arange(-200.5, 200) if whole else np.linspace(-60, 60, 24_001)
        cdf = law(scale)
        cells = {m: np.diff(cdf(edges - m)) for m in (0, u, v)}
        p, w = ((1 - q) * cells[0] + q * cells[m] for m in (u, v))
        leak = delta_by_definition(p, w, epsilons)
        assert np.all(leak <= profile.delta(epsilons) + 1e-13)
        if candidate < 6:
            np.testing.assert_allclose(leak, profile.delta(epsilons), rtol=1e-3, atol=1e-8)


def test_pure_epsilon_under_replace_one_is_a_log_ratio_of_mixtures():
    (profile,) = PoissonSubsampled(Laplace(1.0), 0.1).profiles("replace_one")
    assert profile.epsilon(0.0) == pytest.approx(0.223863414739, rel=1e-11)
    assert profile.epsilon(0.0) > PoissonSubsampled(Laplace(1.0), 0.1).profiles()[0].epsilon(0.0)


def test_tiny_noise_reveals_a_sampled_record():
    for base in (Gaussian(0.0), Laplace(0.0), Gaussian(1e-30), Laplace(1e-30), Gaussian(1e-3)):
        step = PoissonSubsampled(base, 0.3)
        for profile in (*step.profiles("replace_one"), *step.witnesses("replace_one")):
            np.testing.assert_allclose(profile.delta([0.0, 1.0, 100.0]), 0.3, rtol=1e-12)


def test_subset_of_a_poisson_sample_has_no_lower_bound_on_delta():
    twice = WithoutReplacement(sampled(1.0, 0.5), 0.5)
    assert twice.profiles("replace_one") and not twice.witnesses("replace_one")


def answers_of_a_subset(bits, size, truth):
    """Return the masses of the number of answers 1, in any order, from a random subset."""
    subsets = list(itertools.combinations(bits, size))
    law = np.zeros(size + 1)
    for chosen, answers in itertools.product(subsets, itertools.product([0, 1], repeat=size)):
        pairs = zip(chosen, answers, strict=True)
        chance = math.prod(truth if bit == answer else 1 - truth for bit, answer in pairs)
        law[sum(answers)] += chance / len(subsets)
    return law


@each("size", [1, 2])
@each("local_epsilon", [0.5, 2.0])
def test_profile_without_replacement_bounds_delta_of_all_neighbours(local_epsilon, size):
    exact = 1 / (1 + math.exp(-local_epsilon))
    (profile,) = WithoutReplacement(RandomizedResponse(local_epsilon), size / 3).profiles(
        "replace_one"
    )
    bound, worst = profile.delta(EPSILONS), np.zeros(EPSILONS.size)
    _, twice = Lattice().brackets([[profile]], [[2]], delta=0.02)
    for bits in itertools.product([0, 1], repeat=3):
        p, q = (answers_of_a_subset(b, size, exact) for b in (bits, (1 - bits[0], *bits[1:])))
        worst = np.maximum(worst, delta_by_definition(p, q))
        # The profile also bounds compositions: two fresh subsets of the same data.
        p2, q2 = np.outer(p, p).ravel(), np.outer(q, q).ravel()
        assert delta_by_definition(p2, q2, twice) <= 0.02
    assert np.all(worst <= bound + 1e-14)
    if size == 1:
        np.testing.assert_allclose(worst, bound, atol=1e-14)


@each("size", [1, 2, 3])
def test_lower_bounds_on_delta_without_replacement_come_from_two_datasets(size):
    """The query is a sum. All records are -1, except for one record of 1 in one dataset."""
    subsets = dict.fromkeys(itertools.combinations(range(3), size), 1 / math.comb(3, size))
    laws = [sampled_sum(np.array([record, -1, -1]), subsets) for record in (1, -1)]
    step = WithoutReplacement(Geometric(1.5), size / 3)
    (profile,), witnesses = step.profiles("replace_one"), step.witnesses("replace_one")
    assert len(witnesses) == (1 if size == 3 else 2)
    for witness, pair in zip(witnesses, (laws, laws[::-1]), strict=False):
        exact = delta_by_definition(*pair)
        # The witness is exact at negative epsilon, too, because it is a single pair.
        np.testing.assert_allclose(witness.delta(EPSILONS), exact, atol=1e-14)
        assert np.all(exact <= profile.delta(EPSILONS) + 1e-14)
    if size < 3:
        gap = profile.delta(EPSILONS) - delta_by_definition(*laws)
        assert np.max(gap[EPSILONS < 0]) > 1e-3


def test_sampling_twice_equals_sampling_at_the_product_of_the_rates():
    twice = PoissonSubsampled(PoissonSubsampled(Laplace(0.7), 0.4), 0.2)
    once = PoissonSubsampled(Laplace(0.7), 0.08)
    for a, b in zip(twice.profiles(), once.profiles(), strict=True):
        np.testing.assert_allclose(a.delta(EPSILONS), b.delta(EPSILONS), atol=1e-15)
    # At rate 1 the step is a plain Gaussian; at smaller rates it has no Gaussian shift.
    assert [sampled(2.0, q).gaussian_shift("add_remove") for q in (1.0, 0.5)] == [0.5, None]


def divergence(sigma, q, order, direction):
    """Return the Rényi divergence of a sampled Gaussian by the trapezoidal rule."""
    with mpmath.workdps(30):
        sigma, q, order = mpmath.mpf(sigma), mpmath.mpf(q), mpmath.mpf(order)
        power = order if direction == "remove" else 1 - order
        h, reach = min(sigma / 2, sigma**2 / 3), 11 * sigma
        loss = lambda x: mpmath.log1p(q * mpmath.expm1((2 * x - 1) / (2 * sigma**2)))
        gain = lambda x: mpmath.exp(-((x / sigma) ** 2) / 2) * mpmath.expm1(power * loss(x))
        nodes = mpmath.arange(min(power, 0) - reach, max(power, 0) + reach, h)
        total = mpmath.fsum(map(gain, nodes)) * h / sigma / mpmath.sqrt(2 * mpmath.pi)
        return float(mpmath.log1p(total) / (order - 1))


@each(
    "sigma, q, order",
    [(0.3, 1e-5, 1.1), (0.3, 1e-5, 20), (20.0, 1e-5, 1.5), (0.5, 1e-3, 1.25), (1.0, 1e-3, 32),
     (0.4, 0.01, 1.6), (1.0, 0.01, 9.5), (2.5, 0.01, 2.5), (4.0, 0.01, 1 + 1e-6), (2.5, 0.01, 50),
     (4.0, 0.01, 20.5), (0.8, 0.1, 5.5), (2.0, 0.2, 1.5), (0.7, 0.5, 8), (0.3, 0.9, 1.1),
     (20.0, 0.9, 2), (0.2, 1e-7, 9), (1.0, 1e-7, 30.5), (1000.0, 0.3, 1.0001), (1.0, 0.999, 257)],
)  # fmt: skip
def test_renyi_divergences_equal_quadrature_of_their_definition(sigma, q, order):
    step, remove = sampled(sigma, q), divergence(sigma, q, order, "remove")
    # Tolerance: rounding of sums of positive terms, divided by order - 1.
    rel = 2e-13 if order >= 1.1 else 1e-9
    assert step.rdp([order])[0] == pytest.approx(remove, rel=rel, abs=0)
    if order < 10:
        add, found = divergence(sigma, q, order, "add"), float(step.profiles()[1].renyi(order))
        # An added record has no closed form: `renyi` integrates the profile, aiming at 1e-10.
        assert found == pytest.approx(add, rel=1e-8, abs=0) and found <= remove * (1 + 1e-8)


@each("sigma, q", [(0.2, 1e-7), (1.0, 0.01), (1000.0, 0.5), (5.0, 1e-7)])
def test_renyi_divergences_at_huge_orders_approach_their_asymptote(sigma, q):
    """D_a tends to a / (2 sigma^2) + log(q) a / (a - 1) from above."""
    orders = 10.0 ** np.arange(1, 7)
    value = sampled(sigma, q).rdp(orders)
    full = orders / (2 * sigma**2)
    assert np.all(np.isfinite(value)) and np.all(np.diff(value) > 0)
    assert np.all(value <= full * (1 + 1e-13))
    # Lower bound from P >= q N(1).
    only_hit = full + math.log(q) * orders / (orders - 1)
    assert np.all(value >= only_hit - 1e-9 * full)
    near = full > 30 + 3 * math.log(1 / q)
    np.testing.assert_allclose(value[near], only_hit[near], rtol=1e-6)


def test_renyi_divergence_of_order_two_of_sampled_laplace_equals_its_closed_form():
    step = PoissonSubsampled(Laplace(1.0), 0.1)
    # E_Q f^2 - 1 = q^2 E_Q (r - 1)^2, where r is the likelihood ratio of the base.
    excess = 0.01 * math.expm1(Laplace(1.0).rdp([2.0])[0])
    assert step.rdp([2.0])[0] == pytest.approx(math.log1p(excess), rel=1e-8)
