"""Shuffled epochs: theorems against all orders of a few records, rounding against worse."""

import itertools
import math
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.pld import PLD
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, _seats
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.shuffled import Shuffled, _summed

EPSILONS = np.concatenate([[0.0], np.geomspace(1e-2, 12, 12)])
both = each("adjacency", ["zero_out", "replace_one"])
# A statistical test below fails by chance once in two million runs.
SIGMAS = NormalDist().inv_cdf(1 - 0.25e-6)


@each(
    "sigma, batches, lower, upper, digits",
    [
        (0.5, 10_000, 10.9948, 10.9972, 4),
        (0.7, 10_000, 6.88, 7.37, 2),
        (1.0, 1000, 3.724, 4.887, 3),
    ],
)
def test_published_epsilons(sigma, batches, lower, upper, digits):
    """Chua et al. (2024), delta = 1e-6: never less from below, never more from above."""
    epoch, slack = Shuffled(Gaussian(sigma), batches), 0.51 * 10**-digits
    below, above = epoch.witnesses("zero_out")[0], Gaussian(sigma).profiles()[0]
    assert lower - slack < below.epsilon(1e-6) < upper
    assert abs(above.epsilon(1e-6) - upper) < slack


# Theorems A, B and C against every order of two or three records in two batches of one.

Y = np.linspace(-9.0, 9.0, 226)
# Of the sum over that grid where the divergence has a kink.
GRID = 1 + 1e-3


def density(records, sigma):
    """Of the outputs of two steps, all orders of the records being as likely.

    A record is a function of the first output that tells its gradient at step 2, and a number, its
    gradient at step 1.
    """
    total = 0.0
    orders = list(itertools.permutations(records))
    for (one, _), (_, two), *_ in orders:
        second = norm.pdf(Y[None, :], two(Y)[:, None], sigma)
        total = total + norm.pdf(Y, one, sigma)[:, None] * second
    return total / len(orders)


def worst(pairs, epsilon, sigma):
    """Largest hockey-stick divergences of either order among the pairs, by a sum over a grid."""
    e, area, best = math.exp(epsilon), (Y[1] - Y[0]) ** 2, np.zeros(2)
    for first, second in pairs:
        p, q = density(first, sigma), density(second, sigma)
        gaps = np.maximum(p - e * q, 0).sum(), np.maximum(q - e * p, 0).sum()
        best = np.maximum(best, np.array(gaps) * area)
    return best


def fixed(g):
    return g, lambda y: np.full(y.shape, g)


def adaptive(g, low, high, cut):
    """Another record: its second gradient depends on the first output."""
    return g, lambda y: np.where(y < cut, low, high)


OTHERS = [
    adaptive(g, low, high, cut)
    for g, low, high in itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0))
    for cut in (0.3,)
]
# Somebody else sees to it that the orders are worth mixing.
CROWDS = [[a, a] for a in OTHERS] + [[OTHERS[0], OTHERS[-1]]]


def bounds(sigma, batches, adjacency, left_out, epsilon, size=1):
    """What theorem A, B or D says of the first order and of the second."""
    ways = ["replace"] * 2 if adjacency == "replace_one" else ["remove", "add"]
    return [
        _seats._Epoch(sigma, batches, w, None if left_out else size).delta(epsilon) for w in ways
    ]


@each("sigma, epsilon", [(0.4, 1.0), (0.6, 0.0), (0.8, 0.5), (1.5, 0.2)])
@each("adjacency, neighbour", [("zero_out", 0.0), ("replace_one", -1.0)])
@each("left_out", [0.0, 1 / 3])
def test_no_order_leaks_more_whatever_the_others_do(left_out, adjacency, neighbour, sigma, epsilon):
    record, nobody = fixed(1.0), fixed(neighbour)
    crowds = CROWDS if left_out else [[other] for other in OTHERS]
    found = worst([([record, *crowd], [nobody, *crowd]) for crowd in crowds], epsilon, sigma)
    bound = np.array(bounds(sigma, 2, adjacency, left_out, epsilon))
    assert np.all(found <= bound * GRID)
    # Half the bound would be refuted, even without the share that meets nobody.
    assert np.all(found > 0.6 * (1 - left_out) * bound)


