"""The records of a dataset, lot by lot, on the device that needs them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import data
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.run import Plan
from dplearn.training.devices import forked, free_bytes, moved
from dplearn.training.passes import Loss, called
from dplearn.training.probe import probing
from dplearn.training.recording import on_tensors
from dplearn.training.sampling import Lot, largest_pass, micro_batches

Part = tuple[Any, Any, Tensor | None]  # inputs, targets, and a mask that is False for padding

_ARRAYS = Tensor, np.ndarray
# What a DataLoader knows of how items are loaded, not of which.
_LOADING = """num_workers prefetch_factor worker_init_fn multiprocessing_context pin_memory timeout
    generator"""
# Records that are collated with others and with copies; what is rounding in their losses.
_COMPARED, _ROUNDING = 8, 1e-3
_DIGESTED = 64  # records that processes compare


class Records:
    """A dataset, of the kinds that `fit` takes, as (inputs, targets) on a device."""

    def __init__(self, dataset: Any, plan: Plan, *, device: torch.device) -> None:
        self._device, self._due, self._coming = device, -1, iter(())
        self._collate, self._options = data.default_collate, {}
        if isinstance(dataset, data.DataLoader):
            loader, dataset, sampler = dataset, dataset.dataset, dataset.sampler
            plain = type(sampler) is data.SequentialSampler
            plain |= type(sampler) is data.RandomSampler and not sampler.replacement
            if not plain or type(loader.batch_sampler) is not data.BatchSampler:
                raise ValueError(
                    "Expected a DataLoader of a map-style dataset with a batch_size and without a "
                    f"sampler, got sampler={type(sampler).__name__}, "
                    f"batch_size={loader.batch_size}: lots are drawn by the plan."
                )
            self._collate = loader.collate_fn
            names = _LOADING.split() if loader.num_workers else ()
            self._options = {name: getattr(loader, name) for name in names}
        self._padded = self._collate is not data.default_collate  # somehow
        if type(dataset) is data.TensorDataset and not self._padded:
            dataset = dataset.tensors
        if isinstance(dataset, tuple | Mapping):
            dataset, self._collate, self._options = _Arrays(dataset, device), tuple, {}
        columns = isinstance(dataset, list) and isinstance(dataset[0] if dataset else 0, _ARRAYS)
        items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
        if columns or isinstance(dataset, (*_ARRAYS, str)) or not items:
            raise TypeError(
                "Expected dataset to be a pair (inputs, targets) of tensors or arrays (targets may "
                "be None), a map-style Dataset, a list of pairs or a DataLoader, got "
                f"{type(dataset).__name__}{' of arrays' if columns else ''}."
            )
        self._dataset = dataset
        if len(self) == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")
        # On a processor few rows at a time take less memory, and stay in its caches.
        most = largest_pass(plan, len(self)) if device.type == "cpu" else None
        self._cut: Any = partial(micro_batches, most=most)

    def __len__(self) -> int:
        return len(self._dataset)

    def rows(self, index: Sequence[int]) -> tuple[Any, Any]:
        """Inputs and targets of these records, on the device."""
        return self._taken(next(self._loaded([index])), None)[:2]

    def digest(self) -> str:
        """A digest of a few records: of items the targets, as inputs may be augmented at random."""
        places = np.linspace(0, len(self) - 1, _DIGESTED).astype(int).tolist()
        inputs, targets = self.rows(places)
        drawn = targets is not None and not isinstance(self._dataset, _Arrays)
        leaves = tree_leaves(targets if drawn else (inputs, targets))
        values = [x.tolist() if isinstance(x, Tensor) else x for x in leaves]
        return hashlib.sha256(repr([len(self), values]).encode()).hexdigest()

    def parts(
        self, steps: range, lot: Callable[[int], Lot], micro_batch: int | None
    ) -> Iterator[Part]:
        """Micro-batches of the first of these steps; workers load lots of the others ahead."""
        if steps[0] != self._due:
            self.forget()  # workers end before others are started
            self._cut = partial(self._cut, micro_batch=micro_batch)
            order = (part.tolist() for step in steps for part, _ in self._cut(lot(step)))
            self._coming = self._loaded(order, **self._options)
        self._due = steps[0] + 1
        # A generator: an item that raises StopIteration does not end its lot.
        return (self._taken(next(self._coming), mask) for _, mask in self._cut(lot(steps[0])))

    def forget(self) -> None:
        """Drop what was loaded ahead; workers end."""
        self._due, self._coming = -1, iter(())

    def _loaded(self, order: Iterable[Sequence[int]], **options: Any) -> Iterator[Any]:
        options |= {"batch_sampler": order, "collate_fn": self._collate}
        with torch.random.fork_rng([]):  # a loader draws a seed for its workers
            return iter(data.DataLoader(self._dataset, **options))

    def _taken(self, batch: Any, mask: Tensor | None) -> Part:
        """A micro-batch on the device; labels of 64 bits, as losses want them."""
        pair = _pair(on_tensors(_tensor, batch, np.ndarray))
        short, there = (torch.int16, torch.int32), partial(moved, device=self._device)
        inputs, targets, mask = on_tensors(there, (*pair, mask))
        return inputs, on_tensors(lambda x: x.long() if x.dtype in short else x, targets), mask

    def check_collation(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if the loss of one of the first records depends on what it was collated with."""
        if not self._padded:
            return

        def losses(index: Sequence[int]) -> Tensor:
            with forked(self._device, 0), torch.no_grad():
                inputs, targets = self.rows(index)
                return loss_fn(called(model, inputs), targets)

        places = range(min(_COMPARED, len(self)))
        with probing(model, precise=False):
            model.eval()
            together = losses(places)
            alone = [losses([i] * len(places))[i] for i in places]
        if not torch.allclose(torch.stack(alone), together, rtol=_ROUNDING, equal_nan=True):
            raise ValueError(
                "Expected the loss of a record not to depend on what collate_fn puts beside it, "
                "which it does: mask what is padded, or pad all records to one length."
            )


class _Arrays(data.Dataset):
    """Rows of arrays, which are moved to a device if they take half of what is free there."""

    def __init__(self, arrays: Any, device: torch.device) -> None:
        self._pair = _pair(arrays)
        leaves: list[Any] = [x for x in tree_leaves(self._pair) if x is not None]
        sizes = {len(x) if isinstance(x, _ARRAYS) and x.ndim else -1 for x in leaves}
        if len(sizes) != 1 or -1 in sizes:
            raise ValueError("Expected inputs and targets to be arrays with one row per record.")
        (self._count,) = sizes
        if 2 * sum(x.nbytes for x in leaves) <= free_bytes(device):
            self._pair = tree_map_only(_ARRAYS, lambda x: moved(_tensor(x), device), self._pair)

    def __len__(self) -> int:
        return self._count

    def __getitems__(self, index: Sequence[int]) -> tuple[Any, Any]:
        at = torch.tensor(index)
        rows = lambda x: x.index_select(0, moved(at, x.device))
        take = lambda x: rows(x) if isinstance(x, Tensor) else x[index]
        return on_tensors(take, self._pair, _ARRAYS)


def _pair(batch: Any) -> tuple[Any, Any]:
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
