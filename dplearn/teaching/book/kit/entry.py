r"""Entries of the formula book: functions whose decorators state hypothesis, oracle and misprints.

::

    @formula("G-B4", "Classical noise of the Gaussian mechanism")
    @given("0 < epsilon and epsilon <= 1", epsilon=Log(1e-3, 1.0), delta=Log(1e-15, 0.99))
    @upper("Dwork & Roth 2014, Theorem A.1", oracles.normal_sigma)
    @printed("4.844805263", "3.730631635", epsilon=1.0, delta=1e-5)
    @wrong("no-two", "The 2 is the Gaussian's own.", "sqrt(ln(1.25/delta))/epsilon")
    def classical_gaussian_sigma(*, epsilon, delta):
        r"\sigma \ge \Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon"
        return math.sqrt(2 * math.log(1.25 / delta)) / epsilon

* `formula`: id and title.
* `given`: the hypothesis, an expression whose clauses are checked in readers' calls (or a function
  whose docstring states it), and the domain of each parameter, which may depend on earlier ones.
  Domains that several entries share are a mapping, `given("rho > 0", _SHARED, delta=...)`.
* `identity`, `upper`, `lower` or `asymptotic`: the reference, and the oracle to which the value has
  this relation, an independent computation of the truth from the definition; `verify` checks that
  it does not call the function. It receives the parameters that it names.
* `printed`: a value as printed, and the printed truth; all digits must agree. A point shared by
  several is a mapping as well, `printed("2.59", at=_RUN, steps=1)`.
* `wrong`: a wrong variant of the entry, for which `refute` must find a counterexample. It has
  another value (an expression or a function), or the same function under another hypothesis
  (`given`); all fields that are not given are the formula's.
* `setting`: the meaning of the printed letters, in English and Chinese, the quantity of the value,
  stems of words that name only this situation, and a lower bound for all mechanisms (`below`).
  Further settings state the same formula in other letters. `claims` uses settings alone.
* The docstring is the statement in LaTeX, followed by remarks, and by lines `name: meaning` for
  parameters that the common list does not explain. `help` shows a text made from all of this.

A theorem in two parts makes two entries, "G-C1" and "G-C1b". A function defined elsewhere is
entered by `enter(function, formula(...), given(...), ...)`, which does not change it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial, wraps
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from dplearn.core.guarantee import Reference
from dplearn.teaching.book.kit import terms
from dplearn.teaching.book.kit.domains import Domain, Parameters, Whole, by_name
from dplearn.teaching.book.kit.parser import parse

Kind = Literal["identity", "upper", "lower", "asymptotic"]
Hypothesis = str | Callable[..., bool]
Oracle = Callable[..., Any]  # returns a float or an Interval
Claim = str | Callable[..., Any] | None
Domains = Mapping[str, Domain] | None
Along = Mapping[str, Sequence[Any]] | None
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Interval:
    """Lower and upper bound of a true value, certified or from a simulation."""

    low: float
    high: float


class Fact:
    """Decorator that stores one fact about an entry until the decorator `formula` collects it."""

    def __call__(self, function: F) -> F:
        waiting.setdefault(function, []).insert(0, self)
        return function


@dataclass(frozen=True)
class Printed(Fact):
    """Example printed in the source of a formula: its value, and the true value or ""."""

    value: str
    truth: str
    parameters: Parameters


@dataclass(frozen=True, eq=False)
class Setting(Fact):
    """Situation to which an entry applies, described in the letters of printed formulas."""

    text: str
    chinese: str
    about: str  # quantity that the value is, a key of `terms.QUANTITIES`
    names: frozenset[str] = frozenset()  # stems of words that name the situation
    # Lower bound of valid claims, as a function of the columns (arrays); "exact": the entry's
    # value; None: the entry's value if the entry is an identity, else no bound.
    below: Callable[..., Any] | Literal["exact"] | None = None
    second: str = ""  # delta of the pair (value, delta), as an expression in the columns
    rare: bool = False  # whether the words around a claim must name the situation
    into: Callable[..., Mapping[str, Any]] | None = None  # maps columns to parameters
    value: Callable[..., float] | None = None  # converts the entry's value
    given: str = ""  # hypothesis, an expression in the columns' names
    event: str = ""  # pattern of the event, printed without blanks; its group is the threshold
    domain: Mapping[str, Domain] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Misprint(Fact):
    """Wrong variant of a formula, for which `refute` must find a counterexample."""

    name: str  # last part of the misprint's id
    note: str  # why the variant is wrong
    statement: str = ""  # the claim in LaTeX, or "" to derive it from `claim` or `given`
    claim: Claim = None
    given: Hypothesis | None = None
    domain: Mapping[str, Domain] = field(default_factory=dict)  # replacing the formula's domains
    without: Sequence[str] = ()  # parameters that the variant drops
    kind: Kind | None = None
    oracle: Oracle | None = None
    met: str = ""  # a public source that has the misprint, or ""
    along: Along = None


class _Fields(dict, Fact):
    """Fields of `Formula` by name, as stated by one decorator."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Formula:
    """Entry of the formula book; the decorators of this module set its fields."""

    id: str
    function: Callable[..., Any]  # maps the parameters, by keyword, to a float
    title: str
    kind: Kind  # how the value relates to the truth, such as an upper bound
    reference: Reference
    oracle: Oracle
    statement: str = ""
    remarks: str = ""
    given: Hypothesis = ""
    domain: Mapping[str, Domain] = field(default_factory=dict)
    along: Along = None  # for asymptotic formulas: one parameter and its values towards the limit
    tolerance: float = 1e-9  # relative error allowed for rounding and the oracle
    absolute: float = 1e-12  # smaller differences from the truth are ignored
    unsafe: Literal["smaller", "larger"] | None = "smaller"  # side where errors overstate privacy
    points: int = 100  # number of points of a check; fewer for a slow oracle
    printed: Sequence[Printed] = ()
    settings: Sequence[Setting] = ()
    misprints: Sequence[Misprint] = ()

    @property
    def hypothesis(self) -> str:
        """The hypothesis in words or as an expression, or ""."""
        given = self.given
        return (given.__doc__ or "").strip().split("\n")[0] if callable(given) else given

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters, including one that approaches a limit."""
        return (*self.domain, *(self.along or {}))

    @property
    def group(self) -> str:
        """Group of entries: the id without its number, such as "G-A"."""
        return self.id.rstrip("abcdefgh0123456789")

    def value(self, parameters: Parameters) -> float:
        """Return the value of the formula at `parameters`."""
        return float(by_name(self.function)(parameters))

    def truth(self, parameters: Parameters) -> Interval:
        """Return the oracle's value at `parameters` as an interval."""
        exact = by_name(self.oracle)(parameters)
        return exact if isinstance(exact, Interval) else Interval(float(exact), float(exact))

    @cached_property
    def accepts(self) -> Callable[[Parameters], bool]:
        """Predicate that tests whether parameters satisfy the hypothesis."""
        if not self.given:
            return lambda parameters: True
        met = by_name(self.given if callable(self.given) else parse(self.given))
        return lambda parameters: bool(np.all(met(parameters)))

    @cached_property
    def guarded(self) -> Callable[..., Any]:
        """The function, wrapped to raise ValueError where the hypothesis fails."""
        signature = inspect.signature(self.function)
        whole = [name for name, domain in self.domain.items() if isinstance(domain, Whole)]
        rules = [(f"{name} to be whole", parse(f"floor({name}) == {name}")) for name in whole]
        if isinstance(self.given, str) and self.given:
            rules += [(clause, parse(clause)) for clause in re.split(r"\s+and\s+", self.given)]

        @wraps(self.function)
        def call(*args: Any, **named: Any) -> Any:
            at = signature.bind(*args, **named).arguments
            for expected, rule in rules:
                if rule.names <= set(at) and not np.all(rule(**at)):
                    got = ", ".join(f"{name}={at[name]!r}" for name in sorted(rule.names))
                    raise ValueError(f"Expected {expected}, got {got}.")
            return self.function(*args, **named)

        return call

    def misprint(self, name: str) -> Misprint:
        """Return the misprint called `name`."""
        return next(m for m in self.misprints if m.name == name)

    def claimed(self, misprint: Misprint) -> Formula:
        """Return a misprint as a `Formula`, so that it can be compared with its oracle."""
        claim = parse(misprint.claim) if isinstance(misprint.claim, str) else misprint.claim
        changed = {n: getattr(misprint, n) for n in ("given", "kind", "oracle", "along")}
        changed = {n: x for n, x in {"function": claim, **changed}.items() if x is not None}
        every = {**self.domain, **misprint.domain}
        changed["domain"] = {n: d for n, d in every.items() if n not in misprint.without}
        changed |= {"id": f"{self.id}/{misprint.name}", "statement": self.statement_of(misprint)}
        return replace(self, **changed, printed=(), misprints=())

    def statement_of(self, misprint: Misprint) -> str:
        """Return a misprint's statement in LaTeX, by default made from its claim or hypothesis."""
        if misprint.statement:
            return misprint.statement
        if isinstance(misprint.claim, str):
            return terms.same_left_side(self.statement, misprint.claim)
        text = replace(self, given=misprint.given or "").hypothesis
        if text and not callable(misprint.given):
            text = f"for ${terms.typeset(text)}$"
        return rf"{self.statement}\quad\text{{{text or 'without any hypothesis'}}}"


