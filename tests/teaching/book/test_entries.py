"""Every entry of the book is well formed and verified, and its misprints are refuted."""

import inspect
import re
from types import FunctionType

import numpy as np
import pytest

from dplearn.teaching.book import book, refute, verify
from dplearn.teaching.book.chapters import Book
from dplearn.teaching.book.kit.checks import compare
from dplearn.teaching.book.kit.domains import Linear
from dplearn.teaching.book.kit.entry import formula, given, identity, printed, waiting, wrong
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import same_left_side
from dplearn.teaching.claims.table import Table
from dplearn.teaching.classroom import sources


def faults(entry):
    """Yield a sentence for each missing or malformed part of an entry."""
    needed = inspect.signature(entry.function).parameters.values()
    required = {p.name for p in needed if p.default is p.empty}
    names = inspect.signature(entry.given).parameters if callable(entry.given) else ()
    names = names or (parse(entry.given).names if entry.given else ())
    if not entry.statement.strip():
        yield "the docstring of the function must begin with the statement in LaTeX"
    if entry.function.__name__.startswith("_"):
        yield "the function must have a public name, by which `dplearn.teaching.book` exports it"
    if unknown := required - set(entry.parameters):
        yield f"@given must say from what domain {', '.join(sorted(unknown))} is drawn"
    blank = re.findall(r"(?m)^(\w+)(?: \(.*\))?\n    $", entry.function.__doc__)
    if unknown := {p.name for p in needed}.intersection(blank):
        yield f"a line `{min(unknown)}: ...` below the statement must say what that is"
    if unknown := set(names) - set(entry.parameters):
        yield f"the hypothesis speaks of {', '.join(sorted(unknown))}, which @given does not draw"
    if callable(entry.given) and not entry.hypothesis:
        yield "a hypothesis that is a function needs a docstring that says it in a sentence"
    if (entry.kind == "asymptotic") != bool(entry.along):
        yield "an asymptotic formula, and no other, says `along` which values its limit is reached"
    for example in entry.printed:
        if not set(example.parameters) <= set(entry.parameters) or not example.value:
            yield f"@printed {example.value!r} must have a value and only parameters of @given"
        elif not entry.accepts(dict(example.parameters)):
            yield f"@printed {example.value!r} stands outside the hypothesis"


def faults_of(entry, misprint):
    """Yield a sentence for each missing or malformed part of a misprint."""
    changed = (misprint.claim, misprint.given, misprint.kind, misprint.oracle)
    if not re.fullmatch(r"[a-z0-9-]+", misprint.name):
        yield "its name must be small letters, digits and hyphens"
    if not misprint.note:
        yield "it must say in a sentence why it is wrong"
    if all(change is None for change in changed):
        yield "it must differ from the formula in claim, given, kind or oracle"
    if not misprint.statement and not isinstance(misprint.claim, str) and misprint.given is None:
        yield "`says` must state it: no LaTeX can be made of a claim that is a function"
    if unknown := set(misprint.without) - set(entry.parameters):
        yield f"the entry has no {', '.join(sorted(unknown))} that it could be without"
    if misprint.met and not re.search(r"\d", misprint.met):
        yield "`met` must name a source that can be checked: a year and a place, or a version"


def test_entries_and_misprints_are_well_formed():
    sentences = [f"{entry.id}: {fault}." for entry in book.values() for fault in faults(entry)]
    for entry in book.values():
        names = [m.name for m in entry.misprints]
        sentences += [f"{entry.id}: two misprints have one name."] * (len(set(names)) < len(names))
        for misprint in entry.misprints:
            sentences += [f"{entry.id}/{misprint.name}: {f}." for f in faults_of(entry, misprint)]
    assert not sentences, "\n".join(sentences)


# Entries without a `setting`, so that no claim in a text is compared with them: texts print no
# closed form of the value, or another entry has the same value.
WITHOUT_SETTINGS = {
    "G-B5b", "G-B15", "G-C4", "G-C4b", "G-D3b", "G-E3b", "G-E5", "G-E5b", "G-E7", "G-F1b", "G-F2",
    "G-F3", "G-F6", "G-F9", "G-H2", "G-H2b", "G-H2c", "G-I2c", "G-J2", "G-J2b", "G-J3", "G-J3b",
    "G-K2b",
}  # fmt: skip


def is_scalar(entry):
    """Return whether all drawn parameters of an entry's function are numbers."""
    own = [entry.domain.get(n) for n in inspect.signature(entry.function).parameters]
    drawn = [domain for domain in own if domain is not None]
    return bool(drawn) and all(isinstance(domain, Linear) for domain in drawn)


def test_scalar_formulas_name_situations_for_comparison_with_claims():
    silent = {id for id, entry in book.items() if is_scalar(entry) and not entry.settings}
    assert silent == WITHOUT_SETTINGS
    for setting in (s for entry in book.values() for s in entry.settings):
        assert setting.text and re.search("[\u4e00-\u9fff]", setting.chinese), setting.text


