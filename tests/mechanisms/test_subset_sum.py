"""Sums over random subsets of given records: every subset drawn, and the integral that is meant."""

import itertools
import math
from collections import Counter
from contextlib import nullcontext

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import norm

from cases import each
from dplearn import (
    ACCOUNTANTS,
    Composed,
    Gaussian,
    PrivacyFilter,
    Tuned,
    WithoutReplacement,
    calibrate,
    smallest_noise_multiplier,
)
from dplearn.core.work import counting
from dplearn.mechanisms import SubsetSum
from dplearn.teaching.book import sampled_gaussian_rdp_integer

PAIR: dict = {"adjacency": "replace_one"}
TINY = [
    SubsetSum(noise, records, batch, alike)
    for (records, batch), noise in itertools.product([(1, 1), (5, 1), (6, 2), (6, 6)], (0.4, 3.0))
    for alike in {0, (records - 1) // 2, records - 1}
]


def densities(mechanism):
    """Places with one distance, and both densities there, from the list of all subsets."""
    ones = [1] * mechanism.alike + [-1] * (mechanism.records - 1 - mechanism.alike)
    size, scale = mechanism.batch, mechanism.noise_multiplier
    reach = size + 38 * scale
    x = np.linspace(-reach, reach, 400_001)

    def density(record):
        chosen = Counter(map(sum, itertools.combinations([record, *ones], size)))
        laws = [times * norm.pdf(x, value, scale) for value, times in chosen.items()]
        return np.sum(laws, axis=0) / math.comb(mechanism.records, size)

    return reach / 200_000, density(1), density(-1)


@pytest.mark.slow
@each("mechanism", TINY)
def test_divergences_and_delta_of_all_subsets(mechanism):
    step, p, q = densities(mechanism)
    alive = (p > 1e-290) & (q > 1e-290)
    p, q = p[alive], q[alive]
    pairs = [(p, q), (q, p)]
    for order in (1.3, 2.0, 4.0):
        logs = [order * np.log(a) + (1 - order) * np.log(b) for a, b in pairs]
        truth = [math.log(np.sum(np.exp(log)) * step) / (order - 1) for log in logs]
        (worse,) = mechanism.rdp([order], **PAIR)
        # Subtracting 1 costs the sum its last digits.
        assert worse == pytest.approx(max(truth), rel=1e-9, abs=1e-12)
    for epsilon, (profile, (a, b)) in itertools.product(
        (0.0, 0.01, 0.3, 2.0), zip(mechanism.profiles(**PAIR), pairs, strict=True)
    ):
        above = a > math.exp(epsilon) * b
        leak, tail = (np.sum(law[above]) * step for law in (a - math.exp(epsilon) * b, b))
        # The sum ends within a step of the place where the loss is epsilon.
        assert float(profile.delta(epsilon)) == pytest.approx(leak, abs=step**2)
        assert np.exp(profile.log_tails(epsilon)[1]) == pytest.approx(tail, abs=step)


def sums(others, drawn, alike):
    """Chance of every number of ones, by counting subsets."""
    ways = [math.comb(alike, k) * math.comb(others - alike, drawn - k) for k in range(drawn + 1)]
    return [mpf(w) / math.comb(others, drawn) for w in ways]


SMALL = [(10.0, 500, 1e-4), (1.0, 500, 0.004), (1.0, 3, 0.5), (0.2, 3, 9.0)]
# So little noise that the loss is a staircase, and so much that every count is in reach.
SMALL += [(1e-3, 500, 0.0151), (1e-3, 5, 0.003), (0.02, 500, 0.003), (25.0, 500, 1e-3)]


@pytest.mark.slow
@each("noise, alike, epsilon", SMALL)
def test_delta_where_differences_are_small(noise, alike, epsilon):
    """Both densities in fifty digits; the loss grows with the output, so one threshold is best."""
    step = SubsetSum(noise, 1000, 10, alike)
    with mpmath.workdps(50):
        rest, kept = sums(999, 10, alike), sums(999, 9, alike)
        sigma, q = mpf(noise) / 2, mpf(1) / 100
        stays = [(1 - q) * w for w in rest]
        other = [w + q * u for w, u in zip(stays, [*kept, 0], strict=True)]
        turned = [w + q * u for w, u in zip(stays, [0, *kept], strict=True)]
        mass = lambda law, at: mpmath.fsum(w * at(k) for k, w in enumerate(law))
        ratio = lambda x: mpmath.log(
            mass(turned, lambda k: mpmath.npdf(x, k, sigma))
            / mass(other, lambda k: mpmath.npdf(x, k, sigma))
        )
        ends, halving = (-20, 60), {"solver": "bisect", "maxsteps": 90, "verify": False}
        x = mpmath.findroot(lambda x: ratio(x) - epsilon, ends, **halving)
        p, q = (mass(law, lambda k: mpmath.ncdf((k - x) / sigma)) for law in (turned, other))
        truth = p - mpmath.exp(epsilon) * q
        (ahead, _) = step.profiles(**PAIR)
        # A part in 1e12 of a difference that may be a thousandth of its parts.
        assert float(ahead.log_delta(epsilon)) == pytest.approx(float(mpmath.log(truth)), rel=1e-9)
        assert float(ahead.log_tails(epsilon)[1]) == pytest.approx(float(mpmath.log(q)), rel=1e-9)


def test_the_bad_case_is_the_sampled_gaussian_and_nobody_is_worse():
    orders = [2.0, 8.0, 16.0, 64.0, 256.0]
    for noise in (10.0, 1.0):
        at = {"noise_multiplier": noise / 2, "sample_rate": 1e-3}
        exact = [sampled_gaussian_rdp_integer(order=int(a), **at) for a in orders]
        bad = SubsetSum(noise, 10**6, 1000).rdp(orders, **PAIR)
        np.testing.assert_allclose(bad, exact, rtol=1e-10)
    epsilons = np.array([0.0, 0.003, 0.2, 1.0, 4.0])
    (worst,) = WithoutReplacement(Gaussian(2.0), 0.1).profiles("replace_one")
    bad = SubsetSum(2.0, 40, 4).profiles(**PAIR)[0]
    np.testing.assert_allclose(bad.delta(epsilons), worst.delta(epsilons), rtol=1e-11)
    for alike in (1, 3, 20, 39):
        for profile in SubsetSum(2.0, 40, 4, alike).profiles(**PAIR):
            assert np.all(profile.delta(epsilons) <= worst.delta(epsilons) * (1 + 1e-12))


def test_a_crowd_of_the_same_is_pure_dp_without_any_noise():
    """Enough ones to fill the subset: no output is likelier by more than (K+1)/(K+1-m)."""
    good, bad = SubsetSum(1e-3, 1000, 10, 500), SubsetSum(1e-3, 1000, 10, 9)
    forward, _ = good.profiles(**PAIR)
    assert float(forward.renyi(np.inf)) == pytest.approx(math.log(501 / 491), rel=1e-9)
    assert good.rdp([1e5], **PAIR) <= math.log(500 / 490)
    assert np.isinf(bad.profiles(**PAIR)[0].epsilon(0.0))


@pytest.mark.slow
@each("alike", [3, 20])
def test_accountants_compose_it_to_brackets_that_say_whom_they_are_about(alike):
    run, question = SubsetSum(2.0, 40, 4, alike), PAIR | {"delta": 1e-5, "steps": 100}
    bracket = ACCOUNTANTS["pld"]().epsilon(run, **question)
    assert bracket.lower <= bracket.epsilon <= bracket.lower * (1 + 1e-4)
    rdp = ACCOUNTANTS["rdp"]().epsilon(Composed([(run, 100)]), **question | {"steps": 1})
    assert bracket.epsilon <= rdp.epsilon
    for guarantee in (bracket, rdp, Tuned(run, tries=3).guarantee(delta=1e-5, **PAIR)):
        assert guarantee.only_for in str(guarantee) and "for these two data sets only" in str(
            guarantee
        )


def test_nothing_about_all_neighbours_is_made_of_it():
    given = SubsetSum(1.0, 10, 2)
    with pytest.raises(ValueError, match=r"hold for all neighbours, got SubsetSum.*two data sets"):
        WithoutReplacement(given, 0.1)
    with pytest.raises(NotImplementedError, match=r"composed among others.*these two"):
        PrivacyFilter(epsilon=1, delta=1e-5, **PAIR).spend(Composed([given]))
    for build, named in (
        (lambda: SubsetSum(1.0, 5, 6), "batch"),
        (lambda: SubsetSum(1.0, 5, 2, 5), "alike"),
        (lambda: SubsetSum(0.0, 5, 2), "noise"),
    ):
        with pytest.raises(ValueError, match=f"Expected {named}"):
            build()


def test_a_search_down_to_hardly_any_noise_ends_before_its_work_is_done(monkeypatch):
    question = {"epsilon": 3.0, "delta": 1e-6, "steps": 36} | PAIR
    with counting() as work:
        monkeypatch.setattr(calibrate, "counting", lambda: nullcontext(work))
        run = SubsetSum(2.0, 40, 4, 20)
        least = smallest_noise_multiplier(run, **question)
    assert least.value == pytest.approx(1e-3)
    assert work.units < 0.7 * calibrate._MOST_WORK


def test_many_counts_cost_what_those_in_reach_do():
    run = SubsetSum(1.0, 10**6, 1000, 500_000)
    with counting() as work:
        bracket = ACCOUNTANTS["pld"]().epsilon(run, delta=1e-5, steps=1000, **PAIR)
    # By bisection of the loss over all counts, a hundred times the work.
    assert bracket.epsilon == pytest.approx(0.004385462996066458, rel=1e-9)
    assert work.units < 1e8
