"""Files that are there whole or not at all."""

import glob
import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike, content: bytes) -> None:
    """Replace the file at `path`; whatever goes wrong, the old or the new one is there, whole."""
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
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def temporaries(path: str | os.PathLike) -> list[Path]:
    """Temporary files of writes to `path` that are going on or were killed."""
    path = Path(path)
    return list(path.parent.glob(glob.escape(f".{path.name}.writing-") + "*"))
