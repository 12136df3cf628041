"""Every question the explorer asks the library, answered once per setting.

The caches are bounded and hold immutable answers, which all readers share.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dplearn.accountants import Accountant, accountants
from dplearn.book.published import published as published_rows
from dplearn.figures import log_steps
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency, Guarantee
from dplearn.mechanisms import Gaussian, Mechanism, mechanisms
from dplearn.run import EPOCH_SAMPLINGS, epoch, guarantees, natural_adjacency

# The accountant that proves from both sides: the others are measured by it.
REFERENCE = "pld"
# The name under which a picture shows what is said of another run.
CLAIM = "poisson_claim"


@dataclass(frozen=True)
class Setting:
    """A run and how far to follow it: all that a curve depends on.

    Parameters
    ----------
    mechanism, sampling : str
    adjacency : {"add_remove", "replace_one", "zero_out"}
    noise_multiplier, sample_rate, delta : float
    largest : int
        Last number of steps.
    draft : bool
        A slider is on its way: the reference aims at three digits, so that the picture can
        follow. What it proves is true all the same.
    """

    mechanism: str
    noise_multiplier: float
    sampling: str
    sample_rate: float
    delta: float
    adjacency: Adjacency
    largest: int
    draft: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """Where its curves are known."""
        if not self.by_epoch:
            return tuple(log_steps(self.largest))
        # Nothing happens inside an epoch: a few steps of the first, then the ends of epochs.
        first, whole = min(self.batches, self.largest), self.largest // self.batches
        begun = [t for t in log_steps(first) if t >= first / 20]
        ends = [self.batches * k for k in log_steps(whole)] if whole else []
        return tuple(sorted({*begun, *ends, self.largest}))

    @property
    def by_epoch(self) -> bool:
        """Whether all batches of an epoch are drawn at once."""
        return self.sampling in EPOCH_SAMPLINGS

    @property
    def batches(self) -> int:
        """Steps in one epoch, of a scheme that draws them at once."""
        drawn = epoch(Gaussian(1.0), sampling=self.sampling, sample_rate=self.sample_rate)  # type: ignore[arg-type]
        return drawn.batches

    @property
    def base(self) -> Mechanism:
        """The noise of one step."""
        return mechanisms[self.mechanism](self.noise_multiplier)

    @property
    def run(self) -> dict[str, Any]:
        """What `dplearn.run.guarantees` wants to know beside noise and steps."""
        names = ("sampling", "sample_rate", "delta", "adjacency")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Answer:
    """What one accountant says about a setting.

    Parameters
    ----------
    curve : tuple of Guarantee
        At every number of steps of the grid; empty after a refusal.
    refusal : str
        Why no theorem covers the setting.
    """

    curve: tuple[Guarantee, ...] = ()
    refusal: str = ""


@lru_cache(maxsize=512)
def answer(accountant: str, setting: Setting) -> Answer:
    """The accountant's curve over the grid, or its refusal."""
    return _ask(accountant, setting, setting.steps)


@lru_cache(maxsize=2048)
def reading(accountant: str, setting: Setting, here: int) -> Guarantee:
    """The accountant's guarantee at one number of steps."""
    steps = setting.steps
    if here in steps:
        return answer(accountant, setting).curve[steps.index(here)]
    return _ask(accountant, setting, (here,)).curve[0]


@lru_cache(maxsize=2048)
def certified(accountant: str, setting: Setting, budget: float) -> int:
    """The largest number of steps the accountant certifies within `budget`, short of 0.3 percent.

    The curve brackets it, interpolation guesses it, and the accountant has the last word on
    every number returned. `setting.largest` means that many or more.
    """
    steps, curve = setting.steps, answer(accountant, setting).curve
    within = [g.epsilon <= budget for g in curve]
    if not within[0] or all(within):
        return steps[-1] if all(within) else 0
    before = within.index(False) - 1
    guess = _meeting(steps, curve, before, budget)
    trial = {int(guess * share) for share in (0.997, 0.9995, 1.0, 1.0005)}
    if setting.by_epoch:
        trial = {setting.batches * (int(guess / setting.batches) + k) for k in (-1, 0, 1)}
    inside = tuple(t for t in sorted(trial) if steps[before] < t < steps[before + 1])
    found = _ask(accountant, setting, inside).curve if inside else ()
    good = [t for t, g in zip(inside, found, strict=True) if g.epsilon <= budget]
    return max([steps[before], *good])


