"""The server of one round of secure aggregation."""

from collections.abc import Callable

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from dplearn.federated.aggregation import keys
from dplearn.federated.aggregation.client import LEFT, STAYED, own_mask, pair_mask, three
from dplearn.federated.aggregation.graph import drawn
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


class Server:
    """Collects what clients send in a stage, then advances to the next; at the end is `total`.

    Who sends nothing before the server advances has left. MessageError is raised for a message
    that is not what is due of that client, who may still send the right one; RoundAborted
    where too few are left.
    """

    def __init__(self, session: Session) -> None:
        validate.instance(Session, session=session)
        self._session, self._stage = session, 0
        # What was received in each stage, by client.
        self._got: list[dict[int, bytes]] = [{} for _ in STAGES]
        self._graph: dict[int, tuple[int, ...]] = {}

    @property
    def stage(self) -> str:
        """The stage whose messages are due, or "end"."""
        return (*STAGES, "end")[self._stage]

    def receive(self, sender: int, message: bytes) -> None:
        """Take a message in that came over the channel of this client."""
        stage = self.stage
        if stage == "end":
            raise MessageError("Expected no message after the end of a round, got one.")
        content = self._session.read(message, stage, sender)
        if sender in self._got[self._stage]:
            raise MessageError(f"Expected one message of {sender} to {stage}, got another.")
        if self._stage and sender not in self._got[self._stage - 1]:
            raise MessageError(f"Expected {sender} to have done every stage before {stage}.")
        checks: dict[str, Callable[[int, bytes], object]] = {
            "advertise": self._check_keys,
            "share": lambda sender, content: self._check_entries(sender, content, BOX, 1),
            "mask": lambda sender, content: self._session.vector(content),
            "unmask": lambda sender, content: self._check_entries(sender, content, keys.SHARE, 2),
        }
        checks[stage](sender, content)
        self._got[self._stage][sender] = content

    def _check_keys(self, sender: int, content: bytes) -> None:
        if len(content) != 3 * keys.KEY:
            raise MessageError(f"Expected three keys, got {len(content)} bytes.")
        if not all(map(keys.usable, three(content))):
            raise MessageError(f"Expected keys of {sender}, got one that is none.")
        if content in self._got[0].values():
            raise MessageError(f"Expected fresh keys of {sender}, got those of another client.")

    def _check_entries(self, sender: int, content: bytes, length: int, stage: int) -> None:
        """Raise unless there is an entry for each neighbour that did a stage."""
        due = set(self._graph[sender]) & set(self._got[stage - 1])
        if set(table(content, length)) != due:
            raise MessageError(f"Expected entries for {sorted(due)}, got others of {sender}.")

    def advance(self) -> dict[int, bytes]:
        """End the stage; what to send to each client, or nothing at the end."""
        if self.stage == "end":
            raise MessageError("Expected a round that goes on, got one that is over.")
        left = self._got[self._stage]
        least = self._session.around.threshold + 1
        if len(left) < least:
            raise RoundAborted(f"{len(left)} clients are left to {self.stage}, {least} are needed.")
        self._stage += 1
        if self.stage == "end":
            return {}
        if self.stage == "share":
            self._graph = drawn(sorted(left), self._session.around.neighbours)
        tell = {"share": self._roster, "mask": self._boxes, "unmask": self._kinds}[self.stage]
        written = lambda one: self._session.written(self.stage, SERVER, rows(tell(one)))
        return {one: written(one) for one in left}

    def _neighbours(self, one: int, stage: int) -> list[int]:
        """Those neighbours of a client that did a stage."""
        return [other for other in self._graph[one] if other in self._got[stage]]

    def _roster(self, one: int) -> dict[int, bytes]:
        return {other: self._got[0][other] for other in self._neighbours(one, 0)}

    def _boxes(self, one: int) -> dict[int, bytes]:
        return {other: table(self._got[1][other], BOX)[one] for other in self._neighbours(one, 1)}

    def _kinds(self, one: int) -> dict[int, bytes]:
        neighbours = self._neighbours(one, 1)
        return {other: STAYED if other in self._got[2] else LEFT for other in neighbours}

    @property
    def survivors(self) -> tuple[int, ...]:
        """Clients whose vectors are in the sum."""
        return tuple(sorted(self._got[2]))

    def total(self) -> NDArray[np.unsignedinteger]:
        """Sum mod 2^bits of the survivors' vectors; RoundAborted if a mask cannot be taken off."""
        if self.stage != "end":
            raise MessageError(f"Expected a round that is over, got one at {self.stage}.")
        session, opened = self._session, self._opened()
        total = np.zeros(session.size, keys.ring(session.bits))
        for one, content in self._got[2].items():
            total += session.vector(content)
            total -= own_mask(session, opened[one])
        for one in set(self._got[1]) - set(self._got[2]):
            for other in self._neighbours(one, 2):
                public = three(self._got[0][other])[1]
                # The negative of what the other had added.
                total += pair_mask(session, keys.agreed(opened[one], public), one, other)
        return total & total.dtype.type(2**session.bits - 1)

    def _opened(self) -> dict[int, X25519PrivateKey]:
        """Of who stayed the own mask's key, of who left the key of masks with neighbours."""
        parts = {one: table(content, keys.SHARE) for one, content in self._got[3].items()}
        opened, threshold = {}, self._session.around.threshold
        for one in self._got[1]:
            if one not in self._got[2] and not self._neighbours(one, 2):
                continue  # no mask with anybody is in the sum
            held = {other: parts[other][one] for other in self._neighbours(one, 3)}
            if len(held) < threshold:
                raise RoundAborted(f"{len(held)} shares of {one} are left, {threshold} are needed.")
            advertised = three(self._got[0][one])[2 if one in self._got[2] else 1]
            key = keys.joined(dict(list(held.items())[:threshold]))
            if key is None or keys.public(key) != advertised:
                raise RoundAborted(f"Shares of {one} do not give the key that it advertised.")
            opened[one] = key
        return opened
