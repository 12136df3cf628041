"""Transfer of tensors, random generators and autocast on CPUs and accelerators."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor


def moved(value: Tensor, device: torch.device) -> Tensor:
    """Move a tensor to a device; copies from the CPU are asynchronous, except to MPS."""
    if device.type == "cpu" or value.device.type != "cpu":
        return value.to(device)
    pinned = value.pin_memory() if device.type == "cuda" else value
    return pinned.to(device, non_blocking=device.type != "mps")  # asynchronous copies race on MPS


def random_states(device: torch.device) -> list[Tensor]:
    """Return the states of the global random generators of the CPU and of a CUDA device."""
    own = [torch.cuda.get_rng_state(device)] if device.type == "cuda" else []
    return [torch.get_rng_state(), *own]


@contextmanager
def forked(device: torch.device, seed: int | list[Tensor]) -> Iterator[None]:
    """Set the global random generators from a seed or states in a context, then restore them."""
    cuda = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(cuda):
        if isinstance(seed, list):
            torch.set_rng_state(seed[0])
            for state in seed[1:]:
                torch.cuda.set_rng_state(state, device)
        else:
            torch.default_generator.manual_seed(seed)
            for one in cuda:
                torch.cuda.default_generators[one.index or 0].manual_seed(seed)
            if device.type == "mps":
                torch.mps.manual_seed(seed)
        yield


def exactly(device: torch.device) -> AbstractContextManager:
    """Return a context that disables the caller's autocast."""
    kind = device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.autocast(kind, enabled=False)
    return nullcontext()
