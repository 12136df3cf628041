"""Composition on the lattice: every bound lies above the truth, and close to it."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mpf
from scipy.special import gammaln

from conftest import golden, label, number
from dplearn.lattice import Lattice
from dplearn.lattice._group import Group
from dplearn.mechanisms import (
    Gaussian,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
)
from dplearn.profile import Profile

LATTICE = Lattice(rtol=1e-3)


def upper_bound(step, steps, delta, lattice=LATTICE):
    """The larger direction of `steps` runs under add_remove."""
    return max(lattice.epsilons([p], [[steps]], delta=delta)[0] for p in step.profiles())


@pytest.mark.parametrize("lost", [0.04, 0.3])
def test_a_chance_of_infinite_loss_is_paid_from_delta(lost):
    """All finite losses are 0: three releases are (0, 1 - (1 - p)^3)-DP and nothing less."""
    pair = Profile.from_atoms(np.log([lost, 1 - lost]), np.array([-np.inf, 0.0]))
    total = 1 - (1 - lost) ** 3
    assert LATTICE.epsilons([pair], [[3]], delta=0.99 * total)[0] == math.inf
    assert LATTICE.epsilons([pair], [[3]], delta=1.01 * total)[0] <= 1e-9


SAMPLED = golden("sampled_gaussian_epsilon")


@pytest.mark.parametrize("row", SAMPLED, ids=lambda r: label(r, *list(r)[:5]))
def test_golden_sampled_gaussian(row):
    step = PoissonSubsampled(Gaussian(number(row["noise_multiplier"])), number(row["sample_rate"]))
    truth = number(row["value"])
    found = upper_bound(step, int(row["steps"]), number(row["delta"]))
    # The lattice aims at 1e-3. At small delta the worst release of a sampled run weighs much
    # more than all others together, and its cells are too few; the contour integral serves there.
    width = 0.005 if number(row["delta"]) > 1e-10 else 0.2
    # Golden values carry at least eleven digits.
    assert truth * (1 - 1e-11) <= found <= truth * (1 + width)


# At delta = 1e-290 masses underflow: few large steps are then sound, not tight.
@pytest.mark.parametrize(
    "delta, width", [(0.3, 3e-3), (1e-5, 3e-3), (1e-15, 3e-3), (1e-30, 3e-3), (1e-290, 0.5)]
)
@pytest.mark.parametrize("steps", [2, 37, 10_000])
@pytest.mark.parametrize("total_mu", [0.03, 1.0, 12.0])
def test_gaussians_through_the_lattice(total_mu, steps, delta, width):
    (one,) = Gaussian(math.sqrt(steps) / total_mu).profiles()
    (all_,) = Gaussian(1 / total_mu).profiles()
    truth = float(all_.epsilon(delta))
    found = LATTICE.epsilons([one], [[steps]], delta=delta)[0]
    assert truth * (1 - 1e-11) <= found <= truth * (1 + width) + 1e-12


def coins_by_enumeration(losses, counts, delta):
    """Exact epsilon of independent randomized responses: every loss with its probability."""
    with mpmath.workdps(40):
        law = {mpf(0): mpf(1)}
        for loss, count in zip(map(mpf, losses), counts, strict=True):
            truth = 1 / (1 + mpmath.exp(-loss))
            new = {}
            for (old, p), k in itertools.product(law.items(), range(count + 1)):
                # k truthful answers have the loss (2k - count) of one answer.
                chance = mpmath.binomial(count, k) * truth**k * (1 - truth) ** (count - k)
                total = old + loss * (2 * k - count)
                new[total] = new.get(total, 0) + p * chance
            law = new
        # Going down from the largest loss, delta is linear in e^eps between two losses.
        mass = other = mpf(0)
        for upper, lower in itertools.pairwise([*sorted(law, reverse=True), -mpmath.inf]):
            mass, other = mass + law[upper], other + law[upper] * mpmath.exp(-upper)
            if mass - mpmath.exp(lower) * other > delta:
                return max(float(mpmath.log((mass - delta) / other)), 0.0)


@pytest.mark.parametrize("delta, width", [(0.1, 1e-6), (1e-5, 1e-6), (1e-20, 0.06)])
@pytest.mark.parametrize("loss, steps", [(1.0, 5), (0.1, 60), (2.0, 40), (0.01, 300)])
def test_randomized_response_against_all_outcomes(loss, steps, delta, width):
    (pair,) = RandomizedResponse(loss).profiles("replace_one")
    truth = coins_by_enumeration([loss], [steps], mpf(delta))
    found = LATTICE.epsilons([pair], [[steps]], delta=delta)[0]
    # The lattice has a node at each loss, so only rounding is left, unless the window of
    # interesting losses lies beyond the last of them.
    assert truth * (1 - 1e-11) <= found <= truth * (1 + width)


@pytest.mark.parametrize("delta", [0.05, 1e-5, 1e-12])
def test_different_coins_against_all_outcomes(delta):
    losses, counts = [1.0, 0.37, 0.05], [4, 10, 20]
    pairs = [RandomizedResponse(e).profiles("replace_one")[0] for e in losses]
    truth = coins_by_enumeration(losses, counts, mpf(delta))
    found = LATTICE.epsilons(pairs, [counts], delta=delta)[0]
    assert truth * (1 - 1e-11) <= found <= truth * 1.002


def test_rows_are_answered_one_by_one():
    pairs = [Gaussian(3.0).profiles()[0], Gaussian(1.0).profiles()[0]]
    rows = np.array([[0, 1], [1, 0], [5, 2], [0, 0], [400, 1]])
    mu = np.sqrt(rows @ [1 / 9, 1.0])
    found = LATTICE.epsilons(pairs, rows, delta=1e-6)
    truth = [float(Gaussian(1 / m).profiles()[0].epsilon(1e-6)) if m else 0.0 for m in mu]
    np.testing.assert_allclose(found, truth, rtol=3e-3)
    assert np.all(found >= np.array(truth) * (1 - 1e-11))


@pytest.mark.parametrize("epsilon", [0.1, 0.6, 1.1, 1.4])
def test_two_different_laplace_releases_by_integration(epsilon):
    """delta of both: E over the first loss of the second profile at what is left."""
    a, b = 1.0, 1 / 1.8
    (first,), (second,) = Laplace(1 / a).profiles(), Laplace(1 / b).profiles()
    # The first loss has atoms 1/2 at a and e^{-a}/2 at -a, and density e^{(l - a)/2} / 4 between;
    # the second profile has kinks at its own two ends.
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.clip([-a, epsilon - b, epsilon + b, a], -a, a)
    delta = 0.5 * second.delta(epsilon - a) + 0.5 * math.exp(-a) * second.delta(epsilon + a)
    for left, right in itertools.pairwise(ends):
        loss = 0.5 * (left + right) + 0.5 * (right - left) * nodes
        density = np.exp((loss - a) / 2) / 4 * second.delta(epsilon - loss)
        delta += 0.5 * (right - left) * weights @ density
    found = LATTICE.epsilons([first, second], [[1, 1]], delta=float(delta))[0]
    assert epsilon * (1 - 1e-9) <= found <= epsilon * 1.003


@pytest.mark.parametrize(
    "sigma, q, delta",
    [
        (1.0, 0.01, 1e-5), (4.0, 0.01, 1e-5), (0.8, 0.001, 1e-6), (2.0, 0.1, 1e-5),
        # Settings in which the law of two runs has two humps, and a tilt is easily mistaken.
        (1.652, 0.0217, 2.8e-7), (0.5367, 0.003746, 1.53e-7), (0.5927, 0.061, 1.3e-6),
    ],
)  # fmt: skip
def test_two_sampled_runs_by_integration(sigma, q, delta):
    """delta of two runs: E over the first output of one run's profile at what is left."""
    step = PoissonSubsampled(Gaussian(sigma), q)
    found = upper_bound(step, 2, delta)
    # The integrand is smooth: the trapezoidal rule is good to ten digits on this grid.
    x = np.linspace(-14 * sigma - 2, 14 * sigma + 6, 100_001)
    noise, hit = (np.exp(-0.5 * ((x - c) / sigma) ** 2) for c in (0, 1))
    ratio = np.logaddexp(math.log1p(-q), math.log(q) + (2 * x - 1) / (2 * sigma**2))
    mixed = (1 - q) * noise + q * hit
    norm = (x[1] - x[0]) / sigma / math.sqrt(2 * math.pi)
    remove, add = step.profiles()

    def worst(epsilon):
        ahead = norm * (mixed @ remove.delta(epsilon - ratio))
        return max(ahead, norm * (noise @ add.delta(epsilon + ratio)))

    assert worst(found) <= delta * (1 + 1e-9)
    assert worst(found * 0.99) > delta