waiting: dict[Callable[..., Any], list[Fact]] = {}
entries: dict[str, Formula] = {}
# A line `name: meaning` below a statement, with its indented continuation lines.
_OWN = re.compile(r"(?m)^([a-z_0-9]+): (.+(?:\n  .+)*)\n?")


def _help(entry: Formula) -> str:
    own = dict(_OWN.findall(entry.remarks))
    remarks = _OWN.sub("", entry.remarks).strip()
    lines = [f"{entry.title}.", "", f".. math:: {' '.join(entry.statement.split())}", ""]
    lines += [*remarks.splitlines(), ""] if remarks else []
    lines += [terms.KINDS[entry.kind]]
    lines += [f"Hypothesis: {entry.hypothesis}."] if entry.hypothesis else []
    lines += ["", "Parameters", "----------"]
    for name in entry.parameters:
        symbol, meaning = terms.MEANINGS.get(name, ("", ""))
        about = own.get(name, meaning), str(entry.domain.get(name, "approaches a limit"))
        lines += [f"{name} ({symbol})" if symbol else name, f"    {'; '.join(filter(None, about))}"]
    lines += ["", "References", "----------", str(entry.reference)]
    for example in entry.printed[:1]:
        arguments = ", ".join(f"{name}={value!r}" for name, value in example.parameters.items())
        lines += ["", f"{entry.function.__name__}({arguments}) is {example.value}."]
    return "\n".join(lines)


