r"""Search for claims in the formulas of a page, and the command `dplearn proofread`.

Pages are never executed. Searches visit every character a bounded number of times.
"""

import argparse
import html
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from dplearn.core.display import print_json
from dplearn.teaching.claims import reading
from dplearn.teaching.claims.judging import Finding, proofread
from dplearn.teaching.claims.reading import FIXED, LONGEST, SIGN, makes_claim, unbracketed

MOST, _MANY = 10_000_000, 1_000
KINDS = (".tex", ".md", ".ipynb", ".html", ".htm", ".rst", ".py", ".qmd", ".txt")
# Patterns of code and comments by file type. An unclosed block ends with the page.
_CODE = {
    ".tex": r"(?<!\\)%[^\n]*|\\verb\|[^|\n]*\||\\iffalse\b.*?(?:\\fi\b|\Z)"
    r"|\\begin\{(verbatim|lstlisting|comment)\}.*?(?:\\end\{\1\}|\Z)",
    ".md": r"(?<!\\)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`(?:[^`\n]|\n(?!\n))*`|<!--.*?(?:-->|\Z)",
    ".rst": r"``(?:[^`\n]|\n(?!\n))*``",
    ".html": r"<(pre|code|style|script)\b.*?(?:</\1|\Z)|<!--.*?(?:-->|\Z)",
    ".py": r'(?:\A|(?<="""))(?:(?!""").)*(?:"""|\Z)',
}
_FORMULA = re.compile(
    r"(?<!\\)(?:\$\$(.{1,2000}?)\$\$|\\\[(.{1,2000}?)\\\]|\\\((.{1,2000}?)\\\)"
    r"|\\begin\{((?:equation|align|gather|multline|eqnarray|flalign)\*?|displaymath|math)\}"
    r"(.{1,2000}?)\\end\{\4\}|:math:`([^`]{1,2000})`|\.\. math::(.{1,2000}?)(?:\n\n|\Z)"
    # Single dollar signs enclose a formula if they touch it; all others are prices.
    r"|\$(?![\s$])((?:[^$\n]|\n(?!\n)){1,2000})(?<!\s)\$"
    r"|<annotation\b[^<>]{0,80}tex[^<>]{0,80}>(.{1,2000}?)</annotation>)",
    re.DOTALL,
)
_LAID_OUT = re.compile(
    r"\\(?:begin|end)\{(?:aligned|split|gathered)\}|\\(?:label|tag)\{[^{}]*\}|\\no(?:number|tag)|&"
)
_CUT = re.compile(r"\\q?quad|(?<!\\)[;,]")
# A formula without delimiters: a quantity, a relation, then functions, letters with subscripts,
# numbers and signs; and the text that may follow it.
_PLAIN = re.compile(
    r"(?<![\w$\\^{/*·+−-])(?:[εϵδσρμλΔbzpK]|Var|TV|RDP|rdp|D_α|eps(?:ilon)?|delta|sigma|rho|mu)"
    r"(?:_\{?\w+\}?|[₀-₉]|\d)?['′]*(?:\([^()\s=]{1,12}\)|\[[^\[\]\s=]{1,9}\])?\s*(?:<=|>=|[=≤≥≈])"
    r"(?:[ \t]*\n?[ \t]*(?:<=|>=|[<>=≤≥≈]|(?<![A-Za-z\\])(?:"
    r"(?:log(?:2|10)?|ln|exp|sqrt|min|max|Phi|tanh|sinh|cosh|erfc?|floor|ceil|binom|inf)(?![A-Za-z])"
    r"|(?:(?:epsilon|eps|delta|sigma|rho|mu|alpha|lambda|beta|gamma|tau|Delta|RDP|rdp|Var|TV"
    r"|sensitivity)|[A-Zb-zα-ωΔΦΣ]|[a-z][A-Z])\d?(?:_\{?\w+\}?)?['′₀-₉]*(?![A-Za-z]))"
    r"|\d+(?:\.\d+)?(?:e-?\d+)?|[-+*/^·×⋅−√²³⁰-⁹⁻∞()\[\]{},])){1,500}"
)
_AFTER = re.compile(r"\s*(?:[.,;:!?)\]—–|$]|\Z)|\s+(?![A-Za-z]+\()[A-Za-z]{2}|\s+[aA]\s|\n\s*\n")
_OPERATORS = tuple("+-−*·/^=≤≥<>")
# Words after and before a formula that name its quantity.
_BEHIND = re.compile(rf"[\s$)]*[-‑–]?\s*{reading.NOTIONS}", re.IGNORECASE)
_QUANTITY = re.compile(
    r"(?<![A-Za-z])(?:(?P<variance>variance|方差)|(?P<sigma>standard\sdeviation|标准差)"
    r"|(?P<scale>scale(?:\sof)?|尺度(?:参数)?)|(?P<rdp>RDP))(?:\s(?:parameter|guarantee|bound))?"
    r"(?:\s(?:per|for)(?:\s\w+){1,3}?)?(?:\sis(?:\sequal\sto)?|\sof(?=\sat)|[为是取])?"
    r"(?P<most>\sat\smost)?\s*\Z"
)
_LEFT_SIDES = {"variance": "Var", "sigma": r"\sigma", "scale": "b", "rdp": r"D_\alpha"}
_MACRO = re.compile(
    r"\\(?:(?:re)?newcommand\*?|DeclareMathOperator\*?|def)\s*\{?(\\[A-Za-z]+)\}?\s*"
    r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]{0,40}\}){0,80}\}){1,80})\}"
)
_BREAK = re.compile(  # ends of sentences, paragraphs, rows, items and headings
    r"(?<=[.!?])\s+(?=[A-Z$]|\\(?![\])]))|(?<=[.!?])\s*(?:\\[\])]|\$\$?)\s+(?=[A-Z])"
    r"|\n[\s>]*\n|(?:^|\n)[\s>]*#+ [^\n]*|\n[\s>]*(?:[|*-]|\d+\.)\s"
    r"|\\(?:(?:sub)*section|chapter|begin|end)\*?\{[^{}]*\}|\\item"
)
_ASSUMED = re.compile(
    r"(?:\*\*(?:Theorem|Lemma)\W+)?(?:Let|Suppose|Assume|Given|Throughout)\b"
    r"|.*(?:sensitivity|replace|changes?\b)",
    re.DOTALL,
)
# A formula that ends with the full stop of its sentence.
_ENDED = re.compile(r"\.\s*(?:\$+|\\[\])]|\\end\{\w+\*?\}|</annotation>)\Z")
# An author's mark for the formulas of a line: ignore them, or use this entry.
_MARK = re.compile(r"dplearn:\s*(ignore|G-[A-Z]\d+[a-h]?)")


