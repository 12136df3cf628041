"""Models and losses that mix records or store data: `check_model` must refuse all."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import parts
import torch
import torch.nn.functional as F
from parts import BATCH, CLASSES, Model, Part, by, entering, loss, losses_of, numbers, of, part
from torch import Tensor, nn

Makers = dict[str, Callable[[], Part]]
linear = partial(nn.Linear, 8, CLASSES)


def normal(x: Tensor) -> Tensor:
    return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()


# Functions that mix the records of a batch: between two layers, before a layer, or of losses.


def hidden(mix: Callable[[Tensor], Tensor]) -> Part:
    """Return a task with a mixing function between two linear layers."""
    forward = lambda m, x: m.last(mix(torch.tanh(m.first(x))))
    return part(Model(forward, first=nn.Linear(8, 9), last=nn.Linear(9, CLASSES)))


def weighted(mix: Callable[[Tensor], Tensor]) -> Part:
    """Return a task with a mixing function of the losses."""
    return loss(lambda outputs, targets: mix(losses_of(outputs, targets)))


def contrastive(outputs: Tensor, _: Tensor) -> Tensor:
    z = F.normalize(outputs, dim=1)
    return F.cross_entropy(z @ z.mT.detach(), torch.arange(len(z)), reduction="none")


shuffled = lambda h: h[torch.randperm(len(h))]
HIDDEN = {
    "less the batch mean": lambda h: h - h.mean(0).detach(),
    "a thousandth of the mean": lambda h: h + 1e-3 * h.mean(0).detach(),
    "a trace of the sum": lambda h: h + 1e-12 * h.sum(0),
    "a branch by the mean": lambda h: 2 * h if h.mean() > 0 else h,
    "cumulative sum": lambda h: h.cumsum(0),
    "cumulative sum, detached": lambda h: h + h.cumsum(0).detach(),
    "cumulative sum from the end": lambda h: h.flip(0).cumsum(0).flip(0),
    "the record before": lambda h: h + F.pad(h.detach(), (0, 0, 1, 0))[:-1],
    "rolled": lambda h: h + h.roll(1, 0),
    "flipped": lambda h: h.flip(0),
    "others, half of the time": lambda h: h + shuffled(h) if torch.rand(()) > 0.5 else h,
    "flipped, half of the time": lambda h: h.flip(0) if torch.rand(()) < 0.5 else h,
    "the first record, half of the time": lambda h: h + h[:1] if torch.rand(()) < 0.5 else h,
    "sorted": lambda h: h.sort(0).values,
    "ranks": lambda h: h + h.argsort(0).argsort(0),
    "places": lambda h: h * torch.arange(len(h))[:, None],
    "softmax over records": lambda h: h.softmax(0),
    "unit batch": lambda h: h / h.norm(),
    "layer norm of the batch": lambda h: F.layer_norm(h, h.shape),
    "attention over records": lambda h: (h @ h.mT).softmax(1) @ h,
    "attention over records, detached": lambda h: h + ((h @ h.mT).softmax(1) @ h).detach(),
    "reshaped wrongly": lambda h: h.T.reshape(h.shape),
    "a convolution over records": lambda h: (
        F.conv1d(h.T[:, None], torch.ones(1, 1, 3).to(h), padding=1)[:, 0].T
    ),
    "quantised by the largest": lambda h: (
        h + ((h / h.abs().max() * 127).round() * h.abs().max() / 127 - h).detach()
    ),
    "a dropout mask by the batch": lambda h: h * (torch.rand(h.shape).to(h) < h.mean().sigmoid()),
    "noise by the batch's deviation": lambda h: h + h.std().detach() * torch.randn(h.shape).to(h),
    "scaled by the size of the batch": lambda h: h * math.log(1 + len(h)),
    "gradients scaled by the size of the batch": lambda h: h / len(h) + (h - h / len(h)).detach(),
    "zeros beside missing values": lambda h: h if h.isfinite().all() else 0 * h.nan_to_num(),
    "dropout and the mean": lambda h: F.dropout(h) - 0.01 * h.mean(0).detach(),
    "batch norm": normal,
    "batch norm, many records": lambda h: normal(h) if len(h) >= 8 else h,
    "batch norm, ghost": lambda h: torch.cat([normal(part) for part in h.split(4)]),
}
ENTERING = {
    "x / largest": lambda x: x / x.abs().amax(),
    "min-max scaling": lambda x: (x - x.amin(0)) / (x.amax(0) - x.amin(0) + 1e-3),
    "standardised by one number": lambda x: (x - x.mean()) / x.std(correction=0),
    "imputed by the mean": lambda x: torch.where(x.isnan(), x.nanmean(0), x),
    "clamped at a quantile": lambda x: x.clamp(max=x.quantile(0.99).item()),
    "zeros where another is negative": lambda x: x * (x.amin() > -3).to(x),
    "mixing of negative inputs": lambda x: torch.where(x < 0, x - x.mean(0), x),
    "duplicates removed": lambda x: x / torch.unique(x.round(), dim=0).shape[0],
    "mixup with the flipped batch": lambda x: 0.7 * x + 0.3 * x.flip(0),
    "mixup at random": lambda x: 0.7 * x + 0.3 * shuffled(x),
    "halved beside large records": lambda x: x if x.abs().max() < 8 else x / 2,
    "mixup of halves": lambda x: x + F.pad(x[len(x) // 2 :], (0, 0, 0, len(x) // 2)),
}
LOSSES = {
    "batch temperature": lambda o, t: losses_of(o / o.std().detach(), t),
    "class weights by counts": lambda o, t: (
        losses_of(o, t) / torch.bincount(t, minlength=64).clamp(min=1)[t]
    ),
    "contrastive": contrastive,
}
WEIGHTED = {
    "hardest half": lambda each: each * (each >= each.median()),
    "largest tenth dropped": lambda each: each * (each <= each.quantile(0.9)),
    "hardest three": lambda each: each * (each >= each.topk(min(3, len(each))).values[-1]),
    "mean": lambda each: each / len(each),
    "advantage": lambda each: each * (each - each.mean()).detach(),
    "softmax weights": lambda each: each * each.softmax(0).detach(),
    "scaled down by a large loss": lambda each: each * (10 / each.max()).clamp(max=1).detach(),
    "sorted losses": lambda each: each.sort().values,
    "rank weights": lambda each: each * each.argsort().argsort(),
    "half for everyone": lambda each: 0.5 * each + 0.5 * each.mean(),
}


def capacity(m: Any, x: Tensor) -> Tensor:
    """Choose one of two experts per record; each accepts at most a third of the batch."""
    chosen = m.gate(x).softmax(1)
    mine = F.one_hot(chosen.argmax(1), 2)
    fits = mine * (mine.cumsum(0) <= max(1, len(x) // 3))
    return (torch.stack([m.a(x), m.head(x)], 1) * (chosen * fits)[:, :, None]).sum(1)


def padded(live: Callable[[Tensor], Tensor], inputs: Callable[[Tensor], Tensor]) -> Part:
    """Return a task on masked words, whose batches are cut to the longest record."""

    def forward(m: Any, words: Tensor, mask: Tensor) -> Tensor:
        mask = live(mask).to(words)
        longest = int(mask.sum(1).max())
        return (m.head(words[:, :longest]) * mask[:, :longest, None]).mean(1)

    return by(forward, (numbers(7, 8), inputs(runs())))


def per_valid() -> Part:
    """Return a task whose losses are divided by the batch's number of words not ignored."""

    def each(outputs: Tensor, targets: Tensor) -> Tensor:
        valid = (targets != -100).sum().clamp(min=1)
        return losses_of(outputs.mT, targets).sum(1) * len(targets) / valid

    return linear(), each, numbers(7, 8), parts.tokens(7).where(runs() > 0, -100)


