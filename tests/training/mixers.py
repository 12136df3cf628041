"""Models and losses that let records influence each other or keep data: all must be refused."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from parts import BATCH, WIDTH, Part, entering, loss, numbers, part
from per_record import CLASSES, Model, losses_of
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def hidden(mix: Callable[[Tensor], Tensor], **layers: nn.Module) -> Part:
    """Something between two linear layers."""
    forward = lambda m, x: m.last(mix(torch.tanh(m.first(x))))
    model = Model(forward, first=nn.Linear(8, WIDTH), last=nn.Linear(WIDTH, CLASSES), **layers)
    return part(model)


def weighted(mix: Callable[[Tensor], Tensor]) -> Part:
    """Something done to losses."""
    return loss(lambda outputs, targets: mix(losses_of(outputs, targets)))


def layered(layer: nn.Module, *shape: int) -> Part:
    """A layer, then a linear one on all that it gives."""
    return part(nn.Sequential(layer, nn.Flatten(), nn.LazyLinear(CLASSES)), numbers(*shape))


def normal(x: Tensor) -> Tensor:
    return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt()


def backwards(mix: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The identity, whose gradient is mixed by a hook."""

    def hooked(x: Tensor) -> Tensor:
        y = x * 1
        y.register_hook(mix)
        return y

    return hooked