@each("sigma, epsilon", [(0.6, 0.5), (1.5, 0.0)])
def test_a_record_that_comes_costs_a_record_left_out_no_more_than_half_the_noise(sigma, epsilon):
    """Theorem C; and crowds of -1 attain it but for the share that meets nobody."""
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


@each("sigma, epsilon", [(0.8, 0.0), (1.0, 0.5)])
def test_three_batches_that_use_every_record_leak_less_than_theorem_b_says(sigma, epsilon):
    """All orders of three records in three batches; of theorem B the layers count."""
    y, e = np.linspace(-6.0, 6.0, 61), math.exp(epsilon)
    for others in ((-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)):
        p, q = (
            sum(
                np.multiply.outer(np.multiply.outer(*(norm.pdf(y, g, sigma) for g in o[:2])),
                                  norm.pdf(y, o[2], sigma))
                for o in itertools.permutations((record, *others))
            ) / 6
            for record in (1.0, 0.0)
        )  # fmt: skip
        cell = (y[1] - y[0]) ** 3
        found = [np.maximum(a - e * b, 0).sum() * cell for a, b in ((p, q), (q, p))]
        bound = bounds(sigma, 3, "zero_out", 0.0, epsilon)
        assert np.all(np.array(found) <= np.array(bound) * (1 + 1e-4))
        if others == (-1.0, -1.0):
            assert found[0] > 0.6 * bound[0]


@each("way", ["remove", "add", "replace"])
def test_transforms_bound_those_of_gradients_in_the_plane(way):
    """The lemma, by quadrature: any three means of length at most 1, and the worst ones."""
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
        law = _seats._law(e, s, way)
        side = law.over if k >= 0 else law.under
        # E(D - k)_+ = E(k - D)_+ + mean - k
        bound = float(side(np.array([abs(k)]))[0][0]) + (0 if k >= 0 else 1 - e - k)
        assert found <= bound + 1e-4  # of the sum, where what is summed has a kink
        worst_gap = max(worst_gap, found / bound if bound > 1e-3 else 0.0)
    assert worst_gap > 0.99


# Signs at step 1 and later of a rare record and of the others, who make room as they come.
RARE = [((1, -1), (-1, -1)), ((1, 1), (-1, -1)), ((-1, 1), (1, -1))]


def gap_of_seats(sigma, batches, size, share, epsilon, way, signs, rng, runs=4000):
    """delta of the pair whose candidates are known to the attacker batch by batch."""
    runs_of, (first, second) = np.arange(runs), (1, 0) if way == "remove" else (0, 1)
    rare = max(round(share * size * (batches - 1)), 1)
    rares = rng.multivariate_hypergeometric([size] * (batches - 1), rare, size=runs) / size
    # The record comes to step 1, or makes a rare or a frequent one leave a later step for it.
    at, y = rng.integers(batches, size=runs), rng.standard_normal((runs, batches))
    kind = np.where(rng.random(runs) < rares[runs_of, at - 1], 0, 1)
    u, v = np.array(signs).T
    y[:, 0] += np.where(at == 0, first, u[kind]) / sigma
    y[runs_of, at] += np.where(at == 0, 0, first - v[kind]) / sigma
    ratio = lambda x, mean: np.exp((mean * x - 0.5 * mean * mean / sigma) / sigma)

    def law(record):
        later = ((rares, *signs[0]), (1 - rares, *signs[1]))
        terms = [ratio(y[:, 0], u) * (w * ratio(y[:, 1:], record - v)).sum(1) for w, u, v in later]
        return ratio(y[:, 0], record) + sum(terms)

    gains = np.maximum(1 - math.exp(epsilon) * law(second) / law(first), 0)
    return gains.mean(), SIGMAS * gains.std() / math.sqrt(runs)


