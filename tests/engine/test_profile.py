"""Profiles, tails, Rényi divergences and trade-off functions equal their definitions."""

import contextlib
import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.special import ndtr

from cases import each
from dplearn.core.logspace import log_sub
from dplearn.engine.lattice.laws import Atoms
from dplearn.engine.profile import Profile
from dplearn.mechanisms import MECHANISMS, Gaussian, Laplace
from dplearn.mechanisms.gaussian import gaussian_log_delta
from outcomes import LAWS, delta_by_definition, gaussian_ends, mixtures, most_powerful, of_atoms


@each("mu", [1e-3, 0.01, 0.199, 0.2, 0.5, 1.0, 3.0, 30.0])
def test_gaussian_log_delta_agrees_with_sixty_digits(mu):
    # From 10 standard deviations below the mean loss mu^2 / 2 to 40 above it.
    epsilon = mu * mu / 2 + mu * np.array([-10, -3.1, -2.9, -1, 0, 0.1, 1, 5, 12, 38, 40])
    epsilon = np.append(epsilon[epsilon >= 0], 0.0)
    with mpmath.workdps(60):
        delta, _ = gaussian_ends(mpf(mu))
        expected = [float(mpmath.log(delta(mpf(e)))) for e in epsilon]
    # Tolerance: rounding of x^2 / 2 = 800 at x = 40, four ulp.
    np.testing.assert_allclose(gaussian_log_delta(epsilon, mu), expected, rtol=0, atol=4e-13)


@each("delta", [0.5, 1e-5, 1e-30, 1e-250])
@each("sigma", [0.2, 1.0, 1000.0])
def test_profile_returns_the_smallest_epsilon_that_satisfies_delta(sigma, delta):
    (profile,) = Gaussian(sigma).profiles()
    epsilon = float(profile.epsilon(delta))
    assert profile.log_delta(epsilon) <= np.log(delta)
    if epsilon > 0:
        assert profile.log_delta(epsilon * (1 - 1e-9)) > math.log(delta)


@each("lost", [1e-9, 0.1, 1 / 3, 0.7])
def test_epsilon_is_infinite_if_delta_is_below_the_mass_of_infinite_losses(lost):
    """If the loss is infinite with probability p, epsilon is 0 at delta = p and infinite below."""
    profile = of_atoms(np.array([lost, 1 - lost]), np.array([0.0, 1.0]))
    found = profile.epsilon([lost * 0.99, lost, lost * 1.01])
    np.testing.assert_array_equal(found, [math.inf, 0.0, 0.0])
    # At delta = 0 epsilon is the largest loss.
    (bounded,), (unbounded,) = Laplace(2.0).profiles(), Gaussian(2.0).profiles()
    assert float(bounded.epsilon(0.0)) == pytest.approx(0.5, rel=1e-9)
    assert float(unbounded.epsilon(0.0)) == math.inf


@each("parts", [(0.3, 0.7), (0.1, 0.2, 0.7)])
def test_outcomes_with_equal_losses_are_merged(parts):
    """Losses that differ by rounding alone are merged without lowering delta."""
    rng = np.random.default_rng(3)
    for epsilon in rng.uniform(0.01, 5.0, 20):
        p = np.array([1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))])
        split = [np.log(np.outer(law, parts).ravel()) for law in (p, p[::-1])]
        pair = Profile.from_atoms(*split)
        # One atom at plus and one at minus the largest of the merged losses.
        assert np.array_equal(pair.kinks, [np.max(np.abs(split[0] - split[1]))]), epsilon
        assert Atoms.of(pair).loss.size == 2
        at = np.array([0.0, 0.3, 0.9, 1 - 1e-9]) * epsilon
        with mpmath.workdps(40):
            log_p, log_q = ([mpf(float(x)) for x in law] for law in split)
            pairs = [(mpmath.exp(a), mpmath.exp(b)) for a, b in zip(log_p, log_q, strict=True)]
            exact = [sum(max(a - mpmath.exp(mpf(e)) * b, 0) for a, b in pairs) for e in at]
            for side in (pair, pair.reverse()):
                for value, expected in zip(side.delta(at), exact, strict=True):
                    assert abs(value - expected) <= 1e-14


ORDERS = [0.0, 0.01, 0.5, 0.99, 1.0, 1.01, 2.0, 5.5, 64.0, math.inf]


