"""Tokens of formulas in code and in print, where letters have decorations."""

import re
import string
from typing import NoReturn

from dplearn.teaching.book.kit import expression
from dplearn.teaching.book.kit.expression import FUNCTIONS

DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵢⱼ", "01234567890123456789-ij")
# Meanings of LaTeX commands and of words, with Greek letters spelled as in `GREEK`.
_COMMANDS = {
    "varepsilon": "epsilon", "eps": "epsilon", "infty": "inf", "cdot": "*", "times": "*",
    "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ne": "!=", "dfrac": "frac", "tfrac": "frac",
    "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "Vert": "‖", "vert": "|", "vee": "or",
    "wedge": "and", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "div": "/",
    "Σ": "sum", "∑": "sum", "Δ": "Delta", "ϕ": "phi", "sensitivity": "Delta", "ratio": "q",
    "steps": "T", "rounds": "T", "sup": "min",
} | expression.GREEK  # fmt: skip
_TEXT = r"\\(?:mathrm|operatorname\*?|text\w*|mathit|mathsf|mathbf|mbox)\s*"
_SKIP = (
    r"(?:[\s\u00a0\u202f]|\$|~|&|\\[,;:!> ]|\\(?:left|right|[bB]igg?[lrm]?|q?quad|displaystyle"
    r"|textstyle|limits|nonumber|mathcal|rm)(?![A-Za-z])|\b(?:np|numpy|math)\.)*"
)
_NUMBER = r"(?P<number>(?:\d+(?:\{,\}\d+|\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
_END = (
    r"|(?P<raised>⁻?[⁰¹²³⁴-⁹]+)"
    r"|(?P<symbol>\*\*|[<>=!]=|\\[{}|]|[-+*/^(),<>·×⋅−–≤≥≠{}\[\]⌊⌋⌈⌉|‖∨])|(?P<end>\Z))"
)
# Names in code, and in printed formulas, where decorations follow a letter and products have no
# sign.
_CODE = re.compile(rf"{_SKIP}(?:{_NUMBER}|(?P<name>[A-Za-z]\w*){_END}", re.ASCII)
_PRINTED = re.compile(
    rf"{_SKIP}(?:{_NUMBER}|(?P<name>{_TEXT}\{{[-\w\s]*\}}|\\[A-Za-z]+|log(?:1p|2|10)|expm1"
    rf"|[A-Za-z]+|[α-ωϵϕΔΣ∑πΦ∞√]){_END}"
)
DECORATION = re.compile(
    r"\s*(?:_\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|\\?([A-Za-z]+|\d+|[α-ω]))|()(?:['′]+"
    r"|\^\s*(?:\{\s*\\?(?:prime|star|ast|\*|\([^()]*\))\s*\}|\\(?:prime|star|ast)(?![a-z])|\*|['′]))"
    r"|([₀-₉ᵢⱼ]+|(?<=[A-Za-zα-ωϵ])\d+))"
)
_INVERSE = re.compile(r"\s*(?:\^\s*(?:\{\s*-\s*1\s*\}|\(-1\))|⁻¹)")
_BASE = re.compile(r"\s*_\s*(?:\{\s*(10|2)\s*\}|(10|2))|₂")
_OF_ORDER = re.compile(r"\s*\(\s*\\?(alpha|lambda|tau|l|a|α|λ|τ)\s*(?:;[^()]*)?\)")
_LAWS = re.compile(r"\s*(?:\\left|\\[bB]igg?l?)?\((?:[^()]|\([^()]*\))*\)")
_OF_QUERY = re.compile(r"\s*(?:\(\s*[fqgu]\s*\)|[fqgu](?![A-Za-z_({]))")
_HATS = {wide + hat: hat for hat in ("hat", "tilde", "bar") for wide in ("", "wide")}
_HATS |= {"overline": "bar"}
_SAME = {"^": "**", "·": "*", "×": "*", "⋅": "*", "−": "-", "–": "-", "≤": "<=", "≥": ">="}
_SAME |= {"≠": "!=", "ln": "log", "π": "pi", "Φ": "Phi", "∞": "inf", "√": "sqrt", "∨": "or"}
_SAME |= {"{": "(", "[": "(", "}": ")", "]": ")", r"\{": "(", r"\}": ")", r"\|": "‖"}
CLOSED = {"|": "abs", "‖": "abs", "⌊": "floor", "⌈": "ceil"}
_CALLED = {*FUNCTIONS, *expression.CONSTANTS, "frac", "over"}
_SIGNS = {*expression.BINARY, *expression.COMPARE, *CLOSED, "not", "⌋", "⌉", ""}


