r"""Formulas of a page that make a claim: where each stands, the words around it, what is found.

Nothing that a page holds is run. Searches look at every character a bounded number of times.
"""

import ast
import html
import json
import re
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import NamedTuple

_MOST, _LONGEST, _MANY = 10_000_000, 2_000, 1_000
KINDS = (".tex", ".md", ".ipynb", ".html", ".htm", ".rst", ".py", ".qmd", ".txt")
_GROUP = r"(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*"
# What is no text, by kind, and where it ends.
_CODE = {
    ".tex": {"%": "\n", r"\verb|": "|", r"\iffalse": r"\fi"}
    | {rf"\begin{{{x}}}": rf"\end{{{x}}}" for x in ("verbatim", "lstlisting", "comment")},
    ".md": {"```": "```", "~~~": "~~~", "`": "`", "<!--": "-->"},
    ".rst": {"``": "``"},
    ".html": {f"<{x}": f"</{x}>" for x in ("pre", "code", "style", "script")} | {"<!--": "-->"},
}
_OPEN = re.compile(
    r"(?<!\\)(?:\$\$|\\\[|\\\(|\\begin\{((?:equation|align|gather|multline|eqnarray|flalign)\*?"
    r"|displaymath|math)\}|\$|:math:`|\.\. math::|<annotation\b[^<>]{0,80}tex[^<>]{0,80}>)"
)
_CLOSE = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$", ":math:`": "`", ".. math::": "\n\n"}
_LAID_OUT = re.compile(
    r"\\(?:begin|end)\{(?:aligned|split|gathered)\}|\\(?:label|tag)\{[^{}]*\}|\\no(?:number|tag)|&"
)
_SIGN = re.compile(r"\\(?:leq?|geq?|leqslant|geqslant|approx|lesssim)(?![A-Za-z])|[=≤≥≈≲<>]")
_CUT = re.compile(r"\\q?quad|(?<!\\)[;,]")
_LETTER = re.compile(
    r"\\(?:(?:var)?epsilon|alpha|beta|gamma|[dD]elta|lambda|mu|rho|sigma)|[α-ωΔ]|(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])"
)
_NAME = re.compile(r"\\?[A-Za-zα-ω]+(?:_\{?\\?\w+\}?)?['′]*")
# A left side about privacy; what has another is a definition or an example.
_LEFT = re.compile(
    r"[\s({]*(?:\\(?:bar|tilde|hat|wide\w+|over\w+|text|mathrm|operatorname|max|min)\s*\{?\s*)?"
    r"(?:\\(?:(?:var)?epsilon|delta|sigma|rho|mu|Delta|alpha_)|[εϵδσρμΔ]|[DR]_|K\s*[(_]"
    r"|[zb](?![A-Za-z^]|_i)|G_|(?:D_|\\[a-z]+\{)?\{?KL|\\?Pr?\W{0,4}(?:left\W{0,2})?(?:\||u\()|\\?Var|RDP|(?:eps(?:ilon)?|delta|sigma|rho|mu|rdp)(?![A-Za-z]))"
)
# Left sides that are about privacy if there is an epsilon on the right.
_LEFT_OF_EPSILON = re.compile(
    r"\s*(?:p(?![A-Za-z])|\\?(?:lambda|tau)|[λτ]|(?:\\[a-z]+\{)?(?:TV|Adv|AUC))"
)
_EPSILON = re.compile(r"\\(?:var)?epsilon|[εϵ]|(?<![A-Za-z])eps")
# Where a formula begins that stands in the text as it is, and what may follow one.
_PLAIN = re.compile(
    r"(?<![\w$\\^{/*·+−-])(?:[εϵδσρμλΔbzpK]|Var|TV|RDP|rdp|D_α|eps(?:ilon)?|delta|sigma|rho|mu)"
    r"(?:_\{?\w+\}?|[₀-₉]|\d)?['′]*(?:\([^()\s=]{1,12}\)|\[[^\[\]\s=]{1,9}\])?\s*(?:<=|>=|[=≤≥≈])"
)
_BEHIND = re.compile(r"\s*(?:[.,;:!?)\]|—–]|\Z)|\s+(?![A-Za-z]+\()[A-Za-z]{2}|\s+[aA]\s")
_OPERATORS = tuple("+-−*·/^=≤≥<>")
# What a formula is said to satisfy by the words behind it.
_NOTION = re.compile(
    r"[\s$)]*[-‑–]?\s*(?:(DP)\b|(RDP)\b|(zCDP)\b|(GDP)\b|(differential(?:ly)?[-\s]priva|差分隐私)|(R[ée]nyi))",
    re.IGNORECASE,
)
# The same inside of it.
_OWN_NOTION = re.compile(r"[-‑–\s]*\\(?:text\w*|mbox|math\w+)\s*\{[-‑–\s]*(?=(?:R?DP|zCDP|GDP)\b)")
# A law with its scale, and the end of a variance.
_CLOSING, _COMMA = re.compile(r"\)"), re.compile(",")
_LAW = re.compile(
    r"(Lap(?:lace)?|(?<![A-Za-z])N)\}?(?:\\[!,]|\s)*(?:\\left|\\[bB]igg?l?)?\s*(?=\()"
)
_IDENTITY = re.compile(r"(?:\\math\w+\s*)?\{?I\}?(?:_\{?\w+\}?)?\s*\Z")
_TOLD = re.compile("|".join(p.pattern for p in (_SIGN, _OWN_NOTION, _LAW)))
_NEARLY = re.compile(r"\b(?:approximately|roughly|about|nearly)\W*\Z")
# Escapes of Markdown around and in a formula.
_ESCAPED = re.compile(r"\\\\\\?\([^$\n]{1,300}?\\\\\\?\)")
_NOTIONS = ("", "DP", "RDP", "zCDP", "GDP", "DP", "RDP")
# What the words before it say that a formula is.
_SAID = re.compile(
    r"(?:\b(?:(?P<variance>variance)|(?P<sigma>standard\sdeviation)|(?P<scale>scale(?:\sof)?)"
    r"|(?P<rdp>RDP))(?:\s(?:parameter|guarantee|bound))?(?:\s(?:per|for)(?:\s\w+){1,3}?)?"
    r"(?:\sis(?:\sequal\sto)?|\sof(?=\sat))?(?P<most>\sat\smost)?"
    r"|(?:(?P<variance_zh>方差)|(?P<sigma_zh>标准差)|(?P<scale_zh>尺度(?:参数)?))(?:为|是|取)?)\s*\Z"
)
_SAID_OF = {"variance": "Var", "sigma": r"\sigma", "scale": "b", "rdp": r"D_\alpha"}
_MACRO = re.compile(
    r"\\(?:(?:re)?newcommand\*?|DeclareMathOperator\*?|def)\s*\{?(\\[A-Za-z]+)\}?\s*(?:\[1\])?\s*"
    r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]{0,40}\}){0,80}\}){1,80})\}"
)
# Where a sentence, a paragraph, a row, an item or a heading ends.
_BREAK = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z$]|\\(?![\])]))|(?<=[.!?])\s*(?:\\[\])]|\$\$?)\s+(?=[A-Z])"
    r"|\n[\s>]*\n|(?:^|\n)[\s>]*#+ [^\n]*|\n[\s>]*(?:[|*-]|\d+\.)\s"
    r"|\\(?:(?:sub)*section|chapter|begin|end)\*?\{[^{}]*\}|\\item"
)
_ASSUMED = re.compile(
    r"(?:\*\*(?:Theorem|Lemma)\W+)?(?:Let|Suppose|Assume|Given|Throughout)\b|.*(?:sensitivity|replace|changes?\b)",
    re.DOTALL,
)
# A letter that a paragraph gives one value.
_SETTING = re.compile(
    r"(?<![\w\\])((?:\\[a-z]+|[A-Za-zα-ω])\s*=\s*(?:10\^\{?-\d+\}?|\d[\d.]*))(?=\s*(?:[$,;)]|\\\)))"
)
# A formula that ends its sentence.
_ENDED = re.compile(r"\.\s*(?:\$+|\\[\])]|\\end\{\w+\*?\}|</annotation>)\Z")


