"""The language of the explorer's words.

Files in `messages` hold a page's sentences by key, the English one with the Chinese one below it;
`zh/library.toml` has by its English what the library hands over finished. A sentence is a
template, translated before its values are put in: `Said` remembers which.
"""

import re
import sys
import threading
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

KEY = "language"
LANGUAGES = {"en": "English", "zh": "中文"}
# Of the run in this thread: a page asks a hundred times, and looking into a session is slow.
_run = threading.local()
# Texts of a figure.
_TEXTS = {"text", "hovertemplate", "title", "name"}
# Of what a reader has typed a message may hold any length, and patterns would take for ever.
_LONGEST = 4000
# Signs at the ends of words.
_EDGES = re.compile(r"(\W*)(.*?)(\W*)", re.DOTALL)
# Where the library puts words together, the widest gap first: marks of a figure or of a heading,
# clauses, a number at the end, sentences, lists.
_GAPS = r"<[^>]*>|%\{[^}]*\}|\*\*", "; ", r" (?=[\d.]+$)", "(?<=[.:]) ", ", "
_GAPS = [re.compile(f"({gap})") for gap in _GAPS]


class Said(str):
    """An English sentence with its values in it, which can still be told in another language."""

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Self:
        """The sentence of a template."""
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, values
        return made

    def __str__(self) -> str:
        """The same: a message is still itself after an error has carried it."""
        return self


def keyed(name: str) -> dict[str, tuple[str, str]]:
    """English and Chinese by dotted key, of a file of words; one text is for both."""

    def told(part: Any, key: str) -> Iterator[tuple[str, tuple[str, str]]]:
        for word, inner in part.items():
            if isinstance(inner, dict):
                yield from told(inner, f"{key}{word}.")
            else:
                yield f"{key}{word}", (inner, inner) if isinstance(inner, str) else tuple(inner)

    path = Path(__file__).parent / "messages" / f"{name}.toml"
    return dict(told(tomllib.loads(path.read_text(encoding="utf-8")), ""))


@lru_cache
def library_words() -> dict[str, dict[str, str]]:
    """Chinese by English, of the library: `sentences`, and templates of `finished` ones."""
    path = Path(__file__).with_name("zh") / "library.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@lru_cache
def chinese() -> dict[str, str]:
    """Chinese by English, of every sentence that is found whole."""
    names = (path.stem for path in Path(__file__).with_name("messages").glob("*.toml"))
    return library_words()["sentences"] | {k: v for name in names for k, v in keyed(name).values()}


def spoken() -> str:
    """The language of this session; English where there is none, as for a site of files."""
    if "streamlit" not in sys.modules:
        return "en"
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    session = get_script_run_ctx(suppress_warning=True)
    if session is None or getattr(_run, "session", None) is session:
        return _run.language if session else "en"
    return st.session_state.get(KEY, "en")


def follow_address() -> None:
    """Take the language that the address names; it lasts until another is chosen."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    if (named := st.query_params.get(KEY)) in LANGUAGES:
        st.session_state[KEY] = named
    _run.session, _run.language = get_script_run_ctx(), st.session_state.get(KEY, "en")


def address() -> dict[str, str]:
    """What the address names where the language is not English."""
    return {} if spoken() == "en" else {KEY: spoken()}


def choose(code: str | None) -> None:
    """Take a language, until another is chosen."""
    import streamlit as st

    if code in LANGUAGES:
        st.session_state[KEY] = st.query_params[KEY] = code


def retold(text: str, code: str = "") -> str:
    """A text of the library in the reader's language, or in the one that is named."""
    if (code or spoken()) == "en":
        return text
    if not isinstance(text, Said) or not text.values:
        return _retold(text)
    # What a reader has typed, or has been told already, stays as it is.
    told = lambda v: retold(v, "zh") if isinstance(v, Said) else _whole(v)
    values = {key: told(v) if isinstance(v, str) else v for key, v in text.values.items()}
    return _whole(text.template).format(**values)


def _whole(text: str) -> str:
    """What the tables have for a text, signs at its ends aside; else the text."""
    if text in chinese():
        return chinese()[text]
    signs, core, ends = _EDGES.fullmatch(text).groups()  # type: ignore[union-attr]
    return text if core in ("", text) else f"{signs}{_whole(core)}{ends}"


@lru_cache(maxsize=4096)
def _retold(text: str) -> str:
    """What is in the table, or of a template in it; else part by part."""
    if (whole := _whole(text)) != text or len(text) > _LONGEST:
        return whole
    if (bare := text.strip(" ")) != text:
        return text.replace(bare, _retold(bare)) if bare else text
    for template, words in _templates():
        if match := template.fullmatch(text):
            told = lambda key, v: v if key.startswith("word") else _retold(v)
            return words.format(**{key: told(key, v) for key, v in match.groupdict().items()})
    for gap in _GAPS:
        if len(parts := gap.split(text)) > 1:
            parts[::2] = map(_retold, parts[::2])
            return "".join(parts)
    return text


@lru_cache
def _templates() -> list[tuple[re.Pattern[str], str]]:
    """What the library says with values in it: it tells no template, so each is recognised."""
    # The most definite first.
    bare = lambda pair: -len(re.sub(r"\{\w+\}", "", pair[0]))
    # A hole that is named after a word is a single one, and stays.
    inside = lambda name: r"\w+" if name.startswith("word") else ".+?"
    hole = lambda match: f"(?P<{match[1]}>{inside(match[1])})"
    holes = lambda text: re.sub(r"\\{(\w+)\\}", hole, re.escape(text))
    made = sorted(library_words()["finished"].items(), key=bare)
    return [(re.compile(holes(text), re.DOTALL), words) for text, words in made]


def in_each(text: str) -> dict[str, str]:
    """A sentence, or a text of the library, by language: for pages that the browser owns."""
    return {code: retold(text, code) for code in LANGUAGES}


def redrawn(part: Any, key: str = "") -> Any:
    """A part of a figure, as Plotly's JSON, with its texts in the reader's language."""
    if isinstance(part, str):
        return retold(part) if key in _TEXTS else part
    if isinstance(part, dict):
        return {inner: redrawn(value, inner) for inner, value in part.items()}
    # Of lists only one of texts has texts.
    inner = key if key == "text" else ""
    return [redrawn(v, inner) for v in part] if isinstance(part, list | tuple) else part
