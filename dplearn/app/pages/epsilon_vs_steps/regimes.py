"""Where widely used software, or the theorem behind it, fails at the run one looks at.

Each entry says when it applies and what is known. Measured figures were taken from the
versions named, against brackets that this library certifies; a figure "here" is computed
for the run in view.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dplearn.app.kit.language import retold
from dplearn.app.pages.epsilon_vs_steps import answers
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.figures.kit import certificate, text
from dplearn.ground.guarantee import Guarantee

_TENTHS = tuple(1 + x / 10 for x in range(1, 100))
OPACUS_ORDERS = (*_TENTHS, *map(float, range(12, 64)))
GOOGLE_ORDERS = (*_TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0)


@dataclass(frozen=True)
class Spot:
    """A run at one number of steps, as the rules see it; what is read off curves is not asked."""

    scenario: Scenario
    here: int
    readings: Mapping[str, Guarantee] = field(default_factory=dict)

    def guarantee(self, accountant: str) -> Guarantee | None:
        """The accountant's guarantee, or that claim; nothing where it has no theorem."""
        if accountant == answers.CLAIM:
            return next(iter(answers.claimed_curve(self.scenario, (self.here,))), None)
        if accountant in self.readings:
            return self.readings[accountant]
        return next(iter(answers.answer(accountant, self.scenario, (self.here,)).curve), None)

    def times(self, accountant: str) -> float:
        """Its epsilon over the certified one; 1 where they cannot be compared."""
        theirs, measure = self.guarantee(accountant), self.guarantee(REFERENCE)
        if theirs is None or measure is None:
            return 1.0
        base = certificate.floor(measure) if certificate.is_certified(measure) else measure.epsilon
        comparable = 0 < base < math.inf and 0 < theirs.epsilon < math.inf
        return theirs.epsilon / base if comparable else 1.0

    def missing(self, accountant: str) -> float:
        """The share of the certified epsilon that it does not see."""
        measure = self.guarantee(REFERENCE)
        if measure is None or not certificate.is_certified(measure):
            return 0.0
        return max(1 - self.times(accountant), 0.0)

    def grid(self, orders: tuple[float, ...]) -> float:
        """Rényi DP at some orders over Rényi DP at all of them; 1 unless the best is not met."""
        rdp, best = self.guarantee("rdp"), self.detail("rdp", "order")
        if rdp is None or not 0 < rdp.epsilon < math.inf or 1.1 <= best <= 63:
            return 1.0
        coarse = answers.answer("rdp", self.scenario, (self.here,), orders=orders)
        return coarse.curve[0].epsilon / rdp.epsilon

    def detail(self, accountant: str, name: str) -> float:
        """The order or moment that an accountant chose."""
        guarantee = self.guarantee(accountant)
        return guarantee.details.get(name, math.nan) if guarantee else math.nan

    def is_(self, mechanism: str, *samplings: str) -> bool:
        """Whether the run is of this kind."""
        run = self.scenario
        return run.mechanism == mechanism and run.sampling in samplings and not run.then


@dataclass(frozen=True)
class Regime:
    """One way to be wrong: whose, whether a spot lies in it, and a sentence about it."""

    tool: str
    applies: Callable[[Spot], bool]
    says: Callable[[Spot], str]


def _cost(orders: tuple[float, ...]) -> Callable[[Spot], str]:
    return lambda c: (
        f"tries orders {orders[0]:g} to {orders[-1]:g}, and the best one here is "
        f"{c.detail('rdp', 'order'):.4g}: "
        f"{_percent(c.grid(orders) - 1)} more ε than Rényi DP proves."
    )


def _percent(share: float) -> str:
    return f"{text.plain(100 * share, 2)}\u00a0%"


REGIMES = (
    Regime(
        "Accountants of Opacus, TensorFlow Privacy and JAX Privacy for DP-SGD",
        lambda c: c.missing(answers.CLAIM) >= 1e-3,
        lambda c: (
            "assume Poisson batches unless told otherwise: told of this run, such a number "
            f"leaves out {_percent(c.missing(answers.CLAIM))} of the ε that is certain."
        ),
    ),
    Regime(
        "The CLT (GDP) accountant, also Opacus'",
        lambda c: c.missing("gdp") >= 1e-3,
        lambda c: f"is no bound: here it is {_percent(c.missing('gdp'))} below the certified ε.",
    ),
    Regime(
        "Opacus' GDP accountant",
        lambda c: (gdp := c.guarantee("gdp")) is not None and gdp.epsilon > 500,
        lambda c: "looks for ε between 0 and 500 only, and stops with an error here.",
    ),
    Regime(
        "PLD of dp-accounting 0.6",
        lambda c: (
            c.is_("gaussian", "poisson") and 1e-15 < c.scenario.delta <= 1e-11 and c.here >= 30_000
        ),
        lambda c: (
            'is not "pessimistic" at so small a δ: from T = 30 000 on it was found up to '
            "7.5 % below the certified ε."
        ),
    ),
    Regime(
        "PLD of dp-accounting 0.6",
        # At once with sampling, else when δ is below that mass.
        lambda c: (
            (c.scenario.sampling == "poisson" and c.scenario.delta <= 1e-15)
            or (c.scenario.sampling == "none" and c.scenario.delta < 1e-15)
        ),
        lambda c: "returns ε = ∞: it puts a fixed mass of 1e-15 at infinity.",
    ),
    Regime(
        "PRV accountants (prv-accountant 0.2, Opacus')",
        lambda c: c.is_("gaussian", "poisson", "none") and c.scenario.delta < 1e-13,
        lambda c: "refuse a δ below about 1e-13: rounding would decide the answer.",
    ),
    Regime(
        "FourierAccountant",
        lambda c: c.is_("gaussian", "poisson") and c.scenario.delta <= 1e-10 and c.here >= 1000,
        lambda c: "gives no error bound: at T = 1000 it was found 1 to 77 % too low.",
    ),
    Regime("RDP in Opacus", lambda c: c.grid(OPACUS_ORDERS) > 1.01, _cost(OPACUS_ORDERS)),
    Regime(
        "RDP in dp-accounting 0.6", lambda c: c.grid(GOOGLE_ORDERS) > 1.01, _cost(GOOGLE_ORDERS)
    ),
    Regime(
        "The moments accountant of Abadi et al. (2016)",
        lambda c: c.detail("moments", "moment") == 32 and c.times("moments") > 1.1,
        lambda c: (
            "stops at λ = 32, and a larger moment would help: here it asks for up to "
            f"{text.bound(c.times('moments'))} × the certified ε."
        ),
    ),
    Regime(
        "RDP for sampling without replacement (dp-accounting 0.6, autodp)",
        lambda c: c.is_("gaussian", "without_replacement"),
        lambda c: "was found at 2.1 × the certified ε in two runs; neither has a PLD for it.",
    ),
)


def sentences(scenario: Scenario, here: int, readings: Mapping[str, Guarantee]) -> list[str]:
    """What goes wrong at this run, one sentence each."""
    spot = Spot(scenario, here, readings)
    return [retold(f"**{r.tool}** {r.says(spot)}") for r in REGIMES if r.applies(spot)]
