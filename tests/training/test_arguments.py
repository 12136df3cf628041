"""Arguments of a module that all records share are never cut into rows, whatever their size."""

import copy

import pytest
import torch
from per_record import BATCH, Model, difference, losses_of
from torch import nn

from cases import each
from dplearn.training import Flat, check, clipped_sum, plain
from dplearn.training.gradients import Clip, compiled_sum


class Mixing(nn.Module):
    """Weights of its own around a matrix that all records share, and one for each of them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 5))

    def forward(self, x, shared, *, own=None):
        values = x @ self.weight
        mixed = shared @ values if shared.shape[1] > 1 else shared * values
        return mixed if own is None else mixed * own


def graph(model, x):
    """A graph convolution: the adjacency matrix has as many rows as the batch."""
    return model.layer(x, torch.ones(BATCH, BATCH, dtype=x.dtype).tril()).mean(1)


def window(model, x):
    """A window over positions, and a factor for each record."""
    places = torch.linspace(0, 1, BATCH, dtype=x.dtype)[:, None]
    return model.layer(x, places, own=x[:, :1, :1]).sum(1)


def attention(mask):
    def forward(model, x):
        output, weights = model.layer(x, x, x, attn_mask=mask(x), need_weights=True)
        return output[:, 0, :5] + weights.sum((1, 2))[:, None]

    return Model(forward, layer=nn.MultiheadAttention(8, 2, batch_first=True))


causal = lambda x: torch.ones(BATCH, BATCH, dtype=torch.bool).triu(1)
per_head = lambda x: torch.sin(x[:, :, :1] + x[:, None, :, 0]).repeat_interleave(2, 0)
MODELS = {
    "adjacency": lambda: Model(graph, layer=Mixing()),
    "window": lambda: Model(window, layer=Mixing()),
    "causal mask": lambda: attention(causal),
    "mask of each head": lambda: attention(per_head),
}


@each("name", MODELS)
def test_what_all_share_is_not_cut_where_it_has_as_many_rows_as_the_batch(name):
    torch.manual_seed(0)
    model, x = MODELS[name]().double(), torch.randn(BATCH, BATCH, 8).double()
    targets = torch.zeros(BATCH, dtype=torch.long)
    expected = plain.clipped_sum(model, losses_of, x, targets, norm=1e9)
    bound = Flat(1e9)
    for checked in (False, True):  # it learns by itself, or from the check
        twin = copy.deepcopy(model)
        if checked:
            check(twin, losses_of, x, targets)
        sums = clipped_sum(twin, losses_of, x, targets, bound=bound).sums
        assert difference(sums, expected) < 1e-12


@pytest.mark.slow
def test_compiled():
    model, x = MODELS["adjacency"]().double(), torch.randn(BATCH, BATCH, 8).double()
    targets = torch.zeros(BATCH, dtype=torch.long)
    expected = clipped_sum(model, losses_of, x, targets, bound=Flat(1.0)).sums
    compiled = compiled_sum(model, losses_of, bound=Flat(1.0), backend="aot_eager")
    clip = Clip.of(model, Flat(1.0))
    assert difference(compiled(x, targets, clip=clip).sums, expected) < 1e-12


def test_an_argument_that_follows_the_records_now_and_then_is_refused():
    def undecided(model, x):
        fixed = torch.ones(BATCH, 5, dtype=x.dtype)
        first = model.layer(x[:, 0], torch.eye(len(x), dtype=x.dtype))
        return first + model.layer(x[:, 0], fixed[: len(x)] if len(x) > 3 else fixed[:3])

    class Added(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(8, 5))

        def forward(self, x, other):
            return x @ self.weight + other.sum()

    x = torch.randn(BATCH, BATCH, 8)
    with pytest.raises(NotImplementedError, match="argument of 'layer'"):
        clipped_sum(
            Model(undecided, layer=Added()), losses_of, x, torch.zeros(BATCH).long(), bound=Flat(1)
        )