# What an author says of the formulas of a line: ignore them, or which entry is meant.
_MARK = re.compile(r"dplearn:\s*(ignore|G-[A-Z]\d+[a-h]?)")


class Place(NamedTuple):
    """A formula that makes a claim, where it stands (a line of its cell, in a notebook), and its
    sentence."""

    formula: str
    words: str
    line: int
    column: int = 1
    cell: int | None = None


def unbracketed(pattern: re.Pattern, text: str) -> list[re.Match]:
    """Return where a pattern is found in no bracket."""
    depth = [*accumulate((sign in "([{") - (sign in ")]}") for sign in text)]
    return [m for m in pattern.finditer(text) if depth[m.start()] <= 0]


def places(path: Path) -> list[Place]:
    """Return the claims of a file in their order.

    A ValueError says that it is no such file, has more than 10 MB or 1,000 claims, or that its
    letters are neither UTF-8 nor GB 18030.
    """
    if path.suffix.lower() not in KINDS or (path.exists() and not path.is_file()):
        raise ValueError(f"Expected a file of {', '.join(KINDS)}, got {path}.")
    with path.open("rb") as file:
        return places_in(file.read(_MOST + 1), str(path))


def places_in(content: bytes, name: str) -> list[Place]:
    """Return the claims in the content of a file of that name, as `places` finds them."""
    if len(content) > _MOST:
        raise ValueError(f"Expected at most {_MOST // 10**6} MB, got more in {name}.")
    kind, text = Path(name).suffix.lower(), _decoded(content, name)
    kind = {".htm": ".html", ".qmd": ".md", ".txt": ".md"}.get(kind, kind)
    cells: list[tuple[int | None, str]] = [(None, text)]
    if kind == ".ipynb":
        try:
            numbered = enumerate(json.loads(text)["cells"], start=1)
            cells = [(k, "".join(x["source"])) for k, x in numbered if x["cell_type"] == "markdown"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"Expected a notebook, got something else in {name}.") from None
        kind = ".md"
    if kind == ".py":
        cells[0], kind = (None, _docstrings(text, name)), ".rst"
    claims = (place._replace(cell=k) for k, cell in cells for place in _of_text(cell, kind))
    found = list(islice(claims, _MANY + 1))
    if len(found) > _MANY:
        raise ValueError(f"Expected at most {_MANY:,} claims, got more in {name}.")
    return found


