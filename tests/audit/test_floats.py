"""Floating-point noise against lists of all outputs that a program can give.

False alarms: below 1e-6 per test.
"""

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from cases import each
from dplearn.audit.floats import laplace_by_inversion, reachable, snapped_epsilon

GRID, UNIFORMS = np.arange(2**12) / 2**12, np.random.default_rng(15).random(20_000)


def textbook(value, scale=1.0):
    return lambda u: laplace_by_inversion(u, value=value, scale=scale)


def rounded(value, scale, digits):
    return lambda u: np.round(laplace_by_inversion(u, value=value, scale=scale), digits)


def test_reachable_is_membership_in_the_list_of_all_outputs():
    shares = []
    for mine, other in (
        (textbook(0.0), textbook(1.0)),
        (textbook(7.0, 0.3), textbook(7.0, 0.3)),
        (rounded(0.0, 1.0, 2), rounded(1.0, 1.0, 2)),
        (rounded(0.1, 5.0, 3), rounded(0.0, 5.0, 3)),
    ):
        every = set(other(GRID))
        expected = [output in every for output in mine(GRID)]
        assert list(reachable(mine(GRID), other, bits=12)) == expected
        shares.append(np.mean(expected))
    assert 0 < shares[0] < shares[3] < shares[2] < shares[1] == 1


@each("value", [0.0, 1.0])
def test_four_of_five_outputs_of_textbook_noise_are_impossible_under_the_neighbour(value):
    outputs = textbook(value)(UNIFORMS)
    assert reachable(outputs, textbook(value)).all()
    assert abs(np.mean(reachable(outputs, textbook(1 - value))) - 0.2) < 0.015


# 40 digits: all but about one logarithm in 10^20 then rounds to the correct double.
DIGITS = Context(prec=40)


def snapped(value, uniform, sign, scale, bound):
    """Return by definition the snapped release of a clamped value for one uniform and sign."""
    logarithm = float(DIGITS.ln(Decimal(uniform)))
    grid = math.ldexp(1.0, math.ceil(math.log2(scale)))
    places = (value + sign * scale * logarithm) / grid
    whole = math.floor(places)
    return min(max((whole + (places - whole >= 0.5)) * grid, -bound), bound)


def law(value, *, scale, bound):
    """Return the exact probability of each snapped output, from all doubles between 0 and 1."""
    double, chances = lambda word: float(np.int64(word).view(np.float64)), {}
    last = int(np.float64(math.nextafter(1.0, 0.0)).view(np.int64))
    for sign in (-1, 1):
        first, before = 1, Fraction(0)
        while first <= last:
            output = snapped(value, double(first), sign, scale, bound)
            low, high = first, last  # the last double with that output
            while low < high:
                middle = (low + high + 1) // 2
                same = snapped(value, double(middle), sign, scale, bound) == output
                low, high = (middle, high) if same else (low, middle - 1)
            # A double stands for the real numbers between it and the next.
            below = Fraction(double(low)) + Fraction(math.ulp(double(low)))
            chances[output] = chances.get(output, 0) + (below - before) / 2
            first, before = low + 1, below
    assert sum(chances.values()) == 1
    return chances


@pytest.mark.slow
@each("scale, bound", [(1.0, 8.0), (0.7, 8.0), (1 / 3, 6.3)])
def test_snapped_epsilon_bounds_the_exact_loss_and_1_over_scale_does_not(scale, bound):
    exceeds = []
    for low, high in ((0.0, 1.0), (0.3, 1.3), (0.25, 1.0), (bound, bound - 1)):
        before, after = (law(v, scale=scale, bound=bound) for v in (low, high))
        assert before.keys() == after.keys()
        ratio = max(max(before[y] / after[y], after[y] / before[y]) for y in before)
        with mp.workprec(200):
            exact = mp.log(mpf(ratio.numerator) / mpf(ratio.denominator))
            assert exact <= mpf(snapped_epsilon(scale=scale, bound=bound))
            exceeds.append(exact > 1 / mpf(scale))
    assert any(exceeds)


@each("scale, bound", [(0.0, 1.0), (1.0, 1.0), (1.0, 2.0**46), (1.0, math.inf)])
def test_bounds_outside_the_theorem_are_refused(scale, bound):
    with pytest.raises(ValueError, match="Expected"):
        snapped_epsilon(scale=scale, bound=bound)
