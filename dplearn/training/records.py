"""The records of a dataset, lot by lot, on the device that needs them."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import tee
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import data
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.run import Plan
from dplearn.training.devices import forked, free_bytes, moved
from dplearn.training.passes import Loss, called
from dplearn.training.recording import on_tensors
from dplearn.training.sampling import Lot, largest_pass, micro_batches
from dplearn.training.twin import on_trial

# Inputs, targets, and a mask that is False for padding.
Part = tuple[Any, Any, Tensor | None]

_ARRAYS = Tensor, np.ndarray
# What a DataLoader knows of how items are loaded, not of which.
_LOADING = (
    *("num_workers", "prefetch_factor", "worker_init_fn", "multiprocessing_context"),
    *("pin_memory", "timeout", "generator"),
)
# Records that are collated with others and with copies; what is rounding in their losses.
_COMPARED, _ROUNDING = 8, 1e-3
# Records whose digests are compared between processes if each must be loaded.
_DIGESTED = 4096


class Records:
    """A dataset, of the kinds that `fit` takes, as (inputs, targets) on a device.

    Arrays are moved there at once if they take at most half of what is free.
    """

    def __init__(self, dataset: Any, plan: Plan, *, device: torch.device) -> None:
        self._device, self._due, self._coming = device, -1, iter(())
        self._dataset, self._collate, self._options = _source(dataset, plan, device)
        if len(self) == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")
        # On a processor few rows at a time take less memory, and stay in its caches.
        self._most = largest_pass(plan, len(self)) if device.type == "cpu" else None

    def __len__(self) -> int:
        return len(self._dataset)

    def rows(self, index: Lot) -> tuple[Any, Any]:
        """Inputs and targets of these records, on the device."""
        return self._taken(self._fetched(index))

    def digests(self, key: bytes) -> list[bytes]:
        """A keyed digest of each record; of so many at most where each must be loaded."""
        whole = isinstance(self._dataset, _Arrays)
        count = len(self) if whole else min(len(self), _DIGESTED)
        places = np.linspace(0, len(self) - 1, count).astype(np.int64)
        # Items one by one: what they are collated with may change their shape.
        lots = np.array_split(places, math.ceil(count / _DIGESTED) if whole else count)
        digest = partial(hashlib.blake2b, digest_size=16, key=key)
        found = []
        for lot in lots:
            leaves = [x for x in tree_leaves(self._fetched(lot)) if isinstance(x, Tensor)]
            found += [
                digest(b"".join(row)).digest() for row in zip(*map(_rows, leaves), strict=True)
            ]
        return found

    def parts(
        self, step: int, lots: Callable[[], Iterator[Lot]], micro_batch: int | None
    ) -> Iterable[Part]:
        """Micro-batches of a step's lot; `lots` gives those of this and all later steps.

        Workers load lots before they are needed. After a step that failed they begin anew.
        """
        if step != self._due:
            self.forget()  # workers end before others are started
            self._coming = self._batches(lots(), micro_batch)
        self._due = step + 1
        return next(self._coming)

    def forget(self) -> None:
        """Drop what was loaded ahead; workers end."""
        self._due, self._coming = -1, iter(())

    def _batches(self, lots: Iterator[Lot], micro_batch: int | None) -> Iterator[Iterable[Part]]:
        """Micro-batches of each lot, loaded in that order."""
        cut = partial(micro_batches, micro_batch=micro_batch, most=self._most)
        ahead, due = tee(list(cut(lot)) for lot in lots)
        index = (part for lot in ahead for part, _ in lot)
        loaded = self._loaded(index) if self._options else map(self._fetched, index)
        for lot in due:
            yield ((*self._taken(next(loaded)), self._moved(mask)) for _, mask in lot)

    def _loaded(self, index: Iterator[Lot]) -> Iterator[tuple[Any, Any]]:
        """Inputs and targets as workers load them."""
        batches: Any = (part.tolist() for part in index)
        options = {"batch_sampler": batches, "collate_fn": self._collate, **self._options}
        with torch.random.fork_rng([]):  # a loader draws a seed for its workers
            return iter(data.DataLoader(self._dataset, **options))

    def _fetched(self, index: Lot) -> tuple[Any, Any]:
        """Inputs and targets of these records, where they are."""
        if isinstance(self._dataset, _Arrays):
            return self._dataset[index]
        return self._collate([self._dataset[i] for i in index.tolist()])

    def _taken(self, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        """Inputs and targets on the device; labels of 64 bits, as losses want them."""
        inputs, targets = self._moved(pair)
        short = torch.int16, torch.int32
        return inputs, on_tensors(lambda x: x.long() if x.dtype in short else x, targets)

    def _moved(self, values: Any) -> Any:
        return on_tensors(partial(moved, device=self._device), values)

    def check_collation(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if the loss of a record depends on what it was collated with, padded say.

        The first records are compared, so this finds nothing where they are of one size.
        """
        if self._collate is _default:
            return
        places = np.arange(min(_COMPARED, len(self)))
        with on_trial(model, precise=False):
            model.eval()
            together = self._losses(model, loss_fn, places)
            alone = [self._losses(model, loss_fn, np.full_like(places, i))[i] for i in places]
        if not torch.allclose(torch.stack(alone), together, rtol=_ROUNDING, equal_nan=True):
            raise ValueError(
                "Expected the loss of a record not to depend on what collate_fn puts beside it, "
                "which it does: mask what is padded, or pad all records to one length."
            )

    @torch.no_grad()
    def _losses(self, model: nn.Module, loss_fn: Loss, index: Lot) -> Tensor:
        with forked(self._device, 0):
            inputs, targets = self.rows(index)
            return loss_fn(called(model, inputs), targets)


