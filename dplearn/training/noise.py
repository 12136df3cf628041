"""Sources of randomness for lots, noise and models, and the noise of one step.

* With a `torch.Generator`, which gives the seed, every run repeats: for teaching and tests.
* Without one, noise comes from a cipher with a new key at every step, lots from a 256-bit seed.
* An accelerator draws noise itself, from a new 63-bit seed at every step; this is not
  cryptographic. With ``secure=True`` the CPU draws this noise too, by the cipher.

`torch.Generator` on a CPU is not used for noise: it uses 32 bits of a seed, and its float32
normals never exceed 5.8 standard deviations.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from dplearn.core import normals
from dplearn.training import devices

LOTS, NOISE, MODEL = 0, 1, 2  # first number of a stream's key: what the stream is for


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Independent streams of random numbers, one for each use and step."""

    seed: int | None = None  # None: seeds come from the operating system
    secure: bool = False  # whether an accelerator's own generator draws no noise
    _fresh: Any = field(default_factory=normals.generator, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, generator: torch.Generator | None, *, secure: bool = False) -> Self:
        """Return streams with a seed drawn from a generator, or without a seed if it is None."""
        if generator is None:
            return cls(secure=secure)
        if secure:
            raise ValueError("Expected secure=True without a generator, got both.")
        return cls(seed=int(torch.randint(2**62, (), generator=generator, device=generator.device)))

    def stream(self, *key: int) -> np.random.Generator:
        """Return the random generator for `key`; without a seed, the same one for all keys."""
        return self._fresh if self.seed is None else normals.generator((self.seed, *key))

    def normals(self, runs: Sequence[tuple[int, float]], like: Tensor, *key: int) -> Tensor:
        """Return a vector of normal noise, on the device of `like`; `runs` are (entries, scale)."""
        on_device = like.device.type != "cpu" and not self.secure
        if len({scale for _, scale in runs}) == 1 and (on_device or self.seed is None):
            runs = [(sum(size for size, _ in runs), runs[0][1])]
        sizes = [size for size, _ in runs]
        flat = torch.empty(sum(sizes), dtype=like.dtype, device=like.device if on_device else "cpu")
        parts = zip(flat.split(sizes), runs, strict=True)
        if on_device:
            seed = int(self.stream(NOISE, *key).integers(2**63))
            flat.normal_(generator=torch.Generator(like.device).manual_seed(seed))
            for part, (_, scale) in parts:
                part *= scale
            return flat
        seeded = self.seed is not None
        words = normals.generated(self.stream(NOISE, *key)) if seeded else normals.ciphered()
        for part, (_, scale) in parts:
            normals.fill(part.numpy(), scale, words)
        return devices.moved(flat, like.device)

    def for_model(self, device: torch.device, *key: int) -> AbstractContextManager[None]:
        """Return a context in which a model draws seeded random numbers, if there is a seed."""
        if self.seed is None:
            return nullcontext()
        return devices.forked(device, int(self.stream(MODEL, *key).integers(2**63)))