class Place(NamedTuple):
    """A formula that makes a claim about privacy, with its sentence and its position in a file.

    Parameters
    ----------
    formula, words : str
        The claim and its sentence.
    line, column : int
        Position in the file or cell, >= 1.
    cell : int or None
        Number of the notebook's cell, >= 1.
    """

    formula: str
    words: str
    line: int
    column: int = 1
    cell: int | None = None


def places_in(content: bytes, name: str) -> list[Place]:
    """Return the claims of a file in order of appearance.

    Parameters
    ----------
    content : bytes
        Content of the file, in UTF-8 or GB 18030; it is never executed.
    name : str
        Name of the file, which ends in one of `KINDS`.

    Returns
    -------
    list of Place
        Formulas that make a claim, each with its sentence and position.

    Raises
    ------
    ValueError
        If the type or encoding is not supported, or for more than 10 MB or 1,000 claims.
    """
    kind = Path(name).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"Expected a file of {', '.join(KINDS)}, got {name}.")
    if len(content) > MOST:
        raise ValueError(f"Expected at most {MOST // 10**6} MB, got more in {name}.")
    text = _decoded(content, name)
    kind = {".htm": ".html", ".qmd": ".md", ".txt": ".md"}.get(kind, kind)
    cells: list[tuple[int | None, str]] = [(None, text)]
    if kind == ".ipynb":
        try:
            numbered = enumerate(json.loads(text)["cells"], start=1)
            cells = [(k, "".join(x["source"])) for k, x in numbered if x["cell_type"] == "markdown"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"Expected a notebook, got something else in {name}.") from None
        kind = ".md"
    claims = (place._replace(cell=k) for k, cell in cells for place in _of_text(cell, kind))
    places = list(islice(claims, _MANY + 1))
    if len(places) > _MANY:
        raise ValueError(f"Expected at most {_MANY:,} claims, got more in {name}.")
    return places


def _decoded(content: bytes, name: str) -> str:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            start = error.start
    raise ValueError(f"Expected UTF-8 or GB 18030, got another byte at {start} in {name}.")