@dataclass(frozen=True)
class _Arrays:
    """Records that are rows of arrays."""

    pair: tuple[Any, Any]

    def __len__(self) -> int:
        leaves = [x for x in tree_leaves(self.pair) if x is not None]
        sizes = {len(x) if isinstance(x, _ARRAYS) and x.ndim else -1 for x in leaves}
        if len(sizes) != 1 or -1 in sizes:
            raise ValueError("Expected inputs and targets to be arrays with one row per record.")
        return sizes.pop()

    def __getitem__(self, index: Lot) -> tuple[Any, Any]:
        at = torch.from_numpy(index)
        rows = lambda x: x.index_select(0, moved(at, x.device))
        take = lambda x: rows(x) if isinstance(x, Tensor) else _tensor(x[index])
        return on_tensors(take, self.pair, _ARRAYS)

    def near(self, device: torch.device) -> "_Arrays":
        """The arrays on a device, if they take at most half of what is free there."""
        leaves = [x for x in tree_leaves(self.pair) if isinstance(x, _ARRAYS)]
        if 2 * sum(x.nbytes for x in leaves) > free_bytes(device):
            return self
        move = lambda x: moved(_tensor(x), device)
        return _Arrays(tree_map_only(_ARRAYS, move, self.pair))


def _rows(values: Tensor) -> Iterator[bytes]:
    """The bytes of each row of a tensor."""
    plain = values.detach().cpu().contiguous()
    return map(bytes, plain.flatten().view(torch.uint8).view(len(plain), -1).numpy())


def _source(dataset: Any, plan: Plan, device: torch.device) -> tuple[Any, Any, dict[str, Any]]:
    """A dataset, what makes inputs and targets of its items, and options if workers load them."""
    if isinstance(dataset, data.DataLoader):
        _check_loader(dataset, plan)
        ordinary = dataset.collate_fn is data.default_collate
        if not ordinary or type(dataset.dataset) is not data.TensorDataset:
            options = {name: getattr(dataset, name) for name in _LOADING}
            collate = _default if ordinary else partial(_collated, dataset.collate_fn)
            return dataset.dataset, collate, options if dataset.num_workers else {}
        dataset = dataset.dataset
    if isinstance(dataset, data.TensorDataset):
        dataset = dataset.tensors
    if isinstance(dataset, tuple | Mapping):
        return _Arrays(_pair(dataset)).near(device), _default, {}
    items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    columns = isinstance(dataset, list) and isinstance(dataset[0] if dataset else None, _ARRAYS)
    if not items or columns or isinstance(dataset, (*_ARRAYS, str)):
        raise TypeError(
            "Expected dataset to be a pair (inputs, targets) of tensors or arrays (targets may be "
            "None), a map-style Dataset, a list of pairs or a DataLoader, got "
            f"{type(dataset).__name__}{' of arrays' if columns else ''}."
        )
    return dataset, _default, {}


def _check_loader(loader: Any, plan: Plan) -> None:
    """Raise if a loader draws batches by a law of its own, or of another size than the plan."""
    sampler, size, told = loader.sampler, loader.batch_size, "lots are drawn by the plan."
    plain = type(sampler) is data.SequentialSampler
    plain |= type(sampler) is data.RandomSampler and not sampler.replacement
    if not plain or type(loader.batch_sampler) is not data.BatchSampler or size is None:
        raise ValueError(
            "Expected a DataLoader of a map-style dataset with a batch_size and without a sampler, "
            f"got sampler={type(sampler).__name__}, batch_size={size}: {told}"
        )
    count = len(loader.dataset)
    lots = [phase.sample_rate * count for phase in plan.phases]
    # Others take the rate to be one of so many batches.
    fits = [abs(lot - size) < 1 or math.isclose(lot * len(loader), count) for lot in lots]
    if size > 1 and not any(fits):
        raise ValueError(
            f"Expected the DataLoader's batch_size to be the plan's expected lot, {lots[0]:.6g} "
            f"records, or left out, got batch_size={size}: {told}"
        )


def _pair(batch: Any) -> tuple[Any, Any]:
    """Inputs and targets; None where there are none."""
    if isinstance(batch, Mapping):
        batch = {name: batch[name] for name in batch if name != "labels"}, batch.get("labels")
    parts = list(batch) if isinstance(batch, tuple | list) else [batch]
    *inputs, targets = parts if len(parts) > 1 else [*parts, None]
    if len(inputs) > 1 or isinstance(inputs[0], list):
        return tuple(inputs if len(inputs) > 1 else inputs[0]), targets
    return dict(inputs[0]) if isinstance(inputs[0], Mapping) else inputs[0], targets


def _collated(collate: Callable[[Any], Any], items: Any) -> tuple[Any, Any]:
    """Inputs and targets of items, in tensors."""
    return _pair(tree_map_only(np.ndarray, _tensor, collate(items)))


_default = partial(_collated, data.default_collate)


def _tensor(array: Tensor | np.ndarray) -> Tensor:
    """The array's values, without a copy where it may be written to."""
    if isinstance(array, Tensor):
        return array
    return torch.from_numpy(np.require(array, requirements="W"))