def test_lower_bounds_do_not_exceed_proved_values():
    """Compare the bound of each setting with the entry's value, which is proved, at many points."""
    tried = 0
    for entry in book.values():
        for setting in entry.settings:
            table = Table(entry, setting)
            if table.edge is None or not table.sign:
                continue
            with np.errstate(invalid="ignore"):
                low = table.edge["@"]
                above = table.sign * (low - table.value) > 1e-6 * np.abs(table.value) + 1e-13
            assert not np.any(above & table.holds & np.isfinite(low)), (entry.id, setting.text)
            tried += 1
    assert tried > 100


def test_lessons_link_all_entries_and_no_others():
    folder = sources.lessons_folder() / "sources"
    lessons = "\n".join(path.read_text() for path in sorted(folder.glob("*/lesson.py")))
    linked = set(re.findall(r"formula_book\?id=(G-[A-Z]\d+[a-h]?)\b", lessons))
    assert not (new := sorted(set(book) - linked)), f"link {new} from a lesson"
    assert not (lost := sorted(linked - set(book))), f"lessons link {lost}, which the book lacks"


@pytest.mark.slow
@pytest.mark.parametrize("id", book)
def test_entry_is_verified_and_misprints_are_refuted(id):
    entry = book[id]
    right = verify(entry, points=min(entry.points, 8))  # `dplearn verify` uses all points
    assert right.good, right.reason
    for misprint in entry.misprints:
        wrong = refute(entry, misprint, points=min(entry.points, 5))
        wrong = wrong if wrong.good else refute(entry, misprint, points=min(entry.points, 50))
        assert wrong.good, f"{wrong.id}: {wrong.reason or 'no counterexample'}"
        for case in (wrong.counterexample, wrong.worst):
            assert case.slack < -entry.tolerance, wrong.id
            assert entry.claimed(misprint).accepts(case.parameters), wrong.id


# Regression points: an entry's code, oracle or hypothesis was once wrong there.
FOUND = [
    ("G-A3", {"p": [0.5, 0.5], "q": [1.0, 0.0], "order": 1.0}),
    ("G-A3c", {"p": [2.4e-8, 1 - 2.4e-8], "q": [1.0, 0.0], "order": 0.989961}),
    ("G-A4", {"order": 50.0, "mean_p": 3.0, "std_p": 0.2020305, "mean_q": -2.98762, "std_q": 0.2}),
    ("G-B14", {"scale": 0.00315902, "threshold": 2.34103}),
    ("G-F5", {"noise_multiplier": 2 * (1 - 1e-12), "bit_noise": 1.0}),
]


@pytest.mark.parametrize("id, parameters", FOUND)
def test_entry_holds_at_regression_points(id, parameters):
    entry = book[id]
    assert entry.accepts(parameters)
    assert compare(entry, parameters).slack >= -entry.tolerance


def test_formula_ids_are_ordered_and_incomplete_formulas_are_refused():
    numbers = [int(re.search(r"\d+", id).group()) for id in book if id.startswith("G-A")]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, 13))
    taken = FunctionType((lambda: 1.0).__code__, {}, "hockey_stick")
    undated = given()(identity("Nobody, Lemma 1", lambda: 1.0)(lambda: 1.0))
    for id, function, message in (
        ("G-A1", taken, "new id"),
        ("A1", taken, "new id"),
        ("G-Z1", undated, "authors, year and place at G-Z1"),
        ("G-Z1", lambda: 1.0, "got no given, no oracle"),
        ("G-Z1", taken, "new name of the function at G-Z1"),
    ):
        with pytest.raises(ValueError, match=message):
            formula(id, "Title")(function)
    with pytest.raises(TypeError, match="got clame='1'"):
        wrong("typo", "A misspelt field.", clame="1")
    forgotten = printed("1")(lambda: 1.0)
    with pytest.raises(ValueError, match="@formula above the other decorators"):
        len(Book())
    del waiting[forgotten]


def test_functions_of_the_book_have_generated_help():
    from dplearn.teaching.book import classical_gaussian_sigma, hockey_stick, rdp_to_epsilon

    assert inspect.isfunction(hockey_stick) and book["G-A1"].function is hockey_stick.__wrapped__
    shown = inspect.getdoc(classical_gaussian_sigma)
    for text in ("Classical noise", r"\sigma \ge", "Hypothesis: ", "nats", "Dwork & Roth", "4.84"):
        assert text in shown, text
    # A function of the library keeps its own docstring.
    assert "Parameters" in rdp_to_epsilon.__doc__ and "Hypothesis" not in rdp_to_epsilon.__doc__


def test_statement_of_a_misprint_keeps_the_left_side():
    # A minimum on the left is dropped; a statement without a relation has no left side.
    for statement, left in ((r"{a=b}\le c", r"{a=b}\le "), (r"\min(a, b) \le c", ""), ("a", "")):
        assert same_left_side(statement, "x") == f"{left}x"
    entry = book["G-B4"]
    made = entry.statement_of(entry.misprint("no-two"))
    assert made.startswith(r"\sigma \ge") and r"\ln" in made and "noise" not in made
    assert entry.claimed(entry.misprint("no-two")).value({"epsilon": 1.0, "delta": 1e-5}) < 3.5
