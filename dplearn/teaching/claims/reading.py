r"""Parser of printed formulas into claims: a quantity, a relation, a right side, conditions.

Input is never executed: right sides are parsed by `dplearn.teaching.book.kit.parser`, and
unsupported syntax is refused with a reason.
"""

import re
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from dplearn.teaching.book.kit.expression import GREEK, Expression
from dplearn.teaching.book.kit.parser import parse

LONGEST = 2000
_LEFT = {  # quantity for each pattern of left sides as spelled by `plain`; the first match counts
    "rdp": r"[DR]_?(alpha|lambda|a|prime)\w*(\(.*\))?|RDP|tau|epsilon_(alpha|RDP)|D|R"
    r"|(epsilon|rho|gamma)(_\w+)?\((alpha|lambda|tau)\)",
    "log_moment": r"(K|alpha|mu)(_\w+)?\((lambda|alpha|l)(;.*)?\)|K(_\w+)?",
    "sigma": r"(sigma|z|s)(_\w+)?(\^\*)?'*(\^2)?|std\w*(\(.*\))?|noise(_multiplier)?(\^2)?|sd",
    "epsilon": r"eps(ilon)?(_\w+)?(\^\*)?'*(\([A-Za-z]\w*\))?|D_inf\w*(\(.*\))?",
    "delta": r"delta(_\w+)?'*(\([A-Za-z]\w*\))?",
    "rho": r"(rho|xi)(_\w+)?'*",
    "mu": r"mu(_\w+)?'*",
    "variance": r"Var(iance)?(_\w+)?([\[(][^/*+]*[\])])?|V(_\w+)?|variance",
    "kl": r"(D_)?KL(\(.*\))?|D\(.*\)",
    "adv": r"(Adv|TV|adv|d_TV|D_TV)(_\w+)?(\(.*\))?",
    "auc": r"AUC(\(.*\))?",
    "tradeoff": r"[fGT](_[\w,]+)?(\^-?\w+)?(\(.*\))?",
    "scale": r"b(_\w+)?'*|lambda(_\w+)?|scale",
    "p": r"p(_\w+)?'*",
    "steps": r"[kTtnm](_\w+)?(\^\*)?'*",
    "rate": r"q(_\w+)?'*",
    "sensitivity": r"(Delta|GS|S)(_\w+)?(f|\(f\))?|C(_\w+)?",
    "order": r"alpha(_\w+)?(\^\*)?'*",
    "error": r"a|x|err(or)?|accuracy",
}
SIGN = re.compile(
    r"\\(?:leq?(?:slant)?|geq?(?:slant)?|approx|lesssim|gtrsim|simeq|to|rightarrow|sim|triangleq"
    r"|coloneqq|equiv)(?![a-zA-Z])|:=|<=|>=|[≤≥≈≲∼=<>→≔≜≡]"
)
_RELATIONS = {  # relation for each pattern of signs; any other sign is an equality
    "<": re.compile(r"\\?(?:lesssim|le)|[<≤≲]"),
    "~": re.compile(r"\\(?:approx|simeq|to|right|sim)|[≈∼→]"),
    ">": re.compile(r"\\g|[>≥]"),
}
# Notions of privacy in the words after a formula.
NOTIONS = r"((?:R?DP|zCDP|GDP)\b|R[ée]nyi(?:\sDP)?|differential(?:ly)?[-\s]priva\w*|差分隐私)"
NOTION = re.compile(
    rf"^(.*?)(?:\\(?:text\w*|math\w+|mbox)\s*\{{|[\s$‑–-]|\bis\b|~)*{NOTIONS}(?:\s*\}})?[\s.]*$",
    re.DOTALL | re.IGNORECASE,
)
# The name of a noise distribution before its bracket, and text that may precede it in a claim.
_LAW = re.compile(r"(?<![A-Za-z])(Lap|Laplace|N)\}?(?:\\[!,]|\s)*(?:\\left|\\[bB]igg?l?)?\s*(?=\()")
_NOISE = re.compile(
    r"(?:.*(?:\+|\\sim|∼))?\s*(?:noise)?\s*(?:\\(?:text\w*|operatorname|math\w+)\s*)?\{?"
)
_IDENTITY = re.compile(r"(?:\\math\w+\s*)?\{?I\}?(?:_\{?\w+\}?)?\s*\Z")
_EVENT = re.compile(
    r"(?:\\mathbb\s*)?\{?\\?P(?:r|_\w)?\}?(?:_\{?[^{}]*\}?)?\s*(?:\\left|\\[bB]igg?l?)?\s*\\?(?=[\[({])"
)
# Quantities that a claim about privacy may state; a few others need an ε on the right.
_CLAIMED = ("rdp", "log_moment", "sigma", "epsilon", "delta", "rho", "mu", "variance", "kl")
_CLAIMED += ("scale", "sensitivity", "tradeoff")
_CLEANED = {  # replacements in a formula before it is read
    r"(?<!\\)\\[,;:!> ]": " ",
    r"\^\s*\{\s*\\(?:text\w*|mathrm)\s*\{[A-Za-z -]*\}\s*\}": "",
    r"_\s*\\(?:text\w*|math\w+)\s*\{": "_{",
    r"\\mathcal\s*\{?(\w)\}?": r" \1",
}
_SPELLED = {  # replacements that turn a left side or an event into a word
    r"\\[lr]?[vV]ert(?![a-z])|\\\||‖|∥": "|",
    r"_\s*(?:\\?infty|∞)": "_inf",
    r"\\(?:text\w*|math\w+|operatorname\*?|left|right|[bB]igg?[lrm]?|rm|limits|quad|qquad|cdot"
    r"|widehat|widetilde|hat|tilde|bar|,|;|!|:| )(?![a-z])": "",
    r"≥|\\geq?(?:slant)?(?![a-z])": ">=",
    r"≤|\\leq?(?:slant)?(?![a-z])": "<=",
    r"²": "^2",
    r"′|\^\{?\s*(?:\\?(?:prime|star|ast)|\*)\s*\}?": "'",
    r"\\(?:dfrac|tfrac|frac)\s*\{?([^{}]*)\}\s*\{?([^{}]*)\}": r"\1/\2",
    r"\\frac\s*(\w|\\\w+)\s*(\w|\\\w+)": r"\1/\2",
    r"Δ": "Delta",
    r"\\varepsilon": "epsilon",
    **GREEK,
    r"[\s{}\\~$]": "",
    r"(epsilon|delta|sigma|rho)(?=[₀-₉\d])": r"\1_",
}
_CUT = re.compile(  # start of the conditions that follow a formula
    r"\\(?:text\w*|mathrm)\s*\{\s*(?:[,;:]|if\b|for\b|when\b|where\b|with\b|as\b|and\b)|\\q?quad"
    r"|\\iff|(?<=\S)\s(?:for|if|when|where|with|provided|unless|and|as)\s"
    r"|(?<!\\)[,;，；](?=(?:\s|\\ |\\;|\\,)*(?:\\?[A-Za-z]+|[α-ω0-9])\s*(?:_\w\s*)?"
    r"(?:<|>|≤|≥|=|\\[lg]e|\\in|∈))|(?<!\\)[;；]|(?<!\\),\s*(?=\\text)"
)
_LEAST = re.compile(r"(?<=[^<>=\s])\s*(?:[<>≤≥]|\\[lg]eq?(?![a-z]))\s*[\d.]+\s*\Z")
_DOTS = re.compile(
    r"(\\?[A-Za-zα-ω]+)_\{?1\}?(\^\{2\}|\^2|²)?\s*\+\s*(?:\1_\{?2\}?(?:\^\{2\}|\^2|²)?\s*\+\s*)?"
    r"(?:\\[lc]?dots|…|\.\.\.)\s*\+\s*\1_\{?[knmT]\}?(?:\^\{2\}|\^2|²)?"
)
_BEST = re.compile(
    r"(?<![a-z\\])\\?(?:min|inf)\s*(?:\\limits)?\s*_\s*(?:\{?\s*\\?(?:alpha|lambda|α|λ)(?:[^{}]*\})?)"
)
FIXED = re.compile(  # a letter with a fixed value
    r"(?<![\w\\^])((?:\\[a-z]+|[A-Za-zα-ω])(?:_\w)?)\s*=\s*(?:10\s*\^\s*\{?\s*-|\d)[\d.}]*(?=\s*(?:[$,;)}]|$|\\\)|[a-z]))"
)
_PROSE = re.compile(  # words and punctuation, which separate conditions
    rf"(?<![\\A-Za-z])(?!(?:{'|'.join(GREEK.values())}|eps|exp|ln|log|sqrt|min|max|in)(?![A-Za-z]))"
    r"[A-Za-zÀ-ž]{2,}|[\u4e00-\u9fff，。；、：]+|[$;:!?]|\.(?:\s|$)|,"
)
_COMPARED = re.compile(r"<=|>=|[<>≤≥]|\\leq?(?![a-zA-Z])|\\geq?(?![a-zA-Z])|∈|\\in(?![a-z])")
_INTERVAL = re.compile(
    r"((?:\\?[A-Za-zα-ω]+(?:_\w)?\s*,\s*)?\\?[A-Za-zα-ω]+(?:_\w)?)\s*(?:\\in(?![a-z])|∈|\bin\b)\s*(?:\\left)?([(\[])([^,()\[\]]+),"
    r"([^,()\[\]]+?)(?:\\right)?([)\]])"
)