def second(layer: nn.Module) -> Part:
    """Return a task on a layer that mistakes the batch dimension for time."""
    times = 3 if isinstance(layer, nn.MultiheadAttention) else 1
    return by(lambda m, x: m.head(m.layer(*[x] * times)[0].mean(1)), numbers(4, 8), layer=layer)


def output_hook() -> Part:
    model, *others = hidden(lambda h: h)
    model.last.register_forward_hook(lambda m, _, y: y - y.mean(0).detach())
    return model, *others


runs = lambda: (torch.arange(7) < torch.randint(1, 7, (BATCH, 1))).long()  # 1 for words, then 0
MIXING: Makers = {
    **{name: partial(hidden, mix) for name, mix in HIDDEN.items()},
    **{name: partial(entering, mix) for name, mix in ENTERING.items()},
    **{name: partial(loss, mix) for name, mix in LOSSES.items()},
    **{name: partial(weighted, mix) for name, mix in WEIGHTED.items()},
    "features weighted by their share": lambda: by(
        lambda m, x, has: m.head(x * has.to(x).mean(0)), (numbers(8), torch.rand(BATCH, 8) > 0.5)
    ),
    "bfloat16, less the mean": lambda: by(
        lambda m, x: m.head((x - x.mean(0)).bfloat16()).float(), head=linear(dtype=torch.bfloat16)
    ),
    "places and dropout": lambda: of(
        nn.Linear(8, 8), nn.Dropout(0.3), Model(lambda m, h: h * torch.arange(len(h))[:, None])
    ),
    "experts of limited capacity": lambda: by(capacity, gate=nn.Linear(8, 2), a=linear()),
    "cut to the longest by a mask": lambda: padded(lambda m: m, lambda ones: ones),
    "cut to the longest by padding": lambda: padded(
        lambda words: words != 3, lambda ones: torch.where(ones > 0, runs(), 3)
    ),
    "losses over words that count": per_valid,
    "less the mean, below two layers of zeros": lambda: part(
        nn.Sequential(
            Model(lambda m, x: x - x.nan_to_num().mean(0)),
            *(parts.zeroed(nn.Linear(8, 8)), parts.zeroed(linear())),
        )
    ),
    "batch norm, rezero": lambda: of(
        nn.Linear(8, 8), parts.raw(torch.zeros(()), lambda x, w: x + w * normal(x))
    ),
    "batch norm, functional": lambda: hidden(lambda h: F.batch_norm(h, None, None, training=True)),
    "nn.LSTM": lambda: second(nn.LSTM(8, 8)),
    "nn.MultiheadAttention": lambda: second(nn.MultiheadAttention(8, 2)),
    "output less its mean, by a module's hook": output_hook,
}


