"""What a server must not forget: sums that it acknowledged, and rounds it began to open."""

import json
import os
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dplearn.federated.aggregation.keys import ring
from dplearn.federated.aggregation.messages import Session
from dplearn.federated.network.frames import plan


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A round whose sum was opened and kept."""

    number: int
    clients: tuple[int, ...]  # whose vectors are in the sum
    total: NDArray[np.unsignedinteger]


class Record:
    """A file to which lines are only ever added; each is on the disk before its method returns.

    A line that a crash cut short was never acknowledged, and goes. Without a path the file is a
    temporary one. ValueError is raised for a record of another plan, or a damaged one.
    """

    def __init__(self, path: Path | None, session: Session) -> None:
        self._ring, head = ring(session.bits), {"plan": plan(session)}
        self._file = _owned(path)
        try:
            os.truncate(self._file.fileno(), self._file.read().rfind(b"\n") + 1)
            lines = self._lines()
            if lines and lines[0] != head:
                raise ValueError(f"Expected a record of {head}, got one of {lines[0]}.")
        except BaseException:
            self.close()
            raise
        # The last round that was begun to be opened, and how many were.
        self.last = max((line["round"] for line in lines[1:]), default=0)
        self.opened = sum("total" not in line for line in lines[1:])
        if not lines:
            self._append(head)

    def begin(self, number: int) -> None:
        """Keep that the sum of a round is about to be opened: from now on it is spent."""
        self._append({"round": number})
        self.last, self.opened = number, self.opened + 1

    def finish(self, done: Finished) -> None:
        """Keep a sum."""
        total = b64encode(done.total.astype(self._ring).tobytes()).decode()
        self._append({"round": done.number, "clients": done.clients, "total": total})

    def finished(self) -> Iterator[Finished]:
        """Rounds whose sums were kept, from the first on."""
        for line in self._lines():
            if "total" in line:
                total = np.frombuffer(b64decode(line["total"]), self._ring)
                yield Finished(number=line["round"], clients=tuple(line["clients"]), total=total)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _lines(self) -> list[dict[str, Any]]:
        self._file.seek(0)
        try:
            return [json.loads(line) for line in self._file]
        except ValueError as error:
            raise ValueError(f"Expected lines of a record, got other bytes: {error}.") from None

    def _append(self, line: dict[str, Any]) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _owned(path: Path | None) -> IO[bytes]:
    """A file that is made if need be, for its owner alone; its name is on the disk, too."""
    if path is None:
        return tempfile.TemporaryFile()
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    if os.name == "posix":  # elsewhere folders cannot be synchronised
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    return file
