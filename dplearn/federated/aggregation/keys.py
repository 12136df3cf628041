"""Keys, shares of them, and what they hide: pure functions of bytes.

All secrets are X25519 keys, so that one that was put together from shares can be checked against
what was advertised. Every use has a key of its own by HKDF, in whose context the session, the
purpose and both ends stand.
"""

import secrets
from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

KEY = 32
# The smallest prime above all keys.
_PRIME = 2**256 + 297
SHARE = 33
_PROBE = X25519PrivateKey.generate()


def public(secret: X25519PrivateKey) -> bytes:
    """The public half of a key."""
    return secret.public_key().public_bytes_raw()


def usable(key: bytes) -> bool:
    """Whether something is a public key with which two have more than zeros in common."""
    try:
        agreed(_PROBE, key)
    except ValueError:
        return False
    return True


def derived(secret: bytes, *context: bytes) -> bytes:
    """A key for one purpose; the parts of its context are told apart by their lengths."""
    info = b"".join(len(part).to_bytes(4, "big") + part for part in context)
    return HKDF(algorithm=SHA256(), length=KEY, salt=None, info=info).derive(secret)


def agreed(secret: X25519PrivateKey, other: bytes) -> bytes:
    """The secret that two clients have in common; ValueError if the other's key is none."""
    return secret.exchange(X25519PublicKey.from_public_bytes(other))


def stream(seed: bytes, size: int, bits: int) -> NDArray[np.unsignedinteger]:
    """Numbers mod 2^bits from the key stream of ChaCha20; a seed must not serve twice."""
    words = ring(bits)
    cipher = Cipher(algorithms.ChaCha20(seed, bytes(16)), mode=None).encryptor()
    drawn = np.frombuffer(cipher.update(bytes(size * words.itemsize)), words)
    return drawn & words.type(2**bits - 1)


def ring(bits: int) -> np.dtype:
    """Words in which whole numbers mod 2^bits are kept; their sums wrap around by themselves."""
    return np.dtype("<u4" if bits <= 32 else "<u8")


def sealed(key: bytes, plain: bytes, about: bytes) -> bytes:
    """What only who has the key can read, and nobody else make; a key must not serve twice."""
    return ChaCha20Poly1305(key).encrypt(bytes(12), plain, about)


def opened(key: bytes, box: bytes, about: bytes) -> bytes:
    """What was sealed; ValueError if it is not that."""
    try:
        return ChaCha20Poly1305(key).decrypt(bytes(12), box, about)
    except InvalidTag:
        raise ValueError("Expected a box that was sealed for this, got a forged one.") from None


def shares(secret: X25519PrivateKey, holders: Iterable[int], threshold: int) -> dict[int, bytes]:
    """Shares of a key (Shamir 1979): `threshold` of them give it, fewer tell nothing.

    Holders are numbered from 0. The key is the value at 0 of a random polynomial mod a prime.
    """
    powers = [int.from_bytes(secret.private_bytes_raw(), "big")]
    powers += [secrets.randbelow(_PRIME) for _ in range(threshold - 1)]
    at = lambda x: reduce(lambda value, power: (value * x + power) % _PRIME, reversed(powers), 0)
    return {holder: at(holder + 1).to_bytes(SHARE, "big") for holder in holders}


def joined(parts: Mapping[int, bytes]) -> X25519PrivateKey | None:
    """The key of which these are shares, by interpolation at 0; None if they are of none."""
    total = 0
    for holder, part in parts.items():
        above = below = 1
        for other in parts:
            if other != holder:
                above = above * (other + 1) % _PRIME
                below = below * (other - holder) % _PRIME
        total += int.from_bytes(part, "big") * above * pow(below, -1, _PRIME)
    if (total := total % _PRIME) >= 2**256:
        return None
    return X25519PrivateKey.from_private_bytes(total.to_bytes(KEY, "big"))
