r"""DP-SGD step by step, for custom training loops.

.. math:: \tilde g = \frac{1}{L}\Big(\sum_{i \in \text{lot}} c_i g_i + N(0, z^2 s^2)\Big).

The expected lot size L is *public*; the number of records drawn is private and must not be used.
An empty lot is a step of pure noise. `dplearn.training.plain` is the same algorithm on one page:
its lot is `_lot` here, its clipped sum and noise are `_add_clipped` and `_noise`, and its last
line is `_update`, with an ordinary optimizer. At steps 1, 2, 4, 8, ... the guard tests a lot.
"""

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from dplearn.core import validate
from dplearn.mechanisms.sampling_scheme import EPOCH_SAMPLINGS
from dplearn.run import DPSGD, Plan
from dplearn.training import checkpoint, sampling
from dplearn.training.bounds import AdaptiveQuantile, ClippingBound, Flat
from dplearn.training.checks import check_model, check_phases, check_settings
from dplearn.training.devices import random_states
from dplearn.training.distributed import DistributedContext, Group
from dplearn.training.gradients import Clip, ClippedSum, added_sum, by_name, recalled
from dplearn.training.guard import COPIES, Viewer, columns_of, stored
from dplearn.training.history import TALLY, History, Record, tally_of
from dplearn.training.noise import LOTS, Randomness
from dplearn.training.records import Records
from dplearn.training.tape import Loss, state_of

_SIZE_IS_PUBLIC = "the size of the dataset is public: noisy sums were divided by a multiple of it"
_NO_SEED = "nobody knows the seed"
_ALONE = (
    "what other runs released of these records is added (first + second), and nothing but public "
    "data changed the model between steps"
)
_ITEMS = "an item of the dataset holds nothing of other records"
_RANDOM = "a model that draws random numbers by functions was not tried in smaller lots"
_NO_OTHER_BRANCH = "nothing was released of steps that were lost when the run was resumed"
_SLOW = (
    "Each record takes a pass of its own, which is slow: gradients of the model come neither from "
    "usual layers, called for all records at once, nor from torch.func.vmap."
)


