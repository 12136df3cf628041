r"""An entry of the formula book: a plain function under decorators that each say one thing.

::

    @formula("G-B4", "Classical noise of the Gaussian mechanism", "upper", "Dwork & Roth 2014, A.1")
    @given("0 < epsilon and epsilon <= 1", epsilon=Log(1e-3, 1.0), delta=Log(1e-15, 0.99))
    @oracle(oracles.normal_sigma)
    @printed("4.844805263", "3.730631635", epsilon=1.0, delta=1e-5)
    @wrong("no-two", "The 2 is the Gaussian's own.", claim="sqrt(ln(1.25/delta))/epsilon")
    def classical_gaussian_sigma(*, epsilon, delta):
        r"\sigma \ge \Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon"
        return math.sqrt(2 * math.log(1.25 / delta)) / epsilon

* `formula`: id, title, how value and truth are related, and where it stands in the literature.
* `given`: the hypothesis, an expression whose clauses readers' calls must meet (or a function whose
  docstring says it), and the domain of each parameter, which may depend on those named before.
  Domains that several entries share are a mapping, `given("rho > 0", _SHARED, delta=...)`.
* `oracle`: the truth by another way, from the definition; it must not call the function, and
  `verify` watches it. It receives those parameters that it names.
* `printed`: a value as printed, and the printed truth; all digits must agree. A point that several
  of them share is a mapping as well, `printed("2.59", at=_RUN, steps=1)`.
* `wrong`: a variant in circulation that `refute` must find a counterexample of. It is another value
  (`claim`, an expression or a function), or the same function where its hypothesis is dropped
  (`given`); what else it changes it says, the rest is the formula's.
* `setting`: what the letters stand for where the formula is printed, in English and Chinese, the
  quantity that its value is, stems of words that name this situation and no other, and what no
  mechanism can beat (`below`). More of them say the same formula in fewer or other letters. Every
  entry whose value a text could print has one; `claims` judges by nothing else.
* The docstring is the statement in LaTeX; below it stand remarks, and lines `name: meaning` for
  parameters that the common list does not explain. What `help` shows is made from all of this.

A theorem in two parts makes two entries, "G-C1" and "G-C1b". A function that lives elsewhere is
entered by `enter(function, formula(...), given(...), ...)` and stays the object it was.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar

import numpy as np

from dplearn.core.guarantee import Reference
from dplearn.teaching.book.kit import terms
from dplearn.teaching.book.kit.domains import Domain, Parameters, Whole, by_name
from dplearn.teaching.book.kit.parser import parse

Kind = Literal["identity", "upper", "lower", "asymptotic"]
Hypothesis = str | Callable[..., bool]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Interval:
    """A value known to lie between two ends, certified or simulated."""

    low: float
    high: float


class Fact:
    """One fact about an entry; as a decorator it waits on the function for `formula` to collect."""

    def __call__(self, function: F) -> F:
        waiting.setdefault(function, []).insert(0, self)
        return function


@dataclass(frozen=True)
class Printed(Fact):
    """A value as printed, and the printed truth where there is one; "" where there is none."""

    value: str
    truth: str
    parameters: Parameters


@dataclass(frozen=True, eq=False)
class Setting(Fact):
    """One situation in which an entry has the answer, in the letters of print."""

    text: str
    chinese: str
    about: str  # a key of `terms.QUANTITIES`
    names: tuple[str, ...] = ()  # stems of words that name it, of any language
    below: Callable[..., Any] | Literal["exact"] | None = None
    # Delta of the pair (value, delta): an expression in the columns, or a function of them.
    second: str | Callable[..., float] = ""
    rare: bool = False  # whether it is meant only where the words name it
    into: Callable[..., Mapping[str, Any]] | None = None  # the entry's parameters of the columns
    value: Callable[..., float] | None = None  # of the entry's value and the columns
    given: str = ""
    event: str = ""  # of a probability: a pattern, whose group is the column `threshold`
    domain: Mapping[str, Domain] = field(default_factory=dict)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Return the stems of the words that name it, in small letters."""
        return tuple(name.lower() for name in self.names)

    def speaks_of(self, stems: Sequence[str]) -> bool:
        """Return whether its texts have one of the stems."""
        return any(stem in f"{self.text} {self.chinese}".lower() for stem in stems)


@dataclass(frozen=True, eq=False)
class Misprint(Fact):
    """A wrong variant of a formula; whether it is wrong is found out by `refute`."""

    name: str  # a short word, the last part of its id
    note: str  # why it is wrong, in a sentence
    statement: str = ""  # the claim in LaTeX; "" to make it from `claim` or `given`
    claim: str | Callable[..., Any] | None = None
    given: Hypothesis | None = None
    domain: Mapping[str, Domain] = field(default_factory=dict)  # where it is not the formula's own
    without: Sequence[str] = ()  # the formula's parameters that it does not have
    kind: Kind | None = None
    oracle: Callable[..., float | Interval] | None = None
    met: str = ""  # a source that a reader can check; "" where it was met in notes
    printed: Sequence[Printed] = ()
    along: Mapping[str, Sequence[Any]] | None = None


