"""Regression tests for past errors of bounds, with exact values or properties."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf

from cases import each
from dplearn import (
    ACCOUNTANTS,
    Composed,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    RandomizedResponse,
)
from dplearn.accountants import pld, theorems
from dplearn.accountants._base import Bound
from dplearn.accountants._runs import Runs, dominating_shifts
from dplearn.accountants.pld import PLD
from dplearn.accountants.theorems import zcdp_to_epsilon
from dplearn.calibrate import largest_sample_rate, smallest_noise_multiplier
from dplearn.engine.lattice import Lattice
from dplearn.engine.lattice.group import Group
from dplearn.engine.lattice.laws import Atoms, below_the_profile, chords
from dplearn.engine.profile import Profile
from dplearn.mechanisms import PoissonSubsampled, RandomAllocation, Shuffled, WithoutReplacement
from dplearn.mechanisms.sampling_scheme import SamplingScheme
from outcomes import assert_suits, gaussian_ends, sampled


def mean_loss(sigma, q):
    """Return mean and standard deviation of a step's loss if a record is removed, by quadrature."""
    u = np.linspace(-9, 9, 4001)
    weight = np.exp(-u * u / 2) / np.exp(-u * u / 2).sum()
    loss = lambda x: np.logaddexp(math.log1p(-q), math.log(q) + (2 * x - 1) / (2 * sigma**2))
    without, with_ = loss(sigma * u), loss(1 + sigma * u)
    mean = (1 - q) * weight @ without + q * weight @ with_
    square = (1 - q) * weight @ without**2 + q * weight @ with_**2
    return mean, math.sqrt(square - mean**2)


