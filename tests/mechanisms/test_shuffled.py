"""Compare bounds for shuffled epochs with enumeration of all permutations; check rounding."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.pld import PLD
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, _shuffle_bounds
from dplearn.mechanisms._shuffle_bounds import (
    _Epoch,
    _masses,
    _positive_part,
    _transforms,
    shuffled_profile,
)
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.shuffled import Shuffled, _summed

EPSILONS = np.concatenate([[0.0], np.geomspace(1e-2, 12, 12)])
both = each("adjacency", ["zero_out", "replace_one"])
# Standard deviations that a correct estimate exceeds once in two million times.
SIGMAS = NormalDist().inv_cdf(1 - 0.25e-6)


# Enumerate all permutations of two or three records in two batches of one record.

Y = np.linspace(-9.0, 9.0, 226)
# Factor for the error of a sum over the grid Y, whose summand has a kink.
GRID = 1 + 1e-3


def density(records, sigma):
    """Return the density of the outputs of two steps, for a random permutation of the records.

    A record is a number, its gradient at step 1, and a function from the first output to its
    gradient at step 2.
    """
    total = 0.0
    orders = list(itertools.permutations(records))
    for (one, _), (_, two), *_ in orders:
        second = norm.pdf(Y[None, :], two(Y)[:, None], sigma)
        total = total + norm.pdf(Y, one, sigma)[:, None] * second
    return total / len(orders)


def worst(pairs, epsilon, sigma):
    """Return the largest deltas of (P, Q) and of (Q, P) over all pairs, by sums over the grid Y."""
    e, area, best = math.exp(epsilon), (Y[1] - Y[0]) ** 2, np.zeros(2)
    for first, second in pairs:
        p, q = density(first, sigma), density(second, sigma)
        gaps = np.maximum(p - e * q, 0).sum(), np.maximum(q - e * p, 0).sum()
        best = np.maximum(best, np.array(gaps) * area)
    return best


def fixed(g):
    return g, lambda y: np.full(y.shape, g)


def adaptive(g, low, high, cut):
    """Return a record whose second gradient depends on the first output."""
    return g, lambda y: np.where(y < cut, low, high)


OTHERS = [
    adaptive(g, low, high, cut)
    for g, low, high in itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0))
    for cut in (0.3,)
]
# A third record makes the mixture over permutations non-trivial.
CROWDS = [[a, a] for a in OTHERS] + [[OTHERS[0], OTHERS[-1]]]


@pytest.mark.slow
@each("sigma, epsilon", [(0.4, 1.0), (0.6, 0.0), (0.8, 0.5), (1.5, 0.2)])
@each("adjacency, neighbour", [("zero_out", 0.0), ("replace_one", -1.0)])
@each("left_out", [0.0, 1 / 3])
def test_delta_is_bounded_for_all_other_records(left_out, adjacency, neighbour, sigma, epsilon):
    record, absent = fixed(1.0), fixed(neighbour)
    crowds = CROWDS if left_out else [[other] for other in OTHERS]
    found = worst([([record, *crowd], [absent, *crowd]) for crowd in crowds], epsilon, sigma)
    if not left_out:
        (above,) = Shuffled(Gaussian(sigma), 2).profiles(adjacency)
        assert np.all(found <= float(above.delta(epsilon)) * GRID)
        return
    ways = ["replace"] * 2 if adjacency == "replace_one" else ["remove", "add"]
    bound = np.array([_Epoch(sigma, 2, way).delta(epsilon) for way in ways])
    assert np.all(found <= bound * GRID)
    # Permutations that use the record reach 60 % of the bound.
    assert np.all(found > 0.6 * (1 - left_out) * bound)


@each("sigma, epsilon", [(0.6, 0.5), (1.5, 0.0)])
def test_gaussian_with_half_the_noise_bounds_delta_of_an_added_record(sigma, epsilon):
    """Other records equal to -1 attain the bound in permutations that displace a record."""
    pairs = [([fixed(1.0), *crowd], crowd) for crowd in CROWDS]
    found = worst(pairs, epsilon, sigma)
    epoch = Shuffled(Gaussian(sigma), 2, 1 / 3)
    above, below = epoch.profiles("add_remove"), epoch.witnesses("add_remove")
    for leak, high, low in zip(found, above, below, strict=True):
        assert leak < float(high.delta(epsilon)) * GRID
        assert float(low.delta(epsilon)) < leak * GRID
    assert found[0] > 0.6 * float(above[0].delta(epsilon))
    with pytest.raises(NotImplementedError, match="use every record"):
        Shuffled(Gaussian(sigma), 2).profiles("add_remove")


@each("way", ["remove", "add", "replace"])
def test_integrals_in_one_dimension_bound_those_in_two_dimensions(way):
    """Check by quadrature that the proof's integrals in one dimension are the largest."""
    rng, grid = np.random.default_rng(31), np.linspace(-7.0, 7.0, 281)
    plane = np.array(np.meshgrid(grid, grid))
    normal = lambda m, s: np.exp(-0.5 * ((plane.T - s * np.array(m)) ** 2).sum(-1)) / (2 * np.pi)
    worst_gap = 0.0
    for case in range(30):
        s, e = rng.uniform(0.3, 1.5), math.exp(rng.choice([0.0, rng.uniform(0, 1.5)]))
        k = rng.normal() * rng.choice([0.1, 1.0, 4.0])
        angles, lengths = rng.uniform(0, 2 * np.pi, 3), rng.uniform(0.3, 1.0, 3)
        x, z, v = (
            np.array([np.cos(a), np.sin(a)]) * n for a, n in zip(angles, lengths, strict=True)
        )
        if case % 2:
            x, z, v = np.array([1, 0]), np.array([-1, 0]), np.array([rng.choice([-1, 1]), 0])
        p, q = {"remove": (x, (0, 0)), "add": ((0, 0), x), "replace": (x, z)}[way]
        found = np.maximum(normal(p, s) - e * normal(q, s) - k * normal(v, s), 0).sum() * 0.0025
        over, under = _transforms(e, s, way)
        side = over if k >= 0 else under
        # E(D - k)_+ = E(k - D)_+ + mean - k
        bound = float(side(np.array([abs(k)]))[0][0]) + (0 if k >= 0 else 1 - e - k)
        assert found <= bound + 1e-4  # error of the sum at a kink of its summand
        worst_gap = max(worst_gap, found / bound if bound > 1e-3 else 0.0)
    assert worst_gap > 0.99