def renyi_by_enumeration(p, q, order):
    both = (p > 0) & (q > 0)
    if order >= 1 and np.any((p > 0) & (q == 0)):
        return math.inf
    if order == 0:
        return -math.log(q[p > 0].sum())
    if order == 1:
        return float(np.sum(p[both] * np.log(p[both] / q[both])))
    if order == math.inf:
        return float(np.log(np.max(p[both] / q[both])))
    with mpmath.workdps(30):
        pairs = zip(p[both], q[both], strict=True)
        total = mpmath.fsum(mpf(a) ** order * mpf(b) ** (1 - order) for a, b in pairs)
        return float(mpmath.log(total) / (order - 1))


@each("p, q", LAWS)
def test_renyi_divergence_of_finite_distributions_equals_enumeration(p, q):
    for profile, a, b in ((of_atoms(p, q), p, q), (of_atoms(q, p), q, p)):
        expected = [renyi_by_enumeration(a, b, order) for order in ORDERS]
        # Tolerance: the integral's relative error is 1e-10, divided by 0.01 near order 1.
        np.testing.assert_allclose(profile.renyi(ORDERS), expected, rtol=2e-8, atol=1e-10)


def test_renyi_divergence_of_a_heavy_tail_is_infinite_above_order_one():
    """Profile and reverse are 0.1 exp(1 - s), s = sqrt(1 + 2 eps), with normal integrals in s."""
    profile = Profile(lambda e: math.log(0.1) + 1 - np.sqrt(1 + 2 * e))
    np.testing.assert_array_equal(profile.renyi([1.5, 2.0, 64.0, math.inf]), math.inf)
    kl = 0.1 * (3 - math.exp(2) * math.sqrt(2 * math.pi) * ndtr(-2))
    assert float(profile.renyi(1.0)) == pytest.approx(kl, rel=2e-9)
    moment = 0.9 + 0.2 * math.sqrt(math.pi) * math.exp(2.25) * ndtr(-3 / math.sqrt(2))
    assert float(profile.renyi(0.5)) == pytest.approx(-2 * math.log(moment), rel=1e-8)


def test_profiles_that_are_not_smooth_and_negative_orders_are_refused():
    noise, (profile,) = np.random.default_rng(1), Gaussian(1.0).profiles()
    with pytest.raises(ArithmeticError, match="did not converge"):
        Profile(lambda e: -e - noise.random(e.shape)).renyi([2.0])
    for value in (-0.5, math.nan):
        with pytest.raises(ValueError, match=r"Expected orders in \[0, inf\]"):
            profile.renyi([2.0, value])
        with pytest.raises(ValueError, match="Expected epsilon >= 0"):
            profile.log_tails([1.0, value])


RATES = np.array([0.0, 1e-12, 1e-3, 0.1, 0.3, 0.5, 0.9, 1.0])


@each("p, q", LAWS)
def test_tradeoff_curve_of_finite_distributions_equals_likelihood_ratio_tests(p, q):
    expected = 1 - most_powerful(p, q, RATES)
    np.testing.assert_allclose(of_atoms(p, q).tradeoff(RATES), expected, atol=1e-14)


def enumerated(p, q, epsilons):
    """Return P(L > epsilon) and Q(L > epsilon)."""
    with np.errstate(divide="ignore"):
        beyond = np.log(p) - np.log(q) > np.asarray(epsilons)[:, None]
    return (beyond * p).sum(axis=1), (beyond * q).sum(axis=1)


@each("weight", [1e-6, 0.3, 0.999, 1.0])
@each("p, q", LAWS)
def test_delta_and_tails_of_finite_distributions_equal_enumeration(p, q, weight):
    epsilons = np.append(0.0, np.geomspace(1e-9, 12, 60))
    for profile, one, other in mixtures(p, q, weight):
        # Tolerance: a sum of at most five terms, each with an error of one ulp of 1.
        for at in (epsilons, -epsilons):
            expected = delta_by_definition(one, other, at)
            np.testing.assert_allclose(profile.delta(at), expected, atol=3e-15)
        tails, expected = np.exp(profile.log_tails(epsilons)), enumerated(one, other, epsilons)
        np.testing.assert_allclose(tails, expected, rtol=1e-13, atol=1e-300)


