"""The run that a browser tells of, and what accountants say of it, asked of the library once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.kit.fields import NOISE, RATE, STEPS, Words
from dplearn.book.published import number, published
from dplearn.figures.kit.axes import log_steps
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency, Guarantee
from dplearn.mechanisms import MECHANISMS, Gaussian, Mechanism
from dplearn.mechanisms.drawing import EPOCH_SAMPLINGS, Drawing, natural_adjacency
from dplearn.run import DPSGD, Phases

_say = Words("epsilon_vs_steps")
# The name of what is claimed of another run.
CLAIM = "poisson_claim"
Curve = tuple[Guarantee, ...]
# The accountant that proves from both sides: the others are measured by it.
REFERENCE = "pld"
# One point in so many is enough for a draft.
_THIN = 4
# What the name of a sampling ends in whose epochs leave a record out.
LEAVES_OUT = "_leaves_out"


def phases_of(text: str) -> tuple[DPSGD, ...]:
    """Plans of the phases that a text names, within the ranges of the fields."""
    phases = (entry.split(",") for entry in text.split(";") if entry.strip())
    return tuple(
        DPSGD(
            noise_multiplier=NOISE.parse(noise),
            sample_rate=RATE.parse(rate),
            steps=int(STEPS.parse(steps)),
        )
        for noise, rate, steps in phases
    )


THEN = _say.text("then", reads=phases_of)


@dataclass(frozen=True)
class Scenario:
    """A run and how far to follow it: all that a curve depends on.

    A draft is a run whose number is on its way: fewer points, with less work for each, so that
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
    then: str = ""  # further phases, in the words of the box
    leaves_out: bool = False  # whether each shuffled epoch leaves out a record

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
        return replace(self, mechanism="gaussian").drawing.batches

    @property
    def drawing(self) -> Drawing:
        """What a step, or an epoch, draws."""
        how = self.base, self.sampling, self.sample_rate, self.largest
        return Drawing.of(*how, leaves_out=self.leaves_out)  # type: ignore[arg-type]

    @cached_property
    def base(self) -> Mechanism:
        """The noise of one step."""
        return MECHANISMS[self.mechanism](self.noise_multiplier)

    @cached_property
    def phases(self) -> tuple[DPSGD, ...]:
        """The run and what comes then; `largest` counts the steps of all."""
        then = phases_of(self.then)
        first = DPSGD(
            noise_multiplier=self.noise_multiplier,
            sample_rate=self.sample_rate,
            steps=self.largest - sum(p.steps for p in then),
            sampling=self.sampling,  # type: ignore[arg-type]
            leaves_out=self.leaves_out,
        )
        drawn = lambda p: replace(p, sampling=first.sampling, leaves_out=self.leaves_out)
        return (first, *map(drawn, then))

    @cached_property
    def marks(self) -> list[int]:
        """The numbers of steps after which another phase begins, and every fifth of it."""
        ends = accumulate(phase.steps for phase in self.phases)
        return sorted({a + k * (b - a) // 5 for a, b in pairwise(ends) for k in range(5)})


def scenario_of(
    run: Mapping[str, Any], fields: Mapping[str, Any], largest: int, draft: bool = False
) -> Scenario:
    """The run of entries by name; ValueError, in one sentence, where a field does not take one."""
    entries = {name: field.parse(run[name]) for name, field in fields.items()}
    first, sampling = entries.pop("first"), entries.pop("sampling")
    if entries["then"]:
        largest = first + sum(phase.steps for phase in phases_of(entries["then"]))
    kind, left = sampling.removesuffix(LEAVES_OUT), sampling.endswith(LEAVES_OUT)
    return Scenario(**entries, sampling=kind, leaves_out=left, largest=largest, draft=draft)


@dataclass(frozen=True)
class Answer:
    """An accountant's guarantees at some numbers of steps, or why it has no theorem."""

    curve: Curve = ()
    refusal: str = ""


@dataclass(frozen=True)
class Answers:
    """What the library says of a run at one number of steps; `records` is the dataset's size."""

    scenario: Scenario
    here: int
    names: tuple[str, ...]
    records: int

    @cached_property
    def readings(self) -> Mapping[str, Guarantee]:
        """Each accountant's guarantee, the tightest bound first, approximations last."""
        said = {name: answer_of(name, self.scenario, (self.here,)) for name in self.names}
        able = [(name, one.curve[0]) for name, one in said.items() if one.curve]
        return dict(sorted(able, key=lambda item: (not item[1].is_bound, item[1].epsilon)))

    @property
    def best(self) -> tuple[str, Guarantee]:
        """The accountant with the tightest bound, and its guarantee."""
        return next(iter(self.readings.items()))


def poisson_claim(scenario: Scenario) -> Scenario | None:
    """The Poisson run of the same noise and rate that is often quoted for an epoch's batches."""
    if not scenario.by_epoch:
        return None
    natural = natural_adjacency("poisson")
    return replace(scenario, sampling="poisson", leaves_out=False, adjacency=natural)


@lru_cache(maxsize=512)
def claimed_curve(scenario: Scenario, steps: tuple[int, ...]) -> Curve:
    """What the reference says of the Poisson run, claimed of another: no bound for that one."""
    quoted = poisson_claim(scenario)
    curve = answer_of(REFERENCE, quoted, steps).curve if quoted else ()
    return tuple(replace(g, kind="approximate", lower=0.0, method=CLAIM) for g in curve)


@lru_cache(maxsize=2048)
def answer_of(
    name: str, scenario: Scenario, steps: tuple[int, ...], *, orders: tuple[float, ...] = ()
) -> Answer:
    """What an accountant answers; of a draft, with less work, which loosens it a little."""
    law, base, drawing = ACCOUNTANTS[name](), scenario.base, scenario.sampling
    delta, adjacency = scenario.delta, scenario.adjacency
    if orders:
        law = replace(law, orders=orders)  # type: ignore[type-var]
    elif scenario.draft and name == REFERENCE:
        law = replace(law, rtol=1e-3, most_cells=2**14)  # type: ignore[type-var]
    try:
        if not isinstance(base, Gaussian):
            if scenario.by_epoch:
                what = f"Accountant {name}: {drawing} batches with {base.name} noise"
                raise validate.unsupported(what, "the theorem is for Gaussian noise")
            one = scenario.drawing.mechanism
            curve = law.epsilon_curve(one, delta=delta, steps=[*steps], adjacency=adjacency)
        elif (
            (scenario.draft, name, drawing) == (True, REFERENCE, "shuffled")
            and not scenario.then
            and adjacency != "add_remove"
        ):
            # Upper ends: no epoch tells more than its largest batch.
            begun = [-(-t // scenario.batches) for t in steps]
            ends = ACCOUNTANTS[REFERENCE]().epsilon_curve(
                base, delta=delta, steps=begun, adjacency=adjacency
            )
            curve = tuple(replace(g, kind="upper", lower=0.0) for g in ends)
        else:
            phases = Phases(scenario.phases)
            curve = phases.guarantees(law, delta=delta, steps=[*steps], adjacency=adjacency)
        return Answer(curve)
    except (NotImplementedError, ArithmeticError) as error:
        return Answer(refusal=str(error))


def printed_rows(answers: Answers) -> Sequence[dict[str, str]]:
    """Rows of data/published.csv about this run."""
    rows = published().values()
    return [row for row in rows if row["relation"] in ("=", "<=") and _about(row, answers.scenario)]


def _about(row: dict[str, str], scenario: Scenario) -> bool:
    scheme = "poisson_subsampled" if scenario.sampling == "poisson" else scenario.sampling
    name = scenario.mechanism if scheme == "none" else f"{scheme}_{scenario.mechanism}"
    numbers = ("noise_multiplier", "sample_rate", "delta")
    return (
        (row["quantity"], row["mechanism"], row["adjacency"])
        == ("epsilon", name, scenario.adjacency)
        and not scenario.then
        and all(row[k] for k in (*numbers, "steps"))
        and all(math.isclose(number(row[k]), getattr(scenario, k), rel_tol=1e-9) for k in numbers)
    )