def _of_text(text: str, kind: str) -> Iterator[Place]:
    if kind == ".md":
        text = text.replace("$`", " $").replace("`$", "$ ")
    marks = {text.count("\n", 0, m.start()): m[1] for m in _MARK.finditer(text)}
    # Replace code and comments by blanks, which preserves positions.
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    text = re.sub(_CODE[kind], blank, text, flags=re.DOTALL)
    macros = dict(_MACRO.findall(text)) if kind == ".tex" else {}  # macros without arguments
    formulas = [(*m.span(), m[m.lastindex or 0]) for m in _FORMULA.finditer(text)]
    if kind in (".md", ".rst", ".py"):
        formulas = sorted([*formulas, *_plain_formulas(text)])
    line = before = 0
    for start, end, body in formulas:
        line, before = line + text.count("\n", before, start), start
        # The author's mark is on the formula's line or on the line above.
        mark = marks.get(line, marks.get(line - 1, ""))
        body = html.unescape(body) if kind == ".html" else body
        for _ in range(3 if macros else 0):  # macros may be nested
            body = re.sub(r"\\[A-Za-z]+", lambda m: macros.get(m[0], m[0]), body)[:LONGEST]
        column = start - text.rfind("\n", 0, start)
        for claim in _claims(body, _notion(text, start, end)) if mark != "ignore" else ():
            yield Place(claim, f"{mark} {_sentence(text, start, end)}".strip(), line + 1, column)


def _notion(text: str, start: int, end: int) -> str:
    r"""Return the notion (``DP``) or left side (``Var \le ``) that nearby words name, or ""."""
    if behind := _BEHIND.match(text[end : end + 60]):
        return reading.notion_of(behind[1])
    quantity = _QUANTITY.search(text, max(start - 60, 0), start)
    if not quantity:
        return ""
    left = next(x for name, x in _LEFT_SIDES.items() if quantity[name])
    gaussian = re.search("gauss|normal|高斯", text[max(start - 200, 0) : start], re.IGNORECASE)
    left = r"\sigma" if left == "b" and gaussian else left
    return left + (r" \le " if quantity["most"] else " = ")


