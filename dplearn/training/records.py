"""The records of a dataset, lot by lot, on the device that needs them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isclose
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import data
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.run import Plan
from dplearn.training.devices import forked, free_bytes, moved
from dplearn.training.passes import Loss, called
from dplearn.training.sampling import Lot, micro_batches

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
_MOST = 256


class Records:
    """A dataset, of the kinds that `fit` takes, as (inputs, targets) on a device.

    Arrays stay there if they take at most half of what is free, unless `resident` says otherwise.
    """

    def __init__(
        self, dataset: Any, plan: Plan, *, device: torch.device, resident: bool | None
    ) -> None:
        self._device, self._due, self._coming = device, -1, iter(())
        self._arrays, self._loader = _source(dataset, plan)
        self._size = _rows(self._arrays) if self._loader is None else len(self._loader.dataset)
        if self._size == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")
        if resident is None:
            resident = self._loader is None and 2 * self._bytes() <= free_bytes(device)
        if resident:
            self._move()

    def __len__(self) -> int:
        return self._size

    def rows(self, index: Lot) -> tuple[Any, Any]:
        """Inputs and targets of these records, on the device."""
        if self._loader is not None:
            items = [self._loader.dataset[i] for i in index.tolist()]
            return self._moved(_pair(self._loader.collate_fn(items)))
        return self._moved(self._taken(index))

    def _taken(self, index: Lot) -> tuple[Any, Any]:
        """Inputs and targets of these records, where they are."""
        at = torch.from_numpy(index)
        take = lambda x: x[moved(at, x.device)] if isinstance(x, Tensor) else x[index]
        return on_arrays(take, self._arrays)

    def parts(
        self, step: int, lots: Callable[[], Iterator[Lot]], micro_batch: int | None
    ) -> Iterable[Part]:
        """Micro-batches of a step's lot; `lots` gives those of this and all later steps.

        Workers load lots before they are needed. After a step that failed they begin anew.
        """
        if step != self._due:
            self.forget()  # workers end before others are started
            with torch.random.fork_rng([]):  # a loader draws a seed for its workers
                self._coming = self._batches(lots(), micro_batch)
        self._due = step + 1
        return next(self._coming)

    def forget(self) -> None:
        """Drop what was loaded ahead; workers end."""
        self._due, self._coming = -1, iter(())

    def _batches(self, lots: Iterator[Lot], micro_batch: int | None) -> Iterator[Iterable[Part]]:
        """Micro-batches of each lot."""
        # On a processor few rows at a time take less memory, and stay in its caches.
        most = _MOST if self._device.type == "cpu" else None
        cut = partial(micro_batches, micro_batch=micro_batch, most=most)
        if self._loader is None:
            loaded = (((self._taken(at), mask) for at, mask in cut(lot)) for lot in lots)
        else:
            options = {name: getattr(self._loader, name) for name in _LOADING}
            options["collate_fn"] = partial(_collated, self._loader.collate_fn, cut)
            index: Any = (lot.tolist() for lot in lots)
            loaded = iter(data.DataLoader(self._loader.dataset, batch_sampler=index, **options))
        return (((*self._moved(_pair(b)), self._moved(mask)) for b, mask in lot) for lot in loaded)

    def check_collation(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if the loss of a record depends on what it was collated with, padded say.

        The first records are compared, so this finds nothing where they are of one size.
        """
        if self._loader is None or self._loader.collate_fn is data.default_collate:
            return
        places, modes = np.arange(min(_COMPARED, self._size)), [m.training for m in model.modules()]
        model.eval()
        try:
            together = self._losses(model, loss_fn, places)
            alone = [self._losses(model, loss_fn, np.full_like(places, i))[i] for i in places]
        finally:
            for module, mode in zip(model.modules(), modes, strict=True):
                module.training = mode
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

    def _moved(self, values: Any) -> Any:
        """Tensors on the device."""
        return on_arrays(lambda x: moved(_tensor(x), self._device), values)

    def _bytes(self) -> int:
        """Memory that all records take."""
        whole = self._arrays if self._loader is None else self.rows(np.zeros(1, np.int64))
        used = sum(x.nbytes for x in tree_leaves(whole) if isinstance(x, _ARRAYS))
        return used if self._loader is None else used * self._size

    def _move(self) -> None:
        needed, free = self._bytes(), free_bytes(self._device)
        devices = {getattr(x, "device", None) for x in tree_leaves(self._arrays)}
        if needed > free and devices != {self._device}:
            raise ValueError(
                f"Expected at most {free:.3g} bytes of records on {self._device} with "
                f"device_resident=True, got {needed:.3g}: use device_resident=False."
            )
        if self._loader is not None:
            self._arrays, self._loader = self.rows(np.arange(self._size)), None
        self._arrays = self._moved(self._arrays)


