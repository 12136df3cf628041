"""Where widely used software, or the theorem behind it, fails at the run one looks at.

Each entry says when it applies and what is known. Measured figures were taken from the
versions named, against brackets that this library certifies; a figure "here" is computed
for the run in view.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from dplearn.app.kit.language import retold
from dplearn.app.pages.epsilon_vs_steps import answers
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.book.kit.written import parse
from dplearn.figures.kit import certificate, text
from dplearn.ground.guarantee import Guarantee
from dplearn.mechanisms.drawing import SAMPLINGS

_TENTHS = tuple(1 + x / 10 for x in range(1, 100))
ORDERS = {
    "opacus": (*_TENTHS, *map(float, range(12, 64))),
    "google": (*_TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0),
}


# Whose, when by numbers of a `Spot`, and a sentence with such numbers.
REGIMES = (
    (
        "Accountants of Opacus, TensorFlow Privacy and JAX Privacy for DP-SGD",
        "claim_misses >= 0.001",
        "assume Poisson batches unless told otherwise: told of this run, such a number "
        "leaves out {claim_misses} of the ε that is certain.",
    ),
    (
        "The CLT (GDP) accountant, also Opacus'",
        "gdp_misses >= 0.001",
        "is no bound: here it is {gdp_misses} below the certified ε.",
    ),
    (
        "Opacus' GDP accountant",
        "gdp_epsilon > 500",
        "looks for ε between 0 and 500 only, and stops with an error here.",
    ),
    (
        "PLD of dp-accounting 0.6",
        "gaussian and poisson and 1e-15 < delta <= 1e-11 and T >= 30000",
        'is not "pessimistic" at so small a δ: from T = 30 000 on it was found up to '
        "7.5 % below the certified ε.",
    ),
    (
        "PLD of dp-accounting 0.6",
        # At once with sampling, else when δ is below that mass.
        "poisson and delta <= 1e-15 or none and delta < 1e-15",
        "returns ε = ∞: it puts a fixed mass of 1e-15 at infinity.",
    ),
    (
        "PRV accountants (prv-accountant 0.2, Opacus')",
        "gaussian and (poisson or none) and delta < 1e-13",
        "refuse a δ below about 1e-13: rounding would decide the answer.",
    ),
    (
        "FourierAccountant",
        "gaussian and poisson and delta <= 1e-10 and T >= 1000",
        "gives no error bound: at T = 1000 it was found 1 to 77 % too low.",
    ),
    (
        "RDP in Opacus",
        "opacus_more > 0.01",
        "tries orders 1.1 to 63, and the best one here is {rdp_order}: "
        "{opacus_more} more ε than Rényi DP proves.",
    ),
    (
        "RDP in dp-accounting 0.6",
        "google_more > 0.01",
        "tries orders 1.1 to 1024, and the best one here is {rdp_order}: "
        "{google_more} more ε than Rényi DP proves.",
    ),
    (
        "The moments accountant of Abadi et al. (2016)",
        "moments_moment == 32 and moments_times > 1.1",
        "stops at λ = 32, and a larger moment would help: here it asks for up to "
        "{moments_times} × the certified ε.",
    ),
    (
        "RDP for sampling without replacement (dp-accounting 0.6, autodp)",
        "gaussian and without_replacement",
        "was found at 2.1 × the certified ε in two runs; neither has a PLD for it.",
    ),
)


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
            return next(iter(answers.claimed_curve(self.scenario, (self.here,))), None)
        if accountant in self.readings:
            return self.readings[accountant]
        return next(iter(answers.answer(accountant, self.scenario, (self.here,)).curve), None)

    def _more(self, orders: tuple[float, ...]) -> float:
        """What some orders cost; 0 unless the best of all is not among them."""
        rdp = self._guarantee("rdp")
        if rdp is None or not 0 < rdp.epsilon < math.inf or 1.1 <= rdp.details["order"] <= 63:
            return 0.0
        coarse = answers.answer("rdp", self.scenario, (self.here,), orders=orders)
        return coarse.curve[0].epsilon / rdp.epsilon - 1


def sentences(scenario: Scenario, here: int, readings: Mapping[str, Guarantee]) -> list[str]:
    """What goes wrong at this run, one sentence each."""
    spot = Spot(scenario, here, readings)
    applying = [
        f"**{tool}** {sentence}"
        for tool, condition, sentence in REGIMES
        if (known := _parsed(condition))(**{name: spot.number(name) for name in known.names})
    ]
    return [retold(re.sub(r"\{(\w+)\}", lambda m: _told(spot, m[1]), one)) for one in applying]


_parsed = lru_cache(maxsize=len(REGIMES))(parse)


def _told(spot: Spot, name: str) -> str:
    """A number in a sentence."""
    value = spot.number(name)
    if name.endswith(("_misses", "_more")):
        return f"{text.plain(100 * value, 2)}\u00a0%"
    return f"{value:.4g}" if name == "rdp_order" else text.bound(value)