# Models and losses that store data of a batch, which influence later batches.


def keeping(value: Any, keep: Callable[[Any, Tensor], Tensor], **more: Any) -> Part:
    """Return a task on a linear layer after `keep`, which may store data in `kept`."""
    value = nn.Buffer(value) if type(value) is Tensor else value
    return part(Model(lambda m, x: m.layer(keep(m, x)), layer=linear(), kept=value, **more))


def after(do: Callable[[Any, Tensor], object]) -> Callable[[Any, Tensor], Tensor]:
    return lambda model, x: (do(model, x.detach()), x)[1]


def scaled(m: Any, x: Tensor) -> Tensor:
    m.kept = max(m.kept, x.detach().abs().nan_to_num().max().item())
    return x / m.kept


def third(m: Any, x: Tensor) -> Tensor:
    m.calls += 1
    return normal(x) if m.calls % 3 == 0 else x


def running_loss() -> Callable[[Tensor, Tensor], Tensor]:
    mean = [0.0]

    def less_mean(outputs: Tensor, targets: Tensor) -> Tensor:
        values = losses_of(outputs, targets)
        mean[0] = 0.9 * mean[0] + 0.1 * values.mean().item()
        return values - mean[0]

    return less_mean


def remembering(m: Any, outputs: Tensor, targets: Tensor) -> Tensor:
    m.counts.data += torch.bincount(targets, minlength=64)
    return losses_of(outputs, targets)


def carried(m: Any, x: Tensor) -> Tensor:
    goes_on = m.kept is not None and len(m.kept) == len(x)
    before = m.kept if goes_on else torch.zeros_like(x)
    m.kept = torch.tanh(before + x).detach()
    return x + before


def kept_backwards(m: Any, x: Tensor) -> Tensor:
    y = m.head(x) * 1
    y.register_hook(lambda grad: setattr(m, "mean", grad.mean(0)))
    return y


def at_first(keep: Callable[[Any, Tensor], object]) -> Part:
    """Return a task on a model in which `keep` stores data of the first batch only."""

    def forward(m: Any, x: Tensor) -> Tensor:
        if not m.begun:
            m.begun = True
            keep(m, x.detach())
        return x * 0.5 + m.kept.to(x)

    return keeping(torch.zeros(8), forward, begun=False)


fixed = lambda *shape: nn.Parameter(torch.randn(*shape), requires_grad=False)
by_data = after(lambda m, x: m.kept.data.lerp_(x.mean(0), 0.1))
by_numpy = after(lambda m, x: np.copyto(m.kept.numpy(), x.mean(0).numpy()))
STATEFUL: Makers = {
    "batch norm, every third call": lambda: keeping(None, third, calls=0),
    "running mean of losses": lambda: loss(running_loss()),
    "counts of classes, kept": lambda: loss(Model(remembering, counts=nn.Buffer(torch.ones(64)))),
    "running mean in a buffer, by data": lambda: keeping(torch.zeros(8), by_data),
    "running mean in a buffer, by numpy": lambda: keeping(torch.zeros(8), by_numpy),
    "running mean in a frozen parameter": lambda: keeping(fixed(8), by_data),
    "running mean of gradients": lambda: by(kept_backwards, mean=nn.Buffer(torch.zeros(CLASSES))),
    "scaled by the largest number so far": lambda: keeping(4.0, scaled),
    "recurrent state, carried": lambda: keeping(None, carried),
    "codebook, from the first batch": lambda: at_first(lambda m, x: m.kept.copy_(x[0])),
    "bias, from the first batch": lambda: at_first(
        lambda m, x: m.layer.bias.data.copy_(-m.layer(x).mean(0))
    ),
    "trainable bias moved": lambda: keeping(
        None, after(lambda m, x: m.layer.bias.data.add_(0.01 * x.mean().to(m.layer.bias)))
    ),
}
MIXERS = {**MIXING, **STATEFUL}
