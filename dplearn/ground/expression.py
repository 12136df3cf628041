"""Formulas as text, by a grammar of our own: nothing that is typed reaches Python's evaluator.

A formula becomes a program in postfix order for a small stack machine. Numbers are floats, so
the size of a result is limited by nature, and evaluating never recurses.
"""

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

_LONGEST, _DEEPEST = 2000, 60

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon",
    "λ": "lambda", "μ": "mu", "ν": "nu", "ρ": "rho", "σ": "sigma", "τ": "tau",
}  # fmt: skip
_SAME = {"^": "**", "·": "*", "×": "*", "−": "-", "≤": "<=", "≥": ">=", "≠": "!=", "ln": "log"}
_SAME |= {"π": "pi", "Φ": "Phi", "∞": "inf"}
_CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<name>(?:[A-Za-z][A-Za-z0-9_]*|[{''.join(_GREEK)}][0-9_]*|[πΦ∞]))"
    r"|(?P<symbol>\*\*|[<>=!]=|[-+*/^(),<>·×−≤≥≠])|(?P<end>\Z))",
    re.ASCII,
)

_COMPARE: dict[str, Callable] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
_BINARY: dict[str, Callable] = {
    "or": np.logical_or, "and": np.logical_and, "+": np.add, "-": np.subtract,
    "*": np.multiply, "/": np.divide, "**": np.power,
}  # fmt: skip
_PREFIX: dict[str, Callable] = {"minus": np.negative, "not": np.logical_not}
_FUNCTIONS: dict[str, Callable] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "log10": np.log10, "sqrt": np.sqrt, "abs": np.abs, "floor": np.floor, "ceil": np.ceil,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "erf": special.erf, "erfc": special.erfc,
    "Phi": special.ndtr, "binom": special.binom,
    "min": lambda *x: reduce(np.minimum, x), "max": lambda *x: reduce(np.maximum, x),
}  # fmt: skip
_SYMBOLS = _BINARY | _PREFIX | _FUNCTIONS
# How tightly an operator binds; a power binds its exponent from the right.
_TIGHT = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "minus": 7, "**": 8}
_TIGHT |= dict.fromkeys(_COMPARE, 4)
_INFIX = {symbol: _TIGHT[symbol] for symbol in (*_BINARY, *_COMPARE)}
_ATOM = 9


class _Step(NamedTuple):
    """One instruction: a number, a name, or what takes its `inputs` from the stack."""

    what: str | float
    inputs: int = 0