def _source(dataset: Any, plan: Plan) -> tuple[Any, Any]:
    """Arrays that hold all records, or a DataLoader of items; the other is None."""
    if isinstance(dataset, data.DataLoader):
        _check_loader(dataset, plan)
        ordinary = dataset.collate_fn is data.default_collate
        if not ordinary or type(dataset.dataset) is not data.TensorDataset:
            return None, dataset
        dataset = dataset.dataset
    if isinstance(dataset, data.TensorDataset):
        dataset = dataset.tensors
    if isinstance(dataset, tuple | Mapping):
        return _pair(dataset), None
    items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    if not items or isinstance(dataset, (*_ARRAYS, list, str)):
        raise TypeError(
            "Expected dataset to be a pair (inputs, targets) of tensors or arrays (targets may be "
            f"None), a map-style Dataset or a DataLoader, got {type(dataset).__name__}."
        )
    return None, data.DataLoader(dataset)


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
    fits = [abs(lot - size) < 1 or isclose(lot * len(loader), count) for lot in lots]
    if size > 1 and not any(fits):
        raise ValueError(
            f"Expected the DataLoader's batch_size to be the plan's expected lot, {lots[0]:.6g} "
            f"records, or left out, got batch_size={size}: {told}"
        )


@contextmanager
def described(batch: tuple[Any, Any]) -> Iterator[None]:
    """Adds to errors, PyTorch's too, what kind of inputs and targets there were."""
    try:
        yield
    except Exception as error:
        kinds = tree_map_only(Tensor, lambda x: f"{x.dtype} {tuple(x.shape)}", batch)
        error.add_note(f"Inputs and targets of records that were tried: {kinds}.")
        raise


def _pair(batch: Any) -> tuple[Any, Any]:
    """Inputs and targets; None where there are none."""
    if isinstance(batch, Mapping):
        batch = {name: batch[name] for name in batch if name != "labels"}, batch.get("labels")
    parts = list(batch) if isinstance(batch, tuple | list) else [batch]
    *inputs, targets = parts if len(parts) > 1 else [*parts, None]
    if len(inputs) > 1 or isinstance(inputs[0], list):
        return tuple(inputs if len(inputs) > 1 else inputs[0]), targets
    return dict(inputs[0]) if isinstance(inputs[0], Mapping) else inputs[0], targets


def _collated(
    collate: Callable[[list], Any], cut: Callable[[Lot], Iterable], items: list
) -> list[tuple[Any, Any]]:
    """Micro-batches of a lot's items, each with its mask."""
    parts = cut(np.arange(len(items)))
    return [(collate([items[i] for i in part]), mask) for part, mask in parts]


def on_arrays(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with the function's value for every tensor or array; quick where it is plain."""
    if isinstance(tree, _ARRAYS):
        return function(tree)
    if type(tree) is tuple:
        return tuple(on_arrays(function, branch) for branch in tree)
    return tree_map_only(_ARRAYS, function, tree)


def _tensor(array: Tensor | np.ndarray) -> Tensor:
    """The array's values, without a copy where it may be written to."""
    if isinstance(array, Tensor):
        return array
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _rows(arrays: Any) -> int:
    """Number of rows that all arrays have."""
    leaves = [x for x in tree_leaves(arrays) if x is not None]
    sizes = {len(x) if isinstance(x, _ARRAYS) and x.ndim else -1 for x in leaves}
    if len(sizes) != 1 or -1 in sizes:
        raise ValueError("Expected inputs and targets to be arrays with one row per record.")
    return sizes.pop()
