"""What mentions an entry: the search of the page, and the lessons."""

import re
from functools import lru_cache
from pathlib import Path

from dplearn.book import book

_LESSONS = Path(__file__).parents[4] / "lessons" / "sources"


def matching(query: str, group: str = "all") -> list[str]:
    """Ids of the entries of a group in which every word of the query occurs."""
    words = query.lower().split()
    of_group = [id for id, entry in book.items() if group in ("all", entry.group)]
    return [id for id in of_group if all(word in _texts()[id] for word in words)]


@lru_cache(maxsize=1)
def _texts() -> dict[str, str]:
    """Id to all that the search looks through, in lower case."""
    texts = {}
    for id, entry in book.items():
        words = [id, entry.title, entry.function.__name__, str(entry.reference)]
        for misprint in entry.misprints:
            words += [misprint.name, misprint.met, misprint.note]
        texts[id] = " ".join(words).lower()
    return texts


def lessons(id: str) -> list[str]:
    """The lessons that mention an entry, as Markdown."""
    mention = re.compile(rf"(?<!\w){re.escape(id)}(?!\w)")
    return [title for title, text in _lessons() if mention.search(text)]


@lru_cache(maxsize=1)
def _lessons() -> tuple[tuple[str, str], ...]:
    """Title with file, and text, of every lesson of a checkout; none where only the package is."""
    lessons = []
    for path in sorted(_LESSONS.glob("[0-9][0-9]_*/lesson.py")):
        name, text = path.parent.name, path.read_text(encoding="utf-8")
        heading = re.search(r"^# # (.+)$", text, re.MULTILINE)
        title = heading.group(1) if heading else name
        lessons.append((f"{title} (`lessons/{name}.ipynb`)", text))
    return tuple(lessons)
