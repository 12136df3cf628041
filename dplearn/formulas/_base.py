r"""What an entry of the formula book is, and the book itself.

An entry is a plain function with a decorator. The function's parameters have the names of the
domain; oracle, claims and hypotheses receive those parameters that they name, so each may leave
out what it does not need::

    def _by_quadrature(*, order, scale): ...     # the truth by another way, in _oracles.py or here

    @formula(
        "G-A8",
        title="Rényi divergence of the Laplace mechanism",
        kind="identity",                         # the value equals, "upper": is at least the truth
        statement=r"D_\alpha = \frac{1}{\alpha-1}\ln(...)",
        requires="order > 1 and scale > 0",      # or a function; its docstring is what is shown
        reference=Reference("Mironov", 2017, "Proposition 6"),
        domain={"order": Log(1.01, 200), "scale": Log(0.05, 50)},
        oracle=_by_quadrature,
        examples=[({"order": 3.0, "scale": 1.0}, "0.7468281411")],
        misprints=[
            Misprint("square", r"\alpha/b^2", claim=lambda order, scale: order / scale**2,
                     source="course notebooks", note="The Gaussian's formula, and twice that."),
        ],
    )
    def renyi_laplace(*, order: float, scale: float) -> float: ...

`Given` and `Derived` parameters depend on those named before them. A lambda that calls the
decorated function itself confuses the type checker; give it a name and a return type.

The oracle must not call the function: `verify` watches it. A misprint is another value (`claim`),
or the same function where its hypothesis is dropped (`requires`, usually with `domain`); what
else it changes (`kind`, `oracle`) it says, the rest is the formula's. A theorem in two parts
makes two entries, "G-A3" and "G-A3b". An existing function gets an entry in the same way and
stays the object it was: the decorator returns what it is given.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from dplearn.formulas._domains import Domain, Parameters
from dplearn.ground.expression import parse
from dplearn.ground.guarantee import Reference
from dplearn.ground.registry import _modules

Kind = Literal["identity", "upper", "lower", "asymptotic"]
Example = tuple[Mapping[str, Any], str] | tuple[Mapping[str, Any], str, str]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Interval:
    """A truth known between two ends only.

    Parameters
    ----------
    low, high : float
    confidence : float
        Probability that the truth lies there: 1 for a certified bracket, less for a simulation.
    """

    low: float
    high: float
    confidence: float = 1.0


@dataclass(frozen=True)
class Misprint:
    """A wrong variant of a formula; whether it is wrong is found out by `refute`.

    Parameters
    ----------
    name : str
        Short word; the id is that of the formula, a slash, and this.
    statement : str
        The claim as it is met, LaTeX.
    claim : callable, optional
        Its value. Default: the value of the formula, for a hypothesis that is too wide.
    requires : str or callable, optional
        The hypothesis it is claimed under; "" for none. Default: that of the formula.
    domain : mapping, optional
        Domains that differ from the formula's or are added to them; None takes one away.
    kind : str, optional
        The relation that is claimed. Default: that of the formula.
    oracle : callable, optional
        The truth, where it is about something else than the formula is.
    source : str
        Where it is met, in general words.
    note : str
        Why it is wrong, in a sentence.
    seen : tuple of str
        Ids of collected statements that make this claim.
    examples : sequence
        As in `Formula`: what the claim gives.
    along : mapping, optional
        As in `Formula`.
    """

    name: str
    statement: str
    claim: Callable[..., Any] | None = None
    requires: str | Callable[..., bool] | None = None
    domain: Mapping[str, Domain | None] | None = None
    kind: Kind | None = None
    oracle: Callable[..., float | Interval] | None = None
    source: str = ""
    note: str = ""
    seen: Sequence[str] = ()
    examples: Sequence[Example] = ()
    along: Mapping[str, Sequence[Any]] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Formula:
    """An entry of the book.

    Parameters
    ----------
    id : str
        "G-A4", and a small letter when a theorem makes several entries.
    function : callable
        From the parameters in `domain`, by keyword, to a float.
    title : str
    kind : {"identity", "upper", "lower", "asymptotic"}
        How value and truth are related. An asymptotic formula's error must shrink at every
        step along a sequence, and end within the tolerance.
    statement : str
        LaTeX.
    requires : str or callable
        The hypothesis: an expression in the parameters, or a function of some of them whose
        docstring says it in a sentence; "" for none.
    reference : Reference
    domain : mapping of str to Domain
        How each parameter is drawn.
    oracle : callable
        The truth, computed in another way; a float or an `Interval`.
    examples : sequence
        Pairs of parameters and the value as printed, all digits of which must agree; a third
        member is the printed truth.
    misprints : sequence of Misprint
    tolerance : float
        Relative error granted to rounding and to the oracle.
    absolute : float
        A difference up to this is none.
    unsafe : {"smaller", "larger"}, optional
        Which error claims more privacy than there is; None if neither does.
    points : int
        Size of the design; fewer for a slow oracle.
    along : mapping
        Of an asymptotic formula: one name, and the values that approach the limit.
    """

    id: str
    function: Callable[..., Any]
    title: str
    kind: Kind
    statement: str
    reference: Reference
    domain: Mapping[str, Domain]
    oracle: Callable[..., float | Interval]
    requires: str | Callable[..., bool] = ""
    examples: Sequence[Example] = ()
    misprints: Sequence[Misprint] = ()
    tolerance: float = 1e-9
    absolute: float = 1e-12
    unsafe: Literal["smaller", "larger"] | None = "smaller"
    points: int = 100
    along: Mapping[str, Sequence[Any]] | None = None

    @property
    def hypothesis(self) -> str:
        """The hypothesis in words or as an expression; "" if there is none."""
        if isinstance(self.requires, str):
            return self.requires
        return (self.requires.__doc__ or "").strip().split("\n")[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters."""
        return (*self.domain, *(self.along or {}))

    @property
    def group(self) -> str:
        """The id without its number."""
        return self.id.rstrip("abcdefgh0123456789")

    def value(self, parameters: Parameters) -> float:
        """What the formula says."""
        return float(self._value(parameters))

    def truth(self, parameters: Parameters) -> Interval:
        """What the oracle says."""
        found = self._truth(parameters)
        return found if isinstance(found, Interval) else Interval(float(found), float(found))

    def accepts(self, parameters: Parameters) -> bool:
        """Whether the hypothesis is met."""
        return bool(self._accepts(parameters))

    def misprint(self, name: str) -> Misprint:
        """The misprint of this name."""
        return next(m for m in self.misprints if m.name == name)

    def claimed(self, misprint: Misprint) -> Formula:
        """The formula that the misprint would like to be."""
        changed = {
            "function": misprint.claim,
            "requires": misprint.requires,
            "kind": misprint.kind,
            "oracle": misprint.oracle,
            "along": misprint.along,
        }
        domain = {**self.domain, **(misprint.domain or {})}
        return replace(
            self,
            **{name: value for name, value in changed.items() if value is not None},
            id=f"{self.id}/{misprint.name}",
            statement=misprint.statement,
            domain={name: values for name, values in domain.items() if values is not None},
            examples=misprint.examples,
            misprints=(),
        )

    @cached_property
    def _value(self) -> Callable[[Parameters], Any]:
        return _by_name(self.function)

    @cached_property
    def _truth(self) -> Callable[[Parameters], Any]:
        return _by_name(self.oracle)

    @cached_property
    def _accepts(self) -> Callable[[Parameters], Any]:
        if callable(self.requires):
            return _by_name(self.requires)
        if not self.requires:
            return lambda parameters: True
        expression = parse(self.requires)
        return lambda parameters: expression(**{n: parameters[n] for n in expression.names})


