"""Each rounding bound is at least the largest error, and at most 100 times the error.

Errors are computed with mpmath. A missing bound would be less than the error; a bound
inflated a hundredfold would be more than a hundred times as large.
"""

import math
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from cases import each
from dplearn.engine.contour import SampledGaussian
from dplearn.engine.contour import line as line_module
from dplearn.engine.contour import pair as pair_module
from dplearn.engine.contour.epsilon import sums
from dplearn.engine.contour.line import Line, Majorant
from dplearn.engine.contour.table import Table, largest_power
from dplearn.engine.lattice import laws
from dplearn.engine.lattice.group import Grid, Group
from dplearn.engine.lattice.laws import BLUR, Atoms, Cells, balance, cells_between
from dplearn.engine.lattice.sum import Window, power
from dplearn.engine.lattice.survey import Scan
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, RandomizedResponse
from outcomes import assert_suits, gaussian_ends


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(30):
        yield


def moment(pair, step, height, nodes, z):
    """Return M(z) = E e^{z loss} to 30 digits, by the trapezoidal rule with half the usual step."""
    sigma, q, half = mp.mpf(pair.sigma), mp.mpf(pair.q), mp.mpf(step) / 2
    first, second = {"remove": (1 + z, 0), "add": (-z, 0), "replace": (1 + z, -z)}[pair.direction]
    total, log_f = mp.mpc(0), lambda x: mp.log(1 - q + q * mp.exp((2 * x - 1) / (2 * sigma**2)))
    for i in range(int(nodes[0] / half) - 30, int(nodes[-1] / half) + 30):
        x = mp.mpc(i * half, pair.sign * height)
        log = first * log_f(x) + (second and second * log_f(-x))
        total += mp.exp(log - x * x / (2 * sigma**2))
    return total * half / sigma / mp.sqrt(2 * mp.pi)


@pytest.mark.slow
@each("side", ["remove", "add", "replace"])
def test_rounding_errors_of_chernoff_bounds_stay_within_their_bound(side):
    """The error of K is multiplied by the number of steps."""
    pair, steps = SampledGaussian(0.5, 0.3, side), 10**12
    table = Table(pair, 100.0)
    x = pair.nodes(float(table.mu[-1]), step := pair.step(float(table.mu[-1]), 0.0))
    rows = [90]
    exact = [mp.log(moment(pair, step, 0, x, mp.mpf(table.mu[i])).real) for i in rows]
    bound = table.chernoff(np.array([float(steps)]), np.zeros(1))[0, rows]
    allowed = [b - (steps * table.k[i] + table.log_c[i]) for b, i in zip(bound, rows, strict=True)]
    errors = [steps * abs(table.k[i] - k) for k, i in zip(exact, rows, strict=True)]
    assert_suits(allowed, errors)


def test_terms_of_chernoff_bounds_are_rounded_in_the_safe_direction():
    table = Table(SampledGaussian(2.0, 0.1, "remove"), 60.0)
    mu = [mp.mpf(m) for m in table.mu]
    log_c = [m * mp.log(m) - (1 + m) * mp.log(1 + m) for m in mu]
    above = [c / x for c, x in zip(table.log_c, log_c, strict=True)]  # both negative
    exact = [-(m * mp.log1p(1 / m) + mp.log1p(m)) for m in table.mu]
    plain = -(table.mu * np.log1p(1 / table.mu) + np.log1p(table.mu))
    lost = max(abs(p / e - 1) for p, e in zip(plain, exact, strict=True))
    assert min(above) > 1 - 100 * lost and max(above) < 1
    product = [table.mu_below[i] * 7.3 / (m * mp.mpf(7.3)) for i, m in enumerate(mu)]
    assert min(product) > 1 - 100 * 2.0**-53 and max(product) <= 1


@pytest.mark.slow
@each("side", ["remove", "add", "replace"])
def test_rounding_errors_of_moment_generating_functions_stay_within_their_bound(side):
    """The error is largest at nodes far from 0, because the spacing of nodes is rounded."""
    line, h = Line(SampledGaussian(0.6, 0.4, side), 30.0), 2.0
    values, scale = line.transform(h, 64), mp.exp(mp.mpf(line.top) + mp.mpf(line.norm))
    ks, first = [0, 2], abs(values[0]) * scale
    errors = [
        abs(mp.mpc(values[k]) * scale - moment(line.pair, line.step, line.height, line.x,
                                               mp.mpc(line.tilt, k * h))) / first
        for k in ks
    ]  # fmt: skip
    assert_suits(line.relative_error(h * np.array(ks)), errors)


