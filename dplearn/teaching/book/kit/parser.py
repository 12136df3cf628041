r"""Formulas as people write them: ``2σ²``, ``√(2 ln 1/δ)``, ``\frac{1}{2}``, ``np.sqrt``.

The grammar is our own: nothing that is typed reaches Python's evaluator.
"""

import re
import string
from collections.abc import Collection
from difflib import get_close_matches
from typing import NoReturn

from dplearn.teaching.book.kit.expression import (
    ATOM,
    BINARY,
    COMPARE,
    CONSTANTS,
    FUNCTIONS,
    GREEK,
    INFIX,
    PREFIX,
    TIGHT,
    Expression,
    Step,
)

_LONGEST, _DEEPEST = 2000, 60
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "01234567890123456789-")
_LETTERS = "".join(GREEK) + "Δ"
# What a command of LaTeX stands for; Greek letters and functions are spelled as here.
_COMMANDS = {
    "varepsilon": "epsilon", "infty": "inf", "cdot": "*", "times": "*", "le": "<=", "leq": "<=",
    "ge": ">=", "geq": ">=", "ne": "!=", "dfrac": "frac", "tfrac": "frac", "lvert": "(",
}  # fmt: skip
_WORD = r"[A-Za-z][A-Za-z0-9_]*"
_BELOW = r"(?:_\{?[0-9]+\}?|[₀-₉0-9]+)?"
_TOKEN = re.compile(
    r"(?:[\s\u00a0\u202f]|\$|~|\\[,;:!> ]|\\(?:left|right|quad|qquad|displaystyle)(?![A-Za-z])"
    r"|\b(?:np|numpy|math)\.)*"
    r"(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<name>(?:\\(?:mathrm|operatorname|text)\{{\w+\}}|\\[A-Za-z]+(?:_\{{?[0-9]+\}}?)?|{_WORD}[₀-₉]*"
    rf"|[{_LETTERS}]{_BELOW}|[πΦ∞√])['′]*)"
    r"|(?P<raised>⁻?[⁰¹²³⁴-⁹]+)"
    r"|(?P<symbol>\*\*|[<>=!]=|[-+*/^(),<>·×⋅−–≤≥≠{}\[\]])|(?P<end>\Z))",
    re.ASCII,
)
_SAME = {"^": "**", "·": "*", "×": "*", "⋅": "*", "−": "-", "–": "-", "≤": "<=", "≥": ">="}
_SAME |= {"≠": "!=", "ln": "log", "π": "pi", "Φ": "Phi", "∞": "inf", "√": "sqrt"}
_SAME |= {"{": "(", "[": "(", "}": ")", "]": ")"}
# Between a quotient and a power: 1/2σ² is 1/(2σ²).
_JUXTAPOSED = 7.5
_PARTNER = {")": "(", "]": "[", "}": "{"}


def parse(text: str, names: Collection[str] = ()) -> Expression:
    r"""The formula that `text` spells; letters that run together become `names`.

    At most 2,000 characters. Operators ``+ - * / **`` (or ``^``), comparisons (also chained),
    ``and``, ``or``, ``not``; functions abs, binom, ceil, cosh, erf, erfc, exp, expm1, floor, log
    (or ln), log10, log1p, log2, max, min, Phi, probit, sinh, sqrt, tanh; constants e, inf, pi.
    Every other name is a variable. Products may lack a sign, and then bind more tightly than a
    quotient; ``√``, ``²``, subscripts, primes, ``ln 1/δ`` without brackets, ``np.``, and the
    formulas of LaTeX are read. The ValueError for anything else names the place and what was
    expected there, or the nearest name.

    Examples
    --------
    >>> classical = parse("sqrt(2*ln(1.25/δ))/ε")
    >>> sorted(classical.names)
    ['delta', 'epsilon']
    >>> round(float(classical(epsilon=1.0, delta=1e-5)), 4)
    4.8448
    >>> classical.latex
    '\\frac{\\sqrt{2\\,\\ln\\left(\\frac{1.25}{\\delta}\\right)}}{\\varepsilon}'
    >>> parse(r"\sqrt{2\ln(1.25/\delta)}/\varepsilon").program == classical.program
    True
    >>> float(parse("α / 2σ²")(alpha=4.0, sigma=2.0))
    0.5
    """
    if len(text) > _LONGEST:
        raise ValueError(f"Expected at most {_LONGEST} characters, got {len(text)}.")
    opened: list[str] = []
    for place, sign in enumerate(text):
        if sign in "([{":
            opened.append(sign)
        elif sign in _PARTNER and (not opened or opened.pop() != _PARTNER[sign]):
            raise ValueError(f"Expected what {sign} closes before position {place + 1}, got none.")
    parser = _Parser(text, names)
    parser.expression(0, 0)
    if parser.kind != "end":
        parser.fail("an operator or the end")
    if both := sorted(parser.primed & parser.plain):
        raise ValueError(f"Expected {both[0]} with a prime or without, got both in one formula.")
    return Expression(text, tuple(parser.program))


