"""The tails of the privacy loss: definition, convexity of the profile, strictness, reversal."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import each
from dplearn.engine.profile import Profile
from dplearn.ground.logspace import log_sub
from dplearn.mechanisms import Gaussian, Laplace, mechanisms
from outcomes import LAWS, delta_by_definition, mixtures, of_atoms

# Pairs on the real line: noise around 0 (Q) and around mu (P), where L grows with x.


def survival(law, x):
    """P(noise > x)."""
    if law is Gaussian:
        return mpmath.erfc(x / mpmath.sqrt(2)) / 2
    return mpmath.exp(-x) / 2 if x > 0 else 1 - mpmath.exp(x) / 2


def log_density(law, x):
    return -x * x / 2 if law is Gaussian else -abs(x)


def crossing(loss, level):
    """Smallest x with loss(x) > level, for a loss that grows with x; inf if there is none."""
    low, high = mpf(-2000), mpf(2000)
    if loss(high) <= level:
        return mpmath.inf
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if loss(middle) > level else (middle, high)
    return high


def by_definition(law, mu, weight, epsilon):
    """log tails of ((1-w)Q + wP, Q) in both measures, then those of the reverse pair."""
    with mpmath.workdps(60):
        mu, w, epsilon = mpf(mu), mpf(weight), mpf(float(epsilon))
        ratio = lambda x: log_density(law, x - mu) - log_density(law, x)
        loss = lambda x: mpmath.log(1 - w + w * mpmath.exp(ratio(x)))
        mixed = lambda measure: (1 - w) * measure(mpf(0)) + w * measure(mu)
        log = lambda mass: float(mpmath.log(mass)) if mass > 0 else -math.inf
        # L > eps right of the crossing; -L > eps left of the place where L reaches -eps.
        right, left = crossing(loss, epsilon), -crossing(lambda x: -loss(-x), epsilon)
        above, below = (lambda c: survival(law, right - c)), (lambda c: survival(law, c - left))
        return log(mixed(above)), log(above(0)), log(below(0)), log(mixed(below))


WEIGHTS = [1e-9, 0.01, 0.7, 1 - 1e-9, 1.0]


@pytest.mark.slow
@each("weight", WEIGHTS)
@each("mu", [0.05, 1.0, 5.0])
@each("law", [Gaussian, Laplace])
def test_tails_are_probabilities_of_the_loss(law, mu, weight):
    (pair,) = law(1 / mu).profiles()
    mixed = pair.mix_first(weight)
    # Inside the range of the reverse loss, inside that of the Laplace loss, and far out.
    edge = -math.log1p(-weight) if weight < 1 else mu
    epsilons = np.array([0.0, 1e-12, 0.3 * min(edge, mu), 0.9 * edge, 0.6 * mu, 2 * mu, 40 * mu])
    truth = np.array([by_definition(law, mu, weight, e) for e in epsilons])
    found = np.transpose([*mixed.log_tails(epsilons), *mixed.reverse().log_tails(epsilons)])
    # log w and log (e^eps - 1) are rounded at sizes near 20, the hazard of the tail multiplies it.
    np.testing.assert_allclose(found, truth, rtol=1e-14, atol=1e-14)
    second = pair.mix_second(weight)
    swapped = np.transpose([*second.reverse().log_tails(epsilons), *second.log_tails(epsilons)])
    np.testing.assert_array_equal(swapped, found)  # both base pairs are symmetric


# Finite laws.


def enumerated(p, q, epsilons):
    """P(L > epsilon) and Q(L > epsilon)."""
    with np.errstate(divide="ignore"):
        beyond = np.log(p) - np.log(q) > np.asarray(epsilons)[:, None]
    return (beyond * p).sum(axis=1), (beyond * q).sum(axis=1)


@each("weight", [1e-6, 0.3, 0.999, 1.0])
@each("p, q", LAWS)
def test_delta_and_tails_of_finite_laws_and_their_mixtures(p, q, weight):
    epsilons = np.append(0.0, np.geomspace(1e-9, 12, 60))
    for profile, one, other in mixtures(p, q, weight):
        # A sum of at most five terms, each with an error of an ulp of 1.
        for at in (epsilons, -epsilons):
            truth = delta_by_definition(one, other, at)
            np.testing.assert_allclose(profile.delta(at), truth, atol=3e-15)
        tails, truth = np.exp(profile.log_tails(epsilons)), enumerated(one, other, epsilons)
        np.testing.assert_allclose(tails, truth, rtol=1e-13, atol=1e-300)


@each("p, q", LAWS)
def test_an_atom_is_not_beyond_its_own_loss(p, q):
    pair = of_atoms(p, q)
    losses = np.asarray(pair.kinks)
    assert losses.size
    # np.log is the same function in the profile and here, so that losses agree to the bit.
    for found, a, b in [(pair, p, q), (pair.reverse(), q, p)]:
        for place in (losses, np.nextafter(losses, 0), np.nextafter(losses, 99)):
            tails = np.exp(found.log_tails(place))
            np.testing.assert_allclose(tails, enumerated(a, b, place), rtol=1e-13)
    (pair,) = Laplace(1.0).profiles()
    tails = np.exp(pair.log_tails([np.nextafter(1.0, 0.0), 1.0]))
    np.testing.assert_allclose(tails, [[0.5, 0.0], [0.5 / math.e, 0.0]], rtol=1e-15)


# Laws of every profile that has tails.


def with_tails():
    for cls in mechanisms.values():
        for mechanism, adjacency in itertools.product(
            cls.examples(), ("add_remove", "replace_one")
        ):
            try:
                pairs = (*mechanism.profiles(adjacency), *mechanism.witnesses(adjacency))
            except NotImplementedError:
                continue
            for i, pair in enumerate(p for p in pairs if p.has_tails):
                yield f"{mechanism}, {adjacency}, {i}", pair


PAIRS = dict(with_tails())


@each("name", PAIRS)
def test_chords_of_the_profile_lie_between_its_tails(name):
    """delta is convex in e^epsilon with slope -Q(L > epsilon): between a and b, b > a,
    Q(L > b) <= (delta(a) - delta(b)) / (e^b - e^a) <= Q(L > a)."""
    for side in (PAIRS[name], PAIRS[name].reverse()):
        epsilons = np.append(np.linspace(0, 0.02, 101), np.geomspace(0.021, 20, 3000))
        log_delta, (_, log_q) = side.log_delta(epsilons), side.log_tails(epsilons)
        chord = log_sub(log_delta[:-1], log_delta[1:]) - log_sub(epsilons[1:], epsilons[:-1])
        # The difference of two deltas loses what they have in common.
        with np.errstate(over="ignore", invalid="ignore"):
            lost = 1e-15 * (1 + np.abs(log_delta[:-1])) * np.exp(log_delta[:-1] - chord)
            lost = 2e-12 + lost / -np.expm1(-np.diff(epsilons)) * np.exp(-epsilons[1:])
        seen = lost < 1e-3
        assert np.all(chord[seen] <= log_q[:-1][seen] + lost[seen])
        assert np.all(log_q[1:][seen] <= chord[seen] + lost[seen])
        assert np.count_nonzero(seen & np.isfinite(chord)) > 20


@each("name", PAIRS)
def test_two_reversals_and_full_weight_change_nothing(name):
    epsilons = np.append(0.0, np.geomspace(1e-3, 1e6, 40))
    pair = PAIRS[name]
    again = pair.reverse().reverse()
    assert pair.mix_first(1.0) is pair
    np.testing.assert_array_equal(again.log_delta(epsilons), pair.log_delta(epsilons))
    np.testing.assert_array_equal(again.log_tails(epsilons), pair.log_tails(epsilons))
    # They start below 1 and never grow; log P is a sum whose rounding wobbles on a plateau.
    log_p, log_q = pair.log_tails(epsilons)
    assert np.all(log_q <= log_p) and log_p[0] <= 0
    assert np.all(log_q[1:] <= log_q[:-1])
    assert np.all(log_p[1:] <= log_p[:-1] * (1 - 1e-14))


# Profiles without tails.


def test_a_profile_of_delta_alone_has_no_tails():
    (pair,) = Gaussian(1.0).profiles()
    bare = Profile(pair.log_delta_of)
    half = Profile(pair.log_delta_of, pair.log_delta_of, log_tail_of=pair.log_tail_of)
    for without in (bare, half, bare.reverse(), half.reverse(), bare.mix_first(0.3)):
        assert not without.has_tails
        with pytest.raises(NotImplementedError, match="log_tails"):
            without.log_tails(1.0)
    assert half.mix_second(0.3).delta(1.0) == pair.mix_second(0.3).delta(1.0)
    assert half.reverse().reverse().log_tail_of is pair.log_tail_of
