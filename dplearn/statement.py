"""Complete privacy statements as text, LaTeX, JSON or a card."""

import datetime
import json
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from textwrap import TextWrapper
from typing import Any, ClassVar

from dplearn.accountants import ACCOUNTANTS, Accountant
from dplearn.accountants.pld import PLD
from dplearn.core import validate
from dplearn.core.display import ReadOnly, Shown, as_card, as_latex
from dplearn.core.guarantee import Adjacency, Guarantee, round_up
from dplearn.mechanisms import Composed

KINDS = {
    "exact": "exact",
    "upper": "upper bound",
    "bracket": "certified from both sides",
    "lower": "lower bound",
    "approximate": "approximation, not a bound",
}
SAMPLED = {
    "poisson": "Poisson sampling",
    "without_replacement": "sampling without replacement",
    "none": "all records in every step",
    "shuffled": "shuffled epochs",
    "random_allocation": "random allocation to batches",
}
TUNINGS = {
    "fixed": "settings were fixed before the data were looked at",
    "public": "settings were chosen on public data",
    "uncounted": "settings were tried on the private data, and epsilon does not count that",
}
RELEASED = {
    "every_step": "every noisy step: all models on the way and the last one",
    "last_model": "the last model alone; its epsilon is at most that of all noisy steps",
    "metrics": "metrics of models on public records; their epsilon is at most that of all steps",
}
TRUST = {
    "central": "whoever is trusted sees the data, adds the noise and releases nothing else",
    "local": "all of the plan's noise is in each report before it leaves its owner",
    "distributed": "those who are trusted add shares of the noise, together all that the plan has, "
    "before their sum is opened",
}
_NEIGHBOURS = {"add_remove": "added or removed", "replace_one": "replaced", "zero_out": "zeroed"}
_PARTS = {
    "delta": "what a probability may grow by beyond the factor e^epsilon",
    "unit": "whose data neighbours differ in, such as 'one image'",
    "records": "how many such units there are, a public number",
    "period": "what one epsilon pays for, such as 'once'",
    "sampling": f"how the program really draws, one of {', '.join(SAMPLED)}",
    "tuning": f"how settings were chosen, one of {', '.join(TUNINGS)}, or a Tuned",
    "released": "what leaves the program, one of the plan's",
    "trust": f"where noise is added, one of {', '.join(TRUST)}",
    "trusted": "who is trusted, with the data or with noise, such as 'the hospital'",
}
_RANDOMNESS = (
    "whoever can predict the noise, from a seed say, can take it away; "
    "the plan does not know from which generator it was drawn"
)
_FLOATING = "epsilon is that of exact real numbers, and noise that is rounded may leak more"
_NOT_COVERED = (
    "whoever has several of these units",
    "what the data tell about a group, of which each unit is a small part",
    "other releases from the same data, such as metrics of private records: their epsilon adds up",
    "whether the program does what is written here",
)
_FALSE_ALARMS = 0.01


@dataclass(frozen=True, kw_only=True)
class Statement(Shown):
    """A complete privacy statement, made by `HasGuarantee.statement`.

    Parameters
    ----------
    guarantee : Guarantee
    records : int >= 1, number of units in the data
    parts : mapping of str to str, sentences about the run by part
    true_positive_rate : float in [0, 1], upper bound for the best attack at 1 % false alarms
    not_covered : tuple of str
    """

    guarantee: Guarantee
    records: int
    parts: Mapping[str, str]
    true_positive_rate: float
    not_covered: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", ReadOnly(self.parts))

    @property
    def rows(self) -> dict[str, str]:
        """Sentences of the statement by part, beginning with the promise."""
        g, law = self.guarantee, ACCOUNTANTS[self.guarantee.method]
        return {
            "Promise": f"{g}: {KINDS[g.kind]}",
            "In words": "an attacker who may accuse 1 % of the others "
            f"finds at most {round_up(100 * self.true_positive_rate, 3)} % of the members",
            "Neighbours": f"differ in one unit, {_NEIGHBOURS[g.adjacency]}",
            "Units in the data": f"{self.records:,}; the worst program with this guarantee "
            f"publishes at most {round_up(self.records * g.delta, 2)} of them, on average: n delta",
            **self.parts,
            "Accountant": f"{law.title}, by {g.proof or law.reference}",
            "Randomness": _RANDOMNESS,
            "Floating point": _FLOATING,
            "True if": "; ".join(g.assumptions) or "the mechanism is run as written",
            "Not covered": "; ".join(self.not_covered),
        }

    def __str__(self) -> str:
        fold = TextWrapper(96, subsequent_indent="    ", break_long_words=False).fill
        return "\n".join(fold(f"{part}: {words}") for part, words in self.rows.items())

    def latex(self) -> str:
        """Return a two-column LaTeX table that needs no LaTeX package."""
        return as_latex(self.rows)

    def _shown(self) -> dict[str, str]:
        return self.rows

    def json(self) -> str:
        """Return all parts as JSON, with full precision."""
        whole = {
            "format": "dplearn statement 4",
            "guarantee": {f.name: getattr(self.guarantee, f.name) for f in fields(self.guarantee)},
            "records": self.records,
            "true_positive_rate": self.true_positive_rate,
            "words": self.rows,
        }
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"

    def card(self) -> str:
        """Return a self-contained HTML page for printing."""
        return as_card("Privacy statement", self.rows)


