"""Translation of the explorer's texts.

Files in `messages` hold a page's texts by key, in English and Chinese.
`zh/library.toml` maps the library's English sentences and templates to Chinese.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

KEY = "language"
LANGUAGES = {"en": "English", "zh": "中文"}
# Keys in the JSON of a Plotly figure whose values are texts for readers.
_TEXTS = {"text", "hovertemplate", "title", "name"}
_NAMES = re.compile(r"[A-Za-z](?:[\w ,=]*\w)?")


def keyed(name: str) -> dict[str, tuple[str, str]]:
    """Return (English, Chinese) texts of a message file by dotted key; a single text is both."""

    def flat(part: Any, key: str) -> Iterator[tuple[str, tuple[str, str]]]:
        for word, inner in part.items():
            if isinstance(inner, dict):
                yield from flat(inner, f"{key}{word}.")
            else:
                yield f"{key}{word}", (inner, inner) if isinstance(inner, str) else tuple(inner)

    path = Path(__file__).parent / "messages" / f"{name}.toml"
    return dict(flat(tomllib.loads(path.read_text(encoding="utf-8")), ""))


@lru_cache
def chinese() -> dict[str, str]:
    """Return the Chinese text for each English text of the library and the message files."""
    library = Path(__file__).with_name("zh") / "library.toml"
    names = (path.stem for path in Path(__file__).with_name("messages").glob("*.toml"))
    whole = tomllib.loads(library.read_text(encoding="utf-8"))
    return whole | {english: zh for name in names for english, zh in keyed(name).values()}


def current() -> str:
    """Return the session's language code, or "en" without a session, as for the static site."""
    if "streamlit" not in sys.modules:
        return "en"
    import streamlit as st

    return st.session_state.get(KEY, "en") if st.runtime.exists() else "en"


def address() -> dict[str, str]:
    """Return the field of a URL's query that sets the language; English needs no field."""
    return {} if current() == "en" else {KEY: current()}


def choose(code: str) -> None:
    """Set the language in the session and in the page's URL."""
    import streamlit as st

    st.session_state[KEY] = st.query_params[KEY] = code


def translated(text: str, code: str = "", **values: Any) -> str:
    """Return a library text in language `code`, by default the reader's, filled with `values`.

    Texts without a translation stay English.
    """
    if (code or current()) != "en":
        text = chinese().get(text, text)
        values = {k: chinese().get(v, v) if isinstance(v, str) else v for k, v in values.items()}
    return text.format(**values) if values else text


def translated_clauses(text: str, code: str = "") -> str:
    """Translate a text; if it has no translation, translate each clause between semicolons."""
    if (whole := translated(text, code)) != text:
        return whole
    return "; ".join(translated(clause, code) for clause in text.split("; "))


def reason(refusal: str) -> str:
    """Return only the reason from an error message about an unsupported mechanism."""
    return re.sub(r"^.*not supported: |^Accountant \w+: |, not for \w+$", "", refusal)


def in_each(text: str) -> dict[str, str]:
    """Return the translations of a text by language code."""
    return {code: translated_clauses(text, code) for code in LANGUAGES}


def translated_figure(part: Any, key: str = "") -> Any:
    """Translate the texts in a part of a Plotly figure's JSON to the reader's language."""
    if isinstance(part, str):
        # Also translate names within the text, because a legend contains several names.
        return _NAMES.sub(lambda m: translated(m[0]), translated(part)) if key in _TEXTS else part
    if isinstance(part, dict):
        return {inner: translated_figure(value, inner) for inner, value in part.items()}
    # Of all lists, only those under the key `text` contain texts for readers.
    inner = key if key == "text" else ""
    return [translated_figure(v, inner) for v in part] if isinstance(part, list | tuple) else part
