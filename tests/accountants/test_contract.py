"""Properties of every registered mechanism and accountant."""

import copy
import itertools
import math
from collections import Counter
from functools import cache, partial

import numpy as np
import pytest

from cases import each
from dplearn import ACCOUNTANTS, MECHANISMS, Composed, Gaussian, RandomizedResponse
from dplearn.accountants._runs import Runs
from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import ADJACENCIES, Reference
from dplearn.teaching.book.kit.oracles import coins_delta

# Wrong counts, or P and Q confused, also show on a coarse lattice.
COARSE = {"pld": PLD(rtol=1e-2, most_cells=2**12)}
# Tolerances: the accuracy of the coarse lattice; candidate splits of delta differ between a curve
# and a single result.
WOBBLE = {"pld": 2e-2, "advanced": 1e-8, "optimal": 1e-8}
DELTA = 1e-6
EXAMPLES = [m for cls in MECHANISMS.values() for m in cls.examples()]


@cache
def pairs():
    """Return every (mechanism, adjacency) that a theorem covers."""
    every = itertools.product(EXAMPLES, ADJACENCIES)
    return [pair for pair in every if ACCOUNTANTS["rdp"]().supports(*pair)]


each_mechanism = pytest.mark.parametrize("name", MECHANISMS)
# Quick cases: the first example of a mechanism, by all accountants except pld, the slowest.
quick_and_slow = pytest.mark.parametrize(
    "quick", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["quick", "slow"]
)


def cases(name, quick):
    """Return supported (accountant, example, adjacency) of this mechanism, with ids.

    Slow cases omit zero_out if add_remove is covered, and have pld for one example only.
    """
    for (mechanism, adjacency), law in itertools.product(pairs(), ACCOUNTANTS.values()):
        first = mechanism == MECHANISMS[name].examples()[0]
        is_quick = first and law.name != "pld"
        if mechanism.name != name or quick != is_quick or not law().supports(mechanism, adjacency):
            continue
        if law.name == "pld" and not first:
            continue
        if quick or adjacency != "zero_out" or "add_remove" not in mechanism.adjacencies:
            accountant = COARSE.get(law.name) or law()
            yield accountant, mechanism, adjacency, f"{law.name}, {mechanism}, {adjacency}"


@each("name", ACCOUNTANTS)
def test_accountant_has_all_fields_and_supports_an_example_mechanism(name):
    for field, kind in {"title": str, "reference": Reference, "kind": str}.items():
        value = getattr(ACCOUNTANTS[name], field, None)
        assert value and isinstance(value, kind), f"accountant {name} lacks `{field}`"
    covered = any(ACCOUNTANTS[name]().supports(*pair) for pair in pairs())
    assert covered, f"accountant {name}: supports() no example of any mechanism"


def test_module_with_one_class_is_named_after_the_class():
    every = [*ACCOUNTANTS.values(), *MECHANISMS.values()]
    modules = Counter(cls.__module__ for cls in every)
    for cls in every:
        file = cls.__module__.rpartition(".")[2]
        assert modules[cls.__module__] > 1 or file == cls.name, f"{file}.py holds {cls.name!r}"


@each_mechanism
def test_mechanism_has_examples_and_a_profile_under_some_adjacency(name):
    cls = MECHANISMS[name]
    assert cls.examples(), f"mechanism {name}: examples() is empty, pages and laws need one"
    for example in cls.examples():
        assert isinstance(example, cls), f"mechanism {name}: examples() holds {example!r}"
        same = copy.deepcopy(example)
        assert (same, hash(same)) == (example, hash(example)), f"{example} is not a value"
        assert example.assumptions, f"{example}: no `conditions` say what its profile assumes"
    covered = {adjacency for mechanism, adjacency in pairs() if mechanism.name == name}
    assert covered, f"mechanism {name}: profiles() refuses every one of {ADJACENCIES}"
    refused = set(ADJACENCIES) - set(cls.adjacencies)
    assert all(cls.refusal) or not refused, (
        f"mechanism {name}: `refusal` must say why not {refused}"
    )


def refused():
    """Return the combinations that accountants do not support."""
    every = itertools.product(ACCOUNTANTS.values(), EXAMPLES, ADJACENCIES)
    return [case for case in every if not case[0]().supports(*case[1:])]


