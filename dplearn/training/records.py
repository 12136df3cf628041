"""The rows of a dataset, on the device that needs them."""

import os
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.data import Dataset, TensorDataset, default_collate

from dplearn.training.sampling import Lot


class Records:
    """A dataset as (inputs, targets), whole on the device if it fits.

    The dataset is a pair (inputs, targets) of tensors with one row per record, where inputs may
    also be a tuple or dict of tensors; or it has a length and such pairs as items. Unless
    `resident` says otherwise, tensors stay on the device if they take at most half of what is free.
    """

    def __init__(self, dataset: Any, *, device: torch.device, resident: bool | None) -> None:
        if isinstance(dataset, TensorDataset):
            *inputs, targets = dataset.tensors
            dataset = inputs[0] if len(inputs) == 1 else tuple(inputs), targets
        self._dataset, self._device = dataset, device
        self._stacked = not isinstance(dataset, Dataset)
        self._size = _rows(dataset) if self._stacked else len(dataset)
        if self._size == 0:
            raise ValueError("Expected a dataset with at least one record, got 0.")
        if resident is None:
            resident = self._stacked and 2 * self._bytes() <= free_bytes(device)
        if resident:
            self._move()

    def __len__(self) -> int:
        return self._size

    def rows(self, index: Lot) -> tuple[Any, Any]:
        """Inputs and targets of these records, on the device."""
        if self._stacked:
            at = torch.from_numpy(index)
            pair = tree_map_only(Tensor, lambda x: x[at.to(x.device)], self._dataset)
        else:
            pair = default_collate([self._dataset[i] for i in index.tolist()])
        inputs, targets = tree_map_only(Tensor, lambda x: x.to(self._device), pair)
        return tuple(inputs) if isinstance(inputs, list) else inputs, targets

    def _bytes(self) -> int:
        """Memory that all records take."""
        whole = self._dataset if self._stacked else self.rows(np.zeros(1, np.int64))
        used = sum(x.nbytes for x in tree_leaves(whole) if isinstance(x, Tensor))
        return used if self._stacked else used * self._size

    def _move(self) -> None:
        needed, free = self._bytes(), free_bytes(self._device)
        on_device = self._stacked and all(
            x.device == self._device for x in tree_leaves(self._dataset)
        )
        if needed > free and not on_device:
            raise ValueError(
                f"Expected at most {free:.3g} bytes of records on {self._device} with "
                f"device_resident=True, got {needed:.3g}: use device_resident=False."
            )
        if self._stacked:
            move = lambda x: x.to(self._device)
            self._dataset = tree_map_only(Tensor, move, self._dataset)
        else:
            self._dataset, self._stacked = self.rows(np.arange(self._size)), True


def _rows(dataset: Any) -> int:
    """Number of rows that all tensors have."""
    if not isinstance(dataset, tuple) or len(dataset) != 2:
        raise TypeError(
            "Expected dataset to be a pair (inputs, targets) of tensors or a Dataset, "
            f"got {type(dataset).__name__}."
        )
    sizes = {len(x) if isinstance(x, Tensor) and x.dim() else -1 for x in tree_leaves(dataset)}
    if len(sizes) != 1 or -1 in sizes:
        raise ValueError("Expected inputs and targets to be tensors with one row per record.")
    return sizes.pop()


def free_bytes(device: torch.device) -> int:
    """Free memory of a device."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
