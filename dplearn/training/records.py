"""The records of a dataset, lot by lot, on the device that needs them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isclose
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    TensorDataset,
    default_collate,
)

from dplearn.training.devices import free_bytes, moved
from dplearn.training.gradients import Loss, called
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
    """A dataset as (inputs, targets), whole on the device if it fits.

    It is a pair (inputs, targets) of tensors or arrays with one row per record, where inputs may
    also be a tuple or dict of them and targets None; or it has a length and such pairs as items;
    or it is a `DataLoader` of such items, whose `collate_fn`, workers and pinning are used. Lots
    are the plan's: a loader's shuffling plays no part, and its batch size may not contradict them.
    Of a dict, what is called "labels" are the targets. Unless `resident` says otherwise, arrays
    stay on the device if they take at most half of what is free.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        sample_rates: Collection[float],
        device: torch.device,
        resident: bool | None,
    ) -> None:
        self._device, self._due, self._coming = device, -1, iter(())
        self._arrays, self._loader = _source(dataset, sample_rates)
        self._size = _rows(self._arrays) if self._loader is None else len(self._loader.dataset)  # type: ignore[arg-type]
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
            with torch.random.fork_rng([]):  # a loader draws a seed for its workers
                self._coming = self._batches(lots(), micro_batch)
        self._due = step + 1
        return next(self._coming)

    def forget(self) -> None:
        """Drop what was loaded ahead."""
        self._due = -1

    def _batches(self, lots: Iterator[Lot], micro_batch: int | None) -> Iterator[Iterable[Part]]:
        """Micro-batches of each lot."""
        # On a processor few rows at a time take less memory, and stay in its caches.
        most = _MOST if self._device.type == "cpu" else None
        cut = partial(micro_batches, micro_batch=micro_batch, most=most)
        if self._loader is None:
            loaded = (((self._taken(at), mask) for at, mask in cut(lot)) for lot in lots)
        else:
            collate = partial(_collated, self._loader.collate_fn, cut)
            settings = {name: getattr(self._loader, name) for name in _LOADING}
            index = (lot.tolist() for lot in lots)
            dataset = self._loader.dataset
            loaded = iter(DataLoader(dataset, batch_sampler=index, collate_fn=collate, **settings))  # type: ignore[arg-type]
        return (((*self._moved(_pair(b)), self._moved(mask)) for b, mask in lot) for lot in loaded)

    def check_collation(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if the loss of a record depends on what it was collated with, padded say.

        The first records are compared, so this finds nothing where they are of one size.
        """
        if self._loader is None or self._loader.collate_fn is default_collate:
            return
        places = np.arange(min(_COMPARED, self._size))
        modes = [(module, module.training) for module in model.modules()]
        model.eval()
        together = self._losses(model, loss_fn, places)
        alone = [self._losses(model, loss_fn, np.full_like(places, i))[i] for i in places]
        for module, mode in modes:
            module.training = mode
        if not torch.allclose(torch.stack(alone), together, rtol=_ROUNDING, equal_nan=True):
            raise ValueError(
                "Expected the loss of a record not to depend on what collate_fn puts beside it, "
                "which it does: mask what is padded, or pad all records to one length."
            )

    @torch.no_grad()
    def _losses(self, model: nn.Module, loss_fn: Loss, index: Lot) -> Tensor:
        with torch.random.fork_rng([]):
            torch.manual_seed(0)
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


@contextmanager
def described(batch: tuple[Any, Any]) -> Iterator[None]:
    """Adds to errors, PyTorch's too, what kind of inputs and targets there were."""
    try:
        yield
    except Exception as error:
        kinds = tree_map_only(Tensor, lambda x: f"{x.dtype} {tuple(x.shape)}", batch)
        error.add_note(f"Inputs and targets of records that were tried: {kinds}.")
        raise


def _source(dataset: Any, sample_rates: Collection[float]) -> tuple[Any, DataLoader | None]:
    """Arrays that hold all records, or a loader of items."""
    if isinstance(dataset, DataLoader):
        _check_loader(dataset, sample_rates)
        if dataset.collate_fn is not default_collate or type(dataset.dataset) is not TensorDataset:
            return None, dataset
        dataset = dataset.dataset
    if isinstance(dataset, TensorDataset):
        dataset = dataset.tensors
    if isinstance(dataset, tuple | Mapping):
        return _pair(dataset), None
    items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    if not items or isinstance(dataset, (*_ARRAYS, list, str)):
        raise TypeError(
            "Expected dataset to be a pair (inputs, targets) of tensors or arrays (targets may be "
            f"None), a map-style Dataset or a DataLoader, got {type(dataset).__name__}."
        )
    return None, DataLoader(dataset)


def _check_loader(loader: DataLoader, sample_rates: Collection[float]) -> None:
    """Raise if a loader draws batches by a law of its own, or of another size than the plan."""
    sampler, size = loader.sampler, loader.batch_size
    plain = type(sampler) is SequentialSampler
    plain |= type(sampler) is RandomSampler and not sampler.replacement
    if not plain or type(loader.batch_sampler) is not BatchSampler or size is None:
        raise ValueError(
            "Expected a DataLoader of a map-style dataset with a batch_size and without a sampler, "
            f"got sampler={type(sampler).__name__}, batch_size={size}: lots are drawn by the plan."
        )
    count = len(loader.dataset)  # type: ignore[arg-type]
    # One of so many batches is what others take to be the rate.
    fits = [abs(rate * count - size) < 1 or isclose(rate * len(loader), 1) for rate in sample_rates]
    if size > 1 and not any(fits):
        raise ValueError(
            "Expected the DataLoader's batch_size to be the plan's expected lot, "
            f"{min(sample_rates) * count:.6g} records, or left out, got batch_size={size}: "
            "lots are drawn by the plan."
        )


def _pair(batch: Any) -> tuple[Any, Any]:
    """Inputs and targets; None where there are none."""
    if isinstance(batch, Mapping):
        return {name: batch[name] for name in batch if name != "labels"}, batch.get("labels")
    if not isinstance(batch, tuple | list):
        return batch, None
    *inputs, targets = batch if len(batch) > 1 else (*batch, None)
    inputs = inputs[0] if len(inputs) == 1 else inputs
    if isinstance(inputs, Mapping):
        return dict(inputs), targets
    return tuple(inputs) if isinstance(inputs, list) else inputs, targets


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
