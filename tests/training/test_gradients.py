"""Clipped sums against one record at a time, and every promise of the docstring."""

import copy
import math
from itertools import product

import pytest
import torch
from per_record import (
    BATCH,
    CASES,
    Language,
    Model,
    case,
    difference,
    gradients,
    losses_of,
    mlp,
    norm,
)
from torch import _dynamo, nn
from torch.utils._pytree import tree_map

from cases import each
from dplearn.training import Automatic, Flat, Grouped, PerLayer, check, clipped_sum, rule
from dplearn.training.gradients import compiled_sum
from dplearn.training.recording import recording
from dplearn.training.rules import RULES

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
# Norms are rounded up by a few units, so that sums are a little short.
EXACT = 1e-13


def clipped(model, inputs, targets, max_grad_norm):
    """The clipped sum by the oracle."""
    total = {n: torch.zeros_like(p) for n, p in model.named_parameters() if p.requires_grad}
    for gradient in gradients(model, inputs, targets):
        factor = min(1.0, max_grad_norm / norm(gradient).item())
        for name, value in gradient.items():
            total[name] += factor * value
    return total


def summed(model, inputs, targets, max_grad_norm=1.0, **options):
    return clipped_sum(model, losses_of, inputs, targets, bound=Flat(max_grad_norm), **options)


def few_rows(dtype=torch.float32):
    """Inputs of eight numbers, and targets."""
    return torch.randn(BATCH, 8, dtype=dtype), torch.zeros(BATCH).long()


@each("name", CASES)
def test_equals_one_record_at_a_time(name):
    model, inputs, targets = case(name)
    norms = torch.stack([norm(g) for g in gradients(model, inputs, targets)])
    # Nothing clipped, about half, everything.
    for bound in (2 * norms.max().item(), norms.mean().item(), norms.min().item() / 10):
        found = summed(model, inputs, targets, bound)
        assert difference(found.sums, clipped(model, inputs, targets, bound)) < EXACT
        torch.testing.assert_close(found.norms, norms, rtol=EXACT, atol=0)
        assert found.clipped == (norms > bound).sum()
    assert found.examples == BATCH and found.non_finite == 0


@each("name", CASES)
def test_check_accepts(name):
    model, inputs, targets = case(name)
    state = torch.get_rng_state()
    check(model, losses_of, inputs, targets)
    assert torch.equal(state, torch.get_rng_state())


@each("name", CASES)
def test_float32_is_close(name):
    model, inputs, targets = case(name, dtype=torch.float32)
    found = summed(model, inputs, targets, 0.5)
    assert {value.dtype for value in found.sums.values()} == {torch.float32}
    expected = clipped(model, inputs, targets, 0.5)
    assert difference(found.sums, expected) < 1e-4  # rounding up of ghost norms, 8 T eps
    for value in gradients(model, inputs, targets):
        assert norm(value) > 0


@each("name", CASES)
def test_leaves_nothing_behind(name):
    model, inputs, targets = case(name)
    before = [(m, dict(vars(m)), len(m._forward_hooks)) for m in model.modules()]
    summed(model, inputs, targets)
    with pytest.raises(ZeroDivisionError):
        clipped_sum(model, lambda o, t: 1 / 0, inputs, targets, bound=Flat(1.0))
    assert all(p.grad is None for p in model.parameters())
    for module, attributes, hooks in before:
        assert vars(module).keys() == attributes.keys() and len(module._forward_hooks) == hooks


@each("name", CASES)
def test_masked_records_count_nothing_and_chunks_add_up(name):
    model, inputs, targets = case(name)
    whole = summed(model, inputs, targets, 0.3)
    first = torch.arange(BATCH) < 2
    masked, others = (summed(model, inputs, targets, 0.3, mask=m) for m in (first, ~first))
    assert difference((masked + others).sums, whole.sums) < EXACT
    assert masked.examples == 2 and (masked + others).clipped == whole.clipped
    chunk = summed(model, tree_map(lambda x: x[first], inputs), targets[first], 0.3)
    assert difference(masked.sums, chunk.sums) < EXACT
    none = summed(model, inputs, targets, 0.3, mask=torch.zeros(BATCH).bool())
    assert all(value.eq(0).all() for value in none.sums.values())
    assert none.examples == 0 and none.clipped == 0


FLOATING = [n for n in CASES if "embedding" not in n and n != "tied transformer"]