@each(
    "sigma, q, steps, delta, width",
    [
        # The mass of cells wider than 709 nats was once lost.
        (0.03, 0.001, 10**7, 1e-5, 0.05), (0.02, 0.01, 10**6, 1e-2, math.inf),
        (0.01, 0.01, 10**7, 1e-5, math.inf),
        # Lower bounds once overflowed in cells of several hundred nats.
        (0.025, 0.9, 10**4, 1e-5, math.inf),
        # Two errors x, y > 1 once passed as a valid bound, because (1 - x)(1 - y) is positive.
        (5.0, 0.01, 10**12, 1e-5, math.inf),
        # A distribution of losses near log(1 - q) was once treated as an atom.
        (0.1, 1e-6, 10**6, 0.01, 1e-2), (0.12, 1e-5, 10**6, 0.01, 1e-4),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_epsilon_for_small_noise_and_many_steps_is_near_the_kl_divergence(
    sigma, q, steps, delta, width
):
    mean, spread = mean_loss(sigma, q)
    # The total loss exceeds this with probability 0.99 (Cantelli), far more than delta.
    least = steps * mean - 10 * math.sqrt(steps) * spread - 1
    bound = PLD().epsilon(sampled(sigma, q), delta=delta, steps=steps)
    assert bound.lower <= bound.epsilon and least <= bound.epsilon < math.inf
    assert width == math.inf or bound.epsilon <= bound.lower * (1 + width)


def test_epsilon_of_many_pure_releases_is_near_the_kl_divergence():
    coin, noise = RandomizedResponse(0.1), Laplace(50.0)
    bound = PLD().epsilon(coin, delta=1e-5, steps=10**11, adjacency="replace_one")
    mean = 1e11 * 0.1 * math.tanh(0.05)
    assert mean * 0.999 <= bound.epsilon <= mean * 1.01
    bound = PLD().epsilon(noise, delta=1e-5, steps=10**11)
    # Mean loss of Laplace noise: e^{-a} - 1 + a.
    assert 1e11 * (math.expm1(-0.02) + 0.02) <= bound.epsilon
    assert PLD().delta(noise, epsilon=1.0, steps=10**11).delta > 0.99


DRAWS = {
    "poisson": lambda base: PoissonSubsampled(base, 0.01),
    "none": lambda base: base,
    "shuffled": lambda base: Shuffled(base, 9),
    "random_allocation": lambda base: RandomAllocation(base, 9),
}


@each("draws, steps", [*((draws, 1) for draws in DRAWS), ("none", 100), ("poisson", 100)])
def test_guarantee_for_tiny_noise_states_why_epsilon_is_large(draws, steps):
    run = {"delta": 1e-5, "steps": steps, "adjacency": "zero_out"}
    text = str(PLD().epsilon(DRAWS[draws](Gaussian(5e-4)), **run))
    assert text.endswith("one release betrays a record: epsilon is beyond every use)")
    assert PLD().epsilon(DRAWS[draws](Gaussian(5e-3)), **run).reason == ""


def test_guarantee_for_many_steps_does_not_state_why_epsilon_is_large():
    assert PLD().epsilon(Gaussian(1.0), delta=1e-5, steps=10**7).reason == ""
    # At this sample rate a record is hardly ever sampled.
    assert PLD().epsilon(sampled(5e-4, 1e-8), delta=1e-5, steps=100).reason == ""


def test_contradictory_bounds_are_discarded_and_those_at_other_steps_are_kept(monkeypatch):
    ends = np.array([2.0, 3.0]), np.array([1.0, 3.1])
    monkeypatch.setattr(Lattice, "brackets", lambda *_, **__: ends)
    run = {"delta": 1e-5, "steps": 9}
    bound, other = PLD().epsilon_curve(Laplace(3.0), delta=1e-5, steps=[9, 20])
    best = min(ACCOUNTANTS[name]().epsilon(Laplace(3.0), **run).epsilon for name in ("rdp", "zcdp"))
    assert (bound.kind, bound.lower, bound.epsilon) == ("upper", 0.0, best)
    assert (other.lower, other.epsilon) == (3.0, 3.1)


def test_discretised_losses_have_total_mass_one_or_are_all_zero():
    # Masses from chords over a cell that is wider than 709 nats and begins just below 0.
    nodes = np.array([-1e-3, 800.0, 1600.0])
    (pair,) = sampled(0.03, 0.001).profiles()[:1]
    value = np.exp(pair.log_delta_of(np.abs(nodes)))
    masses, infinity = chords(nodes, value)
    assert masses.sum() + infinity == pytest.approx(1, abs=1e-9)
    # An impossible profile, whose tail rises.
    nodes = np.arange(-13.0, 14.0)
    (pair,) = Laplace(1.0).profiles()
    rising = lambda e: np.log(np.exp(pair.log_tail_of(e)) + 0.2 * (e > 0.15))
    impossible = Profile(pair.log_delta_of, log_tail_of=rising)
    masses, infinity, _ = below_the_profile(impossible, nodes * 0.1, 0.1, Atoms.none())
    assert masses[13] == 1 and masses.sum() == 1 and infinity == 0


def test_epoch_of_one_batch_has_the_epsilon_of_a_plain_gaussian():
    run = {"delta": 1e-5, "steps": 10**6}
    plain = PLD().epsilon(Gaussian(30.0), adjacency="zero_out", **run)
    for epoch in (Shuffled(Gaussian(30.0), 1), RandomAllocation(Gaussian(30.0), 1)):
        assert PLD().epsilon(epoch, adjacency="zero_out", **run).epsilon == plain.epsilon
    whole = PLD().epsilon(WithoutReplacement(Gaussian(60.0), 1.0), adjacency="replace_one", **run)
    assert whole.kind == "exact" and whole.epsilon == pytest.approx(plain.epsilon, rel=1e-12)


def test_dominating_gaussians_depend_on_the_adjacency():
    """Shifts of Gaussians double under replace_one; Laplace noise has no dominating Gaussian."""
    fixed = Composed([(WithoutReplacement(Gaussian(4.0), 0.5), 3), Gaussian(2.0)])
    assert dominating_shifts(Runs.of(fixed, [5], "replace_one")).tolist() == [0.5, 1.0]
    assert dominating_shifts(Runs.of(sampled(4.0, 0.5), [5], "add_remove")).tolist() == [0.25]
    assert (
        dominating_shifts(Runs.of(Composed([Gaussian(2.0), Laplace(1.0)]), [5], "zero_out")) is None
    )


def test_composing_a_mechanism_with_truncated_losses_does_not_lower_epsilon():
    """Even if all losses of one are truncated, the other mechanisms are composed."""
    rare = WithoutReplacement(Gaussian(0.01750844), 2.6515e-7)
    choice = WithoutReplacement(ExponentialMechanism(0.0273), 9.5328e-8)
    both = Composed([(rare, 179), (choice, 66), Gaussian(0.2836)])
    run = {"delta": 0.38586, "steps": 490, "adjacency": "replace_one"}
    alone = PLD().epsilon(Gaussian(0.2836), **run)
    assert PLD().epsilon(both, **run).epsilon >= alone.lower > 10_000


def test_epsilon_is_0_if_summed_total_variation_is_below_delta():
    bound = PLD().epsilon(sampled(0.1, 1e-6), delta=1e-5, steps=10)
    assert bound.epsilon == bound.lower == 0


@each(
    "mechanism, adjacency, steps, delta, width",
    [
        (WithoutReplacement(Gaussian(0.24), 1e-6), "replace_one", 10**5, 1e-5, 2e-3),
        # A contour integral for a sampled Gaussian raised the lower bound from 13.953.
        (WithoutReplacement(Gaussian(0.8), 0.001), "replace_one", 10**4, 1e-6, 0.071),
        # The upper bound was once a Chernoff bound for the swapped pair, 74 times too large.
        (sampled(20.0, 1e-5), "add_remove", 2, 1e-10, 1e-4),
        (sampled(5.0, 1e-4), "add_remove", 2, 1e-5, 1e-4),
    ],
)
@pytest.mark.slow
def test_epsilon_is_enclosed_for_difficult_parameters(mechanism, adjacency, steps, delta, width):
    bound = PLD().epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)
    assert bound.kind == "bracket" and bound.epsilon <= bound.lower * (1 + width)


@each("epsilon", [20.0, 28.0, 34.0, 40.0])
def test_optimal_composition_of_nearly_noiseless_randomized_responses_is_exact(epsilon):
    """Only the largest loss of ten answers counts: delta = p^10 (1 - exp(total - 10 epsilon))."""
    answer = ACCOUNTANTS["optimal"]().epsilon(
        RandomizedResponse(epsilon), delta=1e-5, steps=10, adjacency="replace_one"
    )
    with mp.workdps(40):
        exact = 10 * mpf(epsilon) + mp.log(1 - mpf(10) ** -5 * (1 + mp.exp(-mpf(epsilon))) ** 10)
        assert 0 <= float(answer.epsilon - exact) <= 1e-8


@pytest.mark.slow
@each(
    "search, expected, step, run",
    [(smallest_noise_multiplier, 40453.9, sampled(1.0, 0.01), {"epsilon": 1.0, "steps": 10**12}),
     (smallest_noise_multiplier, 0.00187348, sampled(1.0, 0.01), {"epsilon": 1e6, "steps": 100}),
     (largest_sample_rate, 1.00029e-6, sampled(0.1, 0.01), {"epsilon": 1.0, "steps": 10})],
)  # fmt: skip
def test_calibrated_parameters_reach_the_target_epsilon(search, expected, step, run):
    """Searches once accepted "epsilon <= 0", or tried values that took minutes."""
    found = search(step, **run, delta=1e-5)
    # Without a lower bound on epsilon the search ends at a relative error of 1e-3.
    assert found.value == pytest.approx(expected, rel=1e-3)
    again = step.vary(**{found.parameter: found.value})
    again = PLD().epsilon(again, delta=1e-5, steps=run["steps"])
    assert again.epsilon == found.guarantee.epsilon <= run["epsilon"]


def test_lattice_refinement_stops_early_if_the_bracket_does_not_narrow(monkeypatch):
    """Twenty passes once changed nothing, and too little truncation gave epsilon = 0.0153."""
    tried, whole = [], Group._pass
    count = lambda *args, **more: tried.append(args) or whole(*args, **more)
    monkeypatch.setattr(Group, "_pass", count)
    bound = PLD().epsilon(sampled(0.74879, 5.7588e-10), delta=9.69e-29, steps=876_000_000)
    assert len(tried) <= 8 and 0 < bound.epsilon <= 0.006


@each("rho", [1e20, 1e27, 1e30, 1e33, 1e40, 5e111])
def test_zcdp_for_tiny_noise_is_not_nan(rho):
    """The best order was once rounded to 1, and 0 / 0 was printed as a bound."""
    with mp.workdps(150):
        a = mp.sqrt(-mp.log(1e-5) / rho)
        at = lambda a: rho * (1 + a) + mp.log(a / (1 + a)) - (mp.log(1e-5) + mp.log1p(a)) / a
        exact = min(at(a * mpf(k) / 100) for k in range(50, 200))
    assert exact <= mpf(zcdp_to_epsilon(rho, delta=1e-5).item()) <= exact * (1 + mpf(1e-9))


@each("name", ["pld", "zcdp", "rdp"])
@each("step", [Gaussian(1e-17), sampled(1e-17, 0.1), sampled(1e-5, 0.1), Laplace(1e-40)])
def test_bounds_on_epsilon_for_tiny_noise_are_not_nan(name, step):
    for steps in (1, 10, 10**12):
        bound = ACCOUNTANTS[name]().epsilon(step, delta=1e-5, steps=steps)
        assert 0 <= bound.lower <= bound.epsilon
        assert bound.epsilon < math.inf or bound.reason


def test_lower_bounds_on_epsilon_do_not_decrease_with_the_steps(monkeypatch):
    """A lower bound for few steps holds for more steps, which release the same and more."""
    step, delta = sampled(1.36, 0.0011), 1e-30
    many, few = PLD().epsilon_curve(step, delta=delta, steps=[32, 10])
    alone = PLD().epsilon(step, delta=delta, steps=32)
    assert alone.lower < few.lower <= many.lower <= many.epsilon == alone.epsilon
    stated = [Bound(5.0, "bracket", lower=3.0), Bound(6.0, "upper"), Bound(2.0, "upper")]
    monkeypatch.setattr(PLD, "_bounds", lambda law, runs, delta: stated[: len(runs.counts)])
    first, second, contradicted = PLD().epsilon_curve(step, delta=delta, steps=[1, 2, 3])
    assert (first.lower, second.lower, second.kind) == (3.0, 3.0, "bracket")
    assert (contradicted.lower, contradicted.kind) == (0.0, "upper")
    # Neither row includes all releases of the other row.
    phases = Composed([(step, 1), (Gaussian(9.0), 1)])
    ends = PLD().epsilon_curve(phases, delta=delta, steps=[[1, 5], [2, 4]])
    assert [bound.lower for bound in ends] == [3.0, 0.0]


def test_renyi_divergences_for_little_noise_agree_with_integrals_of_profiles():
    """Overlapping peaks, once integrated separately, gave up to 1.3 % too much at order 4."""
    orders = np.concatenate([1 + np.geomspace(0.01, 10, 20), [300.5, 5000.5]])
    for sigma, q in [(0.3, 0.5), (0.2, 0.2), (0.05, 1e-8), (0.019, 0.3)]:
        value = sampled(sigma, q).rdp(orders)
        exact = np.max([p.renyi(orders) for p in sampled(sigma, q).profiles()], axis=0)
        most = exact * (1 + (1e-9 if sigma > 0.02 else 0.1))
        assert np.all(value >= exact * (1 - 1e-9)) and np.all(value <= most)
    assert np.all(sampled(1.0, 1e-300).rdp(orders) == 0)
    # An exponential once overflowed with a warning.
    epoch = RandomAllocation(Gaussian(0.03), 1291)
    assert np.all(epoch.rdp(orders[:1]) <= epoch.base.rdp(orders[:1]))


def test_renyi_divergences_of_sampled_integer_noise_need_little_memory():
    """One quadrature panel per atom and order once took 3 to 8 GiB."""
    sigma, q, orders = 3000.0, 0.1, np.array([1.5, 4.0, 30.0])
    k = np.arange(-40_000, 40_001.0)
    log_mass = -0.5 * (k / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi))
    log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + (3 * k - 4.5) / sigma**2)
    log_moments = np.logaddexp.reduce(log_mass + orders[:, None] * log_ratio, axis=1)
    exact = log_moments / (orders - 1)
    value = PoissonSubsampled(DiscreteGaussian(1000.0, 3), q).rdp(orders)
    assert np.all(value >= exact * (1 - 1e-7)) and np.all(value <= exact * 1.01)


