"""Clipped sums equal sums over one record at a time, for many models and all methods."""

import math
from functools import partial
from itertools import product

import layers
import parts
import pytest
import torch
from good_models import EXACT, attention, vision
from parts import BATCH, CLASSES, Model, built, by, numbers, of, part
from torch import Tensor, nn
from torch.utils._pytree import tree_map, tree_map_only

from cases import each
from dplearn.training import Flat, check_model, clipped_sum, plain
from dplearn.training.gradients import Gradients

pytestmark = pytest.mark.filterwarnings(
    "ignore:Using padding='same' with even kernel", "ignore:Each record takes a pass"
)
# Relative tolerance in float64: norms are rounded up by a few units, so sums are smaller.
EXACTLY = 1e-13
# Method of gradients for models whose calls do not all have rules.
HOW = {
    **dict.fromkeys(("children in place", "words first", "bags", "without a rule"), "vmap"),
    **dict.fromkeys(("gradients less their mean", "gradients of limited norm"), "vmap"),
    "look-ups for all records, in eval mode": "vmap",
    "convolution, ConvTranspose2d(4, 3, kernel_size=(2, 2), stride=(2, 2))": "vmap",
    **dict.fromkeys(("condition on data", "slope", "attention, other sizes"), "alone"),
}


def method(model, loss_fn, *pair):
    """Return the name of the method that computes a model's gradients."""
    gradients = Gradients(model, loss_fn, Flat(1.0))
    gradients.learn(pair)
    return gradients.how


task = lambda name, dtype=torch.float64: built(EXACT[name], dtype=dtype)


def summed(task, norm=1.0):
    return clipped_sum(*task, bound=Flat(norm))


def rows(task, index):
    """Return a task with some of its records."""
    return *task[:2], *tree_map(lambda x: x[index], task[2:])


def length(gradient):
    return torch.stack([g.norm() for g in gradient.values()]).norm()


def difference(sums, expected):
    assert sums.keys() == expected.keys()
    apart = length({name: sums[name] - expected[name] for name in sums})
    return (apart / length(expected).clamp(min=1e-300)).item()


def counts(part):
    """Return the numbers of records, of gradients scaled down and of gradients left out."""
    (_, _, scaled), (_, finite, size) = part.tally.tolist()
    return [int(size), int(scaled), int(size - finite)]


def assert_right(task, *, how="", tolerance=EXACTLY, clip=(2.0, 1.0, 0.1)):
    """Check norms and clipped sums, with bounds that clip none, about half or all records."""
    assert how in ("", method(*task))
    each = list(plain.gradients(*task))
    norms = torch.stack([length(row) for row in each])
    sizes = norms.max(), norms.mean(), norms[norms > 0].min()
    for factor, size in zip(clip, sizes, strict=False):
        bound = factor * size.item()
        part = summed(task, bound)
        scaled = [{k: g * min(1, bound / length(row)) for k, g in row.items()} for row in each]
        expected = {name: sum(row[name] for row in scaled) for name in each[0]}
        assert difference(part.sums, expected) < tolerance
        underflow = torch.finfo(norms.dtype).tiny ** 0.45
        torch.testing.assert_close(part.norms, norms, rtol=tolerance, atol=underflow)
        assert counts(part) == [BATCH, (norms > bound).sum(), 0]
        assert {value.dtype for value in part.sums.values()} == {norms.dtype}