def test_bound_on_the_positive_part_includes_sums_at_the_end_of_the_range(monkeypatch):
    """D is -reach or reach: the sum of two is positive only at 2 reach, the end of the range."""
    chance, reach, half = 1e-3, 3.0, 64
    masses = np.zeros(2 * half + 1)
    masses[[0, -1]] = 1 - chance, chance
    monkeypatch.setattr(_shuffle_bounds, "_masses", lambda *_: (masses, 0.0))
    value, exact = _positive_part(2, None, reach, half), 2 * reach * chance**2
    assert exact * (1 - 1e-12) <= value < 1.01 * exact


def convolved(law, count, half, reach):
    """Return E(D_1 + ... + D_count)_+ by plain convolution, with the mean beyond the lattice."""
    step = reach / half
    masses, beyond = _masses(law, step * np.arange(half + 1))
    total = masses
    for _ in range(count - 1):
        total = np.convolve(total, masses)
    at = step * (np.arange(total.size) - count * half)
    return float(np.maximum(at, 0) @ total) + count * beyond


@each("reach, half", [(0.5, 16), (3.0, 64), (40.0, 800)])
@each("way", ["remove", "add", "replace"])
def test_bound_on_the_positive_part_is_at_least_that_on_a_fine_lattice(way, reach, half):
    """Bounds from a narrow lattice include wrapped-around and truncated mass."""
    law = _transforms(math.exp(0.3), 0.9, way)
    fine = convolved(law, 3, 3000, 60.0)
    value = _positive_part(3, law, reach, half)
    assert value >= fine * (1 - 1e-3)
    assert value >= convolved(law, 3, half, reach) * (1 - 1e-12)
    if reach > 10:
        assert value < fine * 1.01


def test_bound_on_the_positive_part_holds_for_the_worst_rounding(monkeypatch):
    """The bound holds even if rounding lowers all masses and sums as far as possible."""
    law = _transforms(math.exp(2.0), 0.9, "add")
    real, excess = _shuffle_bounds.power, _shuffle_bounds._excess
    monkeypatch.setattr(_shuffle_bounds, "_TERM", 0.0)
    monkeypatch.setattr(_shuffle_bounds, "power", lambda *a: (real(*a)[0], 0.0))
    exact = _positive_part(234, law, 2500.0, 1024)
    monkeypatch.setattr(
        _shuffle_bounds, "power", lambda *a: (real(*a)[0] - 0.9 * real(*a)[1], real(*a)[1])
    )
    assert _positive_part(234, law, 2500.0, 1024) >= exact
    monkeypatch.setattr(_shuffle_bounds, "power", lambda *a: (real(*a)[0], 0.0))

    def low(*args):
        value, error = excess(*args)
        return np.maximum(value - 0.9 * error, 0.0), error

    monkeypatch.setattr(_shuffle_bounds, "_TERM", 1e-9)
    monkeypatch.setattr(_shuffle_bounds, "_excess", low)
    assert _positive_part(234, law, 2500.0, 1024) >= exact


def threshold_pair(x, sigma, batches, adjacency):
    """Return the probabilities under P and Q that the largest recentred update exceeds x."""
    positions = 2 / sigma, 0.0 if adjacency == "replace_one" else 1 / sigma
    others = -np.expm1((batches - 1) * log_ndtr(x))
    return [ndtr(position - x) + ndtr(x - position) * others for position in positions]