def coarser(monkeypatch, digits):
    """Reduce the accuracy of sums over x to e^-digits, which needs fewer nodes."""
    for module in (pair_module, line_module):
        monkeypatch.setattr(module, "L", digits)
    monkeypatch.setattr(line_module, "QUADRATURE", 4 * math.exp(-digits))


@each("side, share", [("remove", 0.01), ("replace", 1e-4)])
def test_errors_of_the_integral_over_outputs_stay_within_their_bound(side, share, monkeypatch):
    pair, lost = SampledGaussian(2.0, 0.1, side), []
    fine = Line(pair, 20.0)
    exact = fine.transform(0.5, 64) * math.exp(fine.norm)
    for digits in (9.0, 12.0, 20.0):
        coarser(monkeypatch, digits)
        line = Line(pair, 20.0)
        values = line.transform(0.5, 64) * math.exp(line.norm + line.top - fine.top)
        allowed = line.relative_error(0.5 * np.arange(64))
        lost.append(np.max(np.abs(values - exact) / allowed) / abs(exact[0]))
    assert share < max(lost) < 1


@each("side", ["remove", "add", "replace"])
def test_integration_errors_in_the_truncation_bound_stay_within_their_bound(side, monkeypatch):
    """The bound holds at every height; where it is tightest, it is 370 times the error."""
    pair, t = SampledGaussian(1.3, 0.05, side), np.geomspace(0.1, 300, 60)

    def bound_and_sizes():
        bound = Majorant(Line(pair, 6.0), 0.3)
        exponent = bound.log_size - t[:, None, None] * bound.angle + bound.line.norm
        return bound, np.exp(exponent).sum(axis=2)

    _, exact = bound_and_sizes()
    with monkeypatch.context() as patch:
        coarser(patch, 12.0)
        bound, sizes = bound_and_sizes()
        allowed, charged = np.exp(bound.log_error(t[:, None])), bound.by_height(t)
    errors = np.abs(sizes - exact)
    assert np.all(errors <= allowed + 1e-13 * exact)
    # `by_height` includes the error bound of each height.
    assert np.all(np.exp(charged) >= exact * (1 - 1e-12))
    if side == "remove":
        assert np.any(sizes < exact * (1 - 1e-5)) and np.max(errors / allowed) > 1e-3


def planned(sigma, q, side, steps, epsilon, delta):
    """Return the trapezoidal sum of the contour integral for one number of steps and epsilon."""
    pair, log_delta = SampledGaussian(sigma, q, side), math.log(delta)
    table = Table(pair, largest_power(pair, log_delta))
    rows = (np.array([float(steps)]), np.array([epsilon]), np.array([log_delta]))
    ((_, total),) = sums(table, rows, math.log(1e-8), (2**16, 2.0, 1.4))
    return total


def test_rounding_errors_of_moments_and_their_powers_stay_within_their_bound():
    """The errors of M and of repeated squaring grow with the number of steps."""
    steps, epsilon = 10**4, 1.0
    total = planned(4.0, 0.01, "add", steps, epsilon, 1e-5)
    line, h, exact = total.line, mp.mpf(float(total.h)), mp.mpf(0)
    first = moment(line.pair, line.step, line.height, line.x, mp.mpc(line.tilt))
    for k in range(total.terms.size):
        z = mp.mpc(line.tilt, k * h)
        ratio = moment(line.pair, line.step, line.height, line.x, z) / first
        term = ratio**steps * mp.exp(-1j * h * k * epsilon) / (z * (1 + z))
        exact += h / mp.pi * mp.re(term) * (0.5 if k == 0 else 1)
        if abs(term) < mp.mpf(10) ** -22:
            break
    exact *= mp.exp(steps * (mp.log(abs(first)) - mp.mpf(line.log_m)))
    error = abs(total.sums(total.terms, np.array([epsilon]))[0] - exact)
    assert_suits(total.rounding(np.array([epsilon]))[0], [error])  # powers of M


