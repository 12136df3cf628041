"""Data as people have it: every kind gives the same run, or one clear sentence."""

import dataclasses
import multiprocessing
import warnings
from contextlib import suppress
from itertools import chain

import numpy as np
import pytest
import torch
from parts import Model
from small_runs import PLAN, generator, run, small_data, small_model, started
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, Subset, TensorDataset

from cases import each
from dplearn.training import gradients, trainer
from dplearn.training.records import _tensor

X, Y = small_data()
SHUFFLED = dataclasses.replace(PLAN, sampling="shuffled", steps=12)  # epochs of 4 steps


class Items:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Stream(IterableDataset):
    def __iter__(self):
        return iter(zip(X, Y, strict=True))


def loaded(dataset, **options):
    return DataLoader(dataset, **{"batch_size": 8, "shuffle": True, **options})


def as_lists(items):
    """Return the same batch as PyTorch's own rules make it."""
    return torch.stack([x for x, _ in items]), torch.stack([y for _, y in items])


PAIRS = Items(list(zip(X, Y, strict=True)))
KINDS = {
    "arrays": (X.numpy(), Y.numpy()),
    "tensors": TensorDataset(X, Y),
    "subset": Subset(TensorDataset(X, Y), range(32)),
    "items": PAIRS,
    "list of pairs": PAIRS.items,
    "short labels": (X, Y.int()),
    "array items": Items([(x.numpy(), int(y)) for x, y in zip(X, Y, strict=True)]),
    "loader of tensors": loaded(TensorDataset(X, Y)),
    "loader of other batches": loaded(TensorDataset(X, Y), batch_size=12),
    "loader, no batch size": DataLoader(PAIRS, collate_fn=as_lists),
    "workers": loaded(PAIRS, num_workers=2, collate_fn=as_lists, prefetch_factor=3),
}
NAMED = {
    "dict of arrays": {"pixels": X.numpy(), "labels": Y},
    "pair with a dict": ({"pixels": X}, Y.numpy()),
    "dict items": Items([{"pixels": x, "labels": y} for x, y in zip(X, Y, strict=True)]),
}

OPTIONS = [(kind, {}) for kind in (*KINDS, *NAMED)] + [
    (kind, {"micro_batch": 3}) for kind in ("arrays", "dict items", "workers")
]


@pytest.mark.slow
def test_every_kind_of_data_gives_the_same_run():
    expected, same = run()
    sizes = [record.private.lot_size for record in same.records]
    for kind, options in OPTIONS:
        model = small_model()
        if kind in NAMED:
            model = Model(lambda m, pixels: m.model(pixels), model=model)
        after, history = run(model, data=(KINDS | NAMED)[kind], **options)
        torch.testing.assert_close(after, expected, msg=f"{kind}, {options}")
        assert [record.private.lot_size for record in history.records] == sizes, kind
        assert not multiprocessing.active_children(), kind


def test_arrays_that_are_read_only_stay_where_they_are_and_nothing_warns(tmp_path):
    np.save(tmp_path / "x.npy", X.numpy())
    data = np.load(tmp_path / "x.npy", mmap_mode="r"), Y.numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(run(data=data)[0], run()[0])
        assert torch.equal(_tensor(data[0]), X)  # such as a collate_fn gives


@pytest.mark.slow
@each("sampling, workers", [("shuffled", None), ("shuffled", 2), ("random_allocation", 0)])
def test_an_epoch_uses_each_record_once_whatever_fails_in_between(sampling, workers, monkeypatch):
    data = X, torch.arange(32)
    if workers is not None:
        data = loaded(Items(list(zip(*data, strict=True))), num_workers=workers)
    plan, loss_fn = dataclasses.replace(SHUFFLED, sampling=sampling), lambda out, y: out[:, 0] * y
    begun = started(plan=plan, data=data, loss_fn=loss_fn)
    whole, used, failures = gradients.added_sum, [[] for _ in range(12)], {1, 5, 10}

    def counted(model, loss_fn, inputs, targets, **options):
        if begun.steps in failures:
            failures.remove(begun.steps)
            raise MemoryError
        used[begun.steps] = targets.tolist()  # a lot without records has no call
        return whole(model, loss_fn, inputs, targets, **options)

    monkeypatch.setattr(trainer, "added_sum", counted)
    while begun.steps < 12:
        with suppress(MemoryError):
            begun.step()
    for epoch in (used[0:4], used[4:8], used[8:12]):
        # Each shuffled epoch leaves one record out.
        assert len({*chain(*epoch)}) == len([*chain(*epoch)]) == 32 - begun.plan.drop_last


