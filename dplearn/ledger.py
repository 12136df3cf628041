"""Ledger of the releases from one data set: their total epsilon and the remaining budget."""

import dataclasses
import json
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants._runs import MOST_RUNS
from dplearn.accountants.moments import RDP
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.core import validate
from dplearn.core.display import Shown
from dplearn.core.files import write_whole
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee, round_down, round_up
from dplearn.mechanisms import MECHANISMS, ZCDP, ApproximateDP, Composed, Mechanism
from dplearn.mechanisms._base import as_mechanism
from dplearn.mechanisms._known import MOST_EPSILON

_FORMAT = "dplearn ledger 1"
_KNOWN = {**MECHANISMS, ApproximateDP.name: ApproximateDP, ZCDP.name: ZCDP}
# Relative rounding error by which a total may exceed the budget; the stated epsilon includes it.
_ROUNDING = 9e-13
_DAMAGE = ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError
_FAR = 1e3  # a Rényi divergence so large that it converts to a positive epsilon
_ADAPTIVE = "only what the ledger took was run, and data chose it through earlier releases alone"
_BEFOREHAND = "all releases were chosen before the result of any was seen"
_FILTERS = (
    "a Rényi filter of one order (Feldman & Zrnic 2021, Theorem 3.1) beside the basic one "
    "(Rogers, Roth, Ullman & Vadhan 2016)"
)
_ODOMETER = "an odometer at eight orders, by Ville's inequality (Rogers et al. 2016; Lécuyer 2021)"
_ODOMETER_ORDERS = 1 + 2.0 ** np.arange(-1, 7)


class BudgetExceeded(ValueError):
    """Error raised by a release that would exceed the budget; the ledger stays unchanged."""


class Release(NamedTuple):
    """Release in a ledger: a name, a mechanism, and how often it is run.

    Parameters
    ----------
    name : str
    mechanism : Mechanism
    steps : int >= 1, number of runs
    """

    name: str
    mechanism: Mechanism
    steps: int


