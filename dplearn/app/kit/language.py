"""The language of the explorer's words: an English sentence is the key of a language's table.

A table is a folder with a file for each page.

Sentences of the explorer are translated where they are shown, those of the library and of its
figures, which have their numbers in them already, part by part.
"""

import re
import sys
import threading
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

KEY = "language"
LANGUAGES = {"en": "English", "zh": "中文"}
# Of the run in this thread: a page asks a hundred times, and looking into a session is slow.
_run = threading.local()
# Texts of a figure.
_TEXTS = {"text", "hovertemplate", "title"}


@lru_cache(maxsize=len(LANGUAGES))
def table(language: str) -> Mapping[str, Mapping[str, str]]:
    """The sentences of the explorer, `words`, and parts of those of the library, `library`."""
    files = Path(__file__).with_name(language).glob("*.toml")
    tables = [tomllib.loads(path.read_text(encoding="utf-8")) for path in files]
    return {
        part: {english: words for t in tables for english, words in t.get(part, {}).items()}
        for part in ("words", "library")
    }


def current() -> str:
    """The language of this session; English where there is none, as for a site of files."""
    if "streamlit" not in sys.modules:
        return "en"
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    session = get_script_run_ctx(suppress_warning=True)
    if session is None or getattr(_run, "session", None) is session:
        return _run.language if session else "en"
    return st.session_state.get(KEY, "en")


def read() -> None:
    """Take the language that the address names; it lasts until another is chosen."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    if (named := st.query_params.get(KEY)) in LANGUAGES:
        st.session_state[KEY] = named
    _run.session, _run.language = get_script_run_ctx(), st.session_state.get(KEY, "en")


def address() -> dict[str, str]:
    """What the address names where the language is not English."""
    return {} if current() == "en" else {KEY: current()}


def choose(code: str | None) -> None:
    """Take a language, until another is chosen."""
    import streamlit as st

    if code in LANGUAGES:
        st.session_state[KEY] = st.query_params[KEY] = code


def translated(sentence: str, **values: Any) -> str:
    """A sentence in the reader's language, with the values in its places."""
    words = table(current())["words"].get(sentence, sentence)
    return words.format(**values) if values else words


@lru_cache(maxsize=len(LANGUAGES))
def _parts(language: str) -> list[tuple[re.Pattern[str], str]]:
    """What to look for, and what stands for it; a name in braces is whatever is between."""
    # The longest first, as another may be a part of it.
    pairs = sorted(table(language)["library"].items(), key=lambda pair: -len(pair[0]))
    named = lambda english: re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(english))
    # A decimal point is no full stop.
    between = lambda english: named(english).replace(r".+?)\.", r".+?)\.(?!\d)")
    within = lambda words: re.sub(r"\{(\w+)\}", r"\\g<\1>", words)
    return [(re.compile(between(english)), within(words)) for english, words in pairs]


def retold(text: str, code: str = "") -> str:
    """A text of the library in the reader's language, or in the one that is named."""
    for pattern, words in _parts(code or current()):
        text = pattern.sub(words, text)
    return text


def in_each(text: str) -> dict[str, str]:
    """A sentence, or a text of the library, by language: for pages that the browser owns."""
    return {code: retold(table(code)["words"].get(text, text), code) for code in LANGUAGES}


def redrawn(part: Any) -> Any:
    """A part of a figure, as Plotly's JSON, with its texts in the reader's language."""
    if isinstance(part, dict):
        return {key: _drawn(key, value) for key, value in part.items()}
    return [redrawn(value) for value in part] if isinstance(part, list | tuple) else part


def _drawn(key: str, value: Any) -> Any:
    if isinstance(value, str):
        return retold(value) if key in _TEXTS else value
    if key == "text" and isinstance(value, list | tuple):
        return [_drawn(key, inner) for inner in value]
    return redrawn(value)