class HasGuarantee(Shown, metaclass=validate.NamesParameters):
    """Base class of plans, each with a guarantee and a statement."""

    def _shown(self) -> dict[str, str]:
        shown = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return {name: str(value) for name, value in shown if value is not None}

    unit: ClassVar[str] = ""  # unit of privacy, if the plan fixes it
    units: int | None = None  # number of units, if the plan fixes it
    # Sentences about each kind of release.
    releases: ClassVar[Mapping[str, str]] = RELEASED

    @property
    @abstractmethod
    def composed(self) -> Composed:
        """Composition of the whole run: an upper bound."""

    @property
    def samplings(self) -> tuple[str, ...]:
        """Names of the sampling schemes; empty if all units take part."""
        return ()

    @abstractmethod
    def guarantee(self, accountant: Accountant | str = "pld", *, delta: float) -> Guarantee:
        """Return the guarantee of the whole run."""

    def statement(
        self,
        *,
        delta: float | None = None,
        unit: str = "",
        records: int | None = None,
        period: str = "",
        sampling: str = "",
        tuning: Any = "",
        released: str = "",
        trust: str = "",
        trusted: str = "",
        date: datetime.date | None = None,
        not_covered: Sequence[str] = (),
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
    ) -> Statement:
        """Return a complete privacy statement; raise ValueError naming a missing part.

        Parameters
        ----------
        delta : float in (0, 1 / records)
        unit : str, in which neighbours differ, unless the plan fixes it, as a `FederatedPlan` does
        records : int >= 1, the number of units, unless the plan fixes it
        period : str, the period that one epsilon covers, such as ``"once"``
        sampling : str, the scheme that the program *really* uses
        tuning : one of `TUNINGS`, or a `Tuned` of this plan, whose guarantee is then stated
        released : one of the plan's `releases`; only every step has a lower bound
        trust : one of `TRUST`
        trusted : str, names the trusted party
        date : datetime.date, by default today
        not_covered : list of str, further exclusions
        accountant, adjacency : as in `guarantee`, which must be a finite bound

        Examples
        --------
        >>> from dplearn.run import DPSGD
        >>> plan = DPSGD(noise_multiplier=1.1, sample_rate=0.004, steps=10_000)
        >>> parts = {"delta": 1e-5, "unit": "one image", "sampling": "poisson", "tuning": "public"}
        >>> parts |= {"records": 60_000, "released": "last_model", "period": "once"}
        >>> plan.statement(**parts, trust="central", trusted="the hospital").rows["Accountant"]
        'Privacy loss distribution, by a contour integral (Alghamdi et al. 2023)'
        """
        parts: dict[str, Any] = {"delta": delta, "unit": self.unit or unit, "period": period}
        parts |= {"sampling": sampling, "tuning": tuning, "released": released, "trust": trust}
        parts |= {"records": self.units if records is None else records}
        parts |= {"trusted": "nobody" if trust == "local" else trusted}
        _require_words(parts, date, not_covered)
        if unit and self.unit and unit != self.unit:
            raise ValueError(f"Expected unit={self.unit!r} as in the plan, got unit={unit!r}.")
        _require_all(parts, self)
        chosen: dict[str, Any] = {"adjacency": adjacency} if adjacency else {}
        stated = self.guarantee(accountant, delta=delta, **chosen)  # type: ignore[arg-type]
        if tuned := hasattr(tuning, "run"):
            stated = tuning.guarantee(delta=stated.delta, adjacency=stated.adjacency)
        _refuse(stated, parts["records"])
        if released != "every_step":
            stated = replace(stated, kind="upper", lower=0.0)
        values = {
            "Unit of privacy": parts["unit"],
            "Paid for by one epsilon": period,
            "Run": repr(self),
            "Sampling": " and ".join(SAMPLED[name] for name in self.samplings) or "none",
            "Tuning": repr(tuning) if tuned else TUNINGS[tuning],
            "Released": self.releases[released],
            "Trust": f"{trust}, trusting {parts['trusted']}: {TRUST[trust]}",
            "Computed": f"{date or datetime.date.today()}, by dplearn {version('dplearn-privacy')}",
        }
        return Statement(
            guarantee=stated,
            records=parts["records"],
            parts=values,
            true_positive_rate=_true_positive_rate(stated, None if tuned else self.composed),
            not_covered=(*_NOT_COVERED, *not_covered),
        )


