"""Loading of a dataset's records, lot by lot, onto the training device."""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import data
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.run import Plan
from dplearn.training.devices import forked, moved
from dplearn.training.guard import probing
from dplearn.training.sampling import Lot, largest_pass, micro_batches
from dplearn.training.tape import Loss, called

Part = tuple[Any, Any, Tensor | None]  # inputs, targets, and a mask that is False for padding

_ARRAYS = Tensor, np.ndarray
# Settings of a DataLoader for how items are loaded, not which.
_LOADING = """num_workers prefetch_factor worker_init_fn multiprocessing_context pin_memory timeout
    generator"""
# Records compared with and without the others; relative tolerance of their losses.
_COMPARED, _ROUNDING = 8, 1e-3
_DIGESTED = 64  # records that processes compare
_GENERATORS = np.random.Generator, np.random.RandomState, torch.Generator, random.Random


class Records:
    """Dataset of any kind that `fit` takes, as (inputs, targets) on the device of `like`."""

    def __init__(self, dataset: Any, plan: Plan, *, like: Tensor) -> None:
        self._like, self._due, self._coming = like, -1, iter(())
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
        if type(dataset) is data.TensorDataset and self._collate is data.default_collate:
            dataset = dataset.tensors
        if isinstance(dataset, tuple | Mapping):
            dataset = _Arrays(dataset)
        columns = isinstance(dataset, list) and isinstance(dataset[0] if dataset else 0, _ARRAYS)
        items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
        stream = isinstance(dataset, data.IterableDataset)
        if columns or stream or isinstance(dataset, (*_ARRAYS, str)) or not items:
            raise TypeError(
                "Expected dataset to be a pair (inputs, targets) of tensors or arrays (targets may "
                "be None), a map-style Dataset, a list of pairs or a DataLoader, got "
                f"{type(dataset).__name__}{' of arrays' if columns else ''}"
                f"{': lots are drawn by number, so make a list of it' if stream else ''}."
            )
        self._dataset = dataset
        if len(self) == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")
        leaves = () if self.of_items else tree_leaves(dataset.pair)
        types = like.dtype, torch.long, torch.bool
        ready = [isinstance(x, Tensor) and x.device == like.device for x in leaves]
        # Whether all tensors have the right device and type already.
        self._ready = all(ready) and all(x.dtype in types for x in leaves) and bool(leaves)
        # On a CPU, few rows at a time take less memory and stay in the caches.
        most = largest_pass(plan, len(self)) if like.device.type == "cpu" else None
        self._cut: Any = partial(micro_batches, most=most)

    def __len__(self) -> int:
        return len(self._dataset)

    @property
    def of_items(self) -> bool:
        """Whether the dataset's own code produces the records."""
        return not isinstance(self._dataset, _Arrays)

    def rows(self, index: Sequence[int]) -> tuple[Any, Any]:
        """Return inputs and targets of these records, on the device."""
        return self._taken(next(self._loaded([index])), None)[:2]

    def digest(self) -> str:
        """Return a digest of a few records; for items, of targets only: inputs may be augmented."""
        places = np.linspace(0, len(self) - 1, _DIGESTED).astype(int).tolist()
        inputs, targets = self.rows(places)
        drawn = targets is not None and self.of_items
        leaves = tree_leaves(targets if drawn else (inputs, targets))
        values = [x.tolist() if isinstance(x, Tensor) else x for x in leaves]
        return hashlib.sha256(repr([len(self), values]).encode()).hexdigest()

    def parts(
        self, steps: range, lot: Callable[[int], Lot], micro_batch: int | None
    ) -> Iterator[Part]:
        """Return the micro-batches of the first step; workers load those of later steps ahead."""
        cut = partial(self._cut, micro_batch=micro_batch)
        if not self.of_items:
            return (self._taken(self._dataset.rows(i), mask) for i, mask in cut(lot(steps[0])))
        if steps[0] != self._due:
            self.forget()  # end old workers before new ones start
            order = (part.tolist() for step in steps for part, _ in cut(lot(step)))
            self._coming = self._loaded(order, **self._options)
        self._due = steps[0] + 1
        # In a generator, StopIteration from an item is an error, not the end of the lot.
        return (self._taken(next(self._coming), mask) for _, mask in cut(lot(steps[0])))

    def forget(self) -> None:
        """Drop the lots loaded ahead, and end the workers."""
        self._due, self._coming = -1, iter(())

    def _loaded(self, order: Iterable[Sequence[int]], **options: Any) -> Iterator[Any]:
        """Return an iterator over batches of these records."""
        if not self.of_items:
            return map(self._dataset.rows, order)
        options |= {"batch_sampler": order, "collate_fn": self._collate}
        with torch.random.fork_rng([]):  # a loader draws a seed for its workers
            return iter(data.DataLoader(self._dataset, **options))

    def _taken(self, batch: Any, mask: Tensor | None) -> Part:
        """Return a micro-batch on the device, in types that models and losses accept."""
        if self._ready:
            return (*batch, self._there(mask))
        inputs, targets = _pair(tree_map_only(np.ndarray, _tensor, batch))
        small = (torch.int16, torch.int32)
        # Losses need 64-bit labels.
        targets = tree_map_only(
            Tensor, lambda x: x.long() if x.dtype in small else x, self._there(targets)
        )
        return self._there(inputs), targets, self._there(mask)

    def _there(self, tree: Any) -> Any:
        """Return tensors on the device, with float64 converted to the model's type."""
        narrow = self._like.dtype
        type_of = lambda x: x.to(narrow) if x.dtype == torch.float64 else x
        return tree_map_only(Tensor, lambda x: moved(type_of(x), self._like.device), tree)

    def check_items(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if a record depends on records drawn before it or collated with it."""
        own = getattr(self._dataset, "__dict__", {}).values()
        if not self.of_items or any(isinstance(x, _GENERATORS) for x in own):
            return  # its own generators give other numbers in another order
        places = range(min(_COMPARED, len(self)))

        def losses(index: Sequence[int]) -> Tensor:
            with forked(self._like.device, 0), torch.no_grad():
                batch = self._collate([_drawn(self._dataset, i) for i in index])
                inputs, targets, _ = self._taken(batch, None)
                return loss_fn(called(model, inputs), targets)

        with probing(model):
            model.eval()
            together = losses(places)
            alone = torch.stack([losses([i] * len(places))[i] for i in places])
        if not torch.allclose(alone, together, rtol=_ROUNDING, equal_nan=True):
            raise ValueError(
                "Expected the loss of a record not to depend on what is drawn before it or what "
                "collate_fn puts beside it, which it does: an item may hold no data of others; "
                "mask what is padded, or pad all records to one length."
            )


def _drawn(dataset: Any, i: int) -> Any:
    """Return an item, loaded with the same global random seed as every other."""
    states = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(0), random.seed(0)  # noqa: NPY002
    with forked(torch.device("cpu"), 0):
        item = tree_map_only(Tensor, Tensor.clone, dataset[i])
    np.random.set_state(states[0]), random.setstate(states[1])  # noqa: NPY002
    return item


class _Arrays:
    """Dataset of arrays with one row per record."""

    __getitem__ = None  # `rows` is used instead

    def __init__(self, arrays: Any) -> None:
        self.pair = _pair(arrays)
        leaves: list[Any] = [x for x in tree_leaves(self.pair) if x is not None]
        sizes = {len(x) if isinstance(x, _ARRAYS) and x.ndim else -1 for x in leaves}
        if len(sizes) != 1 or -1 in sizes:
            raise ValueError("Expected inputs and targets to be arrays with one row per record.")
        (self._count,) = sizes

    def __len__(self) -> int:
        return self._count

    def rows(self, index: Sequence[int]) -> tuple[Any, Any]:
        """Return these rows."""
        at = torch.as_tensor(index, dtype=torch.long)
        rows = lambda x: x.index_select(0, moved(at, x.device))
        if type(self.pair[0]) is type(self.pair[1]) is Tensor:
            return rows(self.pair[0]), rows(self.pair[1])
        take = lambda x: rows(x) if isinstance(x, Tensor) else x[index]
        return tree_map_only(_ARRAYS, take, self.pair)


def _pair(batch: Any) -> tuple[Any, Any]:
    """Return the inputs and targets of an item, a batch or a dataset."""
    if isinstance(batch, Mapping):
        batch = {name: batch[name] for name in batch if name != "labels"}, batch.get("labels")
    parts = list(batch) if isinstance(batch, tuple | list) else [batch]
    *inputs, targets = parts if len(parts) > 1 else [*parts, None]
    if len(inputs) > 1 or isinstance(inputs[0], list):
        return tuple(inputs if len(inputs) > 1 else inputs[0]), targets
    return dict(inputs[0]) if isinstance(inputs[0], Mapping) else inputs[0], targets


def _tensor(array: Tensor | np.ndarray) -> Tensor:
    """Return an array as a tensor, copied only if the array is read-only."""
    if isinstance(array, Tensor):
        return array
    return torch.from_numpy(np.require(array, requirements="W"))