@dataclass(frozen=True)
class Claim:
    """Relation of a quantity to a right side, and the other parts of a printed claim."""

    about: str
    right: Expression
    relation: str = "="  # = < > or ~
    root: bool = False  # whether the left side is squared
    second: Expression | None = None  # second part of a pair
    event: str = ""  # event of a probability
    threshold: Expression | None = None  # threshold of the event
    left: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Letters of the right side, of a pair's second formula and of the threshold."""
        more = (None if self.bare else self.second, self.threshold)
        return self.right.names.union(*(x.names for x in more if x))

    @property
    def bare(self) -> str:
        """Second part of a pair if it is a single letter, else ""."""
        return _letter(self.second) if self.second else ""

    @property
    def second_is_formula(self) -> bool:
        """Whether the claim is a pair such as (epsilon, delta) whose second part is a formula."""
        return self.second is not None and not self.bare and bool(self.second.names)

    @property
    def on_privacy(self) -> bool:
        """Whether the claim relates a privacy quantity to a formula, not a number or a letter."""
        says = self.right.names and (not _letter(self.right) or self.second_is_formula)
        if self.event:
            return bool(says) and self.event.startswith(("|", "u("))
        other = self.about in ("p", "adv", "auc", "scale", "rdp") and "epsilon" in self.right.names
        return bool(says) and (other or _is_claimed(self.about, self.left))


