"""One client in one round of secure aggregation."""

import json
from typing import Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import ArrayLike, NDArray

from dplearn.federated.aggregation import keys
from dplearn.federated.aggregation.messages import (
    BOX,
    SERVER,
    STAGES,
    MessageError,
    RoundAborted,
    Session,
    rows,
    table,
)
from dplearn.ground import validate

# Kinds of a share: who stayed loses the own mask, who left those with neighbours.
LEFT, STAYED = b"\0", b"\1"


class Client:
    """A client's four answers, each given once, in order: keys, shares, masked vector, unmasking.

    Keys are fresh, so a round needs a `Client` of its own: who left takes part in the next.
    MessageError is raised for a message that is not what is due, and leaves the client as it was;
    RoundAborted where too few neighbours are left.
    """

    def __init__(self, session: Session, number: int) -> None:
        validate.instance(Session, session=session)
        validate.integer(minimum=0, maximum=SERVER - 1, number=number)
        self._session, self._number, self._stage = session, number, 0
        # Of the channel to each neighbour, of the masks shared with them, of the own mask.
        self._secrets = [X25519PrivateKey.generate() for _ in range(3)]
        self._channels: dict[int, bytes] = {}
        self._pairs: dict[int, bytes] = {}
        self._held: dict[int, bytes] = {}

    def kept(self) -> bytes:
        """What another process needs to go on: as secret as the vector, and never to serve twice.

        Who resumes an older state can be asked again, and then give both kinds of share away.
        """
        tables = (self._channels, self._pairs, self._held)
        written = [{one: value.hex() for one, value in table.items()} for table in tables]
        secrets = [secret.private_bytes_raw().hex() for secret in self._secrets]
        return json.dumps([self._stage, secrets, *written]).encode()

    @classmethod
    def resumed(cls, session: Session, number: int, kept: bytes) -> Self:
        """The client of which this was kept."""
        client = cls(session, number)
        client._stage, secrets, *tables = json.loads(kept)
        read = ({int(one): bytes.fromhex(value) for one, value in t.items()} for t in tables)
        client._channels, client._pairs, client._held = read
        client._secrets = [X25519PrivateKey.from_private_bytes(bytes.fromhex(s)) for s in secrets]
        return client

    def advertise(self) -> bytes:
        """Three public keys."""
        content = b"".join(keys.public(secret) for secret in self._secrets)
        return self._sent("advertise", content)

    def share(self, message: bytes) -> bytes:
        """Shares of both masks' keys, a sealed pair for each neighbour whose keys are given."""
        content = self._due("share", message)
        roster = table(content, 3 * keys.KEY)
        around, all_keys = self._session.around, list(roster.values())
        if self._number in roster or len(set(all_keys)) < len(all_keys):
            raise MessageError("Expected keys of different neighbours, got one twice or one's own.")
        if len(roster) > around.neighbours:
            most = around.neighbours
            raise MessageError(f"Expected at most {most} neighbours, got {len(roster)}.")
        self._require(len(roster))
        pairs = [keys.shares(key, roster, around.threshold) for key in self._secrets[1:]]
        common = {other: self._common(other, entry) for other, entry in roster.items()}
        self._channels = {other: secrets[0] for other, secrets in common.items()}
        self._pairs = {other: secrets[1] for other, secrets in common.items()}
        boxes = {}
        for other in roster:
            plain = b"".join(pair[other] for pair in pairs)
            key = self._channel(other, self._number, other)
            boxes[other] = keys.sealed(key, plain, self._session.name)
        return self._sent("share", rows(boxes))

    def mask(self, message: bytes, vector: ArrayLike) -> bytes:
        """The vector under all masks; whole numbers in [0, 2^bits), shape (size,)."""
        session, own = self._session, self._vector(vector)
        boxes = table(self._due("mask", message), BOX)
        if not set(boxes) <= set(self._pairs):
            raise MessageError("Expected shares of neighbours, got some of others.")
        self._require(len(boxes))
        held = {}
        for other, box in boxes.items():
            try:
                key = self._channel(other, other, self._number)
                held[other] = keys.opened(key, box, session.name)
            except ValueError:
                raise MessageError(f"Expected shares sealed by {other}, got forged ones.") from None
        masked = own + own_mask(session, self._secrets[2])
        for other in held:
            masked += pair_mask(session, self._pairs[other], self._number, other)
        self._held = held
        masked &= masked.dtype.type(2**session.bits - 1)
        return self._sent("mask", masked.tobytes())

    def unmask(self, message: bytes) -> bytes:
        """A share for each neighbour: of the own mask of who stayed, of the others of who left."""
        kinds = table(self._due("unmask", message), 1)
        if set(kinds) != set(self._held) or not set(kinds.values()) <= {LEFT, STAYED}:
            raise MessageError("Expected to hear of each neighbour whether it stayed, got others.")
        self._require(sum(kind == STAYED for kind in kinds.values()))
        half = {LEFT: slice(None, keys.SHARE), STAYED: slice(keys.SHARE, None)}
        parts = {other: self._held[other][half[kind]] for other, kind in kinds.items()}
        self._secrets, self._held, self._pairs, self._channels = [], {}, {}, {}
        return self._sent("unmask", rows(parts))

    def _due(self, stage: str, message: bytes) -> bytes:
        """Content of the server's message, if this stage is next."""
        self._require_next(stage)
        return self._session.read(message, stage, SERVER)

    def _sent(self, stage: str, content: bytes) -> bytes:
        """The client's message; the stage is over, whatever becomes of it."""
        self._require_next(stage)
        self._stage += 1
        return self._session.written(stage, self._number, content)

    def _require_next(self, stage: str) -> None:
        due = (*STAGES, "end")[self._stage]
        if due != stage:
            raise MessageError(
                f"Expected client {self._number} to {due}, got to {stage}: no twice."
            )

    def _require(self, neighbours: int) -> None:
        """Abort if too few are left to keep, and to open, secrets."""
        threshold = self._session.around.threshold
        if neighbours < threshold:
            raise RoundAborted(
                f"{neighbours} neighbours of {self._number} are left of {threshold}."
            )

    def _common(self, other: int, entry: bytes) -> tuple[bytes, bytes]:
        """The secrets of channel and masks that this client has with a neighbour."""
        try:
            channel, pair = map(keys.agreed, self._secrets, three(entry)[:2])
        except ValueError:
            raise MessageError(f"Expected keys of {other}, got one that is none.") from None
        return channel, pair

    def _channel(self, other: int, sender: int, receiver: int) -> bytes:
        """Key of what one sends to the other."""
        ends = (end.to_bytes(4, "big") for end in (sender, receiver))
        return keys.derived(self._channels[other], b"channel", self._session.name, *ends)

    def _vector(self, vector: ArrayLike) -> NDArray[np.unsignedinteger]:
        values, bits = np.asarray(vector), self._session.bits
        if values.dtype.kind not in "iu" or values.shape != (self._session.size,):
            expected = f"whole numbers of shape ({self._session.size},)"
            got = f"{values.dtype} of shape {values.shape}"
            raise ValueError(f"Expected vector to hold {expected}, got {got}.")
        if int(values.min()) < 0 or int(values.max()) >> bits:
            raise ValueError(f"Expected vector in [0, 2^{bits}), got numbers outside.")
        return values.astype(keys.ring(bits))


def three(entry: bytes) -> tuple[bytes, bytes, bytes]:
    """Public keys of the channel, of masks with neighbours, and of the own mask."""
    return entry[: keys.KEY], entry[keys.KEY : 2 * keys.KEY], entry[2 * keys.KEY :]


def own_mask(session: Session, secret: X25519PrivateKey) -> NDArray[np.unsignedinteger]:
    """The mask that nobody shares."""
    seed = keys.derived(secret.private_bytes_raw(), b"own", session.name)
    return keys.stream(seed, session.size, session.bits)


def pair_mask(session: Session, secret: bytes, own: int, other: int) -> NDArray[np.unsignedinteger]:
    """The mask that `own` adds for `other`, whose mask for `own` is its negative."""
    ends = (end.to_bytes(4, "big") for end in sorted((own, other)))
    seed = keys.derived(secret, b"pair", session.name, *ends)
    mask = keys.stream(seed, session.size, session.bits)
    return mask if own < other else -mask
