r"""What a printed formula claims: a quantity, a relation, a right side, and what stands beside it.

Nothing that is read is executed: right sides go through the grammar of
`dplearn.teaching.book.kit.parser`, and what it does not have is refused with a reason.
"""

import re
from dataclasses import dataclass, replace
from typing import NoReturn

from dplearn.teaching.book.kit.expression import GREEK, Expression, Step
from dplearn.teaching.book.kit.parser import parse

_LONGEST = 2000
# What a left side is about, in the spelling of `_plain`: the first form that fits it whole.
_LEFT = {
    "rdp": r"[DR]_?(alpha|lambda|a|prime)\w*(\(.*\))?|epsilon(_\w+)?\((alpha|lambda|tau)\)|RDP|tau"
    r"|epsilon_(alpha|RDP)|D|R",
    "log_moment": r"(K|alpha|mu)(_\w+)?\((lambda|alpha|l)(;.*)?\)|K(_\w+)?",
    "sigma": r"(sigma|z|s)(_\w+)?(\^\*)?'*(\^2)?|std\w*(\(.*\))?|noise(_multiplier)?(\^2)?|sd",
    "epsilon": r"(epsilon|eps)(_\w+)?(\^\*)?'*(\([A-Za-z]\w*\))?|D_inf\w*(\(.*\))?",
    "delta": r"delta(_\w+)?'*(\([A-Za-z]\w*\))?",
    "rho": r"(rho|xi)(_\w+)?'*",
    "mu": r"mu(_\w+)?'*",
    "variance": r"Var(iance)?(_\w+)?([\[(][^/*+]*[\])])?|V(_\w+)?|variance",
    "kl": r"(D_)?KL(\(.*\))?|D\(.*\)",
    "adv": r"(Adv|TV|adv)(_\w+)?(\(.*\))?|d_TV(\(.*\))?|D_TV(\(.*\))?",
    "auc": r"AUC(\(.*\))?",
    "tradeoff": r"[fGT](_[\w,]+)?(\^-?\w+)?(\(.*\))?",
    "scale": r"b(_\w+)?'*|lambda(_\w+)?|scale",
    "p": r"p(_\w+)?'*",
    "steps": r"[kTtnm](_\w+)?(\^\*)?'*",
    "rate": r"q(_\w+)?'*",
    "sensitivity": r"(Delta|GS|S)(_\w+)?(f|\(f\))?|C(_\w+)?",
    "order": r"alpha(_\w+)?(\^\*)?'*",
    "error": r"a|x|error|err",
}
_SIGN = re.compile(
    r"\\(?:leq?(?:slant)?|geq?(?:slant)?|approx|lesssim|gtrsim|simeq|to|rightarrow|sim)(?![a-zA-Z])"
    r"|:=|<=|>=|[≤≥≈≲∼=<>~→≔]"
)
_UP = re.compile(r"\\?(?:lesssim|le)|[<≤≲]")
_ABOUT = re.compile(r"\\(?:approx|simeq|to|right|sim)|[≈∼~→]")
_NOTION = re.compile(
    r"^(.*?)(?:\\(?:text\w*|mathrm|mbox)\s*\{|[\s$-]|\bis\b|~)*"
    r"(R?DP|R[ée]nyi DP|dp|zCDP|GDP|差分隐私)(?:\s*\})?[\s.]*$",
    re.DOTALL,
)
_LAW = re.compile(
    r"^(?:noise|.*\+)?\s*(?:\\(?:mathrm|text\w*|operatorname|mathcal|mathsf)\s*)?\{?"
    r"(Lap(?:lace)?|N)\}?\s*(?:\\left|\\[bB]igg?l?)?\s*\((.*?)(?:\\right|\\[bB]igg?r?)?\s*\)$"
)
_EVENT = re.compile(
    r"^(?:\\mathbb\s*)?\{?\\?P(?:r|_\w)?\}?(?:_\{?[^{}]*\}?)?\s*(?:\\left|\\[bB]igg?l?)?\s*[\[({](.*)$"
)
# Where a formula ends and its conditions begin.
_CUT = re.compile(
    r"\\(?:text\w*|mathrm)\s*\{\s*(?:[,;:]|if\b|for\b|when\b|where\b|with\b|as\b|and\b)|\\q?quad"
    r"|\\iff|(?<=\S)\s(?:for|if|when|where|with|provided|unless|and|as)\s"
    r"|(?<!\\)[,;，；](?=(?:\s|\\ |\\;|\\,)*(?:\\?[A-Za-z]+|[α-ω0-9])\s*(?:_\w\s*)?"
    r"(?:<|>|≤|≥|=|\\[lg]e|\\in|∈))|(?<!\\)[;；]|(?<!\\),\s*(?=\\text)"
)
_REMAINDER = re.compile(
    r"\+\s*(?:\\(?:tilde|mathcal)\s*)*\{?[oO]\}?(?:\\[!,]|\\left|\\[bB]igg?l?|\s)*\([^=<>≤≥]*\)\s*$"
)
_DOTS = re.compile(
    r"(\\?[A-Za-zα-ω]+)_\{?1\}?(\^\{2\}|\^2|²)?\s*\+\s*(?:\1_\{?2\}?(?:\^\{2\}|\^2|²)?\s*\+\s*)?"
    r"(?:\\[lc]?dots|…|\.\.\.)\s*\+\s*\1_\{?[knmT]\}?(?:\^\{2\}|\^2|²)?"
)
_LIST = re.compile(
    r"\\?max\s*(?:\\?\{|\(|\\left\s*(?:\\\{|\())\s*(\\?[A-Za-zα-ω]+)_\{?1\}?\s*,(?:.*?,)?\s*"
    r"(?:\\[lc]?dots|…|\.\.\.)\s*,\s*\1_\{?[knmT]\}?\s*(?:\\?\}|\)|\\right\s*(?:\\\}|\)))"
)
_BEST = re.compile(
    r"(?<![a-z\\])\\?(?:min|inf)\s*(?:\\limits)?\s*_\s*(?:\{?\s*\\?(?:alpha|lambda|α|λ)(?:[^{}]*\})?)"
)
# A constant that the words bound from below.
_CONSTANT = re.compile(
    r"(?<![\w\\])c\s*(\^\{?2\}?|²)?\s*(?:=|>|≥|\\g(?:eq?|t)(?![a-z]))\s*([^$,;=<>]+)"
)
# A letter with one value.
_FIXED = re.compile(
    r"(?<![\w\\^])((?:\\[a-z]+|[A-Za-zα-ω])(?:_\w)?)\s*=\s*(?:10\s*\^\s*\{?\s*-|\d)[\d.}]*(?=\s*(?:[$,;)}]|$|\\\)|[a-z]))"
)
# A word, which no condition contains.
_PROSE = re.compile(
    rf"(?<![\\A-Za-z])(?!(?:{'|'.join(GREEK.values())}|eps|exp|ln|log|sqrt|min|max|in)(?![A-Za-z]))"
    r"[A-Za-z]{2,}|[\u4e00-\u9fff，。；、：]+|[$;:!?]|\.(?:\s|$)|,"
)
_COMPARED = re.compile(r"<=|>=|[<>≤≥]|\\leq?(?![a-zA-Z])|\\geq?(?![a-zA-Z])|∈|\\in(?![a-z])")
_INTERVAL = re.compile(
    r"((?:\\?[A-Za-zα-ω]+(?:_\w)?\s*,\s*)?\\?[A-Za-zα-ω]+(?:_\w)?)\s*(?:\\in(?![a-z])|∈|\bin\b)\s*(?:\\left)?([(\[])([^,()\[\]]+),"
    r"([^,()\[\]]+?)(?:\\right)?([)\]])"
)