@each(
    "sigma, batches, size, epsilon",
    [(2.0, 20, 64, 0.1), (1.0, 10, 256, 0.3), (4.0, 20, 16, 0.05), (0.6, 20, 128, 1.0)],
)
@each("way", ["remove", "add"])
def test_who_makes_room_is_hidden_among_the_records_of_a_batch(way, sigma, batches, size, epsilon):
    """Theorems D and B, of which half would be refuted; without candidates B says more."""
    rng = np.random.default_rng(31)
    epoch, law = (
        _seats._Epoch(sigma, batches, way, size),
        _seats._law(math.exp(epsilon), 1 / sigma, way),
    )
    bound, layers = epoch.delta(epsilon), epoch._layered(law, epoch._positive(1, [(1, law)]))
    most = 0.0
    for share, signs in itertools.product((0.5, 0.02), RARE):
        found, slack = gap_of_seats(sigma, batches, size, share, epsilon, way, signs, rng)
        assert found - slack < min(bound, layers)
        most = max(most, found)
    assert most > 0.5 * bound
    assert bound < _seats._Epoch(sigma, batches, way, 1).delta(epsilon)


@each("way", ["remove", "add"])
@each("size", [2, 64])
def test_sums_of_candidates_are_those_of_all_their_places_or_more(size, way):
    """Psi of theorem B: n of the seats of two batches, by all numbers in the one and the other."""
    law, half, reach = _seats._law(math.exp(0.3), 1.0, way), 200, 40.0
    epoch = _seats._Epoch(1.0, 3, way, size)
    known = epoch._sums(law, epoch._positive(1, [(1, law)]))
    masses, beyond = _seats._masses(law, reach / half * np.arange(half + 1))
    value, exact = reach / half * np.arange(-half, half + 1), []
    sizes = np.unique(np.rint(np.geomspace(1, 2 * size, 6)).astype(int))
    for n in sizes:
        mean = n * beyond
        for k in range(max(n - size, 0), min(n, size) + 1):
            chance = math.comb(size, k) * math.comb(size, n - k) / math.comb(2 * size, n)
            mean += chance * (
                masses @ np.maximum(np.add.outer(k * value, (n - k) * value), 0) @ masses
            )
        exact.append(mean / size)
    ratio = np.array(exact) / np.interp(sizes, *_seats._majorant(known, law.mean / size))
    assert np.all(ratio < 1 + 2e-3) and np.all(ratio[[0, -1]] > 0.99) and np.all(ratio > 0.9)


@each("sigma, size", [(0.7, 1), (1.5, 64)])
def test_layers_are_integrated_as_the_theorem_defines_them(sigma, size):
    epoch, law = _seats._Epoch(sigma, 20, "remove", size), _seats._law(1.3, 1 / sigma, "remove")
    single, count = epoch._positive(1, [(1, law)]), 19 * size
    majorant = _seats._majorant(epoch._sums(law, single), law.mean / size)
    height = np.geomspace(1e-9, 1e9, 100_000)
    layers = np.interp(count * norm.sf(sigma * np.log(height) + 0.5 / sigma), *majorant)
    expected = (single + np.trapezoid(layers, height)) / 20
    # Each call searches its lattices anew.
    assert epoch._layered(law, single) == pytest.approx(expected, rel=1e-3)


@each("sigma, batches", [(3.0, 4), (3.0, 20), (1000.0, 3), (0.7, 20)])
def test_steep_layers_are_summed_to_no_less_than_they_are(sigma, batches):
    """At a small delta two sizes all but meet: the same sum with fifty digits."""
    law = _seats._law(math.exp(6 / sigma + 0.5 / sigma**2), 1 / sigma, "remove")
    epoch = _seats._Epoch(sigma, batches, "remove", 1)
    single = epoch._positive(1, [(1, law)])
    known = epoch._sums(law, single)
    epoch._sums = lambda *_: known
    found = epoch._layered(law, single) * batches
    with mpmath.workdps(50):
        sizes, values = (
            [mpmath.mpf(float(x)) for x in ends] for ends in _seats._majorant(known, law.mean)
        )
        quantiles = [mpmath.erfinv(2 * n / sizes[-1] - 1) * mpmath.sqrt(2) for n in sizes[1:]]
        upper = [0, *(sizes[-1] * mpmath.ncdf(z + 1 / mpmath.mpf(sigma)) for z in quantiles)]
        corners = itertools.pairwise(zip(sizes, values, upper, strict=True))
        exact = single + sum((d - c) / (b - a) * (y - x) for (a, c, x), (b, d, y) in corners)
        assert exact < found < exact * (1 + 1e-10)