def claim(setting: Setting) -> Setting | None:
    """The Poisson run of the same noise and rate that is often quoted for an epoch's batches."""
    if not setting.by_epoch:
        return None
    return replace(setting, sampling="poisson", adjacency=natural_adjacency("poisson"))


@lru_cache(maxsize=512)
def claimed(setting: Setting, steps: tuple[int, ...]) -> tuple[Guarantee, ...]:
    """What the reference says of the Poisson run, told of another: no bound for that one."""
    said = claim(setting)
    found = _ask(REFERENCE, said, steps).curve if said else ()
    return tuple(replace(g, kind="approximate", lower=0.0, method=CLAIM) for g in found)


def refusals(names: Sequence[str], setting: Setting) -> dict[str, str]:
    """Why some accountants do not answer."""
    return {name: a.refusal for name in names if (a := answer(name, setting)).refusal}


def curves(
    names: Sequence[str], setting: Setting, here: int
) -> tuple[dict[str, tuple[Guarantee, ...]], tuple[int, ...]]:
    """Every accountant's curve, and its steps: the grid with `here` put in its place."""
    steps = setting.steps
    if here in steps:
        return {name: answer(name, setting).curve for name in names}, steps
    at = bisect_left(steps, here)
    merged = {}
    for name in names:
        curve = answer(name, setting).curve
        merged[name] = (*curve[:at], reading(name, setting, here), *curve[at:])
    return merged, (*steps[:at], here, *steps[at:])


@lru_cache(maxsize=512)
def rdp_at(orders: tuple[float, ...], setting: Setting, here: int) -> Guarantee:
    """Rényi DP that knows only some orders."""
    law = accountants["rdp"](orders=orders)  # type: ignore[call-arg]
    return _guarantees(law, setting, (here,))[0]


def _meeting(
    steps: tuple[int, ...], curve: tuple[Guarantee, ...], before: int, budget: float
) -> float:
    """Where the curve meets the budget: a cubic through four neighbours, log T over log epsilon."""
    near = range(max(before - 1, 0), min(before + 3, len(steps)))
    known = {curve[i].epsilon: math.log(steps[i]) for i in near if 0 < curve[i].epsilon < math.inf}
    x, at = [math.log(epsilon) for epsilon in known], math.log(budget)
    total = 0.0
    for i, log_steps_i in enumerate(known.values()):
        others = [x[k] for k in range(len(x)) if k != i]
        total += log_steps_i * math.prod((at - o) / (x[i] - o) for o in others)
    return min(max(math.exp(min(total, 700.0)), steps[before]), steps[before + 1])


def _ask(accountant: str, setting: Setting, steps: tuple[int, ...]) -> Answer:
    try:
        return Answer(_guarantees(_law(accountant, setting), setting, steps))
    except (NotImplementedError, ArithmeticError) as error:
        return Answer(refusal=str(error))


def _law(accountant: str, setting: Setting) -> Accountant:
    rough = setting.draft and accountant == REFERENCE
    return accountants[accountant](**({"rtol": 1e-3} if rough else {}))


def _guarantees(law: Accountant, setting: Setting, steps: tuple[int, ...]) -> tuple[Guarantee, ...]:
    if setting.by_epoch and not isinstance(setting.base, Gaussian):
        what = f"Accountant {law.name}: {setting.sampling} batches with {setting.mechanism} noise"
        raise validate.unsupported(what, "the theorem is for Gaussian noise")
    return guarantees(law, setting.base, steps=list(steps), **setting.run)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def published(setting: Setting, identifiers: tuple[str, ...] = ()) -> tuple[dict[str, str], ...]:
    """Rows of data/published.csv about this run, or named by their identifiers."""
    return tuple(
        row
        for row in published_rows().values()
        if row["id"] in identifiers or (row["relation"] in ("=", "<=") and _about(row, setting))
    )


def _about(row: dict[str, str], setting: Setting) -> bool:
    scheme = "poisson_subsampled" if setting.sampling == "poisson" else setting.sampling
    name = setting.mechanism if scheme == "none" else f"{scheme}_{setting.mechanism}"
    wanted = {
        "noise_multiplier": setting.noise_multiplier,
        "sample_rate": setting.sample_rate,
        "delta": setting.delta,
    }
    return (
        row["quantity"] == "epsilon"
        and row["mechanism"] == name
        and row["adjacency"] == setting.adjacency
        and all(math.isclose(_value(row[key]), x, rel_tol=1e-9) for key, x in wanted.items())
        and _value(row["steps"]) <= setting.largest
    )


def _value(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1) if top else math.nan
