"""Public plans of DP-SGD runs and histories of what was run, independent of torch and data."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants import Accountant, accountant_of, scheme_curve
from dplearn.accountants._runs import MOST_RUNS
from dplearn.accountants.pld import PLD
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.mechanisms import Composed, Gaussian, Mechanism
from dplearn.mechanisms.sampling_scheme import (
    EPOCH_SAMPLINGS,
    Sampling,
    SamplingScheme,
    default_adjacency,
)
from dplearn.statement import HasGuarantee


class Plan(HasGuarantee):
    """Base class of the public description of a run: `DPSGD` or `Phases`."""

    steps: int
    phases: "tuple[DPSGD, ...]"  # a DPSGD is its own single phase

    def at(self, step: int) -> "tuple[DPSGD, int]":
        """Return the phase after `step` updates, and the number of updates before that phase."""
        validate.integer(minimum=0, step=step)
        before = 0
        for phase in self.phases[:-1]:
            if step < before + phase.steps:
                return phase, before
            before += phase.steps
        return self.phases[-1], before

    @property
    def samplings(self) -> tuple[str, ...]:
        """Names of the sampling schemes of all phases, without duplicates."""
        return tuple(sorted({phase.sampling for phase in self.phases}))

    @property
    def units(self) -> int | None:  # type: ignore[override]
        """Number of records, or None if no phase specifies `dataset_size`."""
        return next((p.dataset_size for p in self.phases if p.dataset_size is not None), None)

    def check_size(self, size: int) -> None:
        """Raise ValueError unless the plan is for datasets of `size` records."""
        for phase in self.phases:
            if (planned := phase.dataset_size) not in (None, size):
                raise ValueError(f"Expected dataset_size = {planned} records, got {size}.")
            if phase.sampling in ("without_replacement", "shuffled"):
                phase._whole_size(size)

    @property
    def composed(self) -> Composed:
        """Composition that bounds the run's epsilon from above: begun epochs count as whole."""
        schemes = (phase.sampling_scheme for phase in self.phases)
        return Composed((d.mechanism, -(-d.steps // d.batches)) for d in schemes)

    @validate.names_parameters
    def guarantee(
        self,
        accountant: Accountant | str = "pld",
        *,
        delta: float,
        steps: int | None = None,
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Return the guarantee after `steps` updates, by default after all updates.

        Parameters
        ----------
        accountant : Accountant or str, one of `dplearn.ACCOUNTANTS`
        delta : float in (0, 1)
        steps : int >= 0, by default all; updates beyond the plan continue the last phase
        adjacency : str, by default the one for which the sampling scheme has a theorem; ValueError
            is raised if those of the phases differ
        """
        steps = self.steps if steps is None else steps
        validate.integer(minimum=0, maximum=MOST_RUNS, steps=steps)
        return self.guarantees(accountant, delta=delta, steps=[steps], adjacency=adjacency)[0]

    def guarantees(
        self,
        accountant: Accountant | str = "pld",
        *,
        delta: float,
        steps: ArrayLike,
        adjacency: Adjacency | None = None,
    ) -> tuple[Guarantee, ...]:
        """Return one guarantee for each number of updates in `steps`, shape (n,).

        Parameters are those of `Plan.guarantee`. If batches are drawn once per epoch, begun epochs
        give the upper bound and completed ones the lower, since an incomplete epoch need not use a
        record. If 1 / sample_rate is not whole, an epoch is assumed to have fewer and larger
        batches, which is pessimistic, and lower bounds need `drop_last`: without it the treatment
        of the incomplete batch is unknown.

        Examples
        --------
        >>> plan = DPSGD(noise_multiplier=2.0, sample_rate=0.01, steps=101, sampling="shuffled")
        >>> [round(g.epsilon, 2) for g in plan.guarantees("rdp", delta=1e-5, steps=[100, 101])]
        [2.17, 3.19]
        """
        schemes = [phase.sampling_scheme for phase in self.phases]
        target: Any = {"delta": delta, "adjacency": adjacency or self.default_adjacency}
        stated = scheme_curve(accountant_of(accountant), schemes, steps, **target)
        return tuple(map(self._about, stated))

    def _about(self, stated: Guarantee) -> Guarantee:
        return stated

    @property
    def default_adjacency(self) -> Adjacency:
        """Adjacency for which the sampling has a theorem; ValueError if phases differ in it."""
        every = sorted({default_adjacency(p.sampling) for p in self.phases})
        if len(every) > 1:
            got = f"{' and '.join(every)} by their samplings: name one, or change a sampling"
            raise ValueError(f"Expected an adjacency that all phases share, got {got}.")
        return every[0]

    @validate.names_parameters
    def delta(self, *, epsilon: float, adjacency: Adjacency | None = None) -> Guarantee:
        """Return the run's guarantee with the smallest delta at `epsilon` >= 0, by "pld".

        At epsilon 0, delta is the advantage, the largest difference between an attacker's true and
        false positive rate.
        """
        adjacency = adjacency or self.default_adjacency
        return self._about(PLD().delta(self.composed, epsilon=epsilon, adjacency=adjacency))

    @validate.names_parameters
    def true_positive_rate(
        self, *, false_positive_rate: ArrayLike, adjacency: Adjacency | None = None
    ) -> tuple[NDArray, NDArray]:
        """Return lower and upper bounds on the best attacker's true positive rate, by "pld".

        `false_positive_rate` has any shape in (0, 1); one minus the result is the trade-off curve.
        """
        adjacency = adjacency or self.default_adjacency
        return PLD().true_positive_rate(
            self.composed, false_positive_rate=false_positive_rate, adjacency=adjacency
        )

    def affordable_steps(
        self, accountant: Accountant | str = "pld", *, epsilon: float, delta: float
    ) -> int:
        """Return how many of the plan's steps fit into the budget (epsilon, delta).

        Raise ValueError if not even one step fits, or if the accountant proves no bound.
        """
        steps, stated = self.steps, self.guarantee(accountant, delta=delta)
        if not stated.is_bound:
            raise ValueError(f"Expected an accountant that proves a bound, got {stated.method!r}.")
        if stated.epsilon > epsilon:
            spent = lambda steps: self.guarantee(accountant, delta=delta, steps=steps).epsilon
            steps = bisect_right(range(1, steps), epsilon, key=spent)
        if steps == 0:
            got = f"{epsilon!r}: use a larger noise_multiplier or a smaller sample_rate"
            raise ValueError(f"Expected a target epsilon that allows at least one step, got {got}.")
        return steps


@dataclass(frozen=True, kw_only=True)
class DPSGD(Plan):
    """Public plan of a DP-SGD run: its sampling, clipping, noise and guarantee.

    Parameters
    ----------
    noise_multiplier : float >= 0, standard deviation of the noise on the sum / clipping norm
    sample_rate : float in (0, 1], expected batch size / dataset size; if several backward passes
        contribute to one update, the batch holds the records of all of them
    steps : int >= 0, number of noisy updates, not of backward passes
    max_grad_norm : float > 0, clipping norm C; the guarantee does not depend on it
    sampling : str, how a batch is drawn; an ordinary loader is ``"shuffled"``
    drop_last : bool, whether each shuffled epoch drops the randomly chosen records of an incomplete
        batch, at least one. PyTorch's loader drops `size % batch_size`, which may be 0: then set
        this only if the last batch is one record short, as in `fit`
    dataset_size : int >= 1, a public number; a dataset or a statement of another size is refused

    Examples
    --------
    >>> run = DPSGD.from_epochs(
    ...     dataset_size=60_000, batch_size=256, epochs=60, noise_multiplier=1.1
    ... )
    >>> run.steps
    14063
    >>> print(run.guarantee("rdp", delta=1e-5))
    epsilon <= 2.597 at delta = 1.0e-05, add_remove, by rdp

    Shuffled batches, here with `drop_last`, leak far more:

    >>> shuffled = replace(run, sampling="shuffled", drop_last=True, steps=60 * 234)
    >>> print(shuffled.guarantee(delta=1e-5))
    11.41 <= epsilon <= 11.78 at delta = 1.0e-05, zero_out, by pld
    """

    noise_multiplier: float
    sample_rate: float
    steps: int
    max_grad_norm: float = 1.0
    sampling: Sampling = "poisson"
    drop_last: bool = False
    dataset_size: int | None = None

    def __post_init__(self) -> None:
        validate.integer(minimum=0, steps=self.steps)
        validate.positive(max_grad_norm=self.max_grad_norm)
        if self.dataset_size is not None:
            validate.integer(minimum=1, dataset_size=self.dataset_size)
        if self.drop_last and self.sampling != "shuffled":
            got = f"sampling={self.sampling!r}"
            raise ValueError(f"Expected drop_last with sampling='shuffled' alone, got {got}.")
        _ = self.sampling_scheme  # raises if a parameter is invalid

    def __repr__(self) -> str:
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        return f"DPSGD({', '.join(f'{name}={x!r}' for name, x in values if x is not None)})"

    @classmethod
    def from_epochs(
        cls,
        *,
        dataset_size: int,
        batch_size: int,
        epochs: float,
        noise_multiplier: float,
        max_grad_norm: float = 1.0,
        sampling: Sampling = "poisson",
    ) -> Self:
        """Return a run of ``ceil(epochs * dataset_size / batch_size)`` steps.

        Parameters
        ----------
        batch_size : int in [1, dataset_size], the expected size; if batches are drawn once per
            epoch, ``dataset_size // batch_size`` are drawn; shuffled epochs drop other records
        epochs : float > 0
        dataset_size, noise_multiplier, max_grad_norm, sampling : as in `DPSGD`
        """
        validate.integer(minimum=1, dataset_size=dataset_size)
        validate.integer(minimum=1, maximum=dataset_size, batch_size=batch_size)
        validate.positive(epochs=epochs)
        batches = dataset_size / batch_size
        if sampling in EPOCH_SAMPLINGS:
            batches = dataset_size // batch_size
        validate.non_negative(steps=epochs * batches)
        return cls(
            noise_multiplier=noise_multiplier,
            sample_rate=batch_size / dataset_size,
            # Rounding must not turn 15 * 60000 / 240 into 3751.
            steps=math.ceil(epochs * batches - 1e-9),
            max_grad_norm=max_grad_norm,
            sampling=sampling,
            drop_last=sampling == "shuffled" and dataset_size % batch_size > 0,
            dataset_size=dataset_size,
        )

    @classmethod
    def for_epsilon(
        cls, epsilon: float, accountant: Accountant | str = "pld", *, delta: float, **others: Any
    ) -> Self:
        """Return the run with the least noise whose epsilon at `delta` is at most `epsilon`.

        Other fields are passed on: sample_rate and steps, or dataset_size, batch_size and epochs
        as in `from_epochs`, and fields with defaults.
        """
        build = cls.from_epochs if "batch_size" in others else cls
        run = build(noise_multiplier=1.0, **others)
        least = smallest_noise_multiplier(run, accountant, epsilon=epsilon, delta=delta)
        return replace(run, noise_multiplier=least.value)

    @property
    def phases(self) -> "tuple[DPSGD, ...]":
        return (self,)

    @cached_property
    def sampling_scheme(self) -> SamplingScheme:
        """Sampling scheme of the run, with the mechanism of one step or one epoch."""
        noise, q, steps = Gaussian(self.noise_multiplier), self.sample_rate, self.steps
        return SamplingScheme.of(noise, self.sampling, q, steps, drop_last=self.drop_last)

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism of one step, or of one epoch if batches are drawn once per epoch."""
        return self.sampling_scheme.mechanism

    def lots(self, *, size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Draw the batches of one step or epoch, as record indices; they are private.

        Parameters
        ----------
        size : int >= 0, number of records; `sample_rate` * `size` is whole if batches of the
            sampling scheme have equal sizes, else batches may be empty
        rng : numpy.random.Generator

        Examples
        --------
        >>> epoch = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=2, sampling="shuffled")
        >>> [sorted(lot.tolist()) for lot in epoch.lots(size=6, rng=np.random.default_rng(0))]
        [[2, 3, 5], [0, 1, 4]]
        """
        validate.integer(minimum=0, size=size)
        validate.instance(np.random.Generator, rng=rng)
        count = self.sampling_scheme.batches
        match self.sampling:
            case "none":
                return [np.arange(size)]
            case "poisson":
                # A uniform subset of binomial size includes each record independently of others.
                drawn = rng.binomial(size, self.sample_rate)
                return [rng.choice(size, drawn, replace=False, shuffle=False)]
            case "random_allocation":
                place = rng.integers(count, size=size)
                ends = np.cumsum(np.bincount(place, minlength=count))[:-1]
                return np.split(np.argsort(place, kind="stable"), ends)
            case "without_replacement":
                return [rng.choice(size, self._whole_size(size), replace=False, shuffle=False)]
            case "shuffled":
                # Shorten the last batch by one record if drop_last would leave out none.
                each = self._whole_size(size)
                taken = min(count * each, size - self.drop_last)
                return np.split(rng.permutation(size)[:taken], each * np.arange(1, count))

    def _whole_size(self, size: int) -> int:
        """Return `sample_rate` * `size`, records per batch; ValueError if it is not whole."""
        expected = self.sample_rate * size
        whole = round(expected)
        if whole < 1 or abs(expected - whole) > 1e-9 * expected:
            raise ValueError(
                f"Expected sample_rate * {size} records to be whole with "
                f"sampling={self.sampling!r}, got {expected!r}."
            )
        return whole


@dataclass(frozen=True)
class Phases(Plan):
    """Plan of consecutive DP-SGD phases: a schedule of noise, sample rate or clipping norm.

    Parameters
    ----------
    phases : list of DPSGD, public, fixed before the run begins, and independent of the data
    """

    phases: Sequence[DPSGD]
    steps: int = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.phases, tuple | list) or not self.phases:
            raise TypeError(f"Expected phases to be a list of DPSGD, got {self.phases!r}.")
        object.__setattr__(self, "phases", tuple(self.phases))
        for phase in self.phases:
            validate.instance(DPSGD, phase=phase)
        sizes = {p.dataset_size for p in self.phases if p.dataset_size is not None}
        if len(sizes) > 1:
            raise ValueError(f"Expected one dataset_size in all phases, got {sorted(sizes)}.")
        object.__setattr__(self, "steps", sum(phase.steps for phase in self.phases))


@dataclass(frozen=True, kw_only=True)
class Private:
    """Diagnostics of one step, computed without noise: for inspection, never for release.

    Parameters
    ----------
    loss : float, mean of the lot's finite losses before the step; in any range, NaN if none is
    clipped_fraction : float in [0, 1], fraction of gradients scaled down; NaN for an empty lot
    lot_size : int >= 0
    non_finite : int >= 0, records left out because their gradient is infinite or NaN
    """

    loss: float
    clipped_fraction: float
    lot_size: int
    non_finite: int


@dataclass(frozen=True, kw_only=True)
class Record:
    """Result of one step of a run; only `step` and `clipping_norm` are public.

    Parameters
    ----------
    step : int >= 1, number of steps done, including this one
    clipping_norm : float > 0, largest norm of a record's clipped gradient
    tally : Tensor, shape (2, 3), private sum of the `ClippedSum.tally` of micro-batches, on device
    """

    step: int
    clipping_norm: float
    tally: Any = field(repr=False, compare=False)

    @cached_property
    def private(self) -> Private:
        """Private diagnostics of this step; reading them waits for the device."""
        (loss, _, clipped), (losses, norms, size) = self.tally.tolist()
        return Private(
            loss=loss / (losses or math.nan),
            clipped_fraction=clipped / (size or math.nan),
            lot_size=round(size),
            non_finite=round(size - norms),
        )


@dataclass(frozen=True, kw_only=True)
class History:
    """Steps of a training run so far, and assumptions of its guarantee beyond those of the plan.

    Parameters
    ----------
    plan : DPSGD, Phases or FederatedPlan
    steps : int >= 0, all steps done
    records : tuple of Record, from the first step or the last resume
    assumptions : tuple of str
    """

    plan: Plan
    steps: int
    records: tuple[Record, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def non_finite(self) -> int:
        """Number of non-finite gradients left out in `records`; private, not in checkpoints."""
        return sum(record.private.non_finite for record in self.records)

    def guarantee(
        self,
        delta: float,
        *,
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Return the guarantee of the steps done, as `DPSGD.guarantee` states it.

        If data or model decided when to stop, only ``plan.guarantee(delta=delta)`` holds.
        """
        stated = self.plan.guarantee(accountant, delta=delta, steps=self.steps, adjacency=adjacency)
        presumed = [*stated.assumptions, *self.assumptions]
        if self.steps < self.plan.steps:
            presumed.append("the data and the model did not decide when to stop")
        return replace(stated, assumptions=tuple(presumed))
