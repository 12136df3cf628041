"""Claims on pages are found with their positions, and hostile pages are harmless."""

import json
import time

import pytest

from cases import each
from dplearn.__main__ import main
from dplearn.teaching.claims.pages import places_in

NOISE = r"\sigma = \sqrt{2\ln(1.25/\delta)}/\varepsilon"
OTHER = r"$\rho = 2\sigma$"
PAGES = [
    (".md", f"Noise\n\n$$\n{NOISE}\n$$\n"),
    (".md", f"Noise\n\nof ${NOISE}$.\n"),
    (".md", f"```\n{OTHER}\n```<!-- {OTHER} --> `{OTHER}` ${NOISE}$"),
    (".tex", f"% {OTHER}\n\nNoise of \\({NOISE}\\).\n"),
    (".tex", f"\n\\iffalse {OTHER} \\fi\n\\begin{{align*}}{NOISE}\\end{{align*}}"),
    (".tex", f"\\newcommand\\eps{{\\varepsilon}}\n\n\\[{NOISE.replace('varepsilon', 'eps')},\\]"),
    (".html", f"<pre>{OTHER}</pre><script>'{OTHER}'\n\n</script>\\[{NOISE}\\]"),
    (".html", f"\n\n<math><annotation encoding='application/x-tex'>{NOISE}</annotation></math>"),
]


def found(text, kind=".md"):
    return [(p.line, p.formula) for p in places_in(text.encode(), f"page{kind}")]


@each("kind, text", PAGES)
def test_formulas_outside_code_are_found_with_their_line(kind, text):
    line = 1 + text.count("\n", 0, text.index("\\sigma = \\sqrt"))
    assert found(text, kind) == [(line - text.count("$$\n\\sigma"), NOISE)]


def test_formula_in_a_notebook_has_its_cell_and_line():
    cells = [{"cell_type": "code", "source": [f"# ${NOISE}$"]}]
    cells += [{"cell_type": "markdown", "source": ["# Noise\n", f"Let ${NOISE}$."]}]
    (place,) = places_in(json.dumps({"cells": cells}).encode(), "a.ipynb")
    assert (place.cell, place.line, place.formula) == (2, 2, NOISE)


WHERE = r"D_\alpha(P\Vert Q) \le x\alpha, \quad x = \varepsilon^2/2"
BOTH = [r"\varepsilon' = k\varepsilon", r"\delta' = k\delta"]
LINES = [
    (r"\varepsilon' &= k\varepsilon \\ &\le 2k \\ \delta' &= k\delta",
     [BOTH[0], r"\varepsilon' \le 2k", BOTH[1]]),
    (r"\varepsilon' = k \\ + \ln(1/\delta)", [r"\varepsilon' = k + \ln(1/\delta)"]),
    (r",\quad ".join(BOTH), BOTH),
    (WHERE, [WHERE]),
]  # fmt: skip
SETTINGS = [
    r"\delta = 10^{-5}", r"\sigma = z", r"\sigma = z_1", r"\varepsilon > 0", "x = y + 1",
    r"0 < \varepsilon < 1", r"(\varepsilon, \delta)", r"\alpha = 0.05", r"\Pr[M \in S]", "",
]  # fmt: skip


@each("formula, claims", [*LINES, *((setting, []) for setting in SETTINGS)])
def test_formula_is_split_into_claims(formula, claims):
    assert [claim for _, claim in found(f"$${formula}$$")] == claims


PLAIN = "By *Laplace*, λ = Δ/ε; an order\n(b = 2/ε) of ε' ≤ q ε + 1. Not x + ε = k or"
PLAIN += " ε = 1: eps = k*eps0 + exp(eps0)\n\nσ = |then, $`σ = 1/ε`$ and `σ = 2/ε`."


def test_formulas_without_delimiters_are_found_in_markdown():
    claims = ["λ = Δ/ε", "b = 2/ε", "ε' ≤ q ε + 1", "eps = k*eps0 + exp(eps0)", "σ = 1/ε"]
    assert [claim for _, claim in found(PLAIN)] == claims


