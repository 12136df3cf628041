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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dplearn.training.bounds import Bound

# Adds standard normals times a factor, in place; makes so many words of 64 random bits.
AddNormals = Callable[[Tensor, float], object]
Words = Callable[[int], NDArray[np.uint64]]

# Normals drawn at once: few enough for the processor's cache.
_CHUNK = 2**16

# What is drawn, as part of the name of a stream.
LOTS, NOISE, MODEL = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Independent streams of random numbers, one for each use and step."""

    seed: int | None = None  # None: the operating system's randomness
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

    def normals(self, device: torch.device, *key: int) -> AddNormals:
        """Function that adds normals to contiguous tensors on a device."""
        if self.secure:
            return partial(_add_normals, _system_words)
        stream = self.stream(NOISE, *key)
        if device.type == "cpu":
            return partial(_add_normals, stream.bit_generator.random_raw)
        generator = torch.Generator(device).manual_seed(int(stream.integers(2**63)))
        return lambda value, scale: value.add_(
            torch.empty_like(value).normal_(generator=generator), alpha=scale
        )

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


def _add_normals(words: Words, value: Tensor, scale: float) -> None:
    for part in value.view(-1).split(_CHUNK):
        first, second = part.tensor_split([-(-len(part) // 2)])
        radius, angle = _polar(words, len(first), value)
        first.addcmul_(angle.cos(), radius, value=scale)
        second.addcmul_(angle.sin_()[: len(second)], radius[: len(second)], value=scale)


def _polar(words: Words, count: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Points of a plane, normal in each coordinate (Box & Muller, 1958)."""
    bits = words(count + -(-count // 2))
    whole = torch.from_numpy(bits[:count].view(np.int64) >> 12)  # 52 bits
    # (k + 1/2) / 2^52 in (0, 1): exact, and never 0.
    uniform = whole.double().add_(2.0**51 + 0.5).mul_(2.0**-52)
    turns = torch.from_numpy(bits[count:].view(np.int32)[:count])
    radius = uniform.log_().to(like).mul_(-2).sqrt_()
    return radius, turns.to(like).mul_(math.pi * 2.0**-31)


def add_noise(
    sums: Mapping[str, Tensor], *, bound: Bound, noise_multiplier: float, add_normals: AddNormals
) -> None:
    """Add to each clipped sum, in place, the noise that the bound asks for."""
    groups = bound.groups({name: value.numel() for name, value in sums.items()})
    noise = bound.gradient_noise(noise_multiplier)
    for name, value in sums.items():
        add_normals(value, noise * groups.scales[groups.of[name]])
