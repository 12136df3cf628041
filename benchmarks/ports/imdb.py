"""`imdb.py` of Opacus' examples: the opinion of a review, from the mean of its words."""

import numpy as np
import torch
from support.words import reviews
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from dplearn import DPSGD
from dplearn.training import History, fit

BATCH, EPOCHS, SIGMA, CLIP, DELTA, RECORDS, LINES = 64, 5, 0.56, 1.0, 1e-5, 10_000, 260


def data(count=RECORDS, seed=0):
    return reviews(count, seed=seed)


def collate(items):
    words, opinions = zip(*items, strict=True)
    return pad_sequence(words, batch_first=True), torch.tensor(opinions)


def loader(dataset):
    return DataLoader(dataset, batch_size=BATCH, collate_fn=collate)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5001, 16)
        self.hidden, self.head = nn.Linear(16, 16), nn.Linear(16, 2)

    def forward(self, words):
        used = (words > 0).unsqueeze(2)  # with the padding, the mean would mix records
        mean = (self.embedding(words) * used).sum(1) / used.sum(1)
        return self.head(self.hidden(mean).relu())


def optimizer_of(model):
    return torch.optim.Adam(model.parameters(), lr=0.02)


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
