"""From what a reader entered to the run it describes."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dplearn.accountants import accountants
from dplearn.app.kit.run_fields import ADJACENCY, NOISE, length_of, rate_of
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields
from dplearn.app.pages.epsilon_vs_steps.fields import PINNED, phases_of
from dplearn.figures import log_steps
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import Gaussian, Mechanism, mechanisms
from dplearn.run import DPSGD, EPOCH_SAMPLINGS, epoch, natural_adjacency

# The accountant that proves from both sides: the others are measured by it.
REFERENCE = "pld"
# One point in so many is enough for a draft.
_THIN = 4


@dataclass(frozen=True)
class Scenario:
    """A run and how far to follow it: all that a curve depends on.

    A draft is a run whose slider is on its way: fewer points, with less work for each, so that
    the picture can follow. What it proves is true all the same.
    """

    mechanism: str
    noise_multiplier: float
    sampling: str
    sample_rate: float
    delta: float
    adjacency: Adjacency
    largest: int
    draft: bool = False
    then: str = ""  # further phases, in the words of the control

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The numbers of steps that its curves are drawn at."""
        return self._grid[::-_THIN][::-1] if self.draft else self._grid

    @property
    def _grid(self) -> tuple[int, ...]:
        if not self.by_epoch:
            return tuple(log_steps(self.largest, include=self.marks))
        # Nothing happens inside an epoch: a few steps of the first, then the ends of epochs.
        first, whole = min(self.batches, self.largest), self.largest // self.batches
        begun = [t for t in log_steps(first) if t >= first / 20]
        ends = [self.batches * k for k in log_steps(whole)] if whole else []
        return tuple(sorted({*begun, *ends, self.largest}))

    @cached_property
    def by_epoch(self) -> bool:
        """Whether all batches of an epoch are drawn at once."""
        return self.sampling in EPOCH_SAMPLINGS

    @cached_property
    def batches(self) -> int:
        """Steps in one epoch, of a scheme that draws them at once."""
        drawn = epoch(Gaussian(1.0), sampling=self.sampling, sample_rate=self.sample_rate)  # type: ignore[arg-type]
        return drawn.batches

    @cached_property
    def base(self) -> Mechanism:
        """The noise of one step."""
        return mechanisms[self.mechanism](self.noise_multiplier)

    @cached_property
    def phases(self) -> tuple[DPSGD, ...]:
        """The run and what comes then; `largest` counts the steps of all."""
        then = [replace(p, sampling=self.sampling) for p in phases_of(self.then)]  # type: ignore[arg-type]
        first = DPSGD(
            noise_multiplier=self.noise_multiplier,
            sample_rate=self.sample_rate,
            steps=self.largest - sum(p.steps for p in then),
            sampling=self.sampling,  # type: ignore[arg-type]
        )
        return (first, *then)

    @cached_property
    def marks(self) -> list[int]:
        """The numbers of steps after which another phase begins, and every fifth of it."""
        ends = accumulate(phase.steps for phase in self.phases)
        return sorted({a + k * (b - a) // 5 for a, b in pairwise(ends) for k in range(5)})

    @cached_property
    def keywords(self) -> dict[str, Any]:
        """What `dplearn.run.guarantees` asks for beside noise and steps."""
        names = ("sampling", "sample_rate", "delta", "adjacency")
        return {name: getattr(self, name) for name in names}


def scenario_of(state: State) -> Scenario:
    """The run in use; entries that contradict each other leave a message at their control."""
    values = state.values
    rate, size = values["sample_rate"], values["dataset_size"]
    if values["sampling"] == "none":
        rate = 1.0
    elif values["rate_from"] == "counts":
        rate = rate_of(state, size, f"N = {size:.0f}")
    names = ("mechanism", "noise_multiplier", "sampling", "delta", "adjacency")
    entries = {name: values[name] for name in names}
    then = "" if "then" in state.hidden(values) else values["then"]
    largest = length_of(state, rate) + sum(phase.steps for phase in phases_of(then))
    return Scenario(**entries, sample_rate=rate, largest=largest, draft=state.moving, then=then)


def pin(state: State) -> None:
    """Keep the run in view as the one to compare with, in the address too; or let it go."""
    run = {"noise_multiplier": NOISE.show(state.values["noise_multiplier"]), **state.address()}
    state.enter(PINNED, "" if run.pop(PINNED.key, "") else urlencode(run))


def pinned(state: State) -> Scenario | None:
    """The run that is kept; what an address says of it in vain takes its default."""
    if not (address := state.values[PINNED.key]):
        return None
    other = fields.state()
    other.read(dict(parse_qsl(address[:2000])))
    return scenario_of(other)


def accountants_of(state: State) -> tuple[str, ...]:
    """The accountants chosen: the reference below all, approximations on top, dashed."""
    chosen = state.values["accountants"]
    approximate = {name for name in chosen if accountants[name].kind == "approximate"}
    return tuple(sorted(chosen, key=lambda name: (name != REFERENCE, name in approximate)))


def suit_adjacency(state: State) -> None:
    """After a change of sampling: neighbours for which the scheme has a theorem."""
    natural = natural_adjacency(state.values["sampling"])
    if state.values["adjacency"] != natural and state.values["sampling"] != "none":
        state.enter(ADJACENCY, natural)