class Balanced(torch.autograd.Function):
    """The identity, whose gradient is divided by its norm over the batch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0] / grads[0].norm()


class Capacity(nn.Module):
    """A mixture of experts, each of which takes the first few records only."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 2)
        self.experts = nn.ModuleList(nn.Linear(8, CLASSES) for _ in "ab")

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.gate(x).softmax(1)
        mine = F.one_hot(chosen.argmax(1), 2)
        fits = mine * (mine.cumsum(0) <= max(1, len(x) // 3))
        outputs = torch.stack([expert(x) for expert in self.experts], 1)
        return (outputs * (chosen * fits)[:, :, None]).sum(1)


def zero_head(mix: Callable[[Tensor], Tensor]) -> Part:
    model, *others = hidden(mix)
    nn.init.zeros_(model.last.weight)
    return model, *others


def rezero(mix: Callable[[Tensor], Tensor]) -> Part:
    class Branch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.alpha = nn.Parameter(torch.zeros(()))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.alpha * mix(x)

    return part(nn.Sequential(nn.Linear(8, 8), Branch(), nn.Linear(8, CLASSES)))


def imputed(x: Tensor) -> Tensor:
    return torch.where(x.isnan(), x.nanmean(0), x)


def nearest(x: Tensor) -> Tensor:
    """Each record with the one that is nearest to it."""
    apart = torch.cdist(x, x) + 1e9 * torch.eye(len(x)).to(x)
    return x + x[apart.argmin(1)].detach() if len(x) > 1 else x


def whitened(x: Tensor) -> Tensor:
    centred = x - x.mean(0)
    cover = centred.mT @ centred / len(x) + torch.eye(x.shape[1]).to(x)
    return torch.linalg.solve_triangular(torch.linalg.cholesky(cover), centred.mT, upper=False).mT


def until_all(x: Tensor) -> Tensor:
    """Steps until the slowest record has come to rest."""
    y = torch.zeros_like(x)
    for _ in range(50):
        y, before = torch.cos(y + x), y
        if (y - before).abs().max() < 0.3:
            break
    return y


def ghost(x: Tensor) -> Tensor:
    return torch.cat([normal(part) for part in x.split(4)])


def class_weights(outputs: Tensor, targets: Tensor) -> Tensor:
    counts = torch.bincount(targets, minlength=64).clamp(min=1)
    return losses_of(outputs, targets) / counts[targets]


def contrastive(outputs: Tensor, _: Tensor) -> Tensor:
    z = F.normalize(outputs, dim=1)
    return F.cross_entropy(z @ z.mT.detach(), torch.arange(len(z)), reduction="none")


def triplet(outputs: Tensor, targets: Tensor) -> Tensor:
    apart = torch.cdist(outputs, outputs.detach())
    other = targets[:, None] != targets
    worst = torch.where(other, apart, torch.inf).amin(1)
    return F.relu(1 + outputs.norm(dim=1) - worst.nan_to_num(posinf=0.0))


def centres(outputs: Tensor, targets: Tensor) -> Tensor:
    same = F.one_hot(targets, 64).to(outputs)
    mean = (same.mT @ outputs / same.sum(0).clamp(min=1)[:, None]).detach()
    return (outputs - mean[targets]).square().sum(1) + losses_of(outputs, targets)


def smoothed(outputs: Tensor, targets: Tensor) -> Tensor:
    share = F.one_hot(targets, outputs.shape[1]).to(outputs).mean(0)
    return losses_of(outputs, targets) - 0.1 * (outputs.log_softmax(1) * share).sum(1)


def trimmed() -> Part:
    """Sequences cut to the longest of their batch, and averaged over that."""

    def forward(model: Any, x: Tensor, lengths: Tensor) -> Tensor:
        longest = int(lengths.clamp(1, 12).max())
        live = torch.arange(longest) < lengths.clamp(1, 12)[:, None]
        return (model.layer(x[:, :longest]) * live[..., None]).mean(1)

    inputs = numbers(12, 8), torch.randint(1, 12, (BATCH,))
    return part(Model(forward, layer=nn.Linear(8, CLASSES)), inputs)


def padded(
    live: Callable[[Tensor], Tensor], inputs: Callable[[], Tensor], pool: Callable[..., Tensor]
) -> Part:
    """Words with a mask of those that live, by which the batch is cut to its longest."""

    def forward(model: Any, words: Tensor, mask: Tensor) -> Tensor:
        longest = int(live(mask).to(words).flatten(1).sum(1).max())
        return pool(model, words[:, :longest], live(mask)[:, :longest].to(words))

    return part(Model(forward, layer=nn.Linear(8, CLASSES)), (numbers(7, 8), inputs()))


def over_longest(model: Any, words: Tensor, mask: Tensor) -> Tensor:
    return (model.layer(words) * mask[..., None]).mean(1)


def runs(stop: int = 7) -> Tensor:
    """Ones, as many as a record has words."""
    return (torch.arange(stop) < torch.randint(1, stop, (BATCH, 1))).long()


def packed() -> Part:
    """The mean of a recurrent layer's states over the longest sequence of the batch."""

    def forward(model: Any, x: Tensor, lengths: Tensor) -> Tensor:
        sequence = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return model.head(pad_packed_sequence(model.cell(sequence)[0], True)[0].mean(1))

    model = Model(forward, cell=nn.GRU(8, 8, batch_first=True), head=nn.Linear(8, CLASSES))
    return part(model, (numbers(9, 8), torch.randint(1, 9, (BATCH,))))


def per_valid(ignored: int) -> Part:
    """Losses of words, divided by how many of the batch are not ignored."""

    def each(outputs: Tensor, targets: Tensor) -> Tensor:
        words = F.cross_entropy(outputs.mT, targets, ignore_index=ignored, reduction="none")
        return words.sum(1) * len(targets) / (targets != ignored).sum().clamp(min=1)

    model, targets = nn.Linear(8, CLASSES), torch.randint(0, CLASSES, (BATCH, 7))
    return model, each, numbers(7, 8), targets.where(runs() > 0, ignored)


def over_records_that_count() -> Part:
    """Losses divided by how many records of the batch are not ignored; one of these is."""

    def each(outputs: Tensor, targets: Tensor) -> Tensor:
        losses = F.cross_entropy(outputs, targets, ignore_index=-1, reduction="none")
        return losses * len(targets) / (targets != -1).sum().clamp(min=1)

    model, _, inputs, targets = loss(each)
    targets[-1] = -1
    return model, each, inputs, targets


def mix_style() -> Part:
    """Half of the time, each record gets the mean and deviation of another."""

    def style(h: Tensor) -> Tensor:
        if torch.rand(()) < 0.5:
            return h
        mean, deviation = h.mean(1, keepdim=True), h.std(1, keepdim=True) + 0.1
        other, share = torch.randperm(len(h)), torch.rand(len(h), 1).to(h)
        mixed = lambda x: (share * x + (1 - share) * x[other]).detach()
        return (h - mean) / deviation * mixed(deviation) + mixed(mean)

    return hidden(style)


def second(layer: nn.Module) -> Part:
    """A layer that takes the first dimension for time."""
    forward = lambda m, x: m.head(
        m.layer(*[x] * (3 if isinstance(layer, nn.MultiheadAttention) else 1))[0].mean(1)
    )
    return part(Model(forward, layer=layer, head=nn.Linear(8, CLASSES)), numbers(4, 8))


def hooked(register: str, hook: Callable[..., Any]) -> Part:
    """A perceptron with a hook on its last layer."""
    part = hidden(lambda h: h)
    getattr(part[0].last, register)(hook)
    return part


class Placed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.arange(len(x))[:, None]


def balanced() -> Part:
    """Experts, with a penalty if the batch does not use all of them alike."""

    def forward(model: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        share = model.gate(x).softmax(1)
        return model.layer(x), share.mean(0).square().sum().expand(len(x))

    model = Model(forward, gate=nn.Linear(8, 4), layer=nn.Linear(8, CLASSES))
    return part(model, loss_fn=lambda both, t: losses_of(both[0], t) + both[1])


def masked() -> Part:
    """Features weighted by how many of the batch have them."""
    forward = lambda m, x, has: m.layer(x * has.to(x).mean(0))
    inputs = numbers(8), torch.rand(BATCH, 8) > 0.5
    return part(Model(forward, layer=nn.Linear(8, CLASSES)), inputs)


def coarse() -> Part:
    """Numbers of few digits, less the batch mean."""
    forward = lambda m, x: m.layer((x - x.mean(0)).bfloat16()).float()
    model = Model(forward, layer=nn.Linear(8, CLASSES, dtype=torch.bfloat16))
    return part(model)


hook_mean, hook_flip = backwards(lambda g: g - g.mean(0)), backwards(lambda g: g.flip(0))


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
    "sorted": lambda h: h.sort(0).values,
    "ranks": lambda h: h + h.argsort(0).argsort(0),
    "places": lambda h: h * torch.arange(len(h))[:, None],
    "softmax over records": lambda h: h.softmax(0),
    "unit columns": lambda h: F.normalize(h, dim=0),
    "unit batch": lambda h: h / h.norm(),
    "layer norm of the batch": lambda h: F.layer_norm(h, h.shape),
    "attention over records": lambda h: (h @ h.mT).softmax(1) @ h,
    "attention over records, detached": lambda h: h + ((h @ h.mT).softmax(1) @ h).detach(),
    "nearest neighbour": nearest,
    "whitening": whitened,
    "reshaped wrongly": lambda h: h.T.reshape(h.shape),
    "a convolution over records": lambda h: (
        F.conv1d(h.T[:, None], torch.ones(1, 1, 3).to(h), padding=1)[:, 0].T
    ),
    "steps until all rest": until_all,
    "quantised by the largest": lambda h: (
        h + ((h / h.abs().max() * 127).round() * h.abs().max() / 127 - h).detach()
    ),
    "a dropout mask by the batch": lambda h: h * (torch.rand(h.shape).to(h) < h.mean().sigmoid()),
    "noise by the batch's deviation": lambda h: h + h.std().detach() * torch.randn(h.shape).to(h),
    "scaled by the size of the batch": lambda h: h * math.log(1 + len(h)),
    "dropout and the mean": lambda h: F.dropout(h) - 0.01 * h.mean(0).detach(),
    "batch norm": normal,
    "batch norm, many records": lambda h: normal(h) if len(h) >= 8 else h,
    "batch norm, ghost": ghost,
    "gradient less its mean": hook_mean,
    "gradient flipped": hook_flip,
}


ENTERING = {
    "x / max": lambda x: x / x.max(),
    "x / largest": lambda x: x / x.abs().amax(),
    "min-max scaling": lambda x: (x - x.amin(0)) / (x.amax(0) - x.amin(0) + 1e-3),
    "standardised features": normal,
    "standardised by one number": lambda x: (x - x.mean()) / x.std(correction=0),
    "imputed by the mean": imputed,
    "clamped at a quantile": lambda x: x.clamp(max=x.quantile(0.99).item()),
    "zeros where another is negative": lambda x: x * (x.amin() > -3).to(x),
    "mixing of negative inputs": lambda x: torch.where(x < 0, x - x.mean(0), x),
    "duplicates removed": lambda x: x / torch.unique(x.round(), dim=0).shape[0],
    "mixup with the flipped batch": lambda x: 0.7 * x + 0.3 * x.flip(0),
    "mixup at random": lambda x: 0.7 * x + 0.3 * x[torch.randperm(len(x))],
    "mixup of halves": lambda x: x + F.pad(x[len(x) // 2 :], (0, 0, 0, len(x) // 2)),
}


LOSSES = {
    "batch temperature": lambda o, t: losses_of(o / o.std().detach(), t),
    "class weights by counts": class_weights,
    "label smoothing by counts": smoothed,
    "centres of classes": centres,
    "contrastive": contrastive,
    "triplets": triplet,
}


WEIGHTED = {
    "hardest half": lambda each: each * (each >= each.median()),
    "hardest three": lambda each: each * (each >= each.topk(min(3, len(each))).values[-1]),
    "largest tenth dropped": lambda each: each * (each <= each.quantile(0.9)),
    "mean": lambda each: each / len(each),
    "less the mean": lambda each: each - each.mean(),
    "advantage": lambda each: each * (each - each.mean()).detach(),
    "softmax weights": lambda each: each * each.softmax(0).detach(),
    "focal, normalised": lambda each: (
        each * (1 - (-each).exp()) / (1 - (-each).exp()).mean().detach()
    ),
    "sorted losses": lambda each: each.sort().values,
    "rank weights": lambda each: each * each.argsort().argsort(),
    "half for everyone": lambda each: 0.5 * each + 0.5 * each.mean(),
}

MIXING: dict[str, Callable[[], Part]] = {
    **{name: partial(hidden, mix) for name, mix in HIDDEN.items()},
    **{name: partial(entering, mix) for name, mix in ENTERING.items()},
    **{name: partial(loss, mix) for name, mix in LOSSES.items()},
    **{name: partial(weighted, mix) for name, mix in WEIGHTED.items()},
    "features weighted by their share": masked,
    "bfloat16, less the mean": coarse,
    "dropout and places": lambda: part(
        nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3), Placed(), nn.Linear(8, CLASSES))
    ),
    "experts in balance": balanced,
    "experts of limited capacity": lambda: part(Capacity()),
    "cut to the longest": trimmed,
    "cut to the longest by a mask": lambda: padded(lambda m: m, runs, over_longest),
    "cut to the longest by a mask of truths": lambda: padded(
        lambda m: m, lambda: runs() > 0, over_longest
    ),
    "cut to the longest by padding": lambda: padded(
        lambda words: words != 3, lambda: torch.where(runs() > 0, runs(), 3), over_longest
    ),
    "mean over the longest of packed sequences": packed,
    "losses over words that count": lambda: per_valid(-100),
    "losses over words that count, -1": lambda: per_valid(-1),
    "losses over records that count": over_records_that_count,
    "styles of others, half of the time": mix_style,
    "batch norm, zero head": lambda: zero_head(normal),
    "batch norm, rezero": lambda: rezero(normal),
    "batch norm, functional": lambda: zero_head(
        lambda h: F.batch_norm(h, None, None, training=True)
    ),
    "nn.BatchNorm1d": lambda: layered(nn.BatchNorm1d(8), 8),
    "nn.BatchNorm2d": lambda: layered(nn.BatchNorm2d(2, affine=False), 2, 4, 4),
    "nn.SyncBatchNorm": lambda: layered(nn.SyncBatchNorm(2), 2, 4, 4),
    "nn.BatchNorm1d without running statistics": lambda: layered(
        nn.BatchNorm1d(8, track_running_stats=False).eval(), 8
    ),
    "nn.InstanceNorm2d": lambda: layered(nn.InstanceNorm2d(2, track_running_stats=True), 2, 4, 4),
    "nn.LSTM": lambda: second(nn.LSTM(8, 8)),
    "nn.GRU": lambda: second(nn.GRU(8, 8)),
    "nn.MultiheadAttention": lambda: second(nn.MultiheadAttention(8, 2)),
    "gradient of limited norm": lambda: hidden(backwards(lambda g: g / g.norm().clamp(min=1e-3))),
    "gradient divided by the largest": lambda: hidden(backwards(lambda g: g / g.abs().max())),
    "gradient balanced": lambda: hidden(Balanced.apply),
    "gradient less its mean, by a module's hook": lambda: hooked(
        "register_full_backward_hook", lambda m, inputs, outputs: (inputs[0] - inputs[0].mean(0),)
    ),
    "output less its mean, by a module's hook": lambda: hooked(
        "register_forward_hook", lambda m, inputs, output: output - output.mean(0).detach()
    ),
}
