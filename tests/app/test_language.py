"""No word of the menu and of a page that is translated lacks one, and none is left over."""

import ast
import csv
import functools
import importlib
import json
import re
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from types import ModuleType

import pytest
from streamlit.testing.v1 import AppTest

import explorer
from browsing import ROOT
from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.app import navigation, pages
from dplearn.app.kit import language
from dplearn.app.kit.fields import Choice
from dplearn.app.kit.run_fields import ADJACENCY
from dplearn.app.pages import check_a_claim
from dplearn.app.pages.epsilon_vs_steps import answers, details, notary
from dplearn.app.pages.epsilon_vs_steps.run import LEAVES_OUT, Scenario
from dplearn.app.pages.mechanisms import answer
from dplearn.app.pages.train import fields as train_fields
from dplearn.app.pages.train import runs
from dplearn.app.pages.train.fields import training_of
from dplearn.book import book
from dplearn.book.published import published
from dplearn.browser import pairs
from dplearn.claims import PARAMETERS
from dplearn.ground.guarantee import ADJACENCIES
from dplearn.mechanisms import MECHANISMS
from explorer import opened

APP = Path(navigation.__file__).parent
# Pages that are translated, and what all pages share.
PAGES = sorted({path.stem for path in APP.glob("kit/*/*.toml")} - {"people"})
BROWSERS = {"epsilon_vs_steps", "one_minute"}  # whose words stand in their scripts
SERVED = [name for name in PAGES if name not in BROWSERS]
FILES = [APP / "navigation.py", *APP.glob("kit/*.py")]
FILES += [*(APP / "pages").rglob("*.py"), APP.parent / "book" / "spoken.py"]
OTHERS = [code for code in language.LANGUAGES if code != "en"]
# Choices whose options are no words, or names of parameters.
BARE = ("present", "x_axis", "y_axis", "along")
# Three English words in a row that are no name.
ENGLISH = re.compile(r"\b[a-z]{2,}(?:[ ,;:]+[a-z]{2,}){2,}")


def texts(value: object) -> Iterator[str]:
    """The texts that a constant of a module holds."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from texts(inner)


def named(call: ast.Call, module: ModuleType) -> Iterator[str]:
    """The sentences that a call of `translated` may be about, where they stand in the source."""
    for node in ast.walk(call.args[0]):
        if isinstance(node, ast.Name):
            yield from texts(vars(module).get(node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from texts(getattr(vars(module).get(node.value.id), node.attr, None))
        elif isinstance(node, ast.IfExp):
            for part in (node.body, node.orelse):
                yield from texts(getattr(part, "value", None))
    if isinstance(call.args[0], ast.Constant):
        yield from texts(call.args[0].value)


def sentences() -> Iterator[str]:
    """Every English sentence of the explorer that is translated."""
    for file in FILES:
        module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
        calls = (n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call))
        for call in calls:
            if "translated" in (getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
                yield from named(call, module)
    yield from (*(page.TITLE for page in navigation.modules()), *navigation.GROUPS)
    for page in SERVED:
        own = explorer.start(importlib.import_module(f"{pages.__name__}.{page}")).fields
        # The parameters of an entry of the book stay as they are.
        of_book = ("find", "group", "view", "picture", "along") if page == "formula_book" else own
        for kind in (kind for key, kind in own.items() if key in of_book):
            if kind.key not in ("present", "pinned"):  # They have no control.
                yield from (kind.label, kind.help)
            if isinstance(kind, Choice) and kind.key not in BARE:
                yield from kind.options.values()
    for told in pairs.catalogue()["mechanisms"].values():
        yield from told["about"].values()
    for kind in (notary.mechanism(), notary.SAMPLING, ADJACENCY):
        yield from (kind.label, *kind.options.values())
    yield from (*check_a_claim.EXAMPLES, details.NO_FORM, details.NO_FLINT)


@each("code", OTHERS)
def test_every_sentence_has_an_entry_and_every_entry_a_sentence(code):
    # Signs and names of accountants stay.
    names = "▲●✕■▼★◆✚"
    worded = {s for s in sentences() if re.search("[A-Za-z][a-z]{2}", s) and s[0] not in names}
    table = language.table(code)["words"]
    assert worded - set(table) == set(), "without a translation"
    assert set(table) - set(sentences()) == set(), "of no sentence"
    library = language.table(code)["library"]
    places = lambda text: set(re.findall(r"(?<!%)\{(\w+)", text))
    for english, words in {**table, **library}.items():
        # What the library tells may be told without a number.
        lost = places(english) - places(words) if english in table else ()
        assert not lost and places(words) <= places(english), f"{english}: other places in {words}"
        assert re.search("[\u4e00-\u9fff，。：；]", words), f"{english} is not translated"


@each("code", OTHERS)
def test_each_part_of_the_librarys_words_stands_in_its_sources(code):
    joined = "".join(path.read_text() for path in (ROOT / "dplearn").rglob("*.py"))
    rows = csv.DictReader((ROOT / "data" / "published.csv").read_text().splitlines())
    joined += "".join(row["why"] + row["source"] for row in rows)
    letters = lambda text: re.sub(r"[^a-z]", "", text.lower())
    joined = re.sub(r'["\']\s*f?["\']', "", joined)
    source = letters(joined) + letters(re.sub(r"\{.*?\}", "", joined))
    for english in language.table(code)["library"]:
        for part in re.split(r"\{\w+\}", english):
            assert letters(part) in source, f"{part} of {english} is nowhere said"


def written(part: object) -> Iterator[str]:
    """The texts in a part of a figure."""
    if isinstance(part, dict):
        told = (part.get(key) for key in ("text", "hovertemplate"))
        yield from (words for words in told if isinstance(words, str))
        part = [*part.values()]
    for inner in part if isinstance(part, list) else ():
        yield from written(inner)


def left(app: AppTest) -> set[str]:
    """What a page of the explorer says in English."""
    kinds = "error warning info success markdown caption subheader button selectbox text_input"
    kinds += " expander toggle button_group"
    elements = [e for kind in kinds.split() for e in getattr(app, kind)]
    told = [str(getattr(e, part, "")) for e in elements for part in ("value", "label", "help")]
    for table in app.table:
        told += [*table.value.columns, *map(str, table.value.to_numpy().ravel())]
    for chart in app.get("plotly_chart"):
        told += [chart.proto.alt, *written(json.loads(chart.proto.spec))]
    formula = re.compile(r"\$\$.*?\$\$", re.DOTALL)
    return {t for t in told if ENGLISH.search(formula.sub("", untitled(t)))}


def untitled(text: str) -> str:
    """A text without what stays English: words of the book's entries, titles of lessons."""
    own = [entry.title for entry in book.values()]
    wrong = [m for entry in book.values() for m in entry.misprints]
    names = [name for m in wrong for name in (m.name, m.name.replace("-", " "))]
    own += [part for m in wrong for part in (m.note, m.met)] + names
    text = functools.reduce(lambda left, part: left.replace(part, ""), own, text)
    return re.sub(r"课程 .*? \(`lessons/\S+`\)", "", text)


