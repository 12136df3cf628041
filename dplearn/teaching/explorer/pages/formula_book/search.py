"""What mentions an entry: the search of the page, and the lessons."""

import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from unicodedata import combining, normalize

from dplearn.teaching.book import book
from dplearn.teaching.book.sentences import GREEK, group_name

_LESSONS = Path(__file__).parents[5] / "lessons" / "sources"
# Words that say nothing about a formula, and how formulas are typed and typeset.
_IDLE = re.compile(r"an?|and|by|for|from|in|is|o[fnr]|the|to|with|differential|privacy|[≤≥=]")
_LETTERS = {letter: name for name, letter in GREEK.items()} | {"ϵ": "epsilon", "√": "sqrt"}
_SIGNS = {"{": "(", "}": ")", "·": "", "*": "", "−": "-", "²": "^2", "`": "'"}
_TYPED: dict[int, str] = {ord(sign): text for sign, text in (_LETTERS | _SIGNS).items()}


def matching(query: str, group: str = "all") -> list[str]:
    """Ids of the entries of a group that have every word of the query, the best hits first."""
    words = searched_words(query)
    hits = {
        id: [max((w for w, text in _texts()[id] if _has(text, word)), default=0) for word in words]
        for id, entry in book.items()
        if group in ("all", entry.group)
    }
    return sorted((id for id in hits if all(hits[id])), key=lambda id: -sum(hits[id]))


@lru_cache(maxsize=512)
def searched_words(query: str) -> tuple[str, ...]:
    """The words that are looked for; what no entry has gives way to the word most like it."""
    words = [word for word in _plain(query).split() if not _IDLE.fullmatch(word)]
    texts = [text for own in _texts().values() for _, text in own]
    present = lambda word: any(_has(text, word) for text in texts)
    vocabulary = sorted(set(re.findall(r"[^\W\d_]{3,}", " ".join(texts))))
    near = lambda word: (*get_close_matches(word, vocabulary, 1, 0.75), word)[0]
    return tuple(near(w) if w.isalpha() and not present(w) else w for w in words)


def _has(text: str, word: str) -> bool:
    """Whether a text has a word; where it is one of three letters or fewer, not within another."""
    if len(word) > 3 or not word.isalpha():
        return word in text
    return re.search(rf"(?<![a-z]){word}(?![a-z])", text) is not None


def _plain(text: str) -> str:
    """A text in lower case, without accents, Greek letters spelled out, LaTeX as one types it."""
    bare = "".join(x for x in normalize("NFD", text.lower()) if not combining(x))
    plain = re.sub(r"\\(?:var|frac|text|left|right|quad)?", "", bare.translate(_TYPED))
    return re.sub(r"\beps\b", "epsilon", plain)


@lru_cache(maxsize=1)
def _texts() -> dict[str, list[tuple[int, str]]]:
    """Return by id the texts that are searched; what says most of an entry weighs most."""
    texts = {}
    for id, entry in book.items():
        settings = " ".join(f"{s.text} {s.chinese}" for s in entry.settings)
        about = f"{entry.hypothesis} {entry.reference} {entry.remarks} {' '.join(entry.parameters)}"
        own = [(9, id), (7, entry.title), (5, group_name(entry.group)), (3, about)]
        own += [(4, f"{entry.statement} {settings} {entry.function.__name__}")]
        own += [(2, f"{m.name} {m.met} {m.note} {m.statement}") for m in entry.misprints]
        own += [(1, " ".join(lessons_about(id)))]
        texts[id] = [(weight, _plain(text)) for weight, text in own]
    return texts


def lessons_about(id: str) -> list[str]:
    """The lessons that mention an entry, as Markdown."""
    return [title for title, ids in _lessons() if id in ids]


@lru_cache(maxsize=1)
def _lessons() -> tuple[tuple[str, frozenset[str]], ...]:
    """Title with file, and ids, of every lesson of a checkout; none where only the package is."""
    entries = []
    for path in sorted(_LESSONS.glob("[0-9][0-9]_*/lesson.py")):
        name, text = path.parent.name, path.read_text(encoding="utf-8")
        heading = re.search(r"^# # (.+)$", text, re.MULTILINE)
        title = heading.group(1) if heading else name
        ids = frozenset(re.findall(r"\bG-[A-Z]\d+[a-z]?\b", text))
        entries.append((f"{title} (`lessons/{name}.ipynb`)", ids))
    return tuple(entries)
