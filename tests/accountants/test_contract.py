"""Laws that every mechanism and every accountant inherits by being in its folder."""

import itertools
import math

import numpy as np
import pytest

from dplearn import Composed, Gaussian, Laplace, RandomizedResponse, accountants, mechanisms
from dplearn.ground.guarantee import ADJACENCIES

EXAMPLES = [m for cls in mechanisms.values() for m in cls.examples()]
# A bound that comes from a lattice may wobble by the lattice's own accuracy.
# So may the best of a grid of divisions of delta, which is longer for a whole curve.
WOBBLE = {"pld": 2e-3, "advanced": 1e-8, "optimal": 1e-8}
DELTA = 1e-6


def _pairs():
    """Every (mechanism, adjacency) that some theorem covers."""
    for mechanism, adjacency in itertools.product(EXAMPLES, ADJACENCIES):
        if accountants["rdp"]().supports(mechanism, adjacency):
            yield pytest.param(mechanism, adjacency, id=f"{mechanism}-{adjacency}")


def _triples():
    for pair in PAIRS:
        for name, accountant in accountants.items():
            if accountant().supports(*pair.values):
                yield pytest.param(accountant(), *pair.values, id=f"{name}-{pair.id}")


PAIRS = list(_pairs())
TRIPLES = list(_triples())


@pytest.mark.parametrize("accountant", [a() for a in accountants.values()], ids=accountants)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("mechanism", EXAMPLES, ids=str)
def test_supports_tells_the_truth(accountant, adjacency, mechanism):
    if accountant.supports(mechanism, adjacency):
        assert accountant.epsilon(mechanism, delta=DELTA, adjacency=adjacency).epsilon >= 0
        return
    with pytest.raises(NotImplementedError, match=accountant.name):
        accountant.epsilon(mechanism, delta=DELTA, adjacency=adjacency)


def test_every_mechanism_is_covered_somewhere():
    covered = {type(pair.values[0]) for pair in PAIRS}
    assert covered == set(mechanisms.values())


@pytest.mark.parametrize("accountant, mechanism, adjacency", TRIPLES)
def test_epsilon_grows_with_steps_and_shrinks_with_delta(accountant, mechanism, adjacency):
    slack = 1 + WOBBLE.get(accountant.name, 1e-9)
    curve = accountant.epsilon_curve(
        mechanism, delta=DELTA, steps=[0, 1, 2, 7, 50, 1000], adjacency=adjacency
    )
    epsilons = np.array([g.epsilon for g in curve])
    assert epsilons[0] == 0
    assert np.all(np.isfinite(epsilons))
    assert np.all(epsilons[:-1] <= epsilons[1:] * slack)
    by_delta = np.array(
        [
            accountant.epsilon(mechanism, delta=d, steps=7, adjacency=adjacency).epsilon
            for d in (1e-30, 1e-12, 1e-5, 0.1, 0.5)
        ]
    )
    assert np.all(by_delta[1:] <= by_delta[:-1] * slack)


@pytest.mark.parametrize("accountant, mechanism, adjacency", TRIPLES)
def test_copies_equal_count(accountant, mechanism, adjacency):
    asked = {"delta": DELTA, "adjacency": adjacency}
    counted = accountant.epsilon(mechanism, steps=6, **asked).epsilon
    listed = accountant.epsilon(Composed([mechanism] * 6), **asked).epsilon
    nested = accountant.epsilon(Composed([(Composed([(mechanism, 2)]), 3)]), **asked).epsilon
    curve = accountant.epsilon_curve(mechanism, steps=[1, 6, 3000], **asked)
    assert listed == nested == pytest.approx(counted, rel=1e-12)
    assert curve[1].epsilon == pytest.approx(counted, rel=WOBBLE.get(accountant.name, 1e-9))


@pytest.mark.parametrize("accountant, mechanism, adjacency", TRIPLES)
def test_one_run_is_never_below_its_own_profile(accountant, mechanism, adjacency):
    found = accountant.epsilon(mechanism, delta=DELTA, adjacency=adjacency)
    if len(mechanism.parts()) > 1 or mechanism.parts()[0][1] > 1 or not found.is_bound:
        return
    worst = max(float(p.delta(found.epsilon)) for p in mechanism.parts()[0][0].profiles(adjacency))
    assert worst <= DELTA * (1 + 1e-9) or not mechanism.attained
    assert found.lower <= found.epsilon


