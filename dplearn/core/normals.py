"""Normal random numbers from the key stream of a cipher or from a seeded generator.

Numbers of AES-256 in counter mode, with a new key from the operating system, cannot be predicted.
This prevents attacks on a generator, not on rounding (Mironov, 2012), see lesson 14.
"""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = Callable[[int], Any]  # for n, returns two arrays of n random 32-bit words
CHUNK = 2**16  # normals drawn at once, to fit into the CPU cache
_ZEROS = bytes(4 * CHUNK)
_SMALL = 2**8  # random words below this get 32 more random bits


def generator(entropy: Any = None) -> np.random.Generator:
    """Return a generator; by default, its seed is 256 bits from the operating system."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy, pool_size=8)))


def ciphered() -> Words:
    """Return a source of random words from AES-256 in counter mode with a new key."""
    from cryptography.hazmat.primitives import ciphers  # type: ignore

    aes, start = ciphers.algorithms.AES(os.urandom(32)), ciphers.modes.CTR(bytes(16))
    encrypt = ciphers.Cipher(aes, start).encryptor().update
    return lambda count: np.frombuffer(encrypt(_ZEROS[: 8 * count]), np.uint32).reshape(2, count)


def generated(rng: np.random.Generator) -> Words:
    """Return a source of random words from a generator."""

    def words(count: int) -> tuple[NDArray, NDArray]:
        drawn = rng.bit_generator.random_raw(count + -(-count // 2))
        return (drawn[:count] >> 32) ^ 2**31, drawn[count:].view(np.uint32)[:count]

    return words


def fill(out: NDArray, scale: float, words: Words) -> None:
    """Fill a vector with normal noise, at most 9.5 `scale`, by Box & Muller (1958)."""
    for part in (out[first : first + CHUNK] for first in range(0, len(out), CHUNK)):
        half = -(-len(part) // 2)
        first, second = part[:half], part[half:]
        whole, turns = words(half)
        radius = whole.astype(out.dtype)
        if radius.min() < _SMALL:
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