def _decoded(content: bytes, name: str) -> str:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            start = error.start
    raise ValueError(f"Expected UTF-8 or GB 18030, got another byte at {start} in {name}.")


def _docstrings(text: str, name: str) -> str:
    """Return the docstrings of a module on their lines, with blanks for everything else."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"Expected a Python file, got something else in {name}.") from None
    kept, lines = set[int](), text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                kept |= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
    return "\n".join(line if k in kept else "" for k, line in enumerate(lines, start=1))


def _of_text(text: str, kind: str) -> Iterator[Place]:
    if kind == ".md":
        text = text.replace("$`", " $").replace("`$", "$ ")
        if _ESCAPED.search(text):
            text = re.sub(r"\\([\\()\[\]{}_*])", r"\1", text)
    marks = {text.count("\n", 0, m.start()): m[1] for m in _MARK.finditer(text)}
    text = _without_code(text, _CODE[kind])
    macros = dict(_MACRO.findall(text)) if kind == ".tex" else {}
    taking = "|".join(re.escape(name) for name in macros if "#1" in macros[name]) or "(?!)"
    command = re.compile(
        rf"({taking})(?![A-Za-z])\s*(?:\{{({_GROUP})\}}|(\\[A-Za-z]+|.))|\\[A-Za-z]+"
    )
    line = before = 0
    formulas = [*_formulas(text)]
    if kind in (".md", ".rst"):
        formulas = sorted([*formulas, *_plain_formulas(text, formulas)])
    # A command with an argument, or one alone.
    plain = lambda m: macros[m[1]].replace("#1", m[2] or m[3]) if m[1] else macros.get(m[0], m[0])
    for start, end, body in formulas:
        behind = _NOTION.match(text[end : end + 60])
        said = _SAID.search(text, max(start - 60, 0), start)
        if not (behind or said or macros) and not _TOLD.search(body):
            continue
        line, before = line + text.count("\n", before, start), start
        body = html.unescape(body) if kind == ".html" else body
        for _ in range(3 if macros else 0):  # one may stand in another
            body = command.sub(plain, body)[:_LONGEST]
        notion = _NOTIONS[behind.lastindex or 0] if behind else ""
        if said and not behind:
            left = next(
                x for k, x in _SAID_OF.items() if said[k] or said.groupdict().get(f"{k}_zh")
            )
            gaussian = re.search(
                "gauss|normal|高斯", text[max(start - 200, 0) : start], re.IGNORECASE
            )
            left = r"\sigma" if left == "b" and gaussian else left
            notion = left + (r" \le " if said["most"] else " = ")
        if notion == "DP" and _NEARLY.search(text[max(start - 30, 0) : start]):
            notion = "≈"
        # Beside a formula, or in the line above: what the author says of it.
        mark = marks.get(line, marks.get(line - 1, ""))
        column = start - text.rfind("\n", 0, start)
        for claim in _claims(body, notion) if mark != "ignore" else ():
            yield Place(claim, f"{mark} {_sentence(text, start, end)}".strip(), line + 1, column)


def _without_code(text: str, code: dict[str, str]) -> str:
    """The text with blanks for code and comments, its lines where they were."""
    opening = re.compile(r"(?<!\\)(?:" + "|".join(map(re.escape, code)) + ")")
    last = {close: text.rfind(close) for close in code.values()}
    parts, at = [], 0
    while match := opening.search(text, at):
        begin, close = match.end(), code[match[0]]
        # What is never closed is not looked for again and again.
        end = text.find(close, begin) if begin <= last[close] else -1
        if end < 0 or (close == "`" and "\n\n" in text[begin:end]):
            parts.append(text[at:begin])
            at = begin
        else:
            parts += [text[at : match.start()], re.sub(r"[^\n]", " ", text[match.start() : end])]
            at = end if close == "\n" else end + len(close)
    return "".join([*parts, text[at:]])


def _formulas(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and content of every formula of at most 2,000 characters."""
    at = 0
    while match := _OPEN.search(text, at):
        opening, start, at = match[0], match.start(), match.end()
        close = rf"\end{{{match[1]}}}" if match[1] else _CLOSE.get(opening, "</annotation>")
        body, closed, _ = text[at : at + _LONGEST + len(close)].partition(close)
        # A single dollar is a price unless it touches its formula, within a paragraph.
        price = opening == "$" and (body != body.strip() or "\n\n" in body)
        if body and closed and not price:
            at += len(body) + len(close)
            yield start, at, body