def test_rounding_errors_of_sums_phases_and_scale_stay_within_their_bounds():
    total = planned(1.1, 256 / 60000, "remove", 10**6, 31.586, 1e-5)
    terms, h = [mp.mpc(x) for x in total.terms.ravel()], mp.mpf(float(total.h))

    def errors(epsilons):
        exact = [
            mp.fsum(mp.re(x * mp.expj(-h * k * mp.mpf(e))) for k, x in enumerate(terms))
            for e in epsilons
        ]
        value = [total.sums(total.terms, np.array([e]))[0] for e in epsilons]
        return [abs(v - x) for v, x in zip(value, exact, strict=True)]

    # The error of summation dominates for small epsilon, that of the phases for large epsilon.
    small, large = np.linspace(0.0, 0.3, 40), 1e7 * np.linspace(1.0, 1.1, 10)
    assert_suits(total.rounding(small)[1], errors(small))  # summation
    assert_suits(total.rounding(large)[2], errors(large))  # phases
    deep = planned(2.0, 0.1, "remove", 1000, 43.48, 1e-100)
    at, (size, _) = np.linspace(43, 44, 40), deep.sizes
    exact = [1000 * mp.mpf(deep.line.log_m) - mp.mpf(deep.line.tilt) * mp.mpf(e) for e in at]
    lost = [abs(mp.expm1(v - x)) for v, x in zip(deep.log_scale(at), exact, strict=True)]
    assert_suits(deep.rounding(at)[3] / size, lost)  # scale


def exact_cells(ends, mu):
    """Return X and Y (see `laws`) of a Gaussian pair for every cell right of 0, by definition."""
    places = [mp.mpf(float(e)) for e in ends]
    (delta, tail), x, y = gaussian_ends(mp.mpf(mu)), [], []
    d, t = [delta(e) for e in places], [tail(e) for e in places]
    for i in range(len(places) - 1):
        gap, drop = places[i + 1] - places[i], d[i] - d[i + 1]
        x.append(drop + mp.expm1(-gap) * t[i + 1])
        y.append(mp.expm1(gap) * t[i] - drop)
    return x, y


def test_rounding_errors_of_cell_masses_stay_within_their_bounds():
    """In narrow cells X and Y are small differences of deltas."""
    for mu, h in [(0.2335, 1e-5), (0.6, 1e-3), (6.0, 0.05), (30.0, 4.0)]:
        nodes = np.arange(-2, 130) * h
        ends = nodes + BLUR * np.abs(nodes)
        (pair,), right = Gaussian(1 / mu).profiles(), ends >= 0
        cells, (x, y) = cells_between(pair, ends, h), exact_cells(ends[right], mu)
        # X must be rounded down, Y up.
        over = [v - e for v, e in zip(cells.x[2:], x, strict=True)]
        under = [e - v for v, e in zip(cells.y[2:], y, strict=True)]
        lost = zip([*over, *under], [*cells.noise[2:]] * 2, strict=True)
        share = max(float(error) / noise for error, noise in lost)
        # The bound has two parts; each dominates for some of these cells.
        assert 0.02 < share < 1, (mu, h, share)


def test_fractions_of_mass_moved_up_are_safe_for_the_worst_rounding_errors():
    """For the worst errors, (1 - b_i) X_i >= b_{i-1} Y_{i-1} holds for the exact X and Y."""
    x, y, noise = np.geomspace(1, 2, 9), np.geomspace(2, 1, 9), 0.1
    cells = Cells(np.ones(9), x + noise, y - noise, np.full(9, noise), 1.0, 1.0)
    up = balance(cells)
    assert np.all((1 - up[1:]) * x[1:] >= up[:-1] * y[:-1] * (1 - 1e-15))
    # The fractions are those of the exact X and Y.
    exact = balance(cells._replace(x=x, y=y, noise=np.zeros(9)))
    np.testing.assert_allclose(up, exact, rtol=1e-14)