@dataclass(frozen=True)
class Claim:
    """One relation: what it is about, what it says, and what was printed with it."""

    about: str
    right: Expression
    relation: str = "="  # = < > or ~
    root: bool = False  # whether the left side is a square, so that the root of the right is meant
    second: Expression | None = None  # of a pair, what stands beside it
    event: str = ""  # of a probability
    threshold: Expression | None = None  # what the event exceeds
    each: bool = False  # whether the words speak of each step
    left: str = ""
    best: bool = False  # whether the best order is meant
    text: str = ""  # the right side as printed

    @property
    def names(self) -> frozenset[str]:
        """Return all letters on its right, those of a pair's second formula among them."""
        more = self.second.names if self.second and not self.bare else frozenset()
        return self.right.names | more | (self.threshold.names if self.threshold else frozenset())

    @property
    def bare(self) -> str:
        """Return the letter that is the second part of a pair; "" if that is no letter."""
        return _letter(self.second) if self.second else ""

    @property
    def second_is_formula(self) -> bool:
        """Return whether the second part of a pair is more than a letter."""
        return self.second is not None and not self.bare and bool(self.second.names)

    @property
    def per_step(self) -> bool:
        """Return whether the left side is what one step has."""
        return self.each or bool(re.search(r"_(0|i|j|t|m|step|iter|1)\b", self.left))

    @property
    def total(self) -> bool:
        """Return whether the left side is what all steps have."""
        return bool(re.search(r"tot|group|user|all", self.left))