@pytest.mark.slow
def test_the_example_of_van_dijk_and_ertan_costs_less():
    """Where they say 0.01; at epsilon 0 both orders are one."""
    assert 0.0025 < _seats._Epoch(1.0, 1_140_000, "remove", 10).delta(0.0) < 0.0040


@each("way", ["remove", "add"])
def test_what_exceeds_the_cap_of_theorem_d_is_charged_whole(way):
    """One candidate weighs as much as all: what its batch and step 1 add to, by pairs of points."""
    batches, half, reach = 200, 800, 80.0
    law, epoch = _seats._law(1.0, 1.0, way), _seats._Epoch(1.0, batches, way, 16)
    hiding = _seats._hiding(1.0, batches - 1, 16, 2.0)
    epoch.hidings = [hiding._replace(spill=1 - 1 / hiding.entries)]
    epoch._layered = lambda *_: math.inf
    masses, beyond = _seats._masses(law, reach / half * np.arange(half + 1))
    value = reach / half * np.arange(-half, half + 1)
    leak = masses @ np.maximum(np.add.outer(value, (batches - 1) * value), 0) @ masses
    assert leak / batches + beyond < epoch.delta(0.0) * (1 + 2e-3)


def test_what_lies_beyond_the_window_is_charged_whole(monkeypatch):
    """Two values, at either end: their sum is positive at twice the reach alone."""
    chance, reach, half = 1e-3, 3.0, 64
    masses = np.zeros(2 * half + 1)
    masses[[0, -1]] = 1 - chance, chance
    monkeypatch.setattr(_seats, "_masses", lambda *_: (masses, 0.0))
    value, exact = _seats._positive_part([(2, None)], reach, half), 2 * reach * chance**2
    assert exact * (1 - 1e-12) <= value < 1.01 * exact


@each("batches, counted", [(4, 2**16), (100_000, 1000)])
def test_no_more_records_count_than_binomial_tails_can_tell(batches, counted):
    """At 1e10 candidates the tail of SciPy is wrong in its third digit."""
    many, few = (_seats._Epoch(2.0, batches, "remove", n).hidings for n in (10**12, counted))
    assert [h.price for h in many] == [h.price for h in few] and len(few) > 10
    assert all(1 < h.price < 1.01 for h in many)


@each("sigma, level", [(8.0, 1.1), (4.0, 1.6), (2.0, 4.0), (1.0, 8.0), (1.0, 64.0)])
def test_no_crowd_is_told_apart_more_than_is_charged(sigma, level):
    """alpha of theorem D by quadrature: a share of one kind among another."""
    y, size, others = np.linspace(-9, 9, 4001), 256, 10_000
    hiding, count = _seats._hiding(1 / sigma, others, size, level), size * others / level
    cut, worst_spill = size * others / math.ceil(count + 3 * math.sqrt(count)), 0.0
    for share, low in itertools.product(np.geomspace(1e-5, 0.9, 40), (-1.0, 0.0, 0.5)):
        one, two = norm.pdf(y - 1 / sigma), norm.pdf(y - low / sigma)
        mixed = share * one + (1 - share) * two
        above = [np.maximum(p - cut * mixed, 0) for p in (one, two)]
        spill = np.trapezoid(share * above[0] + (1 - share) * above[1], y)
        worst_spill = max(worst_spill, spill)
    assert worst_spill < hiding.spill
    assert worst_spill > {8: 0.7, 4: 0.45}.get(sigma, 0.02) * hiding.spill
    assert hiding.weights @ hiding.chances == pytest.approx(1, abs=1e-9)


