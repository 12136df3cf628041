"""`proofread` lists all situations with a verdict; words that it does not know change nothing."""

import sys
import time
from pathlib import Path

import pytest

from cases import each
from dplearn.__main__ import main
from dplearn.teaching.book import book
from dplearn.teaching.claims import proofread
from dplearn.teaching.explorer.pages import check_a_claim
from dplearn.teaching.figures.claim_map import map_of

# Printed formula, its sentence, the verdict, and the entry with the misprint that it equals.
PRINTED = [
    line.split(" ¦ ")
    for line in Path(__file__).with_name("printed.txt").read_text(encoding="utf-8").splitlines()
]
RIGHT = {"holds", "safe"}
RHO = r"k\rho\text{-zCDP}"


def test_printed_formulas_get_their_recorded_verdicts():
    wrong = []
    for formula, words, verdict, entry in PRINTED:
        found = proofread(formula, words=words)
        id = "/".join(filter(None, (found.entry, found.misprint)))
        if (found.verdict, id) != (verdict, entry) or not found.reason:
            wrong.append((formula, words, found.verdict, id))
    assert not wrong


UNKNOWN = ["", "für zehn Menschen zugleich", "pour dix voisins ensemble"]


@each("words, verdict", [
    (UNKNOWN[0], "depends"), (UNKNOWN[1], "depends"), (UNKNOWN[2], "depends"),
    ("对于大小为 k 的群组", "refuted"), ("a group of k people", "refuted"),
    ("a total of k releases", "holds"), ("G-C8b", "refuted"), ("dplearn: G-C7b", "holds"),
])  # fmt: skip
def test_words_beside_a_formula_decide_the_verdict_but_all_situations_stay_listed(words, verdict):
    found, bare = proofread(RHO, words=words), proofread(RHO)
    assert found.verdict == verdict
    assert {(x.entry, x.verdict) for x in found.lines} == {(x.entry, x.verdict) for x in bare.lines}
    assert {(x.entry, x.verdict) for x in bare.lines} == {("G-C7b", "holds"), ("G-C8b", "refuted")}
    assert all(x.setting and x.chinese and x.reference for x in found.lines)


CLASSICAL = r"\sigma \ge \sqrt{2\ln(1.25/\delta)}/\varepsilon"


def test_classical_gaussian_noise_is_refuted_beyond_epsilon_8_42():
    for words, verdict in (("ε ≤ 8.4 and δ ≤ 1e-5", "holds"), ("ε ≤ 12, δ ≤ 1e-5", "refuted")):
        assert proofread(CLASSICAL, words=words).verdict == verdict


def test_counterexample_is_simple_and_uses_printed_letters():
    found = proofread(r"\rho=\Delta^2/(4\sigma^2)", words="Gaussian noise").lines[0]
    assert found.note == "at Δ = 1, σ = 1 it gives 0.25 where 0.5 is needed"
    found = proofread(r"\epsilon_T = \tau_0 + \ln(1/\delta)/\alpha - 1")
    assert "δ = 1e-05, τ_0 = 1" in found.reason and "bracket" in found.misprint
    found = proofread(CLASSICAL)
    assert "only if 0 < ε <= 1" in found.reason and "δ = 1e-05, ε = 10" in found.reason
    assert "Dwork & Roth (2014), Theorem A.1" in found.reason
    found = proofread(r"\rho = \varepsilon^2/8", words="every pure mechanism")
    assert f"Met in {book['G-C10'].misprint('bounded-range').met}." in found.reason