def one_run(sigma, epsilon, delta):
    """Return the bound of one run from an upper bound `epsilon` and a Gaussian as lower bound."""
    runs = SimpleNamespace(
        epsilon_of_one=lambda deltas: np.full((len(deltas), 1), epsilon),
        mechanisms=[Gaussian(sigma)],
        adjacency="add_remove",
    )
    return pld._one_run(runs, 0, delta, False)


@each("sigma", [10.0, 1.0, 0.25])
@mp.workdps(40)
def test_bounds_on_epsilon_of_a_gaussian_are_rounded_outwards(sigma):
    delta_of, _ = gaussian_ends(1 / mpf(sigma))
    for delta in np.geomspace(1e-12, 0.3, 15) * float(delta_of(mpf(0))):
        bound = PLD().epsilon(Gaussian(sigma), delta=float(delta))
        assert delta_of(mpf(bound.epsilon)) <= delta < delta_of(mpf(bound.lower))
        assert bound.lower >= bound.epsilon * (1 - 1e-11)


def test_epsilon_is_exact_if_its_lower_and_upper_bounds_agree():
    """Both bounds have a margin of 2e-12; a gap of 1e-9 means that two pairs differ."""
    epsilon = float(Gaussian(1.0).profiles()[0].epsilon(1e-5))
    for gap, kind in [(0.0, "exact"), (1e-9, "bracket")]:
        assert one_run(1.0, epsilon * (1 + gap), 1e-5).kind == kind