@each("behind", ["-DP", "-differentially private", " differential privacy"])
def test_privacy_notion_after_a_formula_makes_it_a_claim(behind):
    pair = r"\left(k\varepsilon, k\delta\right)"
    assert found(f"It is ${pair}${behind}.") == [(1, rf"{pair}\text{{-DP}}")]
    assert not found(rf"It is $(\varepsilon, \delta)${behind}.")
    assert found(rf"It is $k\varepsilon${behind}.") == [(1, r"k\varepsilon\text{-DP}")]
    assert found(r"This is $\tfrac12\varepsilon^2$-zCDP.")[0][1].endswith(r"\text{-zCDP}")


SPELLED = [
    (r"It is $(r(e^\epsilon-1), r\delta)$-dp.", r"(r(e^\epsilon-1), r\delta)\text{-DP}"),
    (r"It is $(\lambda, k\rho)-$ RDP.", r"(\lambda, k\rho)\text{-RDP}"),
    (r"$$(k\epsilon, k\delta)\mbox{-DP}$$", r"(k\epsilon, k\delta)\mbox{-DP}"),
    (r"It is $q\epsilon, q\delta$-DP.", r"q\epsilon, q\delta\text{-DP}"),
    (r"Then $M(x) = f(x) + \mathsf{Laplace}(k/\epsilon)$.", r"Lap(k/\epsilon)"),
    (r"Then $f + \mathcal{N}\big(0, 2\Delta\ln(2/\delta) I\big)$.",
     r"\sigma^2 = 2\Delta\ln(2/\delta)"),
    (r"Laplace noise of scale $\Delta/\epsilon$.", r"b = \Delta/\epsilon"),
    (r"The RDP parameter is $\alpha/(2\sigma^2)$.", r"D_\alpha = \alpha/(2\sigma^2)"),
]  # fmt: skip


@each("text, formula", SPELLED)
def test_claim_is_found_in_other_spellings(text, formula):
    assert found(text) == [(1, formula)]


def test_densities_and_definitions_are_not_claims():
    assert not found(r"The density is $f(z) = \mathrm{Lap}(z \mid \Delta/\epsilon)$.")
    assert not found(r"Gaussian noise of scale $\sigma\Delta$.")
    assert not found(
        r"Then $g + \mathcal{N}(0, \sigma^2 C^2 \mathbf{I})$ and $\xi \sim N(0, I_d)$."
    )
    (claim,) = found(r"Gaussian noise of scale $\sqrt{2\ln(1.25/\delta)}/\epsilon$.")
    assert claim[1].startswith(r"\sigma = ")


@each(
    "before, claim", [("has variance", "Var = 2b^2"), ("the variance is at most", r"Var \le 2b^2")]
)
def test_quantity_is_read_from_the_words_before_a_formula(before, claim):
    assert found(f"It {before} $2b^2$.") == [(1, claim)]
    assert not found(f"It {before} by a factor $2b^2$.")


def test_context_of_a_formula_is_the_sentence_and_earlier_conditions():
    text = f"Laplace. For $\\varepsilon < 1$, noise of\n\n$$\n{NOISE}\n$$\n\nis enough. Not this."
    (place,) = places_in(text.encode(), "a.md")
    assert place.words == r"For $\varepsilon < 1$, noise of is enough."
    rows = b"| noisy max | $\\varepsilon = 2\\Delta$ | safe |\n| counts | $\\varepsilon = k/b$ | |"
    words = [place.words for place in places_in(rows, "a.md")]
    assert words == ["| noisy max | | safe |", "counts | | |"]
    # A letter's value in the same paragraph is included.
    text = "Say $\\delta=10^{-9}$. One may. Then $\\varepsilon = \\sqrt{k}\\varepsilon_0$."
    (place,) = places_in(text.encode(), "a.md")
    assert place.words == r"$\delta=10^{-9}$; Then ."
    # An assumption applies to later sentences of its paragraph only.
    text = "Let $\\varepsilon\\le1$. Then $\\varepsilon' = 2q\\varepsilon$\n\nFor $q<1$ it is less."
    (place,) = places_in(text.encode(), "a.md")
    assert place.words == r"Let $\varepsilon\le1$. Then"