class Note(str):
    """A sentence of the judge that keeps its template and values, for another language."""

    template: str
    values: dict[str, str]

    def __new__(cls, template: str, **values: str) -> "Note":
        note = super().__new__(cls, template.format(**values) if values else template)
        note.template, note.values = template, values
        return note

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (self.template,), self.values


class NotReadError(ValueError):
    """The formula cannot be judged; the message says why."""


def refuse(why: str) -> NoReturn:
    """Raise `NotReadError`."""
    raise NotReadError(why)


def claims_of(text: str, words: str = "") -> tuple[list[Claim], str]:
    """Return the claims of one printed formula, and the conditions printed with it.

    The `words` around it may explain the letter c, as in ``c² > 2 ln(1.25/δ)``.
    """
    if len(text) > _LONGEST:
        refuse(f"Expected at most {_LONGEST} characters, got {len(text)}.")
    text = text.strip().strip("$").strip().removeprefix("\\[").removesuffix("\\]")
    text = re.sub(r"\\label\{[^{}]*\}|\\tag\{[^{}]*\}|\\nonumber", "", text).strip(" .,;，。")
    # What follows is the claim; what it follows from is a condition.
    beside, _, text = re.sub(r"⇒|\\implies|\\Longrightarrow", r"\\Rightarrow", text).rpartition(
        r"\Rightarrow"
    )
    if re.search(r"/|\\frac|\d", re.sub(r"_\{?\w\}?", "", beside)):
        refuse("It is not clear what follows from a formula.")
    if ((cut := _CUT.search(text, 2)) and _SIGN.search(text)) or (
        cut and "DP" in text[: cut.start()]
    ):
        text, beside = text[: cut.start()], f"{beside} {text[cut.start() :]}"
    text, rest = _REMAINDER.subn("", text)
    text = _DOTS.sub(lambda m: rf"\sum_i {m[1]}_{{i}}{m[2] or ''}", text)
    text = _LIST.sub(lambda m: rf"\max_i {m[1]}_{{i}}", text).strip(" .,;，。")
    text, best = _BEST.subn("", text)
    found = _pair(text) or _of_law(text) or _of_event(text) or _relations(text)
    constant = _CONSTANT.search(words.replace("{,}", "."))
    explained = f"{beside}, c{constant[1]} = {constant[2]}" if constant else beside
    found = [_with_definitions(claim, explained) for claim in found]
    # Of a main term, and of one that stands before a remainder, nothing but nearness is said.
    found = [replace(c, relation="~" if rest else c.relation, best=best > 0) for c in found]
    return found, beside


