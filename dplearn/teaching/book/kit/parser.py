r"""Formulas as people print them: ``2σ²``, ``√(2 ln 1/δ)``, ``\frac12``, ``np.sqrt``, ``\sum_i``.

One grammar reads the book's expressions and printed formulas, LaTeX included; they differ only in
their names. Input never reaches Python's `eval`.
"""

import re

from dplearn.teaching.book.kit import expression
from dplearn.teaching.book.kit.expression import FUNCTIONS, TIGHT, Expression, Step
from dplearn.teaching.book.kit.tokens import CLOSED, DECORATION, DIGITS, Tokens

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
# Precedence between quotient and power: 1/2σ² is 1/(2σ²).
_JUXTAPOSED = 7.5
_PARTNER = {")": "(", "]": "[", "}": "{"}


def parse(text: str, *, printed: bool = False) -> Expression:
    r"""Return the formula in `text`: an expression of the book, or a `printed` formula.

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


class _Parser(Tokens):
    """Precedence-climbing parser with one token of lookahead, which writes the program."""

    def __init__(self, text: str, printed: bool) -> None:
        self.program: list[Step] = []
        self.bars: list[str] = []
        super().__init__(text, printed)

    def expression(self, least: float, depth: int) -> None:
        """Read an expression of operators with a precedence of at least `least`."""
        self.operand(least, depth)
        while True:
            tight = 0 if self.kind == "raised" else expression.INFIX.get(self.token, 0)
            # A factor without a multiplication sign; two numbers need one.
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
        """Read an exponent: a sign, then a group or one token; e^εx is e^ε x."""
        if self.accept("-"):
            self.power(depth)
            self.program.append(Step("minus", 1))
            return
        self.operand(expression.ATOM, depth)
        if self.kind == "raised":
            self.program += [Step(float(self.token)), Step("**", 2)]
            self.advance()
        elif self.accept("**"):
            self.power(depth + 1)
            self.program.append(Step("**", 2))

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
        elif kind == "name" and token not in TIGHT:
            self.name(token, depth)
        else:
            self.fail("a number, a name or (")

    def enclosed(self, bar: str, depth: int) -> None:
        """Read an absolute value or norm; the norm of a difference of two names is Delta."""
        partner = {"⌊": "⌋", "⌈": "⌉"}.get(bar, bar)
        self.bars.append(bar)
        self.advance()
        begin = len(self.program)
        self.expression(0, depth + 1)
        self.bars.pop()
        if self.token != partner:
            self.fail(f"an operator or {partner}")
        if bar == "‖":  # skip the norm's index
            index = DECORATION.match(self.text, self.next)
            self.next = index.end() if index and index[2] else self.next
        self.advance()
        inside = self.program[begin:]
        if bar == "‖" and [s.inputs for s in inside] == [0, 0, 2] and inside[2].what == "-":
            self.program[begin:] = [Step("Delta")]
        else:
            self.program.append(Step(CLOSED[bar], 1))

    def name(self, name: str, depth: int) -> None:
        """Read a constant, a variable, a LaTeX fraction, or a call with or without brackets."""
        if name == "frac":
            self.fraction(depth)
        elif name == "sum":
            self.over_a_list("sum", depth)
        elif name in FUNCTIONS:
            self.call(name, depth)
        else:
            self.advance()
            self.program.append(Step(expression.CONSTANTS.get(name, name)))

    def fraction(self, depth: int) -> None:
        r"""Read ``\frac{a}{b}``, ``\frac12`` and ``\frac1\delta``."""
        digits = re.compile(r"\s*(\d)\s*(\d?)").match(self.text, self.next)
        if digits:
            self.program.append(Step(float(digits[1])))
            self.next = digits.end(1)
        self.advance()
        if not digits:
            self.operand(expression.ATOM, depth + 1)
        if self.kind == "number" and len(self.raw) > 1:  # the first digit is the denominator
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
        """Read ``ln(x)``, ``ln 1/x`` as ln(1/x), ``ln 2x`` as ln(2x), and ``√x`` of one factor."""
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
        """Read the function's arguments in brackets."""
        self.accept("(")
        inputs, most = 1, {"binom": 2, "min": _LONGEST, "max": _LONGEST}.get(name, 1)
        self.expression(0, depth + 1)
        if name == "binom" and self.accept(")"):
            self.accept("(")
            self.expression(0, depth + 1)
            inputs = 2
        while inputs < most and self.accept(","):
            self.expression(0, depth + 1)
            inputs += 1
        if most > 1 and inputs == 1:
            self.fail(f"a second argument of {name}")
        if not self.accept(")"):
            self.fail("an operator, a comma or )" if inputs < most else "an operator or )")
        self.program.append(Step(name, inputs))
