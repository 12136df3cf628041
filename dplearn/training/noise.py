"""Sources of randomness for lots, noise and models, and the noise of one step.

* With a `torch.Generator`, which gives the seed, every run repeats: for teaching and tests.
* Without one, noise comes from the key stream of AES-256 in counter mode, with a new key from the
  operating system at every step, which is not stored. This prevents attacks on a generator, not on
  rounding (Mironov, 2012), see lesson 14. Lots come from a fast 256-bit generator.
* An accelerator draws noise itself, from a new 63-bit seed at every step; this is not
  cryptographic. With ``secure=True`` the CPU draws this noise too, by the cipher.

`torch.Generator` on a CPU is not used for noise: it uses 32 bits of a seed, and its float32
normals never exceed 5.8 standard deviations. The normals of this module reach 9.4.
"""

import math
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dplearn.training import devices

Words = Callable[[int], Any]  # for n, returns two arrays of n random 32-bit words

_CHUNK = 2**16  # normals drawn at once, to fit into the CPU cache; an eighth as many with AES
_ZEROS = bytes(4 * _CHUNK)
_SMALL = 2**8  # random words below this get 32 more random bits

LOTS, NOISE, MODEL = 0, 1, 2  # first number of a stream's key: what the stream is for


def _generator(entropy: Any = None) -> np.random.Generator:
    """Return a generator; by default, its seed is 256 bits from the operating system."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy, pool_size=8)))


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Independent streams of random numbers, one for each use and step."""

    seed: int | None = None  # None: seeds come from the operating system
    secure: bool = False  # whether an accelerator's own generator draws no noise
    _fresh: Any = field(default_factory=_generator, init=False, repr=False, compare=False)

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
        return self._fresh if self.seed is None else _generator((self.seed, *key))

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
            flat.normal_(generator=devices.generator(like.device, seed))
            for part, (_, scale) in parts:
                part *= scale
            return flat
        if self.seed is None:
            words, chunk = _ciphered(), _CHUNK // 8
        else:
            words, chunk = partial(_generated, self.stream(NOISE, *key)), _CHUNK
        for part, (size, scale) in parts:
            whole = part.numpy()
            for first in range(0, size, chunk):
                _draw(words, whole[first : first + chunk], scale)
        return devices.moved(flat, like.device)

    def for_model(self, device: torch.device, *key: int) -> AbstractContextManager[None]:
        """Return a context in which a model draws seeded random numbers, if there is a seed."""
        if self.seed is None:
            return nullcontext()
        return devices.forked(device, int(self.stream(MODEL, *key).integers(2**63)))


def _ciphered() -> Words:
    """Return a source of random words from AES-256 in counter mode with a new key."""
    from cryptography.hazmat.primitives import ciphers  # type: ignore

    aes, start = ciphers.algorithms.AES(os.urandom(32)), ciphers.modes.CTR(bytes(16))
    encrypt = ciphers.Cipher(aes, start).encryptor().update
    return lambda count: np.frombuffer(encrypt(_ZEROS[: 8 * count]), np.uint32).reshape(2, count)


def _generated(stream: np.random.Generator, count: int) -> tuple[NDArray, NDArray]:
    drawn = stream.bit_generator.random_raw(count + -(-count // 2))
    return (drawn[:count] >> 32) ^ 2**31, drawn[count:].view(np.uint32)[:count]


def _draw(words: Words, out: NDArray, scale: float) -> None:
    """Fill `out` with normal noise, by the transform of Box & Muller (1958)."""
    half = -(-len(out) // 2)
    first, second = out[:half], out[half:]
    whole, turns = words(half)
    radius = whole.astype(out.dtype)
    if radius.min(initial=_SMALL) < _SMALL:
        small = np.flatnonzero(radius < _SMALL)
        # Add (k + 1/2) / 2^32 > 0 with a random word k.
        radius[small] += (words(len(small))[0] + 0.5) * 2.0**-32
    radius *= 2.0**-32
    np.log(radius, out=radius)
    radius *= -2
    np.sqrt(radius, out=radius)
    radius *= scale
    angle = turns.view(np.int32).astype(out.dtype)
    angle *= math.pi * 2.0**-31
    np.cos(angle, out=first)
    first *= radius
    np.sin(angle[: len(second)], out=second)
    second *= radius[: len(second)]
