"""What mixes records is refused, by name or by experiment, and the error says what to do."""

import pytest
import torch
import torch.nn.functional as F
from per_record import BATCH, Model, eights, losses_of
from torch import nn

from cases import each
from dplearn.training import Flat, check, clipped_sum

INPUTS, TARGETS = eights(dtype=torch.float32)


def refused(model, inputs, *, match, error=ValueError, loss_fn=losses_of, targets=TARGETS):
    """The check stops this model."""
    with pytest.raises(error, match=match):
        check(model, loss_fn, inputs, targets)


@each(
    "layer, match",
    [
        (nn.BatchNorm2d(4), r"BatchNorm2d \(0\) .* nn.GroupNorm"),
        (nn.BatchNorm2d(4, affine=False), "GroupNorm"),
        (nn.BatchNorm2d(4, track_running_stats=False).eval(), "GroupNorm"),
        (nn.SyncBatchNorm(4), "GroupNorm"),
        (nn.InstanceNorm2d(4, track_running_stats=True), "track_running_stats=False"),
        (nn.Embedding(9, 5, sparse=True), "not with sparse"),
        (nn.Embedding(9, 5, scale_grad_by_freq=True), "not with scale_grad_by_freq"),
        (nn.Embedding(9, 5, max_norm=1), "not with max_norm"),
        (nn.EmbeddingBag(9, 5, sparse=True), "not with sparse"),
        # It would not call our hooks: every sum would be zero.
        (torch.compile(nn.Linear(8, 5), backend="eager"), "compile=True"),
    ],
)
def test_known_mixers_are_refused_by_name(layer, match):
    model = nn.Sequential(layer)
    refused(model, TARGETS, match=match, error=NotImplementedError)
    with pytest.raises(NotImplementedError, match=match):
        clipped_sum(model, losses_of, TARGETS, TARGETS, bound=Flat(1.0))


@each(
    "mix",
    [
        lambda y: y - y.mean(0).detach(),  # no gradient tells
        lambda y: y.flip(0).cumsum(0).flip(0),  # only from later records
        lambda y: y.cumsum(0),  # only from earlier ones
        lambda y: y + 1e-12 * y.sum(0),
    ],
)
def test_unknown_mixers_are_discovered(mix):
    model = Model(lambda model, x: mix(model.layer(x)), layer=nn.Linear(8, 5))
    refused(model, INPUTS, match="not to depend on others|to be separate")


def test_a_loss_that_mixes_or_is_a_mean():
    loss = lambda outputs, targets: losses_of(outputs, targets) / BATCH + outputs.mean()
    model, match = nn.Linear(8, 5), r'one loss per record.*reduction="none"'
    refused(model, INPUTS, match="depend", loss_fn=loss)
    refused(model, INPUTS, match=match, loss_fn=F.cross_entropy)
    with pytest.raises(ValueError, match=match):
        clipped_sum(model, F.cross_entropy, INPUTS, TARGETS, bound=Flat(1.0))


@each("length", [BATCH, BATCH + 1])
def test_the_batch_is_the_first_dimension(length):
    """Also where the sequence happens to be as long as the batch."""
    x, _ = eights(length, dtype=torch.float32)
    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=False)
    model = Model(lambda model, x: model.layer(x.transpose(0, 1)), layer=layer)
    head = lambda outputs, _: outputs.transpose(0, 1).square().sum((1, 2))
    match = r"first dimension is not the batch|batch_first=True"
    refused(model, x, match=match, loss_fn=head, targets=None)
    shared = lambda model, x: model.head(x + model.embed(torch.arange(length))).sum(1)
    model = Model(shared, embed=nn.Embedding(length, 8), head=nn.Linear(8, 5))
    refused(model, x, match="first dimension is not the batch|expand what all records share")


def test_a_parameter_used_elsewhere_a_buffer_that_keeps_data_and_a_single_record():
    tied = lambda model, x: F.linear(model.embed(x), model.embed.weight)
    model = Model(tied, embed=nn.Embedding(5, 8))
    refused(model, TARGETS, match=r"'embed.weight' to be the sum over records.*outside")

    def remembering(model, x):
        model.mean.lerp_(x.mean(0).detach(), 0.1)
        return model.layer(x)

    model = Model(remembering, layer=nn.Linear(8, 5))
    model.register_buffer("mean", torch.zeros(8))
    refused(model, INPUTS, match="'mean' changed")
    refused(model.layer, INPUTS[:1], match="two records", targets=TARGETS[:1])
