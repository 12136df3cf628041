r"""Parser of formulas as people print them: ``2σ²``, ``√(2 ln 1/δ)``, ``\frac12``, ``np.sqrt``.

One grammar reads the book's expressions and printed formulas, LaTeX included; only names are
read differently. Input never reaches Python's `eval`.
"""

import re
import string
from typing import NoReturn

from dplearn.teaching.book.kit import expression
from dplearn.teaching.book.kit.expression import FUNCTIONS, TIGHT, Expression, Step

_LONGEST, _DEEPEST = 2000, 60
_SQUARED = re.compile(r"\s*(?:\^\s*\{?([23])\}?|([²³]))")
_SUBJECT = re.compile(r"\s*(?:[_^]\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\\?\w)))")
_REFUSED = {
    r"\\(?:prod|int)(?![a-z])|[∫∏]": "a product over a list or an integral is not read",
    r"\\[lc]?dots|…|\.\.\.": "a list with dots is not read",
    r"\\begin\s*\{": "a case by case definition is not read",
    r"(?:\\mathbb\s*\{?\s*|(?<![A-Za-z]))E\}?\s*_?[\[{]|𝔼": "an expectation is not read",
    r"(?<![A-Za-z\\{])[oO]\}?\s*(?:\\left)?\(|\\Omega|\\Theta": "an order of magnitude has no "
    "constant to check",
}  # fmt: skip
# Precedence of an implied product, above division and below powers: 1/2σ² is 1/(2σ²).
_JUXTAPOSED = 7.5
_PARTNER = {")": "(", "]": "[", "}": "{"}
DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵢⱼ", "01234567890123456789-ij")
_COMMANDS = {  # LaTeX commands and words, with Greek letters spelled as in `GREEK`
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
# Tokens of code and of printed formulas. Printed names are single letters with decorations, so
# that a product needs no sign.
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


def parse(text: str, *, printed: bool = False) -> Expression:
    r"""Parse an expression of the book or, if `printed`, a formula as people print it.

    At most 2,000 characters. Operators ``+ - * / **`` (or ``^``), comparisons (also chained),
    ``and``, ``or``, ``not``; functions abs, binom, ceil, cosh, erf, erfc, exp, expm1, floor, log
    (or ln), log10, log1p, log2, max, min, Phi, probit, sinh, sqrt, sum, tanh; constants e, inf, pi.
    Every other name is a variable. Products without a sign bind more tightly than quotients,
    but a/(b) c is (a/b) c. The ValueError for anything else names the position and what was
    expected there.

    In `printed` formulas names are single letters with decorations (``\tilde\varepsilon_0'`` is
    epsilon_0_prime_tilde), and ``\sum_i`` sums a list.

    Examples
    --------
    >>> classical = parse("sqrt(2*ln(1.25/delta))/epsilon")
    >>> sorted(classical.names)
    ['delta', 'epsilon']
    >>> round(float(classical(epsilon=1.0, delta=1e-5)), 4)
    4.8448
    >>> classical.latex
    '\\frac{\\sqrt{2\\,\\ln\\left(\\frac{1.25}{\\delta}\\right)}}{\\varepsilon}'
    >>> parse("√(2 ln 1.25/δ)/ε", printed=True).program == classical.program
    True
    >>> sorted(parse(r"k\varepsilon_0' + \sum_i\delta_i", printed=True).names)
    ['delta_i', 'epsilon_0_prime', 'k']
    """
    if len(text) > _LONGEST:
        raise ValueError(f"Expected at most {_LONGEST} characters, got {len(text)}.")
    opened: list[str] = []
    for place, sign in enumerate(text):
        if sign in "([{":
            opened.append(sign)
        elif sign in _PARTNER and (not opened or opened.pop() != _PARTNER[sign]):
            raise ValueError(f"Expected what {sign} closes before position {place + 1}, got none.")
    for pattern, why in _REFUSED.items():
        if re.search(pattern, text):
            raise ValueError(f"Expected a closed form: {why}.")
    parser = _Parser(text, printed)
    parser.expression(0, 0)
    if parser.kind != "end":
        parser.fail("an operator or the end")
    return Expression(text, tuple(parser.program))


class _Parser:
    """Precedence-climbing parser with one token of lookahead; `program` is its postfix result."""

    def __init__(self, text: str, printed: bool) -> None:
        self.program: list[Step] = []
        self.bars: list[str] = []
        self.text, self.next, self.printed = text, 0, printed
        self.token_of = _PRINTED if printed else _CODE
        self.advance()

    def advance(self) -> None:
        """Advance to the next token."""
        match = self.token_of.match(self.text, self.next)
        if not match:
            # Strip only ASCII blanks: other blanks are unexpected characters.
            ahead = self.text[self.next :].lstrip(string.whitespace)
            self.start = len(self.text) - len(ahead)
            self.kind, self.next = "odd", self.start + 1
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
        """Set the token to `word`; return whether `word` is an operator, constant or function."""
        self.token = word
        if word in _SIGNS:
            self.kind = "symbol"
        return self.kind == "symbol" or word in _CALLED

    def name_of_print(self) -> None:
        """Read a printed name: a letter with decorations, a function, or a LaTeX operator."""
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
        if not (known or word in _CALLED or word in expression.GREEK.values()):
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
        """Read the subscripts, primes and arguments that follow the letter `name`."""
        while mark := DECORATION.match(self.text, self.next):
            after_frac = self.text[: self.start].endswith("frac")
            if mark[4] and mark[4].isascii() and (self.raw[0] == "\\" or after_frac):
                break  # not a subscript: a factor after a command, or a denominator
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
        raise ValueError(f"Expected {expected} at position {self.start + 1}, got {got}.")

    def expression(self, least: float, depth: int) -> None:
        """Read an expression whose operators have a precedence of at least `least`."""
        self.operand(least, depth)
        while True:
            tight = 0 if self.kind == "raised" else expression.INFIX.get(self.token, 0)
            # Test whether a factor follows without a multiplication sign, as x does in 2x.
            opens = self.token in ("(", "⌊", "⌈") or (self.token in "|‖" and not self.bars)
            factor = opens if self.kind == "symbol" else self.token not in TIGHT
            factor &= self.kind in ("symbol", "name", "number")
            if self.kind == "name" and self.token == "over":
                return
            if self.kind == "raised" and least <= TIGHT["**"]:
                self.program += [Step(float(self.token)), Step("**", 2)]
                self.advance()
            elif tight and tight == TIGHT["<"] and tight >= least:
                self.comparison(depth)
            elif tight and tight >= least:
                symbol = self.token
                self.advance()
                if symbol == "**":
                    self.power(depth + 1)
                else:
                    closed = symbol == "/" and self.token == "("
                    self.expression(TIGHT["**"] if closed else tight + 1, depth + 1)
                self.program.append(Step("max" if symbol == "or" else symbol, 2))
            elif factor and not tight and least <= _JUXTAPOSED:
                self.expression(_JUXTAPOSED + 0.1, depth + 1)
                self.program.append(Step("*", 2))
            else:
                return

    def power(self, depth: int) -> None:
        """Read an exponent: minus signs, then a group or one token; ``2^kx`` is ``2^k x``."""
        signs = 0
        while self.accept("-"):
            signs += 1
        self.expression(TIGHT["**"], depth)
        self.program += signs * [Step("minus", 1)]

    def accept(self, symbol: str) -> bool:
        """Advance if `symbol` is the current token, and return whether it is."""
        good = self.token == symbol and self.kind == "symbol"
        if good:
            self.advance()
        return good

    def comparison(self, depth: int) -> None:
        """Read a chain of comparisons: a < b <= c is one step with three inputs."""
        chain: list[str] = []
        while self.token in expression.COMPARE:
            chain.append(self.token)
            self.advance()
            self.expression(TIGHT["<"] + 1, depth + 1)
        self.program.append(Step(" ".join(chain), len(chain) + 1))

    def operand(self, least: float, depth: int) -> None:
        """Read a number, a name, a call, a bracket, or a prefix with its operand."""
        if depth > _DEEPEST:
            self.fail(f"at most {_DEEPEST} levels of nesting")
        token, kind = self.token, self.kind
        prefix = "minus" if token == "-" else token
        if prefix in expression.PREFIX and (kind == "symbol" or least <= TIGHT[prefix]):
            self.advance()
            self.expression(TIGHT[prefix], depth + 1)
            self.program.append(Step(prefix, 1))
        elif self.accept("("):
            self.expression(0, depth + 1)
            if self.kind == "name" and self.token == "over":
                self.advance()
                self.expression(0, depth + 1)
                self.program.append(Step("/", 2))
            if not self.accept(")"):
                self.fail("an operator or )")
        elif kind == "symbol" and token in CLOSED:
            self.enclosed(token, depth)
        elif kind == "number":
            self.program.append(Step(float(token)))
            self.advance()
        elif kind != "name" or token in TIGHT:
            self.fail("a number, a name or (")
        elif token == "frac":
            self.fraction(depth)
        elif token == "sum":
            self.over_a_list("sum", depth)
        elif token in FUNCTIONS:
            self.call(token, depth)
        else:
            self.advance()
            self.program.append(Step(expression.CONSTANTS.get(token, token)))

    def enclosed(self, bar: str, depth: int) -> None:
        """Read |x|, ⌊x⌋, ⌈x⌉ or a norm; a norm such as ‖x - y‖ becomes the sensitivity Delta."""
        partner = {"⌊": "⌋", "⌈": "⌉"}.get(bar, bar)
        self.bars.append(bar)
        self.advance()
        begin = len(self.program)
        self.expression(0, depth + 1)
        self.bars.pop()
        if self.token != partner:
            self.fail(f"an operator or {partner}")
        if bar == "‖":  # skip the index of a norm, as in ‖x‖_2
            index = DECORATION.match(self.text, self.next)
            self.next = index.end() if index and index[2] else self.next
        self.advance()
        inside = self.program[begin:]
        if bar == "‖" and [s.inputs for s in inside] == [0, 0, 2] and inside[2].what == "-":
            self.program[begin:] = [Step("Delta")]
        else:
            self.program.append(Step(CLOSED[bar], 1))

    def fraction(self, depth: int) -> None:
        r"""Read ``\frac{a}{b}``, ``\frac12`` and ``\frac1\delta``."""
        digits = re.compile(r"\s*(\d)\s*(\d?)").match(self.text, self.next)
        if digits:
            self.program.append(Step(float(digits[1])))
            self.next = digits.end(1)
        self.advance()
        if not digits:
            self.operand(expression.ATOM, depth + 1)
        if self.kind == "number" and len(self.raw) > 1:  # only the first digit is the denominator
            self.next = self.start + 1
            self.token = self.raw[0]
        self.operand(expression.ATOM, depth + 1)
        self.program.append(Step("/", 2))

    def over_a_list(self, function: str, depth: int) -> None:
        r"""Read ``\sum_{i=1}^k x_i`` or ``\max_i x_i``, reductions of a list's last axis."""
        while subject := _SUBJECT.match(self.text, self.next):
            self.next = subject.end()
        self.advance()
        self.expression(TIGHT["*"], depth + 1)
        self.program.append(Step(function, 1))

    def call(self, name: str, depth: int) -> None:
        """Read a call: ``ln(x)``, ``ln 1/x`` as ln(1/x), ``ln 2x`` as ln(2x), ``√xy`` as √(x) y."""
        subject = _SUBJECT.match(self.text, self.next) if name in ("min", "max") else None
        if subject:
            if re.match(r"\s*\\?[ijtm]\b", subject[1] or subject[2] or ""):
                self.over_a_list("largest" if name == "max" else "min", depth)
                return
            self.fail("a closed form: an optimum over a set is not read")
        power = name not in ("sqrt", "min", "max") and _SQUARED.match(self.text, self.next)
        if power:
            self.next = power.end()
        ahead = self.token_of.match(self.text, self.next)
        self.advance()
        if ahead and ahead["symbol"] in ("(", "{", "[", r"\{"):
            self.arguments(name, depth)
        elif self.kind in ("symbol", "end", "raised") or name in ("min", "max", "binom"):
            self.fail(f"( after {name}")
        else:
            if name == "sqrt":
                self.operand(expression.ATOM, depth + 1)
            else:
                number = self.kind == "number"
                self.expression(_JUXTAPOSED, depth + 1)
                if number and self.accept("/"):
                    self.expression(_JUXTAPOSED, depth + 1)
                    self.program.append(Step("/", 2))
            self.program.append(Step(name, 1))
        if power:
            digit = power[1] or power[2].translate(DIGITS)
            self.program += [Step(float(digit)), Step("**", 2)]

    def arguments(self, name: str, depth: int) -> None:
        """Read the bracketed arguments of the function `name`."""
        self.accept("(")
        inputs, most = 1, {"binom": 2, "min": _LONGEST, "max": _LONGEST}.get(name, 1)
        self.expression(0, depth + 1)
        # A binomial may have its arguments in two groups: binom(n)(k), \binom{n}{k}.
        between = lambda: name == "binom" and self.accept(")") and self.accept("(")
        while inputs < most and (self.accept(",") or between()):
            self.expression(0, depth + 1)
            inputs += 1
        if most > 1 and inputs == 1:
            self.fail(f"a second argument of {name}")
        if not self.accept(")"):
            self.fail("an operator, a comma or )" if inputs < most else "an operator or )")
        self.program.append(Step(name, inputs))
