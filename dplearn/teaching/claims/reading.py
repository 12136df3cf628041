r"""What a printed formula claims: LaTeX, Unicode or ASCII in one spelling, and its two sides.

Nothing that is read is executed: what comes out is text for the grammar of
`dplearn.teaching.book.kit.parser`.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NoReturn

from dplearn.teaching.book.kit.expression import GREEK
from dplearn.teaching.book.kit.parser import parse

_LONGEST, _DEEPEST = 2000, 40
_GREEK: dict[str, str] = {
    **GREEK, "η": "eta", "ξ": "xi", "ω": "omega", "θ": "theta", "φ": "phi", "π": "pi"
}  # fmt: skip
_REFUSED = {
    r"\\?(?:tilde|mathcal|widetilde)?\s*\{?(?<![A-Za-z])O\}?\s*(?:\\left)?\(|\\Omega|\\Theta|o\(1\)":
        "an order of magnitude has no constant to check",
    r"\\(?:sum|prod|int)(?![a-z])|[Σ∑∫∏]|\\[lc]?dots|…|\.\.\.":
        "a sum, a product or an integral is not read",
    r"\\(?:min|max|inf|sup)\s*(?:\\limits)?\s*_|\\arg|\\(?:inf|sup)(?![a-z])|(?:min|max|sup|inf)_"
    r"|\\m(?:ax|in)\s*(?:\\?\||\\l?[vV]ert)":
        "an optimum over a set is not read",
    r"\\begin\s*\{cases\}": "a case by case definition is not read",
    r"(?:\\mathbb\s*\{?\s*|(?<![A-Za-z]))E\}?\s*_?[\[{]|𝔼": "an expectation is not read",
}  # fmt: skip
_TYPESETTING = (
    r"\\(?:left|right|displaystyle|textstyle|nonumber|limits|[bB]igg?[lrm]?|mathbf|boldsymbol"
    r"|mathcal|mathbb|qquad|quad|,|;|:|!|>|/| )(?![A-Za-z])|\\label\{[^{}]*\}|\\tag\{[^{}]*\}|[&$~]"
)
_MARKS = {"\u0304": "bar", "\u0305": "bar", "\u0303": "tilde", "\u0302": "hat"}
_WIDE = r"\\(?:wide|over)?(bar|line|tilde|hat)(?![a-z])\s*"
_WORDS = (
    "alpha beta gamma delta rho sigma mu nu tau xi eta omega theta phi lambda log ln exp min max"
    " sinh cosh tanh Phi pi Delta infty cdot times le ge leq geq leqslant geqslant approx lesssim"
    " gtrsim simeq to in"
).replace(" ", "|")
_SENSITIVITY = (
    r"(?:\\?Delta|Δ)(?![A-Za-z])\s*(?:_\{?[12]\}?|[₁₂])?\s*(?:\(\s*[fqg]\s*\)|[fqgu](?![A-Za-z_(]))?"
    r"\s*(?:_\{?[12A-Za-z]\}?|[₁₂])?|(?<![A-Za-z])S_\{?[fqu12]\}?(?![A-Za-z])"
)
_DIVERGENCE = (
    r"(?<![A-Za-z])[DR]\s*_\{?\s*\\?(?:alpha|α|lambda|λ|a)(?![A-Za-z])\s*\}?\s*"
    r"(?:\((?:[^()]|\([^()]*\))*\))?"
)
# In order; each writes one thing in the letters of the grammar.
_SPELLING = [
    (r"_\{\s*\\(?:mathcal|mathrm|text)\s*\{(\w+)\}\s*\}", r"_\1"),
    (r"\\log\s*_\{?\s*2\s*\}?|(?<![a-z\\])log₂", " log2 "),
    (r"\\log\s*_\{?\s*10\s*\}?", " log10 "),
    (r"\\\{", "("),
    (r"\\\}", ")"),
    (_TYPESETTING, " "),
    (_WIDE + r"\{\s*(\\?[A-Za-zα-ω]+(?:_\{?\w+\}?)?)\s*\}", r" \2_\1 "),
    (_WIDE + r"(\\[A-Za-z]+|[A-Za-zα-ω])", r" \2_\1 "),
    (r"_line\b", "_bar"),
    (r"(?:\\(?:text|mbox|mathrm|operatorname\*?|textrm|mathit|textit|rm)\s*\{([^{}]*)\})", r"\1"),
    (r"(?:\\?Phi|Φ)\s*\^\s*[{(]?\s*-\s*1\s*[})]?|Φ⁻¹", " probit "),
    (r"\\(?:varepsilon|epsilon)(?![a-z])|\beps(?=[_ ]|\d|\b)", " epsilon"),
    (r"\b(epsilon|delta|sigma|rho|mu)(?=\d)", r"\1_"),
    (r"\\lfloor", " floor("),
    (r"\\lceil", " ceil("),
    (r"\\rfloor|\\rceil", ")"),
    (r"\\[lr]?(?:vert|Vert)|\\\||‖|\|\|", "|"),
    (r"\|\s*_\s*\{*[12pF]\}*", "|"),
    (_SENSITIVITY, " Delta "),
    (r"(?<![A-Za-z])GS(?:_f)?(?![A-Za-z])", " Delta "),
    (_DIVERGENCE, " D_alpha "),
    (r"(?<=epsilon)\s*_\{?\s*\\?(?:alpha|RDP)\s*\}?(?:\s*\(\s*\\?alpha\s*\))?", "_bar "),
    (r"(?<=epsilon)\s*\(\s*\\?alpha\s*\)", "_bar "),
    (r"\^\{?\s*\\?(?:prime|star|ast|\*)\s*\}?|['′]", "_prime "),
    (r"_\{\s*\\?([A-Za-z0-9]+)[^{}]*\}", r"_\1"),
    (rf"\\({_WORDS})(?![A-Za-z])", r" \1 "),
    (r"[≲≈≃∼→]|\\rightarrow(?![a-z])", " approx "),
    (r"≤|\b(?:leq|le|leqslant)\b", "<="),
    (r"≥|\b(?:geq|ge|geqslant)\b", ">="),
    (r"∈", " in "),
    (r":=|≔", "="),
    (r"\b([a-zA-Z]\w*)\s+_\s*(\w+)", r"\1_\2"),
    (r"_(\d+)(?=[A-Za-z])", r"_\1 "),
    (r"\s+", " "),
]
_GROUP = r"[^{}]*"
for _ in range(_DEEPEST):
    _GROUP = rf"(?:[^{{}}]|\{{{_GROUP}\}})*"
ARGUMENT = rf"\s*(?:\{{({_GROUP})\}}|(\\[A-Za-z]+|.))"
_COMMAND = re.compile(
    rf"\\[dt]?(frac|binom)(?![A-Za-z]){ARGUMENT}{ARGUMENT}"
    rf"|\\(sqrt)(?![A-Za-z])\s*(?:(?=[(\[])|{ARGUMENT})",
    re.DOTALL,
)
_OVER = re.compile(rf"\{{({_GROUP})\\over(?![a-z])({_GROUP})\}}")
_RELATION = re.compile(r"\b(?:approx|lesssim|gtrsim|simeq|to)\b|<=|>=|(?<![<>=!])=(?!=)|<|>")

# The best order: what is claimed of it is claimed of every order.
_BEST = re.compile(
    r"((?:^|[=≤]|\\leq?)(?:\s|\\[;,! ])*)\\?(?:min|inf)\s*(?:\\limits)?\s*"
    r"_\s*(?:\{?\s*(?:\\alpha|\\lambda|[αλ])(?:[^{}]*\})?)"
)
# A sum over all releases of one letter, which is read as of three.
_SUM = re.compile(
    r"(?:\\sum|[Σ∑])(?:\\limits)?\s*(?:_(?:\{[^{}]*\}|\w))?\s*(?:\^(?:\{[^{}]*\}|\w))?\s*"
    r"(\\?[A-Za-zα-ω]+)(?:_[a-z]|_\{[a-z]\})(\^2|\^\{2\}|²)?(?![A-Za-z(])"
)
# The first and the last of them, with dots between.
_DOTS = re.compile(
    r"(\\?[A-Za-zα-ω]+)_\{?1\}?(\^2|\^\{2\}|²)?\s*\+\s*(?:\1_\{?2\}?(?:\^2|\^\{2\}|²)?\s*\+\s*)?"
    r"(?:\\[lc]?dots|…|\.\.\.)\s*\+\s*"
    r"\1_\{?[knmT]\}?(\^2|\^\{2\}|²)?"
)
_LIST = re.compile(
    r"(\\?[A-Za-zα-ω]+)_\{?1\}?\s*,\s*(?:\\[lc]?dots|…|\.\.\.)\s*,\s*\1_\{?[knmT]\}?"
)
# A remainder behind the main term.
_REMAINDER = re.compile(
    r"\+\s*(?:\\(?:tilde|mathcal)\s*)*\{?O\}?(?:\\[!,]|\\left|\\[bB]igg?l?|\s)*\([^=<>≤≥]*\)\s*$"
)
_TERMS = "(" + " + ".join(rf"\1_{{{n}}}\2" for n in (1, 2, 3)) + ")"
# A constant that the words bound from below.
_CONSTANT = re.compile(r"c\s*\^\{?2\}?\s*(?:=|>|≥|\\g(?:eq?|t)(?![a-z]))\s*([^$,;=<>]+)")

# What a left side is about: the first form that fits it.
_QUANTITIES = {
    "rdp": r"D_(alpha|lambda|prime)\w*|D|R(_alpha)?|RDP|epsilon_(bar|RDP)|D_prime_alpha|tau"
    r"|epsilon_\w+\((alpha|tau)\)",
    "log_moment": r"(K|alpha|mu)(_M)?(_\w+)?\((lambda|alpha|l)(;.*)?\)|K",
    "sigma": r"(sigma|z|s)(_\w+)?|noise_multiplier|std",
    "epsilon": r"epsilon(_\w+)?(\( ?[A-Za-z]\w* ?\))?|D_inf|D_prime_inf",
    "delta": r"delta(_\w+)?(\( ?[A-Za-z]\w* ?\))?",
    "rho": r"(rho|xi)(_\w+)?",
    "mu": r"mu(_\w+)?",
    "steps": r"[kTt](_\w+)?",
    "rate": r"q(_\w+)?",
    "scale": r"[bS](_\w+)?|lambda|scale",
    "p": r"p(_\w+)?",
    "sensitivity": r"Delta|C",
    "norm": r"C_\w+",
    "variance": r"V|Var[^/*+^]*|variance",
    "adv": r"(Adv|TV)[^/*+^]*",
    "auc": r"AUC[^/*+^]*",
    "kl": r"(D_)?KL[^/*+^]*",
    "order": r"alpha(_\w+)?",
    "probability": r"\\?(P|Pr)(_\w+)?[\[(].*[\])]",
    "tradeoff": r"[fG](_\w+)?(\(.*\))?|beta",
}
_CUT = re.compile(
    r"\\q?quad|\\text\s*(?=\{\s*(?:[,;]|for|if|when|where|with|and))|\\Rightarrow|\\iff"
    r"|,\s*(?=\\?(?:for|if|where|with|when|provided)\b)|\b(?:if|for|where|provided)\b"
    r"|(?<!\\)[,;](?:\s|\\ )+(?=\S)"
)
_SCALES = re.compile(
    r"\| ?\w+ ?\| ?>=? ?(?:t ?(?:cdot ?|\\,)?(b|lambda)|(b|lambda) ?(?:cdot ?|\\,)?t) ?[\])]"
)
_COMMA = re.compile(r"\\?,")
_LAST_BRACKET = re.compile(
    r"\(((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*?)(?:\\(?:right|[bB]igg?r?)\s*)?\)$"
)
_DEFINED = re.compile(
    r"(?:\{[^{}]*\})?\s*(\\?[A-Za-z]+(?:_\{?\\?\w+\}?|\^\*)?)\s*(\^\{?2\}?)?\s*=\s*([^=<>]+?)[\s,.}]*"
)
# What may stand in a formula: a function, a letter with what is below it, a number or a sign.
_PIECE = re.compile(
    r"\s*(?:<=|>=|[<>=≤≥≈∈]|(?<=\s)in(?=\s)|(?<![A-Za-z\\])(?:"
    r"(?:log(?:2|10)?|ln|exp|sqrt|min|max|Phi|tanh|sinh|cosh|erfc?|floor|ceil|binom|inf)(?![A-Za-z])"
    r"|(?:(?:epsilon|eps|delta|sigma|rho|mu|alpha|lambda|beta|gamma|tau|Delta|RDP|rdp|Var|TV"
    r"|sensitivity)"
    r"|[A-Zb-zα-ωΔΦΣ]|[a-z][A-Z])\d?(?:_\{?\w+\}?)?['′₀-₉]*(?![A-Za-z]))"
    r"|\d+(?:\.\d+)?(?:e-?\d+)?|[-+*/^·×⋅−√|²³⁰-⁹⁻∞]|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,))"
)
_INTERVAL = re.compile(r"((?:\w+, ?)*\w+) in ([(\[])(.+?), ?(.+?)([)\]])(?![\w^])")
# Words before a comparison that say that it is a condition, and those that say the opposite.
_IF = re.compile(
    r"\b(?:for|if|when|where|provided|that|with|let|suppose|assume|assuming|given|under|whenever|once"
    r"|as|and|condition|range|regime)(?:\s+(?:any|all|every|each|some|small|the))?[\s:($]*$"
    r"|;[\s{]*$",
    re.IGNORECASE,
)
_UNLESS = re.compile(r"\b(?:unless|except|not|beyond|outside)\b[^.;]{0,12}$", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """One relation: what it is about, what it says, and its right side for the grammar."""

    quantity: str  # a key of `_QUANTITIES`; "" if it has no left side
    relation: str  # upper, lower, identity or about
    right: str
    root: bool = False  # whether the left side is a square, so that the root of the right is meant
    left: str = ""
    words: str = ""  # the sentence around it
    conditions: tuple[str, ...] = ()  # comparisons that stand beside it, as the grammar has them
    hedged: str = ""  # letters of which the words say where it does not hold
    best: bool = False  # whether the best order is meant
    other: str = ""  # of a pair, what stands beside it


class NotReadError(ValueError):
    """The formula cannot be judged; the message says why."""


def refuse(why: str) -> NoReturn:
    """Raise `NotReadError`."""
    raise NotReadError(why)


def spell(text: str) -> str:
    """LaTeX, Unicode or ASCII in the letters of the grammar; a `NotReadError` if it has none."""
    if (deepest := max(_depths(text), default=0)) > _DEEPEST:
        refuse(f"Expected at most {_DEEPEST} levels of brackets, got {deepest}.")
    if len(re.findall(r"(?<!\\){", text)) != len(re.findall(r"(?<!\\)}", text)):
        refuse("Expected as many { as }.")
    for pattern, why in _REFUSED.items():
        if re.search(pattern, text):
            refuse(f"Expected a closed form: {why}.")
    while re.search(r"\\over(?![a-z])", text) and _OVER.search(text):
        text = _OVER.sub(r"\\frac{\1}{\2}", text)
    text = unicodedata.normalize("NFD", text.replace("¯", "\u0304"))
    text = re.sub(f"(.)([{''.join(_MARKS)}])", lambda m: f" {m[1]}_{_MARKS[m[2]]} ", text)
    text = re.sub(r"\\(?![A-Za-z{}|,;:!>/ ])", " ", text)
    text = _with_brackets(text)
    greek = "".join(_GREEK)
    text = re.sub(f"([{greek}])(?=[A-Za-z])", r"\1 ", text)
    text = re.sub(f"[{greek}]", lambda m: f" {_GREEK[m[0]]}", text)
    for pattern, replacement in _SPELLING:
        text = re.sub(pattern, replacement, text)
    return text.strip(" .,;")


def _with_brackets(text: str) -> str:
    r"""``\frac12``, ``\sqrt x`` and ``\binom{a}{b}`` as ((1)/(2)), sqrt(x) and binom(a, b)."""

    def written(m: re.Match) -> str:
        first, second, under = (_with_brackets(m[k] or m[k + 1] or "") for k in (2, 4, 7))
        if m[6]:
            return f" sqrt({under})" if under else " sqrt"
        return f" binom({first}, {second})" if m[1] == "binom" else f"(({first})/({second}))"

    return _COMMAND.sub(written, text)


def claims_of(text: str, words: str = "") -> list[Claim]:
    """The claims of one printed formula: of a pair as in (f, g)-DP, or of its relation."""
    if len(text) > _LONGEST:
        refuse(f"Expected at most {_LONGEST} characters, got {len(text)}.")
    text = text.strip().strip("$").strip().rstrip(".,;")
    for begin, end in (("\\[", "\\]"), ("\\(", "\\)")):
        text = text.removeprefix(begin).removesuffix(end)
    text, main = _REMAINDER.subn("", re.sub(r"\bsensitivity\b", "Delta", text))
    text = _SUM.sub(_TERMS, _DOTS.sub(_TERMS, _LIST.sub(r"\1_{1}, \1_{2}, \1_{3}", text)))
    text = re.sub(r"(?<=\d)\{,\}(?!\d{3}(?!\d))", ".", text)
    text, best = _BEST.subn(r"\1", text)
    if constant := _CONSTANT.search(words.replace("{,}", ".")):
        text = re.sub(
            r"(?<![A-Za-z\\])c(?![A-Za-z_])",
            rf"\\sqrt{{{constant[1]}}}".replace("\\", "\\\\"),
            text,
        )
    inside = " ".join(re.findall(r"\\(?:text|mathrm)\s*\{([^{}]*)\}", text))
    beside = f"{words[:_LONGEST]} {inside} {text}"
    found = _pair(text) or _relations(text)
    found = [replace(c, relation="about") for c in found] if main else found
    stated, unread = _conditions(f"{words} ; {' ; '.join(_pieces(_CUT, text)[1:])}")
    hedged = " ".join(unread) + " else" * bool(_HEDGE.search(f"{words} {text}"))
    return [
        replace(c, words=beside, conditions=tuple(stated), hedged=hedged, best=best > 0)
        for c in found
    ]


# Words that set a limit without a sign.
_VAGUE = re.compile(
    r"\b(epsilon\w*|delta\w*|alpha|sigma|[qkTnz])\b[^.;=<>]{0,25}\b(?:small|large"
    r"|(?:at most|below|under|less than|smaller than|exceed|up to) (?:one|1|0|two)\b)"
    r"|\b(?:small|large|tiny|moderate)\b[^.;=<>]{0,15}\b(epsilon\w*|delta\w*|alpha|sigma|[qkTnz])\b"
)


_HEDGE = re.compile(r"\belse\b|\b(?:certain|some|suitable|mild|technical) (?:condition|assumption)")


def end_of_formula(text: str, at: int) -> int:
    """Where the longest formula that begins at a place ends; a comma in no bracket ends it."""
    depth = 0
    while piece := _PIECE.match(text, at):
        depth += bool(piece["open"]) - bool(piece["close"])
        if depth < 0 or (piece["comma"] and depth == 0):
            break
        at = piece.end()
    return at


def _conditions(text: str) -> tuple[list[str], set[str]]:
    """Comparisons that are conditions, in the spelling of the grammar, and letters of others."""
    try:
        text = spell(text[-_LONGEST:])
    except NotReadError:
        return [], set()
    interval = lambda m: " and ".join(
        f"{m[3]} <{'=' * (m[2] == '[')} {name} <{'=' * (m[5] == ']')} {m[4]}"
        for name in re.split(", ?", m[1])
    )
    text, found, at = _INTERVAL.sub(interval, text), list[str](), 0
    unread = {letter for m in _VAGUE.finditer(text) for letter in m.groups() if letter}
    while at < len(text):
        begin, at = at, max(end_of_formula(text, at), at + 1)
        run, before = text[begin:at].strip(), text[max(begin - 60, 0) : begin]
        if fixed := re.fullmatch(r"([A-Za-z]\w*) ?= ?[\d.]+( ?\^ ?[({]?-?\d+[)}]?)?", run):
            unread.add(fixed[1])  # for one value alone
        if not re.search("[<>]", run) or "=" in re.sub("[<>]=", "", run):
            continue
        try:
            names = parse(run).names
        except ValueError:
            unread |= {*re.findall(r"[A-Za-z][A-Za-z0-9_]*", run)}
            continue
        if _UNLESS.search(before):
            unread |= names
        elif len(names) == 1 or _IF.search(before):
            found.append(run)
    return found[:8], unread


def _pair(text: str) -> list[Claim]:
    """Both parts of (f, g)-DP or (ε', δ') = (f, g), and f of f-zCDP and f-GDP."""
    kind = re.search(r"(R?DP|zCDP|GDP)\b", text)
    if kind:
        before = re.sub(
            r"(?:\\(?:text|mathrm)\s*\{(?:[\s-]*\})?|[\s$~-]|\bis\b)+$", "", text[: kind.start()]
        )
        before = before.rpartition(r"\Rightarrow")[2].strip()
        if kind[1] in ("DP", "RDP") and (last := _LAST_BRACKET.search(before)):
            parts = _pieces(_COMMA, last[1])
            about = ("order", "rdp") if kind[1] == "RDP" else ("epsilon", "delta")
            if len(parts) == 2:
                named = [(q, spell(part)) for q, part in zip(about, parts, strict=True)]
                marked = re.findall(r"\b(?!epsilon|delta)(\w+)_(?:tilde|hat|bar)", named[0][1])
                if any(re.search(rf"\b{letter}\b", named[1][1]) for letter in marked):
                    refuse(f"Expected one letter, got {marked[0]} with a mark and without one.")
                others = [p for _, p in reversed(named)]
                claims = [
                    Claim(q, "identity", p, left=q, other=other)
                    for (q, p), other in zip(named, others, strict=True)
                    if not _bare(p)
                ]
                return claims or refuse("Expected a formula, got letters alone.")
        if kind[1] in ("zCDP", "GDP") and before and not unbracketed(_RELATION, spell(before)):
            about = {"zCDP": "rho", "GDP": "mu"}[kind[1]]
            return [Claim(about, "identity", spell(before), left=about)]
    left, sign, right = text.partition("=")
    if sign and left.strip()[:1] == "(" and right.strip()[:1] == "(":
        lefts, rights = (_pieces(_COMMA, side.strip()[1:-1]) for side in (left, right))
        if len(lefts) == len(rights) == 2:
            return [_relations(f"{a} = {b}")[0] for a, b in zip(lefts, rights, strict=True)]
    return []


def _bare(text: str) -> bool:
    """Whether it is a name or a number alone, which claims nothing."""
    name, number = r"[A-Za-z]+(_\w+)?( ?\( ?\w+ ?\))?", r"[\d.]+(e-?\d+)?|inf"
    return bool(re.fullmatch(f"{name}|{number}", text.strip()))


def unbracketed(pattern: re.Pattern, text: str) -> list[re.Match]:
    """Where a pattern is found in no bracket."""
    depth = _depths(text)
    return [m for m in pattern.finditer(text) if depth[m.start()] <= 0]


def _depths(text: str) -> list[int]:
    return [*accumulate((sign in "([{") - (sign in ")]}") for sign in text)]


def _pieces(pattern: re.Pattern, text: str) -> list[str]:
    cuts = unbracketed(pattern, text)
    begins, ends = [0, *(m.end() for m in cuts)], [*(m.start() for m in cuts), len(text)]
    return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _relations(text: str) -> list[Claim]:
    """Left and right of the relation, the last of a chain first; what is defined is put in."""
    parts = [p for p in text.split(r"\Rightarrow") if _RELATION.search(spell(p))]
    text = parts[-1] if parts else text
    law = re.search(r"(?<![A-Za-z])N\}?\s*(?:\\left)?\(\s*0\s*,(.+)\)\s*$", text)
    scale = re.search(r"(?<![A-Za-z])Lap(?:lace)?\}?\s*(?:\\left)?\(\s*(?:0\s*,)?(.+)\)\s*$", text)
    if law:
        size = re.sub(r"\bI(_d)?\s*$", "", spell(law[1]))
        return [Claim("sigma", "identity", size, True, "sigma")]
    if scale:
        size = re.sub(r"(?<![A-Za-z])L_?1(?![0-9])", " Delta ", spell(scale[1]))
        return [Claim("scale", "identity", size, left="b")]
    first, *later = _pieces(_CUT, text)
    for place in later:
        defined = _DEFINED.fullmatch(place)
        if defined and defined[1] in _RELATION.sub("=", first).partition("=")[2]:
            square = f"({defined[3]})" if defined[2] else f"({defined[3]})^2"
            root = rf"{{\sqrt{{{defined[3]}}}}}" if defined[2] else f"({defined[3]})"
            letter = re.escape(defined[1])
            first = re.sub(letter + r"\s*(?:\^\s*(?:2|\{2\})|²)", lambda _, x=square: x, first)
            first = re.sub(letter + r"(?![A-Za-z_])", lambda _, x=root: x, first)
    spelled = spell(first)
    signs = unbracketed(_RELATION, spelled)
    if not signs:
        return [Claim("", "identity", spelled)]
    begins, ends = [m.end() for m in signs], [*(m.start() for m in signs[1:]), len(spelled)]
    members = [spelled[a:b].strip() for a, b in zip(begins, ends, strict=True)]
    said, left = [m[0][0] for m in signs], spelled[: signs[0].start()].strip()
    about, name, root = _left_side(left)
    if not about and len(members) == 1 and _bare(members[0]) and _left_side(members[0])[0]:
        about, name, root = _left_side(members[0])
        members, said = [left], [{"<": ">", ">": "<"}.get(said[0], said[0])]
    # What is printed of t scales of the noise, or of an order by another letter.
    if scales := _SCALES.search(left):
        members = [re.sub(r"\bt\b", f"(t/{scales[1] or scales[2]})", m) for m in members]
    elif re.fullmatch(r"epsilon_\w+ ?\( ?tau ?\)", left):
        members = [re.sub(r"\btau\b", "alpha", m) for m in members]
    if not about:
        refuse(f"Expected ε, δ, σ, D_α, K(λ), ρ, μ or b on the left, got {left[:30] or 'nothing'}.")
    claims = []
    for k, member in enumerate(members):
        signs_so_far = {*said[: k + 1]} - {"="}
        sign = signs_so_far.pop() if len(signs_so_far) == 1 else "≈" if signs_so_far else "="
        relation = {"<": "upper", ">": "lower", "=": "identity"}.get(sign, "about")
        if len(members) == 1 or not _bare(member):
            claims.append(Claim(about, relation, member, root, name))
    return claims[::-1] or [Claim(about, "identity", members[-1], root, name)]


def _left_side(text: str) -> tuple[str, str, bool]:
    """What a left side is about, "" if nothing fits; its name; and whether it is a square."""
    square = re.fullmatch(r"(.*?)\s*(?:\^\s*[({]?\s*2\s*[)}]?|²)", text)
    left = square[1] if square else text
    word = re.sub(r"\s*([_()\[\]])\s*", r"\1", re.sub(r"^(max|min) ", "", left))
    word = word[1:-1] if word[:1] == "(" and word[-1:] == ")" else word
    if re.fullmatch(r"b_?[12].*", left):
        refuse("Several scales are one condition, and not one claim.")
    about = next((q for q, form in _QUANTITIES.items() if re.fullmatch(form, word)), "")
    return about, left, bool(square)
