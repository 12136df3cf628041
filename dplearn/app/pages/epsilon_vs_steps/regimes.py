"""Where widely used software, or the theorem behind it, fails at the run one looks at.

Each entry says when it applies and what is known. Measured figures were taken from the
versions named, against brackets that this library certifies; a figure "here" is computed
for the run in view.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dplearn.app.pages.epsilon_vs_steps import answers as calls
from dplearn.app.pages.epsilon_vs_steps.answers import REFERENCE, Setting
from dplearn.figures import excess, text
from dplearn.ground.guarantee import Guarantee

_TENTHS = tuple(1 + x / 10 for x in range(1, 100))
OPACUS_ORDERS = (*_TENTHS, *map(float, range(12, 64)))
GOOGLE_ORDERS = (*_TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0)


@dataclass(frozen=True)
class Case:
    """A run at one number of steps, as the rules see it."""

    setting: Setting
    here: int

    def ask(self, accountant: str) -> Guarantee | None:
        """The accountant's guarantee, or nothing where it has no theorem."""
        if calls.answer(accountant, self.setting).refusal:
            return None
        return calls.reading(accountant, self.setting, self.here)

    def times(self, accountant: str) -> float:
        """Its epsilon over the certified one; 1 where they cannot be compared."""
        found, measure = self.ask(accountant), self.ask(REFERENCE)
        return (found and measure and excess.ratio(found, measure)) or 1.0

    def missing(self, accountant: str) -> float:
        """The share of the certified epsilon that it does not see."""
        found, measure = self.ask(accountant), self.ask(REFERENCE)
        if found is None or measure is None:
            return 0.0
        return excess.shortfalls({accountant: found}, measure).get(accountant, 0.0)

    def grid(self, orders: tuple[float, ...]) -> float:
        """Rényi DP at some orders over Rényi DP at all of them; 1 unless the best is not met."""
        found = self.ask("rdp")
        if found is None or not 0 < found.epsilon < math.inf or 1.1 <= self.order() <= 63:
            return 1.0
        return calls.rdp_at(orders, self.setting, self.here).epsilon / found.epsilon

    def order(self) -> float:
        """The best Rényi order."""
        found = self.ask("rdp")
        return found.details.get("order", math.nan) if found else math.nan

    def moment(self) -> float:
        """The moment that the moments accountant chose."""
        found = self.ask("moments")
        return found.details.get("moment", math.nan) if found else math.nan

    def hidden(self) -> float:
        """The share of the certified epsilon that the accounting of another run does not see."""
        said, measure = calls.claimed(self.setting, (self.here,)), self.ask(REFERENCE)
        if not said or measure is None:
            return 0.0
        return excess.shortfalls({calls.CLAIM: said[0]}, measure).get(calls.CLAIM, 0.0)

    def is_(self, mechanism: str, *samplings: str) -> bool:
        """Whether the run is of this kind."""
        return self.setting.mechanism == mechanism and self.setting.sampling in samplings


@dataclass(frozen=True)
class Regime:
    """One way to be wrong.

    Parameters
    ----------
    tool : str
    applies : callable
        Whether a case lies in the regime.
    says : callable
        One sentence about it.
    """

    tool: str
    applies: Callable[[Case], bool]
    says: Callable[[Case], str]


def _infinite(case: Case) -> bool:
    """A loss of mass 1e-15 is put at infinity: at once with sampling, else once δ is below it."""
    delta, sampling = case.setting.delta, case.setting.sampling
    return (sampling == "poisson" and delta <= 1e-15) or (sampling == "none" and delta < 1e-15)


def _cost(orders: tuple[float, ...]) -> Callable[[Case], str]:
    return lambda c: (
        f"tries orders {orders[0]:g} to {orders[-1]:g}, and the best one here is {c.order():.4g}: "
        f"{_percent(c.grid(orders) - 1)} more ε than Rényi DP proves."
    )


def _percent(share: float) -> str:
    return f"{text.plain(100 * share, 2)} %"


REGIMES = (
    Regime(
        "Accountants of Opacus, TensorFlow Privacy and JAX Privacy for DP-SGD",
        lambda c: c.hidden() >= 1e-3,
        lambda c: (
            "assume Poisson batches unless told otherwise: told of this run, such a number "
            f"leaves out {_percent(c.hidden())} of the ε that is certain."
        ),
    ),
    Regime(
        "The CLT (GDP) accountant, also Opacus'",
        lambda c: c.missing("gdp") >= 1e-3,
        lambda c: f"is no bound: here it is {_percent(c.missing('gdp'))} below the certified ε.",
    ),
    Regime(
        "Opacus' GDP accountant",
        lambda c: (found := c.ask("gdp")) is not None and found.epsilon > 500,
        lambda c: "looks for ε between 0 and 500 only, and stops with an error here.",
    ),
    Regime(
        "PLD of dp-accounting 0.6",
        lambda c: (
            c.is_("gaussian", "poisson") and 1e-15 < c.setting.delta <= 1e-11 and c.here >= 30_000
        ),
        lambda c: (
            'is not "pessimistic" at so small a δ: from T = 30 000 on it was found up to '
            "7.5 % below the certified ε."
        ),
    ),
    Regime(
        "PLD of dp-accounting 0.6",
        _infinite,
        lambda c: "returns ε = ∞: it puts a fixed mass of 1e-15 at infinity.",
    ),
    Regime(
        "PRV accountants (prv-accountant 0.2, Opacus')",
        lambda c: c.is_("gaussian", "poisson", "none") and c.setting.delta < 1e-13,
        lambda c: "refuse a δ below about 1e-13: rounding would decide the answer.",
    ),
    Regime(
        "FourierAccountant",
        lambda c: c.is_("gaussian", "poisson") and c.setting.delta <= 1e-10 and c.here >= 1000,
        lambda c: "gives no error bound: at T = 1000 it was found 1 to 77 % too low.",
    ),
    Regime(
        "RDP in Opacus",
        lambda c: c.grid(OPACUS_ORDERS) > 1.01,
        _cost(OPACUS_ORDERS),
    ),
    Regime(
        "RDP in dp-accounting 0.6",
        lambda c: c.grid(GOOGLE_ORDERS) > 1.01,
        _cost(GOOGLE_ORDERS),
    ),
    Regime(
        "The moments accountant of Abadi et al. (2016)",
        lambda c: c.moment() == 32 and c.times("moments") > 1.1,
        lambda c: (
            "stops at λ = 32, and a larger moment would help: here it asks for "
            f"{text.bound(c.times('moments'))} × the certified ε."
        ),
    ),
    Regime(
        "RDP for sampling without replacement (dp-accounting 0.6, autodp)",
        lambda c: c.is_("gaussian", "without_replacement"),
        lambda c: "was found at 2.1 × the certified ε in two runs; neither has a PLD for it.",
    ),
)


def sentences(setting: Setting, here: int) -> list[str]:
    """What goes wrong at this run, one sentence each."""
    case = Case(setting, here)
    return [f"**{r.tool}** {r.says(case)}" for r in REGIMES if r.applies(case)]
