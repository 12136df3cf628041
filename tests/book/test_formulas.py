"""Formulas against enumeration, quadrature and the theorems they come from."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from cases import agrees, each, golden, number
from dplearn import book as formulas
from dplearn.accountants.theorems import best_zcdp_order
from dplearn.book.kit.oracles import worst_event_delta
from dplearn.mechanisms import Gaussian

RNG = np.random.default_rng(1948)
LAWS = [tuple(RNG.dirichlet(np.ones(5), 2)) for _ in range(3)]
HOLES = (np.array([0.0, 0.3, 0.7]), np.array([0.4, 0.6, 0.0]))
ORDERS = [0.0, 0.3, 1.0, 2.0, 7.5, math.inf]

# Divergences


def test_renyi_with_holes_in_either_law():
    p, q = HOLES
    # Only the middle outcome is possible under both.
    half = -2 * math.log(math.sqrt(0.3 * 0.6))
    assert formulas.renyi(p, q, order=0.5) == pytest.approx(half, rel=1e-14)
    assert formulas.renyi(p, q, order=0) == pytest.approx(-math.log(0.6), rel=1e-14)
    for order in (1, 2, math.inf):
        assert formulas.renyi(p, q, order=order) == math.inf
    assert formulas.renyi([1.0, 0.0], [0.0, 1.0], order=0.5) == math.inf


def test_laws_of_divergences():
    """From 0 to inf, and on laws with holes; merging outcomes never reveals more.

    The book's entry G-A1 has no negative epsilon, so the hockey stick there is tried here.
    """
    for p, q in [*LAWS, HOLES]:
        values = [formulas.renyi(p, q, order=a) for a in ORDERS]
        assert values == sorted(values) and values[0] >= 0
        worst = worst_event_delta(p, q, -1.0)
        assert formulas.hockey_stick(p, q, epsilon=-1.0) == pytest.approx(worst, abs=1e-15)
        assert formulas.kl_divergence(p, p) == 0.0
        merged = [np.array([x[0] + x[1], *x[2:]]) for x in (p, q)]
        for order, before in zip(ORDERS, values, strict=True):
            assert formulas.renyi(*merged, order=order) <= before * (1 + 1e-14), order


@each("row", [r for r in golden("divergences") if "laplace" not in r["p"]])
def test_golden_divergences(row):
    (kind, p), (_, q) = (row[x].removesuffix(")").split("(") for x in "pq")
    p, q = (np.array([float(x) for x in v.split()]) for v in (p, q))
    order = {"kl": 1.0, "max_divergence": math.inf}.get(row["quantity"])
    order = number(row["order"]) if row["order"] else order
    if row["quantity"] == "hockey_stick":
        found = formulas.hockey_stick(p, q, epsilon=number(row["epsilon"]))
    elif row["quantity"] == "mean_exp_minus_loss":
        found = float(np.sum(p * np.exp(-np.log(p / q))))
    elif kind == "normal":
        about = {"mean_p": p[0], "std_p": p[1], "mean_q": q[0], "std_q": q[1]}
        found = formulas.renyi_gaussian(order=order, **about)
    else:
        found = formulas.renyi(p, q, order=order)
    assert agrees(found, row)


def test_renyi_of_gaussians_at_the_ends():
    equal = {"mean_p": 0.0, "std_p": 1.0, "mean_q": 0.5, "std_q": 1.0}
    assert formulas.renyi_gaussian(order=0, **equal) == 0.0
    assert formulas.renyi_gaussian(order=math.inf, **equal) == math.inf
    assert formulas.renyi_gaussian(order=math.inf, **equal | {"mean_q": 0.0}) == 0.0
    wide = equal | {"std_q": 2.0}
    # sup of the log ratio, by looking for it.
    x = np.linspace(-3, 3, 200_001)
    ratio = np.log(2) - x**2 / 2 + (x - 0.5) ** 2 / 8
    found = formulas.renyi_gaussian(order=math.inf, **wide)
    assert found == pytest.approx(ratio.max(), rel=1e-9)
    assert formulas.renyi_gaussian(order=math.inf, **equal | {"std_q": 0.5}) == math.inf
    # Just above the infinite order's limit of finiteness nothing is negative: the square root.
    assert formulas.renyi_gaussian(order=2, **wide) > 0


EQUAL = [0.5, 0.5]
REFUSED = [
    (lambda: formulas.hockey_stick([0.5, 0.4], EQUAL), "p to be probabilities"),
    (lambda: formulas.renyi(EQUAL, [1.5, -0.5], order=2), "q to be probabilities"),
    (lambda: formulas.renyi([1.0], EQUAL, order=2), "one length"),
    (lambda: formulas.renyi([1.0], [1.0], order=-1), r"order in \[0, inf\]"),
    (lambda: formulas.renyi([1.0], [1.0], order=math.nan), r"order in \[0, inf\]"),
    (lambda: formulas.renyi([math.nan], [1.0], order=2), "p to be probabilities"),
    (lambda: formulas.renyi_gaussian(order=2, mean_p=0, std_p=0, mean_q=0, std_q=1), "std_p"),
]


def test_what_is_no_distribution_is_refused():
    for call, named in REFUSED:
        with pytest.raises(ValueError, match=named):
            call()


# Composition


def delta_of_coins(epsilon, local, steps, delta0=0.0):
    """Every sequence of `steps` worst (local, delta0)-releases, grouped by truthful answers."""
    with mpmath.workdps(40):
        e, truth = mpf(epsilon), 1 / (1 + mpmath.exp(-mpf(local)))

        def gain(k):
            mass = mpmath.binomial(steps, k) * truth**k * (1 - truth) ** (steps - k)
            return mass * max(1 - mpmath.exp(e - (2 * k - steps) * mpf(local)), 0)

        survive = (1 - mpf(delta0)) ** steps
        return 1 - survive * (1 - mpmath.fsum(map(gain, range(steps + 1))))


COINS = [(0.1, 100), (0.01, 400), (1.0, 1), (1.0, 2), (1.0, 37), (5.0, 3), (0.3, 200), (1e-6, 50)]


@each("coins, slack", product(COINS, [0.5, 0.01, 1e-5, 1e-12, 1e-30]))
def test_optimal_composition_is_the_exact_composition_of_coins(coins, slack):
    local, steps = coins
    found = float(formulas.optimal_composition(epsilon=local, steps=steps, slack=slack))
    assert delta_of_coins(found, local, steps) <= mpf(slack)
    # Tight: a hair less fails. The incomplete beta function is granted 1e-10 relative, and
    # epsilon moves by that over the slope of log delta, which is at least about one here.
    if found > 1e-9:
        hair = found - 1e-8 * max(1.0, found)
        assert hair < 0 or delta_of_coins(hair, local, steps) > mpf(slack)


@each("delta0", [0.0, 5e-8, 1e-6])
def test_composition_with_a_delta_in_every_step(delta0):
    local, steps, total = 0.1, 100, 1e-3
    slack = formulas.composition_slack(delta=total, paid=delta0, steps=steps)
    found = float(formulas.optimal_composition(epsilon=local, steps=steps, slack=slack))
    assert float(delta_of_coins(found, local, steps, delta0)) == pytest.approx(total, rel=1e-8)


def test_slack_is_gone_when_the_steps_have_paid_all():
    assert formulas.composition_slack(delta=1e-5, paid=1e-6, steps=11) <= 0
    exact = 1 - (1 - mpf("1e-5")) / (1 - mpf("1e-8")) ** 100
    found = float(formulas.composition_slack(delta=1e-5, paid=1e-8, steps=100))
    assert found == pytest.approx(float(exact), rel=1e-9)


@given(st.floats(1e-4, 3.0), st.integers(1, 5000), st.floats(-60, -0.7))
def test_the_bounds_are_ordered(local, steps, log_slack):
    """exact <= closed form <= that of zCDP <= oldest, and exact <= basic; never below zero."""
    slack = math.exp(log_slack)
    releases = {"epsilon": local, "steps": steps, "slack": slack}
    exact = formulas.optimal_composition(**releases)
    closed = formulas.advanced_composition_kov(**releases)
    assert 0 <= exact <= closed * (1 + 1e-9)
    concentrated = formulas.advanced_composition_zcdp(**releases)
    assert closed <= concentrated <= formulas.advanced_composition(**releases)
    assert exact <= steps * local * (1 + 1e-12)
    both = formulas.heterogeneous_composition(epsilons=[local], counts=[steps], slack=slack)
    assert both == pytest.approx(min(float(closed), steps * local), rel=1e-12)


def test_copies_are_counted_or_listed():
    for epsilon, slack in product((0.01, 0.3, 2.0), (0.1, 1e-4)):
        groups = ([epsilon], [7]), ([epsilon] * 7, [1] * 7)
        copies, listed = (
            formulas.heterogeneous_composition(epsilons=one, counts=counts, slack=slack)
            for one, counts in groups
        )
        assert float(copies) == pytest.approx(float(listed), rel=1e-13), (epsilon, slack)


RULES = {
    "basic": lambda **k: k["epsilon"] * k["steps"],
    "advanced": formulas.advanced_composition,
    "kov_closed_form": formulas.advanced_composition_kov,
    "optimal": formulas.optimal_composition,
}
COMPOSED = [r for r in golden("composition") if r["rule"] in RULES and r["quantity"] == "epsilon"]


@each("row", COMPOSED)
def test_golden_composition(row):
    total, steps = number(row["total_delta"]), int(row["steps"])
    slack = formulas.composition_slack(delta=total, paid=number(row["delta"]), steps=steps)
    found = RULES[row["rule"]](epsilon=number(row["epsilon"]), steps=steps, slack=slack)
    assert agrees(float(found), row)


def test_golden_delta_of_optimal_composition():
    (row,) = golden("composition", rule="optimal", quantity="delta")
    delta = number(row["value"])
    found = formulas.optimal_composition(epsilon=0.1, steps=100, slack=delta)
    # Eight digits of delta, divided by the slope of its log, about 5 here.
    assert float(found) == pytest.approx(number(row["total_epsilon"]), abs=1e-8)


def test_gaussians_compose_by_squares():
    for row in golden("composition", rule="gaussian"):
        noises = np.array([float(z) for z in row["noise_multipliers"].split()])
        mu = math.sqrt(int(row["steps"]) * float(np.sum(noises**-2.0)))
        if row["quantity"] == "mu":
            assert agrees(mu, row)
        elif row["quantity"] == "delta":
            (profile,) = Gaussian(1 / mu).profiles()
            assert agrees(float(profile.delta(number(row["total_epsilon"]))), row)
        else:
            found = Gaussian.analytic(epsilon=1.0, delta=1e-5).noise_multiplier * 10
            assert agrees(found, row)


# Conversion

CONVERSIONS = {"mironov": formulas.rdp_to_epsilon_mironov, "improved": formulas.rdp_to_epsilon}


@each("row", [r for r in golden("conversion") if r["rule"] in CONVERSIONS])
def test_golden_conversion(row):
    convert = CONVERSIONS[row["rule"]]
    found = convert(number(row["order"]), number(row["rdp"]), delta=number(row["delta"]))
    assert agrees(float(found), row)


@each("row", golden("conversion", rule="zcdp_improved"))
def test_golden_zcdp(row):
    found = formulas.zcdp_to_epsilon(number(row["rho"]), delta=number(row["delta"]))
    assert agrees(float(found), row)


@given(st.floats(-7, 4), st.floats(1.01, 500), st.floats(-300, -0.7))
def test_conversions_lie_above_the_gaussian_they_come_from(log_mu, order, log_delta):
    """mu-Gaussians have D_a = a mu^2 / 2, so the converted epsilon must hold for them."""
    mu, delta = math.exp(log_mu), math.exp(log_delta)
    (profile,) = Gaussian(1 / mu).profiles()
    rdp = order * mu * mu / 2
    first = float(formulas.rdp_to_epsilon_mironov(order, rdp, delta=delta))
    better = float(formulas.rdp_to_epsilon(order, rdp, delta=delta))
    best = float(formulas.zcdp_to_epsilon(mu * mu / 2, delta=delta))
    for epsilon in (first, better, best):
        assert float(profile.log_delta(epsilon)) <= log_delta * (1 - 1e-12)
    assert best <= better * (1 + 1e-9) and better <= first * (1 + 1e-12)


@each("order, rdp, delta", [(2.0, 1.0, 1e-5), (10.0, 0.5, 1e-5), (1.5, 3, 0.01)])
def test_conversion_against_the_worst_pair_of_two_outcomes(order, rdp, delta):
    """P = (a, 1 - a), Q = (b, 1 - b) with D_order <= rdp: none may have a larger delta."""
    a, b = np.geomspace(1e-9, 0.999, 600)[:, None], np.geomspace(1e-25, 0.999, 1200)
    moment = a**order * b ** (1 - order) + (1 - a) ** order * (1 - b) ** (1 - order)
    allowed = moment <= np.exp((order - 1) * rdp)
    worst = lambda epsilon: np.max(np.where(allowed, a - math.exp(epsilon) * b, 0.0))
    for rule, gap in (("improved", 0.06), ("mironov", 0.3)):
        epsilon = float(CONVERSIONS[rule](order, rdp, delta=delta))
        assert worst(epsilon) <= delta
        # And the bound is not far above the best possible one.
        assert worst(epsilon * (1 - gap)) > delta


@given(st.floats(-30, 10), st.floats(-690, -0.01))
def test_zcdp_conversion_is_at_most_the_simple_one(log_rho, log_delta):
    rho, delta = math.exp(log_rho), math.exp(log_delta)
    found = float(formulas.zcdp_to_epsilon(rho, delta=delta))
    assert 0 <= found <= rho + 2 * math.sqrt(-rho * log_delta) * (1 + 1e-12)
    order = float(best_zcdp_order(rho, delta=delta))
    orders = 1 + (order - 1) * np.array([0.9, 1.1])
    nearby = formulas.rdp_to_epsilon(orders, rho * orders, delta=delta)
    assert np.all(nearby >= found * (1 - 1e-9))


def test_nothing_leaked_is_nothing_converted():
    assert float(formulas.zcdp_to_epsilon(0.0, delta=1e-5)) == 0.0
    assert float(formulas.rdp_to_epsilon(1e9, 0.0, delta=0.5)) == 0.0
