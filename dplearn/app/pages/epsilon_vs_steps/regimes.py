"""Where widely used software, or the theorem behind it, fails at the run one looks at.

Each entry says when it applies and what is known. Measured figures were taken from the
versions named, against brackets that this library certifies; a figure "here" is computed
for the run in view.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import Formatter

from dplearn.app.kit.fields import Words
from dplearn.app.pages.epsilon_vs_steps import run as runs
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.book.kit.written import parse
from dplearn.figures.kit import certificate, text
from dplearn.ground.guarantee import Guarantee
from dplearn.run import SAMPLINGS

_say = Words("epsilon_vs_steps")
_TENTHS = tuple(1 + x / 10 for x in range(1, 100))
ORDERS = {
    "opacus": (*_TENTHS, *map(float, range(12, 64))),
    "google": (*_TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0),
}
# When, by numbers of a `Spot`; the words of the page say whose tool does what.
REGIMES = {
    "claimed": "claim_misses >= 0.001",
    "limit": "gdp_misses >= 0.001",
    "range": "gdp_epsilon > 500",
    "optimistic": "gaussian and poisson and 1e-15 < delta <= 1e-11 and T >= 30000",
    # At once with sampling, else when δ is below that mass.
    "infinite": "poisson and delta <= 1e-15 or none and delta < 1e-15",
    "refused": "gaussian and (poisson or none) and delta < 1e-13",
    "fourier": "gaussian and poisson and delta <= 1e-10 and T >= 1000",
    "opacus": "opacus_more > 0.01",
    "google": "google_more > 0.01",
    "moments": "moments_moment == 32 and moments_times > 1.1",
    "subsets": "gaussian and without_replacement",
}


@dataclass(frozen=True)
class Spot:
    """A run at one number of steps, as conditions see it; what is read off curves is not asked."""

    scenario: Scenario
    here: int
    readings: Mapping[str, Guarantee] = field(default_factory=dict)

    def number(self, name: str) -> float:
        """What a condition names: T, delta, a kind of run, or something of an accountant.

        Of an accountant: `epsilon`; `times`, its epsilon over the certified one; `misses`, the
        share of the certified epsilon that it does not see; `more`, what the orders of a tool add
        to Rényi DP; or the order or moment that it chose. NaN where it has no theorem.
        """
        run, (who, _, what) = self.scenario, name.partition("_")
        plain = {"T": self.here, "delta": run.delta}
        plain["gaussian"] = run.mechanism == "gaussian" and not run.then
        plain |= {sampling: run.sampling == sampling for sampling in SAMPLINGS}
        if name in plain:
            return plain[name]
        if what == "more":
            return self._more(ORDERS[who])
        theirs, measure = self._guarantee(who), self._guarantee(REFERENCE)
        if theirs is None or measure is None:
            return math.nan
        if what not in ("times", "misses"):
            return theirs.epsilon if what == "epsilon" else theirs.details.get(what, math.nan)
        certified = certificate.is_certified(measure)
        base = certificate.floor(measure) if certified else measure.epsilon
        comparable = 0 < base < math.inf and 0 < theirs.epsilon < math.inf
        times = theirs.epsilon / base if comparable else 1.0
        return times if what == "times" else max(1 - times, 0.0) * certified

    def _guarantee(self, accountant: str) -> Guarantee | None:
        """The accountant's guarantee, or that claim; nothing where it has no theorem."""
        if accountant == "claim":
            return next(iter(runs.claimed_curve(self.scenario, (self.here,))), None)
        if accountant in self.readings:
            return self.readings[accountant]
        return next(iter(runs.answer_of(accountant, self.scenario, (self.here,)).curve), None)

    def _more(self, orders: tuple[float, ...]) -> float:
        """What some orders cost; 0 unless the best of all is not among them."""
        rdp = self._guarantee("rdp")
        if rdp is None or not 0 < rdp.epsilon < math.inf or 1.1 <= rdp.details["order"] <= 63:
            return 0.0
        coarse = runs.answer_of("rdp", self.scenario, (self.here,), orders=orders)
        return coarse.curve[0].epsilon / rdp.epsilon - 1


def sentences(scenario: Scenario, here: int, readings: Mapping[str, Guarantee]) -> list[str]:
    """What goes wrong at this run, one sentence each."""
    spot, told = Spot(scenario, here, readings), []
    for name, condition in REGIMES.items():
        asked = _parsed(condition)
        if asked(**{number: spot.number(number) for number in asked.names}):
            says = f"regimes.{name}.says"
            places = {
                hole: _told(spot, hole) for _, hole, _, _ in Formatter().parse(_say[says]) if hole
            }
            told.append(f"**{_say(f'regimes.{name}.tool')}** {_say(says, **places)}")
    return told


_parsed = lru_cache(maxsize=len(REGIMES))(parse)


def _told(spot: Spot, name: str) -> str:
    """A number in a sentence."""
    value = spot.number(name)
    if name.endswith(("_misses", "_more")):
        return f"{text.plain(100 * value, 2)}\u00a0%"
    return f"{value:.4g}" if name == "rdp_order" else text.bound(value)
