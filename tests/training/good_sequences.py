"""Attention, recurrence and words that treat records separately: all must be accepted."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from parts import BATCH, Part, Raw, Residual, by, classes, numbers, of, sequence, tokens
from per_record import CLASSES, Model, Shared, losses_of
from torch import Tensor, nn


def encoder(**options: Any) -> Part:
    options = {"batch_first": True, "dropout": 0.0, "norm_first": True, **options}
    layer = nn.TransformerEncoderLayer(8, 2, 16, **options)
    return of(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), x=numbers(5, 8))


def recurrent(layer: nn.Module) -> Part:
    return by(
        lambda m, x: m.head(m.layer(x)[0][:, -1]),
        numbers(5, 8),
        layer=layer,
        head=nn.LazyLinear(CLASSES),
    )


def unrolled(cell: nn.Module) -> Part:
    """A cell of linear layers, over time."""

    def forward(model: Any, x: Tensor) -> Tensor:
        state = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            state = torch.tanh(model.inward(x[:, t]) + model.cell(state))
        return model.head(state)

    return by(forward, numbers(4, 8), inward=nn.Linear(8, 8), cell=cell)


class Attention(nn.Module):
    """Self-attention of linear layers, causal or not, with rotated positions or not."""

    def __init__(self, *, causal: bool = False, rotary: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.inward, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.causal, self.rotary, self.dropout = causal, rotary, dropout
        self.tables: dict[int, Tensor] = {}

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (y.unflatten(2, (2, 4)).transpose(1, 2) for y in self.inward(x).chunk(3, 2))
        if self.rotary:
            q, k = self.rotated(q), self.rotated(k)
        p = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, dropout_p=p)
        return x + self.out(mixed.transpose(1, 2).flatten(2))

    def rotated(self, x: Tensor) -> Tensor:
        length = x.shape[2]
        if length not in self.tables:  # kept, and no data
            self.tables[length] = torch.arange(length)[:, None] * torch.tensor([1.0, 0.1])
        angle = self.tables[length].to(x)
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.cat(
            [even * angle.cos() - odd * angle.sin(), odd * angle.cos() + even * angle.sin()], -1
        )


def padded() -> Part:
    """Lengths of at least one, as a mask of attention."""

    def forward(m: Any, x: Tensor, lengths: Tensor) -> Tensor:
        if int(lengths.min()) < 1 or int(lengths.max()) > x.shape[1]:
            raise ValueError("Expected lengths of sequences.")
        hidden = torch.arange(x.shape[1]) >= lengths[:, None]
        return m.head(m.encoder(x, src_key_padding_mask=hidden)[:, 0])

    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, dropout=0.0)
    inputs = numbers(9, 8), torch.randint(1, 9, (BATCH,))
    return by(forward, inputs, encoder=nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))


def language(*, dropout: float = 0.0, tied: bool = False, width: int = 8) -> Part:
    """A decoder that guesses the next word."""

    def forward(m: Any, words: Tensor) -> Tensor:
        length = words.shape[1]
        places = torch.arange(length).expand(words.shape)
        mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=m.head.weight.dtype)
        return m.head(m.body(m.words(words) + m.places(places), mask=mask, is_causal=True))

    layer = nn.TransformerEncoderLayer(width, 2, 16, dropout=dropout, batch_first=True)
    model = Model(
        forward,
        words=nn.Embedding(30, width),
        places=nn.Embedding(7, width),
        body=nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        head=nn.Linear(width, 30),
    )
    if tied:
        model.head.weight = model.words.weight
    each = lambda outputs, words: losses_of(outputs[:, :-1].mT, words[:, 1:]).mean(1)
    words = tokens(7, stop=30)
    return model, each, words, words


SEQUENCES: dict[str, Callable[[], Part]] = {
    "learned positions": lambda: of(Raw(torch.randn(6, 8), torch.add), Attention(), x=sequence()),
    "attention, rotary": lambda: of(Attention(causal=True, rotary=True), x=sequence()),
    "attention, dropout": lambda: of(Attention(dropout=0.2), nn.Dropout(0.1), x=sequence()),
    "encoder": encoder,
    "encoder, norm last": lambda: encoder(norm_first=False, activation="gelu"),
    "language": language,
    "language, dropout": lambda: language(dropout=0.1),
    "language, tied": lambda: language(tied=True),
    "look-ups for all records": lambda: (Shared(), losses_of, tokens(BATCH), classes()),
    "lengths": padded,
    "mixer": lambda: of(
        Residual(nn.Linear(8, 8)), Raw(torch.randn(6, 6), lambda x, w: (x.mT @ w).mT), x=sequence()
    ),
    "linear attention": lambda: by(
        lambda m, x: m.head((F.elu(m.q(x)) + 1) @ ((F.elu(m.k(x)) + 1).mT @ m.v(x))).mean(1),
        sequence(),
        q=nn.Linear(8, 4),
        k=nn.Linear(8, 4),
        v=nn.Linear(8, 4),
        head=nn.Linear(4, CLASSES),
    ),
    "lstm": lambda: recurrent(nn.LSTM(8, 6, batch_first=True)),
    "unrolled": lambda: unrolled(nn.Linear(8, 8)),
    "words": lambda: by(
        lambda m, x: m.head(m.words(x).mean(1)), tokens(7, stop=100), words=nn.Embedding(100, 8)
    ),
    "deep sets": lambda: by(
        lambda m, x: m.head(torch.relu(m.each(x)).sum(1)), sequence(), each=nn.Linear(8, 8)
    ),
    "cumulative over time": lambda: by(lambda m, x: m.head(x).cumsum(1)[:, -1], sequence()),
}
