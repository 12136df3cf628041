"""Parsed formulas as programs in postfix order for a small stack machine.

Numbers are floats, which bounds the size of results, and evaluation never recurses.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon",
    "λ": "lambda", "μ": "mu", "ν": "nu", "ρ": "rho", "σ": "sigma", "τ": "tau",
}  # fmt: skip
CONSTANTS = {"pi": np.pi, "e": np.e, "inf": np.inf}

COMPARE: dict[str, Callable] = {"<": np.less, "<=": np.less_equal, ">": np.greater}
COMPARE |= {">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}
BINARY: dict[str, Callable] = {"or": np.logical_or, "and": np.logical_and, "+": np.add}
BINARY |= {"-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power}
PREFIX: dict[str, Callable] = {"minus": np.negative, "not": np.logical_not}
FUNCTIONS: dict[str, Callable] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "log10": np.log10, "sqrt": np.sqrt, "abs": np.abs, "floor": np.floor, "ceil": np.ceil,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "erf": special.erf, "erfc": special.erfc,
    "Phi": special.ndtr, "probit": special.ndtri, "binom": special.binom,
    "min": lambda *x: reduce(np.minimum, x), "max": lambda *x: reduce(np.maximum, x),
    "erfinv": special.erfinv, "sum": lambda x: np.sum(x, axis=-1, keepdims=np.ndim(x) > 0),
    "largest": lambda x: np.max(x, axis=-1, keepdims=np.ndim(x) > 0),
}  # fmt: skip
_SYMBOLS = BINARY | PREFIX | FUNCTIONS
# Precedence of operators; powers are right-associative.
TIGHT = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "minus": 7, "**": 8}
TIGHT |= dict.fromkeys(COMPARE, 4)
INFIX = {symbol: TIGHT[symbol] for symbol in (*BINARY, *COMPARE)}
ATOM = 9


class Step(NamedTuple):
    """Instruction of a program: a number, a name, or an operation on `inputs` stack entries."""

    what: str | float
    inputs: int = 0


@dataclass(frozen=True)
class Expression:
    """Formula as text and in postfix order; call it with a value for every variable."""

    text: str
    program: tuple[Step, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables, with Greek letters spelled out."""
        return frozenset(s.what for s in self.program if isinstance(s.what, str) and not s.inputs)

    def __call__(self, **values: ArrayLike) -> NDArray:
        """Evaluate elementwise: inf or nan where undefined, boolean for a condition."""
        if missing := self.names - set(values):
            raise ValueError(f"Expected values for {', '.join(sorted(missing))}, got none.")
        given = {name: np.asarray(values[name], dtype=float)[()] for name in self.names}
        stack: list = []
        with np.errstate(all="ignore"):
            for what, inputs in self.program:
                if not isinstance(what, str) or not inputs:
                    stack.append(given[what] if isinstance(what, str) else np.float64(what))
                    continue
                top = stack[-inputs:]
                if what not in ("and", "or", "not"):  # other operations count booleans as 0 and 1
                    top = [np.asarray(x, dtype=float)[()] for x in top]
                if what in _SYMBOLS:
                    value = _SYMBOLS[what](*top)
                else:
                    pairs = zip(what.split(), top[:-1], top[1:], strict=True)
                    chain = (COMPARE[symbol](a, b) for symbol, a, b in pairs)
                    value = reduce(np.logical_and, chain)
                stack[-inputs:] = [value]
        return stack[0]

    @cached_property
    def latex(self) -> str:
        """The formula in LaTeX."""
        stack: list[tuple[str, int]] = []
        for what, inputs in self.program:
            top, stack = stack[len(stack) - inputs :], stack[: len(stack) - inputs]
            stack.append(_typeset(what, top))
        return stack[0][0]


_LATEX = {"epsilon": r"\varepsilon", "and": r"\wedge", "or": r"\vee", "not": r"\neg"}
_LATEX |= {"<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne", "log": r"\ln", "*": r"\,"}
_LATEX |= {letter: "\\" + letter for letter in (*GREEK.values(), "Delta") if letter != "epsilon"}
_LATEX |= {"probit": r"\Phi^{-1}"}
_LATEX |= {f: "\\" + f for f in ("exp", "min", "max", "sinh", "cosh", "tanh", "Phi")}


def _typeset(what: str | float, inputs: list[tuple[str, int]]) -> tuple[str, int]:
    """Return LaTeX and precedence of one operation, given LaTeX and precedence of its `inputs`."""
    if not isinstance(what, str):
        return _number(what)
    texts = [text for text, _ in inputs]
    match what, texts:
        case _, []:
            letter = re.fullmatch(rf"([A-Za-z]|{'|'.join(GREEK.values())})_?(\d+)", what)
            if letter:
                return f"{_LATEX.get(letter[1], letter[1])}_{{{letter[2]}}}", ATOM
            name = what.replace("_", r"\_")
            return _LATEX.get(what, what if len(what) == 1 else rf"\mathrm{{{name}}}"), ATOM
        case "/", [a, b]:
            return rf"\frac{{{a}}}{{{b}}}", ATOM
        case "**", [_, b]:
            return f"{{{_bracketed(inputs[0], ATOM)}}}^{{{b}}}", TIGHT["**"]
        case "sqrt", [a]:
            return rf"\sqrt{{{a}}}", ATOM
        case "binom", [a, b]:
            return rf"\binom{{{a}}}{{{b}}}", ATOM
        case (("abs" | "floor" | "ceil"), [a]):
            left, right = {"abs": ("|", "|")}.get(what, (rf"\l{what}", rf"\r{what}"))
            return rf"\left{left} {a} \right{right}", ATOM
        case (("minus" | "not"), [_]):
            sign = "-" if what == "minus" else _LATEX["not"] + " "
            return sign + _bracketed(inputs[0], TIGHT[what]), TIGHT[what]
    if what in FUNCTIONS:
        name = _LATEX.get(what, rf"\operatorname{{{what}}}")
        return rf"{name}\left({', '.join(texts)}\right)", ATOM
    symbols = what.split()
    tight = TIGHT[symbols[0]]
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
    """Return LaTeX and precedence of a number, which may be a constant or have a power of ten."""
    names = {np.pi: r"\pi", np.e: "e", np.inf: r"\infty"}
    digits, _, power = f"{x:.12g}".partition("e")
    if x in names or not power:
        return names.get(x, digits), ATOM
    ten = rf"10^{{{int(power)}}}"
    return (ten, TIGHT["**"]) if digits == "1" else (rf"{digits} \cdot {ten}", TIGHT["*"])
