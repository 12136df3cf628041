"""What rounding and underflow take from norms is given back: no less, and little more."""

import math
from itertools import product

import pytest
import torch
from torch import nn

from cases import each
from dplearn.training import Automatic, Flat, Grouped, PerLayer, clipped_sum
from dplearn.training.per_example import Convolution, Outer

BOUNDS = [
    Flat(0.7),
    Automatic(max_grad_norm=0.7),
    PerLayer(max_grad_norm=0.7),
    PerLayer(max_grad_norm=0.7, allocation="dimension"),
    Grouped(norms={"": 0.4, "0": 0.2}, noise_multipliers={"": 1.0, "0": 2.0}),
]


@each("bound, kind", product(BOUNDS, ["float64", "float32", "bfloat16"]))
@each("scale", [1e-4, 1.0, 1e4, 1e12])
def test_a_record_moves_the_sum_by_at_most_the_sensitivity(bound, scale, kind):
    torch.manual_seed(3)
    dtype = torch.float64 if kind == "float64" else torch.float32
    model = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 5)).to(dtype)
    groups = bound.groups({n: p.numel() for n, p in model.named_parameters()})
    assert groups.sensitivity <= max(groups.scales) * (1 + 1e-12)
    for seed in range(3):
        torch.manual_seed(seed)
        inputs = scale * torch.randn(1, 3, 8, dtype=dtype).exp()
        loss = lambda outputs, _: (scale * outputs).square().sum((1, 2))
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == "bfloat16"):
            alone = clipped_sum(model, loss, inputs, None, bound=bound)
        assert all(value.dtype == dtype for value in alone.sums.values())
        parts = [0.0] * len(groups.norms)
        for name, value in alone.sums.items():
            parts[groups.of[name]] += value.double().square().sum().item()
        for part, largest in zip(parts, groups.norms, strict=True):
            assert math.sqrt(part) <= largest * (1 + 1e-15 if kind == "float64" else 1)


def test_norms_are_rounded_up_by_no_more_than_they_need():
    """Norms, factors and products of float32 lose some units; a sum that overshoots is a breach."""
    unit, loss = torch.finfo(torch.float32).eps, lambda outputs, _: outputs[:, 0]
    over = []
    for size in (3, 1000, 10_000, 1_000_000):
        model, random = nn.Linear(size, 1, bias=False), torch.Generator().manual_seed(size)
        noisy = [100 * torch.randn(1, size, generator=random) for _ in range(5)]
        for x in (*noisy, torch.full((1, size), 10.1)):
            part = clipped_sum(model, loss, x, None, bound=Flat(1.0))
            over.append(part.sums["weight"].double().norm().item() - 1)
    # Without the allowance of eight units the largest is about one unit above 0.
    assert -100 * unit < max(over) <= 0, [x / unit for x in over]
    assert min(over) > -20 * unit, "the norm itself has lost more than that"


def test_cancelling_terms_cannot_overshoot():
    """Positions whose gradients cancel: a ghost norm of 0 would let rounding errors through."""
    torch.manual_seed(0)
    model = nn.Linear(100, 100, bias=False)
    directions, signs = torch.randn(32, 1, 100), torch.tensor([[[1e3], [-1e3]]])
    loss = lambda outputs, _: (outputs * signs).sum((1, 2))
    for x in 1e5 * torch.cat([directions, directions * (1 + 1e-5)], 1)[:, None]:
        part = clipped_sum(model, loss, x, None, bound=Flat(1.0))
        assert part.sums["weight"].double().norm() <= 1


def test_cancelling_terms_are_rounded_up_by_no_more_than_they_need():
    left, right = (torch.randn(200, 1, 100, generator=torch.manual_seed(i)) for i in (0, 1))
    both = Outer(torch.cat([left, -left], 1), torch.cat([right, right * 1.001], 1))
    exact = Outer(both.left.double(), both.right.double()).dense().square().sum((1, 2))
    added = ((both.squared_norm() - exact) / both.largest_terms().square()).numpy()
    error, allowance = (added.max() - added.min()) / 2, added.mean()  # errors have both signs
    assert error <= allowance <= 100 * error


def test_a_huge_input_and_a_tiny_gradient():
    """Squares of float32 leave the range long before their product does."""
    model = nn.Linear(4, 4, bias=False)
    loss = lambda outputs, _: (outputs * 1e-23).sum((1, 2))
    for positions in (1, 2):
        x = torch.full((1, positions, 4), 5e18)
        part = clipped_sum(model, loss, x, None, bound=Flat(1e-5))
        assert part.sums["weight"].double().norm() <= 1e-5, positions


@pytest.fixture
def flushed():
    """What accelerators may do and processors can: numbers below the normal ones become zero."""
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor keeps numbers below the normal ones")
    yield
    torch.set_flush_denormal(False)


@each("dtype, t", product([torch.float32, torch.float64], [1, 2, 5]))
def test_underflow_is_given_back_in_full_and_not_twice(dtype, t, flushed):
    """The worst case: the square of every entry of one factor is just too small to be a number."""
    small, large = 0.999 * math.sqrt(torch.finfo(dtype).tiny), torch.finfo(dtype).max ** 0.4
    for u, v, p, d in ((small, large, 3, 700), (large, small, 3, 700), (small, large, 600, 40)):
        left, right = torch.full((1, t, p), u, dtype=dtype), torch.full((1, t, d), v, dtype=dtype)
        form = (p, d, 1), (1,), (0,), (1,), 1
        for gradient in (Outer(left, right), Convolution(left.mT, right.mT, *form)):
            exact = p * d * (t * u * v) ** 2
            assert exact <= gradient.squared_norm().item() <= 1.01 * exact
