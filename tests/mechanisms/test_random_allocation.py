"""One epoch of random allocation: upper and lower bounds, and exact moments."""

import itertools
import math

import numpy as np
import pytest

from cases import each
from dplearn.mechanisms import Gaussian, RandomAllocation

SETTINGS = [(0.17, 3), (0.5, 1000), (1.0, 2), (1.0, 10**5), (4.0, 100), (60.0, 7)]
each_setting = each("sigma, batches", SETTINGS)
EPSILONS = np.concatenate([[0.0], np.geomspace(1e-6, 60, 60)])


def brackets(sigma, batches):
    """Return (lower, upper) profiles for a removed and for an added record."""
    epoch = RandomAllocation(Gaussian(sigma), batches)
    return list(zip(epoch.witnesses(), epoch.profiles(), strict=True))


def two_batches(sigma, step=0.012, order=2):
    """Return likelihood ratios of two batches and their masses under Q, on a square lattice."""
    x = np.arange(-12, 12 + order / sigma, step)
    mass, y = np.exp(-x * x / 2) * step / math.sqrt(2 * math.pi), np.exp(x / sigma - 0.5 / sigma**2)
    return np.multiply.outer(mass, mass).ravel(), (np.add.outer(y, y) / 2).ravel()


@pytest.mark.slow
@each("sigma", [0.4, 1.0, 3.0])
def test_bounds_on_delta_for_two_batches_contain_delta_by_quadrature(sigma):
    mass, ratio = two_batches(sigma)
    for epsilon in (0.0, 0.1, 1.0, 2.5):
        x = math.exp(epsilon)
        deltas = [mass @ np.maximum(gain, 0.0) for gain in (ratio - x, 1 - x * ratio)]
        for (below, above), delta in zip(brackets(sigma, 2), deltas, strict=True):
            # At the integrand's kink the error of the lattice is 1e-5.
            assert below.delta(epsilon) * (1 - 1e-4) - 1e-30 < delta
            assert delta < above.delta(epsilon) * (1 + 1e-4) + 1e-30


def test_brackets_of_epsilon_overlap_those_of_another_library():
    """Compare with PLD_accounting 2.0 (Feldman & Shenfeld), which takes two minutes."""
    lower, upper = brackets(0.6, 100)[0]
    assert lower.epsilon(1e-5) <= 3.43200 and 3.43031 <= upper.epsilon(1e-5) <= 1.005 * 3.43031


@pytest.mark.slow
@each_setting
def test_lower_and_upper_profile_are_close_and_below_that_of_a_gaussian(sigma, batches):
    (gaussian,) = Gaussian(sigma).profiles()
    at = np.concatenate([-EPSILONS, EPSILONS])
    for lower, upper in brackets(sigma, batches):
        assert np.all(lower.log_delta(at) <= upper.log_delta(at) + 1e-12)
        assert np.all(lower.log_delta(at) <= gaussian.log_delta(at) + 1e-12)
    for delta in (1e-2, 1e-5, 1e-12):
        remove, add = ([float(p.epsilon(delta)) for p in pair] for pair in brackets(sigma, batches))
        for low, high in (remove, add):
            assert low <= high <= 1.015 * low + 2e-5
        assert add[0] <= remove[1] <= gaussian.epsilon(delta)
    # Exact moments are computed independently; at small noise, merging lowers high moments more.
    orders = [2.0, 3.0, 5.0, 8.0]
    below = np.max([p.renyi(orders) for p, _ in brackets(sigma, batches)], axis=0)
    share = below / RandomAllocation(Gaussian(sigma), batches).rdp(orders)
    assert np.all((0.99 * (sigma > 0.2) < share) & (share < 1))


def multinomial_moment(sigma, batches, order):
    """Return E[f^order] for the mean f of all likelihood ratios, by a multinomial sum."""
    total = 0.0
    for parts in itertools.product(range(order + 1), repeat=batches):
        if sum(parts) == order:
            ways = math.factorial(order) / math.prod(map(math.factorial, parts))
            total += ways * math.exp(sum(k * k - k for k in parts) / (2 * sigma**2))
    return total / batches**order


@each("sigma, batches", [(0.5, 2), (1.0, 3), (3.0, 5), (30.0, 4)])
def test_renyi_divergences_at_integer_orders_equal_a_multinomial_sum(sigma, batches):
    orders = np.arange(2, 8)
    expected = [math.log(multinomial_moment(sigma, batches, int(a))) / (a - 1) for a in orders]
    value = RandomAllocation(Gaussian(sigma), batches).rdp(orders)
    # Tolerance: the multinomial sum is 1 + X, where a small X loses digits.
    np.testing.assert_allclose(value, expected, rtol=1e-10)


@each("sigma, batches", [(0.3, 10), (1.0, 1000), (20.0, 10**6)])
def test_renyi_divergence_of_order_two_equals_its_closed_form(sigma, batches):
    expected = math.log1p(math.expm1(1 / sigma**2) / batches)
    value = RandomAllocation(Gaussian(sigma), batches).rdp([2.0])
    np.testing.assert_allclose(value, expected, rtol=1e-12)


@each("sigma", [0.6, 1.0, 4.0])
def test_renyi_divergences_of_two_batches_are_at_least_those_by_quadrature(sigma):
    mass, ratio = two_batches(sigma, step=0.05, order=10)
    moment = lambda powers: np.log([mass @ ratio**power for power in powers])
    orders = np.array([1.3, 2.0, 2.5, 3.0, 6.0])
    exact = np.maximum(moment(orders), moment(1 - orders)) / (orders - 1)
    values, whole = RandomAllocation(Gaussian(sigma), 2).rdp(orders), orders == np.round(orders)
    np.testing.assert_allclose(values[whole], exact[whole], rtol=1e-8)
    # At other orders the chord between two integer orders lies above the exact value.
    assert np.all((exact < values) & (values < 1.6 * exact) | whole)
    # The line of the module's proof lies between the divergences of (Q, P) and (P, Q).
    line = orders * (orders - 1) / 2 * math.log1p(math.expm1(1 / sigma**2) / 2)
    assert np.all(moment(1 - orders) <= line)
    assert np.all(line[whole] <= moment(orders[whole]) * (1 + 1e-9))


def test_renyi_divergences_grow_with_the_order_and_are_below_those_of_a_gaussian():
    orders = np.unique(np.concatenate([np.linspace(1.01, 8, 80), np.arange(9, 257), [300, 1e6]]))
    for sigma, batches in SETTINGS:
        epoch = RandomAllocation(Gaussian(sigma), batches)
        curve, line = epoch.rdp(orders), Gaussian(sigma).rdp(orders)
        assert np.all(curve <= line) and np.all(curve[orders > 256] == line[orders > 256])
        assert np.all(np.diff(curve[orders == np.round(orders)]) > 0)
        assert epoch.zcdp() == Gaussian(sigma).zcdp()


@each("sigma, batches", [(1.0, 1), (0.15, 50), (0.04, 9)])
def test_profile_for_one_batch_or_tiny_noise_is_that_of_a_gaussian(sigma, batches):
    epoch = RandomAllocation(Gaussian(sigma), batches)
    (profile,) = epoch.profiles()
    assert np.array_equal(profile.delta(EPSILONS), Gaussian(sigma).profiles()[0].delta(EPSILONS))
    assert epoch.attained == (batches == 1)
    for witness in epoch.witnesses():
        assert np.all(witness.delta(EPSILONS) <= profile.delta(EPSILONS))
    assert len(epoch.witnesses()) == {1.0: 1, 0.15: 2, 0.04: 0}[sigma]
