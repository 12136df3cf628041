"""Docstrings, comments and names use the words of the field, or plain ones."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [p for room in ("dplearn", "tests") for p in sorted((ROOT / room).rglob("*.py"))]
WORDS = {
    "whoever": "say who does it",
    "spoken": "read aloud, or a phrase",
    "notary": "server, or confirmation",
    "on trial": "tested",
}
NAMES = WORDS | {"told": "result, text or lines", "seat": "position, or a record's place"}


def texts(path: Path):
    """Yield (line, text, words to avoid) for docstrings, comments and assigned names."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or "", WORDS
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.lineno, node.name.replace("_", " "), NAMES
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id.replace("_", " "), NAMES
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string, WORDS


@pytest.mark.slow
def test_names_and_texts_contain_no_forbidden_words():
    complaints = [
        f"{path.relative_to(ROOT)}:{line}: {word!r}, better: {plain}"
        for path in FILES
        if path != Path(__file__) and "sources" not in path.parts
        for line, text, words in texts(path)
        for word, plain in words.items()
        if re.search(rf"\b{word}\b", text, re.IGNORECASE)
    ]
    assert not complaints, "\n".join(complaints)
