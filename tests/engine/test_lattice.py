"""Composition on the lattice: brackets are valid and narrow."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cases import each
from dplearn import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, WithoutReplacement
from dplearn.accountants.pld import PLD
from dplearn.engine.lattice import Lattice
from dplearn.engine.lattice.group import Group
from outcomes import (
    LATTICE,
    assert_encloses,
    assert_holds,
    bracket,
    delta_of_all_sequences,
    epsilon_of_coins,
    of_atoms,
    sampled,
)


def response(epsilon):
    return RandomizedResponse(epsilon).profiles("replace_one")[0]


@each("lost", [0.0, 0.04, 0.3])
def test_epsilon_is_0_or_infinite_if_finite_losses_are_0(lost):
    """Three releases are (0, delta)-DP if and only if delta >= 1 - (1 - p)^3."""
    half = (1 - lost) / 2
    pair, paid = of_atoms([lost, half, half], [0.0, 0.5, 0.5]), 1 - (1 - lost) ** 3
    if lost:
        pair = of_atoms([lost, 1 - lost], [0.0, 1.0])
        assert bracket([[pair]], [3], 0.99 * paid)[1] == math.inf
    lower, upper = bracket([[pair]], [3], 1.01 * paid + 1e-9)
    assert lower == 0 and upper <= 1e-9


# At delta = 1e-290 masses underflow: brackets for few steps of large mu are valid but wide.
@pytest.mark.slow
@each("delta, width", [(0.3, 3e-3), (1e-5, 3e-3), (1e-15, 3e-3), (1e-30, 3e-3), (1e-290, 0.5)])
@each("steps", [2, 37, 10_000])
@each("total_mu", [0.03, 1.0, 12.0])
def test_brackets_of_composed_gaussians_are_valid_and_narrow(total_mu, steps, delta, width):
    (one,), (total,) = (Gaussian(x / total_mu).profiles() for x in (math.sqrt(steps), 1))
    exact = float(total.epsilon(delta))
    assert_holds(bracket([[one]], [steps], delta), exact, below=3 * width, above=width)


@each(
    "losses, counts, below, above",
    # If each loss is a node, rounding is the only error; otherwise atoms move.
    [([1.0], [5], 1e-6, 1e-6), ([0.1], [60], 1e-6, 1e-6), ([2.0], [40], 1e-6, 1e-6),
     ([1.0, 0.37, 0.05], [4, 10, 20], 0.02, 0.002)],
)  # fmt: skip
@each("delta", [0.05, 1e-5, 1e-12])
def test_epsilon_of_composed_randomized_responses_is_enclosed(losses, counts, delta, below, above):
    ends = bracket([[response(e) for e in losses]], counts, delta)
    assert_holds(ends, epsilon_of_coins(losses, counts, delta), below=below, above=above)


def test_each_row_of_numbers_of_steps_gets_its_own_bracket():
    pairs = [Gaussian(3.0).profiles()[0], Gaussian(1.0).profiles()[0]]
    rows = np.array([[0, 1], [1, 0], [5, 2], [0, 0], [400, 1]])
    ends = LATTICE.brackets([pairs], rows, delta=1e-6, witnesses=[pairs])
    for one, mu in zip(zip(*ends, strict=True), np.sqrt(rows @ [1 / 9, 1.0]), strict=True):
        exact = float(Gaussian(1 / mu).profiles()[0].epsilon(1e-6)) if mu else 0.0
        assert_holds(one, exact, below=5e-3, above=3e-3)


SAMPLED = PoissonSubsampled(Laplace(1.0), 0.01).profiles()
# Pairs of all directions, steps, delta, and a bracket of epsilon: certified by an earlier
# computation, or from another library that rounds up by less than 1e-4.
SETTINGS = {
    "laplace, tiny delta": (Laplace(10.0).profiles(), 1000, 1e-20, (32.8337887, 32.8337949)),
    "sampled laplace, remove": (SAMPLED[:1], 1000, 1e-6, (1.286402, 1.286408)),
    "sampled laplace, add": (SAMPLED[1:], 1000, 1e-6, (1.218916, 1.218921)),
    "sampled laplace, dp-accounting 0.6.0": (
        PoissonSubsampled(Laplace(2.0), 0.2).profiles(), 50, 1e-5, (2.7638, 2.76393728),
    ),
    # The reference is computed with half the noise, as a replaced record moves the sum by 2.
    "without replacement, many": (
        WithoutReplacement(Gaussian(8.0), 0.01).profiles("replace_one"),
        10_000, 1e-5, (1.0392319, 1.0392328),
    ),
}  # fmt: skip


@pytest.mark.slow
@each("name", SETTINGS)
def test_brackets_on_coarse_and_fine_lattices_overlap_and_are_nested(name):
    """All brackets overlap; a much narrower bracket lies inside the wider bracket."""
    pairs, steps, delta, (least, most) = SETTINGS[name]
    ends = [
        bracket([[pair] for pair in pairs], [steps], delta, Lattice(rtol=rtol))
        for rtol in (1e-3, 1e-4, 1e-6)
    ]
    assert max(low for low, _ in ends) <= min(most, *(high for _, high in ends))
    assert least <= min(high for _, high in ends)
    for (low, high), (lower, upper) in itertools.pairwise(ends):
        # Tolerance: a finer lattice has more cells, with rounding near 1e-9.
        if upper - lower < 0.3 * (high - low):
            assert low <= lower * (1 + 1e-9) and upper <= high * (1 + 1e-9)
    assert all(least * 0.99 <= low and high <= most * 1.003 for low, high in ends)
    # The discretisation interval of the other library is 5e-5.
    assert ends[-1][1] <= most * (1 + 3e-5) and least * (1 - 1e-4) <= ends[-1][0]


masses = st.lists(st.floats(0.02, 1.0), min_size=3, max_size=3)
chances = st.one_of(st.just(0.0), st.floats(1e-4, 0.2))


@pytest.mark.slow
@given(masses, masses, chances, chances, st.integers(2, 5), st.sampled_from([0.2, 1e-3, 1e-8]))
def test_epsilon_of_composed_random_distributions_is_enclosed(p, q, lost, gained, steps, left):
    """One outcome is possible only under P, and one only under Q."""
    p = np.array([lost, 0.0, *(np.array(p) / sum(p) * (1 - lost))])
    q = np.array([0.0, gained, *(np.array(q) / sum(q) * (1 - gained))])
    assume(np.max(np.abs(np.log(p[2:] / q[2:]))) > 1e-3)
    pair, paid = of_atoms(p, q), 1 - (1 - lost) ** steps
    delta, true_delta = paid + (1 - paid) * left, delta_of_all_sequences(p, q, steps)
    lower, upper = bracket([[pair]], [steps], delta)
    assert_encloses((lower, upper), true_delta, delta)
    assert not lost or bracket([[pair]], [steps], paid * (1 - 1e-6))[1] == math.inf
    # The upper end is at most 7 % too large: few atoms are the worst case for a lattice.
    if left > 1e-6 and not lost + gained and 0.93 * upper > 1e-9:
        assert true_delta(0.93 * upper) >= delta


@each("step", [0.3, 1.0])
def test_finite_losses_stay_the_same_beside_infinite_ones(step):
    """Enumerate two releases whose largest finite loss lies inside a cell."""
    # These losses are too close to each other to be treated as atoms.
    loss = np.linspace(-0.9, 0.95, 40)
    weight = np.exp(loss)
    p = np.append(0.9 * weight / weight.sum(), 0.1)
    q = np.append(p[:-1] * np.exp(-loss), 0.0)
    q[0] += 1 - q.sum()  # normalise Q; this lowers one loss
    pair, true_delta = of_atoms(p, q), delta_of_all_sequences(p, q, 2)
    for delta in (0.1901, 0.195, 0.25, 0.3):
        assert_encloses(bracket([[pair]], [2], delta, Lattice(rtol=step)), true_delta, delta)


@each("steps", [2, 5, 8])
def test_powers_of_transforms_by_products_and_by_logarithms_agree(monkeypatch, steps):
    pair, _ = sampled(0.8, 0.01).profiles()
    ends = [bracket([[pair]], [steps], 1e-6)]
    monkeypatch.setattr("dplearn.engine.lattice.sum._FEW", 0)
    ends.append(bracket([[pair]], [steps], 1e-6))
    np.testing.assert_allclose(*ends, rtol=1e-9)


def test_only_the_larger_epsilon_of_remove_and_add_is_refined(monkeypatch):
    """If a record is added, epsilon is smaller, because losses are at most log(1 / (1 - q))."""
    law, passes, one_pass = PLD(), [], Group._pass
    monkeypatch.setattr(Group, "_pass", lambda g, *a, **k: passes.append(g) or one_pass(g, *a, **k))
    bound = law.epsilon(PoissonSubsampled(Laplace(0.3), 0.01), delta=1e-6, steps=2)
    assert len({id(group.survey.mu) for group in passes}) == 1
    assert 0.47 < bound.lower < bound.epsilon < bound.lower * (1 + 1e-4)
