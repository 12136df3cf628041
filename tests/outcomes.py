"""Pairs of finite distributions, their delta by definition, and checks of brackets."""

import itertools
import math

import mpmath
import numpy as np
from mpmath import mpf

from dplearn.engine.lattice import Lattice
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, PoissonSubsampled

EPSILONS = np.concatenate([-np.geomspace(0.01, 9, 12), [0.0], np.geomspace(0.01, 9, 12)])
# More cells than by default, because tests check the widths of brackets.
LATTICE = Lattice(rtol=1e-3, most_cells=2**18)
# Relative rounding error of a reference value in double precision.
ROUNDING = 1e-11


def bracket(sides, counts, delta, lattice=LATTICE):
    """Return bounds on epsilon of one composition, from the same pairs for both bounds."""
    (lower,), (upper,) = lattice.brackets(sides, [counts], delta=delta, witnesses=sides)
    return float(lower), float(upper)


def assert_holds(ends, truth, *, below=1.0, above=math.inf):
    """Check that a bracket contains the true value, and that its ends are near the value."""
    lower, upper = ends
    assert lower <= truth * (1 + ROUNDING) and truth * (1 - ROUNDING) <= upper
    assert truth * (1 - below) <= lower + 1e-12 and upper <= truth * (1 + above) + 1e-12


def assert_encloses(ends, true_delta, delta, slack=1e-9):
    """Check that the true delta is >= delta at the lower end and <= delta at the upper end."""
    lower, upper = ends
    assert true_delta(upper) <= delta * (1 + slack)
    assert lower == 0 or true_delta(lower) >= delta * (1 - slack)


def assert_suits(allowed, errors, most=100):
    """Check that allowed >= errors everywhere, and allowed <= most * error somewhere."""
    errors = np.array([float(e) for e in errors])
    share = errors / np.broadcast_to(allowed, errors.shape)
    assert np.all(errors <= allowed), f"error is {np.max(share):.3g} times what is allowed"
    assert np.max(share) >= 1 / most, f"{1 / np.max(share):.3g} times the error is allowed"


def sampled(sigma, q):
    """Return one step of Poisson sampling and Gaussian noise."""
    return PoissonSubsampled(Gaussian(sigma), q)


def of_atoms(p, q):
    with np.errstate(divide="ignore"):
        return Profile.from_atoms(np.log(p), np.log(q))


def delta_by_definition(p, q, epsilon=EPSILONS):
    """Return the sum of (p - e^epsilon q)_+ over the outcomes, at every epsilon."""
    return np.maximum(p - np.exp(epsilon)[:, None] * q, 0.0).sum(axis=1)


def most_powerful(p, q, rates):
    """Return the true positive rates of Neyman-Pearson tests at false positive rates."""
    with np.errstate(divide="ignore"):
        order = np.argsort(-np.where(q > 0, p / q, np.inf), kind="stable")
    false, true = (np.append(0.0, np.cumsum(law[order])) for law in (q, p))
    # Outcomes with q = 0 add no false positives.
    free = np.flatnonzero(false == 0)[-1]
    return np.interp(rates, false[free:], true[free:])


def delta_of_all_sequences(p, q, steps):
    """Return delta of `steps` independent draws as a function of epsilon, by enumeration."""
    p, q = (np.prod(list(itertools.product(law, repeat=steps)), axis=1) for law in (p, q))
    return lambda epsilon: float(delta_by_definition(p, q, np.array([epsilon]))[0])


# Random pairs of finite distributions; the supports of every second pair differ.
LAWS = np.random.default_rng(20160701).dirichlet(np.ones(5), (6, 2))
LAWS[1::2, 0, 0] = LAWS[1::2, 1, 1] = 0.0
LAWS = list(LAWS / LAWS.sum(axis=2, keepdims=True))


def mixtures(p, q, weight):
    """Yield (profile, P, Q) for pairs with one distribution mixed with the other, and reverses."""
    pair = of_atoms(p, q)
    mixed, other = ((1 - weight) * a + weight * b for a, b in [(q, p), (p, q)])
    first, second = pair.mix_first(weight), pair.reverse().mix_first(weight).reverse()
    yield from [(first, mixed, q), (first.reverse(), q, mixed)]
    yield from [(second, p, other), (second.reverse(), other, p)]


def epsilon_of_coins(losses, counts, delta):
    """Return epsilon of independent randomized responses to 40 digits, by enumeration."""
    with mpmath.workdps(40):
        law = {mpf(0): mpf(1)}
        for loss, count in zip(map(mpf, losses), counts, strict=True):
            exact = 1 / (1 + mpmath.exp(-loss))
            new = {}
            for (old, p), k in itertools.product(law.items(), range(count + 1)):
                # k truthful answers have (2k - count) times the loss of one answer.
                weight = mpmath.binomial(count, k) * exact**k * (1 - exact) ** (count - k)
                total = old + loss * (2 * k - count)
                new[total] = new.get(total, 0) + p * weight
            law = new
        # Go from the largest loss down: between two losses, delta is linear in e^eps.
        mass = other = mpf(0)
        for upper, lower in itertools.pairwise([*sorted(law, reverse=True), -mpmath.inf]):
            mass, other = mass + law[upper], other + law[upper] * mpmath.exp(-upper)
            if mass - mpmath.exp(lower) * other > delta:
                return max(mpmath.log((mass - delta) / other), mpf(0))


def gaussian_ends(mu):
    """Return delta and e^eps Q(L > eps) of a Gaussian pair as mpmath functions of eps."""
    tail = lambda z: mpmath.erfc(z / mpmath.sqrt(2)) / 2
    behind = lambda e: mpmath.exp(e) * tail(e / mu + mu / 2)
    return (lambda e: tail(e / mu - mu / 2) - behind(e)), behind