def test_rounding_errors_at_loss_0_and_of_removed_atoms_stay_within_their_bounds():
    """The masses left in these cells are differences of numbers near 1."""
    lost, shares = [], []
    for epsilon in np.linspace(0.3, 2.0, 40):
        (pair,) = RandomizedResponse(epsilon).profiles("replace_one")
        ends = np.arange(-3, 3) * 0.25 + 0.1
        cells, k = cells_between(pair, ends, 0.25), 2
        assert cells.noise[k] == 16 * laws._ULP
        # The cell at 0 is empty: no outcome has a loss between -epsilon and epsilon.
        lost += [abs(cells.p[k]), abs(cells.x[k]), abs(cells.y[k])]
        step = epsilon / 4
        nodes = np.arange(-6, 7) * step
        ends, atoms = nodes + BLUR * np.abs(nodes), Atoms.of(pair)
        cells = cells_between(pair, ends, step)
        cells.noise[:] = 0
        laws._take_out(atoms, cells, nodes, ends, step)
        for k in np.flatnonzero(cells.noise):
            # The cell contained only the atom, whose mass is known up to BLUR.
            shares.append(abs(cells.p[k]) / cells.noise[k])
    assert_suits(16 * laws._ULP, lost)
    assert 0.01 < max(shares) < 1, max(shares)


def test_mass_of_infinite_losses_is_rounded_down():
    nodes, shares = np.arange(-3, 4) * 0.5, []
    for log_lost in np.linspace(-680, -600, 60):
        log_q = np.array([-np.inf, 0.0])
        pair = Profile.from_atoms(np.array([log_lost, 0.0]), log_q)
        infinity = laws.below_the_profile(pair, nodes, 0.5, Atoms.none())[1]
        shares.append(float(1 - infinity / mp.exp(mp.mpf(log_lost))))
    # exp of a logarithm near -700 loses at most 700 ulps.
    assert min(shares) > 0 and max(shares) < 100 * 700 * 2.0**-53


def test_error_bound_includes_omitted_frequencies():
    """Use nine steps, the fewest for which powers are computed by logarithms."""
    modulus = np.array([1.0, *[0.999e-22] * 8])
    law = SimpleNamespace(log_modulus=np.log(modulus) / 9, angle=np.zeros(9))
    _, noise = power([(9.0, law)], 16)
    # All frequencies except 0 are omitted; each counts twice, except the last.
    lost = (2 * modulus[1:].sum() - modulus[-1]) / 16
    unit = 8 * laws._ULP * math.log2(16)
    # The error bound of a single step is at least two units.
    assert_suits((noise / (unit * 10) - np.mean(modulus)) * 2 * unit, [lost])


def jitter(loss, h, steps=1):
    """Return a lattice through an atom, and corrections of delta and epsilon for moved atoms."""
    (pair,), window = Gaussian(1.0).profiles(), Window(1.0, h, 64, np.zeros(1), np.full(1, 2.0))
    atoms, edges = Atoms(np.array(loss), np.full(len(loss), 1e-3)), (-9.0, 9.0)
    grid = Grid(window, [atoms], full=False)
    group = SimpleNamespace(
        scans=[Scan(pair, pair)], survey=SimpleNamespace(edges=[edges]),
        counts=np.full((1, 1), float(steps)), rtol=1e-3, log_delta=-10.0,
    )  # fmt: skip
    _, (tau,), (raised,) = Group._lower_laws(group, grid)
    return *grid.nodes(0, edges), tau, raised


@each("index", [0, -1])
def test_lattice_with_offset_near_zero_is_moved_to_zero_as_a_whole(index):
    """Node j of a sum has loss offset + j h, so nodes must not move separately."""
    h = 0.5
    for near in (0.99e-9 * h, 0.99 * BLUR * h):
        start, nodes, tau, raised = jitter([near if index == 0 else -near], h)
        np.testing.assert_array_equal(nodes, (start + np.arange(nodes.size)) * h)
        # The lower bound is corrected by BLUR (tau = 0), or for an atom moved to two nodes.
        assert (tau == 0) == (near <= BLUR * h)
    assert_suits(raised, [near])


def test_correction_for_moved_atoms_is_close_to_a_binomial_quantile():
    """Ten thousand atoms move up or down by half a step, preserving the mean of e^-loss."""
    h, steps = 1.0, 10_000
    *_, tau, raised = jitter([0.0, 0.5 * h], h, steps)
    up = math.expm1(-0.5 * h) / math.expm1(-h)
    quantile = binom.isf(tau * math.exp(-10.0), steps, up) * h - 0.5 * h * steps
    assert quantile <= raised <= 1.1 * quantile