@each("cls, mechanism, adjacency", refused)
def test_error_on_an_unsupported_mechanism_names_the_accountant(cls, mechanism, adjacency):
    with pytest.raises(NotImplementedError, match=cls.name):
        cls().epsilon(mechanism, delta=DELTA, adjacency=adjacency)


@quick_and_slow
@each_mechanism
def test_epsilon_is_monotone_in_steps_and_delta(name, quick):
    steps, deltas = [0, 1, 7, 1000], [1e-30, 0.5]
    for accountant, mechanism, adjacency, case in cases(name, quick):
        slack = 1 + WOBBLE.get(accountant.name, 1e-9)
        curve = accountant.epsilon_curve(mechanism, delta=DELTA, steps=steps, adjacency=adjacency)
        by_steps = np.array([g.epsilon for g in curve])
        assert by_steps[0] == 0, f"{case}: no steps cost epsilon = {by_steps[0]}"
        assert np.all(np.isfinite(by_steps)), f"{case}: infinite epsilon, {by_steps}"
        grows = np.all(by_steps[:-1] <= by_steps[1:] * slack)
        assert grows, f"{case}: epsilon must grow with steps {steps}, got {by_steps}"
        question = {"steps": 7, "adjacency": adjacency}
        by_delta = [accountant.epsilon(mechanism, delta=d, **question).epsilon for d in deltas]
        by_delta.insert(1, curve[2].epsilon)
        shrinks = all(less <= more * slack for more, less in itertools.pairwise(by_delta))
        assert shrinks, f"{case}: epsilon must shrink as delta grows over {deltas}, got {by_delta}"


@each("name", ["gaussian", "composed", "poisson_subsampled", "randomized_response"])
def test_mechanism_listed_six_times_has_the_epsilon_of_six_steps(name):
    """Check the counts of the base class; test_soundness compares such lists for pld."""
    for accountant, mechanism, adjacency, case in cases(name, True):
        question = {"delta": DELTA, "adjacency": adjacency}
        counted = accountant.epsilon(mechanism, steps=6, **question).epsilon
        listed = Composed([(Composed([mechanism, mechanism]), 2), mechanism, mechanism])
        listed = accountant.epsilon(listed, **question).epsilon
        curve = accountant.epsilon_curve(mechanism, steps=[1, 6], **question)
        assert listed == pytest.approx(counted, rel=1e-12), f"{case}: 6 copies, 6 steps"
        wobble = WOBBLE.get(accountant.name, 1e-9)
        assert curve[1].epsilon == pytest.approx(counted, rel=wobble), f"{case}: in a curve"


@quick_and_slow
@each_mechanism
def test_epsilon_of_one_release_agrees_with_its_privacy_profiles(name, quick):
    for accountant, mechanism, adjacency, case in cases(name, quick):
        guarantee = accountant.epsilon(mechanism, delta=DELTA, adjacency=adjacency)
        assert guarantee.lower <= guarantee.epsilon, f"{case}: {guarantee}"
        ((part, count), *others) = mechanism.parts()
        if not others and count == 1 and guarantee.is_bound and mechanism.attained:
            assert accountant.name != "pld" or guarantee.kind == "exact", f"{case}: {guarantee}"
            worst = max(float(p.delta(guarantee.epsilon)) for p in part.profiles(adjacency))
            assert worst <= DELTA * (1 + 1e-9), f"{case}: {guarantee}, but delta is {worst}"
        if not others and count == 1 and guarantee.lower:
            occurring = part.witnesses(adjacency)
            least = max(float(p.delta(guarantee.lower)) for p in occurring)
            assert least >= DELTA * (1 - 1e-9), f"{case}: {guarantee}, but delta is {least}"


def gaussian_delta(epsilon, *, shift, steps):
    (composed,) = Gaussian(1 / (shift * math.sqrt(steps))).profiles()
    return float(composed.delta(epsilon))


