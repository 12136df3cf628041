"""Every error bound of the lattice is needed: without it some bracket misses the exact value."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from cases import each, examples
from dplearn.engine.lattice import Lattice
from dplearn.engine.lattice.group import Group
from dplearn.engine.lattice.laws import Atoms, below_the_profile, connect_the_dots
from dplearn.engine.lattice.sum import Law, Sum, Window
from dplearn.mechanisms import Gaussian, PoissonSubsampled, RandomizedResponse
from outcomes import LATTICE, ROUNDING, assert_holds, bracket, epsilon_of_coins

LOCAL, RESPONSES = 0.01, 3000
all_responses = functools.cache(epsilon_of_coins)


def response_bracket_holds(delta=1e-5, lattice=LATTICE):
    """Return whether the bracket of composed randomized responses contains their epsilon."""
    coin = RandomizedResponse(LOCAL).profiles("replace_one")
    lower, upper = bracket([coin], [RESPONSES], delta, lattice)
    expected = all_responses((LOCAL,), (RESPONSES,), mpf(delta))
    return lower * (1 - 1e-15) <= expected <= upper * (1 + 1e-15)


def spoil(monkeypatch, **changed):
    """Replace error bounds of sums after the sums are computed."""
    whole = Sum.__init__

    def init(self, *args):
        whole(self, *args)
        for name, value in changed.items():
            setattr(self, name, value * np.ones_like(getattr(self, name)))

    monkeypatch.setattr(Sum, "__init__", init)


def drop_correction(monkeypatch):
    """Remove the correction of lower bounds for atoms between nodes."""
    whole = Group._lower_laws

    def free(group, grid):
        laws, tau, raised = whole(group, grid)
        return laws, tau, 0 * raised

    monkeypatch.setattr(Group, "_lower_laws", free)


@each("shrink", [1.5, 4, 16])
@each("mu, steps, delta", [(2.0, 40, 1e-6), (1.0, 900, 1e-2), (6.0, 9, 1e-20)])
def test_bounds_on_epsilon_include_mass_that_wraps_around(mu, steps, delta, shrink, monkeypatch):
    """Lower bounds subtract all wrapped mass; upper bounds add the mass above the last cell."""
    (one,), (total,) = (Gaussian(x / mu).profiles() for x in (math.sqrt(steps), 1))
    expected = float(total.epsilon(delta))
    whole, cut = Group._grid, lambda span: span._replace(period=span.period / shrink)
    with monkeypatch.context() as patch:
        patch.setattr(Group, "_grid", lambda group, span, *more: whole(group, cut(span), *more))
        assert_holds(bracket([[one]], [steps], delta), expected)
        spoil(patch, folded=0.0)
        if steps == 900 and shrink == 4:
            assert bracket([[one]], [steps], delta)[0] > expected * 1.01


@pytest.mark.slow
@pytest.mark.parametrize("sign", [-1, 1])
def test_bounds_include_rounding_errors_of_the_fourier_transform(sign, monkeypatch):
    """Errors of one sign and the allowed size keep brackets valid; 100-fold errors do not."""
    exact, ulps = np.fft.rfft, 64

    def biased(x):
        return exact(x) * (1 + sign * ulps * 2.0**-53 * math.log2(x.size))

    monkeypatch.setattr(np.fft, "rfft", biased)
    assert response_bracket_holds(1e-5) and response_bracket_holds(1e-12)
    ulps *= 100
    drop_correction(monkeypatch)
    assert not response_bracket_holds(1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [-1, 1])
def test_bounds_include_rounding_errors_of_the_masses_of_each_step(sign, monkeypatch):
    """Errors of 32 ulps in the masses keep brackets valid; errors of 3200 ulps do not."""
    exact, ulps = Law.__init__, 32

    def biased(self, window, start, nodes, masses, infinity=0.0):
        exact(self, window, start, nodes, masses * (1 + sign * ulps * 2.0**-53), infinity)

    monkeypatch.setattr(Law, "__init__", biased)
    spoil(monkeypatch, rounding=0.0)
    drop_correction(monkeypatch)
    # The bound on wrapped mass is rtol / 1000, less than the errors of the masses.
    assert response_bracket_holds(1e-5, Lattice(rtol=1e-10))
    ulps *= 100
    assert not response_bracket_holds(1e-5, Lattice(rtol=1e-10))


@pytest.mark.slow
@each("delta", [0.05, 1e-8])
def test_lower_bounds_are_corrected_for_atoms_between_nodes(delta, monkeypatch):
    """Without the correction, atoms moved to two nodes raise the lower bound above epsilon."""
    losses, counts, lattice = [1.0, 0.37], [40, 60], Lattice(rtol=0.05)
    pairs = [RandomizedResponse(e).profiles("replace_one")[0] for e in losses]
    expected = epsilon_of_coins(losses, counts, mpf(delta))
    assert_holds(bracket([pairs], counts, delta, lattice), expected)
    with monkeypatch.context() as patch:
        drop_correction(patch)
        assert bracket([pairs], counts, delta, lattice)[0] > expected * (1 + 1e-6)


def gaussian_sums(total_mu, steps, tilt, step, cells, begin, log_unit):
    """Return the summed loss of `steps` Gaussians on a lattice, by the lower and the upper law."""
    mu = total_mu / math.sqrt(steps)
    (one,) = Gaussian(1 / mu).profiles()
    edge = mu * (40 + 0.5 * mu)
    start, stop = -math.ceil(edge / step) - 1, math.ceil(edge / step) + 1
    nodes = np.arange(start, stop + 1) * step
    window = Window(tilt, step, cells, tilt * np.array([0.0, 0.5]), tilt * np.array([1.5, 3.0]))
    laws = (below_the_profile(one, nodes, step, Atoms.none())[:2], connect_the_dots(one, nodes))
    return [
        Sum(window, np.array([float(steps)]), [Law(window, start, nodes, *law)], begin, log_unit)
        for law in laws
    ]


@pytest.mark.slow
@examples(150)
@given(
    st.floats(-1, 1.5), st.integers(1, 200), st.floats(-2, 2), st.floats(-1.5, 0.5),
    st.integers(4, 11), st.floats(-1, 2), st.floats(-650.0, -0.05),
)  # fmt: skip
def test_bounds_are_valid_on_any_lattice(log_mu, steps, log_tilt, log_step, power, place, log_unit):
    """Tilt, step, length and position of the lattice affect only the width of the bracket."""
    mu = 10**log_mu
    (total,) = Gaussian(1 / mu).profiles()
    expected = float(total.epsilon(math.exp(log_unit)))
    step = 10**log_step * mu / math.sqrt(steps)
    begin = place * expected - 0.3 * 2**power * step
    below, above = gaussian_sums(mu, steps, 10**log_tilt / mu, step, 2**power, begin, log_unit)
    assert below.epsilon_below() <= expected * (1 + ROUNDING)
    assert expected * (1 - ROUNDING) <= max(above.epsilon_above(), 0.0)


@pytest.mark.slow
def test_error_bounds_too_large_for_doubles_are_infinite():
    """With an unsuitable tilt, the sum and its error bounds both exceed e^700."""
    sides = [[pair] for pair in PoissonSubsampled(Gaussian(1.0), 1e-7).profiles()]
    lower, upper = bracket(sides, [10**7], 1e-30)
    assert lower <= upper
    # Tilt 60 for losses N(1/2, 1) and delta 0.01 wraps e^1800 into a period of length 5.
    for law in gaussian_sums(1.0, 1, 60.0, 0.02, 256, 0.0, math.log(1e-2)):
        assert law.folded == law.rounding[0] == math.inf
        assert law.epsilon_below() == 0


@each("beyond, relative", [(2.0, 0.0), (0.0, 0.5), (2.0, 2.0)])
def test_epsilon_has_no_upper_bound_if_error_bounds_are_large(beyond, relative):
    """The product (1 - beyond)(1 - relative) is positive if both exceed 1."""
    above = gaussian_sums(1.0, 1, 1.0, 0.02, 1024, -5.0, math.log(1e-2))[1]
    assert above.epsilon_above() < math.inf
    above.beyond, above.relative = beyond, relative
    assert above.epsilon_above() == math.inf


def test_upper_bound_on_epsilon_includes_the_mass_beyond_the_last_cell():
    """Without this mass, wrap-around would make the upper end at least 2 % too small."""
    expected = float(Gaussian(1.0).profiles()[0].epsilon(0.1))
    begin = expected - 0.7 * 128 * 0.05
    above = gaussian_sums(1.0, 1, 2.0, 0.05, 128, begin, math.log(0.1))[1]
    assert above.epsilon_above() >= expected
    above.beyond = 0.0
    assert above.epsilon_above() < 0.98 * expected