def formula(id: str, title: str, /, *, statement: str = "") -> Callable[[F], F]:
    """Register a function in the book with the facts stated by its other decorators.

    Give `statement` if the docstring is not the statement.
    """
    if not re.fullmatch(r"G-[A-Z][1-9]\d*[a-h]?", id) or id in entries:
        raise ValueError(f"Expected a new id such as 'G-A4', got {id!r}.")

    def enter_function(function: F) -> F:
        same = [e.function for e in entries.values() if e.function.__name__ == function.__name__]
        if same and function not in same:
            raise ValueError(f"Expected a new name of the function at {id}, got one that is taken.")
        parts = waiting.pop(function, [])
        facts = dict(item for p in parts if isinstance(p, _Fields) for item in p.items())
        if missing := {"given", "oracle"} - set(facts):
            absent = ", ".join(f"no {part}" for part in sorted(missing))
            raise ValueError(f"Expected @given and an oracle at {id}, got {absent}.")
        place = re.fullmatch(r"(.+) (\d{4}), (.+)", str(reference := facts.pop("reference")))
        if not place:
            raise ValueError(f"Expected authors, year and place at {id}, got {reference!r}.")
        text, _, remarks = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
        lists = {"printed": Printed, "settings": Setting, "misprints": Misprint}
        facts |= {n: tuple(p for p in parts if isinstance(p, c)) for n, c in lists.items()}
        facts["reference"] = Reference(place[1], int(place[2]), place[3])
        facts |= {"statement": statement or text, "remarks": "" if statement else remarks}
        entries[id] = entry = Formula(id=id, function=function, title=title, **facts)
        if not statement:
            function.__doc__ = _help(entry)
        return function

    return enter_function