@each("epsilon", [0.01, 1.0, 5.0])
@mp.workdps(30)
def test_renyi_divergences_of_pure_mechanisms_near_order_1_are_accurate(epsilon):
    """Moments are near 1 there; computing by their logarithms once lost a relative 1e-6."""
    e, orders = mpf(1) / mpf(1 / epsilon), [mpf(1 + x) for x in (1e-6, 0.01, 1.0, 63.0)]
    laplace = [(a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) / (2 * a - 1) for a in orders]
    e = mpf(epsilon)
    answers = [(mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e)) for a in orders]
    asked, pairs = np.array(orders, dtype=float), [(Laplace(1 / epsilon), "add_remove", laplace)]
    pairs += [(RandomizedResponse(epsilon), "replace_one", answers)]
    for mechanism, adjacency, moments in pairs:
        exact = [float(mp.log(m) / (a - 1)) for m, a in zip(moments, orders, strict=True)]
        found = mechanism.rdp(asked, adjacency=adjacency)
        np.testing.assert_allclose(found, exact, rtol=2e-14)


def binomial_tail(k, chance, steps):
    """Return P(K > k) for many trials, far in the tail."""
    j, ways = k + 1, mp.loggamma(steps + 1) - mp.loggamma(k + 2) - mp.loggamma(steps - k)
    term = mp.exp(ways + j * mp.log(chance) + (steps - j) * mp.log1p(-chance))
    total, odds = term, chance / (1 - chance)
    while term > total * mpf(10) ** -20:
        term *= odds * (steps - j) / (j + 1)
        total, j = total + term, j + 1
    return total