class Tokens:
    """Text of a formula, with its current token."""

    def __init__(self, text: str, printed: bool) -> None:
        self.text, self.next, self.printed = text, 0, printed
        self.token_of = _PRINTED if printed else _CODE
        self.advance()

    def advance(self) -> None:
        """Make the next token the current one."""
        match = self.token_of.match(self.text, self.next)
        if not match:
            # Strip only ASCII blanks: other blanks are unexpected characters.
            ahead = self.text[self.next :].lstrip(string.whitespace)
            self.start = len(self.text) - len(ahead)
            self.kind, self.token = "odd", self.text[self.start]
            self.fail("a number, a name or an operator")
        self.kind, self.raw = str(match.lastgroup), match[match.lastgroup or 0]
        self.start, self.next = match.start(self.kind), match.end()
        self.token = _SAME.get(self.raw, self.raw)
        if self.kind == "name":
            self.name_of_print() if self.printed else self.word(self.token)
        elif self.kind == "raised":
            self.token = self.raw.translate(DIGITS)
        elif self.kind == "number":
            self.token = self.raw.replace("{,}", ".")

    def word(self, word: str) -> bool:
        """Set the token; return whether it is an operator, a constant or a function."""
        self.token = word
        if word in _SIGNS:
            self.kind = "symbol"
        return self.kind == "symbol" or word in _CALLED

    def name_of_print(self) -> None:
        """Set the token to a decorated letter, a function, or an operator of LaTeX."""
        raw = self.raw
        if text := re.fullmatch(_TEXT + r"\{([-\w\s]*)\}", raw):
            raw = text[1].strip(" -")
        word = raw.removeprefix("\\")
        if hat := _HATS.get(word):
            self.next += len(re.match(r"\s*\{?", self.text[self.next :])[0])  # type: ignore[index]
            braced = self.text[self.next - 1] == "{"
            self.advance()
            self.next += bool(braced and self.text[self.next : self.next + 1] == "}")
            self.decorate(f"{self.token}_{hat}")
            return
        known = word in _COMMANDS or len(word) == 1 or raw != self.raw or raw[0] == "\\"
        word = _COMMANDS.get(word, word)
        word = _SAME.get(word, word)
        if not (
            known
            or word in _CALLED
            or word in expression.CONSTANTS
            or word in expression.GREEK.values()
        ):
            known = word.isupper() or word in ("Delta", "and", "or", "not")
            begun = [f for f in (*FUNCTIONS, "ln") if word.startswith(f)]
            word = word if known else max(begun, key=len, default=word[0])
            self.next = self.start + len(word) if not known else self.next
            word = _SAME.get(word, word)
        if not self.word(word):
            self.decorate(word)
        elif word == "inf" and self.raw.startswith(("\\inf", "inf")) and "infty" not in self.raw:
            self.token = "min"
        elif word == "log" and (base := _BASE.match(self.text, self.next)):
            self.token, self.next = f"log{base[1] or base[2] or 2}", base.end()
        elif word in ("Phi", "erf") and (power := _INVERSE.match(self.text, self.next)):
            self.token, self.next = {"Phi": "probit", "erf": "erfinv"}[word], power.end()

    def decorate(self, name: str) -> None:
        """Read the subscripts, primes and arguments that belong to the name."""
        while mark := DECORATION.match(self.text, self.next):
            after_frac = self.text[: self.start].endswith("frac")
            if mark[4] and mark[4].isascii() and (self.raw[0] == "\\" or after_frac):
                break  # a factor after a command, or the denominator
            below = mark[1] or mark[2] or (mark[4] or "").translate(DIGITS)
            below = "".join(expression.GREEK.get(sign, sign) for sign in below)
            below = re.sub(r"\\(?:text\w*|mathrm|mathcal|rm)|[^A-Za-z0-9]", "", below)
            name, self.next = f"{name}_{below or 'prime'}", mark.end()
        base, _, below = name.partition("_")
        of_query = base in ("S", "GS") and below in ("f", "u", "q", "1", "2", "fprime")
        if base == "Delta" or of_query:
            name = "Delta"
            if query := _OF_QUERY.match(self.text, self.next):
                self.next = query.end()
        elif base in ("D", "R") and below.startswith(("alpha", "lambda", "a", "prime")):
            laws = _LAWS.match(self.text, self.next)
            name, self.next = "D", laws.end() if laws else self.next
        elif order := _OF_ORDER.match(self.text, self.next):
            kind = base in ("K", "alpha", "mu") and order[1] in ("lambda", "l", "λ", "alpha", "α")
            if kind or base in ("epsilon", "rho", "gamma", "tau"):
                name, self.next = "K" if kind else "D", order.end()
        self.token = name

    def fail(self, expected: str) -> NoReturn:
        got = "the end" if self.kind == "end" else repr(self.text[self.start : self.next][:30])
        got = repr(self.token) if self.kind == "odd" else got
        raise ValueError(f"Expected {expected} at position {self.start + 1}, got {got}.")
