"""Clipped sums compared with one record at a time, and all properties in the docstring."""

import copy
import math
from itertools import product

import pytest
import torch
from parts import BATCH, Model, losses_of
from per_record import CASES, case, difference, eights, norm
from torch import nn
from torch.utils._pytree import tree_map

from cases import each
from dplearn.training import Flat, check_model, clipped_sum, forms, plain
from dplearn.training.gradients import Gradients

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
# Norms are rounded up by a few units, so sums are slightly smaller.
EXACT = 1e-13


def summed(model, inputs, targets, max_grad_norm=1.0, **options):
    return clipped_sum(model, losses_of, inputs, targets, bound=Flat(max_grad_norm), **options)


def method(model, pair, loss_fn=losses_of):
    """Return the method that is right for these records."""
    gradients = Gradients(model, loss_fn, Flat(1.0))
    gradients.learn(pair)
    return gradients.how


def counts(part):
    """Return the numbers of records, of those scaled down and of those left out."""
    return [len(part.losses), int(part.scaled.sum()), int((~part.norms.isfinite()).sum())]


def agree(model, inputs, targets, tolerance=EXACT):
    sums = summed(model, inputs, targets, 0.5).sums
    expected = plain.clipped_sum(model, losses_of, inputs, targets, norm=0.5)
    assert difference(sums, expected) < tolerance
    assert {value.dtype for value in sums.values()} == {next(model.parameters()).dtype}