@dataclass(eq=False, repr=False)
class Trainer:
    """Step-by-step training of a model; `fit` does the same in one call.

    Parameters
    ----------
    model : nn.Module
        Trainable parameters on one device; frozen ones get no noise. Its mode stays as it is.
    loss_fn : callable
        ``loss_fn(model(inputs), targets)`` gives one loss per record, shape (B,).
    dataset : pair of arrays, Dataset, list of pairs or DataLoader
        See `fit`.
    plan : DPSGD or Phases
        Sampling, clipping, noise and number of steps.
    optimizer : Optimizer
        Of all trainable parameters of the model; without a closure.
    scheduler : LRScheduler, optional
        Advanced once per step.
    bound : ClippingBound, optional
        Default: ``Flat(max_grad_norm)`` of the plan or phase.
    expected_batch_size : float, optional
        Public L > 0. Default: sample rate times dataset size, which thereby becomes public.
    micro_batch : int, optional
        Largest number of rows in one pass, >= 1. Default: about 256 on a CPU, else the whole lot.
    example : pair, optional
        Public (inputs, targets) for the check, instead of those of the dataset.
    generator : torch.Generator, optional
        Gives the seed of lots, noise and dropout, for teaching and tests: it reveals the noise.
    secure : bool
        Whether a cipher draws the noise also on an accelerator.
    process_group : ProcessGroup, optional
        Processes that share the records; all pass the same dataset.

    Raises
    ------
    ValueError, TypeError
        If arguments are out of range or do not fit together, or the model mixes records.
    NotImplementedError
        If no guarantee is known.

    Examples
    --------
    >>> plan = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=3)
    >>> model = nn.Linear(2, 1)
    >>> squares = lambda outputs, targets: (outputs[:, 0] - targets).square()
    >>> trainer = Trainer(
    ...     model, squares, (torch.ones(8, 2), torch.ones(8)), plan,
    ...     optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    ... )
    >>> for _ in range(plan.steps):
    ...     record = trainer.step()
    >>> print(trainer.history().guarantee(1e-5))
    5.84 <= epsilon <= 5.841 at delta = 1.0e-05, add_remove, by pld
    """

    model: nn.Module
    loss_fn: Loss
    dataset: Any
    plan: Plan
    _: KW_ONLY
    optimizer: Optimizer
    scheduler: Any = None
    bound: ClippingBound | None = None
    expected_batch_size: float | None = None
    micro_batch: int | None = None
    example: Any = None
    generator: InitVar[torch.Generator | None] = None
    secure: InitVar[bool] = False
    process_group: Group = None
    records: list[Record] = field(default_factory=list, init=False)

    def __post_init__(self, generator: torch.Generator | None, secure: bool) -> None:
        check_settings(self.model, self.loss_fn, self.plan, self.optimizer, self.scheduler)
        self.plan = self.plan.trained()
        self._context = DistributedContext(self.process_group)
        self._randomness = Randomness.of(generator, secure=secure)
        self._clip = Clip.of(self.model, self.bound or Flat(self.plan.at(0)[0].max_grad_norm))
        self._like = self._clip.largest.new_empty(0)  # type and device of noise and sums
        self._data = Records(self.dataset, like=self._like)
        rows, public = self.micro_batch, self.expected_batch_size
        validate.integer(minimum=1, micro_batch=1 if rows is None else rows)
        validate.positive(expected_batch_size=1 if public is None else public)
        size, alone = len(self._data), not self.process_group
        check_phases(self.plan, bound=self.bound, size=size, alone=alone)
        self._steps, self._due = 0, 1  # the next step that the guard tests
        self._drawn: dict[int, sampling.Lot] = {}  # lots of the next steps
        presumed = [_SIZE_IS_PUBLIC] * (public is None) + [_ITEMS] * self._data.of_items
        presumed += [_NO_SEED] * (self._randomness.seed is not None)
        self._presumed = dict.fromkeys([*presumed, _ALONE])  # an ordered set
        run = self._fingerprint()
        records = "" if alone else self._data.digest()
        self._context.agree({**run, "seed": repr(self._randomness.seed), "records": records})
        self._context.start_equal(self.model)
        self._state: Any = None  # of the model at its last check
        self._look()
        self._data.check_items(self.model, self.loss_fn)
        self._run = run

    def __setattr__(self, name: str, value: object) -> None:
        """Set private attributes; raise AttributeError for public ones, which were checked."""
        if "_run" in vars(self) and not name.startswith("_"):
            raise AttributeError(f"Expected {name} to stay as it is: build another Trainer.")
        super().__setattr__(name, value)

    @property
    def steps(self) -> int:
        """Number of steps done."""
        return self._steps

    @torch.inference_mode(False)  # also inside a caller's torch.no_grad()
    def step(self) -> Record:
        """Run one step and return its record; ValueError if all planned steps are done."""
        if self.steps >= self.plan.steps:
            raise ValueError(f"Expected at most {self.plan.steps} steps, as planned, got one more.")
        self._look()
        phase, _ = self.plan.at(self.steps)
        if self.bound is None and self._clip.groups.norms != (phase.max_grad_norm,):
            self._clip = Clip.of(self.model, Flat(phase.max_grad_norm))
        expected, left = self._expected(phase), range(self.steps, self.plan.steps)
        lot = self._data.parts(left, self._lot, self.micro_batch)
        mean = self._noise(phase)
        means = by_name(mean[: self._count], self._clip.parameters)
        looks, self._refusal = self.steps + 1 >= self._due, None
        before = stored(self.model) if looks else {}
        tally = self._add_clipped(means, lot, expected)
        if looks:
            for name, value in stored(self.model).items():
                if before.get(name, value) != value:
                    self._refusal = (
                        f"Expected the passes over a lot to leave {name!r} as it is, but it "
                        "changed: the model holds data without noise now."
                    )
            every = self._context.gathered(self._refusal)
            if refusal := next(filter(None, every), ""):
                del mean, means, tally, lot  # a traceback may show local variables
                raise ValueError(f"{refusal} The {self.steps} steps done have no guarantee.")
            # A lot of at most one record is not tested; all processes test at the same steps.
            if self.process_group or self._refusal is not None:
                self._due = 2 * (self.steps + 1)
        self._context.add_up(mean, tally)
        # Count the step before the update, so that an interrupted update is counted too.
        record = self._counted(tally, mean[-1], expected)
        self._update(means)
        return record

    def _look(self) -> None:
        """Check the model and choose its recipe, if its state has changed."""
        if (state := state_of(self.model, self.loss_fn)) == self._state:
            return
        check_settings(self.model, self.loss_fn, self.plan, self.optimizer, self.scheduler)
        largest, self._clip = self._clip.largest, Clip.of(self.model, self._clip.bound)
        if isinstance(self.bound, AdaptiveQuantile):
            self._clip = self._clip._replace(largest=largest)
        sample = self.example or self._data.rows([i % len(self._data) for i in range(20)])
        if check_model(self.model, self.loss_fn, *sample, public=bool(self.example)):
            self._presumed[_RANDOM] = None
        self._state, self._recipe = state, recalled(self.model, self.loss_fn, *sample)
        if self._recipe.how == "alone":
            warnings.warn(_SLOW, stacklevel=3)
        named = self._clip.parameters.values()
        self._count, ours = sum(p.numel() for p in named), {id(p) for p in named}
        every = [p for group in self.optimizer.param_groups for p in group["params"]]
        self._left = [p for p in every if id(p) not in ours]

    def _lot(self, step: int) -> sampling.Lot:
        """Return this process's records of a step; repeated calls return the same lot."""
        if step not in self._drawn:
            phase, before = self.plan.at(step)
            batches = phase.sampling_scheme.batches if phase.sampling in EPOCH_SAMPLINGS else 1
            draw, position = divmod(step - before, batches)
            first, every = self._context.rank, self._context.processes
            rng = self._randomness.stream(LOTS, first, before + draw)
            mine = len(range(first, len(self._data), every))
            lots = [first + every * lot for lot in sampling.lots(phase, size=mine, rng=rng)]
            left = range(step, before + phase.steps)  # a phase may end within an epoch
            self._drawn.update(zip(left, lots[position:], strict=False))
        return self._drawn[step]

    def _noise(self, phase: DPSGD) -> Tensor:
        """Return flat noise of the mean gradient and, for an adaptive quantile, of its count."""
        bound, parameters, groups, largest = self._clip
        share = self._context.share_of_noise
        z = share * bound.gradient_noise(phase.noise_multiplier) / self._expected(phase)
        moves = isinstance(bound, AdaptiveQuantile)  # its only scale is on the device
        scales = [1.0] if moves else groups.scales
        runs = [(p.numel(), z * scales[groups.of[name]]) for name, p in parameters.items()]
        noise = self._randomness.normals(runs + [(1, share)] * moves, self._like, self.steps)
        if moves:
            noise[:-1] *= largest[0]
        return noise

    def _add_clipped(
        self, means: Mapping[str, Tensor], lot: Iterable[Any], expected: float
    ) -> Tensor:
        """Add a lot's clipped sum, divided by its public size, and return its tally."""
        tallies, device = [], self._like.device
        looks = self.steps + 1 >= self._due
        torch.clear_autocast_cache()  # a caller's autocast around several steps caches old weights
        with self._randomness.for_model(device, self._context.rank, self.steps):
            for pair in lot:
                states = random_states(device) if looks else []
                part = added_sum(
                    self.model, self.loss_fn, pair,
                    clip=self._clip, into=(means, 1 / expected), recipe=self._recipe,
                )  # fmt: skip
                tallies.append(tally_of(part, self._clip.largest[0]))
                if looks and len(part.losses) > 1:
                    self._guard(pair, part, states)
                    looks = False
        return reduce(torch.add, tallies) if tallies else self._like.new_zeros(len(TALLY))

    def _guard(self, pair: Any, part: ClippedSum, states: list[Tensor]) -> None:
        """Set a refusal, or "", after testing whether records of a lot influence each other."""
        viewer = Viewer(self.model, self.loss_fn, self._recipe, self._clip, states)
        # Real records may be worse conditioned than synthetic ones.
        options: Any = {"seed": self.steps + 1, "room": 1e-4}
        recorded = self._recipe.how == "tape"  # otherwise no record meets another
        refusal = recorded and viewer.refusal(pair, columns_of(part), COPIES, **options)
        self._refusal = f"{refusal} This was at step {self.steps + 1}." if refusal else ""

    def _update(self, means: Mapping[str, Tensor]) -> None:
        """Step the optimizer with noisy means as gradients, after removing all other gradients."""
        for parameter in self._left:
            parameter.grad = None
        for name, value in means.items():
            parameter = self._clip.parameters[name]
            parameter.grad = value if value.dtype is parameter.dtype else value.to(parameter.dtype)
        self.optimizer.step()
        if self.scheduler is not None:
            self.scheduler.step()

    def _expected(self, phase: DPSGD) -> float:
        """Return the public size of a lot."""
        return float(self.expected_batch_size or phase.sample_rate * len(self._data))

    def _counted(self, tally: Tensor, normal: Tensor, expected: float) -> Record:
        """Count and record a step; `normal` is the noise that moves an adaptive norm."""
        self._drawn.pop(self._steps, None)
        self._steps += 1
        norm, bound = math.hypot(*self._clip.groups.norms), self._clip.bound
        if isinstance(bound, AdaptiveQuantile):
            norm, sums = self._clip.largest, dict(zip(TALLY, tally, strict=True))
            counts = {"below": sums["below"], "examples": sums["examples"], "normal": normal}
            factor = bound.factor(**counts, expected_batch_size=expected)
            self._clip = self._clip._replace(largest=norm * factor)
        self.records.append(Record(step=self.steps, norm=norm, tally=tally))
        return self.records[-1]

    def end_workers(self) -> None:
        """End the workers that load lots ahead; the next step starts them again."""
        self._data.forget()

    def history(self) -> History:
        """Return the history of the steps so far, which states their guarantee."""
        done, presumed = tuple(self.records), tuple(self._presumed)
        return History(plan=self.plan, steps=self.steps, records=done, assumptions=presumed)

    @property
    def resumable(self) -> bool:
        """Whether a checkpoint written now can be resumed: not within an unseeded epoch."""
        phase, before = self.plan.at(self.steps)
        begun = (self.steps - before) % phase.sampling_scheme.batches
        return not begun or self.steps == self.plan.steps or self._randomness.seed is not None

    def save(self, path: str | Path) -> None:
        """Write a checkpoint atomically: only released values, and the seed if there is one.

        ValueError is raised within an epoch if no generator can repeat its order.
        """
        if not self.resumable:
            raise ValueError(
                f"Expected a checkpoint between two epochs, got one after {self.steps} steps: "
                "without a generator the order of an epoch is not kept."
            )
        content = {
            "run": self._run,
            "steps": self.steps,
            "seed": self._randomness.seed,
            "norms": self._clip.largest.cpu(),  # an adaptive quantile changes them
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": None if self.scheduler is None else self.scheduler.state_dict(),
        }
        if self._context.rank == 0:
            checkpoint.write(path, content)

    def resume(self, path: str | Path) -> None:
        """Load the checkpoint at a path if it exists, then write it or raise OSError."""
        if self._context.has(path):
            self.load(path)
        self.save(path)

    def load(self, path: str | Path) -> None:
        """Continue from a checkpoint; a file that fails a check changes nothing.

        Settings of optimizer and scheduler are those of the file. Steps that another trainer did
        later are not counted, so their results must not have been released. Another dataset of the
        same size is not detected. ValueError is raised for a file that is damaged, belongs to
        another run or differs between processes, and after a step of this trainer.
        """
        self._context.has(path)
        written = checkpoint.loaded(path)
        checkpoint.require_equal(written["run"], self._run, path)
        steps, seed = written["steps"], written["seed"]
        if self.steps or not 0 <= steps <= self.plan.steps:  # counted steps stay counted
            raise ValueError(
                f"Expected a checkpoint after at most {self.plan.steps} steps for a trainer before "
                f"its first, got one after {steps} in {path} and a trainer after {self.steps}."
            )
        self.optimizer.load_state_dict(written["optimizer"])
        self.model.load_state_dict(written["model"])
        if self.scheduler is not None:
            self.scheduler.load_state_dict(written["scheduler"])
        self._clip.largest.copy_(written["norms"])
        self._steps, self._randomness = steps, replace(self._randomness, seed=seed)
        self._presumed |= dict.fromkeys([_NO_OTHER_BRANCH] * (seed is None))
        self._drawn.clear()  # lots of a first step that failed
        self._data.forget()
        self._state, self._due = None, steps + 1
        self._look()

    def _fingerprint(self) -> dict[str, str]:
        """Return the settings that must agree between a checkpoint and the run that loads it."""
        facts: dict[str, Any] = {
            "plan": self.plan,
            "bound": self._clip.bound,
            "expected_batch_size": self._expected(self.plan.at(0)[0]),
            "loss_fn": getattr(self.loss_fn, "__qualname__", type(self.loss_fn).__qualname__),
            "optimizer": type(self.optimizer).__name__,
            "scheduler": type(self.scheduler).__name__,
            "generator": "none" if self._randomness.seed is None else "given",
            "processes": self._context.processes,
        }
        for name, value in self.model.state_dict().items():
            trained = " trained" * (name in self._clip.parameters)
            facts[f"model[{name!r}]"] = f"{value.dtype} {tuple(value.shape)}{trained}"
        groups = self.optimizer.param_groups
        facts["first learning rates"] = [g.get("initial_lr", g.get("lr")) for g in groups]
        return {name: str(fact) for name, fact in facts.items()}