def convolved(law, count, half, reach):
    """E(D_1 + ... + D_count)_+ of the lattice law, by plain convolution, and its mass."""
    step = reach / half
    masses, beyond = _seats._masses(law, step * np.arange(half + 1))
    total = masses
    for _ in range(count - 1):
        total = np.convolve(total, masses)
    at = step * (np.arange(total.size) - count * half)
    return float(np.maximum(at, 0) @ total) + count * beyond


@each("reach, half", [(0.5, 16), (3.0, 64), (40.0, 800)])
@each("way", ["remove", "add", "replace"])
def test_a_sum_is_never_less_than_that_of_a_fine_lattice(way, reach, half):
    """Narrow windows fold and cut: what that takes is charged."""
    law = _seats._law(math.exp(0.3), 0.9, way)
    fine = convolved(law, 3, 3000, 60.0)
    value = _seats._positive_part([(3, law)], reach, half)
    assert value >= fine * (1 - 1e-3)
    assert value >= convolved(law, 3, half, reach) * (1 - 1e-12)
    if reach > 10:
        assert value < fine * 1.01


def test_rounding_as_bad_as_it_may_be_is_charged(monkeypatch):
    """Masses and sums at the lower end of their rounding do not sink below the truth."""
    law, (real, excess) = _seats._law(math.exp(2.0), 0.9, "add"), (_seats.power, _seats._excess)
    monkeypatch.setattr(_seats, "_TERM", 0.0)
    monkeypatch.setattr(_seats, "power", lambda *a: (real(*a)[0], 0.0))
    exact = _seats._positive_part([(234, law)], 2500.0, 1024)
    monkeypatch.setattr(_seats, "power", lambda *a: (real(*a)[0] - 0.9 * real(*a)[1], real(*a)[1]))
    assert _seats._positive_part([(234, law)], 2500.0, 1024) >= exact
    monkeypatch.setattr(_seats, "power", lambda *a: (real(*a)[0], 0.0))

    def low(*args):
        value, error = excess(*args)
        return np.maximum(value - 0.9 * error, 0.0), error

    monkeypatch.setattr(_seats, "_TERM", 1e-9)
    monkeypatch.setattr(_seats, "_excess", low)
    assert _seats._positive_part([(234, law)], 2500.0, 1024) >= exact


def threshold_pair(x, sigma, batches, adjacency):
    """P and Q of the largest of the recentred updates being above x."""
    seats = 2 / sigma, 0.0 if adjacency == "replace_one" else 1 / sigma
    others = -np.expm1((batches - 1) * log_ndtr(x))
    return [ndtr(seat - x) + ndtr(x - seat) * others for seat in seats]


