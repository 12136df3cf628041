"""Where randomness comes from, and the noise of one step.

Three sources, in the order of how much an attacker may know:

* A seed, taken from a `torch.Generator`: every run repeats. For teaching and tests; the guarantee
  holds against those who do not know the seed.
* Default: at every step the operating system seeds fast generators anew, with 256 bits for the
  processor and 63 bits for an accelerator. They are not cryptographic. Nothing is stored.
* ``secure=True``: all noise is made of the operating system's bits, one normal from 52 of them.
  Slower. This excludes attacks on a generator, not attacks on rounding: floating-point numbers
  near a true value are not all equally likely to be hit (Mironov, 2012).

`torch.Generator` on a processor is not used for noise: it keeps 32 bits of a seed, which can be
searched, and its float32 normals never exceed 5.8 standard deviations, a gap that shows at the
deltas in use. Here normals are float64 and reach 8 standard deviations.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

from dplearn.training.bounds import Bound

Normals = Callable[[Sequence[int]], Tensor]

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
        """What draws standard normals of a given shape, in float64."""
        if self.secure:
            return lambda shape: _system_normals(shape).to(device)
        stream = self.stream(NOISE, *key)
        if device.type == "cpu":
            return lambda shape: torch.from_numpy(np.asarray(stream.standard_normal(tuple(shape))))
        generator = torch.Generator(device).manual_seed(int(stream.integers(2**63)))
        return lambda shape: torch.randn(
            tuple(shape), generator=generator, device=device, dtype=torch.float64
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


def _system_normals(shape: Sequence[int]) -> Tensor:
    """Standard normals from the operating system's bits, by the inverse distribution function."""
    bits = np.frombuffer(os.urandom(8 * int(np.prod(shape))), np.uint64) >> 12
    # (k + 1/2) / 2^52 has an exact float64, and so has its mirror image.
    return torch.from_numpy(np.asarray(ndtri((bits + 0.5) * 2.0**-52)).reshape(tuple(shape)))


def add_noise(
    sums: Mapping[str, Tensor], *, bound: Bound, noise_multiplier: float, normals: Normals
) -> None:
    """Add to each clipped sum, in place, the noise that the bound asks for."""
    groups = bound.groups({name: value.numel() for name, value in sums.items()})
    noise = bound.gradient_noise(noise_multiplier)
    for name, value in sums.items():
        value += noise * groups.scales[groups.of[name]] * normals(value.shape)
