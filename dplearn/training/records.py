"""The records of a dataset, lot by lot, on the device that needs them."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

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
from dplearn.training.trial import on_trial

# Inputs, targets, and a mask that is False for padding.
Part = tuple[Any, Any, Tensor | None]

_ARRAYS = Tensor, np.ndarray
# What a DataLoader knows of how items are loaded, not of which.
_LOADING = """num_workers prefetch_factor worker_init_fn multiprocessing_context pin_memory timeout
    generator"""
# Records that are collated with others and with copies; what is rounding in their losses.
_COMPARED, _ROUNDING = 8, 1e-3
# Records whose digests are compared between processes if each must be loaded.
_DIGESTED = 4096


class Records:
    """A dataset, of the kinds that `fit` takes, as (inputs, targets) on a device."""

    def __init__(self, dataset: Any, plan: Plan, *, device: torch.device) -> None:
        self._device, self._due, self._coming = device, -1, iter(())
        self._source = _source(dataset, plan, device)
        if len(self) == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")
        # On a processor few rows at a time take less memory, and stay in its caches.
        self._most = largest_pass(plan, len(self)) if device.type == "cpu" else None

    def __len__(self) -> int:
        return len(self._source)

    def rows(self, index: Lot) -> tuple[Any, Any]:
        """Inputs and targets of these records, on the device."""
        return self._taken((*self._source.take(index), None))[:2]

    def digests(self, key: bytes) -> list[bytes]:
        """A keyed digest of each record; of so many at most where each must be loaded."""
        whole = self._source.arrays
        count = len(self) if whole else min(len(self), _DIGESTED)
        places = np.linspace(0, len(self) - 1, count).astype(np.int64)
        found = []
        # Items one by one: what they are collated with may change their shape.
        for lot in np.array_split(places, math.ceil(count / _DIGESTED) if whole else count):
            leaves = [x for x in tree_leaves(self._source.take(lot)) if isinstance(x, Tensor)]
            plain = [x.detach().cpu().contiguous().flatten().view(torch.uint8) for x in leaves]
            rows = torch.cat([x.view(len(lot), -1) for x in plain], 1).numpy()
            found += [hashlib.blake2b(row, digest_size=16, key=key).digest() for row in rows]
        return found

    def parts(
        self, step: int, lots: Callable[[], Iterator[Lot]], micro_batch: int | None
    ) -> Iterator[Part]:
        """Micro-batches of a step's lot; `lots` gives those of this and all later steps.

        Workers load lots before they are needed. After a step that failed they begin anew.
        """
        if step != self._due:
            self.forget()  # workers end before others are started
            cut = partial(micro_batches, micro_batch=micro_batch, most=self._most)
            # The micro-batches of each lot, with masks, and None after its last.
            order: Any = (part for lot in lots() for part in (*cut(lot), None))
            options: dict[str, Any] = {"batch_sampler": order, "collate_fn": _same}
            options |= self._source.options
            with torch.random.fork_rng([]):  # a loader draws a seed for its workers
                self._coming = iter(data.DataLoader(cast(Any, self._source), **options))
        self._due = step + 1
        return self._lot()

    def _lot(self) -> Iterator[Part]:
        # A generator: an item that raises StopIteration does not end its lot.
        while (part := next(self._coming)) is not None:
            yield self._taken(part)

    def forget(self) -> None:
        """Drop what was loaded ahead; workers end."""
        self._due, self._coming = -1, iter(())

    def _taken(self, part: Part) -> Part:
        """A micro-batch on the device; labels of 64 bits, as losses want them."""
        inputs, targets, mask = on_tensors(partial(moved, device=self._device), part)
        short = torch.int16, torch.int32
        return inputs, on_tensors(lambda x: x.long() if x.dtype in short else x, targets), mask

    def check_collation(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if the loss of a record depends on what it was collated with, padded say.

        The first records are compared, so this finds nothing where they are of one size.
        """
        if not self._source.padded:
            return

        def losses(index: Lot) -> Tensor:
            with forked(self._device, 0), torch.no_grad():
                inputs, targets = self.rows(index)
                return loss_fn(called(model, inputs), targets)

        places = np.arange(min(_COMPARED, len(self)))
        with on_trial(model, precise=False):
            model.eval()
            together = losses(places)
            alone = [losses(np.full_like(places, i))[i] for i in places]
        if not torch.allclose(torch.stack(alone), together, rtol=_ROUNDING, equal_nan=True):
            raise ValueError(
                "Expected the loss of a record not to depend on what collate_fn puts beside it, "
                "which it does: mask what is padded, or pad all records to one length."
            )


