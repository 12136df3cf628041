"""Losses of one record each, also of several outputs: all must be accepted."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from parts import BATCH, Part, classes, numbers, part
from per_record import CLASSES, Model, losses_of
from torch import Tensor, nn


def regression(
    loss: Callable[[Tensor, Tensor], Tensor], targets: Callable[[], Tensor], outputs: int = 1
) -> Part:
    model = nn.Sequential(nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, outputs))
    return model, loss, numbers(8), targets()


each = partial(partial, reduction="none")


def row(loss: Callable[..., Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """A loss summed over everything but records."""
    return lambda outputs, targets: each(loss)(outputs, targets).flatten(1).sum(1)


def diffusion() -> Part:
    """Noise drawn in the forward pass, to be guessed."""

    def forward(m: Any, x: Tensor) -> Tensor:
        time = torch.rand(len(x), 1).to(x)
        noise = torch.randn(x.shape).to(x)
        guess = m.body(torch.cat([time.sqrt() * x + (1 - time).sqrt() * noise, time], 1))
        return (guess - noise).square().mean(1)

    body = nn.Sequential(nn.Linear(9, 16), nn.SiLU(), nn.Linear(16, 8))
    return part(Model(forward, body=body), loss_fn=lambda losses, _: losses)


def variational() -> Part:
    def forward(m: Any, x: Tensor) -> tuple[Tensor, ...]:
        mean, log_scale = m.encoder(x).chunk(2, 1)
        z = mean + log_scale.exp() * torch.randn(mean.shape).to(x)
        return m.decoder(z), mean, log_scale

    def loss(outputs: Any, x: Tensor) -> Tensor:
        decoded, mean, log_scale = outputs
        gap = 0.5 * (mean.square() + (2 * log_scale).exp() - 2 * log_scale - 1).sum(1)
        return (decoded - x).square().sum(1) + gap

    return (
        Model(forward, encoder=nn.Linear(8, 6), decoder=nn.Linear(3, 8)),
        loss,
        numbers(8),
        numbers(8),
    )


def distilled() -> Part:
    """A frozen teacher inside the loss."""
    teacher = nn.Linear(8, CLASSES).requires_grad_(False)
    model = Model(
        lambda m, x: (m.student(x), m.teacher(x)), student=nn.Linear(8, CLASSES), teacher=teacher
    )
    gap = lambda both, _: F.kl_div(
        both[0].log_softmax(1), both[1].softmax(1), reduction="none"
    ).sum(1)
    return part(model, loss_fn=gap)


def weighted_loss() -> Part:
    """Weights of classes that are constants in float32."""
    weight = torch.linspace(0.5, 2, CLASSES)
    loss = nn.CrossEntropyLoss(weight=weight, reduction="none", label_smoothing=0.1)
    return part(nn.Linear(8, CLASSES), loss_fn=loss)


def multitask() -> Part:
    forward = lambda m, x: {
        "size": m.size(torch.tanh(m.body(x)))[:, 0],
        "kind": m.kind(torch.tanh(m.body(x))),
    }
    loss = lambda out, t: losses_of(out["kind"], t["kind"]) + (out["size"] - t["size"]).abs()
    model = Model(forward, body=nn.Linear(8, 9), size=nn.Linear(9, 1), kind=nn.Linear(9, CLASSES))
    return model, loss, numbers(8), {"size": numbers(), "kind": classes()}


def penalised() -> Part:
    """A penalty on activations of each record."""
    forward = lambda m, x: (h := torch.relu(m.first(x)), m.last(h))
    loss = lambda both, t: losses_of(both[1], t) + 0.1 * both[0].abs().sum(1)
    return part(Model(forward, first=nn.Linear(8, 9), last=nn.Linear(9, CLASSES)), loss_fn=loss)


def aligned(*, lengths: bool = False) -> Part:
    """The CTC loss, which reads beyond its memory where a label is no class."""

    def loss(outputs: Tensor, targets: Any) -> Tensor:
        log_probs, (labels, counts) = outputs.view(len(outputs), 12, 6).log_softmax(2), targets
        every = torch.full((len(outputs),), 12)
        return F.ctc_loss(log_probs.transpose(0, 1), labels, every, counts, reduction="none")

    def whole(outputs: Tensor, labels: Tensor) -> Tensor:
        return loss(outputs, (labels, torch.full((len(labels),), labels.shape[1])))

    labels = torch.randint(1, 6, (BATCH, 4))
    model = nn.Sequential(nn.Linear(8, 6), nn.Flatten())  # the number of classes is in no shape
    targets = (labels, torch.randint(1, 4, (BATCH,))) if lengths else labels
    return model, loss if lengths else whole, numbers(12, 8), targets


def counted() -> Part:
    """Losses of each record's own words that count."""

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        each = F.cross_entropy(outputs.mT, targets, reduction="none")
        return each.sum(1) / (targets != -100).sum(1).clamp(min=1)

    return nn.Linear(8, CLASSES), loss, numbers(7, 8), torch.randint(0, CLASSES, (BATCH, 7))


BINARY = row(F.binary_cross_entropy_with_logits)


# Losses of one output or more, and their targets.
OF_OUTPUTS: dict[str, tuple[Any, ...]] = {
    "squared loss": (row(F.mse_loss), lambda: numbers(1)),
    "poisson loss": (lambda o, t: each(F.poisson_nll_loss)(o[:, 0].clamp(max=5), t), numbers),
    "gaussian loss": (
        lambda o, t: each(F.gaussian_nll_loss)(o[:, 0], t, F.softplus(o[:, 1]) + 0.1),
        *(numbers, 2),
    ),
    "several labels": (BINARY, lambda: torch.rand(BATCH, 4).round(), 4),
    "focal loss": (
        lambda o, t: (1 - (-losses_of(o, t)).exp()) ** 2 * losses_of(o, t),
        *(classes, CLASSES),
    ),
    "labels as shares": (losses_of, lambda: torch.rand(BATCH, CLASSES).softmax(1), CLASSES),
    "ignored labels": (each(F.cross_entropy, ignore_index=0), classes, CLASSES),
}

LOSSES: dict[str, Callable[[], Part]] = {
    **{name: partial(regression, *parts) for name, parts in OF_OUTPUTS.items()},
    "variational": variational,
    "diffusion": diffusion,
    "distilled": distilled,
    "penalised activations": penalised,
    "several outputs": multitask,
    "labels of a sequence, aligned": aligned,
    "labels of a sequence, aligned, lengths given": lambda: aligned(lengths=True),
    "words that count": counted,
    "weights of classes, smoothed": weighted_loss,
}
