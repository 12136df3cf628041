"""Clipping bounds: clipped norms, noise scales, and allowances for rounding and underflow."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from parts import Model
from torch import nn

from cases import each
from dplearn.training import Automatic, Flat, Grouped, PerLayer, clipped_sum
from dplearn.training.layers import Outer, combined, convolution, factored, norms_of

SIZES = {"body.0.weight": 30, "body.0.bias": 6, "body.1.weight": 4, "head.weight": 60}
grouped = lambda **norms: Grouped(norms=norms, noise_multipliers=dict.fromkeys(norms, 1.0))
EQUAL = PerLayer(max_grad_norm=0.7)
OWN_NOISE = Grouped(norms={"": 0.4, "head": 2.0}, noise_multipliers={"": 1.0, "head": 3.0})
BOUNDS = [Flat(0.7), Automatic(max_grad_norm=0.7), EQUAL, OWN_NOISE]


@each("bound", BOUNDS)
@given(norms=st.lists(st.floats(0, 1e30), min_size=1))
def test_noise_scales_match_norm_bounds_and_clipped_norms_respect_them(bound, norms):
    """With norm bounds C_m and noise scales s_m, the sum of (C_m / s_m)^2 must be 1."""
    groups = bound.groups(SIZES)
    ratios = [c / s for c, s in zip(groups.norms, groups.scales, strict=True)]
    assert math.isclose(math.hypot(*ratios), 1) and groups.of.keys() == SIZES.keys()
    largest = torch.tensor(groups.norms, dtype=torch.float64)[:, None]
    values = torch.tensor(norms, dtype=torch.float64).expand(len(largest), -1)
    factors = bound.factors(values, largest)
    assert (bound.factors(values.numpy(), largest.numpy()) == factors.numpy()).all()
    assert (factors >= 0).all() and (factors * values <= largest * (1 + 1e-15)).all()
    if not isinstance(bound, Automatic):
        assert (factors[values <= largest] == 1).all()


def test_parameters_are_grouped_by_layer_or_by_longest_matching_prefix():
    assert list(EQUAL.groups(SIZES).of.values()) == [0, 0, 1, 2]
    assert EQUAL.groups(SIZES).norms == pytest.approx([0.7 / math.sqrt(3)] * 3)
    norms = {"": 1.0, "body": 2.0, "body.1": 3.0, "head.weight": 4.0, "hea": 5.0}
    bound = Grouped(norms=norms, noise_multipliers=dict.fromkeys(norms, 1.0))
    assert list(bound.groups(SIZES).of.values()) == [1, 1, 2, 3]
    stds = [OWN_NOISE.noise_multiplier * scale for scale in OWN_NOISE.groups(SIZES).scales]
    assert stds == pytest.approx([1.0 * 0.4, 3.0 * 2.0])  # each multiplier x norm
    assert OWN_NOISE.noise_multiplier == pytest.approx(1 / math.sqrt(1 + 1 / 9))


@each(
    "make, match",
    [
        (lambda: Flat(0.0), "max_grad_norm > 0"),
        (lambda: grouped(), "groups"),
        (lambda: grouped(a=-1.0), r"norms\['a'\]"),
        (lambda: Grouped(norms={"a": 1.0}, noise_multipliers={"b": 1.0}), r"\['a'\]"),
        (lambda: grouped(bod=1.0).groups(SIZES), "body.0.weight"),
    ],
)
def test_invalid_clipping_bounds_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@each("bound, kind", product(BOUNDS, ["float64", "float32", "bfloat16"]))
@each("scale", [1e-4, 1.0, 1e4, 1e12])
def test_norm_of_a_clipped_gradient_is_at_most_the_bound_in_each_group(bound, scale, kind):
    torch.manual_seed(3)
    dtype = torch.float64 if kind == "float64" else torch.float32
    layers = {"body": nn.Linear(8, 40), "head": nn.Linear(40, 5)}
    model = Model(lambda model, x: model.head(model.body(x).relu()), **layers).to(dtype)
    groups = bound.groups({n: p.numel() for n, p in model.named_parameters()})
    loss = lambda outputs, _: (scale * outputs).square().sum((1, 2))
    for seed in range(3):
        torch.manual_seed(seed)
        inputs = scale * torch.randn(1, 3, 8, dtype=dtype).exp()
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == "bfloat16"):
            alone = clipped_sum(model, loss, inputs, None, bound=bound)
        parts = [0.0] * len(groups.norms)
        for name, value in alone.sums.items():
            assert value.dtype == dtype
            parts[groups.of[name]] += value.double().square().sum().item()
        for part, largest in zip(parts, groups.norms, strict=True):
            assert math.sqrt(part) <= largest * (1 + 1e-15 if kind == "float64" else 1)


def test_clipped_norms_are_never_above_the_bound_and_at_most_20_rounding_units_below():
    """Rounding changes norms, factors and products; a norm above the bound breaks privacy."""
    unit, loss = torch.finfo(torch.float32).eps, lambda outputs, _: outputs[:, 0]
    over = []
    for size in (3, 1000, 10_000, 1_000_000):
        model, random = nn.Linear(size, 1, bias=False), torch.Generator().manual_seed(size)
        noisy = [100 * torch.randn(1, size, generator=random) for _ in range(5)]
        for x in (*noisy, torch.full((1, size), 10.1)):
            part = clipped_sum(model, loss, x, None, bound=Flat(1.0))
            over.append(part.sums["weight"].double().norm().item() - 1)
    # Without the allowance of eight units, the largest would be about one unit above 0.
    assert -100 * unit < max(over) <= 0, [x / unit for x in over]
    assert min(over) > -20 * unit, "the norm itself has lost more than that"


def test_rounding_allowance_is_1_to_100_times_the_error_of_cancelling_terms():
    """A computed norm of 0 would leave a gradient of rounding errors unclipped."""
    left, right = (torch.randn(200, 1, 100, generator=torch.manual_seed(i)) for i in (0, 1))
    both = Outer(torch.cat([left, -left], 1), torch.cat([right, right * 1.001], 1))
    exact = Outer(both.left.double(), both.right.double()).dense().square().sum(1)
    largest = (norms_of(both.left) * norms_of(both.right)).sum(1)
    added = ((both.norm().square() - exact) / largest.square()).numpy()
    error, allowance = (added.max() - added.min()) / 2, added.mean()  # errors have both signs
    assert error <= allowance <= 100 * error


@pytest.fixture
def flushed():
    """Flush subnormal numbers to zero, as some accelerators do."""
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor keeps numbers below the normal ones")
    yield
    torch.set_flush_denormal(False)


@each("dtype, t", product([torch.float32, torch.float64], [1, 2, 5]))
def test_norms_include_underflowed_squares_and_are_at_most_1_percent_too_large(dtype, t, flushed):
    """In the worst case, the square of every entry of one factor just underflows."""
    small, large = 0.999 * math.sqrt(torch.finfo(dtype).tiny), torch.finfo(dtype).max ** 0.4
    for u, v, p, d in ((small, large, 3, 700), (large, small, 3, 700), (small, large, 600, 40)):
        left, right = torch.full((1, t, p), u, dtype=dtype), torch.full((1, t, d), v, dtype=dtype)
        for gradient in (Outer(left, right), convolution(left.mT, right.mT, (p, d, 1))):
            exact = p * d * (t * u * v) ** 2
            assert math.sqrt(exact) <= gradient.norm().item() <= math.sqrt(1.01 * exact)


def test_cancelling_uses_of_a_bias_are_added_before_their_norm_is_taken():
    value = torch.randn(5, 40, generator=torch.manual_seed(0))
    uses = [factored(value), factored(-0.999 * value)]
    torch.testing.assert_close(combined(uses).norm(), norms_of(value - 0.999 * value))
