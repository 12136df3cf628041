"""Where randomness comes from, and the noise of one step.

Three sources, in the order of how much an attacker may know:

* A seed, taken from a `torch.Generator`: every run repeats. For teaching and tests; the guarantee
  holds against those who do not know the seed.
* Default: at every step the operating system seeds fast generators anew, with 256 bits for the
  processor and 63 bits for an accelerator. They are not cryptographic. Nothing is stored.
* ``secure=True``: all noise is made of the operating system's bits. Slower. This excludes attacks
  on a generator, not attacks on rounding: floating-point numbers near a true value are not all
  equally likely to be hit (Mironov, 2012).

`torch.Generator` on a processor is not used for noise: it keeps 32 bits of a seed, which can be
searched, and its float32 normals never exceed 5.8 standard deviations, a gap that shows at the
deltas in use. Here the radius of a pair of normals is made of 52 bits and reaches 8.5.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dplearn.training.bounds import Bound

# Standard normals of a shape and a type; words of 64 random bits.
Normals = Callable[[Sequence[int], torch.dtype], Tensor]
Words = Callable[[int], NDArray[np.uint64]]

# Normals drawn at once: what the processor's cache holds, and little memory.
_CHUNK = 2**16

# What is drawn, as part of the name of a stream.
LOTS, NOISE, MODEL = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Independent streams of random numbers, one for each use and step.

    Parameters
    ----------
    seed : int, optional
        Default: the operating system's randomness.
    secure : bool
        Whether noise is made of the operating system's bits alone.
    """

    seed: int | None = None
    secure: bool = False

    def __post_init__(self) -> None:
        if self.secure and self.seed is not None:
            raise ValueError("Expected secure=True without a generator, got both.")

    @classmethod
    def of(cls, generator: torch.Generator | None, *, secure: bool = False) -> Randomness:
        """Seeded by a draw from a generator, if there is one."""
        if generator is None:
            return cls(secure=secure)
        drawn = torch.randint(2**62, (), generator=generator, device=generator.device)
        return cls(seed=int(drawn), secure=secure)

    def stream(self, *key: int) -> np.random.Generator:
        """The stream of this name; without a seed a new one each time."""
        entropy = secrets.randbits(256) if self.seed is None else (self.seed, *key)
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy, pool_size=8)))

    def normals(self, device: torch.device, *key: int) -> Normals:
        """What draws standard normals on a device."""
        stream = self.stream(NOISE, *key)
        if device.type == "cuda" and not self.secure:
            generator = torch.Generator(device).manual_seed(int(stream.integers(2**63)))
            return lambda shape, dtype: torch.randn(
                tuple(shape), generator=generator, device=device, dtype=dtype
            )
        words = _system_words if self.secure else stream.bit_generator.random_raw
        return lambda shape, dtype: _normals(words, shape, dtype).to(device)

    @contextmanager
    def for_model(self, device: torch.device, *key: int) -> Iterator[None]:
        """Dropout and the like draw from a seeded stream too, which ends with the context."""
        if self.seed is None:
            yield
            return
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(int(self.stream(MODEL, *key).integers(2**63)))
            yield


def _system_words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(bytearray(os.urandom(8 * count)), np.uint64)


def _normals(words: Words, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Standard normals in pairs, from a radius and an angle (Box & Muller, 1958)."""
    count = math.prod(shape)
    pairs, quarters = -(-count // 2), -(-count // 4)
    bits = words(pairs + quarters)
    # (k + 1/2) / 2^52 in (0, 1): exact, and never 0.
    uniform = torch.from_numpy(bits[:pairs].view(np.int64) >> 12).double()
    radius = uniform.add_(2.0**51 + 0.5).mul_(2.0**-52).log_().to(dtype).mul_(-2).sqrt_()
    turns = torch.from_numpy(bits[pairs:].view(np.int32))[:pairs]
    angle = turns.to(dtype).mul_(math.pi * 2.0**-31)
    found = torch.cat([angle.cos().mul_(radius), angle.sin_().mul_(radius)])
    return found[:count].view(tuple(shape))


def add_noise(
    sums: Mapping[str, Tensor], *, bound: Bound, noise_multiplier: float, normals: Normals
) -> None:
    """Add to each clipped sum, in place, the noise that the bound asks for."""
    groups = bound.groups({name: value.numel() for name, value in sums.items()})
    noise = bound.gradient_noise(noise_multiplier)
    for name, value in sums.items():
        rows = torch.atleast_1d(value)
        for part in rows.split(max(1, _CHUNK * len(rows) // max(1, value.numel()))):
            part.add_(normals(part.shape, part.dtype), alpha=noise * groups.scales[groups.of[name]])
