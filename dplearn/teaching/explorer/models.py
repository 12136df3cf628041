"""Small models for images of ten classes, what they get to see, and how they are trained."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dplearn.core import validate
from dplearn.datasets import Labelled, oriented_gradients
from dplearn.run import DPSGD
from dplearn.training import Flat, Trainer, clipped_sum

MODELS = ("linear", "mlp", "cnn")


def inputs_for(model: str, images: NDArray[np.float32]) -> Tensor:
    """Inputs of a model of `MODELS`, from images of shape (n, H, W).

    Directions of edges for the linear one, the standardised pixels in one channel for others.
    """
    validate.one_of(MODELS, model=model)
    see = oriented_gradients if model == "linear" else standardised
    return torch.from_numpy(see(images))


def tensors(model: str, images: Labelled) -> tuple[Tensor, Tensor]:
    """Inputs of a model of `MODELS`, and labels."""
    return inputs_for(model, images.images), torch.from_numpy(images.labels)


def standardised(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each image less its own mean, by its own deviation, shape (n, 1, H, W)."""
    middle, spread = images.mean((1, 2), keepdims=True), images.std((1, 2), keepdims=True)
    return ((images - middle) / spread)[:, None]


def built(model: str, inputs: Tensor) -> nn.Module:
    """An untrained model of `MODELS` for such inputs.

    The linear one starts from zero, without a bias: see `oriented_gradients`. The convolutions for
    28 x 28 pixels are the network of Papernot et al. (2020), 26,010 parameters.
    """
    validate.one_of(MODELS, model=model)
    if model == "linear":
        flat = nn.Linear(inputs.shape[1], 10, bias=False)
        nn.init.zeros_(flat.weight)
        return flat
    if model == "mlp":
        hidden = nn.Linear(inputs[0].numel(), 64)
        return nn.Sequential(nn.Flatten(), hidden, nn.Tanh(), nn.Linear(64, 10))
    if inputs.shape[-1] == 8:
        return nn.Sequential(
            *(nn.Conv2d(1, 16, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(128, 10)),
        )
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 8, stride=2, padding=2), nn.Tanh(), nn.MaxPool2d(2, stride=1)),
        *(nn.Conv2d(16, 32, 4, stride=2), nn.Tanh(), nn.MaxPool2d(2, stride=1)),
        *(nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10)),
    )


def started(
    model: str, data: tuple[Tensor, Tensor], plan: DPSGD, *, learning_rate: float, **options: Any
) -> Trainer:
    """Trainer of an untrained model of `MODELS` by SGD with momentum 0.9."""
    network, loss_fn = built(model, data[0]), nn.CrossEntropyLoss(reduction="none")
    sgd = torch.optim.SGD(network.parameters(), lr=learning_rate, momentum=0.9)
    return Trainer(network, loss_fn, data, plan, optimizer=sgd, **options)


def gradient_norms(trainer: Trainer, data: tuple[Tensor, Tensor], *, records: int) -> Tensor:
    """Norms of the first records' gradients before they are clipped, 64 at a time."""
    parts = zip(*(each[:records].split(64) for each in data), strict=True)
    own = trainer.model, trainer.loss_fn
    return torch.cat([clipped_sum(*own, *part, bound=Flat(1.0)).norms for part in parts])


def accuracy(model: nn.Module, data: tuple[Tensor, Tensor]) -> float:
    """Fraction of the labels that a model gets right."""
    with torch.no_grad():
        return (model(data[0]).argmax(1) == data[1]).double().mean().item()
