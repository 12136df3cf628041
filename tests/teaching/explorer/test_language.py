"""All texts of the explorer, and the library's texts on its pages, have a Chinese version."""

import ast
import fnmatch
import functools
import inspect
import json
import re
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import explorer
from browsing import ROOT
from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import ADJACENCIES
from dplearn.mechanisms import MECHANISMS
from dplearn.run import DPSGD
from dplearn.teaching import explorer as package
from dplearn.teaching.book import book, sentences
from dplearn.teaching.browser import pairs
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import DROP_LAST, Scenario
from dplearn.teaching.explorer.pages.mechanisms import table_or_refusal

APP = Path(package.__file__).parent
# Keys of menu groups, and of titles of pages whose other texts are in JavaScript.
TITLES = ("see", "check", "one_minute", "mechanisms", "proof_and_attack")
KEYED = sorted(path.stem for path in (APP / "kit" / "messages").glob("*.toml"))
FILES = [*APP.rglob("*.py")]
# Three lower-case English words in a row.
ENGLISH = re.compile(r"\b[a-z]{2,}(?:[ ,;:]+[a-z]{2,}){2,}")


def requested_keys(file: Path) -> Iterator[tuple[str, str]]:
    """Yield message file and pattern of every key that a module reads."""
    text = file.read_text()
    named = re.search(r'_say = Words\("(\w+)"\)', text)
    read = re.findall(r"""_say(\.table)?[(\[]f?["']([^"']+)["']( [+])?""", text) if named else ()
    for table, key, sum_ in read:
        pattern = re.sub(r"\{.*?\}", "*", key) + (".*" if table else "*" if sum_ else "")
        yield named[1], pattern  # type: ignore[index]


def test_every_requested_key_exists_and_every_key_is_requested():
    pairs = {(name, key) for name in KEYED for key in language.keyed(name)}
    requested = {*chain.from_iterable(map(requested_keys, FILES))}
    # Titles and groups are looked up by English text, accountants by name.
    requested |= {("shared", key) for key in TITLES}
    requested |= {("epsilon_vs_steps", key) for key in ("labels.*", "accountants.*")}
    missing = lambda name, key: not fnmatch.filter((k for n, k in pairs if n == name), key)
    assert not [one for one in requested if missing(*one)]
    met = lambda name, key: any(n == name and fnmatch.fnmatchcase(key, k) for n, k in requested)
    assert not [one for one in pairs if not met(*one)]


def handed_over() -> Iterator[str]:
    """Yield the texts and templates that the pages get from other packages."""
    nodes = ast.walk(ast.parse(inspect.getsource(sentences)))
    calls = (node for node in nodes if isinstance(node, ast.Call))
    of_entries = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "translated"]
    for node in of_entries:
        for part in (node, getattr(node, "body", None), getattr(node, "orelse", None)):
            yield from [part.value] if isinstance(part, ast.Constant) else ()
    for name, result in vars(sentences).items():
        # The explorer shows neither groups of formulas nor checks of published numbers.
        if name.lstrip("_").isupper() and name not in ("GREEK", "_GROUPS", "VERDICTS"):
            yield from result.values() if isinstance(result, dict) else [result]
    catalogue = pairs.catalogue()
    for result in catalogue["mechanisms"].values():
        yield from (result["title"], *result["about"].values())
    yield from (number["label"] for number in catalogue["numbers"].values())


def test_every_text_has_one_translation_with_the_same_placeholders():
    keyed = [pair for name in KEYED for pair in language.keyed(name).values()]
    whole = language.chinese()
    # Symbols and names stay untranslated.
    worded = {s for s in handed_over() if isinstance(s, str) and re.search("[A-Za-z][a-z]{2}", s)}
    assert worded - set(whole) == set(), "without a translation"
    assert not [e for e, zh in keyed if whole[e] != zh], "with two translations"
    places = lambda text: set(re.findall(r"(?<!%)\{(\w+)", text))
    for english, words in whole.items():
        assert places(english) == places(words), f"{english}: other places in {words}"
        if english != words:
            assert re.search("[\u4e00-\u9fff，。：；]", words), f"{english} is not translated"
        else:
            assert not ENGLISH.search(english), f"{english} has no Chinese"


def library() -> dict[str, str]:
    """Return the translations of the library's texts, except texts that pages look up by key."""
    by_key = {english for name in KEYED for english, _ in language.keyed(name).values()}
    return {english: zh for english, zh in language.chinese().items() if english not in by_key}


def test_every_translated_text_of_the_library_is_in_its_sources():
    joined = "".join(path.read_text() for path in (ROOT / "dplearn").rglob("*.py"))
    joined += "".join(english for name in KEYED for english, _ in language.keyed(name).values())
    letters = lambda text: re.sub(r"[^a-z]", "", text.lower())
    joined = re.sub(r'["\']\s*f?["\']', "", joined)
    source = letters(joined) + letters(re.sub(r"\{.*?\}", "", joined))
    for english in library():
        for part in re.split(r"\{\w+(?::[^}]*)?\}|: | (?:above|below)$", english):
            assert letters(part) in source, f"{part} of {english} is nowhere said"


def written(part: object) -> Iterator[str]:
    """Yield the texts for readers in the JSON of a figure, or in a part of it."""
    if isinstance(part, dict):
        result = (part.get(key) for key in ("text", "hovertemplate"))
        yield from (words for words in result if isinstance(words, str))
        part = [*part.values()]
    for inner in part if isinstance(part, list) else ():
        yield from written(inner)