def _with_definitions(claim: Claim, beside: str) -> Claim:
    """Return the claim with what explains its letters beside it put in, as in ``μ = Δ/σ``."""
    for part in re.split(r"\\q?quad|[,;]|\\text\s*\{[^{}]*\}|\b(?:where|with|and|for)\b", beside):
        sides = part.split("=")
        if len(sides) != 2 or re.search(r"[<>≤≥]|\\[lg]eq?(?![a-z])", part):
            continue
        name = re.fullmatch(r"(.+?)(\^2|\^\{2\}|²)?", sides[0].strip())
        letter = name and _letter(_right(name[1]))
        if not letter or letter not in claim.names:
            continue
        formula = _right(sides[1])
        if not formula.names or claim.left.replace("'", "_prime") in formula.names:
            continue  # one value of a letter is a condition, and a circle explains nothing
        steps = formula.program + ((Step("sqrt", 1),) if name[2] else ())
        inline = lambda e, letter=letter, steps=steps: Expression(
            e.text,
            tuple(s for step in e.program for s in (steps if step == (letter, 0) else (step,))),
        )
        second = claim.second and inline(claim.second)
        claim = replace(claim, right=inline(claim.right), second=second, text="")
    return claim


def conditions_in(words: str) -> tuple[list[Expression], set[str]]:
    """Return the comparisons that stand in a text, and the letters of those that are not read."""
    found, unread = list[Expression](), set[str]()
    chain = lambda m: ";".join(
        f" {m[3]} <{'=' * (m[2] == '[')} {name} <{'=' * (m[5] == ']')} {m[4]} "
        for name in m[1].split(",")
    )
    for fixed in _FIXED.finditer(words[: 2 * _LONGEST]):
        unread |= {_plain(fixed[1])}  # for one value alone
    for part in _PROSE.split(_INTERVAL.sub(chain, words[: 2 * _LONGEST])):
        if not _COMPARED.search(part):
            continue
        part = part.strip(" ,.").removeprefix("\\text").strip(" {")
        part = part.lstrip("}") if part.count("{") < part.count("}") else part
        part = part.removeprefix("(") if part.count("(") > part.count(")") else part
        part = part.rstrip(")") if part.count("(") < part.count(")") else part
        part = part.rstrip("}") if part.count("{") < part.count("}") else part
        try:
            condition = parse(part, printed=True)
            if not any(isinstance(s.what, str) and s.what[0] in "<>" for s in condition.program):
                raise ValueError
            found.append(condition)
        except ValueError:
            unread |= {*re.findall(r"[A-Za-z]+", _plain(part))}
    if len(found) > 1 and re.search(r"\bor\b|或|\\lor|\\vee", words):
        return [], unread.union(*(condition.names for condition in found))  # one of them is enough
    return found[:8], unread


def _right(text: str, *, loose: bool = False) -> Expression:
    try:
        return parse(text.strip(" .,;"), printed=True, loose=loose)
    except ValueError as error:
        return refuse(str(error))


def _letter(formula: Expression) -> str:
    """Return the only letter that a formula consists of, else ""."""
    (what, inputs), *more = formula.program
    return what if isinstance(what, str) and not more and not inputs else ""


