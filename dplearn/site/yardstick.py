"""The yardstick's pages: the Markdown of the folder `conformance`."""

import re
from collections.abc import Iterator
from pathlib import Path

from dplearn.classroom.html import from_markdown
from dplearn.site.html import Page


def pages(folder: Path) -> Iterator[Page]:
    """A page for each Markdown file, README.md first; none without the folder."""
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"\]\((?:findings/)?([\w-]+)\.md\)", r"](\1.html)", text)
        name = "index" if path.stem == "README" else path.stem
        title = text.partition("\n")[0].removeprefix("# ")
        yield Page(f"yardstick/{name}.html", title, from_markdown(text))
