"""Delta by integration of output densities equals the profile, for all mechanisms with both."""

import itertools

import numpy as np
import pytest

from cases import each
from dplearn.core.guarantee import ADJACENCIES
from dplearn.mechanisms import MECHANISMS, Outputs

EPSILONS = [0.0, 0.01, 0.2, 1.0, 3.0, 10.0]
# Small and large values that replace the parameters of the examples.
NUMBERS = {
    "noise_multiplier": (0.04, 150.0),
    "sample_rate": (1e-6, 0.5, 1.0),
    "sensitivity": (1, 7),
    "local_epsilon": (0.02, 15.0),
    "answers": (2, 50),
}


def varied(example):
    """Yield the example, and copies with one number replaced."""
    yield example
    for key, values in NUMBERS.items():
        for value in values:
            try:
                yield example.vary(**{key: value})
            except ValueError:
                break


def pairs():
    """Yield every known pair of output distributions, with the profile and the mechanism."""
    every = {m for law in MECHANISMS.values() for e in law.examples() for m in varied(e)}
    for mechanism, adjacency in itertools.product(sorted(every, key=repr), ADJACENCIES):
        try:
            laws = mechanism.outputs(adjacency)
        except NotImplementedError:
            continue
        for end, law in enumerate(laws):
            yield law, mechanism.profiles(adjacency)[end], mechanism


PAIRS = list(pairs())


def test_mechanisms_have_output_distributions_or_say_why_not():
    with_laws = {mechanism.name for _, _, mechanism in PAIRS}
    assert len(with_laws) >= 7
    for name in set(MECHANISMS) - with_laws:
        assert len(MECHANISMS[name].no_outputs.split()) > 5


@pytest.mark.slow
@each("law, profile, mechanism", PAIRS)
def test_output_densities_integrate_to_one_and_give_delta(law, profile, mechanism):
    expected = profile.delta(EPSILONS)
    for epsilon, delta in zip(EPSILONS, expected, strict=True):
        x, weight, p, q = law.nodes(epsilon)
        area = weight @ np.maximum(p - np.exp(epsilon) * q, 0.0)
        # Tolerance: a mass of 1e-10 outside the limits, and the error of quadrature.
        assert area == pytest.approx(delta, rel=1e-6, abs=1e-9)
        assert [weight @ p, weight @ q] == pytest.approx([1.0, 1.0], abs=1e-9)
        assert np.all(np.diff(x) > 0)
    assert area == law.delta(epsilon)


@pytest.mark.slow
@each("law, profile, mechanism", [pair for pair in PAIRS if pair[2].attained])
def test_swapped_output_distributions_have_the_reverse_profile(law, profile, mechanism):
    at = [0.0, 0.3, 2.0]
    values = [law.reverse().delta(e) for e in at]
    assert values == pytest.approx(profile.reverse().delta(at), rel=1e-6, abs=1e-9)
    assert law.delta(-0.7) == pytest.approx(float(profile.delta(-0.7)), rel=1e-8)


def test_delta_includes_a_narrow_peak_of_the_output_density():
    """q is N(0, 1), and so is p but for probability 1e-3 of Laplace noise of scale 1e-5 at 1/3."""

    def log_q(x):
        return -0.5 * x**2 - 0.5 * np.log(2 * np.pi)

    def log_p(x):
        return np.logaddexp(np.log1p(-1e-3) + log_q(x), np.log(1e-3 / 2e-5) - abs(x - 1 / 3) / 1e-5)

    law = Outputs(log_p, log_q, -8.0, 8.0, corners=(1 / 3,))
    # The peak r of p ends where 0.999 + r / q = e^eps; q is constant there up to 1e-4.
    q, c = float(np.exp(log_q(1 / 3))), 1e-3 / 2e-5
    for epsilon in (0.5, 2.0):
        floor = (np.exp(epsilon) - 0.999) * q
        area = 1e-3 * (1 - floor / c) - 2e-5 * floor * np.log(c / floor)
        assert law.delta(epsilon) == pytest.approx(area, rel=1e-4)
        assert np.min(np.abs(law.nodes(epsilon)[0] - 1 / 3)) < 1e-6