def _pieces(text: str, comma: str = ",") -> list[str]:
    """Return the parts of a text between commas that stand in no bracket."""
    depth, parts = 0, [""]
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == comma and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _pair(text: str) -> list[Claim]:
    """Return the claim of (f, g)-DP or (ε', δ') = (f, g), and of f-zCDP and f-GDP."""
    said = _NOTION.match(text)
    if not said:
        sides = re.fullmatch(r"\(([^=<>≤≥]*)\)\s*(?:=|\\leq?|≤)\s*\((.*)\)", text)
        parts = _pieces(sides[2]) if sides and len(_pieces(sides[1])) == 2 else []
        return _of_two(*parts) if len(parts) == 2 else []
    body, notion = said[1].strip(" -$~"), said[2]
    body = re.sub(r"\\(?:left|right|[bB]igg?[lr]?)(?![a-z])", "", body).strip()
    inner = body[1:-1] if body[:1] == "(" and body[-1:] == ")" and _closes(body) else body
    parts = _pieces(inner)
    if notion in ("zCDP", "GDP"):
        return [_claim({"zCDP": "rho", "GDP": "mu"}[notion], inner)]
    if notion.startswith("R"):
        return [_claim("rdp", parts[-1])] if len(parts) <= 2 else []
    if len(parts) == 1:
        if _letter(_right(inner)):
            refuse("Expected a formula, got letters alone.")
        return [_claim("epsilon", inner, second="0")]
    first, second = (_pieces(part, "=")[-1] for part in parts[:2])
    return _of_two(first, second)


def _of_two(first: str, second: str) -> list[Claim]:
    """Return the claim of a pair; where its epsilon is a letter, that about its delta."""
    if not _letter(_right(first)):
        return [_claim("epsilon", first, second=second)]
    if _letter(_right(second)) or not _right(second).names:
        refuse("Expected a formula, got letters alone.")
    return [_claim("delta", second)]


def _closes(text: str) -> bool:
    """Return whether the first bracket of a text is closed by its last one."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return place == len(text) - 1
    return False


def _of_law(text: str) -> list[Claim]:
    """Return the claim about the scale of Lap(f) or N(0, f)."""
    law = _LAW.match(text)
    if not law or _SIGN.search(law[2]):
        return []
    *mean, size = _pieces(law[2])
    if law[1] == "N":
        size = re.sub(r"(?:\\math\w+\s*)?\{?I\}?(?:_\{?\w+\}?)?\s*$", "", size)
        return [replace(_claim("sigma", size), root=True)] if mean else []
    return [_claim("scale", size)]


def _of_event(text: str) -> list[Claim]:
    """Return the claim about the probability of an event in brackets."""
    if not (head := _EVENT.match(text)):
        return []
    end = next((k for k in range(len(head[1])) if _depth(head[1][: k + 1]) < 0), -1)
    event, rest = head[1][:end], head[1][end + 1 :]
    sign = _SIGN.match(rest.lstrip())
    if not sign:
        return []
    event = re.sub(r"\\(?:right|[bB]igg?r?|\})\s*$|\\$", "", event)
    right = rest.lstrip()[sign.end() :].split("=")[0]
    return [replace(_claim("probability", right, sign[0]), event=_plain(event))]


def _relations(text: str) -> list[Claim]:
    signs = [m for m in _SIGN.finditer(text) if _depth(text[: m.start()]) == 0]
    if not signs:
        right = _right(text)
        if _letter(right) or not right.names:
            refuse(Note("Expected a formula, got {word} alone.", word=text.strip()[:60]))
        return [_claim("", text)]
    left = text[: signs[0].start()].strip()
    ends = [*(m.start() for m in signs[1:]), len(text)]
    sides = [text[m.end() : end] for m, end in zip(signs, ends, strict=True)]
    plain, last = _plain(left), _plain(sides[-1])
    if re.fullmatch(r"delta'*(\(epsilon\))?", last) and not _quantity(plain):
        return [_claim("delta", left, "<")]  # f ≤ δ
    about = _quantity(plain)
    if not about:
        refuse(Note("It is not clear what stands on the left: {x}.", x=left[:60]))
    claims, why = [], ""
    for sign, side in zip(signs, sides, strict=True):
        try:
            claim = _claim(about, side, sign[0], left=plain)
        except NotReadError as error:
            why = why or str(error)
            continue
        if not claim.right.names or ((letter := _letter(claim.right)) and _same(letter, about)):
            continue
        root = about == "sigma" and plain.endswith("^2")
        claims.append(replace(claim, root=root))
    if not claims:
        alone = Note("Expected a formula, got {word} alone.", word=sides[-1].strip()[:60])
        refuse(why or alone)
    return claims


def _same(letter: str, about: str) -> bool:
    """Return whether a lone letter says nothing more than the left side."""
    return about not in ("rdp", "sensitivity", "epsilon") or letter.startswith(about)


def _quantity(plain: str) -> str:
    return next((q for q, form in _LEFT.items() if re.fullmatch(form, plain)), "")


def _claim(about: str, right: str, sign: str = "=", *, second: str = "", left: str = "") -> Claim:
    relation = "<" if _UP.match(sign) else "~" if _ABOUT.match(sign) else "="
    relation = ">" if re.match(r"\\g|[>≥]", sign) else relation
    formula = _right(right)
    if about == "epsilon" and not second and "delta" not in {n[:5] for n in formula.names}:
        orders = {n for n in formula.names if n.startswith("alpha")}
        about = "rdp" if orders and "D" not in formula.names else about
    beside = _right(second) if second else None
    return Claim(about, formula, relation, second=beside, left=left, text=right)


def alternatives(claim: Claim) -> list[Claim]:
    """Return the claim with a/(b) c read as a/(bc), and as (a/b) c where that differs."""
    if not re.search(r"/\s*\(", claim.text):
        return [claim]
    other = _right(claim.text, loose=True)
    return [claim] if other.program == claim.right.program else [claim, replace(claim, right=other)]


def two_releases(claim: Claim) -> Claim:
    """Return x + x' as a sum over the letters x_1 and x_2 of two releases."""

    def numbered(formula: Expression) -> Expression:
        names, (*letters, last) = sorted(formula.names), formula.program
        if last != ("+", 2) or len(letters) != 2 or names[1:] != [f"{names[0]}_prime"]:
            return formula
        return Expression(formula.text, (Step(f"{names[0]}_1"), Step(f"{names[0]}_2"), last))

    second = numbered(claim.second) if claim.second else None
    return replace(claim, right=numbered(claim.right), second=second)