@pytest.mark.slow
def test_what_the_library_says_of_any_run_is_translated(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "zh")
    kinds = (notary.mechanism(), notary.SAMPLING, ADJACENCY)
    for noise, sampling, adjacency in product(*(kind.options for kind in kinds)):
        rate = 1.0 if sampling == "none" else 0.5
        left_out = sampling.endswith(LEAVES_OUT)
        kind = sampling.removesuffix(LEAVES_OUT)
        run = Scenario(noise, 4.0, kind, rate, 1e-5, adjacency, 2, leaves_out=left_out)  # type: ignore[arg-type]
        for name in ACCOUNTANTS:
            answer = answers.answer(name, run, (1,))
            said = [
                answer.refusal.partition(": ")[2],
                *(a for g in answer.curve for a in g.assumptions),
            ]
            assert not [t for t in map(language.retold, said) if ENGLISH.search(t)], (name, run)


WORD = re.compile(r"(?<![\w<&/.%{])[a-z]{3,}(?![\w>])")
# Units, and names of parameters.
KEPT = {"nats", *PARAMETERS}
KEPT |= {word for e in book.values() for name in e.parameters for word in name.split("_")}


def words_of_figures(app: AppTest) -> set[str]:
    """English words in the figures of a page, and in what is told to those who do not see them."""
    told = [
        [chart.proto.alt, *written(json.loads(chart.proto.spec))]
        for chart in app.get("plotly_chart")
    ]
    bare = [re.sub(r"<[^>]*>|%\{.*?\}", "", untitled(text)) for text in chain.from_iterable(told)]
    return {word for text in bare for word in WORD.findall(text)} - KEPT