def _plain_formulas(text: str, known: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The same of formulas that stand between words without signs around them."""
    parts, at = [], 0
    for start, end, _ in known:
        parts += text[at:start], "$" * (end - start)
        at = end
    text, at = "".join([*parts, text[at:]]), 0
    while match := _PLAIN.search(text, at):
        start, at = match.start(), match.end()
        if text[max(start - 20, 0) : start].rstrip().endswith(_OPERATORS):
            continue
        paragraph = re.split(r"\n\s*\n|[|$]", text[start : start + _LONGEST], maxsplit=1)[0]
        end = end_of_formula(paragraph, match.end() - start)
        formula = paragraph[:end].strip()
        if not formula.endswith(_OPERATORS) and _BEHIND.match(paragraph[end:]):
            at = start + end
            yield start, at, formula


# What may stand in a formula: a function, a letter with what is below it, a number or a sign.
_PIECE = re.compile(
    r"\s*(?:<=|>=|[<>=≤≥≈]|(?<![A-Za-z\\])(?:"
    r"(?:log(?:2|10)?|ln|exp|sqrt|min|max|Phi|tanh|sinh|cosh|erfc?|floor|ceil|binom|inf)(?![A-Za-z])"
    r"|(?:(?:epsilon|eps|delta|sigma|rho|mu|alpha|lambda|beta|gamma|tau|Delta|RDP|rdp|Var|TV"
    r"|sensitivity)"
    r"|[A-Zb-zα-ωΔΦΣ]|[a-z][A-Z])\d?(?:_\{?\w+\}?)?['′₀-₉]*(?![A-Za-z]))"
    r"|\d+(?:\.\d+)?(?:e-?\d+)?|[-+*/^·×⋅−√|²³⁰-⁹⁻∞]|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,))"
)


def end_of_formula(text: str, at: int) -> int:
    """Return where the longest formula from a place ends, or its comma in no bracket."""
    depth = 0
    while piece := _PIECE.match(text, at):
        depth += bool(piece["open"]) - bool(piece["close"])
        if depth < 0 or (piece["comma"] and depth == 0):
            break
        at = piece.end()
    return at


def _claims(body: str, notion: str) -> Iterator[str]:
    """The claims of one formula; `notion` is what the words around it say that it satisfies."""
    for line in _lines(_LAID_OUT.sub(" ", body)):
        claims = [""]
        cuts = [0, *(m.end() for m in unbracketed(_CUT, line)), len(line)]
        for part in map(lambda cut: line[slice(*cut)], pairwise(cuts)):
            # A claim of its own, unless it explains a letter of the one before.
            name, explained = _SIGN.split(part)[0].strip(), _SIGN.split(claims[-1], maxsplit=1)[1:]
            again = re.compile(re.escape(name) + r"(?![\w'′^])")
            if claims[-1] and _is_claim(part) and not any(map(again.search, explained)):
                claims.append(part)
            else:
                claims[-1] += part
        for claim in (re.sub(r"(?:[\s,.;]|\\q?quad)+$", "", " ".join(x.split())) for x in claims):
            if _is_claim(claim):
                yield claim
                continue
            yield from _scales(claim)
            if own := _OWN_NOTION.search(claim):
                notion, claim = claim[own.end() :].partition("DP")[0] + "DP", claim[: own.start()]
            claim = claim.rstrip("-‑– ")
            defined = notion.startswith(("b ", r"\sigma")) and re.search(r"sigma|σ", claim)
            if not notion or defined or unbracketed(_SIGN, claim) or not _says_more(claim):
                continue
            # A formula without a relation as one, by what it is said to satisfy.
            if notion[-1] == " " or notion == "≈":
                yield notion.replace("≈", r"\epsilon \approx ") + claim
                continue
            if notion == "DP" and "," not in claim:
                claim = f"({claim}, 0)"
            elif unbracketed(_COMMA, claim):
                claim = f"({claim})"
            yield rf"{claim}\text{{-{notion}}}"


def _scales(formula: str) -> Iterator[str]:
    """The scales of the laws in a formula, each as a claim; those of densities are none."""
    for law in _LAW.finditer(formula):
        size = formula[law.end() :]
        size = size[1 : min((m.start() for m in unbracketed(_CLOSING, size)), default=0)]
        size = re.sub(r"\\(?:right|[bB]igg?r?)\s*\Z", "", size)
        gaussian = law[1] == "N"
        if gaussian:
            mean, _, size = size.partition(",")
            size = _IDENTITY.sub("", size).strip() if mean.strip() == "0" else ""
        if _says_more(size) and not re.search(r"\\mid|[|;]|sigma|σ", size):
            yield rf"\sigma^2 = {size}" if gaussian else f"Lap({size})"


def _lines(body: str) -> list[str]:
    """The lines of a formula, with the left side where that stands above."""
    left, lines = "", [""]
    for row in [body] if r"\begin" in body else re.split(r"\\\\(?:\[[^\]\n]{0,9}\])?", body):
        sign = next(iter(unbracketed(_SIGN, row)), None)
        if not sign or lines[-1].rstrip().endswith(("=", "+", "-", "cdot", "times")):
            lines[-1] += " " + row  # it carries on
        else:
            left = row[: sign.start()] if row[: sign.start()].strip() else left
            lines.append(left + row[sign.start() :])
    return lines


def _is_claim(formula: str) -> bool:
    """Whether a quantity of privacy is said to be more than a number or a name."""
    sign = next(iter(unbracketed(_SIGN, formula)), None)
    if not sign:
        return False
    left, right = formula[: sign.start()], formula[sign.end() :]
    if re.fullmatch(r"\s*(?:\\delta|δ|delta)\s*", right):  # f ≤ δ
        return bool(re.search(r"\\?Phi|Φ|\\exp|e\^", left)) and "Pr" not in left
    about = _LEFT.match(formula) or (_LEFT_OF_EPSILON.match(formula) and _EPSILON.search(right))
    return bool(about) and _says_more(right)


def _says_more(right: str) -> bool:
    """Whether one of the parts of a right side has letters and is not just one name."""
    parts = re.sub(r"\\(?:left|right|bar|tilde|hat)(?![a-z])|[().]", " ", right).split(",")
    return any(_LETTER.search(x) and not _NAME.fullmatch(x.strip()) for x in parts)


def _sentence(text: str, start: int, end: int) -> str:
    """What stands before and behind a formula in its sentence, cell or item, without tags."""
    *earlier, before = _BREAK.split(text[max(start - 400, 0) : start].rstrip())
    # What a sentence before assumes holds on.
    assumed = " ".join(x for x in earlier[-2:] if _ASSUMED.match(x.strip()))
    ended = _ENDED.search(text, max(start, end - 40), end)
    rest = text[end : end + 200]
    rest = rest.lstrip() if re.match(r"\s*[a-z(,]", rest) else rest.lstrip(" \t")
    behind = "" if ended else _BREAK.split(rest)[0]
    *_, paragraph = re.split(r"\n\s*\n", text[max(start - 1000, 0) : start])
    assumed = "".join(f"${one}$; " for one in _SETTING.findall(paragraph)) + assumed
    around = re.sub(r"</?[A-Za-z][^<>]{0,300}>", " ", f"{assumed} {before} {behind}")
    return " ".join(html.unescape(around).split())