def _depth(text: str) -> int:
    return sum((sign in "([{") - (sign in ")]}") for sign in text)


def _plain(text: str) -> str:
    """Return LaTeX or Unicode without blanks, braces and layout, Greek letters spelled out."""
    text = re.sub(r"\\[lr]?[vV]ert(?![a-z])|\\\||‖|∥", "|", text).replace("⁺", "")
    text = re.sub(r"_\s*\\?infty|_\s*∞", "_inf", text)
    text = re.sub(
        r"\\(?:text\w*|mathrm|math\w+|operatorname\*?|left|right|[bB]igg?[lrm]?|rm|limits|quad|qquad"
        r"|cdot|widehat|widetilde|hat|tilde|bar|,|;|!|:| )(?![a-z])",
        "",
        text,
    )
    text = text.replace("≤", "<=").replace("≥", ">=").replace("²", "^2").replace("′", "'")
    text = re.sub(r"\\geq?(?:slant)?(?![a-z])", ">=", text)
    text = re.sub(r"\\leq?(?:slant)?(?![a-z])", "<=", text)
    text = re.sub(r"\^\{?\s*\\?(?:prime|star|ast)\s*\}?", "'", text)
    text = re.sub(r"\^\{?\s*\*\s*\}?", "'", text)
    text = re.sub(r"\\(?:dfrac|tfrac|frac)\s*\{?([^{}]*)\}\s*\{?([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\frac\s*(\w|\\\w+)\s*(\w|\\\w+)", r"\1/\2", text)
    for sign, name in GREEK.items():
        text = text.replace(sign, name)
    text = text.replace("Δ", "Delta").replace("\\varepsilon", "epsilon").replace("$", "")
    text = text.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉ᵢ", "0123456789i"))
    text = re.sub(r"(epsilon|delta|sigma|rho)(?=\d)", r"\1_", text)
    return re.sub(r"[\s{}\\~]", "", text)
