"""What accelerators do in another way than processors; nothing here waits for a device."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor


def free_bytes(device: torch.device) -> int:
    """Free memory of an accelerator; 0 where nobody tells."""
    tell = getattr(getattr(torch, device.type, None), "mem_get_info", None)
    return tell(device)[0] if tell else 0


def moved(value: Tensor, device: torch.device) -> Tensor:
    """The value on a device; the processor goes on while it is copied to an accelerator."""
    if device.type == "cpu" or value.device.type != "cpu":
        return value.to(device)
    pinned = value.pin_memory() if device.type == "cuda" else value
    return pinned.to(device, non_blocking=device.type != "mps")  # where it loses a race


def generator(device: torch.device, seed: int) -> torch.Generator:
    """A generator of random numbers on a device."""
    return torch.Generator(device).manual_seed(seed)


@contextmanager
def forked(device: torch.device, seed: int) -> Iterator[None]:
    """Global random numbers come from a seed, on the processor and this device alone."""
    cuda = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(cuda):
        torch.default_generator.manual_seed(seed)
        for one in cuda:
            torch.cuda.default_generators[one.index or 0].manual_seed(seed)
        if device.type == "mps":
            torch.mps.manual_seed(seed)
        yield


def exactly(device: torch.device) -> AbstractContextManager:
    """Whatever a caller's autocast says, types stay as they are."""
    kind = device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.autocast(kind, enabled=False)
    return nullcontext()
