"""Connect the dots: upper bounds are valid and tight."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from cases import each
from dplearn.engine.lattice.above import connect_the_dots
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, Geometric, Laplace, PoissonSubsampled, WithoutReplacement

PAIRS = {
    "gaussian": Gaussian(1.5).profiles()[0],
    "laplace": Laplace(0.8).profiles()[0],
    "geometric": Geometric(0.5, sensitivity=3).profiles()[0],
    "sampled, remove": PoissonSubsampled(Gaussian(1.0), 0.05).profiles()[0],
    "sampled, add": PoissonSubsampled(Gaussian(1.0), 0.05).profiles()[1],
    "without replacement": WithoutReplacement(Laplace(1.0), 0.2).profiles("replace_one")[0],
    "infinite loss": Profile.from_atoms([-3.0, math.log1p(-math.exp(-3))], [-math.inf, 0.0]),
}


class Law(NamedTuple):
    """P-masses of a law at nodes and at infinity, with its delta by definition."""

    nodes: np.ndarray
    masses: np.ndarray
    infinity: float

    def delta(self, epsilon):
        return self.infinity + self.masses @ np.maximum(-np.expm1(epsilon - self.nodes), 0.0)


def law_of(pair, step=0.07, lower=-9.0, upper=9.0):
    nodes = np.arange(math.floor(lower / step), math.ceil(upper / step) + 1) * step
    return Law(nodes, *connect_the_dots(pair, nodes))


@each("name", PAIRS)
def test_connect_the_dots_gives_a_law_that_dominates_and_is_exact_at_nodes(name):
    pair, whole = PAIRS[name], law_of(PAIRS[name])
    # Losses below the window are raised to its first node, those above it count as infinite.
    for law in (whole, law_of(pair, lower=-0.2, upper=0.3)):
        # Epsilons between nodes, at nodes, and beyond both ends.
        for epsilon in np.concatenate([np.linspace(-11, 11, 301), law.nodes[[0, 1, -2, -1]]]):
            # Tolerance: rounding of a few hundred masses.
            assert law.delta(epsilon) >= float(pair.delta(epsilon)) - 1e-14
        assert law.masses.sum() + law.infinity == pytest.approx(1.0, abs=1e-13)
        assert np.all(law.masses >= 0) and 0 <= law.infinity < 1
        # Q-masses are e^{-loss} times the P-masses, with a sum of at most 1.
        assert law.masses @ np.exp(-law.nodes) <= 1 + 1e-12
    inside = whole.nodes[1:-1:7]
    at_nodes = [whole.delta(e) for e in inside]
    np.testing.assert_allclose(at_nodes, pair.delta(inside), rtol=1e-10, atol=1e-14)


def test_law_on_uneven_nodes_dominates():
    nodes = np.array([-4.0, -1.0, -0.2, 0.1, 0.15, 2.0, 5.0])
    pair = PAIRS["sampled, remove"]
    law = Law(nodes, *connect_the_dots(pair, nodes))
    for epsilon in np.linspace(-5, 6, 100):
        assert law.delta(epsilon) >= float(pair.delta(epsilon)) - 1e-14
    assert law.infinity == pytest.approx(float(pair.delta(5.0)), rel=1e-12)
