"""Datasets of all kinds with equal records give equal runs; unsuitable ones give an error."""

import dataclasses
import multiprocessing
from contextlib import suppress
from itertools import chain

import numpy as np
import pytest
import torch
from parts import PLAN, Model, generator, run, small_data, small_model, started
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, Subset, TensorDataset

from cases import each

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
    """Return the same batch as PyTorch's default collation."""
    return torch.stack([x for x, _ in items]), torch.stack([y for _, y in items])


PAIRS = Items(list(zip(X, Y, strict=True)))
KINDS = {
    "arrays": (X.numpy(), Y.numpy()),
    "read-only arrays": (np.broadcast_to(X.numpy(), X.shape), Y.numpy()),
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


@pytest.mark.slow
def test_every_kind_of_dataset_gives_the_same_run():
    expected, same = run()
    sizes = [record.private.lot_size for record in same.records]
    small = [(kind, {"micro_batch": 3}) for kind in ("arrays", "dict items", "workers")]
    for kind, options in [*((kind, {}) for kind in (*KINDS, *NAMED)), *small]:
        model = small_model()
        if kind in NAMED:
            model = Model(lambda m, pixels: m.model(pixels), model=model)
        after, history = run(model, data=(KINDS | NAMED)[kind], **options)
        torch.testing.assert_close(after, expected, msg=f"{kind}, {options}")
        assert [record.private.lot_size for record in history.records] == sizes, kind
        assert not multiprocessing.active_children(), kind


@pytest.mark.slow
@each(
    "sampling, drop_last, workers",
    [("shuffled", True, None), ("shuffled", False, 2), ("random_allocation", False, 0)],
)
def test_epoch_uses_each_record_once_even_if_steps_fail(sampling, drop_last, workers):
    data = X, torch.arange(32)
    if workers is not None:
        data = loaded(Items(list(zip(*data, strict=True))), num_workers=workers)
    plan = dataclasses.replace(SHUFFLED, sampling=sampling, drop_last=drop_last)
    loss_fn = lambda out, y: out[:, 0] * y
    begun = started(plan=plan, data=data, loss_fn=loss_fn)
    add, used, failures = begun._gradients.add, [[] for _ in range(12)], {1, 5, 10}

    def counted(pair, *options):
        if begun.steps in failures:
            failures.remove(begun.steps)
            raise MemoryError
        used[begun.steps] = pair[1].tolist()  # not called for an empty lot
        return add(pair, *options)

    begun._gradients.add, begun._due = counted, 99  # tests of lots would call it too
    while begun.steps < 12:
        with suppress(MemoryError):
            begun.step()
    for epoch in (used[0:4], used[4:8], used[8:12]):
        assert len({*chain(*epoch)}) == len([*chain(*epoch)]) == 32 - drop_last


@pytest.mark.slow
def test_padding_that_changes_a_loss_is_refused():
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


def test_datasets_that_the_plan_cannot_sample_are_refused():
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
        ((X, Y[:5]), ValueError, r"got 5 in \['targets'\] and 32 in the first"),
        ((X, Y.tolist()), ValueError, "arrays with one row per record, got int"),
        (({"x": X, "cache": False}, Y), ValueError, r"got bool in .*cache.\] and 32 .*: a setting"),
        ((None, None), ValueError, "at least one record, got 0"),
        (Items([]), ValueError, "at least one record, got 0"),
        (DataLoader(Items([]), batch_size=8), ValueError, "at least one record, got 0"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            started(data=data)


def test_errors_about_unsuitable_inputs_name_shape_and_type():
    """The error keeps PyTorch's message, and adds shapes and types."""
    binary = nn.BCEWithLogitsLoss(reduction="none")
    one = nn.Linear(3, 1)
    with pytest.raises(ValueError, match=r"got shape \(\d+, 1\); use losses.view\("):
        started(one, data=(X, Y[:, None].float()), loss_fn=binary)
    flatter = lambda outputs, targets: binary(outputs, targets).view(len(targets), -1).mean(1)
    started(one, data=(X, Y[:, None].float()), loss_fn=flatter).step()
    with pytest.raises(RuntimeError, match=r"that suit the model, got torch\.uint8") as caught:
        started(data=(X.byte(), Y))
    assert "\n" not in str(caught.value) and "x.float()" in str(caught.value)
    assert torch.equal(run(data=(X.double().numpy(), Y))[0], run()[0])  # float64 becomes float32


class Changed(Items):
    """Items to whose inputs the result of a function is added at each access."""

    def __init__(self, change, rng=None):
        super().__init__(PAIRS.items)
        self.change, self.rng = change, rng

    def __getitem__(self, i):
        x, y = self.items[i]
        return x + torch.as_tensor(self.change(x), dtype=torch.float32), y


def test_items_that_depend_on_earlier_items_are_refused_and_random_items_accepted():
    earlier, rng = [], np.random.default_rng(0)
    running_mean = lambda x: earlier.append(x) or -torch.stack(earlier).mean(0)
    with pytest.raises(ValueError, match="not to depend on what is drawn before it"):
        started(data=Changed(running_mean))
    for normal in (torch.randn, np.random.randn, rng.standard_normal):
        own = rng if normal == rng.standard_normal else None
        trainer = started(data=Changed(lambda x, draw=normal: draw(3), own))
        assert "holds nothing of other records" in " ".join(trainer.history().assumptions)