@each("name", EXACT)
@pytest.mark.slow
def test_clipped_sum_equals_sum_over_single_records_and_leaves_the_model_unchanged(name):
    model, _, *pair = own = task(name)
    before = [(m, set(vars(m)), len(m._forward_hooks)) for m in model.modules()]
    assert_right(own, how=HOW.get(name, "tape"))
    with pytest.raises(ZeroDivisionError):
        clipped_sum(model, lambda o, t: 1 / 0, *pair, bound=Flat(1.0))
    assert all(p.grad is None for p in model.parameters())
    assert before == [(m, set(vars(m)), len(m._forward_hooks)) for m in model.modules()]
    # In float32, ghost norms are rounded up by 8 T eps.
    assert_right(task(name, torch.float32), tolerance=1e-4, clip=[0.5])


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Lower the limits, so that convolutions run in several parts and in all forms."""
    sizes = {"_NUMBERS": 200, "_AT_ONCE": 4, "_FEW": 2, "_POSITIONS": 8, "_SMALL": 300}
    for name, value in sizes.items():
        monkeypatch.setattr(f"dplearn.training.layers.{name}", value)


@each("name", EXACT)
def test_clipped_sums_of_micro_batches_add_up_and_an_empty_batch_adds_zero(name):
    own = task(name)
    whole, first, others = (summed(rows(own, i), 0.3) for i in (..., slice(2), slice(2, None)))
    together = {name: value + others.sums[name] for name, value in first.sums.items()}
    assert difference(together, whole.sums) < EXACTLY
    both = [sum(pair) for pair in zip(counts(first), counts(others), strict=True)]
    assert counts(first)[0] == 2 and both == counts(whole)
    if name in ("mlp", "stride and padding", "language, tied"):  # other models refuse empty batches
        part = summed(rows(own, slice(0)))
        assert all(value.eq(0).all() for value in part.sums.values())
        assert counts(part) == [0, 0, 0]


@each("name, bad", product(EXACT, [math.nan, math.inf, 1e200]))
@pytest.mark.slow
def test_record_with_nonfinite_gradient_adds_zero(name, bad):
    own = task(name)
    spoil = lambda x: x.index_fill(0, torch.tensor(1), bad) if x.is_floating_point() else x
    spoilt = *own[:2], tree_map_only(Tensor, spoil, own[2]), own[3]
    part = summed(spoilt, 0.3)
    expected = summed(rows(own, torch.arange(BATCH) != 1), 0.3)
    if counts(part)[2]:
        assert difference(part.sums, expected.sums) < EXACTLY
    else:  # inputs may be integers, and 1e200 may saturate or be normalised
        assert bad == 1e200 or part.losses.isfinite().all()
        apart = length({n: part.sums[n] - expected.sums[n] for n in part.sums})
        assert apart <= 0.3 * (1 + EXACTLY)


def test_nan_record_leaves_gradients_of_others_finite_in_bfloat16():
    """On CPUs with AMX, products by oneDNN with an odd inner size write NaN into other rows too."""
    model, x = nn.Sequential(nn.Linear(7, 40), nn.Linear(40, CLASSES)), torch.randn(32, 7)
    x[1] = math.nan
    targets = torch.zeros(32).long()
    with torch.autocast("cpu", torch.bfloat16):
        autocast = clipped_sum(model, parts.losses_of, x, targets, bound=Flat(1.0))
    pair = x.bfloat16(), targets
    typed = clipped_sum(model.bfloat16(), parts.losses_of, *pair, bound=Flat(1.0))
    assert autocast.norms.isfinite().sum() == typed.norms.isfinite().sum() == 31


def test_autocast_keeps_norms_and_sums_in_float32():
    own = task("mlp", torch.float32)
    expected = summed(own, 0.3)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = summed(own, 0.3)
        check_model(*own)
    half = summed(task("mlp", torch.bfloat16), 0.3)
    for own, tolerance in ((mixed, 0.05), (half, 0.1)):  # bfloat16 has three digits
        assert own.norms.dtype == own.sums["0.weight"].dtype == torch.float32
        assert difference(own.sums, expected.sums) < tolerance


def test_model_that_overwrites_the_input_of_a_layer_is_refused():
    def overwriting(model, x):
        hidden = x * 2
        output = model.layer(hidden)
        hidden += output.detach()
        return output[:, :CLASSES]

    own = part(Model(overwriting, layer=nn.Linear(8, 8)))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        summed(own)


@pytest.mark.slow
def test_gradients_use_the_dropout_of_the_forward_pass():
    """With equal random numbers, sums give the losses' slope, known from central differences."""
    last = lambda m, x: m.head(m.layer(x)[0][:, -1])
    recurrent = nn.LSTM(8, 8, 2, dropout=0.5, batch_first=True)
    for make in (
        lambda: by(last, numbers(3, 8), layer=recurrent),
        lambda: attention(dropout=0.5),
        lambda: attention(weights=True, dropout=0.5),
        lambda: of(vision(0.5), x=numbers(3, 8)),
    ):
        own = built(make, dtype=torch.float64)
        check_model(*own)
        trained = dict(own[0].named_parameters())
        move = {name: torch.randn_like(p) for name, p in trained.items()}

        def moved(step, own=own, trained=trained, move=move):
            for name, p in trained.items():
                p.data += step * move[name]
            torch.manual_seed(1)
            return summed(own, 1e9)

        part = moved(0)
        slope = (moved(1e-5).losses.sum() - moved(-2e-5).losses.sum()) / 2e-5
        assert slope == pytest.approx(sum((part.sums[n] * d).sum() for n, d in move.items()), 1e-6)


