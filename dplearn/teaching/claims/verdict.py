"""What was found about a claim."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dplearn.core.display import as_json
from dplearn.core.guarantee import round_down, round_up

Relation = Literal["upper", "lower", "equal"]
HOLDS, VIOLATED, UNDECIDED, UNDEFINED = range(4)
STATUS = ("holds", "violated", "undecided", "undefined")
_SIGN = {"upper": "<=", "lower": ">=", "equal": "="}

# Differences below this, relative, count as equality.
SAME = 1e-6


@dataclass(frozen=True, kw_only=True)
class Point:
    """Parameters, with what is claimed there and what is proved."""

    parameters: Mapping[str, float]
    claimed: float
    lower: float  # this and `upper` are certified ends of the truth
    upper: float

    @property
    def ratio(self) -> float:
        """Claim / truth, by the nearer end of the bracket."""
        end = min(max(self.claimed, self.lower), self.upper)
        return self.claimed / end if end else math.inf

    def __str__(self) -> str:
        truth = f"{round_down(self.lower)} is proved from below"
        if self.claimed > self.upper:
            truth = f"{round_up(self.upper)} is proved from above"
        elif self.claimed >= self.lower:
            truth = f"the truth lies in [{round_down(self.lower)}, {round_up(self.upper)}]"
        times = f" (claim / truth = {self.ratio:.3g})" if math.isfinite(self.ratio) else ""
        return f"{in_words(self.parameters)}: claimed {self.claimed:.4g}, {truth}{times}"


@dataclass(frozen=True, kw_only=True)
class Region:
    """A one-parameter rule that all decided points obey; a finding, not a proof."""

    parameter: str
    side: str  # <=, >= or =
    value: float
    points: int  # how many points the rule covers, all of which hold
    # Where the claim first fails along `parameter`, the others as in the counterexample.
    turns: float | None = None


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Claim / truth over two parameters, the others fixed: entry [j][i] is at (x[i], y[j])."""

    axes: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    fixed: Mapping[str, float]
    ratio: tuple[tuple[float, ...], ...]  # nan where it is not known
    status: tuple[tuple[int, ...], ...]  # index into `STATUS`


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A claim compared with the certified truth on many points."""

    claim: str
    quantity: str
    of: str
    relation: Relation
    fixed: Mapping[str, float]  # what was held, and T = 1 where the claim does not speak of T
    truth: str  # what it was compared with
    adjacency: str
    points: int  # that were asked for
    decided: int  # of them, within the effort
    violated: int  # among these
    simplest: Point | None  # re-verified at full accuracy
    region: Region | None  # where it holds as far as one parameter tells
    looseness: tuple[float, float] | None  # median and largest claim / truth where it holds
    map: Slice

    @property
    def status(self) -> str:
        """``"violated"``: proved by a counterexample; ``"holds"``: at every decided point;
        ``"undecided"``: nothing could be decided, or not at full accuracy."""
        if self.simplest:
            return "violated"
        return "holds" if self.decided and not self.violated else "undecided"

    def sentences(self) -> list[str]:
        """The finding, one thought each."""
        lines = [self._headline()]
        if self.simplest:
            lines += [f"Simplest counterexample: {self.simplest}.", self._where(self.simplest)]
        if self.looseness and self.relation != "equal":
            median, largest = self.looseness
            text = f"Where it holds, claim / truth is {median:.3g} in the median, "
            text += f"{largest:.3g} at most."
            exact = max(abs(median - 1), abs(largest - 1)) < 1e-5
            lines.append("Where it holds it is exact." if exact else text)
        lines.append(
            f"Decided at {self.decided} of {self.points} points against {self.truth}; "
            "points are no proof that a claim holds everywhere."
        )
        return lines

    def _headline(self) -> str:
        held = f" with {in_words(self.fixed)}" if self.fixed else ""
        words = {"epsilon": "total epsilon", "sigma": "sigma needed"}
        about = words.get(self.quantity, self.quantity).replace("_", " ")
        who = self.of.replace("_", " ")
        claim = f"{about} {_SIGN[self.relation]} {self.claim} for {who}{held}"
        if self.simplest:
            more = " It claims more privacy than there is." if self.relation == "upper" else ""
            return f"Violated: {claim}.{more}"
        if self.status == "undecided":
            why = "The rough answer stands against it" if self.decided else "No point was decided"
            return f"Undecided: {claim}. {why}."
        return f"No violation found: {claim}."

    def _where(self, simplest: Point) -> str:
        if not self.violated:
            return "It fails only between the points of the survey."
        if self.violated == self.decided:
            return f"It fails at all {self.decided} decided points."
        region = self.region
        if region is None:
            share = self.violated / self.decided
            return f"It fails at {share:.0%} of the points; no single parameter tells where."
        text = (
            f"It holds at all {region.points} decided points with "
            f"{region.parameter} {region.side} {region.value:g}"
        )
        if region.turns is None:
            return text + "."
        others = {k: v for k, v in simplest.parameters.items() if k != region.parameter}
        place = f" for {in_words(others)}" if others else ""
        return f"{text}; it begins to fail at {region.parameter} = {region.turns:.4g}{place}."

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers for JSON, with the status; inf and nan become None."""
        return as_json({"status": self.status, **dataclasses.asdict(self)})


def in_words(parameters: Mapping[str, float]) -> str:
    """Parameters and their values in words."""
    return ", ".join(f"{name} = {value:.6g}" for name, value in parameters.items())
