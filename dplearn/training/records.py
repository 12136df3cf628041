"""Loading of a dataset's records, lot by lot, onto the training device."""

import hashlib
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils import _pytree as pytree
from torch.utils import data
from torch.utils._pytree import tree_map_only

from dplearn.training.checks import probing
from dplearn.training.devices import forked, moved
from dplearn.training.tape import Loss, passed

Lot = NDArray[np.int64]  # indices of the records of a step
_ARRAYS = Tensor, np.ndarray
_GENERATORS = np.random.Generator, np.random.RandomState, torch.Generator, random.Random


class Records:
    """Dataset of any kind that `fit` accepts; records are moved to the device of `like`."""

    def __init__(self, dataset: Any, *, like: Tensor, most: int | None = None) -> None:
        self._like, self._most = like, most  # most records in a micro-batch
        self.forget()
        self._options: dict[str, Any] = {"collate_fn": data.default_collate}
        if isinstance(dataset, data.DataLoader):
            self._options, dataset = _options(dataset), dataset.dataset
        self._collate = self._options["collate_fn"]
        if type(dataset) is data.TensorDataset and self._collate is data.default_collate:
            dataset = dataset.tensors
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
        self.of_items = not isinstance(dataset, tuple | Mapping)  # False for arrays
        self._dataset: Any = dataset
        self.size = len(dataset)
        if not self.of_items:
            pair = dict(zip(("inputs", "targets"), _pair(dataset), strict=True))
            rows = lambda x: len(x) if isinstance(x, _ARRAYS) and x.ndim else type(x).__name__
            leaves = pytree.tree_leaves_with_path(pair)
            sizes: Any = {pytree.keystr(path): rows(x) for path, x in leaves if x is not None}
            self.size = next(iter(sizes.values()), 0)
            for name, size in sizes.items():
                if isinstance(size, str) or size != self.size:
                    raise ValueError(
                        "Expected inputs and targets to be arrays with one row per record, got "
                        f"{size} in {name} and {self.size} in the first: a setting belongs to the "
                        "model or its configuration."
                    )
            self._dataset = pytree.tree_flatten(self._typed(dataset))
        if self.size == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")

    def rows(self, index: Any) -> tuple[Any, Any]:
        """Return inputs and targets of the records at `index`, on the device of `like`."""
        if self.of_items:
            return self._there(self._collate([self._dataset[i] for i in index]))
        at, device = torch.as_tensor(index, dtype=torch.long), self._like.device
        rows = lambda x: moved(x.index_select(0, moved(at, x.device)), device)
        arrays, structure = self._dataset
        return pytree.tree_unflatten([x if x is None else rows(x) for x in arrays], structure)

    def digest(self) -> str:
        """Return a hash of 64 records, or only of their targets if inputs may be augmented."""
        pair = self.rows(np.linspace(0, self.size - 1, 64).astype(int).tolist())
        parts = pair if pair[1] is None or not self.of_items else pair[1]
        values = tree_map_only(Tensor, Tensor.tolist, parts)
        return hashlib.sha256(repr([self.size, values]).encode()).hexdigest()

    def parts(self, steps: range, lot: Callable[[int], Lot]) -> Iterator[Any]:
        """Return the micro-batches of step `steps[0]`; workers load those of later steps ahead."""
        if not self.of_items:
            return map(self.rows, self.cut(lot(steps[0])))
        if steps[0] != self._due:
            self.forget()  # end old workers before new ones start
            order: Any = (part.tolist() for step in steps for part in self.cut(lot(step)))
            with torch.random.fork_rng([]):  # the loader draws a seed: restore the state
                loader = data.DataLoader(self._dataset, batch_sampler=order, **self._options)
                self._coming = iter(loader)
        self._due = steps[0] + 1
        # In a generator, StopIteration from an item is an error, not the end of the lot.
        return (self._there(next(self._coming)) for _ in self.cut(lot(steps[0])))

    def cut(self, lot: Lot) -> list[Lot]:
        """Divide a lot into micro-batches of nearly equal size; an empty lot has none."""
        usual = 256 if self._like.device.type == "cpu" else len(lot) + 1  # for the caches of a CPU
        count = -(-len(lot) // self._most) if self._most else max(1, round(len(lot) / usual))
        return np.array_split(lot, count) if count > 1 else [lot] * (len(lot) > 0)

    def forget(self) -> None:
        """Drop the lots loaded ahead, and end the workers."""
        self._due, self._coming = -1, iter(())  # step that is loaded next, its micro-batches

    def _typed(self, batch: Any) -> tuple[Any, Any]:
        """Convert arrays to tensors, float64 to the model's type, integer labels to 64 bits."""
        with warnings.catch_warnings():  # tensors share memory even with read-only arrays
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            inputs, targets = tree_map_only(np.ndarray, torch.from_numpy, _pair(batch))
        narrow = lambda x: x.to(self._like.dtype) if x.dtype == torch.float64 else x
        long = lambda x: x.long() if x.dtype in (torch.int16, torch.int32) else narrow(x)
        return tree_map_only(Tensor, narrow, inputs), tree_map_only(Tensor, long, targets)

    def _there(self, batch: Any) -> tuple[Any, Any]:
        return tree_map_only(Tensor, lambda x: moved(x, self._like.device), self._typed(batch))

    def check_items(self, model: nn.Module, loss_fn: Loss) -> None:
        """Raise if the loss of a record depends on records drawn before it or collated with it."""
        own = getattr(self._dataset, "__dict__", {}).values()
        if not self.of_items or any(isinstance(x, _GENERATORS) for x in own):
            return  # items drawn by the dataset's own generators differ at each access
        places = range(min(8, self.size))

        def losses(index: Sequence[int]) -> Tensor:
            with forked(self._like.device, 0), torch.no_grad():
                batch = self._there(self._collate([_item(self._dataset, i) for i in index]))
                return passed(model, loss_fn, batch)

        with probing(model):
            model.eval()
            together = losses(places)
            alone = torch.stack([losses([i] * len(places))[i] for i in places])
        if not torch.allclose(alone, together, rtol=1e-3, equal_nan=True):
            raise ValueError(
                "Expected the loss of a record not to depend on what is drawn before it or what "
                "collate_fn puts beside it, which it does: an item may hold no data of others; "
                "mask what is padded, or pad all records to one length."
            )


def _options(loader: data.DataLoader) -> dict[str, Any]:
    """Return a DataLoader's options for loading items; ValueError if it has a custom sampler."""
    sampler = loader.sampler
    plain = type(sampler) in (data.SequentialSampler, data.RandomSampler)
    plain &= not getattr(sampler, "replacement", False)
    if not plain or type(loader.batch_sampler) is not data.BatchSampler:
        raise ValueError(
            "Expected a DataLoader of a map-style dataset with a batch_size and without a sampler, "
            f"got sampler={type(sampler).__name__}, batch_size={loader.batch_size}: lots are drawn "
            "by the plan."
        )
    names = ["collate_fn", "num_workers", "prefetch_factor", "worker_init_fn", "generator"]
    names += ["multiprocessing_context", "pin_memory", "timeout"]
    return {name: getattr(loader, name) for name in (names if loader.num_workers else names[:1])}


def _item(dataset: Any, i: int) -> Any:
    """Load an item after setting the global random generators to the same seed for all items."""
    states = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(0), random.seed(0)  # noqa: NPY002
    with forked(torch.device("cpu"), 0):
        item = tree_map_only(Tensor, Tensor.clone, dataset[i])
    np.random.set_state(states[0]), random.setstate(states[1])  # noqa: NPY002
    return item


def _pair(batch: Any) -> tuple[Any, Any]:
    """Return the inputs and targets of a batch or a dataset."""
    if isinstance(batch, Mapping):
        batch = {name: batch[name] for name in batch if name != "labels"}, batch.get("labels")
    parts = list(batch) if isinstance(batch, tuple | list) else [batch]
    *inputs, targets = parts if len(parts) > 1 else [*parts, None]
    if len(inputs) > 1 or isinstance(inputs[0], list):
        return tuple(inputs if len(inputs) > 1 else inputs[0]), targets
    return dict(inputs[0]) if isinstance(inputs[0], Mapping) else inputs[0], targets