def _require_words(parts: Mapping[str, Any], date: Any, not_covered: Any) -> None:
    """Raise unless texts are str and date is a date that is not in the future."""
    for name in ("unit", "period", "sampling", "released", "trust", "trusted"):
        validate.instance(str, **{name: "" if parts[name] is None else parts[name]})
    if isinstance(not_covered, str) or not all(isinstance(each, str) for each in not_covered):
        raise TypeError(f"Expected not_covered to be a list of str, got {not_covered!r}.")
    if date is not None:
        validate.instance(datetime.date, date=date)
        if (today := datetime.date.today()).isoformat() < date.isoformat()[:10]:
            raise ValueError(f"Expected date not after today, {today}, got date={date}.")


def _require_all(parts: Mapping[str, Any], plan: HasGuarantee) -> None:
    """Raise unless every part is given and agrees with the plan."""
    own = " and ".join(plan.samplings)
    for part, meaning in _PARTS.items():
        if parts[part] in (None, "") and (own or part != "sampling"):
            raise ValueError(f"Expected {part}, {meaning}, got nothing.")
    validate.probability(delta=parts["delta"])
    validate.integer(minimum=1, records=parts["records"])
    validate.one_of(tuple(plan.releases), released=parts["released"])
    validate.one_of(tuple(TRUST), trust=parts["trust"])
    if parts["trust"] == "local" and own != "none":
        raise ValueError(
            "Expected trust='local' of a plan with sampling='none' alone, got "
            f"{own or 'votes that are counted'}: who sees each report sees who took part."
        )
    if plan.units not in (None, records := parts["records"]):
        raise ValueError(f"Expected records={plan.units} as in the plan, got records={records}.")
    if not hasattr(parts["tuning"], "run"):
        validate.one_of(TUNINGS, tuning=parts["tuning"])
    elif parts["tuning"].run != plan.composed:
        raise ValueError("Expected tuning=Tuned(plan, ...) of this plan, got another.")
    if parts["sampling"] not in ("", own):
        raise ValueError(
            f"Expected sampling={own!r} as in the plan, got sampling={parts['sampling']!r}: "
            "state the plan of what was run."
        )


def _refuse(stated: Guarantee, records: int) -> None:
    """Raise unless the guarantee is a finite bound with records * delta < 1."""
    if (victims := records * stated.delta) > 1 - 1e-9:  # 49 * (1 / 49) is less than 1 in doubles
        raise ValueError(
            f"Expected records * delta < 1, got {records} * {stated.delta:g} = {victims:.4g}: "
            "so many may be published in full, on average; use a smaller delta."
        )
    if not stated.is_bound:
        raise ValueError(f"Expected an accountant that proves a bound, got {stated.method!r}.")
    if stated.epsilon == math.inf:
        raise ValueError(f"Expected a finite epsilon, got none: {stated.reason}.")


def _true_positive_rate(stated: Guarantee, composed: Composed | None) -> float:
    """Return an upper bound on the true positive rate of any attack at 1 % false alarms."""
    steep = math.exp(min(stated.epsilon, 700.0)) * _FALSE_ALARMS + stated.delta
    most = min(steep, 1 - math.exp(-stated.epsilon) * (1 - stated.delta - _FALSE_ALARMS), 1.0)
    with suppress(NotImplementedError):
        if composed is not None:
            at = {"false_positive_rate": _FALSE_ALARMS, "adjacency": stated.adjacency}
            most = min(most, float(PLD().true_positive_rate(composed, **at)[1]))
    return most