# Certified brackets of epsilon from an earlier computation (tilted lattices from both sides);
# "sampled" bases are Poisson samples, one value per direction.
BRACKETS = {
    "laplace": (Laplace(20.0).profiles()[0], 1000, 1e-5, 7.42127272, 7.42127295),
    "laplace, tiny delta": (Laplace(10.0).profiles()[0], 1000, 1e-20, 32.8337887, 32.8337949),
    "sampled laplace, remove": (
        PoissonSubsampled(Laplace(1.0), 0.01).profiles()[0], 1000, 1e-6, 1.286402, 1.286408,
    ),
    "sampled laplace, add": (
        PoissonSubsampled(Laplace(1.0), 0.01).profiles()[1], 1000, 1e-6, 1.218916, 1.218921,
    ),
    # There the noise is divided by the replace-one distance, two contributions.
    "without replacement": (
        WithoutReplacement(Gaussian(4.0), 0.1).profiles("replace_one")[0],
        100, 1e-5, 2.540860, 2.540863,
    ),
    "without replacement, many": (
        WithoutReplacement(Gaussian(8.0), 0.01).profiles("replace_one")[0],
        10_000, 1e-5, 1.0392319, 1.0392328,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BRACKETS.values(), ids=BRACKETS)
def test_certified_brackets(case):
    pair, steps, delta, lower, upper = case
    found = LATTICE.epsilons([pair], [[steps]], delta=delta)[0]
    assert lower <= found <= upper * 1.003


def test_a_second_opinion_on_sampled_laplace():
    """dp_accounting connects dots as well; at delta = 1e-5 and few steps its rounding is tiny."""
    from dp_accounting.pld import privacy_loss_distribution as peer

    law = peer.from_laplace_mechanism(
        2.0, sampling_prob=0.2, value_discretization_interval=1e-4
    ).self_compose(50)
    step = PoissonSubsampled(Laplace(2.0), 0.2)
    found = upper_bound(step, 50, 1e-5)
    assert found == pytest.approx(law.get_epsilon_for_delta(1e-5), rel=2e-3)


masses = st.lists(st.floats(0.02, 1.0), min_size=3, max_size=3)


@given(masses, masses, st.integers(2, 5), st.sampled_from([0.2, 1e-3, 1e-8]))
def test_any_three_outcomes_against_all_sequences(p, q, steps, delta):
    p, q = np.array(p) / sum(p), np.array(q) / sum(q)
    assume(np.max(np.abs(np.log(p / q))) > 1e-3)
    pair = Profile.from_atoms(np.log(p), np.log(q))
    found = LATTICE.epsilons([pair], [[steps]], delta=delta)[0]
    drawn = [
        (math.prod(p[list(s)]), math.prod(q[list(s)]))
        for s in itertools.product(range(3), repeat=steps)
    ]
    true_delta = sum(max(a - math.exp(found) * b, 0.0) for a, b in drawn)
    assert true_delta <= delta * (1 + 1e-9)
    # Nor far above. Few atoms are the worst case of a lattice that is made for long runs.
    lower = found * 0.93
    if lower > 1e-9:
        assert sum(max(a - math.exp(lower) * b, 0.0) for a, b in drawn) >= delta


@pytest.mark.parametrize("loss, steps, delta", [(4.0, 9, 1e-5), (0.5, 2, 1e-8), (1.0, 5, 1e-30)])
def test_never_above_the_largest_loss_of_all_releases(loss, steps, delta):
    (pair,) = RandomizedResponse(loss).profiles("replace_one")
    assert LATTICE.epsilons([pair], [[steps]], delta=delta)[0] <= steps * loss * (1 + 1e-9)


def test_a_pair_without_any_loss():
    nothing = Profile.from_atoms(np.log([0.5, 0.5]), np.log([0.5, 0.5]))
    assert LATTICE.epsilons([nothing], [[5]], delta=1e-6)[0] <= 1e-9


CORNERS = list(
    itertools.product([1e-7, 0.01, 1.0], [0.2, 1.0, 1000.0], [2, 1000, 10**7], [1e-30, 1e-5, 0.5])
)


@pytest.mark.parametrize("q, sigma, steps, delta", CORNERS)
def test_corners_give_a_number_above_one_release(q, sigma, steps, delta):
    step = PoissonSubsampled(Gaussian(sigma), q)
    found = upper_bound(step, steps, delta)
    assert math.isfinite(found)
    assert found >= max(float(p.epsilon(delta)) for p in step.profiles()) * (1 - 1e-9)


@pytest.mark.parametrize("sigma, q", [(0.1, 1e-7), (0.2, 1e-12), (0.05, 1e-4), (0.01, 0.5)])
def test_far_corners_are_numbers_too(sigma, q):
    """Outside the settings that matter, but calibration searches there."""
    assert math.isfinite(upper_bound(PoissonSubsampled(Gaussian(sigma), q), 1000, 1e-15))


@pytest.mark.parametrize("shrink", [1.5, 4, 16])
@pytest.mark.parametrize("mu, steps, delta", [(2.0, 40, 1e-6), (1.0, 900, 1e-2), (6.0, 9, 1e-20)])
def test_a_window_that_is_too_small_is_paid_for(mu, steps, delta, shrink, monkeypatch):
    """What folds only adds and is subtracted below; what leaves on the right is charged above."""
    whole = Group._bracket

    def cut(group, pick, tilts, begin, period, *rest):
        return whole(group, pick, tilts, begin, period / shrink, *rest)

    monkeypatch.setattr(Group, "_bracket", cut)
    (one,), (total,) = (Gaussian(z).profiles() for z in (math.sqrt(steps) / mu, 1 / mu))
    lower, upper = LATTICE.brackets([[one]], [[steps]], delta=delta, witnesses=[[one]])
    truth = float(total.epsilon(delta))
    assert lower[0] * (1 - 1e-11) <= truth <= upper[0] * (1 + 1e-11)


def test_rounding_of_the_transform_is_charged(monkeypatch):
    """Coins have no other error. Let the rounding of the transform be large and all one way."""
    (pair,), steps = RandomizedResponse(0.01).profiles("replace_one"), 3000
    exact = np.fft.rfft

    def unlucky(x):
        return exact(x) * (1 - 64 * 2.0**-53 * math.log2(x.size))

    monkeypatch.setattr(np.fft, "rfft", unlucky)
    for delta in (1e-5, 1e-12):
        found = LATTICE.epsilons([pair], [[steps]], delta=delta)[0]
        assert found >= coins_by_enumeration([0.01], [steps], mpf(delta)) * (1 - 1e-15)


def test_finer_lattices_come_closer():
    step = PoissonSubsampled(Gaussian(2.0), 0.1)
    found = [upper_bound(step, 1000, 1e-5, Lattice(rtol=r)) for r in (1e-2, 1e-3, 1e-5)]
    truth = 8.279290614098163
    excess = np.array(found) / truth - 1
    assert np.all(excess > 0) and np.all(np.diff(excess) < 0)
    assert excess[-1] < 3e-5


@pytest.mark.parametrize("local_epsilon", [4.0, 0.7, 0.02])
def test_rows_of_one_group_do_not_hurt_each_other(local_epsilon):
    """Randomized response: delta by summing the binomial law in logarithms, for each length."""
    (pair,) = RandomizedResponse(local_epsilon).profiles("replace_one")
    steps = [300, 1100, 5279, 9683, 20_000, 79_000, 300_000]
    log_truth = -math.log1p(math.exp(-local_epsilon))

    def true_delta(epsilon, t):
        k = np.arange(t + 1)
        log_count = gammaln(t + 1) - gammaln(k + 1) - gammaln(t - k + 1)
        log_p = log_count + k * log_truth + (t - k) * (log_truth - local_epsilon)
        loss = (2 * k - t) * local_epsilon
        above = loss > epsilon
        return float(np.exp(log_p[above]) @ -np.expm1(epsilon - loss[above]))

    for delta in (1e-3, 5e-26):
        together = LATTICE.epsilons([pair], np.array(steps)[:, None], delta=delta)
        for t, found in zip(steps, together, strict=True):
            alone = LATTICE.epsilons([pair], [[t]], delta=delta)[0]
            # Log gammas of 3e5 carry 1e-9 relative to their size, about 4e6.
            assert true_delta(found, t) <= delta * (1 + 1e-6)
            assert true_delta(alone, t) <= delta * (1 + 1e-6)
            assert true_delta(0.98 * found, t) >= delta