@dataclass(frozen=True)
class _Fields(Fact):
    """Fields of `Formula` by their names."""

    fields: Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Formula:
    """An entry of the book; its decorators, explained above, give the fields."""

    id: str
    function: Callable[..., Any]  # from the parameters in `domain`, by keyword, to a float
    title: str
    # How value and truth are related; an asymptotic formula's error must shrink at every step.
    kind: Kind
    reference: Reference
    oracle: Callable[..., float | Interval]
    statement: str = ""
    remarks: str = ""
    given: Hypothesis = ""
    domain: Mapping[str, Domain] = field(default_factory=dict)
    # Of an asymptotic formula: one name, and the values that approach the limit.
    along: Mapping[str, Sequence[Any]] | None = None
    tolerance: float = 1e-9  # relative error granted to rounding and to the oracle
    absolute: float = 1e-12  # a difference that is none
    # Which error claims more privacy than there is; None if neither does.
    unsafe: Literal["smaller", "larger"] | None = "smaller"
    points: int = 100  # size of the design; fewer for a slow oracle
    printed: Sequence[Printed] = ()
    settings: Sequence[Setting] = ()
    misprints: Sequence[Misprint] = ()

    @property
    def hypothesis(self) -> str:
        """The hypothesis in words or as an expression; "" if there is none."""
        if callable(self.given):
            return (self.given.__doc__ or "").strip().split("\n")[0]
        return self.given

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters."""
        return (*self.domain, *(self.along or {}))

    @property
    def group(self) -> str:
        """The id without its number."""
        return self.id.rstrip("abcdefgh0123456789")

    def value(self, parameters: Parameters) -> float:
        """Value of the formula."""
        return float(by_name(self.function)(parameters))

    def truth(self, parameters: Parameters) -> Interval:
        """Value of the oracle, as an interval."""
        exact = by_name(self.oracle)(parameters)
        return exact if isinstance(exact, Interval) else Interval(float(exact), float(exact))

    @cached_property
    def accepts(self) -> Callable[[Parameters], bool]:
        """Whether parameters meet the hypothesis."""
        if not self.given:
            return lambda parameters: True
        met = by_name(self.given if callable(self.given) else parse(self.given))
        return lambda parameters: bool(np.all(met(parameters)))

    @cached_property
    def guarded(self) -> Callable[..., Any]:
        """The function for readers: it refuses parameters that lie outside the hypothesis."""
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
        """Return the misprint of this name."""
        return next(m for m in self.misprints if m.name == name)

    def claimed(self, misprint: Misprint) -> Formula:
        """Return the formula that the misprint would like to be."""
        claim = parse(misprint.claim) if isinstance(misprint.claim, str) else misprint.claim
        changed = {"function": claim, **{n: getattr(misprint, n) for n in _CHANGED}}
        return replace(
            self,
            **{name: value for name, value in changed.items() if value is not None},
            id=f"{self.id}/{misprint.name}",
            statement=self.statement_of(misprint),
            domain={
                name: domain
                for name, domain in {**self.domain, **misprint.domain}.items()
                if name not in misprint.without
            },
            printed=misprint.printed,
            misprints=(),
        )

    def statement_of(self, misprint: Misprint) -> str:
        """Return the claim of a misprint in LaTeX, written by hand or made from what it changes."""
        if misprint.statement:
            return misprint.statement
        if isinstance(misprint.claim, str):
            return terms.same_left_side(self.statement, misprint.claim)
        text = replace(self, given=misprint.given or "").hypothesis
        if text and not callable(misprint.given):
            text = f"for ${terms.typeset(text)}$"
        return rf"{self.statement}\quad\text{{{text or 'without any hypothesis'}}}"


_CHANGED = ("given", "kind", "oracle", "along")
waiting: dict[Callable[..., Any], list[Fact]] = {}
entries: dict[str, Formula] = {}


# A line `name: meaning` below a statement, and the indented lines that carry it on.
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
        span = str(entry.domain.get(name, "approaches a limit"))
        lines += [f"{name}{f' ({symbol})' if symbol else ''}"]
        lines += [f"    {'; '.join(filter(None, (own.get(name, meaning), span)))}"]
    lines += ["", "References", "----------", str(entry.reference)]
    for example in entry.printed[:1]:
        arguments = ", ".join(f"{name}={value!r}" for name, value in example.parameters.items())
        lines += ["", f"{entry.function.__name__}({arguments}) is {example.value}."]
    return "\n".join(lines)


def formula(
    id: str, title: str, kind: Kind, reference: str, /, *, statement: str = ""
) -> Callable[[F], F]:
    """Enter a function into the book, with the parts that wait on it.

    A reference is "Bun & Steinke 2016, Proposition 1.3": authors, year and place. The statement
    is for a function whose docstring is its own. ValueError is raised if the id is taken or
    malformed, the reference has no year or place, or a part is missing.
    """
    if not re.fullmatch(r"G-[A-Z][1-9]\d*[a-h]?", id) or id in entries:
        raise ValueError(f"Expected a new id such as 'G-A4', got {id!r}.")
    place = re.fullmatch(r"(.+) (\d{4}), (.+)", reference)
    if not place:
        raise ValueError(f"Expected authors, year and place at {id}, got {reference!r}.")

    def enter_function(function: F) -> F:
        same = [e.function for e in entries.values() if e.function.__name__ == function.__name__]
        if same and function not in same:
            raise ValueError(f"Expected a new name of the function at {id}, got one that is taken.")
        parts = waiting.pop(function, [])
        fields = dict(item for p in parts if isinstance(p, _Fields) for item in p.fields.items())
        if missing := {"given", "oracle"} - set(fields):
            absent = ", ".join(f"no @{part}" for part in sorted(missing))
            raise ValueError(f"Expected @given and @oracle at {id}, got {absent}.")
        text, _, remarks = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
        entries[id] = entry = Formula(
            id=id,
            function=function,
            title=title,
            kind=kind,
            reference=Reference(place[1], int(place[2]), place[3]),
            statement=statement or text,
            remarks="" if statement else remarks,
            printed=tuple(p for p in parts if isinstance(p, Printed)),
            settings=tuple(p for p in parts if isinstance(p, Setting)),
            misprints=tuple(p for p in parts if isinstance(p, Misprint)),
            **fields,
        )
        if not statement:
            function.__doc__ = _help(entry)
        return function

    return enter_function


def enter(function: F, *decorators: Callable[[F], F]) -> F:
    """Enter a function that lives elsewhere; the decorators in the order they are written."""
    for decorate in reversed(decorators):
        decorate(function)
    return function


def given(
    hypothesis: Hypothesis = "",
    shared: Mapping[str, Domain] | None = None,
    /,
    *,
    along: Mapping[str, Sequence[Any]] | None = None,
    **domain: Domain,
) -> Fact:
    """Give the hypothesis, and the domains of all parameters as they are drawn in turn.

    Those that are `shared` come first; one that is named again keeps its place.
    """
    return _Fields({"given": hypothesis, "along": along, "domain": {**(shared or {}), **domain}})


def oracle(function: Callable[..., float | Interval], /, **options: Any) -> Fact:
    """Give the truth; options are `tolerance`, `absolute`, `unsafe` and `points` of `Formula`."""
    return _Fields({"oracle": function, **options})


def setting(
    text: str,
    chinese: str,
    about: str,
    names: str = "",
    /,
    *,
    below: Callable[..., Any] | Literal["exact"] | None = None,
    second: str | Callable[..., float] = "",
    rare: bool = False,
    into: Callable[..., Mapping[str, Any]] | None = None,
    value: Callable[..., float] | None = None,
    given: str = "",
    event: str = "",
    **domain: Domain,
) -> Setting:
    """Return a situation in which the entry's value is what a text calls `about`.

    The columns of its table are the function's parameters, or those of `domain` where `into` makes
    the entry's parameters of them; a domain given here replaces the entry's. `below` maps columns,
    as arrays, to what no mechanism beats: "exact" if the value itself is attained; left out, it is
    the value of an identity, else unknown. `names` are stems divided by blanks, with _ for a blank
    inside of one; `given` is a hypothesis in the columns; `event` is a pattern of the event
    whose probability it is, without blanks, whose group is the column `threshold`.
    """
    if about not in terms.QUANTITIES:
        among = ", ".join(terms.QUANTITIES)
        raise ValueError(f"Expected about among {among}, got about={about!r} in {text!r}.")
    stems = tuple(stem.replace("_", " ") for stem in names.split())
    return Setting(
        text, chinese, about, stems, below, second, rare, into, value, given, event, domain
    )


def printed(value: str, truth: str = "", /, *, at: Parameters | None = None, **own: Any) -> Printed:
    """Give a value as printed, and the printed truth, at a shared point and more parameters."""
    return Printed(value, truth, {**(at or {}), **own})


def wrong(
    name: str,
    note: str,
    /,
    *parts: Printed,
    says: str = "",
    claim: str | Callable[..., Any] | None = None,
    given: Hypothesis | None = None,
    kind: Kind | None = None,
    oracle: Callable[..., float | Interval] | None = None,
    along: Mapping[str, Sequence[Any]] | None = None,
    met: str = "",
    without: str = "",
    **domain: Domain,
) -> Misprint:
    """Give a wrong variant; `says` states it where `claim` or `given` cannot.

    Its domains are the formula's but for those that are named; it has no parameters whose names,
    divided by spaces, stand in `without`.
    """
    return Misprint(
        name,
        note,
        statement=says,
        claim=claim,
        given=given,
        domain=domain,
        without=without.split(),
        kind=kind,
        oracle=oracle,
        met=met,
        printed=parts,
        along=along,
    )
