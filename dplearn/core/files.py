"""Atomic replacement of files, and lock files."""

import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: str | os.PathLike, content: bytes) -> None:
    """Write a file at `path` atomically: after an error it has its old or its new content."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.writing-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        message = f"Expected {path} to be a file that can be written, got: {error}"
        raise type(error)(message) from error
    if os.name == "posix":  # Windows cannot open a folder to sync the renaming
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def locked(path: str | os.PathLike, *, seconds: float = 10.0) -> Iterator[None]:
    """Hold the lock file of `path`; raise TimeoutError if it stays taken for `seconds`."""
    lock, end = Path(f"{path}.lock"), time.monotonic() + seconds
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            if time.monotonic() > end:
                late = f"Expected {lock} to disappear within {seconds:g} s"
                cure = "delete it if no other process uses the file"
                raise TimeoutError(f"{late}; {cure}.") from None
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.unlink()


def temporaries(path: str | os.PathLike) -> list[Path]:
    """Return the temporary files that unfinished writes to `path` have left."""
    path = Path(path)
    return list(path.parent.glob(glob.escape(f".{path.name}.writing-") + "*"))