def enter(function: F, *decorators: Callable[[F], F]) -> F:
    """Register a function defined elsewhere; give its decorators from the top down."""
    for decorate in reversed(decorators):
        decorate(function)
    return function


def given(
    hypothesis: Hypothesis = "", shared: Domains = None, /, *, along: Along = None, **domain: Domain
) -> Fact:
    """State the hypothesis of an entry, and the domains of its parameters in drawing order.

    The `shared` domains come first; a domain given again replaces the shared one in place.
    """
    return _Fields({"given": hypothesis, "along": along, "domain": {**(shared or {}), **domain}})


def _against(kind: Kind, reference: str, oracle: Oracle, /, **options: Any) -> Fact:
    """State how a formula relates to its oracle, and cite the proof.

    A reference is "Bun & Steinke 2016, Proposition 1.3": authors, year and place. Options are
    `tolerance`, `absolute`, `unsafe` and `points` of `Formula`.
    """
    return _Fields({"kind": kind, "reference": reference, "oracle": oracle, **options})


identity, upper, lower, asymptotic = (partial(_against, kind) for kind in get_args(Kind))


def setting(
    text: str, chinese: str, about: str, names: str = "", /, *, into: Any = None, **named: Any
) -> Setting:
    """Return a situation in which the entry's value is the quantity `about`.

    The columns of the setting's table are the function's parameters. If printed formulas have other
    letters, name their columns here; `into` is then a mapping from the entry's parameters to their
    values, or a function of columns that returns one; all other parameters are columns themselves.
    `names` are stems separated by blanks, with _ for a blank within a stem. `named` are fields of
    `Setting`, and domains of columns, which replace the entry's.
    """
    if about not in terms.QUANTITIES:
        among = ", ".join(terms.QUANTITIES)
        raise ValueError(f"Expected about among {among}, got about={about!r} in {text!r}.")
    if into is not None:
        changed = by_name(into) if callable(into) else lambda columns: into
        named["into"] = lambda **columns: {**columns, **changed(columns)}
    stems = frozenset(stem.replace("_", " ") for stem in names.lower().split())
    return Setting(text, chinese, about, stems, **_apart(Setting, named))


def printed(value: str, truth: str = "", /, *, at: Parameters | None = None, **own: Any) -> Printed:
    """State the value, and the true value, that the source prints for parameters `at` and `own`."""
    return Printed(value, truth, {**(at or {}), **own})


def wrong(
    name: str, note: str, claim: Claim = None, /, *, says: str = "", without: str = "", **named: Any
) -> Misprint:
    """State a wrong variant; `says` is its LaTeX, by default derived from `claim` or `given`.

    `without` lists parameters to drop, separated by spaces. `named` are fields of `Misprint`, and
    domains, which replace the formula's.
    """
    return Misprint(name, note, says, claim, without=without.split(), **_apart(Misprint, named))


def _apart(fact: type, named: dict[str, Any]) -> dict[str, Any]:
    """Return `named`, with the arguments that are not fields of `fact` collected in "domain"."""
    own = {f.name: named.pop(f.name) for f in fields(fact) if f.name in named}
    for name, domain in named.items():
        if not isinstance(domain, Domain):
            raise TypeError(f"Expected a field or a parameter's domain, got {name}={domain!r}.")
    return own | {"domain": named}