def _by_name(function: Callable[..., Any]) -> Callable[[Parameters], Any]:
    """The function of a mapping that hands on those values which are named in the signature."""
    named = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in named.values()):
        return lambda parameters: function(**parameters)
    return lambda parameters: function(**{n: parameters[n] for n in named if n in parameters})


def formula(id: str, **fields: Any) -> Callable[[F], F]:
    """Enter a function into the book; the fields are those of `Formula`.

    Raises
    ------
    ValueError
        If the id is taken or malformed.
    """
    if not re.fullmatch(r"G-[A-Z][1-9]\d*[a-h]?", id) or id in _entries:
        raise ValueError(f"Expected a new id such as 'G-A4', got {id!r}.")

    def enter(function: F) -> F:
        _entries[id] = Formula(id=id, function=function, **fields)
        return function

    return enter


_entries: dict[str, Formula] = {}


class Book(Mapping[str, Formula]):
    """Id -> entry, in the order of the ids, for every module of the folder.

    Examples
    --------
    >>> from dplearn.formulas import book
    >>> book["G-A1"].kind
    'identity'
    """

    @cached_property
    def _found(self) -> dict[str, Formula]:
        for _ in _modules(__name__.rpartition(".")[0]):
            pass
        return dict(sorted(_entries.items(), key=lambda entry: _natural(entry[0])))

    def __getitem__(self, id: str) -> Formula:
        return self._found[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _natural(id: str) -> tuple[str, int, str]:
    """G-A2 before G-A10."""
    letters, number, part = re.fullmatch(r"(\D+)(\d+)(\w?)", id).groups()  # type: ignore[union-attr]
    return letters, int(number), part


book = Book()
