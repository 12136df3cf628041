"""How the tables of this folder are written: compressed, with no time and no file name in them."""

import gzip
import hashlib
from pathlib import Path


def write(lines: list[str], target: Path) -> None:
    """Write lines to an archive and print two checksums, of the text and of the file."""
    text = ("\n".join(lines) + "\n").encode("ascii")
    with target.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as archive:
        archive.write(text)
    print("text   ", hashlib.sha256(text).hexdigest())
    print("archive", hashlib.sha256(target.read_bytes()).hexdigest())