@dataclass(kw_only=True)
class Ledger(Shown, metaclass=validate.NamesParameters):
    r"""Releases from one data set, their total guarantee, and a budget that limits them.

    A release is a mechanism, a plan such as `DPSGD`, or a known guarantee: `ApproximateDP` or
    `ZCDP`. If each release may be chosen by the results of earlier ones (`adaptive`),
    the total is bounded by filters, whose epsilon is fixed beforehand; else all releases are
    composed as one mechanism, which is tighter and has a lower end.

    Both filters run side by side. On outputs whose pure epsilons sum to at most epsilon the loss is
    at most epsilon; on the others the moment of the loss at the fixed order is bounded as if all
    mechanisms had been chosen beforehand. The Rényi filter uses at most delta - `reserve`.
    A first release is also accepted if its own tight guarantee fits; if it fits neither
    filter, no further release is accepted.

    Parameters
    ----------
    epsilon : float > 0, the budget in nats. Without a budget no release is refused, and an adaptive
        ledger states a bound on the loss so far that holds with probability 1 - delta, at all times
        together
    delta : float in [0, 1); 0 allows pure differential privacy only
    adjacency : str, kind of neighbouring data sets
    adaptive : bool, whether a release may depend on the results of earlier ones
    order : float in [1.01, 1e6] of the Rényi filter; by default the best one for Gaussian noise
    reserve : float in [0, delta], part of delta reserved beforehand for releases known only by
        (epsilon, delta) with delta > 0; by default all of it if such a release comes first, else 0
    releases : tuple of Release

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, Laplace
    >>> ledger = Ledger(epsilon=1.0, delta=1e-5)
    >>> ledger.add(Laplace(10.0), name="number of patients")
    >>> ledger.add(Gaussian(10.0), name="histogram", steps=3)
    >>> ledger.fits(Gaussian(10.0), steps=4)
    False
    >>> print(ledger.guarantee)
    epsilon <= 1 at delta = 1.0e-05, add_remove, by ledger
    """

    epsilon: float | None = None
    delta: float
    adjacency: Adjacency = "add_remove"
    adaptive: bool = True
    order: float | None = None
    reserve: float | None = None
    releases: tuple[Release, ...] = ()

    def __post_init__(self) -> None:
        validate.between(0, math.nextafter(1, 0), delta=self.delta)
        validate.one_of(ADJACENCIES, adjacency=self.adjacency)
        validate.instance(bool, adaptive=self.adaptive)
        self.delta = float(self.delta)
        if self.epsilon is not None:
            validate.positive(epsilon=self.epsilon)
            self.epsilon = float(self.epsilon)
        if self.reserve is not None:
            validate.between(0, self.delta, reserve=self.reserve)
            self.reserve = float(self.reserve)
        if self.order is not None:
            validate.between(1.01, 1e6, order=self.order)
            self.order = float(self.order)
        elif self.delta and self.epsilon is not None:
            orders = np.array(RDP().orders)
            left = self.epsilon - (rdp_to_epsilon(orders, _FAR, delta=self.delta) - _FAR)
            # Best Rényi order for a Gaussian, whose divergences are proportional to the order.
            self.order = float(orders[np.argmax(left / orders)])
        self.releases = tuple(self._line(r.mechanism, r.name, r.steps) for r in self.releases)
        total, self.reserve = self._total(self.releases)
        if not self._is_within(total):
            raise BudgetExceeded(f"Expected releases that fit the budget, got {total:.6g} in all.")

    @validate.names_parameters
    def add(self, release: Any, *, name: str = "", steps: int = 1) -> None:
        """Add a release that runs `steps` times, if it fits into the budget.

        Raise BudgetExceeded, with the excess, if it does not fit; the ledger is then unchanged.
        Raise NotImplementedError if no theorem covers the release under the ledger's adjacency.
        """
        line = self._line(release, name, steps)
        total, reserve = self._total((*self.releases, line))
        if self.epsilon is not None and not self._is_within(total):
            together = f"epsilon {round_up(total)}, {round_up(total - self.epsilon)} too much"
            if total == math.inf:
                together = "no finite epsilon"
                if self.adaptive and (pairs := _pairs_delta((*self.releases, line))):
                    together += (
                        f": deltas of pairs sum to {pairs:.6g}, and {reserve:g} of delta is kept "
                        f"for them, as Ledger(reserve=...), or new --reserve, decides beforehand"
                    )
            raise BudgetExceeded(
                f"Expected a release that fits the budget of epsilon={self.epsilon!r} at "
                f"delta={self.delta!r}, got {line.name!r}: together {together}. A pure release of "
                f"epsilon {round_down(self.remaining)} would fit."
            )
        self.releases = (*self.releases, line)
        self.reserve = reserve

    def fits(self, release: Any, *, steps: int = 1) -> bool:
        """Return whether `add` would accept the release."""
        return self._is_within(self._total((*self.releases, self._line(release, "", steps)))[0])

    def _is_within(self, total: float) -> bool:
        return self.epsilon is None or total <= self.epsilon * (1 + _ROUNDING)

    @property
    def remaining(self) -> float:
        """Largest epsilon of a pure release that still fits, in nats; inf without a budget."""
        if self.epsilon is None:
            return math.inf
        low, most = 0.0, min(self.epsilon, MOST_EPSILON)
        high = 2 * most
        while high - low > 1e-4 * self.epsilon and low < most:
            middle = (low + high) / 2
            low, high = (middle, high) if self.fits(ApproximateDP(middle)) else (low, middle)
        return low

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all releases; the whole budget if the ledger is adaptive and has one."""
        conditions = (m.assumptions for _, m, _ in self.releases)
        how = _ADAPTIVE if self.adaptive else _BEFOREHAND
        stated: dict[str, Any] = {"method": "ledger", **self._question}
        stated["assumptions"] = (*dict.fromkeys(c for each in conditions for c in each), how)
        if not self.adaptive:
            total = self._composed(self.releases)
            return dataclasses.replace(total, **stated, proof=total.proof or total.method)
        if self.epsilon is not None:
            epsilon = self.epsilon * (1 + _ROUNDING)
            return Guarantee(epsilon=epsilon, kind="upper", proof=_FILTERS, **stated)
        reason = "a bound on the loss so far, which is larger with probability delta at most"
        stated |= {"kind": "probable", "proof": _ODOMETER, "reason": reason}
        return Guarantee(epsilon=self._total(self.releases)[0], **stated)

    def save(self, path: str | os.PathLike) -> None:
        """Write the ledger as JSON; after an error the old file remains."""
        settings = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)[:-1]}
        lines = [{"name": name, "release": _encoded(m), "steps": n} for name, m, n in self.releases]
        whole = {"format": _FORMAT, **settings, "releases": lines}
        write_whole(path, (json.dumps(whole, indent=1) + "\n").encode())

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Return the ledger saved in a file; raise ValueError for any other file."""
        try:
            whole = json.loads(Path(path).read_text(encoding="utf-8"))
            if whole.pop("format") != _FORMAT:
                raise ValueError("another format")
            lines = whole.pop("releases")
            releases = tuple(Release(r["name"], _decoded(r["release"]), r["steps"]) for r in lines)
            return cls(**whole, releases=releases)
        except BudgetExceeded:
            raise
        except _DAMAGE as error:
            message = f"Expected a file that Ledger.save wrote, got {path}: {error}"
            raise ValueError(message) from None

    def __str__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self._shown().items())

    def _shown(self) -> dict[str, str]:
        shown = {
            f"{i}. {r.name}": f"{r.mechanism!r}, {r.steps} x, alone: {self._composed([r])}"
            for i, r in enumerate(self.releases, 1)
        }
        shown["total"] = str(self.guarantee)
        if self.epsilon is not None:
            shown["remaining"] = f"a pure release of epsilon {round_down(self.remaining)} fits"
        return shown

    def _line(self, release: Any, name: str, steps: int) -> Release:
        if not isinstance(getattr(release, "composed", release), Mechanism):
            known = "a mechanism, a plan, ApproximateDP(epsilon, delta) or ZCDP(rho)"
            raise TypeError(f"Expected release to be {known}, got release={release!r}.")
        if not isinstance(name, str) or not name.isprintable():
            raise ValueError(f"Expected name to be a line of text, got name={name!r}.")
        validate.integer(minimum=1, maximum=MOST_RUNS, steps=steps)
        # Drop parts that never run.
        parts = [(m, count) for m, count in as_mechanism(release).parts() if count]
        if not parts:
            raise ValueError(f"Expected a release that runs at least once, got {release!r}.")
        for part, _ in parts:
            part.require_theorem(self.adjacency)
            pair = isinstance(part, ApproximateDP) and part.delta
            if pair and self.adaptive and self.epsilon is None:
                why = "its loss may exceed epsilon more often; give the ledger an epsilon"
                raise validate.unsupported("a pair with delta > 0 in a ledger without budget", why)
        (one, count), *others = parts
        mechanism, steps = (Composed(parts), int(steps)) if others else (one, count * int(steps))
        return Release(name or mechanism.name, mechanism, steps)

    def _total(self, lines: Sequence[Release]) -> tuple[float, float | None]:
        """Return the releases' total epsilon, and the delta reserved for (epsilon, delta)-DP."""
        if not lines:
            return 0.0, self.reserve
        if not self.adaptive:
            return self._composed(lines).epsilon, self.reserve
        pairs, reserve = _pairs_delta(lines), self.reserve
        if reserve is None:
            reserve = self.delta if _pairs_delta(lines[:1]) else 0.0
        parts = [
            # Count an (epsilon, delta) release as pure: its delta comes from the reserve.
            (ApproximateDP(m.epsilon) if isinstance(m, ApproximateDP) else m, count * line.steps)
            for line in lines
            for m, count in line.mechanism.parts()
        ]
        if any(m.infinite_epsilon_reason() for m, _ in parts) or pairs > reserve * (1 + _ROUNDING):
            return math.inf, reserve
        routes = [math.fsum(m.pure_epsilon(self.adjacency) * count for m, count in parts)]
        if self.epsilon is None and self.delta > 0:
            rarely = math.log(_ODOMETER_ORDERS.size / self.delta)
            spent = self._spent(parts, _ODOMETER_ORDERS) + rarely / (_ODOMETER_ORDERS - 1)
            routes.append(float(np.min(spent)) * (1 + _ROUNDING))
        elif self.order and self.delta > reserve:
            spent = self._spent(parts, np.array([self.order]))[0]
            routes.append(float(rdp_to_epsilon(self.order, spent, delta=self.delta - reserve)))
        if len(lines) == 1 and self.epsilon is not None:
            routes.append(self._composed(lines).epsilon)
        return min(routes), reserve

    def _spent(self, parts: Sequence[tuple[Mechanism, int]], orders: np.ndarray) -> np.ndarray:
        """Return the parts' summed Rényi divergence at each order; every operation rounds up."""
        up = lambda x: np.nextafter(x, np.inf)
        each = (up(count * m.rdp(orders, adjacency=self.adjacency)) for m, count in parts)
        return reduce(lambda total, more: up(total + more), each)

    def _composed(self, lines: Sequence[Release]) -> Guarantee:
        if not lines:
            return Guarantee(epsilon=0.0, kind="exact", method="pld", **self._question)
        run = Composed((line.mechanism, line.steps) for line in lines)
        pure = run.pure_epsilon(self.adjacency)
        stated = Guarantee(epsilon=pure, kind="upper", method="basic", **self._question)
        for name in ("pld", "rdp") if self.delta else ():
            with suppress(NotImplementedError):
                bound = ACCOUNTANTS[name]().epsilon(run, **self._question)
                if bound.epsilon > stated.epsilon:
                    bound = dataclasses.replace(stated, lower=max(stated.lower, bound.lower))
                stated = bound
        return stated

    @property
    def _question(self) -> dict[str, Any]:
        return {"delta": self.delta, "adjacency": self.adjacency}


def _pairs_delta(lines: Sequence[Release]) -> float:
    return math.fsum(
        part.delta * count * line.steps
        for line in lines
        for part, count in line.mechanism.parts()
        if isinstance(part, ApproximateDP)
    )


def _encoded(value: Any) -> Any:
    if isinstance(value, Composed):
        return {"mechanism": "composed", "mechanisms": [[_encoded(m), n] for m, n in value.parts()]}
    if isinstance(value, Mechanism):
        if value.name not in _KNOWN:
            raise ValueError(f"Expected a mechanism of dplearn to save, got {value!r}.")
        own = {f.name: _encoded(getattr(value, f.name)) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        return {"mechanism": value.name, **own}
    if isinstance(value, np.generic):
        return value.item()
    return [_encoded(x) for x in value] if isinstance(value, tuple) else value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        own = {name: _decoded(x) for name, x in value.items()}
        if (name := own.pop("mechanism")) not in _KNOWN:
            raise ValueError(f"no mechanism is called {name!r}")
        return _KNOWN[name](**own)
    return tuple(_decoded(x) for x in value) if isinstance(value, list) else value