def nearest(name: str, among: Collection[str]) -> str:
    """Words that suggest the known name most like one that is not known; "" if none is like it."""
    lower = {other.lower(): other for other in among}
    close = get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return f"; did you mean {lower[close[0]]}" if close else ""


class _Parser:
    """Reads one token ahead and writes the program; operators by how tightly they bind."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.known, self.primed, self.plain = frozenset(names), set[str](), set[str]()
        self.text, self.next = text, 0
        self.program: list[Step] = []
        self.advance()

    def advance(self) -> None:
        """Make the next token the current one."""
        match = _TOKEN.match(self.text, self.next)
        if not match:
            # Blanks of the pattern only: others that Python strips are odd themselves.
            ahead = self.text[self.next :].lstrip(string.whitespace)
            self.start = len(self.text) - len(ahead)
            self.kind, self.token = "odd", self.text[self.start]
            self.fail("a number, a name or an operator")
        self.kind, self.raw = str(match.lastgroup), match[match.lastgroup or 0]
        self.start, self.next = match.start(self.kind), match.end()
        self.token = _SAME.get(self.raw, self.raw)
        if self.kind == "name":
            self.spell()
        elif self.kind == "raised":
            self.token = self.raw.translate(_DIGITS)

    def spell(self) -> None:
        """Spell a name in one way; letters that run together are several names."""
        bare = re.sub(r"\\(?:mathrm|operatorname|text)\{(\w+)\}", r"\1", self.raw.rstrip("'′"))
        bare = re.sub(r"_\{(\d+)\}", r"_\1", bare.translate(_DIGITS).removeprefix("\\"))
        word, below = re.fullmatch(r"(.+?)((?:_?\d+)?)", bare).groups()  # type: ignore[union-attr]
        word = GREEK.get(word, {"Δ": "Delta"}.get(word, _COMMANDS.get(word, word)))
        name = _SAME.get(word, word) + below
        if name in BINARY | COMPARE:
            self.kind = "symbol"
        elif not self.is_known(name) and name == self.raw and all(map(self.is_known, name)):
            name, self.next = name[0], self.start + 1
        self.token = name
        if self.kind == "name":
            (self.primed if self.raw[-1] in "'′" else self.plain).add(name)

    def is_known(self, name: str) -> bool:
        return name in self.known or name in FUNCTIONS or name in CONSTANTS

    def expression(self, least: float, depth: int) -> None:
        """Read what operators hold together that bind at least as tightly as `least`."""
        self.operand(least, depth)
        while True:
            tight = 0 if self.kind == "raised" else INFIX.get(self.token, 0)
            # What may stand here without a sign; two numbers may not.
            factor = self.token == "(" if self.kind == "symbol" else self.token not in TIGHT
            factor &= self.kind in ("symbol", "name")
            if self.kind == "raised" and least <= TIGHT["**"]:
                self.program += [Step(float(self.token)), Step("**", 2)]
                self.advance()
            elif tight and tight == TIGHT["<"] and tight >= least:
                self.comparison(depth)
            elif tight and tight >= least:
                symbol = self.token
                self.advance()
                self.expression(tight if symbol == "**" else tight + 1, depth + 1)
                self.program.append(Step(symbol, 2))
            elif factor and not tight and least <= _JUXTAPOSED:
                self.expression(_JUXTAPOSED + 0.1, depth + 1)
                self.program.append(Step("*", 2))
            else:
                return

    def accept(self, symbol: str) -> bool:
        """Go past `symbol` if it is the current token."""
        good = self.token == symbol and self.kind == "symbol"
        if good:
            self.advance()
        return good

    def close(self, expected: str) -> None:
        if not self.accept(")"):
            self.fail(expected)

    def comparison(self, depth: int) -> None:
        """A chain: a < b <= c is one step with three inputs."""
        chain: list[str] = []
        while self.token in COMPARE:
            chain.append(self.token)
            self.advance()
            self.expression(TIGHT["<"] + 1, depth + 1)
        self.program.append(Step(" ".join(chain), len(chain) + 1))

    def operand(self, least: float, depth: int) -> None:
        """A number, a name, a call, a bracket, or a prefix and what it binds."""
        if depth > _DEEPEST:
            self.fail(f"at most {_DEEPEST} levels of nesting")
        token, kind = self.token, self.kind
        prefix = "minus" if token == "-" else token
        if prefix in PREFIX and (kind == "symbol" or least <= TIGHT[prefix]):
            self.advance()
            self.expression(TIGHT[prefix], depth + 1)
            self.program.append(Step(prefix, 1))
        elif self.accept("("):
            self.expression(0, depth + 1)
            self.close("an operator or )")
        elif kind == "number":
            self.program.append(Step(float(token)))
            self.advance()
        elif kind == "name" and token not in TIGHT:
            self.name(token, depth)
        else:
            self.fail("a number, a name or (")

    def name(self, name: str, depth: int) -> None:
        """A constant, a variable, a quotient of LaTeX, or a call with brackets or without."""
        start = self.start
        if name == "frac":
            self.advance()
            for _ in range(2):
                if not self.accept("("):
                    self.fail("{ after \\frac")
                self.expression(0, depth + 1)
                self.close("an operator or }")
            self.program.append(Step("/", 2))
        elif name in FUNCTIONS:
            self.call(name, depth)
        else:
            self.advance()
            single = len(name) == 1 or name in self.known or name in GREEK.values()
            single |= name in CONSTANTS or name == "Delta"
            if self.kind == "symbol" and self.token == "(" and not single:
                near = nearest(name, ["ln", *FUNCTIONS])
                where = f"at position {start + 1}, got {name[:30]!r}{near}"
                raise ValueError(f"Expected a function or the name of a parameter {where}.")
            self.program.append(Step(CONSTANTS.get(name, name)))

    def call(self, name: str, depth: int) -> None:
        """``ln(x)`` as it is, ``ln 1/x`` and ``ln 2x`` as if bracketed, ``√x`` of one factor."""
        is_root, ahead = self.raw == "√", _TOKEN.match(self.text, self.next)
        self.advance()
        if ahead and (ahead["symbol"] or "") in ("(", "{"):
            self.arguments(name, depth)
            return
        if self.kind in ("symbol", "end", "raised") or name in ("min", "max", "binom"):
            self.fail(f"( after {name}")
        if is_root:
            self.operand(ATOM, depth + 1)
        else:
            number = self.kind == "number"
            self.expression(_JUXTAPOSED, depth + 1)
            if number and self.accept("/"):
                self.expression(_JUXTAPOSED, depth + 1)
                self.program.append(Step("/", 2))
        self.program.append(Step(name, 1))

    def arguments(self, name: str, depth: int) -> None:
        """As many as the function takes, in brackets."""
        self.accept("(")
        inputs, most = 1, {"binom": 2, "min": _LONGEST, "max": _LONGEST}.get(name, 1)
        self.expression(0, depth + 1)
        while inputs < most and self.accept(","):
            self.expression(0, depth + 1)
            inputs += 1
        if most > 1 and inputs == 1:
            self.fail(f"a second argument of {name}")
        self.close("an operator, a comma or )" if inputs < most else "an operator or )")
        self.program.append(Step(name, inputs))

    def fail(self, expected: str) -> NoReturn:
        got = "the end" if self.kind == "end" else repr(self.text[self.start : self.next][:30])
        got = repr(self.token) if self.kind == "odd" else got
        raise ValueError(f"Expected {expected} at position {self.start + 1}, got {got}.")