class Note(str):
    """Sentence that explains a verdict, with its template and values for translation."""

    template: str
    values: dict[str, str]

    def __new__(cls, template: str, **values: str) -> "Note":
        note = super().__new__(cls, template.format(**values) if values else template)
        note.template, note.values = template, values
        return note


class ClaimNotReadError(ValueError):
    """Error for a claim about privacy whose right side cannot be parsed."""


def claims_of(text: str) -> tuple[list[Claim], str]:
    """Return the claims of one printed formula, and the conditions printed with it."""
    if len(text) > LONGEST:
        raise ValueError(f"Expected at most {LONGEST} characters, got {len(text)}.")
    text = text.strip().strip("$").strip().removeprefix("\\[").removesuffix("\\]")
    for pattern, spelled in _CLEANED.items():
        text = re.sub(pattern, spelled, text)
    text = text.strip(" .,;，。")
    # The consequent of an implication is the claim, its antecedent a condition.
    text = re.sub(r"⇒|\\implies|\\Longrightarrow", r"\\Rightarrow", text)
    beside, _, text = text.rpartition(r"\Rightarrow")
    if re.search(r"/|\\frac|\d", re.sub(r"_\{?\w\}?", "", beside)):
        raise ValueError("It is not clear what follows from a formula.")
    if re.search(r"delta|δ", beside) and not re.search(r"delta|δ|DP", text):
        raise ValueError("It does not use the δ that it is given.")
    cut = _CUT.search(text, 2)
    if cut and (SIGN.search(text) or "DP" in text[: cut.start()]):
        text, beside = text[: cut.start()], f"{beside} {text[cut.start() :]}"
    text = _DOTS.sub(lambda m: rf"\sum_i {m[1]}_{{i}}{m[2] or ''}", text).strip(" .,;，。")
    if (least := _LEAST.search(text)) and len(SIGN.findall(text)) > 1:  # as in ε' = f < 1
        text, beside = text[: least.start()], f"{beside}; {SIGN.split(text)[0]} {least[0]}"
    text, best = _BEST.subn("", text)
    claims = _of_notion(text) or _of_law(text) or _of_event(text) or _relations(text)
    if best and claims[0].about == "rdp":
        raise ValueError("Expected a closed form: an optimum over a set is not read.")
    return claims, beside