@dataclass(frozen=True)
class Expression:
    """A formula as typed and in postfix order; call it with a value for every name."""

    text: str
    program: tuple[_Step, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables, Greek letters spelled out."""
        return frozenset(s.what for s in self.program if isinstance(s.what, str) and not s.inputs)

    def __call__(self, **values: ArrayLike) -> NDArray:
        """The value, elementwise and broadcast; inf and nan where there is none.

        Values for names that do not occur are ignored. A condition gives booleans.
        """
        if missing := self.names - set(values):
            raise ValueError(f"Expected values for {', '.join(sorted(missing))}, got none.")
        return self._run(values, lambda value: value)

    def rounding(self, **values: ArrayLike) -> NDArray:
        """Distance of the value from the formula's own, estimated, not proved.

        Every step is disturbed by a few units in its last digit, up or down at random; what
        comes out differs by about as much as the roundings of the undisturbed run may do.
        """
        undisturbed, rng = self(**values), np.random.default_rng(0)
        with np.errstate(all="ignore"):
            shaken = [
                self._run(values, lambda x: x * (1 + 2e-15 * rng.choice((-1.0, 1.0))))
                for _ in range(6)
            ]
            return np.max(
                [np.where(undisturbed == x, 0.0, np.abs(undisturbed - x)) for x in shaken], axis=0
            )

    def bound(self, values: Mapping[str, float]) -> "Expression":
        """The formula with numbers for some of its names."""
        steps = (s if s.inputs else _Step(values.get(str(s.what), s.what)) for s in self.program)
        return replace(self, program=tuple(steps))

    def _run(self, values: Mapping[str, ArrayLike], after: Callable) -> NDArray:
        """The stack machine; `after` sees what every step computed."""
        given = {name: np.asarray(values[name], dtype=float)[()] for name in self.names}
        stack: list = []
        with np.errstate(all="ignore"):
            for what, inputs in self.program:
                if isinstance(what, str) and inputs:
                    stack[-inputs:] = [after(_apply(what, stack[-inputs:]))]
                else:
                    stack.append(given[what] if isinstance(what, str) else np.float64(what))
        return stack[0]

    @cached_property
    def latex(self) -> str:
        """The formula for display."""
        stack: list[tuple[str, int]] = []
        for what, inputs in self.program:
            top, stack = stack[len(stack) - inputs :], stack[: len(stack) - inputs]
            stack.append(_typeset(what, top))
        return stack[0][0]


def parse(text: str) -> Expression:
    r"""The formula that `text` spells, in numbers, names and a fixed list of functions.

    At most 2,000 characters. Operators ``+ - * / **`` (or ``^``), comparisons (also chained),
    ``and``, ``or``, ``not``; functions abs, binom, ceil, cosh, erf, erfc, exp, expm1, floor, log
    (or ln), log10, log1p, log2, max, min, Phi, sinh, sqrt, tanh; constants e, inf, pi. Every
    other name is a variable. The ValueError for anything else names the place and what was
    expected there.

    Examples
    --------
    >>> classical = parse("sqrt(2*ln(1.25/δ))/ε")
    >>> sorted(classical.names)
    ['delta', 'epsilon']
    >>> round(float(classical(epsilon=1.0, delta=1e-5)), 4)
    4.8448
    >>> classical.latex
    '\\frac{\\sqrt{2\\,\\ln\\left(\\frac{1.25}{\\delta}\\right)}}{\\varepsilon}'
    """
    if len(text) > _LONGEST:
        raise ValueError(f"Expected at most {_LONGEST} characters, got {len(text)}.")
    parser = _Parser(text)
    parser.expression(0, 0)
    if parser.kind != "end":
        parser.fail("an operator or the end")
    return Expression(text, tuple(parser.program))


class _Parser:
    """Reads one token ahead and writes the program; operators by how tightly they bind."""

    tokens = _TOKEN

    def __init__(self, text: str, start: int = 0) -> None:
        self.text, self.next = text, start
        self.program: list[_Step] = []
        self.advance()

    def advance(self) -> None:
        """Make the next token the current one."""
        match = self.tokens.match(self.text, self.next)
        if not match:
            # Blanks of the pattern only: others that Python strips are odd themselves.
            ahead = self.text[self.next :].lstrip(string.whitespace)
            self.start = len(self.text) - len(ahead)
            self.kind, self.token = "odd", self.text[self.start]
            self.fail("a number, a name or an operator")
        self.kind, self.raw = str(match.lastgroup), match[match.lastgroup or 0]
        self.start, self.next = match.start(self.kind), match.end()
        self._spell()

    def _spell(self) -> None:
        """Give the current token the one spelling that the grammar knows."""
        letter, others = self.raw[:1], self.raw[1:]
        self.token = _SAME.get(self.raw, _GREEK.get(letter, letter) + others)

    def fail(self, expected: str) -> NoReturn:
        got = "the end" if self.kind == "end" else repr(self.token[:30])
        raise ValueError(f"Expected {expected} at position {self.start + 1}, got {got}.")

    def accept(self, symbol: str) -> bool:
        """Go past `symbol` if it is the current token."""
        good = self.token == symbol and self.kind == "symbol"
        if good:
            self.advance()
        return good

    def expression(self, least: float, depth: int) -> None:
        """Read what operators hold together that bind at least as tightly as `least`."""
        if depth > _DEEPEST:
            self.fail(f"at most {_DEEPEST} levels of nesting")
        self.operand(least, depth)
        while (tight := _INFIX.get(self.token, 0)) and tight >= least:
            if tight == _TIGHT["<"]:
                self.comparison(depth)
                continue
            symbol = self.token
            self.advance()
            self.expression(tight if symbol == "**" else tight + 1, depth + 1)
            self.program.append(_Step(symbol, 2))

    def comparison(self, depth: int) -> None:
        """A chain: a < b <= c is one step with three inputs."""
        chain: list[str] = []
        while self.token in _COMPARE:
            chain.append(self.token)
            self.advance()
            self.expression(_TIGHT["<"] + 1, depth + 1)
        self.program.append(_Step(" ".join(chain), len(chain) + 1))

    def operand(self, least: float, depth: int) -> None:
        """A number, a name, a call, a bracket, or a prefix and what it binds."""
        token, kind = self.token, self.kind
        prefix = "minus" if token == "-" else token
        if prefix in _PREFIX and (kind == "symbol" or least <= _TIGHT[prefix]):
            self.advance()
            self.expression(_TIGHT[prefix], depth + 1)
            self.program.append(_Step(prefix, 1))
        elif self.accept("("):
            self.expression(0, depth + 1)
            self.close("an operator or )")
        elif kind == "number":
            self.program.append(_Step(float(token)))
            self.advance()
        elif kind == "name" and token not in _TIGHT:
            self.name(token, depth)
        else:
            self.fail("a number, a name or (")

    def name(self, name: str, depth: int) -> None:
        """A constant, a variable or a call."""
        if name in _FUNCTIONS:
            self.advance()
            if not self.accept("("):
                self.fail(f"( after {name}")
            inputs, most = 1, {"binom": 2, "min": _LONGEST, "max": _LONGEST}.get(name, 1)
            self.expression(0, depth + 1)
            while inputs < most and self.accept(","):
                self.expression(0, depth + 1)
                inputs += 1
            if most > 1 and inputs == 1:
                self.fail(f"a second argument of {name}")
            self.close("an operator, a comma or )" if inputs < most else "an operator or )")
            self.program.append(_Step(name, inputs))
            return
        start = self.start
        self.advance()
        if self.kind == "symbol" and self.token == "(":
            self.start, self.token = start, name
            self.fail(f"one of the functions {', '.join(sorted(_FUNCTIONS, key=str.lower))}")
        self.program.append(_Step(_CONSTANTS.get(name, name)))

    def close(self, expected: str) -> None:
        if not self.accept(")"):
            self.fail(expected)


def _apply(what: str, inputs: list) -> NDArray:
    """One step; booleans count as 0 and 1 except for and, or, not."""
    if what in ("and", "or", "not"):
        return _SYMBOLS[what](*inputs)
    inputs = [np.asarray(x, dtype=float)[()] for x in inputs]
    if what in _SYMBOLS:
        return _SYMBOLS[what](*inputs)
    pairs = zip(what.split(), inputs[:-1], inputs[1:], strict=True)
    return reduce(np.logical_and, (_COMPARE[symbol](a, b) for symbol, a, b in pairs))


_LATEX = {"epsilon": r"\varepsilon", "and": r"\wedge", "or": r"\vee", "not": r"\neg"}
_LATEX |= {"<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne", "log": r"\ln", "*": r"\,"}
_LATEX |= {letter: "\\" + letter for letter in (*_GREEK.values(), "Delta") if letter != "epsilon"}
_LATEX |= {f: "\\" + f for f in ("exp", "min", "max", "sinh", "cosh", "tanh", "Phi")}


def _typeset(what: str | float, inputs: list[tuple[str, int]]) -> tuple[str, int]:
    """TeX of one step and how tightly it binds."""
    if not isinstance(what, str):
        return _number(what)
    texts = [text for text, _ in inputs]
    match what, texts:
        case _, []:
            letter = re.fullmatch(rf"([A-Za-z]|{'|'.join(_GREEK.values())})_?(\d+)", what)
            if letter:
                return f"{_LATEX.get(letter[1], letter[1])}_{{{letter[2]}}}", _ATOM
            name = what.replace("_", r"\_")
            return _LATEX.get(what, what if len(what) == 1 else rf"\mathrm{{{name}}}"), _ATOM
        case "/", [a, b]:
            return rf"\frac{{{a}}}{{{b}}}", _ATOM
        case "**", [_, b]:
            return f"{{{_bracketed(inputs[0], _ATOM)}}}^{{{b}}}", _TIGHT["**"]
        case "sqrt", [a]:
            return rf"\sqrt{{{a}}}", _ATOM
        case "binom", [a, b]:
            return rf"\binom{{{a}}}{{{b}}}", _ATOM
        case (("abs" | "floor" | "ceil"), [a]):
            left, right = {"abs": ("|", "|")}.get(what, (rf"\l{what}", rf"\r{what}"))
            return rf"\left{left} {a} \right{right}", _ATOM
        case (("minus" | "not"), [_]):
            sign = "-" if what == "minus" else _LATEX["not"] + " "
            return sign + _bracketed(inputs[0], _TIGHT[what]), _TIGHT[what]
    if what in _FUNCTIONS:
        name = _LATEX.get(what, rf"\operatorname{{{what}}}")
        return rf"{name}\left({', '.join(texts)}\right)", _ATOM
    symbols = what.split()
    tight = _TIGHT[symbols[0]]
    out = _bracketed(inputs[0], tight)
    for symbol, item in zip(symbols, inputs[1:], strict=True):
        right = _bracketed(item, tight + 1)
        digits = symbol == "*" and right.lstrip("{")[0].isdigit()
        sign = r"\cdot" if digits else _LATEX.get(symbol, symbol)
        out += sign + right if sign == r"\," else f" {sign} {right}"
    return out, tight


def _bracketed(item: tuple[str, int], least: int) -> str:
    text, tight = item
    return text if tight >= least else rf"\left({text}\right)"


def _number(x: float) -> tuple[str, int]:
    """Constants by their names, powers of ten as such."""
    names = {np.pi: r"\pi", np.e: "e", np.inf: r"\infty"}
    digits, _, power = f"{x:.12g}".partition("e")
    if x in names or not power:
        return names.get(x, digits), _ATOM
    ten = rf"10^{{{int(power)}}}"
    return (ten, _TIGHT["**"]) if digits == "1" else (rf"{digits} \cdot {ten}", _TIGHT["*"])
