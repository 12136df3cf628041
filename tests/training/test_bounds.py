"""Bounds: factors, sensitivities, and that the noise they ask for is enough."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from dplearn.training import AdaptiveQuantile, Automatic, Flat, Grouped, PerLayer

SIZES = {"body.0.weight": 30, "body.0.bias": 6, "body.1.weight": 4, "head.weight": 60}
EQUAL, BY_SIZE = (PerLayer(max_grad_norm=0.7, allocation=a) for a in ("equal", "dimension"))
OWN_NOISE = Grouped(norms={"": 0.4, "head": 2.0}, noise_multipliers={"": 1.0, "head": 3.0})
BOUNDS = [
    *(Flat(0.7), Automatic(max_grad_norm=0.7), EQUAL, BY_SIZE, OWN_NOISE),
    *(Grouped(norms=OWN_NOISE.norms), AdaptiveQuantile(max_grad_norm=0.7, count_noise=5.0)),
]


@each("bound", BOUNDS)
def test_noise_covers_every_record(bound):
    """The sum of (C_m / s_m)^2 is 1: no less noise than needed, and no more."""
    groups = bound.groups(SIZES)
    ratios = [c / s for c, s in zip(groups.norms, groups.scales, strict=True)]
    assert math.isclose(math.hypot(*ratios), 1)
    assert groups.of.keys() == SIZES.keys()
    assert math.isclose(groups.sensitivity, math.hypot(*groups.norms))


@each("bound", BOUNDS)
@given(norms=st.lists(st.floats(0, 1e30), min_size=1))
def test_factors_bring_norms_below_the_largest(bound, norms):
    groups = bound.groups(SIZES)
    largest = torch.tensor(groups.norms, dtype=torch.float64)[:, None]
    values = torch.tensor(norms, dtype=torch.float64).expand(len(largest), -1)
    factors = bound.factors(values, largest)
    assert (factors >= 0).all() and (factors * values <= largest * (1 + 1e-15)).all()
    if not isinstance(bound, Automatic):
        assert (factors[values <= largest] == 1).all()


def test_per_layer():
    equal = EQUAL.groups(SIZES)
    assert equal.norms == pytest.approx([0.7 / math.sqrt(3)] * 3)
    assert list(equal.of.values()) == [0, 0, 1, 2]
    sizes = BY_SIZE.groups(SIZES).norms
    assert sizes == pytest.approx([0.7 * math.sqrt(share) for share in (0.36, 0.04, 0.6)])


def test_grouped_takes_the_longest_name_and_whole_words_and_has_the_noise_of_each_alone():
    bound = Grouped(norms={"": 1.0, "body": 2.0, "body.1": 3.0, "head.weight": 4.0, "hea": 5.0})
    assert list(bound.groups(SIZES).of.values()) == [1, 1, 2, 3]
    groups = OWN_NOISE.groups(SIZES)
    assert list(groups.of.values()) == [0, 0, 0, 1]
    stds = [OWN_NOISE.noise_multiplier * scale for scale in groups.scales]
    assert stds == pytest.approx([1.0 * 0.4, 3.0 * 2.0])
    assert OWN_NOISE.noise_multiplier == pytest.approx(1 / math.sqrt(1 + 1 / 9))


@each("z, b", [(0.5, 1.0), (1.0, 10.0), (3.0, 2.0)])
def test_quantile_count_and_gradients_cost_what_the_run_says(z, b):
    """Squared signal-to-noise ratios of independent Gaussian releases add up."""
    bound = AdaptiveQuantile(max_grad_norm=1.0, count_noise=b)
    assert bound.gradient_noise(z) ** -2 + (0.5 / b) ** 2 == pytest.approx(z**-2)
    assert bound.gradient_noise(0.0) == 0.0


def test_quantile_moves_to_the_median_and_stays_without_records():
    torch.manual_seed(0)
    bound = AdaptiveQuantile(max_grad_norm=50.0, count_noise=4.0)
    # An empty lot says nothing: the shifted count is 0, which is the public one half.
    assert bound.updated(below=0, examples=0, expected_batch_size=9) == bound
    norms = torch.rand(1000).mul(4).sqrt()  # median sqrt(2)
    for normal in torch.randn(200).tolist():
        below = (norms <= bound.max_grad_norm).sum().item()
        bound = bound.updated(below=below, examples=1000, expected_batch_size=1000, normal=normal)
    assert bound.max_grad_norm == pytest.approx(math.sqrt(2), abs=0.05)


QUIET = AdaptiveQuantile(max_grad_norm=1.0, count_noise=0.5)


@each(
    "make, match",
    [
        (lambda: Flat(0.0), "max_grad_norm > 0"),
        (lambda: Flat("1"), "max_grad_norm > 0"),
        (lambda: Automatic(max_grad_norm=1.0, stability=0.0), "stability"),
        (lambda: PerLayer(max_grad_norm=1.0, allocation="odd"), "allocation one of"),
        (lambda: Grouped(norms={}), "groups"),
        (lambda: Grouped(norms={"a": -1.0}), r"norms\['a'\]"),
        (lambda: Grouped(norms={"a": 1.0}, noise_multipliers={"b": 1.0}), r"\['a'\]"),
        (lambda: Grouped(norms={"bod": 1.0}).groups(SIZES), "body.0.weight"),
        (lambda: QUIET.gradient_noise(1.0), "count_noise > noise_multiplier / 2"),
    ],
)
def test_refuses(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        make()