def conditions_in(words: str) -> tuple[list[Expression], set[str]]:
    """Return the comparisons in a text, and the letters of comparisons that cannot be parsed."""
    read = list[Expression]()
    unread = {plain(fixed[1]) for fixed in FIXED.finditer(words[: 2 * LONGEST])}  # fixed values
    chain = lambda m: ";".join(
        f" {m[3]} <{'=' * (m[2] == '[')} {name} <{'=' * (m[5] == ']')} {m[4]} "
        for name in m[1].split(",")
    )
    for part in _PROSE.split(_INTERVAL.sub(chain, words[: 2 * LONGEST])):
        if not _COMPARED.search(part):
            continue
        part = part.strip(" ,.").removeprefix("\\text").strip(" {")
        for opening, closing in ("{}", "()"):  # remove an unbalanced bracket
            missing = part.count(closing) - part.count(opening)
            part = part.strip(closing) if missing > 0 else part
            part = part.removeprefix(opening) if missing < 0 else part
        try:
            condition = parse(part, printed=True)
            if not any(isinstance(s.what, str) and s.what[0] in "<>" for s in condition.program):
                raise ValueError
            read.append(condition)
        except ValueError:
            unread |= {*re.findall(r"[A-Za-z]+", plain(part))}
    if len(read) > 1 and re.search(r"\bor\b|或|\\lor|\\vee", words):
        return [], unread.union(*(condition.names for condition in read))  # skip "A or B"
    return read[:8], unread


def _right(text: str) -> Expression:
    return parse(text.strip(" .,;"), printed=True)


def _letter(formula: Expression) -> str:
    """Return the letter if a formula is a single letter, else ""."""
    (what, inputs), *more = formula.program
    return what if isinstance(what, str) and not more and not inputs else ""


def unbracketed(pattern: re.Pattern | str, text: str) -> list[re.Match]:
    """Return the matches of a pattern outside brackets; a closing bracket counts as outside."""
    depth = [*accumulate((sign in "([{") - (sign in ")]}") for sign in text)]
    return [m for m in re.finditer(pattern, text) if depth[m.start()] <= 0]


def split(pattern: re.Pattern | str, text: str) -> list[str]:
    """Return the parts of a text between the matches of a pattern outside brackets."""
    cuts = [(0, 0), *(m.span() for m in unbracketed(pattern, text)), (len(text), 0)]
    return [text[start:end] for (_, start), (end, _) in pairwise(cuts)]


def _held(text: str) -> tuple[str, str]:
    """Return the content of the bracket at the start of a text, and the text after it."""
    end = next((m.start() for m in unbracketed(r"[)\]}]", text)), 0)
    return re.sub(r"\\(?:right|[bB]igg?r?)?\s*\Z", "", text[1:end]), text[end + 1 :]


def notion_of(word: str) -> str:
    """Return the notion of privacy that a word names: DP, RDP, zCDP or GDP."""
    return {"r": "RDP", "z": "zCDP", "g": "GDP"}.get(word[0].lower(), "DP")


def laws(text: str) -> list[tuple[str, str]]:
    """Return each noise distribution in a formula with its scale or variance; skip densities."""
    sizes = []
    for law in _LAW.finditer(text):
        *mean, size = split(",", _held(text[law.end() :])[0])
        size = _IDENTITY.sub("", size).strip() if law[1] == "N" else size
        if (law[1] != "N" or mean[:1] == ["0"]) and not re.search(r"\\mid|[|;]", size):
            sizes.append((law[1], size))
    return sizes


def makes_claim(text: str) -> bool:
    """Return whether a text makes a claim `on_privacy`, even a claim that cannot be read."""
    if _LAW.search(text) or not (unbracketed(SIGN, text) or NOTION.match(text)):
        return False
    try:
        return any(claim.on_privacy for claim in claims_of(text)[0])
    except ValueError as error:
        return isinstance(error, ClaimNotReadError)


