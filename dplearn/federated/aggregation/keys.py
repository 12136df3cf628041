"""Keys, shares of them, and what they hide: pure functions of bytes.

All secrets are keys of the curve P-256, so that one that was put together from shares can be
checked against what was advertised, and shares can be checked before they are needed. Every use has
a key of its own by HKDF, in whose context the session, the purpose and both ends stand.
"""

import secrets
from collections.abc import Iterable, Mapping
from functools import reduce
from hashlib import sha256

import numpy as np
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from numpy.typing import NDArray

_CURVE = ec.SECP256R1()
# Number of points of the curve, a prime: keys and shares are numbers below it.
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
KEY, NUMBER, SEAL = 33, 32, 32
# A share and what blinds it in the proof.
PART = 2 * NUMBER


def fresh() -> bytes:
    """A random secret key, 32 bytes."""
    return _packed(1 + secrets.randbelow(_ORDER - 1))


def _private(secret: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(secret, "big"), _CURVE)


def public(secret: bytes) -> bytes:
    """The public half of a secret key, 33 bytes."""
    half = _private(secret).public_key()
    return half.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


def public_key(key: bytes) -> ec.EllipticCurvePublicKey:
    """The point of the curve that bytes encode; ValueError if they encode none."""
    return ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, key)


def derived(secret: bytes, *context: bytes) -> bytes:
    """A key for one purpose; the parts of its context are told apart by their lengths."""
    info = b"".join(len(part).to_bytes(4, "big") + part for part in context)
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret)


def agreed(secret: bytes, other: bytes) -> bytes:
    """The secret that two clients have in common; ValueError if the other's key is none."""
    return _private(secret).exchange(ec.ECDH(), public_key(other))


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
    """Box of a plain text, to be read and made with the key alone; a key must not serve twice."""
    return ChaCha20Poly1305(key).encrypt(bytes(12), plain, about)


def opened(key: bytes, box: bytes, about: bytes) -> bytes | None:
    """Plain text in a box; None if it was not sealed with this key for this session."""
    try:
        return ChaCha20Poly1305(key).decrypt(bytes(12), box, about)
    except InvalidTag:
        return None


def dealt(
    secret: bytes, holders: Iterable[int], threshold: int, about: bytes
) -> tuple[dict[int, bytes], dict[int, bytes], bytes]:
    r"""Parts of a key and their seals, one for each holder, and a proof that they fit together.

    `threshold` shares give the key, fewer tell nothing (Shamir 1979): they are values of a random
    polynomial f with the key at 0; holders are numbered from 0. A blind is a value of another one,
    b. The proof is the point b(0)G and the polynomial cf + b, where c is a hash of that point and
    of all seals (SHA-256 of parts): it tells nothing of f, and a holder whose part fits knows that
    its share is on an f of that degree (Atapoor, Baghery, Cozzo & Pedersen 2023, with Schnorr's
    proof at 0 that f(0) is the key that was advertised).
    """
    blind = fresh()
    share, hide = ([int.from_bytes(key, "big")] for key in (secret, blind))
    for powers in (share, hide):
        powers += [secrets.randbelow(_ORDER) for _ in range(threshold - 1)]
    at = lambda x: _packed(_value(share, x)) + _packed(_value(hide, x))
    parts = {holder: at(holder + 1) for holder in holders}
    seals = {holder: seal(part) for holder, part in parts.items()}
    head = public(blind)
    c = int.from_bytes(challenge(about, public(secret), head, seals), "big")
    answer = (_packed(c * one + other) for one, other in zip(share, hide, strict=True))
    return parts, seals, head + b"".join(answer)


def challenge(about: bytes, key: bytes, head: bytes, seals: Mapping[int, bytes]) -> bytes:
    """Number that a dealer's proof must answer: a hash of all it sent, so it cannot choose it."""
    rows = (holder.to_bytes(4, "big") + seal for holder, seal in sorted(seals.items()))
    return _packed(int.from_bytes(derived(b"".join(rows), b"deal", about, key, head), "big"))


def proves(key: bytes, head: bytes, question: bytes, answer: bytes) -> bool:
    r"""True where a dealer's answer proves that it deals the secret of this public key.

    :math:`zG - cP = \pm B` is how ECDSA verifies the signature (r, -r/c) of the number -rz/c, where
    r is the x of B: no arithmetic of points of our own.
    """
    c, z = (int.from_bytes(text[:NUMBER], "big") for text in (question, answer))
    r = int.from_bytes(head[1:], "big")
    s = -r * pow(c, -1, _ORDER) % _ORDER
    try:
        signature = encode_dss_signature(r, s)
        public_key(key).verify(signature, _packed(s * z), ec.ECDSA(Prehashed(SHA256())))
    except (InvalidSignature, ValueError):
        return False
    return True


def fits(part: bytes, holder: int, line: bytes) -> bool:
    """True where a part is the one under its seal, and on the polynomial that was proved.

    A line has what the dealer was asked, what it answered, and the seal.
    """
    asked, *answer = (
        int.from_bytes(line[i : i + NUMBER], "big") for i in range(0, len(line) - SEAL, NUMBER)
    )
    share, blind = (int.from_bytes(half, "big") for half in (part[:NUMBER], part[NUMBER:]))
    on = (asked * share + blind - _value(answer, holder + 1)) % _ORDER == 0
    return on and seal(part) == line[-SEAL:]


def seal(part: bytes) -> bytes:
    """A hash that tells nothing of a part, which its blind makes too many to guess."""
    return sha256(part).digest()


def joined(parts: Mapping[int, bytes]) -> bytes:
    """The secret key whose parts these are, by holder: interpolation at 0."""
    total = 0
    for holder, part in parts.items():
        above = below = 1
        for other in parts:
            if other != holder:
                above = above * (other + 1) % _ORDER
                below = below * (other - holder) % _ORDER
        total += int.from_bytes(part[:NUMBER], "big") * above * pow(below, -1, _ORDER)
    return _packed(total)


def _value(powers: list[int], x: int) -> int:
    """The polynomial's value."""
    return reduce(lambda value, power: (value * x + power) % _ORDER, reversed(powers), 0)


def _packed(value: int) -> bytes:
    """A number mod the order, in bytes."""
    return (value % _ORDER).to_bytes(NUMBER, "big")