# Compositions with a closed form: steps, and the exact delta as a function of epsilon.
CLOSED = [
    *((Gaussian(20.0), adjacency, n, partial(gaussian_delta, shift=norms / 20, steps=n))
      for adjacency, norms in zip(ADJACENCIES, (1, 2, 1), strict=True)
      for n in (1, 2, 10, 1000, 10**6)),
    *((RandomizedResponse(e), "replace_one", n, partial(coins_delta, local=e, steps=n))
      for e, n in ((0.1, 30), (1.0, 5), (3.0, 12))),
]  # fmt: skip


@each("name", ACCOUNTANTS)
@each("mechanism, adjacency, steps, delta_of", CLOSED)
def test_epsilon_is_at_least_that_of_exact_composition(name, mechanism, adjacency, steps, delta_of):
    if ACCOUNTANTS[name]().supports(mechanism, adjacency):
        question = {"delta": DELTA, "steps": steps, "adjacency": adjacency}
        stated = ACCOUNTANTS[name]().epsilon(mechanism, **question)
        assert delta_of(stated.epsilon) <= DELTA * (1 + 1e-9)


ORDERS = np.array([1.02, 1.4, 2.0, 2.6, 5.0, 16.3, 32.0, 64.0])


@pytest.mark.slow
@each(
    "mechanism, adjacency",
    lambda: [
        p for p in pairs() if not isinstance(p[0], Composed) and p[0]._rdp(ORDERS, p[1]) is not None
    ],
)
def test_closed_form_of_renyi_divergences_equals_the_integral_of_the_profile(mechanism, adjacency):
    closed = mechanism._rdp(ORDERS, adjacency)
    integral = np.max([p.renyi(ORDERS) for p in mechanism.profiles(adjacency)], axis=0)
    if mechanism.attained:
        # Tolerance: the quadrature aims at a relative 1e-10, also for divergences near 0.
        np.testing.assert_allclose(closed, integral, rtol=1e-8)
    elif mechanism.name != "shuffled":
        # For a shuffled epoch the profile may give a tighter bound.
        assert np.all(closed <= integral * (1 + 1e-8))


@each("mechanism, adjacency", lambda: [p for p in pairs() if p[0].zcdp(p[1]) is not None])
def test_renyi_divergences_are_at_most_rho_times_their_order(mechanism, adjacency):
    line = mechanism.zcdp(adjacency) * ORDERS
    assert np.all(mechanism.rdp(ORDERS, adjacency=adjacency) <= line * (1 + 1e-9))


EXACT_ZCDP = ("laplace", "geometric", "randomized_response", "exponential")


@each(
    "mechanism, adjacency",
    lambda: [
        *(p for p in pairs() if p[0].name in EXACT_ZCDP),
        (RandomizedResponse(0.1, 6), "replace_one"),
    ],
)
def test_rho_of_zcdp_is_the_largest_ratio_of_renyi_divergence_to_order(mechanism, adjacency):
    """Integrate the profile, except that of the exponential mechanism, which no pair attains."""
    orders = 1 + np.geomspace(1e-4, 1e3, 60)
    divergences = np.max([p.renyi(orders) for p in mechanism.profiles(adjacency)], axis=0)
    if mechanism.name == "exponential":
        divergences = mechanism.rdp(orders, adjacency=adjacency)
    assert 1 - 1e-8 <= mechanism.zcdp(adjacency) / np.max(divergences / orders) <= 1 + 1e-4


@each(
    "mechanism, adjacency",
    lambda: [p for p in pairs() if p[1] != "zero_out" and Runs.of(p[0], [1], p[1]).pure],
)
@pytest.mark.slow
def test_epsilon_of_pure_mechanisms_is_at_most_that_of_basic_composition(mechanism, adjacency):
    question = {"delta": 1e-5, "steps": [1, 50], "adjacency": adjacency}
    basic = [g.epsilon for g in ACCOUNTANTS["basic"]().epsilon_curve(mechanism, **question)]
    pure = float(np.max([p.epsilon(0.0) for p in mechanism.profiles(adjacency)]))
    assert np.all(basic <= np.array([1, 50]) * pure)
    for name, law in ACCOUNTANTS.items():
        if law().supports(mechanism, adjacency):
            curve = (COARSE.get(name) or law()).epsilon_curve(mechanism, **question)
            assert all(g.epsilon <= b * (1 + 1e-9) for g, b in zip(curve, basic, strict=True)), (
                f"{name}: {curve}"
            )
