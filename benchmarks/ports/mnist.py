"""`mnist.py` of Opacus' examples: a small convolutional network on digits."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from dplearn import DPSGD
from dplearn.datasets import synthetic_digits
from dplearn.training import History, fit

BATCH, EPOCHS, SIGMA, CLIP, DELTA, RECORDS, LINES = 64, 5, 1.0, 1.0, 1e-5, 10_000, 248


def data(count=RECORDS, seed=0):
    """Digits that nobody wrote, in the shape of MNIST."""
    images, labels = synthetic_digits(count=count, seed=seed)
    pixels = (torch.from_numpy(images)[:, None] - 0.1307) / 0.3081
    return TensorDataset(pixels, torch.from_numpy(labels))


def loader(dataset):
    return DataLoader(dataset, batch_size=BATCH)


class Network(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
            nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
            nn.Flatten(), nn.Linear(32 * 4 * 4, 32), nn.ReLU(), nn.Linear(32, 10),
        )  # fmt: skip


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def train(model, dataset, steps=None) -> History:
    batches = loader(dataset)
    rate, steps = 1 / len(batches), steps or EPOCHS * len(batches)
    plan = DPSGD(noise_multiplier=SIGMA, max_grad_norm=CLIP, sample_rate=rate, steps=steps)
    loss_fn, optimizer = nn.CrossEntropyLoss(reduction="none"), optimizer_of(model)
    return fit(model, loss_fn, batches, plan, optimizer=optimizer, delta=DELTA, progress=False)


@torch.no_grad()
def accuracy(model, dataset):
    return np.mean([(model(x).argmax(1) == y).float().mean() for x, y in loader(dataset)])


if __name__ == "__main__":
    history = train(model := Network(), data())
    print(f"accuracy {accuracy(model, data(2000, seed=1)):.1%}, {history.guarantee(DELTA)}")
