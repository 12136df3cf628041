"""Formulas outside the domains on which entries are verified, and arguments that they refuse."""

import math
from itertools import product

import numpy as np
import pytest

from cases import each
from dplearn.teaching import book as formulas
from dplearn.teaching.book.kit.oracles import worst_event_delta
from outcomes import LAWS


def test_hockey_stick_at_a_negative_epsilon():
    """The domain on which the entry is verified has no negative epsilon."""
    for p, q in LAWS:
        worst = pytest.approx(worst_event_delta(p, q, -1.0), abs=1e-15)
        assert formulas.hockey_stick(p, q, epsilon=-1.0) == worst


def test_renyi_of_gaussians_at_orders_0_and_inf():
    equal = {"mean_p": 0.0, "std_p": 1.0, "mean_q": 0.5, "std_q": 1.0}
    assert formulas.renyi_gaussian(order=0, **equal) == 0.0
    assert formulas.renyi_gaussian(order=math.inf, **equal) == math.inf
    assert formulas.renyi_gaussian(order=math.inf, **equal | {"mean_q": 0.0}) == 0.0
    wide = equal | {"std_q": 2.0}
    # Supremum of the log likelihood ratio on a grid.
    x = np.linspace(-3, 3, 200_001)
    ratio = np.log(2) - x**2 / 2 + (x - 0.5) ** 2 / 8
    found = formulas.renyi_gaussian(order=math.inf, **wide)
    assert found == pytest.approx(ratio.max(), rel=1e-9)
    assert formulas.renyi_gaussian(order=math.inf, **equal | {"std_q": 0.5}) == math.inf
    # At order 2 the formula takes the logarithm of a positive number.
    assert formulas.renyi_gaussian(order=2, **wide) > 0


EQUAL = [0.5, 0.5]
NOISE = {"noise_multiplier": 5.0, "sample_rate": 0.01}
REFUSED = [
    ("hockey_stick", {"p": [0.5, 0.4], "q": EQUAL}, "p to be probabilities"),
    ("renyi", {"p": EQUAL, "q": [1.5, -0.5], "order": 2}, "q to be probabilities"),
    ("renyi", {"p": [1.0], "q": EQUAL, "order": 2}, "q to be probabilities of 1 outputs"),
    ("renyi", {"p": [1.0], "q": [1.0], "order": -1}, "order >= 0, got order=-1"),
    ("renyi", {"p": [1.0], "q": [1.0], "order": math.nan}, "order >= 0"),
    ("renyi", {"p": [math.nan], "q": [1.0], "order": 2}, "p to be probabilities"),
    ("renyi_gaussian", {"order": 2, "mean_p": 0, "std_p": 0, "mean_q": 0, "std_q": 1}, "std_p"),
    ("gaussian_tradeoff", {"false_positive_rate": 1.5, "mu": 1.3}, "0 <= false_positive_rate"),
    ("drift", {"epsilon": 1.0, "form": "half"}, "form"),
    ("sampled_gaussian_rdp_truncated", {"order": 200.0, **NOISE}, "1 < order <="),
    ("log_moment_main_term", {"moment": 200.0, **NOISE}, "0 < moment <="),
    ("adaptive_clipping_multiplier", {"noise_multiplier": 2.0, "bit_noise": 1.0},
     r"noise_multiplier < 2\*bit_noise, got bit_noise=1.0, noise_multiplier=2.0"),
    ("shuffle_local_randomizers", {"local_epsilon": 4.0, "records": 10_000, "delta": 1e-6},
     r"local_epsilon <= log\(records/\(16\*log\(2/delta\)\)\), got .*local_epsilon=4.0"),
    ("total_delta", {"slack": 1e-5, "paid": 1e-7, "steps": 2.5}, "steps to be whole, got"),
]  # fmt: skip


@each("name, parameters, message", REFUSED)
def test_arguments_out_of_range_are_refused(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        getattr(formulas, name)(**parameters)


def test_heterogeneous_composition_of_equal_releases_has_closed_form():
    for epsilon, slack in product((0.01, 0.3, 2.0), (0.1, 1e-4)):
        groups = ([epsilon], [7]), ([epsilon] * 7, [1] * 7)
        copies, listed = (
            formulas.heterogeneous_composition(epsilons=one, counts=counts, slack=slack)
            for one, counts in groups
        )
        assert float(copies) == pytest.approx(float(listed), rel=1e-13), (epsilon, slack)
        closed = formulas.advanced_composition_kov(epsilon=epsilon, steps=7, slack=slack)
        assert copies == pytest.approx(min(float(closed), 7 * epsilon), rel=1e-12), (epsilon, slack)


def test_formulas_have_known_limits_at_extreme_arguments():
    assert float(formulas.zcdp_to_epsilon(0.0, delta=1e-5)) == 0.0
    assert float(formulas.rdp_to_epsilon(1e9, 0.0, delta=0.5)) == 0.0
    # The delta of a group is at most 1.
    assert formulas.group_privacy_delta(epsilon=0.0, delta=0.3, group=5) == 1.0
    assert formulas.group_privacy_delta(epsilon=1.0, delta=1e-9, group=10**6) == 1.0
    run = {"canaries": 9, "guesses": 9, "correct": 9, "epsilon": 50.0, "delta": 0.0}
    assert formulas.one_run_p_value(**run) == 1.0
    # The steps use all of delta, so no slack is left.
    assert formulas.composition_slack(delta=1e-5, paid=1e-6, steps=11) <= 0