@each("p, q", LAWS)
def test_tail_at_a_loss_excludes_the_probability_of_this_loss(p, q):
    pair = of_atoms(p, q)
    losses = np.asarray(pair.kinks)
    assert losses.size
    # Profile and enumeration use np.log, so that their losses agree to the last bit.
    for found, a, b in [(pair, p, q), (pair.reverse(), q, p)]:
        for place in (losses, np.nextafter(losses, 0), np.nextafter(losses, 99)):
            tails = np.exp(found.log_tails(place))
            np.testing.assert_allclose(tails, enumerated(a, b, place), rtol=1e-13)
    (pair,) = Laplace(1.0).profiles()
    tails = np.exp(pair.log_tails([np.nextafter(1.0, 0.0), 1.0]))
    np.testing.assert_allclose(tails, [[0.5, 0.0], [0.5 / math.e, 0.0]], rtol=1e-15)


@functools.cache
def with_tails():
    """Return (name, profile) for all profiles with tails of the mechanisms' examples."""
    every = [m for cls in MECHANISMS.values() for m in cls.examples()]
    found = []
    for mechanism, adjacency in itertools.product(every, ("add_remove", "replace_one")):
        with contextlib.suppress(NotImplementedError):
            pairs = (*mechanism.profiles(adjacency), *mechanism.witnesses(adjacency))
            found += [(f"{mechanism}, {adjacency}", pair) for pair in pairs if pair.has_tails]
    return found


@each("name, pair", with_tails)
def test_slopes_of_chords_lie_between_the_tails(name, pair):
    """Check Q(L > b) <= (delta(a) - delta(b)) / (e^b - e^a) <= Q(L > a) for a < b."""
    for side in (pair, pair.reverse()):
        epsilons = np.append(np.linspace(0, 0.02, 101), np.geomspace(0.021, 20, 1000))
        log_delta, (_, log_q) = side.log_delta(epsilons), side.log_tails(epsilons)
        chord = log_sub(log_delta[:-1], log_delta[1:]) - log_sub(epsilons[1:], epsilons[:-1])
        # Tolerance: cancellation in the difference of two deltas.
        with np.errstate(over="ignore", invalid="ignore"):
            lost = 1e-15 * (1 + np.abs(log_delta[:-1])) * np.exp(log_delta[:-1] - chord)
            lost = 2e-12 + lost / -np.expm1(-np.diff(epsilons)) * np.exp(-epsilons[1:])
        seen = lost < 1e-3
        assert np.all(chord[seen] <= log_q[:-1][seen] + lost[seen])
        assert np.all(log_q[1:][seen] <= chord[seen] + lost[seen])
        assert np.count_nonzero(seen & np.isfinite(chord)) > 10


@each("name, pair", with_tails)
def test_reversing_a_profile_twice_or_mixing_with_weight_1_changes_nothing(name, pair):
    epsilons = np.append(0.0, np.geomspace(1e-3, 1e6, 40))
    again = pair.reverse().reverse()
    assert pair.mix_first(1.0) is pair
    np.testing.assert_array_equal(again.log_delta(epsilons), pair.log_delta(epsilons))
    np.testing.assert_array_equal(again.log_tails(epsilons), pair.log_tails(epsilons))
    # Tails are at most 1 at the start and decrease, up to rounding of sums on a plateau.
    log_p, log_q = pair.log_tails(epsilons)
    assert np.all(log_q <= log_p) and log_p[0] <= 0
    assert np.all(log_q[1:] <= log_q[:-1] * (1 - 1e-14) + 1e-15)
    assert np.all(log_p[1:] <= log_p[:-1] * (1 - 1e-14) + 1e-15)


def test_profile_without_tail_functions_has_no_tails():
    (pair,) = Gaussian(1.0).profiles()
    bare = Profile(pair.log_delta_of)
    half = Profile(pair.log_delta_of, pair.log_delta_of, log_tail_of=pair.log_tail_of)
    for without in (bare, half, bare.reverse(), half.reverse(), bare.mix_first(0.3)):
        assert not without.has_tails
        with pytest.raises(NotImplementedError, match="log_tails"):
            without.log_tails(1.0)
    behind = [p.reverse().mix_first(0.3).reverse() for p in (half, pair)]
    assert behind[0].delta(1.0) == behind[1].delta(1.0)
    assert half.reverse().reverse().log_tail_of is pair.log_tail_of
