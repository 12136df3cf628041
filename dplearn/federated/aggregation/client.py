"""One client in one round of secure aggregation."""

import json
import logging
from hmac import compare_digest

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.federated.aggregation import keys
from dplearn.federated.aggregation.messages import (
    BOX,
    SERVER,
    STAGES,
    TAG,
    MessageError,
    RoundAborted,
    Session,
    entries_by_client,
    rows,
)

_log = logging.getLogger(__name__)


class Client:
    """A client of one round, which gives six answers, each once and in order.

    Keys are fresh, so a round needs a `Client` of its own: who left takes part in the next.
    MessageError is raised for a message that is not what is due, and leaves the client as it was;
    RoundAborted where too few neighbours are left, or agree. Neighbours that cheat are logged.
    """

    def __init__(self, session: Session, number: int, kept: bytes = b"") -> None:
        validate.instance(Session, session=session)
        validate.integer(minimum=0, maximum=SERVER - 1, number=number)
        self._session, self._number = session, number
        self._stage, self._stayed, *tables = json.loads(kept or b"[0, [], {}, {}, {}, {}]")
        self._secrets, self._channels, self._pairs, self._held = (
            {int(one): bytes.fromhex(value) for one, value in table.items()} for table in tables
        )
        if not kept:  # keys of the channel to each neighbour, of masks with them, of the own mask
            self._secrets = {which: keys.fresh() for which in range(3)}

    def kept(self) -> bytes:
        """State from which a `Client` in another process goes on: as secret as the vector.

        Who resumes an older state can be asked again, and then give both kinds of share away.
        """
        tables = (self._secrets, self._channels, self._pairs, self._held)
        written = [{one: value.hex() for one, value in table.items()} for table in tables]
        return json.dumps([self._stage, self._stayed, *written]).encode()

    def advertise(self) -> bytes:
        """Message with the client's three public keys."""
        return self._sent("advertise", b"".join(map(keys.public, self._secrets.values())))

    def share(self, message: bytes) -> bytes:
        """Message with shares of both masks' keys, a sealed pair for each neighbour."""
        content = self._due("share", message)
        roster = entries_by_client(content, 3 * keys.KEY)
        around, all_keys = self._session.around, list(roster.values())
        if self._number in roster or len(set(all_keys)) < len(all_keys):
            raise MessageError("Expected keys of different neighbours, got one twice or one's own.")
        if len(roster) > around.neighbours:
            most = around.neighbours
            raise MessageError(f"Expected at most {most} neighbours, got {len(roster)}.")
        self._require(len(roster), "are left")
        channels, pairs = {}, {}
        for other, (channel, pair, _) in zip(roster, map(three, all_keys), strict=True):
            try:
                channels[other] = keys.agreed(self._secrets[0], channel)
                pairs[other] = keys.agreed(self._secrets[1], pair)
            except ValueError:
                raise MessageError(f"Expected keys of {other}, got one that is none.") from None
        self._channels, self._pairs = channels, pairs
        both = [
            keys.dealt(self._secrets[which], roster, around.threshold, self._session.name)
            for which in (1, 2)
        ]
        deals = {}
        for other in roster:
            key = self._derived(b"channel", self._number, other)
            plain = b"".join(parts[other] for parts, _, _ in both)
            box = keys.sealed(key, plain, self._session.name)
            deals[other] = b"".join(seals[other] for _, seals, _ in both) + box
        return self._sent("share", b"".join(proof for _, _, proof in both) + rows(deals))

    def check(self, message: bytes) -> bytes:
        """Message that names the neighbours whose shares are as they proved; others are logged."""
        deals = entries_by_client(self._due("check", message), 2 * self._session.line + BOX)
        if not set(deals) <= set(self._channels):
            raise MessageError("Expected shares of neighbours, got some of others.")
        held = {
            other: plain for other, deal in deals.items() if (plain := self._plain(other, deal))
        }
        for other in set(deals) - set(held):
            _log.warning("client %d: shares of %d are not as proved", self._number, other)
        self._require(len(held), "have dealt it shares")
        self._held = held
        return self._sent("check", rows(dict.fromkeys(held, b"")))

    def _plain(self, other: int, deal: bytes) -> bytes | None:
        """The parts in a neighbour's box, if they are as proved."""
        key, size = self._derived(b"channel", other, self._number), self._session.line
        plain = keys.opened(key, deal[2 * size :], self._session.name)
        if plain is None:
            return None
        halves = (plain[: keys.PART], deal[:size]), (plain[keys.PART :], deal[size : 2 * size])
        return plain if all(keys.fits(part, self._number, line) for part, line in halves) else None

    def mask(self, message: bytes, vector: ArrayLike) -> bytes:
        """Message with the vector, whole numbers in [0, 2^bits), shape (size,), under all masks."""
        session, own = self._session, self._vector(vector)
        mates = entries_by_client(self._due("mask", message), 0)
        if not set(mates) <= set(self._pairs):
            raise MessageError("Expected neighbours, got others.")
        self._require(len(mates), "are left")
        self._pairs = {other: self._pairs[other] for other in mates}
        masked = own + own_mask(session, self._secrets[2])
        for other, secret in self._pairs.items():
            masked += pair_mask(session, secret, self._number, other)
        masked &= masked.dtype.type(2**session.bits - 1)
        return self._sent("mask", masked.tobytes())

    def agree(self, message: bytes) -> bytes:
        """Message with a tag for each neighbour on the one list of survivors that it takes."""
        stayed = entries_by_client(self._due("agree", message), 0)
        around = set(stayed) & set(self._channels)
        if self._number not in stayed or not around <= set(self._pairs):
            raise MessageError(
                "Expected a list of survivors with oneself, and without neighbours that one has "
                "no mask with, got another."
            )
        self._require(len(around), "stayed")
        if len(stayed) < self._session.fewest:
            fewest = self._session.fewest
            raise RoundAborted(f"{len(stayed)} clients are in the sum, {fewest} are needed.")
        self._stayed = list(stayed)
        return self._sent("agree", rows({one: self._tag(self._number, one) for one in around}))

    def unmask(self, message: bytes) -> bytes:
        """Message with one share for each neighbour, if enough that stayed took the same list.

        It is of the own mask of who stayed, and of the masks with neighbours of who left.
        """
        tags = entries_by_client(self._due("unmask", message), TAG)
        self._require(len(self._agreeing(tags)), "agree on who stayed")
        half = {False: slice(None, keys.PART), True: slice(keys.PART, None)}
        mates = set(self._pairs) & set(self._held)
        parts = {one: self._held[one][half[one in self._stayed]] for one in mates}
        self._secrets, self._held, self._pairs, self._channels = {}, {}, {}, {}
        return self._sent("unmask", rows(parts))

    def _agreeing(self, tags: dict[int, bytes]) -> set[int]:
        """Neighbours that stayed and have acknowledged this client's list; others are logged."""
        mates = set(self._pairs) & set(self._stayed) & set(tags)
        right = {one for one in mates if compare_digest(tags[one], self._tag(one, self._number))}
        for one in set(tags) - right:
            _log.warning("client %d: %d took another list of survivors", self._number, one)
        return right

    def _tag(self, sender: int, receiver: int) -> bytes:
        """What a client sends a neighbour to acknowledge the list of survivors."""
        return self._derived(b"agree", sender, receiver, rows(dict.fromkeys(self._stayed, b"")))

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

    def _require(self, neighbours: int, what: str) -> None:
        """Abort if too few are left to keep, and to open, secrets."""
        threshold = self._session.around.threshold
        if neighbours < threshold:
            raise RoundAborted(
                f"{neighbours} neighbours of {self._number} {what}, {threshold} are needed."
            )

    def _derived(self, purpose: bytes, sender: int, receiver: int, *about: bytes) -> bytes:
        """Key for what one sends to the other on their channel."""
        secret = self._channels[sender if receiver == self._number else receiver]
        ends = (end.to_bytes(4, "big") for end in (sender, receiver))
        return keys.derived(secret, purpose, self._session.name, *ends, *about)

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
    """The three public keys in an entry: of the channel, of masks with neighbours, of the own."""
    return entry[: keys.KEY], entry[keys.KEY : 2 * keys.KEY], entry[2 * keys.KEY :]


def own_mask(session: Session, secret: bytes) -> NDArray[np.unsignedinteger]:
    """A client's own mask, which it shares with nobody, shape (size,)."""
    return keys.stream(keys.derived(secret, b"own", session.name), session.size, session.bits)


def pair_mask(session: Session, secret: bytes, own: int, other: int) -> NDArray[np.unsignedinteger]:
    """Mask that `own` adds for its neighbour `other`, who adds the negative, shape (size,)."""
    ends = (end.to_bytes(4, "big") for end in sorted((own, other)))
    seed = keys.derived(secret, b"pair", session.name, *ends)
    mask = keys.stream(seed, session.size, session.bits)
    return mask if own < other else -mask
