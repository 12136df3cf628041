"""Rounding bounds of accountants, claims and runs are at least the error, and close to it.

As in the engine, each is at least the largest error and at most a hundred times as large.
"""

import math
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest

from cases import each
from dplearn.accountants import pld, theorems
from dplearn.mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplearn.mechanisms.sampling_scheme import SamplingScheme
from dplearn.run import DPSGD
from outcomes import assert_suits, gaussian_ends


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(30):
        yield


def one_run(sigma, epsilon, delta):
    """Return the bound of one run with upper end `epsilon` and a Gaussian witness."""
    runs = SimpleNamespace(
        epsilon_of_one=lambda deltas: np.full((len(deltas), 1), epsilon),
        mechanisms=[Gaussian(sigma)],
        adjacency="add_remove",
    )
    return pld._one_run(runs, 0, delta, False)


def gaussian_epsilon_exactly(sigma, near, delta):
    (end, _), d = gaussian_ends(1 / mp.mpf(sigma)), mp.mpf(delta)
    return mp.findroot(lambda e: end(e) - d, (near, near * (1 + 1e-9)))


def test_lower_end_of_one_run_is_not_the_rounded_up_epsilon():
    """The tolerance of the search is 1e-12."""
    allowed, errors = [], []
    for sigma in (10.0, 1.0, 0.25):
        for delta in np.geomspace(1e-12, 0.3, 15) * float(Gaussian(sigma).profiles()[0].delta(0.0)):
            (upper,) = Gaussian(sigma).profiles()[0].epsilon([delta])
            exact = gaussian_epsilon_exactly(sigma, upper, delta)
            errors.append(upper / exact - 1)
            allowed.append(1 - one_run(sigma, 99.0, delta).lower / upper)
    assert_suits(allowed, errors)


def test_one_run_is_exact_if_both_ends_agree():
    """Both ends have a margin of 2e-12; a gap of 1e-9 means two different pairs."""
    epsilon = float(Gaussian(1.0).profiles()[0].epsilon(1e-5))
    for gap, kind in [(0.0, "exact"), (1e-9, "bracket")]:
        assert one_run(1.0, epsilon * (1 + gap), 1e-5).kind == kind


def sampled_gaussian_rdp(order, sigma, q):
    """Return a divergence by the trapezoidal rule, exact to all digits."""
    order, sigma, q = mp.mpf(order), mp.mpf(sigma), mp.mpf(q)
    h = sigma / 20
    total = mp.fsum(
        mp.npdf(x, 0, sigma) * (1 - q + q * mp.exp((2 * x - 1) / (2 * sigma**2))) ** order
        for x in mp.arange(-14 * sigma, order + 14 * sigma, h)
    )
    return mp.log(total * h) / (order - 1)


@each("epsilon", [0.01, 1.0, 5.0])
def test_renyi_divergences_of_pure_mechanisms_near_order_1(epsilon):
    """Moments are near 1 there; computing by their logarithms once lost a relative 1e-6."""
    e, orders = mp.mpf(1) / mp.mpf(1 / epsilon), [mp.mpf(1 + x) for x in (1e-6, 0.01, 1.0, 63.0)]
    laplace = [(a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) / (2 * a - 1) for a in orders]
    e = mp.mpf(epsilon)
    answers = [(mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e)) for a in orders]
    asked, pairs = np.array(orders, dtype=float), [(Laplace(1 / epsilon), "add_remove", laplace)]
    pairs += [(RandomizedResponse(epsilon), "replace_one", answers)]
    for mechanism, adjacency, moments in pairs:
        exact = [float(mp.log(m) / (a - 1)) for m, a in zip(moments, orders, strict=True)]
        found = mechanism.rdp(asked, adjacency=adjacency)
        np.testing.assert_allclose(found, exact, rtol=2e-14)


def test_renyi_divergences_of_a_sampled_gaussian_near_order_1():
    orders = np.array([1 + 1e-6, 1.01, 1.5, 4.5])
    exact = [float(sampled_gaussian_rdp(a, 4.0, 0.01)) for a in orders]
    np.testing.assert_allclose(PoissonSubsampled(Gaussian(4.0), 0.01).rdp(orders), exact, rtol=1e-9)


def binomial_tail(k, chance, steps):
    """Return P(K > k) for many trials, far in the tail."""
    j, ways = k + 1, mp.loggamma(steps + 1) - mp.loggamma(k + 2) - mp.loggamma(steps - k)
    term = mp.exp(ways + j * mp.log(chance) + (steps - j) * mp.log1p(-chance))
    total, odds = term, chance / (1 - chance)
    while term > total * mp.mpf(10) ** -20:
        term *= odds * (steps - j) / (j + 1)
        total, j = total + term, j + 1
    return total


@each("steps, size", [(10**3, 1.0), (10**6, 5.0), (10**8, 1.0)])
def test_error_bound_of_binomial_tails_covers_the_rounded_argument(steps, size):
    """The error grows like the square root of the number of trials."""
    epsilon = size / math.sqrt(steps)
    chance = 1 / (1 + mp.exp(-mp.mpf(epsilon)))
    k = round(float(steps * chance) + 10 * math.sqrt(steps))
    tails = theorems.binomial_tails(*(np.array(float(x)) for x in (k, epsilon, steps)))
    exact = binomial_tail(k, chance, steps), binomial_tail(k, 1 - chance, steps)
    errors = [abs(v / e - 1) for v, e in zip(tails, exact, strict=True)]
    assert_suits(float(theorems.tails_error(np.array(steps))), errors)


def test_steps_from_epochs_are_rounded_up_except_for_rounding_errors():
    """Up to a million steps, where a product of two doubles is off by 2e-10."""
    lost = []
    steps = lambda **loader: DPSGD.from_epochs(noise_multiplier=1.0, **loader).steps
    for epochs in (1.1, 2.2, 4.7, 9.3):
        for batches in (10, 1000, 100_000):
            whole = round(epochs * batches)
            assert steps(epochs=epochs, dataset_size=batches, batch_size=1) == whole
            lost.append(epochs * batches - whole)
    assert 1e-11 < max(lost) < 1e-9
    assert steps(epochs=1.0, dataset_size=10**8 + 1, batch_size=10**8) == 2


def test_sample_rate_with_ten_digits_gives_whole_batches():
    """Rounding it up must not lose a batch; with eight digits the remainder is real."""
    batches = lambda rate: SamplingScheme.of(Gaussian(1.0), "shuffled", rate, 1).batches
    for count in range(1, 400):
        assert batches(float(f"{1 / count:.10g}")) == count
    assert batches(0.14285715) == 6