@each("steps, size", [(10**3, 1.0), (10**6, 5.0), (10**8, 1.0)])
@mp.workdps(30)
def test_error_bound_of_binomial_tails_includes_rounding_of_the_probability(steps, size):
    """The relative error grows like the square root of the number of trials."""
    epsilon = size / math.sqrt(steps)
    chance = 1 / (1 + mp.exp(-mpf(epsilon)))
    k = round(float(steps * chance) + 10 * math.sqrt(steps))
    tails = theorems.binomial_tails(*(np.array(float(x)) for x in (k, epsilon, steps)))
    exact = binomial_tail(k, chance, steps), binomial_tail(k, 1 - chance, steps)
    errors = [abs(v / e - 1) for v, e in zip(tails, exact, strict=True)]
    assert_suits(float(theorems.tails_error(np.array(steps))), errors)


def test_sample_rate_with_ten_digits_leaves_no_incomplete_batch():
    """A rate rounded to ten digits loses no batch; at eight digits an incomplete batch remains."""
    of = lambda rate, **more: SamplingScheme.of(Gaussian(1.0), "shuffled", rate, 1, **more)
    for count in range(1, 400):
        scheme = of(float(f"{1 / count:.10g}"))
        assert (scheme.batches, scheme.whole) == (count, True)
    rest = [of(0.14285715, drop_last=drop_last) for drop_last in (False, True)]
    assert [(scheme.batches, scheme.whole) for scheme in rest] == [(6, False), (6, True)]