@both
@each(
    "sigma, batches, epsilon",
    [(0.1, 2, 30.0), (0.5, 10**4, 0.0), (1.0, 1000, 3.7), (4.0, 10, 0.05), (20.0, 30, 0.01)],
)
@pytest.mark.slow
def test_deltas_of_witnesses_lie_between_the_best_threshold_test_and_the_profile(
    sigma, batches, epsilon, adjacency
):
    x = np.linspace(-3, 60, 100_001)
    p, q = threshold_pair(x, sigma, batches, adjacency)
    best = np.max(p - math.exp(epsilon) * q)
    for left_out in (0.0, 1e-9):
        epoch = Shuffled(Gaussian(sigma), batches, left_out)
        value = float(epoch.witnesses(adjacency)[0].delta(epsilon))
        assert value >= best * (1 - 1e-3)
        if left_out and batches == 10:
            above = epoch.profiles(adjacency)
            for low, high in zip(epoch.witnesses(adjacency), (above[0], above[-1]), strict=True):
                at = np.append(EPSILONS, epsilon)
                assert np.all(low.log_delta(at) <= high.log_delta(at) + 1e-9)


@pytest.mark.slow
@each("sigma, batches, left_out", [(1.0, 20, 0.0), (2.0, 6, 0.25)])
def test_delta_of_a_simulated_epoch_lies_between_its_bounds(sigma, batches, left_out):
    """Estimate delta by simulating the likelihood ratios of the witnesses' pair."""
    rng, mu, epsilon = np.random.default_rng(2024), 1 / sigma, 0.2
    y = rng.standard_normal((200_000, batches))
    p, q = (np.mean(np.exp(c * y - c * c / 2), axis=1) for c in (2 * mu, mu))
    p, q = ((1 - left_out) * x + left_out for x in (p, q))
    epoch, e = Shuffled(Gaussian(sigma), batches, left_out), math.exp(epsilon)
    gains, above = (np.maximum(p - e * q, 0), np.maximum(q - e * p, 0)), epoch.profiles("zero_out")
    for gain, low, high in zip(
        gains, epoch.witnesses("zero_out"), (above[0], above[-1]), strict=True
    ):
        slack = SIGMAS * gain.std() / math.sqrt(gain.size)
        assert float(low.delta(epsilon)) - slack < gain.mean() < float(high.delta(epsilon)) + slack
        assert gain.mean() < 1.02 * float(low.delta(epsilon)) + slack


@each("sigma, batches", [(0.3523, 10**6), (0.17, 7)])
def test_delta_from_the_sum_of_all_steps_is_positive_at_tiny_noise(sigma, batches):
    """Summands must be positive, although (p - q) / r falls to -exp(1 / sigma^2) / 4."""
    with np.errstate(all="raise", under="ignore"):
        summed = _summed.__wrapped__(sigma, batches, 0.0)
    assert np.all(summed.log_delta(EPSILONS) <= Gaussian(sigma).profiles()[0].log_delta(EPSILONS))
    assert float(summed.delta(0.0)) > 0.5 / batches


@each("batches", [1, 3])
def test_accountants_use_a_gaussian_with_half_the_noise_under_add_remove(batches):
    """Under add_remove a Gaussian with half the noise of `base` dominates; `base` does not."""
    epoch, halved = Shuffled(Gaussian(2.0), batches, 0.1), Gaussian(1.0)
    assert epoch.zcdp("add_remove") == halved.zcdp("add_remove")
    question = {"delta": 1e-5, "steps": 4, "adjacency": "add_remove"}
    least = PLD(rtol=1e-3).epsilon(epoch, **question).lower
    assert least > 0.8 * PLD().epsilon(Shuffled(Gaussian(2.0), batches, 1e-9), **question).epsilon
    for law in (PLD(rtol=1e-3), *(ACCOUNTANTS[name]() for name in ("rdp", "zcdp"))):
        assert law.epsilon(epoch, **question).epsilon > least


@pytest.mark.slow
def test_chords_lie_above_the_bounds_on_delta_between_nodes():
    profile = shuffled_profile(2.0, 10, replaced=False)
    assert isinstance(profile, Profile)
    # The profile and its reverse form one convex curve, so they agree at 0.
    assert float(profile.delta(0.0)) == pytest.approx(float(profile.reverse().delta(0.0)), rel=1e-9)
    for side, way in ((profile, "remove"), (profile.reverse(), "add")):
        epoch = _Epoch(2.0, 10, way)
        for epsilon in (0.0, 0.037, 0.31, 0.9):
            assert float(side.delta(epsilon)) >= epoch.delta(epsilon) * (1 - 2e-3)


def test_lower_bound_for_a_replaced_record_uses_the_sum_of_steps_at_large_noise():
    """There delta of the witness is at least that of random allocation with half the noise."""
    epoch = Shuffled(Gaussian(4.0), 100, 0.01)
    allocated = RandomAllocation(Gaussian(2.0), 100).witnesses()[0].mix_first(0.99)
    lower = epoch.witnesses("replace_one")[0]
    assert np.all(lower.delta([0.0, 0.05, 0.2]) >= allocated.delta([0.0, 0.05, 0.2]))
