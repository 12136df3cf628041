"""Pairs with finitely many outcomes, what they leak by definition, and brackets that hold it."""

import itertools
import math

import mpmath
import numpy as np
from mpmath import mpf

from dplearn.engine.lattice import Lattice
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, PoissonSubsampled

EPSILONS = np.concatenate([-np.geomspace(0.01, 9, 12), [0.0], np.geomspace(0.01, 9, 12)])
# More cells than by default: widths are checked.
LATTICE = Lattice(rtol=1e-3, most_cells=2**18)
# What rounding may do to a truth computed in double precision.
ROUNDING = 1e-11


def bracket(sides, counts, delta, lattice=LATTICE):
    """Of one row, the larger direction, bounded by the same pairs from both sides."""
    (lower,), (upper,) = lattice.brackets(sides, [counts], delta=delta, witnesses=sides)
    return float(lower), float(upper)


def assert_holds(ends, truth, *, below=1.0, above=math.inf):
    """Check that the truth lies inside, and within these relative distances of the ends."""
    lower, upper = ends
    assert lower <= truth * (1 + ROUNDING) and truth * (1 - ROUNDING) <= upper
    assert truth * (1 - below) <= lower + 1e-12 and upper <= truth * (1 + above) + 1e-12


def assert_encloses(ends, true_delta, delta, slack=1e-9):
    """Check that the truth is at least delta at the lower end, at most delta at the upper."""
    lower, upper = ends
    assert true_delta(upper) <= delta * (1 + slack)
    assert lower == 0 or true_delta(lower) >= delta * (1 - slack)


def assert_suits(allowed, errors, most=100):
    """Nowhere less than the error, and where it is largest compared no more than a hundredfold."""
    errors = np.array([float(e) for e in errors])
    share = errors / np.broadcast_to(allowed, errors.shape)
    assert np.all(errors <= allowed), f"error is {np.max(share):.3g} times what is allowed"
    assert np.max(share) >= 1 / most, f"{1 / np.max(share):.3g} times the error is allowed"


def sampled(sigma, q):
    """One step of Poisson sampling and Gaussian noise."""
    return PoissonSubsampled(Gaussian(sigma), q)


def of_atoms(p, q):
    with np.errstate(divide="ignore"):
        return Profile.from_atoms(np.log(p), np.log(q))


def delta_by_definition(p, q, epsilon=EPSILONS):
    """sum of (p - e^epsilon q)_+ over the outcomes, at every real epsilon of an array."""
    return np.maximum(p - np.exp(epsilon)[:, None] * q, 0.0).sum(axis=1)


def most_powerful(p, q, rates):
    """Find true positive rates by Neyman and Pearson: largest ratios first, then a coin."""
    with np.errstate(divide="ignore"):
        order = np.argsort(-np.where(q > 0, p / q, np.inf), kind="stable")
    false, true = (np.append(0.0, np.cumsum(law[order])) for law in (q, p))
    # Outcomes that never happen by chance are free.
    free = np.flatnonzero(false == 0)[-1]
    return np.interp(rates, false[free:], true[free:])


def delta_of_all_sequences(p, q, steps):
    """epsilon -> delta of `steps` draws, outcome by outcome."""
    p, q = (np.prod(list(itertools.product(law, repeat=steps)), axis=1) for law in (p, q))
    return lambda epsilon: float(delta_by_definition(p, q, np.array([epsilon]))[0])


# Random pairs of finite laws; every second pair has outcomes only one of them can give.
LAWS = np.random.default_rng(20160701).dirichlet(np.ones(5), (6, 2))
LAWS[1::2, 0, 0] = LAWS[1::2, 1, 1] = 0.0
LAWS = list(LAWS / LAWS.sum(axis=2, keepdims=True))


def mixtures(p, q, weight):
    """Both mixtures of a pair and their reverses: profile, first law, second law."""
    pair = of_atoms(p, q)
    mixed, other = ((1 - weight) * a + weight * b for a, b in [(q, p), (p, q)])
    first, second = pair.mix_first(weight), pair.reverse().mix_first(weight).reverse()
    yield from [(first, mixed, q), (first.reverse(), q, mixed)]
    yield from [(second, p, other), (second.reverse(), other, p)]


def epsilon_of_coins(losses, counts, delta):
    """Epsilon of independent randomized responses in forty digits: every loss with its mass."""
    with mpmath.workdps(40):
        law = {mpf(0): mpf(1)}
        for loss, count in zip(map(mpf, losses), counts, strict=True):
            exact = 1 / (1 + mpmath.exp(-loss))
            new = {}
            for (old, p), k in itertools.product(law.items(), range(count + 1)):
                # k truthful answers have the loss (2k - count) of one answer.
                chance = mpmath.binomial(count, k) * exact**k * (1 - exact) ** (count - k)
                total = old + loss * (2 * k - count)
                new[total] = new.get(total, 0) + p * chance
            law = new
        # Going down from the largest loss, delta is linear in e^eps between two losses.
        mass = other = mpf(0)
        for upper, lower in itertools.pairwise([*sorted(law, reverse=True), -mpmath.inf]):
            mass, other = mass + law[upper], other + law[upper] * mpmath.exp(-upper)
            if mass - mpmath.exp(lower) * other > delta:
                return max(mpmath.log((mass - delta) / other), mpf(0))


def gaussian_ends(mu):
    """delta and e^eps Q(L > eps) of a Gaussian pair, as exact as mpmath works."""
    tail = lambda z: mpmath.erfc(z / mpmath.sqrt(2)) / 2
    behind = lambda e: mpmath.exp(e) * tail(e / mu + mu / 2)
    return (lambda e: tail(e / mu - mu / 2) - behind(e)), behind
