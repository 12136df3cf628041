"""What a server must not forget: rounds that it began to open, and the sums."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.federated.aggregation.messages import Session


class Record:
    """A file to which lines are only ever added; each is on the disk before its method returns.

    `last` is the number of the last round that was begun to be opened, and `opened` how many were:
    what a guarantee counts. A line that a crash cut short was never acknowledged, and goes.
    ValueError is raised for a record of another plan, or a damaged one.
    """

    def __init__(self, path: Path, session: Session) -> None:
        head = {"plan": f"{session.size} numbers mod 2^{session.bits}, {session.around}"}
        self._path, text = path, path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
        except ValueError as error:
            raise ValueError(f"Expected lines of a record, got other bytes: {error}.") from None
        if lines and lines[0] != head:
            raise ValueError(f"Expected a record of {head}, got one of {lines[0]}.")
        if text != whole:
            os.truncate(path, len(whole))
        self.last = max((line["round"] for line in lines[1:]), default=0)
        self.opened = sum("total" not in line for line in lines[1:])
        if not lines:
            self._append(head)
        if os.name == "posix":  # elsewhere folders cannot be synchronised
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def begin(self, number: int) -> None:
        """Keep that the sum of a round is about to be opened: from now on it is spent."""
        self._append({"round": number})
        self.last, self.opened = number, self.opened + 1

    def finish(self, number: int, clients: tuple[int, ...], total: NDArray[np.integer]) -> None:
        """Keep a sum."""
        self._append({"round": number, "clients": clients, "total": total.tolist()})

    def _append(self, line: dict[str, Any]) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(handle)