REFUSED = [
    ("δ ≤ 1/n²", "No setting about δ"), (r"\theta_t=\theta_{t-1}-\eta g_t", "on the left"),
    (r"\varepsilon=O(q\sqrt{T})", "order of magnitude"), ("Var(X)/n = 2b²", "on the left"),
    ("δ = 1e-5", "alone"),
    (r"D_\alpha \le \inf_{\alpha>1} \alpha/(2\sigma^2)", ""), ("q*", "left side"),
    ("", "Expected"),
    ("ε = " + "(" * 90 + "ρ" + ")" * 90, "levels"), ("ε = " + "√" * 900 + "ρ", "levels"),
    ("σ_" * 900, "left side"), ("ε=" + "k^" * 900, "levels"),
    ("ε = " + "ρ+" * 50_000 + "ρ", "2000 characters"), (r"ε = \sqrt{\delta", "position"),
    ("__import__('os').system('x')", "Expected"), ("ε = 9^9^9^9^9^9", "alone"),
    ("δ(2ε) = Φ(1/(2σ)-εσ) - e^ε Φ(-1/(2σ)-εσ)", "on the left"),
    ("P(X > t) = e^(-t/b)", "No setting"), (r"\mathbb{E}[x] = \varepsilon", "on the left"),
]  # fmt: skip


@each("formula, why", REFUSED)
def test_text_without_a_claim_gets_the_verdict_not_read_and_a_reason(formula, why):
    found = proofread(formula, words=formula)
    assert found.verdict == "not read" and why in found.reason and "\n" not in found.reason


def test_proofread_makes_few_function_calls_and_is_fast():
    for formula, words, *_ in PRINTED[:40]:
        proofread(formula, words=words)  # fill the caches
    began = time.process_time()
    for formula, words, *_ in PRINTED[:40]:
        calls: list[str] = []
        sys.setprofile(lambda frame, event, arg, calls=calls: calls.append(event))
        try:
            proofread(formula, words=words)
        finally:
            sys.setprofile(None)
        assert calls.count("call") <= 20_000, formula
    assert time.process_time() - began < 10


def test_map_of_a_claim_shows_the_counterexample_of_the_verdict():
    drawn = map_of(CLASSICAL)
    at = drawn.y == drawn.simplest["ε"], drawn.x == drawn.simplest["δ"]
    assert drawn.axes == ("δ", "ε") and drawn.status[at] == [1]
    assert not (drawn.status[drawn.y <= 1] == 1).any()
    assert map_of("δ ≤ 1/n²") is None and map_of(r"\rho = \varepsilon^2/2") is None


@pytest.mark.slow
def test_explorer_page_and_command_agree_on_verdicts(capsys):
    """The explorer's page and `dplearn claim` give the same verdict for 200 formulas."""
    drawn = Path(__file__).with_name("drawn.txt").read_text(encoding="utf-8").splitlines()
    formulas = [(f, w) for f, w, *_ in PRINTED] + [tuple(x.split(" ¦ ")[1:3]) for x in drawn]
    formulas += [(" ".join(e.statement.split()), e.title) for e in book.values()][:20]
    assert len(formulas) >= 200
    for formula, words in formulas:
        page = check_a_claim._finding(formula, words)
        status = main(["claim", formula, "--words", words, "--json"])
        out, err = capsys.readouterr()
        shell = {"not read": 2, "refuted": 1, "depends": 3, "open": 3}.get(page.verdict, 0)
        assert status == shell, (formula, page.verdict, err)
        assert page.verdict == "not read" or f'"verdict": "{page.verdict}"' in out


@each("id", [*book])
def test_statements_of_entries_are_not_refuted(id):
    for words in (book[id].title, *(setting.text for setting in book[id].settings[:1])):
        assert proofread(book[id].statement, words=words).verdict != "refuted", words


def test_exit_status_of_proofread_depends_on_strict_and_comments_in_the_file(capsys, tmp_path):
    page = tmp_path / "a.tex"
    for text, status in (
        (f"Gaussian noise: ${CLASSICAL}$.", 4), (f"If $\\varepsilon\\le1$, ${CLASSICAL}$.", 0),
        (f"It is ${RHO}$.", 3), (f"% dplearn: G-C8b\nIt is ${RHO}$.", 1),
        (f"It is ${RHO}$. % dplearn: ignore", 0), (f"% dplearn: G-C7b\nIt is ${RHO}$.", 0),
    ):  # fmt: skip
        page.write_text(text)
        assert main(["proofread", str(page), "--strict"]) == status, text
        assert main(["proofread", str(page)]) == status % 4, text
    capsys.readouterr()
