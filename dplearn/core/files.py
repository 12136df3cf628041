"""Atomic replacement of files."""

import glob
import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike, content: bytes) -> None:
    """Replace the file at `path` atomically: after an error the old or the new file is intact."""
    path = Path(path)
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
    if os.name == "posix":  # Windows cannot open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def temporaries(path: str | os.PathLike) -> list[Path]:
    """Return the temporary files of running or interrupted writes to `path`."""
    path = Path(path)
    return list(path.parent.glob(glob.escape(f".{path.name}.writing-") + "*"))
