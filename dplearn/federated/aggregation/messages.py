"""What client and server tell each other: a head, and records of known length."""

import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate
from dplearn.federated.aggregation.graph import Neighbourhood
from dplearn.federated.aggregation.keys import KEY, NUMBER, PART, SEAL, ring

STAGES = ("advertise", "share", "check", "mask", "agree", "unmask")
# Mark, stage, session, sender, length of what follows.
_HEAD = struct.Struct(">4sB32sII")
_MARK, SERVER = b"DPA1", 2**32 - 1
# Parts of two keys, and the tag of the cipher.
BOX = 2 * PART + 16
TAG = 32


class MessageError(ValueError):
    """Error: a message is not the one due; who got it is as before, and may get the right one."""


class RoundAborted(RuntimeError):
    """Error: a round can have no sum; nothing of it may be used, and the next needs new keys."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """Public facts of a round, which no server may change: clients agree to no smaller sum."""

    size: int  # numbers in a vector
    around: Neighbourhood
    bits: int = 32
    fewest: int = 0  # clients in a sum
    name: bytes = field(default_factory=secrets.token_bytes)  # 32 bytes that no other round has

    def __post_init__(self) -> None:
        validate.integer(minimum=1, size=self.size)
        validate.integer(minimum=1, maximum=64, bits=self.bits)
        validate.integer(minimum=0, fewest=self.fewest)
        validate.instance(Neighbourhood, around=self.around)
        if not isinstance(self.name, bytes) or len(self.name) != 32:
            raise ValueError("Expected name to be 32 bytes that no other round has.")

    @property
    def proof(self) -> int:
        """Number of bytes of a dealer's proof for one key: a point and a polynomial."""
        return KEY + self.around.threshold * NUMBER

    @property
    def line(self) -> int:
        """Number of bytes that a holder checks a part with: a question, the polynomial, a seal."""
        return NUMBER + self.around.threshold * NUMBER + SEAL

    def written(self, stage: str, sender: int, content: bytes) -> bytes:
        """Bytes of a message: a head with stage and sender, then its content."""
        head = _HEAD.pack(_MARK, STAGES.index(stage), self.name, sender, len(content))
        return head + content

    def read(self, message: bytes, stage: str, sender: int) -> bytes:
        """Content of a message that is due from this sender; MessageError if it is another."""
        if not isinstance(message, bytes) or len(message) < _HEAD.size:
            raise MessageError("Expected a message, got something shorter than its head.")
        mark, number, name, author, length = _HEAD.unpack_from(message)
        if mark != _MARK or number >= len(STAGES) or length != len(message) - _HEAD.size:
            raise MessageError(f"Expected a whole message, got {len(message)} other bytes.")
        if name != self.name:
            raise MessageError("Expected a message of this round, got one of another.")
        if STAGES[number] != stage:
            raise MessageError(f"Expected a message to {stage}, got one to {STAGES[number]}.")
        if author != sender:
            raise MessageError(f"Expected a message of {sender}, got one that names {author}.")
        return message[_HEAD.size :]

    def vector(self, content: bytes) -> NDArray[np.unsignedinteger]:
        """The masked vector in the content of a message; MessageError if it is none."""
        words = ring(self.bits)
        if len(content) != self.size * words.itemsize:
            raise MessageError(f"Expected {self.size} numbers, got {len(content)} bytes.")
        vector = np.frombuffer(content, words)
        if self.bits < 8 * words.itemsize and int(vector.max()) >> self.bits:
            raise MessageError(f"Expected numbers below 2^{self.bits}, got {int(vector.max())}.")
        return vector


def rows(entries: Mapping[int, bytes]) -> bytes:
    """Bytes of entries of one length, each after the number of its client."""
    return b"".join(number.to_bytes(4, "big") + entry for number, entry in sorted(entries.items()))


def entries_by_client(content: bytes, length: int) -> dict[int, bytes]:
    """Entries of this length by client; MessageError unless there is one for each, in order."""
    entry = struct.Struct(f">I{length}s")
    entries = dict(entry.iter_unpack(content[: len(content) // entry.size * entry.size]))
    if rows(entries) != content:
        raise MessageError("Expected one entry for each client, got some out of order or cut.")
    return entries