@pytest.mark.slow
def test_items_of_different_lengths_need_padding_that_changes_nothing():
    def mean(m, tokens):
        used = (tokens > 0 if m.masked else torch.ones_like(tokens)).unsqueeze(2)
        return m.head((m.embedding(tokens) * used).sum(1) / used.sum(1))

    def ragged(items):
        words, targets = zip(*items, strict=True)
        return pad_sequence(words, batch_first=True), torch.stack(targets)

    model = Model(mean, embedding=nn.Embedding(9, 4), head=nn.Linear(4, 2), masked=True)
    tokens = [torch.randint(1, 9, (1 + i % 8,), generator=generator(i)) for i in range(32)]
    data = DataLoader(list(zip(tokens, Y, strict=True)), collate_fn=ragged)
    started(model, data=data).step()
    model.masked = False
    with pytest.raises(ValueError, match="what collate_fn puts beside it"):
        started(model, data=data)


def test_what_cannot_be_sampled_by_the_plan_is_refused_in_one_sentence():
    drawn = "lots are drawn by the plan"
    for data, error, text in (
        (X, TypeError, r"a pair \(inputs, targets\) .*targets may be None"),
        ([X, Y], TypeError, "a list of pairs or a DataLoader, got list of arrays"),
        (Stream(), TypeError, "got Stream: lots are drawn by number, so make a list of it"),
        (DataLoader(Stream()), ValueError, "Expected a DataLoader of a map-style dataset"),
        (loaded(PAIRS, batch_size=None, shuffle=False), ValueError, "with a batch_size"),
        (loaded(PAIRS, shuffle=False, sampler=RandomSampler(PAIRS, replacement=True)),
         ValueError, drawn),
        (DataLoader(PAIRS, batch_sampler=[[0, 1]]), ValueError, drawn),
        ((X, Y[:5]), ValueError, "arrays with one row per record"),
        ((X, Y.tolist()), ValueError, "arrays with one row per record"),
        (Items([]), ValueError, "at least one record, got 0"),
        (DataLoader(Items([]), batch_size=8), ValueError, "at least one record, got 0"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            started(data=data)


def test_what_does_not_suit_the_model_is_told_with_its_shape_and_type():
    """PyTorch's own words stay; ours say what was given."""
    binary = nn.BCEWithLogitsLoss(reduction="none")
    one = nn.Linear(3, 1)
    with pytest.raises(ValueError, match=r"got shape \(\d+, 1\); use losses.flatten\(1\)"):
        started(one, data=(X, Y[:, None].float()), loss_fn=binary)
    flatter = lambda outputs, targets: binary(outputs, targets).flatten(1).mean(1)
    started(one, data=(X, Y[:, None].float()), loss_fn=flatter).step()
    with pytest.raises(RuntimeError, match=r"that suit the model, got torch\.uint8") as caught:
        started(data=(X.byte(), Y))
    assert "\n" not in str(caught.value) and "x.float()" in str(caught.value)
    assert torch.equal(run(data=(X.double().numpy(), Y))[0], run()[0])  # as tables have them


class Running(Items):
    """Each input less the mean of those drawn before it."""

    mean, drawn = torch.zeros(3), 0

    def __getitem__(self, i):
        x, y = self.items[i]
        self.drawn += 1
        self.mean = self.mean + (x - self.mean) / self.drawn
        return x - self.mean, y


class Augmented(Items):
    def __init__(self, items, normal):
        super().__init__(items)
        self.normal = normal
        self.own = np.random.default_rng(0) if normal is None else None

    def __getitem__(self, i):
        x, y = self.items[i]
        noise = self.own.normal(size=3) if self.own else self.normal(3)
        return x + torch.as_tensor(noise, dtype=torch.float32), y


def test_items_that_depend_on_what_was_drawn_before_are_refused_and_random_ones_are_not():
    with pytest.raises(ValueError, match="not to depend on what is drawn before it"):
        started(data=Running(PAIRS.items))
    for normal in (torch.randn, np.random.randn, None):
        trainer = started(data=Augmented(PAIRS.items, normal))
        assert "holds nothing of other records" in " ".join(trainer.history().assumptions)