@both
@each(
    "sigma, batches, epsilon",
    [(0.1, 2, 30.0), (0.5, 10**4, 0.0), (1.0, 1000, 3.7), (4.0, 10, 0.05), (20.0, 30, 0.01)],
)
@pytest.mark.slow
def test_witnesses_show_what_the_best_threshold_shows_and_no_more_than_profiles(
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


@each(
    "sigma, batches, left_out, size",
    [(1.0, 20, 0.0, 1), (2.0, 6, 0.25, 1), (1.0, 20, 0.0, 256), (2.0, 20, 0.0, 64)],
)
def test_the_witness_lies_below_a_real_epoch_and_the_profile_above(sigma, batches, left_out, size):
    """delta of the whole pair by simulation, its seats in all places of every order."""
    rng, mu, epsilon = np.random.default_rng(2024), 1 / sigma, 0.2
    y = rng.standard_normal((200_000, batches))
    p, q = (np.mean(np.exp(c * y - c * c / 2), axis=1) for c in (2 * mu, mu))
    p, q = ((1 - left_out) * x + left_out for x in (p, q))
    epoch, e = Shuffled(Gaussian(sigma), batches, left_out, size), math.exp(epsilon)
    bound = bounds(sigma, batches, "zero_out", left_out, epsilon, size)
    for gain, low, high in zip(
        (np.maximum(p - e * q, 0), np.maximum(q - e * p, 0)),
        epoch.witnesses("zero_out"), bound, strict=True,
    ):  # fmt: skip
        slack = SIGMAS * gain.std() / math.sqrt(gain.size)
        assert float(low.delta(epsilon)) - slack < gain.mean() < high + slack
        assert gain.mean() < 1.02 * float(low.delta(epsilon)) + slack


@each("sigma, batches", [(0.3523, 10**6), (0.17, 7)])
def test_what_is_summed_is_positive_however_little_noise_there_is(sigma, batches):
    """Points even in 1 / value need it, though (p - q) / r falls to -exp(1 / sigma^2) / 4."""
    with np.errstate(all="raise", under="ignore"):
        summed = _summed.__wrapped__(sigma, batches, 0.0)
    assert np.all(summed.log_delta(EPSILONS) <= Gaussian(sigma).profiles()[0].log_delta(EPSILONS))
    assert float(summed.delta(0.0)) > 0.5 / batches


@pytest.mark.slow
def test_epochs_compose_to_brackets():
    """The figures in the README and the lessons: sigma 2, 234 batches, 60 epochs."""
    epoch = Shuffled(Gaussian(2.0), 234, 96 / 60_000)
    found = PLD(rtol=1e-3).epsilon(epoch, delta=1e-5, steps=60, adjacency="zero_out")
    assert found.lower > 1.66 and round(found.epsilon, 2) == 1.88
    once = PLD(rtol=1e-3).epsilon(epoch, delta=1e-5, steps=60, adjacency="add_remove")
    halved = RandomAllocation(Gaussian(1.0), 234)
    twice = PLD(rtol=1e-3).epsilon(halved, delta=1e-5, steps=60)
    assert once.epsilon == pytest.approx(twice.epsilon, rel=1e-3)


@each("batches", [1, 3])
def test_no_accountant_forgets_whom_a_newcomer_displaces(batches):
    """Under add_remove one Gaussian of half the noise dominates, not the base."""
    epoch, halved = Shuffled(Gaussian(2.0), batches, 0.1), Gaussian(1.0)
    assert epoch.zcdp("add_remove") == halved.zcdp("add_remove")
    question = {"delta": 1e-5, "steps": 4, "adjacency": "add_remove"}
    least = PLD(rtol=1e-3).epsilon(epoch, **question).lower
    assert least > 0.8 * PLD().epsilon(Shuffled(Gaussian(2.0), batches, 1e-9), **question).epsilon
    for law in (PLD(rtol=1e-3), *(ACCOUNTANTS[name]() for name in ("rdp", "zcdp"))):
        assert law.epsilon(epoch, **question).epsilon > least


@pytest.mark.slow
def test_chords_lie_above_the_bounds_between_their_nodes():
    profile = _seats.seated(2.0, 10, size=None, replaced=False)
    assert isinstance(profile, Profile)
    for side, way in ((profile, "remove"), (profile.reverse(), "add")):
        epoch = _seats._Epoch(2.0, 10, way, None)
        for epsilon in (0.0, 0.037, 0.31, 0.9):
            assert float(side.delta(epsilon)) >= epoch.delta(epsilon) * (1 - 2e-3)


def test_a_majorant_needs_no_size_but_the_first_and_survives_rounding():
    sizes, values = _seats._majorant([(1, 0.5), (2, math.inf), (4, 1.2), (8, math.inf)], -3.0)
    np.testing.assert_allclose(np.interp([1, 2, 8], sizes, values), [0.5, 1.0, 2.4])
    # The lines meet an ulp before the larger size: until there the first one counts.
    sizes, values = _seats._majorant([(1, 0.5), (100_000, 4e4)], -1e22)
    np.testing.assert_allclose(np.interp([10, 99_999], sizes, values), [5, 49_999.5])
