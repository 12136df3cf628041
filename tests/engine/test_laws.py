"""Lower and upper laws: distributions of the loss whose profiles bound the exact profile."""

import functools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cases import each, examples
from dplearn import DiscreteGaussian, Gaussian, Geometric, Laplace, RandomizedResponse
from dplearn.engine.lattice.laws import BLUR, Atoms, below_the_profile, connect_the_dots
from dplearn.engine.profile import Profile
from dplearn.mechanisms import PoissonSubsampled, WithoutReplacement
from dplearn.mechanisms.shuffled import Shuffled
from outcomes import delta_by_definition, of_atoms


def even(step, offset, reach):
    """Return nodes offset + i * step that extend beyond `reach` on both sides of 0."""
    size = math.ceil(reach / step) + 2
    nodes = offset + np.arange(-size, size + 1) * step
    return np.where(np.abs(nodes) < 1e-9 * step, 0.0, nodes)


def profile_of_law(nodes, masses, endless, epsilons):
    """Return delta of losses with masses at nodes and at infinity, by definition."""
    gain = -np.expm1(np.minimum(np.subtract.outer(epsilons, nodes), 0.0))
    return gain @ masses + endless


def between(nodes):
    """Return some nodes, points inside their cells, and points below the first node."""
    h, some = nodes[1] - nodes[0], nodes[:: max(nodes.size // 300, 1)]
    inner = [some + part * h for part in (0.0, 1e-6, 0.1, 0.37, 0.5, 0.9, 1 - 1e-6)]
    return np.unique(np.concatenate([*inner, nodes[0] - h * np.arange(9)]))


def assert_below(pair, nodes, truth=None, atoms=None, places=()):
    """Return the lower law of `pair` on `nodes` after checking it against the exact profile."""
    h = float(nodes[1] - nodes[0])
    atoms = Atoms.of(pair) if atoms is None else atoms
    masses, endless, split = below_the_profile(pair, nodes, h, atoms)
    assert not split
    assert np.all(masses >= 0) and np.all(np.isfinite(masses))
    # Tolerance: rounding of 1 - (mass left) - (mass right) in the cell that contains 0.
    assert masses.sum() + endless <= 1 + 1e-14
    epsilons = np.append(between(nodes), places)
    found = profile_of_law(nodes, masses, endless, epsilons)
    # An atom within BLUR of a node was moved to the node.
    value = (truth or pair.delta)(epsilons - 2 * BLUR * (np.abs(epsilons) + h))
    seen = value > 1e-290
    # Tolerance: a sum of a few hundred positive terms loses at most a few hundred ulp.
    assert np.all(found[seen] <= value[seen] * (1 + 1e-13) + 1e-290)
    return masses, endless


SMOOTH = {
    "gaussian": Gaussian(1.0).profiles()[0],
    "little noise": Gaussian(0.1).profiles()[0],
    "much noise": Gaussian(300.0).profiles()[0],
    "sampled gaussian, remove": PoissonSubsampled(Gaussian(0.7), 0.05).profiles()[0],
    "sampled gaussian, add": PoissonSubsampled(Gaussian(0.7), 0.05).profiles()[1],
    "rarely sampled": PoissonSubsampled(Gaussian(1.0), 1e-6).profiles()[0],
    "without replacement": WithoutReplacement(Gaussian(1.0), 0.2).witnesses("replace_one")[0],
    "largest of a shuffled epoch": Shuffled(Gaussian(1.0), 100).witnesses("zero_out")[0],
}
# Largest relevant loss if it is not 9.
REACH = {"little noise": 180.0, "much noise": 0.04, "rarely sampled": 1e-4}


@pytest.mark.slow
@each("offset", [0.0, 0.25, 0.999])
@each("cells", [3, 40, 1000])
@each("name", SMOOTH)
def test_lower_discretisation_of_continuous_losses_does_not_raise_delta(name, cells, offset):
    pair, reach = SMOOTH[name], REACH.get(name, 9.0)
    h = reach / cells
    masses, endless = assert_below(pair, even(h, offset * h, reach))
    assert endless == 0
    # No mass is lost above the last node, and little below the first.
    assert masses.sum() >= 1 - 1e-3


DISCRETE = {
    "laplace": (Laplace(1.0).profiles()[0], 1.0),
    "sampled laplace, remove": (PoissonSubsampled(Laplace(0.5), 0.1).profiles()[0], 2.0),
    "sampled laplace, add": (PoissonSubsampled(Laplace(0.5), 0.1).profiles()[1], 2.0),
    "randomized response": (RandomizedResponse(0.7).profiles("replace_one")[0], 0.7),
    "ten answers": (RandomizedResponse(2.0, answers=10).profiles("replace_one")[0], 2.0),
    "geometric": (Geometric(1.0, sensitivity=3).profiles()[0], 1.0),
    "discrete gaussian": (DiscreteGaussian(2.0).witnesses()[0], 8.0),
}


@each("parts, fine", [(1, 0.3), (5, 1.7), (64, 20.1)])
@each("name", DISCRETE)
def test_lower_discretisation_of_discrete_losses_does_not_raise_delta(name, parts, fine):
    """Use a lattice through the known first atom, then another lattice without known atoms."""
    pair, reach = DISCRETE[name]
    atoms = Atoms.of(pair)
    h = atoms.spacing() / parts
    masses, _ = assert_below(pair, even(h, atoms.loss[0] % h, reach), atoms=atoms)
    assert masses.sum() >= 1 - 1e-9
    h = 0.41 / fine
    assert_below(pair, even(h, 0.3 * h, reach), atoms=Atoms.none())


@each("h", [1.0, 0.1, 0.01])
def test_lower_discretisation_of_a_density_with_an_atom_does_not_raise_delta(h):
    """The halves of the profile for positive and negative losses meet in an atom at 0."""
    (pair,) = WithoutReplacement(Gaussian(1.0), 0.2).profiles("replace_one")
    atoms = Atoms.of(pair)
    far = 0.5 * math.erfc(1 / math.sqrt(2))  # P(noise > 1), the mass left of 0
    assert atoms.loss == [0] and atoms.mass == pytest.approx(0.8 * (1 - 2 * far), rel=1e-10)
    assert_below(pair, even(h, 0.0, 9.0), atoms=atoms)


def test_atoms_of_a_profile_are_exact_and_kinks_without_mass_are_no_atoms():
    pair, p = RandomizedResponse(1.0, answers=4).profiles("replace_one")[0], math.e / (math.e + 3)
    atoms = Atoms.of(pair)
    np.testing.assert_allclose(atoms.loss, [-1, 0, 1], atol=1e-15)
    np.testing.assert_allclose(atoms.mass, [p / math.e, 2 * p / math.e, p], rtol=1e-11)
    # A kink of a profile need not be an atom: here the density jumps.
    kinked = Profile(
        *[SMOOTH["gaussian"].log_delta_of] * 2, [0.3], *[SMOOTH["gaussian"].log_tail_of] * 2
    )
    assert Atoms.of(kinked).loss.size == 0


@each("last", [0.5, 0.9, 1.2])
@each("h", [0.1, 0.3, 0.5])
@each("lost", [0.1, 1e-3])
def test_lower_discretisation_keeps_infinite_losses_infinite(lost, h, last):
    """The probability of an infinite loss does not raise the finite losses of the last cell."""
    loss = np.linspace(-0.9, 0.95, 40)
    p, q = np.append((1 - lost) * np.exp(loss) / np.exp(loss).sum(), lost), np.full(41, 1 / 40)
    q[-1] = 0.0
    nodes = np.arange(-round(2 / h), round(last / h) + 1) * h
    exact = functools.partial(delta_by_definition, p, q)
    _, endless = assert_below(of_atoms(p, q), nodes, exact, Atoms.none())
    assert lost * (1 - 1e-11) <= endless <= lost


# Masses of neighbouring cells may differ by a factor 1000.
chance = st.floats(-3.0, 0.0).map(lambda x: 10**x)
outcomes = st.lists(st.tuples(chance, chance), min_size=2, max_size=7)


# Mass and loss of outcomes, one per cell; the fractions moved to the right node increase.
ONE_PER_CELL = [(0.6, 1.96865), (0.05386, 3.81602), (0.34614, 7.99252), (6.5e-5, 10.99874),
                (2.5e-6, 13.75994)]  # fmt: skip


@pytest.mark.slow
@given(outcomes, st.floats(0, 0.4), st.floats(0, 0.4), st.floats(0.05, 3.0), st.floats(0.0, 0.999))
@examples(150)
@example([(p, p * math.exp(-e)) for p, e in ONE_PER_CELL], 0.0, 0.91491, 3.0, 2 / 3)
def test_lower_discretisation_of_atoms_does_not_raise_delta(pairs, only_p, only_q, h, offset):
    """Random outcomes, some possible only under P or only under Q, on random lattices."""
    p, q = (np.array(x) for x in zip(*[*pairs, (only_p, 0.0), (0.0, only_q)], strict=True))
    p, q = p / p.sum(), q / q.sum()
    assume(np.max(np.abs(np.log(p[:-2] / q[:-2]))) > 1e-6)
    nodes = even(h, offset * h, 16.0)
    # Also evaluate at the kinks of the exact profile.
    loss = np.log(p[:-2] / q[:-2])
    exact = functools.partial(delta_by_definition, p, q)
    masses, endless = assert_below(of_atoms(p, q), nodes, exact, Atoms.none(), loss)
    assert endless == pytest.approx(p[-2], rel=1e-11, abs=1e-300)
    assert masses.sum() + endless == pytest.approx(1.0, abs=1e-12)
    # Losses are only rounded down, so the mean of e^{-loss} can only grow.
    assert masses @ np.exp(-nodes) >= 1 - q[-1] - 1e-12


@pytest.mark.slow
@given(outcomes, st.floats(0.05, 1.0), st.floats(0.0, 0.999))
def test_moving_atoms_to_two_nodes_preserves_the_mean_of_exp_minus_loss(pairs, h, offset):
    """Check the hypotheses of Hoeffding's inequality: no loss moves by h, and the mean stays."""
    p, q = (np.array(x) / sum(x) for x in zip(*pairs, strict=True))
    loss = np.log(p / q)
    apart = np.diff(np.sort(np.abs(loss)), prepend=0.0)
    assume(np.all(apart > 1e-6))
    nodes = even(h, offset * h, 16.0)
    pair = of_atoms(p, q)
    masses, endless, _ = below_the_profile(pair, nodes, h, Atoms.of(pair))
    # Tolerance: masses from tails have errors of 1e-16; small ones near 0 are dropped.
    assert endless == 0
    assert masses.sum() == pytest.approx(1.0, abs=1e-11)
    # An atom within BLUR of a node was moved to the node.
    assert masses @ np.exp(-nodes) == pytest.approx(1.0, abs=20 * BLUR)
    for node in nodes:
        below = masses[nodes <= node].sum()
        assert p[loss <= node - h - 1e-9].sum() - 1e-11 <= below
        assert below <= p[loss < node + h + 1e-9].sum() + 1e-11


@each("h", [1e-2, 1e-5])
def test_lower_discretisation_has_no_mass_in_empty_cells(h):
    """Rounding errors of the tails would add up over many steps if they became mass."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.35, 0.45])
    nodes, pair = np.arange(-round(2 / h), round(2 / h)) * h, of_atoms(p, q)
    for atoms in (Atoms.none(), Atoms.of(pair)):
        masses, _, _ = below_the_profile(pair, nodes, h, atoms)
        assert np.count_nonzero(masses) <= 6
        assert masses.sum() == pytest.approx(1.0, abs=1e-14)


ABOVE = {
    "sampled, remove": PoissonSubsampled(Gaussian(1.0), 0.05).profiles()[0],
    "sampled, add": PoissonSubsampled(Gaussian(1.0), 0.05).profiles()[1],
    "infinite loss": Profile.from_atoms([-3.0, math.log1p(-math.exp(-3))], [-math.inf, 0.0]),
    **{name: SMOOTH[name] for name in ("gaussian", "without replacement")},
    **{name: DISCRETE[name][0] for name in ("laplace", "geometric")},
}


@each("name", ABOVE)
def test_chords_lie_above_the_profile_and_are_exact_at_nodes(name):
    pair, whole = ABOVE[name], np.arange(-129, 130) * 0.07
    # Losses below the first node are raised to it; losses above the last count as infinite.
    for nodes in (whole, whole[126:134], np.array([-4.0, -1.0, -0.2, 0.1, 0.15, 2.0, 5.0])):
        masses, endless = connect_the_dots(pair, nodes)
        # Epsilons between nodes, at nodes, and beyond both ends.
        epsilons = np.concatenate([np.linspace(-11, 11, 301), nodes[[0, 1, -2, -1]]])
        # Tolerance: rounding of a few hundred masses.
        delta = profile_of_law(nodes, masses, endless, epsilons)
        assert np.all(delta >= pair.delta(epsilons) - 1e-14)
        assert masses.sum() + endless == pytest.approx(1.0, abs=1e-13)
        assert np.all(masses >= 0) and 0 <= endless < 1
        # Q-masses are e^{-loss} times the P-masses, with a sum of at most 1.
        assert masses @ np.exp(-nodes) <= 1 + 1e-12
        at_nodes = profile_of_law(nodes, masses, endless, nodes[1:])
        np.testing.assert_allclose(at_nodes, pair.delta(nodes[1:]), rtol=1e-10, atol=1e-14)