KINDS = {
    "rule": """BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d Embedding GRU GroupNorm
        InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LayerNorm Linear MultiheadAttention
        RMSNorm RNN SyncBatchNorm""",
    "vmap": """Bilinear ConvTranspose1d ConvTranspose2d ConvTranspose3d EmbeddingBag
        LinearCrossEntropyLoss PReLU""",
    "alone": "AdaptiveLogSoftmaxWithLoss GRUCell LSTMCell RNNCell",
    "parts": "Transformer TransformerDecoderLayer TransformerEncoderLayer",
}


@pytest.mark.slow
def test_every_torch_module_uses_its_listed_method_and_has_correct_per_example_gradients():
    kinds = {name: kind for kind, names in KINDS.items() for name in names.split()}
    assert kinds.keys() == layers.modules().keys() == layers.LAYERS.keys()
    loss_fn = lambda outputs, targets: layers.losses(outputs, len(targets))
    for name, kind in kinds.items():
        torch.manual_seed(0)
        module, inputs = layers.LAYERS[name](BATCH, 4)
        own = built(partial(tuple, (module, loss_fn, inputs, inputs[0])), dtype=torch.float64)
        assert layers.kind(module, own[2]) == kind, name
        assert_right(own, tolerance=1e-12)


def test_gradient_of_one_record_does_not_reach_another_through_the_model():
    def carried(m, x):
        outputs = m.layer(x)
        last, m.last = m.last, outputs.sum()
        return outputs + last - last.detach()

    model = Model(carried, layer=nn.Linear(8, CLASSES), last=torch.zeros(()))
    gradients = Gradients(model, parts.losses_of, Flat(1.0))
    gradients.how = "alone"
    with pytest.raises(RuntimeError, match="a second time"):
        gradients.add((numbers(8), torch.zeros(BATCH).long()), gradients.zeros())


def test_lot_with_calls_that_no_rule_was_chosen_for_warns():
    model, loss_fn, x, y = task("other calls in large lots")
    gradients = Gradients(model, loss_fn, Flat(1.0))
    gradients.learn((x, y))
    with pytest.warns(UserWarning, match="a pass of its own"):
        gradients.add((x[:5], y[:5]), gradients.zeros())


def test_no_gradient_method_is_chosen_when_memory_runs_out(monkeypatch):
    def fails(*_):
        raise torch.OutOfMemoryError

    gradients = Gradients(parts.small_model(), parts.CROSS_ENTROPY, Flat(1.0))
    with monkeypatch.context() as context, pytest.raises(torch.OutOfMemoryError):
        context.setattr(Gradients, "_is_right", fails)
        gradients.add(parts.small_data(), gradients.zeros())
    assert gradients.how == ""
