"""The server of one round of secure aggregation."""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate
from dplearn.federated.aggregation import keys
from dplearn.federated.aggregation.client import own_mask, pair_mask, three
from dplearn.federated.aggregation.graph import random_graph
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


class Server:
    """A server that collects messages stage by stage; at the end `total` is the sum.

    Who sends nothing before the server advances has left. MessageError is raised for a message
    that is not what is due of that client, who may still send the right one; RoundAborted
    where too few are left. Whose shares more neighbours complain of than may be corrupt is out,
    and logged.
    """

    def __init__(self, session: Session) -> None:
        validate.instance(Session, session=session)
        self._session, self._stage = session, 0
        # What was received in each stage, by client, as the stage's check has read it.
        self._got: dict[str, dict[int, Any]] = {stage: {} for stage in STAGES}
        # Neighbours of each client in the round, after `check` those that it has masks with; and
        # the list of survivors that it was told.
        self._graph: dict[int, tuple[int, ...]] = {}
        self._lists: dict[int, set[int]] = {}

    @property
    def stage(self) -> str:
        """The stage whose messages are due, or "end"."""
        return (*STAGES, "end")[self._stage]

    def receive(self, sender: int, message: bytes) -> None:
        """Take in a message that came over the channel of the client `sender`."""
        stage = self.stage
        if stage == "end":
            raise MessageError("Expected no message after the end of a round, got one.")
        content = self._session.read(message, stage, sender)
        if sender in self._got[stage]:
            raise MessageError(f"Expected one message of {sender} to {stage}, got another.")
        done = self._got[STAGES[self._stage - 1]]
        if self._stage and not (sender in self._graph and sender in done):
            raise MessageError(f"Expected {sender} to have done every stage before {stage}.")
        checks: dict[str, Callable[[int, bytes], object]] = {
            "advertise": self._read_keys,
            "share": self._read_deals,
            "check": self._read_praise,
            "mask": lambda sender, content: self._session.vector(content),
            "agree": lambda sender, content: self._entries(
                sender, content, TAG, self._lists[sender].intersection(self._graph[sender])
            ),
            "unmask": self._read_parts,
        }
        self._got[stage][sender] = checks[stage](sender, content)

    def _read_keys(self, sender: int, content: bytes) -> bytes:
        if len(content) != 3 * keys.KEY:
            raise MessageError(f"Expected three keys, got {len(content)} bytes.")
        try:
            _ = [keys.public_key(key) for key in three(content)]
        except ValueError:
            raise MessageError(f"Expected keys of {sender}, got one that is none.") from None
        if content in self._got["advertise"].values():
            raise MessageError(f"Expected fresh keys of {sender}, got those of another client.")
        return content

    def _read_deals(self, sender: int, content: bytes) -> dict[int, bytes]:
        """For each neighbour what it checks parts of both keys with, and its box."""
        size, lines = self._session.proof, dict.fromkeys(self._graph[sender], b"")
        boxes = self._entries(sender, content[2 * size :], 2 * keys.SEAL + BOX, lines)
        for i, key in enumerate(three(self._got["advertise"][sender])[1:]):
            proof = content[i * size : (i + 1) * size]
            head, answer = proof[: keys.KEY], proof[keys.KEY :]
            seals = {one: box[i * keys.SEAL :][: keys.SEAL] for one, box in boxes.items()}
            asked = keys.challenge(self._session.name, key, head, seals)
            if not keys.proves(key, head, asked, answer):
                raise MessageError(f"Expected shares of the keys of {sender}, got others.")
            lines = {one: line + asked + answer + seals[one] for one, line in lines.items()}
        return {one: lines[one] + box[2 * keys.SEAL :] for one, box in boxes.items()}

    def _read_praise(self, sender: int, content: bytes) -> set[int]:
        good = set(entries_by_client(content, 0))
        if not good <= set(self._graph[sender]):
            raise MessageError(f"Expected neighbours of {sender}, got others.")
        for other in set(self._graph[sender]) - good:
            _log.warning("client %d: shares of %d are not as proved", sender, other)
        return good

    def _read_parts(self, sender: int, content: bytes) -> dict[int, bytes]:
        """Of each neighbour the part that it dealt to the sender, whose seal it must have."""
        due = self._got["check"][sender] & set(self._graph[sender])
        parts, size = self._entries(sender, content, keys.PART, due), self._session.line
        for one, part in parts.items():
            end = size * (2 if one in self._lists[sender] else 1)
            if keys.seal(part) != self._got["share"][one][sender][end - keys.SEAL : end]:
                raise MessageError(f"Expected of {sender} its share of {one}, got another.")
        return parts

    def _entries(
        self, sender: int, content: bytes, length: int, due: Iterable[int]
    ) -> dict[int, bytes]:
        entries = entries_by_client(content, length)
        if set(entries) != set(due):
            raise MessageError(f"Expected entries for {sorted(due)}, got others of {sender}.")
        return entries

    def advance(self) -> dict[int, bytes]:
        """Messages to each client that begin the next stage; none at the end."""
        if self.stage == "end":
            raise MessageError("Expected a round that goes on, got one that is over.")
        stage, left = self.stage, sorted(self._got[self.stage])
        if stage == "advertise":
            self._graph = random_graph(left, self._session.around.neighbours)
        elif stage in ("share", "check"):
            left = [one for one in left if stage == "share" or not self._cheats(one)]
            here = set(left)
            self._graph = {one: tuple(here.intersection(self._graph[one])) for one in left}
        fewest = self._session.fewest if stage == "mask" else 0
        least = max(self._session.around.threshold + 1, fewest)
        if len(left) < least:
            raise RoundAborted(f"{len(left)} clients are left to {stage}, {least} are needed.")
        self._stage += 1
        if self.stage == "end":
            return {}
        told = {one: self.told(one) for one in left}
        if self.stage == "mask":
            self._graph = {one: tuple(others) for one, others in told.items()}
        elif self.stage == "agree":
            self._lists = {one: set(others) for one, others in told.items()}
        written = lambda entries: self._session.written(self.stage, SERVER, rows(entries))
        return {one: written(entries) for one, entries in told.items()}

    def told(self, one: int) -> dict[int, bytes]:
        """Entries by other client that client `one` is told at the start of a stage."""
        around = self._graph[one]
        match self.stage:
            case "share":
                return {other: self._got["advertise"][other] for other in around}
            case "check":
                return {other: self._got["share"][other][one] for other in around}
            case "mask":
                return dict.fromkeys(around, b"")
            case "agree":
                return dict.fromkeys(self.survivors, b"")
        tags = self._got["agree"]
        return {other: tags[other][one] for other in around if one in tags.get(other, ())}

    def _cheats(self, one: int) -> bool:
        """Whether so many neighbours complain of a client's shares that not all of them lie."""
        checked = self._got["check"]
        complaints = [other for other in self._graph[one] if one not in checked.get(other, {one})]
        if out := len(complaints) > self._session.around.corrupt:
            _log.warning("client %d is out: %d neighbours complain", one, len(complaints))
        return out

    @property
    def survivors(self) -> tuple[int, ...]:
        """Numbers of the clients whose vectors are in the sum."""
        return tuple(sorted(self._got["mask"]))

    def total(self) -> NDArray[np.unsignedinteger]:
        """Sum mod 2^bits of the survivors' vectors; RoundAborted if a mask cannot be taken off."""
        if self.stage != "end":
            raise MessageError(f"Expected a round that is over, got one at {self.stage}.")
        session, stayed = self._session, set(self.survivors)
        total = np.zeros(session.size, keys.ring(session.bits))
        for one in stayed:
            total += self._got["mask"][one]
            total -= own_mask(session, self._opened(one))
        for gone in {other for one in stayed for other in self._graph[one]} - stayed:
            key = self._opened(gone)
            for one in stayed.intersection(self._graph[gone]):
                public = three(self._got["advertise"][one])[1]
                total -= pair_mask(session, keys.agreed(key, public), one, gone)
        return total & total.dtype.type(2**session.bits - 1)

    def _opened(self, one: int) -> bytes:
        """Of who stayed the own mask's key, of who left the key of masks with neighbours."""
        stayed, threshold = one in self.survivors, self._session.around.threshold
        answers = {other: self._got["unmask"].get(other, {}) for other in self._graph[one]}
        parts = {
            other: entries[one]
            for other, entries in answers.items()
            if one in entries and (one in self._lists[other]) == stayed
        }
        if len(parts) < threshold:
            raise RoundAborted(f"{len(parts)} shares of {one} are left, {threshold} are needed.")
        key = keys.joined(dict(list(parts.items())[:threshold]))
        if keys.public(key) != three(self._got["advertise"][one])[2 if stayed else 1]:
            raise RoundAborted(f"Shares of {one} do not give the key that it advertised.")
        return key


def stages(server: Server, opening: Callable[[], None]) -> Iterator[dict[int, bytes]]:
    """Messages to send, by client, stage by stage; none at the first.

    Whoever iterates gives the answers to `server.receive` before the next. `opening` is called
    before anything that opens the sum is sent.
    """
    told: dict[int, bytes] = {}
    while server.stage != "end":
        if server.stage == "unmask":
            opening()
        yield told
        told = server.advance()