AMPLIFIED = {"claim": "q*epsilon", "quantity": "amplified_epsilon", "of": "approximate_dp"}
# Formulas that cannot be read, each for a reason of its own.
UNREADABLE = [{"claim": claim} for claim in ("q*", "2 3", "(1", "sigma(2)", "min(1)", "[1)", "q=")]
UNREADABLE += [{"held": held} for held in ("q", "q=7", "T=1.5", "sgma=1")]
SHOWN = [
    ("train", {"batch_size": "1500", "length_in": "epochs", "bound": "AdaptiveQuantile"}),
    ("train", {"noise_from": "noise", "lot_from": "rate", "dataset": "synthetic"}),
    ("pate", {"queries": "60", "answers": "40"}),
    ("pate", {"queries": "60", "answers": "40", "check": "agreed"}),
    ("pate", {"queries": "30", "check": "agreed", "threshold": "1000", "check_std": "10"}),
    *(("federated", {"place": place}) for place in ("phones", "server", "alone", "nobody")),
    ("federated", {"view": "raw", "shares": "invited"}),
    *(("audit", {"program": program}) for program in ("correct", "again", "twice")),
    *(("audit", {"program": program}) for program in ("forgets", "unclipped", "short")),
    ("audit", {"canaries": "20", "guesses": "2", "assume": "gaussian"}),
    ("check_a_claim", {}),
    ("check_a_claim", AMPLIFIED),
    ("check_a_claim", AMPLIFIED | {"claim": "ln(1 + q*(exp(epsilon)-1))"}),
    ("check_a_claim", AMPLIFIED | {"claim": "q*epsilon/3", "relation": "lower", "x": "q"}),
    *(("check_a_claim", change) for change in UNREADABLE),
    *(("formula_book", {"id": id}) for id in ("G-B4", "G-D1", "G-E1", "nobody")),
    ("formula_book", {"id": "G-B4", "picture": "cloud", "find": "sigma"}),
    ("formula_book", {"id": "G-B4", "misprint": "no-two"}),
    ("formula_book", {"id": "G-B4", "misprint": "any-epsilon", "picture": "cloud"}),
    *(("formula_book", {"id": "G-B4", "view": view}) for view in ("table", "sources")),
]


@pytest.mark.slow
@each("page, address", SHOWN)
def test_a_page_in_chinese_has_no_english_sentence(monkeypatch, page, address):
    monkeypatch.setattr(language, "current", lambda: "zh")
    app = opened(page, **address)
    assert not left(app) and not words_of_figures(app)


_PROBLEMS = (
    "The training process was killed, perhaps for want of memory.",
    "Stopped after 120 s of processor time, the most that a run may take here.",
)
_EVENT = {"event": "progress", "step": 30, "seconds": 3.0, "epsilon": 2.0, "accuracy": 0.9}
_EVENT |= {"plain_accuracy": 0.95, "loss": 0.3, "plain_loss": 0.2, "clipped": 0.5, "norm": 0.2}
_EVENT |= {"norm_low": 0.1, "norm_high": 0.3, "clipping_norm": 0.1}
RUNS = [(phase, before, "") for phase in ("waiting", "running", "stopped") for before in (0, 1)]
RUNS += [("done", 1, ""), *(("failed", 1, problem) for problem in _PROBLEMS)]


@pytest.mark.slow
@each("phase, steps, problem", RUNS)
def test_a_training_in_chinese_has_no_english_sentence(monkeypatch, phase, steps, problem):
    run = runs.Run(training_of(train_fields.state()))
    run.phase, run.problem, run.before = phase, problem, 2
    run.events = [{"event": "start", "held_out": 359}]
    run.events += [_EVENT] * steps if phase != "waiting" else []
    monkeypatch.setattr(language, "current", lambda: "zh")
    monkeypatch.setattr(runs, "current", lambda name="": run)
    app = opened("train")
    assert not left(app) and not words_of_figures(app)


def chinese(part: object) -> Iterator[str]:
    """What is said in Chinese in something that the page of mechanisms is sent."""
    if isinstance(part, dict):
        yield from (part["zh"],) if set(part) == {"en", "zh"} else chinese([*part.values()])
    for inner in part if isinstance(part, list | tuple) else ():
        yield from chinese(inner)


@pytest.mark.slow
def test_what_the_page_of_mechanisms_is_sent_is_translated():
    own = pairs.worded(pairs.catalogue(), language.in_each)
    asked = [{"mechanism": name, "adjacency": "replace_one"} for name in MECHANISMS]
    asked.append({"mechanism": "subset_sum", "batch": "30", "alike": "1", "records": "20"})
    asked.append({"mechanism": "skellam", "noise_multiplier": "1000", "sensitivity": "50"})
    asked.append({"mechanism": "gaussian", "noise_multiplier": "many"})
    answers_ = [answer(question) for question in asked]
    told = [*chinese(own), *chinese(answers_)]
    assert len(told) > 100 and not [t for t in told if ENGLISH.search(t)]
    assert sum("refused" in each for each in answers_) >= 3


def test_why_a_mechanism_covers_no_such_neighbours_is_translated(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "zh")
    examples = [e for law in MECHANISMS.values() for e in law.examples()]
    told = {pairs.refusal(e, adjacency) for e in examples for adjacency in ADJACENCIES}
    told |= {e.no_outputs for e in examples} | {a for e in examples for a in e.assumptions}
    assert len(told) > 20 and not [t for t in map(language.retold, told) if ENGLISH.search(t)]


def test_a_decimal_point_is_no_full_stop(monkeypatch):
    """0.9469 read 0。9469: what stands between two words ended at the first point."""
    monkeypatch.setattr(language, "current", lambda: "zh")
    for row in published().values():
        points = [re.findall(r"\d\.\d+", why) for why in (row["why"], language.retold(row["why"]))]
        assert sorted(points[0]) == sorted(points[1]), row["why"]
    assert language.retold("True if: noise of 0.5; no more.") == "成立条件：noise of 0.5; no more。"