def _of_notion(text: str) -> list[Claim]:
    """Return the claim in text such as (f, g)-DP, (ε', δ') = (f, g)-DP, f-zCDP or f-GDP."""
    match = NOTION.match(text)
    if not match:
        return []
    body = re.sub(r"\\(?:left|right|[bB]igg?[lr]?)(?![a-z])", "", match[1].strip(" -$~")).strip()
    whole = body[:1] == "(" and body[-1:] == ")" and not unbracketed("(?s).", body[:-1])
    parts = [split(SIGN, x)[-1] for x in split(",", body[1:-1] if whole else body)]
    notion = notion_of(match[2])
    if about := {"zCDP": "rho", "GDP": "mu", "RDP": "rdp"}.get(notion):
        return [_claim(about, parts[-1])] if len(parts) <= 1 + (notion == "RDP") else []
    first, second = (*parts, "0")[:2]
    if not _letter(_right(first)):
        return [_claim("epsilon", first, second=second)]
    # If epsilon of the pair is a letter, the claim is about delta.
    if _letter(_right(second)) or not _right(second).names:
        raise ValueError("Expected a formula, got letters alone.")
    return [_claim("delta", second)]


def _of_law(text: str) -> list[Claim]:
    """Return the claim in Lap(f) or N(0, f) that the noise has scale or variance f."""
    law = _LAW.search(text)
    if not law or not _NOISE.fullmatch(text[: law.start()]) or _held(text[law.end() :])[1].strip():
        return []
    normal = law[1] == "N"
    claims = [_claim("sigma" if normal else "scale", x) for _, x in laws(text[law.start() :])[:1]]
    return [replace(c, root=normal) for c in claims if c.right.names and not _letter(c.right)]


def _of_event(text: str) -> list[Claim]:
    """Return the claim about a probability such as Pr[event] <= f."""
    if not (head := _EVENT.match(text)):
        return []
    event, rest = _held(text[head.end() :])
    if not (sign := SIGN.match(rest := rest.lstrip())):
        return []
    right = rest[sign.end() :].split("=")[0]
    return [replace(_claim("probability", right, sign[0]), event=plain(event))]


def _relations(text: str) -> list[Claim]:
    left, *sides = split(SIGN, text)
    if not sides:
        why = "Expected a left side, such as ε' =, got none in {x}."
        raise ValueError(Note(why, x=text.strip()[:60]))
    signs = [m[0] for m in unbracketed(SIGN, text)]
    name, last = plain(left), plain(sides[-1])
    if re.fullmatch(r"delta'*(\(epsilon\))?", last) and not _quantity(name):
        return [_claim("delta", left, "<")]  # f ≤ δ
    about = _quantity(name)
    if not about:
        raise ValueError(Note("It is not clear what stands on the left: {x}.", x=left.strip()[:60]))
    claims, why = [], ""
    for sign, side in zip(signs, sides, strict=True):
        try:
            claim = _claim(about, side, sign, left=name)
        except ValueError as error:
            why = why or str(error)
            continue
        alone = _letter(claim.right)  # ε = x claims nothing; D_α ≤ ε bounds one quantity by another
        if not claim.right.names or (alone and (about != "rdp" or alone.startswith("rdp"))):
            continue
        claims.append(replace(claim, root=about == "sigma" and name.endswith("^2")))
    if not claims:
        if why and last and _is_claimed(about, name):
            raise ClaimNotReadError(why)
        word = sides[-1].strip()[:60]
        raise ValueError(why or Note("Expected a formula, got {word} alone.", word=word))
    return claims


def _is_claimed(about: str, left: str) -> bool:
    """Return whether a claim about privacy can have this quantity and left side."""
    return about in _CLAIMED and not re.fullmatch(r"[A-Zas]|lambda.*|tau.*", left)


def _quantity(plain: str) -> str:
    return next((q for q, form in _LEFT.items() if re.fullmatch(form, plain)), "")


def _claim(about: str, right: str, sign: str = "=", *, second: str = "", left: str = "") -> Claim:
    relation = next((r for r, form in _RELATIONS.items() if form.match(sign)), "=")
    formula = _right(right)
    if about == "epsilon" and not second and "delta" not in {n[:5] for n in formula.names}:
        orders = {n for n in formula.names if n.startswith("alpha")}
        about = "rdp" if orders and "D" not in formula.names else about
    beside = _right(second) if second else None
    return Claim(about, formula, relation, second=beside, left=left)


def plain(text: str) -> str:
    """Return a formula without blanks, braces and layout, with Greek letters spelled out."""
    for pattern, spelled in _SPELLED.items():
        text = re.sub(pattern, spelled, text)
    return text.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉ᵢ", "0123456789i"))
