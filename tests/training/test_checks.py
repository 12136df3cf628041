"""What mixes records is refused, by name or by experiment, and the error says what to do."""

import pytest
import torch
import torch.nn.functional as F
from per_record import BATCH, Model, losses_of
from torch import nn

from cases import each
from dplearn.training import Flat, check, clipped_sum

TARGETS = torch.zeros(BATCH, dtype=torch.long)


def refused(model, inputs, *, match, error=ValueError, loss_fn=losses_of):
    """The check stops this model."""
    with pytest.raises(error, match=match):
        check(model, loss_fn, inputs, TARGETS)


def pictures():
    torch.manual_seed(0)
    return torch.randn(BATCH, 4, 5, 5)


@each(
    "layer, match",
    [
        (nn.BatchNorm2d(4), r"BatchNorm2d \(0\) .* nn.GroupNorm"),
        (nn.BatchNorm2d(4, affine=False), "GroupNorm"),
        (nn.BatchNorm2d(4, track_running_stats=False).eval(), "GroupNorm"),
        (nn.SyncBatchNorm(4), "GroupNorm"),
        (nn.LazyBatchNorm2d(), "GroupNorm"),
        (nn.InstanceNorm2d(4, track_running_stats=True), "track_running_stats=False"),
    ],
)
def test_known_mixers_are_refused_by_name_wherever_sums_are_taken(layer, match):
    model = nn.Sequential(layer, nn.Flatten(), nn.Linear(100, 5))
    refused(model, pictures(), match=match, error=NotImplementedError)
    with pytest.raises(NotImplementedError, match=match):
        clipped_sum(model, losses_of, pictures(), TARGETS, bound=Flat(1.0))


@each(
    "model, inputs, match",
    [
        (nn.Embedding(9, 5, sparse=True), TARGETS, "not with sparse"),
        (nn.Embedding(9, 5, scale_grad_by_freq=True), TARGETS, "not with scale_grad_by_freq"),
        (nn.Embedding(9, 5, max_norm=1), TARGETS, "not with max_norm"),
        (nn.EmbeddingBag(9, 5), TARGETS[:, None], "Use nn.Embedding"),
        # Compiled before, it would not call our hooks: every sum would be zero.
        (torch.compile(nn.Linear(8, 5), backend="eager"), torch.randn(BATCH, 8), "compile=True"),
    ],
)
def test_what_else_is_refused_by_name(model, inputs, match):
    refused(model, inputs, match=match, error=NotImplementedError)


MIXERS = {
    "mean over the batch": lambda y: y - y.mean(0),
    "mean without gradient": lambda y: y - y.mean(0).detach(),
    "only from later records": lambda y: y.flip(0).cumsum(0).flip(0),
    "only from earlier records": lambda y: y.cumsum(0),
    "tiny": lambda y: y + 1e-12 * y.sum(0),
    "attention over the batch": lambda y: torch.softmax(y @ y.T, 1) @ y,
}


@each("name", MIXERS)
def test_unknown_mixers_are_found(name):
    mix = MIXERS[name]
    torch.manual_seed(0)
    model = Model(lambda model, x: mix(model.layer(x)), layer=nn.Linear(8, 5))
    refused(model, torch.randn(BATCH, 8), match="not to depend on others|to be separate")


def test_a_loss_that_mixes():
    loss = lambda outputs, targets: losses_of(outputs, targets) / BATCH + outputs.mean()
    refused(nn.Linear(8, 5), torch.randn(BATCH, 8), match="depend", loss_fn=loss)


def test_a_mean_loss():
    x = torch.randn(BATCH, 8)
    for call in (check, lambda *args: clipped_sum(*args, bound=Flat(1.0))):
        with pytest.raises(ValueError, match=r'one loss per record.*reduction="none"'):
            call(nn.Linear(8, 5), F.cross_entropy, x, TARGETS)


@each("length", [BATCH, BATCH + 1])
def test_the_batch_is_the_first_dimension(length):
    """Also where the sequence happens to be as long as the batch."""
    torch.manual_seed(0)
    x = torch.randn(BATCH, length, 8)
    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=False)
    model = Model(lambda model, x: model.layer(x.transpose(0, 1)), layer=layer)
    head = lambda outputs, _: outputs.transpose(0, 1).square().sum((1, 2))
    with pytest.raises(ValueError, match=r"first dimension is not the batch|batch_first=True"):
        check(model, head, x, None)


@each("length", [BATCH, BATCH + 1])
def test_positions_that_all_records_share(length):
    shared = lambda model, x: model.head(x + model.embed(torch.arange(length))).sum(1)
    model = Model(shared, embed=nn.Embedding(length, 8), head=nn.Linear(8, 5))
    x = torch.randn(BATCH, length, 8)
    refused(model, x, match="first dimension is not the batch|expand what all records share")


def test_a_parameter_used_elsewhere_is_named():
    tied = lambda model, x: F.linear(model.embed(x), model.embed.weight)
    model = Model(tied, embed=nn.Embedding(5, 8))
    refused(model, TARGETS, match=r"'embed.weight' to be the sum over records.*outside")
    model = nn.utils.parametrizations.weight_norm(nn.Linear(8, 5))
    refused(model, torch.randn(BATCH, 8), match="parametrizations.weight")


def test_a_buffer_that_keeps_data():
    def remembering(model, x):
        model.mean.lerp_(x.mean(0).detach(), 0.1)
        return model.layer(x)

    model = Model(remembering, layer=nn.Linear(8, 5))
    model.register_buffer("mean", torch.zeros(8))
    refused(model, torch.randn(BATCH, 8), match="'mean' changed")


def test_one_record_is_not_enough():
    with pytest.raises(ValueError, match="two records"):
        check(nn.Linear(8, 5), losses_of, torch.randn(1, 8), TARGETS[:1])