@each("name, bad", product(FLOATING, [math.nan, math.inf, 1e200]))
def test_a_record_that_is_not_finite_counts_nothing(name, bad):
    """Its row is zero in the sum, and the others are as if it were not there."""
    model, inputs, targets = case(name)
    spoilt = tree_map(torch.clone, inputs)
    (spoilt[0] if isinstance(spoilt, tuple) else spoilt)[1] = bad
    found = summed(model, spoilt, targets, 0.3)
    others = torch.arange(BATCH) != 1
    expected = summed(model, inputs, targets, 0.3, mask=others)
    if found.non_finite:
        assert difference(found.sums, expected.sums) < EXACT
    else:  # 1e200 may saturate an activation or be normalised away: an ordinary record
        assert bad == 1e200
        apart = norm({n: found.sums[n] - expected.sums[n] for n in found.sums})
        assert apart <= 0.3 * (1 + EXACT)
    masked = summed(model, spoilt, targets, 0.3, mask=others)
    assert difference(masked.sums, expected.sums) < EXACT and masked.non_finite == 0


BOUNDS = {
    "flat": Flat(0.7),
    "automatic": Automatic(max_grad_norm=0.7),
    "per layer": PerLayer(max_grad_norm=0.7),
    "per layer by size": PerLayer(max_grad_norm=0.7, allocation="dimension"),
    "grouped": Grouped(norms={"": 0.4, "0": 0.2}, noise_multipliers={"": 1.0, "0": 2.0}),
}


@each("bound, kind", product(BOUNDS.values(), ["float64", "float32", "bfloat16"]))
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
            found = clipped_sum(model, loss, x, None, bound=Flat(1.0))
            over.append(found.sums["weight"].double().norm().item() - 1)
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
        found = clipped_sum(model, loss, x, None, bound=Flat(1.0))
        assert found.sums["weight"].double().norm() <= 1


@pytest.mark.parametrize("positions", [1, 2])
def test_a_huge_input_and_a_tiny_gradient(positions):
    """Squares of float32 leave the range long before their product does."""
    model = nn.Linear(4, 4, bias=False)
    x = torch.full((1, positions, 4), 5e18)
    loss = lambda outputs, _: (outputs * 1e-23).sum((1, 2))
    found = clipped_sum(model, loss, x, None, bound=Flat(1e-5))
    assert found.sums["weight"].double().norm() <= 1e-5


def test_autocast_keeps_norms_and_sums_in_float32():
    model, inputs, targets = case("mlp", dtype=torch.float32)
    plain = summed(model, inputs, targets, 0.3)
    with torch.autocast("cpu", torch.bfloat16):
        found = summed(model, inputs, targets, 0.3)
        check(model, losses_of, inputs, targets)
    assert found.norms.dtype == torch.float32
    assert difference(found.sums, plain.sums) < 0.05  # three decimal digits in each product
    half = copy.deepcopy(model).bfloat16()
    found = summed(half, inputs.bfloat16(), targets, 0.3)
    assert found.sums["0.weight"].dtype == torch.float32
    assert difference(found.sums, plain.sums) < 0.1