def english_texts(app: AppTest) -> set[str]:
    """Return the English texts of a page of the explorer."""
    kinds = "error warning info success markdown caption subheader button selectbox text_input"
    elements = [e for kind in f"{kinds} expander button_group".split() for e in getattr(app, kind)]
    lines = [str(getattr(e, part, "")) for e in elements for part in ("value", "label", "help")]
    lines += [e.proto.body for e in app.get("html")]
    for chart in app.get("plotly_chart"):
        lines += [chart.proto.alt, *written(json.loads(chart.proto.spec))]
    formula = re.compile(r"\$\$.*?\$\$", re.DOTALL)
    return {t for t in lines if ENGLISH.search(t) and ENGLISH.search(formula.sub("", untitled(t)))}


@functools.cache
def _stays() -> re.Pattern[str]:
    """Return a pattern of texts that stay English: titles and wrong variants of the book."""
    own = [entry.title for entry in book.values()]
    wrong = [m for entry in book.values() for m in entry.misprints]
    own += [part for m in wrong for part in (m.note, m.met, m.name, m.name.replace("-", " "))]
    longest = sorted(filter(None, own), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)))


def untitled(text: str) -> str:
    """Remove the parts that stay English from a text."""
    return _stays().sub("", text)


WORD = re.compile(r"(?<![\w<&/.%{])[a-z]{3,}(?![\w>])")
# English words that Chinese pages keep: units, and names of parameters.
UNTRANSLATED = {"nats"}
UNTRANSLATED |= {word for e in book.values() for name in e.parameters for word in name.split("_")}


def words_of_figures(app: AppTest) -> set[str]:
    """Return the English words in a page's figures and their alternative texts."""
    charts = app.get("plotly_chart")
    result = {t for c in charts for t in (c.proto.alt, *written(json.loads(c.proto.spec)))}
    bare = (re.sub(r"<[^>]*>|%\{.*?\}", "", text) for text in result if WORD.search(text))
    return {word for text in bare for word in WORD.findall(untitled(text))} - UNTRANSLATED


@pytest.fixture
def chinese(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "zh")


CLAIMS = ["ε' = q ε", "ρ + 2√(ρ ln(1/δ))", "$ε=2ρk$, $σ^2=Δ/δ$", "L=Σ_i", "σ ≤ Δ/ε", "b = 1/(5ε^3)"]
CLAIMS += ["ε = ρ + ln((α-1)/α) + (ln δ + ln α)/(α-1)", "kρ-zCDP", "δ ≤ 1/n²", "a*b", "ε ≥ ρ + 1"]
CLAIMS += ["(ρ+2√(ρ ln(1/δ)), δ/2)-DP", "(ρ+2√(ρ ln(1/δ')), δ)-DP", "σ = 2Δ√(2 ln(1.25/δ))/ε"]
SHOWN = [
    *(("check_a_claim", {"claim": claim}) for claim in CLAIMS),
    *(("formula_book", {"id": id}) for id in ("G-D1", "G-E1", "nobody")),
    ("formula_book", {"id": "G-B4", "misprint": "any-epsilon", "picture": "cloud"}),
]


@pytest.mark.slow
@each("page, address", SHOWN)
def test_chinese_pages_have_no_english_sentence(chinese, page, address):
    app = explorer.opened(page, **address)
    assert not english_texts(app) and not words_of_figures(app)


@pytest.mark.slow
def test_refusals_and_assumptions_of_all_runs_are_translated(chinese):
    for noise, sampling, adjacency in product(*confirmation.options().values()):
        rate = 1.0 if sampling == "none" else 0.5
        left_out = sampling.endswith(DROP_LAST)
        kind = sampling.removesuffix(DROP_LAST)
        how: Any = {"sample_rate": rate, "sampling": kind, "drop_last": left_out}
        plan = DPSGD(noise_multiplier=4.0, steps=2, **how)
        run = Scenario(noise, plan, 1e-5, adjacency)  # type: ignore[arg-type]
        for name in ACCOUNTANTS:
            curve, refusal = confirmation.answer_of(name, run, (1,))
            texts = [language.reason(refusal), *(a for g in curve for a in g.assumptions)]
            lines = map(language.translated, texts)
            assert not [line for line in lines if ENGLISH.search(line)], (name, run)


def in_chinese(part: object) -> Iterator[str]:
    """Yield the Chinese texts in data for the page of mechanisms."""
    if isinstance(part, dict):
        yield from (part["zh"],) if set(part) == {"en", "zh"} else in_chinese([*part.values()])
    for inner in part if isinstance(part, list | tuple) else ():
        yield from in_chinese(inner)


@pytest.mark.slow
def test_data_for_the_page_of_mechanisms_are_translated():
    requests = [{"mechanism": name, "adjacency": "replace_one"} for name in MECHANISMS]
    answers_ = [table_or_refusal(question) for question in requests]
    lines = [*in_chinese(pairs.worded(pairs.catalogue(), language.in_each)), *in_chinese(answers_)]
    assert len(lines) > 80 and not [t for t in lines if ENGLISH.search(t)]
    assert sum("refused" in each for each in answers_) >= 1


def test_refused_adjacencies_of_mechanisms_are_translated(chinese):
    examples = [e for law in MECHANISMS.values() for e in law.examples()]
    refusals = (pairs.refusal(e, adjacency) for e in examples for adjacency in ADJACENCIES)
    result = {language.reason(refusal) for refusal in refusals}
    result |= {e.no_outputs for e in examples} | {a for e in examples for a in e.assumptions}
    lines = map(language.translated_clauses, result)
    assert len(result) > 20 and not [line for line in lines if ENGLISH.search(line)]