def _plain_formulas(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and text of each formula without delimiters."""
    text, at = _FORMULA.sub(lambda m: "$" * len(m[0]), text), 0
    while match := _PLAIN.search(text, at):
        start, at = match.start(), match.end()
        depth = accumulate((sign in "([{") - (sign in ")]}") for sign in match[0])
        signs = enumerate(zip(match[0], depth, strict=True))
        end = next((k for k, (x, d) in signs if d < 0 or (d == 0 and x == ",")), len(match[0]))
        formula = match[0][:end].strip()
        ahead = text[max(start - 20, 0) : start].rstrip().endswith(_OPERATORS)
        if not ahead and not formula.endswith(_OPERATORS) and _AFTER.match(text, start + end):
            at = start + end
            yield start, at, formula


def _claims(body: str, notion: str) -> Iterator[str]:
    """Yield the claims in the formula `body`; `notion` is what nearby words name."""
    for line in _lines(_LAID_OUT.sub(" ", body)):
        claims = [""]
        cuts = [0, *(m.end() for m in unbracketed(_CUT, line)), len(line)]
        for part in map(lambda cut: line[slice(*cut)], pairwise(cuts)):
            # Start a new claim, unless this part defines a letter of the last claim.
            name, explained = SIGN.split(part)[0].strip(), SIGN.split(claims[-1], maxsplit=1)[1:]
            again = re.compile(re.escape(name) + r"(?![\w'′^])")
            if claims[-1] and makes_claim(part) and not any(map(again.search, explained)):
                claims.append(part)
            else:
                claims[-1] += part
        for claim in (re.sub(r"(?:[\s,.;]|\\q?quad)+$", "", " ".join(x.split())) for x in claims):
            if makes_claim(claim):
                yield claim
                continue
            for law, size in reading.laws(claim):
                if not re.search("sigma|σ", size) and makes_claim(f"b = {size}"):
                    yield rf"\sigma^2 = {size}" if law == "N" else f"Lap({size})"
            if own := reading.NOTION.match(claim):
                notion, claim = reading.notion_of(own[2]), own[1]
            claim = claim.rstrip("-‑– ")
            defined = notion.startswith(("b ", r"\sigma")) and re.search(r"sigma|σ", claim)
            if notion and not defined and not unbracketed(SIGN, claim):
                claim = notion + claim if notion[-1] == " " else rf"{claim}\text{{-{notion}}}"
                if makes_claim(claim):
                    yield claim


def _lines(body: str) -> list[str]:
    """Split a formula into lines; a line without a left side gets that of the line above."""
    left, lines = "", [""]
    for row in [body] if r"\begin" in body else re.split(r"\\\\(?:\[[^\]\n]{0,9}\])?", body):
        sign = next(iter(unbracketed(SIGN, row)), None)
        if not sign or lines[-1].rstrip().endswith(("=", "+", "-", "cdot", "times")):
            lines[-1] += " " + row  # the row continues the line above
        else:
            left = row[: sign.start()] if row[: sign.start()].strip() else left
            lines.append(left + row[sign.start() :])
    return lines


def _sentence(text: str, start: int, end: int) -> str:
    """Return the words before and after a formula in its sentence, cell or item, without tags."""
    *earlier, before = _BREAK.split(text[max(start - 400, 0) : start].rstrip())
    # Assumptions in the two preceding sentences still apply.
    assumed = " ".join(x for x in earlier[-2:] if _ASSUMED.match(x.strip()))
    ended = _ENDED.search(text, max(start, end - 40), end)
    rest = text[end : end + 200]
    rest = rest.lstrip() if re.match(r"\s*[a-z(,]", rest) else rest.lstrip(" \t")
    behind = "" if ended else _BREAK.split(rest)[0]
    *_, paragraph = re.split(r"\n\s*\n", text[max(start - 1000, 0) : start])
    assumed = "".join(f"${m[0]}$; " for m in FIXED.finditer(paragraph)) + assumed
    around = re.sub(r"</?[A-Za-z][^<>]{0,300}>", " ", f"{assumed} {before} {behind}")
    return " ".join(html.unescape(around).split())


# Severity of a verdict in reports; all other verdicts are informational.
_SEVERITY = {"refuted": "error", "depends": "warning", "conditional": "warning", "open": "warning"}


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `dplearn proofread`."""
    command.set_defaults(run=_run)
    command.add_argument("files", nargs="+", metavar="FILE", help=f"{', '.join(KINDS)}, or - (md)")
    command.add_argument("--all", action="store_true", help="show what is not read as well")
    command.add_argument("--strict", action="store_true", help="status 4 for an unstated condition")
    command.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")


def status_of(verdicts: Sequence[str], *, strict: bool = False) -> int:
    """Return the exit status: 1 refuted, 3 depends or open, 4 conditional (if strict), else 0."""
    codes = {"refuted": 1, "depends": 3, "open": 3} | ({"conditional": 4} if strict else {})
    return min((codes[verdict] for verdict in verdicts if verdict in codes), default=0)


def line_of(name: str, place: Place, finding: Finding) -> str:
    """Return a line such as ``a.md:3:5: error: refuted: ε' = qε: false for ... [G-E1/linear]``."""
    where = f"{name}:cell {place.cell}" if place.cell else name
    severity = _SEVERITY.get(finding.verdict, "info")
    id = "/".join(filter(None, (finding.entry, finding.misprint)))
    text = f"{finding.verdict}: {place.formula}: {finding.reason}" + (f" [{id}]" if id else "")
    return f"{where}:{place.line}:{place.column}: {severity}: {text}"


def _run(options: argparse.Namespace) -> int:
    """Judge the claims of the files, print them, and return the exit status."""
    claims: list[tuple[str, Place]] = []
    for name in options.files:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            content = file.read(MOST + 1)
        claims += [(name, place) for place in places_in(content, "-.md" if name == "-" else name)]
    rows: list[tuple[str, Place, Finding]] = []
    for name, place in claims:
        finding = proofread(place.formula, words=place.words)
        rows.append((name, place, finding))
        shown = options.all or finding.verdict != "not read"
        if shown and not (options.json or options.sarif):
            print(line_of(name, place, finding), flush=True)
    counts = Counter(finding.verdict for *_, finding in rows)
    if options.sarif:
        print(json.dumps(_sarif(rows), indent=2, ensure_ascii=False))
    elif options.json:
        print_json([{"file": n, **p._asdict(), **f.to_dict()} for n, p, f in rows])
    else:
        silent = 0 if options.all else counts.pop("not read", 0)
        parts = [f"{count} {verdict}" for verdict, count in counts.most_common()]
        parts += [f"{silent} not read (--all shows them)"] if silent else []
        print(f"{len(rows)} formulas make a claim{': ' * bool(rows)}{', '.join(parts)}.")
    return status_of([f.verdict for *_, f in rows], strict=options.strict)


def _sarif(rows: Sequence[tuple[str, Place, Finding]]) -> dict:
    """Return the verdicts as one run of SARIF 2.1.0, a format for code scanners."""
    results = []
    for name, place, finding in (row for row in rows if row[2].verdict != "not read"):
        level = _SEVERITY.get(finding.verdict, "note")
        text = f"{place.formula}: {finding.verdict}. {finding.reason}"
        rule = {"ruleId": finding.entry or finding.verdict, "level": level}
        region = {"startLine": place.line, "startColumn": place.column}
        where = {"artifactLocation": {"uri": Path(name).as_posix()}, "region": region}
        at = {"message": {"text": text}, "locations": [{"physicalLocation": where}]}
        results.append(rule | at)
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    runs = [{"tool": {"driver": {"name": "dplearn proofread", "rules": []}}, "results": results}]
    return {"$schema": schema, "version": "2.1.0", "runs": runs}