def test_dropout_is_that_of_the_forward_pass():
    """With the same seed, the sum of everything is the ordinary gradient."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 9), nn.Dropout(), nn.Linear(9, 5)).double()
    inputs, targets = few_rows(torch.float64)
    torch.manual_seed(1)
    found = summed(model, inputs, targets, 1e6)
    torch.manual_seed(1)
    losses_of(model(inputs), targets).sum().backward()
    expected = {name: p.grad for name, p in model.named_parameters()}
    assert difference(found.sums, expected) < EXACT


def test_dropout_inside_attention():
    torch.manual_seed(0)
    model = Language(dropout=0.5)
    check(model, losses_of, torch.randint(0, 5, (BATCH, 7)), torch.randint(0, 5, (BATCH,)))


@pytest.mark.parametrize("name", ["mlp", "conv stride padding", "tied transformer"])
def test_no_records(name):
    """A lot can be empty: the sum is zero."""
    model, inputs, targets = case(name)
    found = summed(model, inputs[:0], targets[:0])
    assert found.examples == 0 and all(value.eq(0).all() for value in found.sums.values())


def test_frozen_parameters_cost_nothing():
    """Neither a sum nor a stored input."""
    model, inputs, targets = case("bias only")
    found = summed(model, inputs, targets)
    assert list(found.sums) == ["0.bias", "2.bias", "5.bias"]
    with recording(model) as tape:
        model(inputs)
    assert [call.args for call in tape.calls] == [(), (), ()]


def test_all_frozen():
    model = mlp().requires_grad_(False)
    found = summed(model, torch.ones(3, 8), torch.zeros(3).long())
    assert found.sums == {} and found.examples == 3 and found.norms.eq(0).all()


def test_inputs_by_name():
    torch.manual_seed(0)
    layer, x = nn.Linear(3, 5), torch.randn(4, 3)
    targets = torch.zeros(4).long()
    named = summed(layer, {"input": x}, targets)
    assert difference(named.sums, clipped(layer, x, targets, 1.0)) < 1e-5


COMPILED = ("mlp", "conv ghost 1d", "raw parameters", "tied transformer", "conv groups")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    """One graph, the same sums; and no hooks on the model."""
    model, inputs, targets = case(name)
    mask, bounds = torch.arange(BATCH) > 0, (Flat(1.0), Flat(0.3))
    sums = [clipped_sum(model, losses_of, inputs, targets, bound=b, mask=mask) for b in bounds]
    compiled = compiled_sum(model, losses_of, bound=Flat(1.0), backend="aot_eager")
    for bound, expected in zip(bounds, sums, strict=True):
        found = compiled(inputs, targets, mask, bound=bound)
        assert difference(found.sums, expected.sums) < EXACT
        assert found.examples == BATCH - 1 and found.clipped == expected.clipped
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.slow
def test_many_compiled_sums_in_one_process():
    """The compiler gives up on a function after some versions; a sweep has more models."""
    with _dynamo.config.patch(recompile_limit=1):
        for size in (1, 2, 3):
            model, bound = nn.Sequential(*(nn.Linear(3, 3) for _ in range(size))), Flat(size)
            x, targets = torch.randn(4, 3), torch.zeros(4).long()
            compiled = compiled_sum(model, losses_of, bound=bound, backend="eager")
            expected = clipped_sum(model, losses_of, x, targets, bound=bound)
            assert difference(compiled(x, targets).sums, expected.sums) < 1e-5


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8))

    def forward(self, x):
        return x * self.weight


def test_registered_rule_is_used():
    torch.manual_seed(0)
    model = nn.Sequential(Scale(), nn.Linear(8, 5)).double()
    x, targets = few_rows(torch.float64)
    expected, uses = clipped(model, x, targets, 0.3), []

    @rule(Scale)
    def _scale(module, inputs, grad):
        uses.append(module)
        return {"weight": inputs[0] * grad}

    try:
        found = summed(model, x, targets, 0.3)
    finally:
        del RULES[Scale]
    assert uses == [model[0]] and difference(found.sums, expected) < EXACT


class Doubled(nn.Linear):
    def forward(self, x):
        return super().forward(2 * x)


def test_a_subclass_that_computes_something_else_does_not_inherit_the_rule():
    torch.manual_seed(0)
    model = Doubled(8, 5).double()
    x, targets = few_rows(torch.float64)
    found = summed(model, x, targets, 0.3)
    assert difference(found.sums, clipped(model, x, targets, 0.3)) < EXACT


def test_a_parameter_outside_the_graph_is_zero():
    last = lambda model, x: (model.idle(x), model.used(x))[1]
    model = Model(last, used=nn.Linear(8, 5), idle=nn.Linear(8, 5))
    x, targets = few_rows()
    found = summed(model, x, targets, 0.3)
    assert found.sums["idle.weight"].eq(0).all() and found.sums["used.weight"].ne(0).any()


def test_an_input_that_is_overwritten_is_refused():
    def overwriting(model, x):
        hidden = x * 2
        output = model.layer(hidden)
        hidden += output.detach()
        return output[:, :5]

    model = Model(overwriting, layer=nn.Linear(8, 8))
    x, targets = few_rows()
    with pytest.raises(RuntimeError, match="in-place"):
        summed(model, x, targets)


@pytest.mark.parametrize("mask", [torch.ones(BATCH), torch.ones(BATCH - 1, dtype=torch.bool)])
def test_mask_must_be_bool_of_the_right_shape(mask):
    x, targets = few_rows()
    with pytest.raises(ValueError, match="Expected mask"):
        clipped_sum(mlp(), losses_of, x, targets, bound=Flat(1.0), mask=mask)


def test_dropout_inside_a_module_without_rule_is_refused():
    for name, layer, text in (
        ("attention weights", "attention", "randomness in MultiheadAttention"),
        ("gru", "cell", "dropout inside GRU"),
    ):
        model, inputs, targets = case(name)
        getattr(model, layer).dropout = 0.5
        with pytest.raises(NotImplementedError, match=text):
            summed(model, inputs, targets)
