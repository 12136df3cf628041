"""Sums of whole-number noise against their definition and theorem."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import stats

from cases import each
from dplearn import ACCOUNTANTS, DiscreteGaussian
from dplearn.mechanisms import PoissonSubsampled, Skellam, SummedDiscreteGaussian
from dplearn.mechanisms.whole_numbers import skellam_rdp_bound, summed_zcdp
from outcomes import EPSILONS, delta_by_definition

PLD = ACCOUNTANTS["pld"]()


def sum_by_definition(sigma, clients):
    """Return masses on -n, ..., n by convolving the clients one by one."""
    reach = math.ceil(15 * sigma) + 2
    one = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    law = one = one / one.sum()
    for _ in range(clients - 1):
        law = np.convolve(law, one)
    return law


def skellam_by_definition(variance):
    """Return masses of a difference of two Poisson counts, by definition."""
    count = stats.poisson(variance / 2).pmf(
        np.arange(math.ceil(variance + 40 * variance**0.5) + 40)
    )
    return np.convolve(count, count[::-1])


def shifted(law, shift):
    gap = np.zeros(shift)
    return np.append(gap, law), np.append(law, gap)


LAWS = [
    (SummedDiscreteGaussian(1.0, 5, clients=100), sum_by_definition(0.5, 100)),
    (SummedDiscreteGaussian(1.0, 3, clients=100), sum_by_definition(0.3, 100)),
    (SummedDiscreteGaussian(0.5, 8, clients=3), sum_by_definition(4 / 3**0.5, 3)),
    (SummedDiscreteGaussian(3.0, 2, clients=7), sum_by_definition(6 / 7**0.5, 7)),
    (Skellam(1.0, 5), skellam_by_definition(25.0)),
    (Skellam(0.3, 2), skellam_by_definition(0.36)),
]


def log_skellam(k, mu):
    """Return log e^-mu I_k(mu) by the trapezoidal rule for its integral over a circle."""
    with mp.workdps(40):
        s = mp.asinh(mpf(k) / mu)
        size = mu * mp.cosh(s)
        h = 1 / mp.sqrt(size) / 4
        term = lambda t: mp.exp(size * (mp.cos(t) - 1)) * mp.cos(k * (mp.sin(t) - t))
        total = mp.fsum(term(j * h) for j in range(-60, 61))
        return mp.log(total * h / (2 * mp.pi)) + size - k * s - mu


@pytest.mark.parametrize("mu", [1e4, 4e7, 1e8])
def test_error_of_bessel_functions_is_below_its_bound(mu):
    law = Skellam(math.sqrt(mu))
    assert float(log_skellam(9, 1e4)) == pytest.approx(float(mp.log(mp.besseli(9, 1e4)) - 1e4))
    errors = [
        abs(law._masses[k] - log_skellam(k, mu)) for k in range(0, law._masses.size, int(mu**0.5))
    ]
    assert max(errors) < law._error


@each("law, masses", LAWS)
@each("adjacency, contributions", [("add_remove", 1), ("replace_one", 2)])
def test_profiles_and_witnesses_enclose_the_definition(law, masses, adjacency, contributions):
    assert law._log_noise(np.array([10**6]))[0] == -math.inf
    p, q = shifted(masses, contributions * law.sensitivity)
    for one, other in ((p, q), (q, p)):
        expected = delta_by_definition(one, other)
        (above,), (below,) = law.profiles(adjacency), law.witnesses(adjacency)
        seen = expected > 1e-11  # truncation of the oracle, and rounding
        assert np.all(expected[seen] <= above.delta(EPSILONS)[seen] * (1 + 1e-7))
        assert np.all(below.delta(EPSILONS)[seen] <= expected[seen] * (1 + 1e-7))
        np.testing.assert_allclose(above.delta(EPSILONS), expected, rtol=1e-6, atol=1e-11)


@each(
    "law, certified",
    [
        (SummedDiscreteGaussian(1.0, 10, clients=100), 4.3777),
        (SummedDiscreteGaussian(1.0, 5, clients=100), 4.5724),
        (SummedDiscreteGaussian(1.0, 3, clients=100), 8.5202),
        (Skellam(1.0, 10), 4.2696),
    ],
)
def test_certified_epsilon_of_sums_whose_variance_seems_one(law, certified):
    """A Gaussian of the same nominal variance has 4.377 at delta = 1e-5."""
    stated = PLD.epsilon(law, delta=1e-5)
    assert stated.is_bound and stated.lower == pytest.approx(stated.epsilon, rel=1e-6)
    assert stated.epsilon == pytest.approx(certified, abs=1e-4)
    run = PLD.epsilon(PoissonSubsampled(law, 0.05), delta=1e-5, steps=20)
    assert 0.98 * run.epsilon < run.lower < run.epsilon


def test_one_client_is_a_discrete_gaussian_and_large_sums_use_the_theorem(monkeypatch):
    for sensitivity in (1, 4):
        one, law = SummedDiscreteGaussian(0.7, sensitivity, 1), DiscreteGaussian(0.7, sensitivity)
        deltas = [m.profiles()[0].delta(EPSILONS) for m in (one, law)]
        np.testing.assert_allclose(*deltas, rtol=1e-9, atol=1e-280)
    exact = SummedDiscreteGaussian(1.0, 20, clients=150)
    (table,), (below,) = exact.profiles(), exact.witnesses()
    delta, less = table.delta(EPSILONS), below.delta(EPSILONS)
    monkeypatch.setattr("dplearn.mechanisms.whole_numbers._WIDEST", 1.0)
    exact._log_masses.__globals__["_sum_masses"].cache_clear()
    by_theorem = SummedDiscreteGaussian(1.0, 20, clients=150)
    high, low = by_theorem.profiles()[0].delta(EPSILONS), by_theorem.witnesses()[0].delta(EPSILONS)
    assert np.all(low <= delta) and np.all(less <= high)
    np.testing.assert_allclose(high, low, rtol=1e-3, atol=1e-12)
    exact._log_masses.__globals__["_sum_masses"].cache_clear()


def renyi(masses, shift, order):
    p, q = shifted(masses, abs(shift))
    both = (p > 1e-290) & (q > 1e-290)
    logs = order * np.log(p[both]) + (1 - order) * np.log(q[both])
    return float(np.logaddexp.reduce(logs)) / (order - 1)


@each("sigma, clients", [(0.5, 4), (0.5, 40), (0.8, 10), (1.0, 30), (2.0, 5)])
@each("change", [(1,), (3, 4), (2, 1, 1), (1,) * 8])
def test_zcdp_of_vectors_bounds_the_summed_divergences(sigma, clients, change):
    rho = summed_zcdp(sigma, clients, shift=math.hypot(*change), dimension=len(change))
    masses = sum_by_definition(sigma, clients)
    for order in (2, 3, 5):
        assert sum(renyi(masses, s, order) for s in change) <= order * rho * (1 + 1e-9)
    if sigma == 2.0:
        assert rho == pytest.approx(math.hypot(*change) ** 2 / (2 * clients * sigma**2))


@each("variance", [4.0, 25.0])
@each("change", [(1,), (3, 4), (1,) * 8])
def test_divergences_of_skellam_noise_are_bounded(variance, change):
    orders = np.array([2.0, 3.0, 5.0])
    bound = skellam_rdp_bound(orders, variance, l1=sum(change), l2=math.hypot(*change))
    masses = skellam_by_definition(variance)
    for order, most in zip(orders, bound, strict=True):
        assert sum(renyi(masses, s, order) for s in change) <= most
    assert Skellam(1.0).zcdp() is None