@each("name", CASES)
@pytest.mark.slow
def test_clipped_sum_equals_one_record_at_a_time_and_leaves_the_model_unchanged(name):
    model, inputs, targets = case(name)
    rows = list(plain.gradients(model, losses_of, inputs, targets))
    norms = torch.stack([norm(row) for row in rows])
    before = [(m, dict(vars(m)), len(m._forward_hooks)) for m in model.modules()]
    state = torch.get_rng_state()
    check_model(model, losses_of, inputs, targets)
    assert torch.equal(state, torch.get_rng_state())
    # Bounds that clip no record, about half of them, and all.
    for bound in (2 * norms.max().item(), norms.mean().item(), norms.min().item() / 10):
        part = summed(model, inputs, targets, bound)
        scaled = [{k: g * min(1, bound / norm(row)) for k, g in row.items()} for row in rows]
        expected = {name: sum(row[name] for row in scaled) for name in rows[0]}
        assert difference(part.sums, expected) < EXACT
        torch.testing.assert_close(part.norms, norms, rtol=EXACT, atol=0)
        assert counts(part) == [BATCH, (norms > bound).sum(), 0]
    assert norms.min() > 0
    with pytest.raises(ZeroDivisionError):
        clipped_sum(model, lambda o, t: 1 / 0, inputs, targets, bound=Flat(1.0))
    assert all(p.grad is None for p in model.parameters())
    for module, attributes, hooks in before:
        assert vars(module).keys() == attributes.keys() and len(module._forward_hooks) == hooks
    # In float32, ghost norms are rounded up by 8 T eps.
    agree(*case(name, dtype=torch.float32), tolerance=1e-4)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Lower the limits, so that convolutions run in several parts and in all forms."""
    sizes = {"_NUMBERS": 200, "_AT_ONCE": 4, "_FEW": 2, "_POSITIONS": 8, "_SMALL": 300}
    for name, value in sizes.items():
        monkeypatch.setattr(forms, name, value)


@each("name", CASES)
def test_sums_of_parts_add_up_and_an_empty_batch_adds_zero(name):
    model, inputs, targets = case(name)
    whole = summed(model, inputs, targets, 0.3)
    take = lambda rows: (tree_map(lambda x: x[rows], inputs), targets[rows])
    first, others = (summed(model, *take(rows), 0.3) for rows in (slice(2), slice(2, None)))
    together = {name: value + others.sums[name] for name, value in first.sums.items()}
    assert difference(together, whole.sums) < EXACT
    both = [sum(pair) for pair in zip(counts(first), counts(others), strict=True)]
    assert counts(first)[0] == 2 and both == counts(whole)
    if name in ("mlp", "conv stride padding", "tied transformer"):  # others fail if empty
        part = summed(model, *take(slice(0)))
        assert all(value.eq(0).all() for value in part.sums.values())
        assert counts(part) == [0, 0, 0]


# Models of integer inputs, which cannot be NaN.
WHOLE = "embedding", "tied", "look-ups"
FLOATING = [name for name in CASES if not any(word in name for word in WHOLE)]


@each("name, bad", product(FLOATING, [math.nan, math.inf, 1e200]))
@pytest.mark.slow
def test_record_with_nonfinite_gradient_adds_zero(name, bad):
    model, inputs, targets = case(name)
    spoilt = tree_map(torch.clone, inputs)
    (spoilt[0] if isinstance(spoilt, tuple) else spoilt)[1] = bad
    part = summed(model, spoilt, targets, 0.3)
    others = torch.arange(BATCH) != 1
    expected = summed(model, tree_map(lambda x: x[others], inputs), targets[others], 0.3)
    if counts(part)[2]:
        assert difference(part.sums, expected.sums) < EXACT
    else:  # 1e200 may saturate or be normalised: the gradient is finite
        assert bad == 1e200
        apart = norm({n: part.sums[n] - expected.sums[n] for n in part.sums})
        assert apart <= 0.3 * (1 + EXACT)


def test_autocast_keeps_norms_and_sums_in_float32():
    model, inputs, targets = case("mlp", dtype=torch.float32)
    plain = summed(model, inputs, targets, 0.3)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = summed(model, inputs, targets, 0.3)
        check_model(model, losses_of, inputs, targets)
    assert mixed.norms.dtype == torch.float32
    assert difference(mixed.sums, plain.sums) < 0.05  # three decimal digits in each product
    half = summed(copy.deepcopy(model).bfloat16(), inputs.bfloat16(), targets, 0.3)
    assert half.sums["0.weight"].dtype == torch.float32
    assert difference(half.sums, plain.sums) < 0.1


def test_frozen_parameters_are_not_in_the_sums():
    model, inputs, targets = case("bias only")
    assert list(summed(model, inputs, targets).sums) == ["0.bias", "2.bias", "5.bias"]
    frozen = summed(nn.Linear(8, 5).double().requires_grad_(False), *eights())
    assert frozen.sums == {} and counts(frozen) == [BATCH, 0, 0] and frozen.norms.eq(0).all()


def test_models_without_rules_use_vmap_or_else_one_pass_per_record():
    larger = lambda model, x: x.mm(model.weight) if len(x) < 9 else x @ model.weight
    squared = lambda model, x: x.mm(model.weight).square()
    deciding = lambda model, x: x.mm(model.weight) * float(x.sum() > -99)
    for forward, how in ((larger, "tape"), (squared, "vmap"), (deciding, "alone")):
        model = Model(forward, weight=nn.Parameter(torch.randn(8, 5))).double()
        assert method(model, eights()) == how
        agree(model, *eights())  # its calls may differ from those in `learn`


def test_inputs_that_a_model_overwrites_are_refused():
    def overwriting(model, x):
        hidden = x * 2
        output = model.layer(hidden)
        hidden += output.detach()
        return output[:, :5]

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        summed(Model(overwriting, layer=nn.Linear(8, 8)).double(), *eights())


HOOKS = {
    "less the mean": lambda g: g - g.mean(0),
    "of limited norm": lambda g: g / g.norm().clamp(min=1e-3),
}


@each("name", HOOKS)
def test_model_whose_backward_pass_mixes_records_is_trained_one_record_at_a_time(name):
    """The check accepts it: each record has a backward pass of its own."""

    def hooked(model, x):
        hidden = model.first(x)
        if hidden.requires_grad:
            hidden.register_hook(HOOKS[name])
        return model.last(hidden)

    model = Model(hooked, first=nn.Linear(8, 8), last=nn.Linear(8, 5)).double()
    check_model(model, losses_of, *eights())
    assert method(model, eights()) != "tape"
    agree(model, *eights())