CELL = b'{"cells": [{"cell_type": "markdown", "source": [3]}]}'
REFUSED = [
    ("a.pdf", b"x", "Expected a file of .tex, .md"),
    ("a.md", b"\xff\xfe$", "Expected UTF-8 or GB 18030, got another byte at 0 in"),
    *(("a.ipynb", b, "a notebook, got") for b in (b"{", b"[" * 200_000, b'{"cells": 3}', CELL)),
    ("a.md", b"$\\varepsilon = 2\\sigma$ " * 1001, "Expected at most 1,000 claims"),
    ("a.md", b" " * 10_000_001, "Expected at most 10 MB"),
]


@each("name, content, message", REFUSED)
def test_unreadable_files_are_refused_with_a_message_of_one_line(name, content, message):
    with pytest.raises(ValueError, match=message) as refused:
        places_in(content, name)
    assert "\n" not in str(refused.value)


HOSTILE = ["$", "$$", "`", "`a", r"\(", r"\[", "$a ", "<!--", "{", "$x=(", r"\begin{align}", "|"]
HOSTILE += ["<annotation tex>", r"$\epsilon={{{{", r"\newcommand\a{{", ". A", "\n\n", "<pre", "\\"]
HOSTILE += ["ε=", "ε = kε ", "ε=(", "σ≤1 for ε<1 ", "\\newcommand\\a{\\a\\a}$\\epsilon=\\a$\n"]
HOSTILE += ["$a$", "$=$", "(k,k)$a,a$-DP"]


@each("unit", HOSTILE)
@pytest.mark.slow
def test_time_on_hostile_pages_is_linear_in_length(unit):
    seconds = []
    for size in (3_000, 12_000):
        began = time.process_time()
        try:
            for name in ("a.tex", "a.md"):
                places_in((unit * (size // len(unit))).encode(), name)
        except ValueError as error:
            assert "Expected at most" in str(error)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 10 * seconds[0] + 0.1, seconds


NOTES = (
    "Two releases.\n\nIf it is zCDP, $\\varepsilon = \\rho + 2\\sqrt{\\rho\\ln(1/\\delta)}$.\n\n"
    "If it is RDP, $\\varepsilon = \\tau + \\ln(1/\\delta)/\\alpha - 1$.\n\n"
    "$\\mu = \\frac1n\\sum_i x_i$ is the mean.\n"
)


def test_proofread_command_prints_verdicts_and_returns_an_exit_status(tmp_path, capsys):
    page, right = tmp_path / "notes.md", tmp_path / "right.tex"
    page.write_text(NOTES)
    right.write_text(NOTES.partition("If it is RDP")[0])
    assert main(["proofread", str(page), "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    results = [(row["line"], row["verdict"], row["entry"], row["misprint"]) for row in rows]
    assert results[:2] == [(3, "holds", "G-D3", ""), (5, "refuted", "G-D1", "bracket")]
    assert results[2:] == [(7, "not read", "", "")] and rows[2]["reason"]
    assert main(["proofread", str(right), str(right)]) == 0
    assert capsys.readouterr().out.endswith("2 formulas make a claim: 2 holds.\n")
    # A missing file or a folder stops the command before it prints a verdict.
    for name in ("none.md", ""):
        assert main(["proofread", str(right), str(tmp_path / name)]) == 2
        printed = capsys.readouterr()
        assert not printed.out and str(tmp_path / name) in printed.err
        assert printed.err.startswith("dplearn proofread: ") and printed.err.count("\n") == 1