@dataclass(frozen=True)
class _Source:
    """So many records as a DataLoader takes them: a micro-batch at once, None where a lot ends."""

    count: int
    take: Callable[[Lot], tuple[Any, Any]]  # inputs and targets of records, where they are
    arrays: bool = False
    padded: bool = False  # by somebody's collate_fn
    options: Mapping[str, Any] = field(default_factory=dict)  # of a loader with workers

    def __len__(self) -> int:
        return self.count

    def __getitems__(self, part: tuple[Lot, Tensor | None] | None) -> Part | None:
        return None if part is None else (*self.take(part[0]), part[1])


def _same(part: Part) -> Part:
    return part


def _source(dataset: Any, plan: Plan, device: torch.device) -> _Source:
    """The records of a dataset; arrays are moved if they take half of what is free there."""
    if isinstance(dataset, data.DataLoader):
        _check_loader(dataset, plan)
        loader, dataset = dataset, dataset.dataset
        padded = loader.collate_fn is not data.default_collate
        if padded or type(dataset) is not data.TensorDataset:
            names = _LOADING.split() if loader.num_workers else ()
            options = {name: getattr(loader, name) for name in names}
            take = partial(_items, dataset, loader.collate_fn)
            return _Source(len(cast(Any, dataset)), take, padded=padded, options=options)
    if isinstance(dataset, data.TensorDataset):
        dataset = dataset.tensors
    if isinstance(dataset, tuple | Mapping):
        pair = _pair(dataset)
        leaves: list[Any] = [x for x in tree_leaves(pair) if x is not None]
        sizes = {len(x) if isinstance(x, _ARRAYS) and x.ndim else -1 for x in leaves}
        if len(sizes) != 1 or -1 in sizes:
            raise ValueError("Expected inputs and targets to be arrays with one row per record.")
        if 2 * sum(x.nbytes for x in leaves) <= free_bytes(device):
            pair = tree_map_only(_ARRAYS, lambda x: moved(_tensor(x), device), pair)
        return _Source(sizes.pop(), partial(_rows, pair), arrays=True)
    columns = isinstance(dataset, list) and isinstance(dataset[0] if dataset else None, _ARRAYS)
    if (
        columns
        or isinstance(dataset, (*_ARRAYS, str))
        or not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__"))
    ):
        raise TypeError(
            "Expected dataset to be a pair (inputs, targets) of tensors or arrays (targets may be "
            "None), a map-style Dataset, a list of pairs or a DataLoader, got "
            f"{type(dataset).__name__}{' of arrays' if columns else ''}."
        )
    return _Source(len(dataset), partial(_items, dataset, data.default_collate))


def _rows(pair: Any, index: Lot) -> tuple[Any, Any]:
    """Rows of arrays."""
    at = torch.from_numpy(index)
    rows = lambda x: x.index_select(0, moved(at, x.device))
    take = lambda x: rows(x) if isinstance(x, Tensor) else _tensor(x[index])
    return on_tensors(take, pair, _ARRAYS)


def _items(dataset: Any, collate: Callable[[Any], Any], index: Lot) -> tuple[Any, Any]:
    """Items of a dataset, put together in tensors."""
    items = collate([dataset[i] for i in index.tolist()])
    return _pair(tree_map_only(np.ndarray, _tensor, items))


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


def _tensor(array: Tensor | np.ndarray) -> Tensor:
    """The array's values, without a copy where it may be written to."""
    if isinstance(array, Tensor):
        return array
    return torch.from_numpy(np.require(array, requirements="W"))