@pytest.mark.parametrize("steps", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", accountants)
def test_gaussian_composition_is_never_undercut(name, adjacency, steps):
    sigma, mechanism = 20.0, Gaussian(20.0)
    mu = math.sqrt(steps) * (2 if adjacency == "replace_one" else 1) / sigma
    (exact,) = Gaussian(1 / mu).profiles()
    found = accountants[name]().epsilon(mechanism, delta=DELTA, steps=steps, adjacency=adjacency)
    assert float(exact.delta(found.epsilon)) <= DELTA * (1 + 1e-9)


@pytest.mark.parametrize("local_epsilon, steps", [(0.1, 30), (1.0, 5), (3.0, 12)])
@pytest.mark.parametrize("name", accountants)
def test_randomized_response_is_never_undercut(name, local_epsilon, steps):
    coin = RandomizedResponse(local_epsilon)
    if not accountants[name]().supports(coin, "replace_one"):
        return
    truth = math.exp(local_epsilon) / (1 + math.exp(local_epsilon))
    found = accountants[name]().epsilon(coin, delta=DELTA, steps=steps, adjacency="replace_one")
    # All 2^n outcomes, grouped by the number k of truthful answers.
    delta = sum(
        math.comb(steps, k)
        * max(
            0.0,
            truth**k * (1 - truth) ** (steps - k)
            - math.exp(found.epsilon) * truth ** (steps - k) * (1 - truth) ** k,
        )
        for k in range(steps + 1)
    )
    assert delta <= DELTA * (1 + 1e-9)


@pytest.mark.parametrize("mechanism, adjacency", PAIRS)
def test_the_distribution_is_the_tightest_bound(mechanism, adjacency):
    if not all(m.attained for m, _ in mechanism.parts()):
        return
    bounds = {
        name: a().epsilon(mechanism, delta=DELTA, steps=20, adjacency=adjacency)
        for name, a in accountants.items()
        if a().supports(mechanism, adjacency)
    }
    best = min(g.epsilon for g in bounds.values() if g.is_bound)
    assert bounds["pld"].epsilon <= best * (1 + WOBBLE["pld"]) + 1e-12


ORDERS = np.concatenate([np.linspace(1.02, 3, 12), np.linspace(3.3, 32, 12), [2.0, 5.0, 64.0]])


@pytest.mark.parametrize("mechanism, adjacency", PAIRS)
def test_closed_rdp_equals_the_integral_of_the_profile(mechanism, adjacency):
    try:
        closed = mechanism.rdp(ORDERS, adjacency=adjacency, method="formula")
        integral = mechanism.rdp(ORDERS, adjacency=adjacency, method="quadrature")
    except NotImplementedError:
        return
    if mechanism.attained:
        # The quadrature aims at 1e-10 relative in X; a divergence near 0 loses no more.
        np.testing.assert_allclose(closed, integral, rtol=1e-8)
    else:
        assert np.all(closed <= integral * (1 + 1e-8))


@pytest.mark.parametrize("mechanism, adjacency", PAIRS)
def test_zcdp_line_lies_above_the_renyi_curve(mechanism, adjacency):
    rho = mechanism.zcdp(adjacency)
    if rho is not None:
        assert np.all(mechanism.rdp(ORDERS, adjacency=adjacency) <= rho * ORDERS * (1 + 1e-9))


@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_zcdp_of_the_exponential_mechanism_is_nearly_attained(epsilon):
    """eps^2 / 8, and no multiple of it: the pair of order 1 comes as close as eps is small."""
    step = mechanisms["exponential"](range_epsilon=epsilon)
    assert step.zcdp() == pytest.approx(np.max(step.rdp(ORDERS) / ORDERS), rel=0.1)
    assert step.zcdp("replace_one") == pytest.approx(4 * step.zcdp(), rel=1e-12)


def test_replace_one_is_two_contributions():
    for cls in (Gaussian, Laplace):
        (one,), (two,) = cls(2.0).profiles("replace_one"), cls(1.0).profiles("add_remove")
        np.testing.assert_allclose(one.delta([0, 0.5, 1.5]), two.delta([0, 0.5, 1.5]), rtol=1e-12)


@pytest.mark.parametrize("name", accountants)
def test_an_approximation_never_looks_like_a_bound(name):
    accountant = accountants[name]()
    step = mechanisms["poisson_subsampled"](Gaussian(2.0), 0.01)
    found = accountant.epsilon(step, delta=DELTA, steps=100)
    assert found.is_bound == (found.kind != "approximate")
    assert ("not a bound" in str(found)) == (not found.is_bound)


@pytest.mark.parametrize("name", accountants)
def test_every_accountant_can_be_shown(name):
    cls = accountants[name]
    assert cls.name == name and cls.title and cls.explanation.endswith(".")
    assert cls.statement.count("{") == cls.statement.count("}")
    assert str(cls.reference)
