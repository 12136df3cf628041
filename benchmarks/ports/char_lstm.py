"""`char-lstm-classification.py` of Opacus' examples: the language of a name, letter by letter."""

import numpy as np
import torch
from support.words import names
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from dplearn import DPSGD
from dplearn.training import History, fit

BATCH, EPOCHS, SIGMA, CLIP, DELTA, RECORDS, LINES = 200, 6, 1.0, 1.5, 8e-5, 2000, 430


def data(count=RECORDS, seed=0):
    return names(count, seed=seed)


def collate(items):
    """Padded letters with the lengths: read at the padding, a name would depend on longer ones."""
    letters, lengths = [x for x, _ in items], torch.tensor([len(x) for x, _ in items])
    return (pad_sequence(letters, batch_first=True), lengths), torch.tensor([y for _, y in items])


def loader(dataset):
    return DataLoader(dataset, batch_size=BATCH, collate_fn=collate)


class Network(nn.Module):
    def __init__(self, layer=nn.LSTM):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(27, 64), layer(64, 128, batch_first=True)
        self.head = nn.Linear(128, 10)

    def forward(self, letters, lengths):
        states, _ = self.rnn(self.embedding(letters))
        return self.head(states[torch.arange(len(lengths)), lengths - 1])


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=2.0)


def train(model, dataset, steps=None) -> History:
    batches = loader(dataset)
    rate, steps = 1 / len(batches), steps or EPOCHS * len(batches)
    plan = DPSGD(noise_multiplier=SIGMA, max_grad_norm=CLIP, sample_rate=rate, steps=steps)
    loss_fn, optimizer = nn.CrossEntropyLoss(reduction="none"), optimizer_of(model)
    return fit(model, loss_fn, batches, plan, optimizer=optimizer, delta=DELTA, progress=False)


@torch.no_grad()
def accuracy(model, dataset):
    return np.mean([(model(*x).argmax(1) == y).float().mean() for x, y in loader(dataset)])


if __name__ == "__main__":
    history = train(model := Network(), data())
    print(f"accuracy {accuracy(model, data(2000, seed=1)):.1%}, {history.guarantee(DELTA)}")
