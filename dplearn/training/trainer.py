r"""DP-SGD step by step, for custom training loops.

.. math:: \tilde g = \frac{1}{L}\Big(\sum_{i \in \text{lot}} c_i g_i + N(0, z^2 s^2)\Big).

Record i has gradient g and clipping factor c; z is the noise multiplier and s the noise scale. The
expected lot size L is *public*; the number of records drawn is private and must not be used. A step
with an empty lot uses noise only. `Trainer.step` follows `plain.train`: draw a lot and noise, add
the clipped sum to the noise, update. Steps 1, 2, 4, ... test whether records mix.
"""

import hashlib
import io
import math
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from dplearn.accountants import Accountant
from dplearn.core import validate
from dplearn.core.display import ProgressLine
from dplearn.core.files import temporaries, write_whole
from dplearn.core.guarantee import round_up
from dplearn.mechanisms.clipping import ClippingBound, Flat
from dplearn.run import History, Plan, Record
from dplearn.training import agreement, checks, devices
from dplearn.training.gradients import SLOW, Gradients
from dplearn.training.noise import LOTS, Randomness
from dplearn.training.records import Lot, Records
from dplearn.training.tape import Loss, state_of

_ALONE = (
    "what other runs released of these records is added, as phases of one plan or by a ledger, and "
    "nothing but public data changed the model between steps"
)
_ITEMS = "an item of the dataset holds nothing of other records"
_RANDOM = "a model that draws random numbers by functions was not tried in smaller lots"
_LOST = "nothing was released of steps that were lost when the run was resumed"
_SEED = "nobody knows the seed"
_SIZE = "the size of the dataset is public: noisy sums were divided by a multiple of it"


@dataclass(eq=False, repr=False)
class Trainer:
    """Training of a model step by step; `fit` runs all steps in one call.

    An error is raised if arguments do not fit together, the model mixes records, or no guarantee is
    known. `steps` counts steps and `records` has their results. Public attributes cannot be set.

    Parameters
    ----------
    model : nn.Module, trainable parameters on one device; frozen ones get no noise
    loss_fn : callable, ``loss_fn(model(inputs), targets)`` gives one loss per record, shape (B,)
    dataset : pair of arrays, Dataset, list of pairs or DataLoader, see `fit`
    plan : DPSGD or Phases
    optimizer : Optimizer of all trainable parameters of the model, without a closure
    scheduler : LRScheduler, optional, advanced once per step
    bound : ClippingBound, by default ``Flat(max_grad_norm)`` of the plan or phase
    expected_batch_size : float > 0, public L; by default sample rate x dataset size, then public
    micro_batch : int >= 1, most records in one pass; by default about 256 on a CPU, else the lot
    example : pair of public inputs and targets for `check_model`, instead of those of the dataset
    generator : torch.Generator, optional, gives the seed; only for tests, as it reveals the noise
    secure : bool, whether a cipher draws the noise also on an accelerator
    process_group : ProcessGroup, optional, processes that divide each lot; each passes all records

    Examples
    --------
    >>> from dplearn import DPSGD
    >>> plan = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=3)
    >>> model, squares = nn.Linear(2, 1), lambda outputs, y: (outputs[:, 0] - y).square()
    >>> sgd, data = torch.optim.SGD(model.parameters(), lr=0.1), (torch.ones(8, 2), torch.ones(8))
    >>> trainer = Trainer(model, squares, data, plan, optimizer=sgd)
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
    process_group: agreement.Group = None
    steps: int = field(default=0, init=False)
    records: list[Record] = field(default_factory=list, init=False)

    def __post_init__(self, generator: torch.Generator | None, secure: bool) -> None:
        if not isinstance(plan := self.plan, Plan):
            raise TypeError(f"Expected plan to be a DPSGD or Phases, got {type(plan).__name__}.")
        checks.check_training(self.model, self.loss_fn, self.optimizer, self.scheduler)
        if self.micro_batch is not None:
            validate.integer(minimum=1, micro_batch=self.micro_batch)
        if public := self.expected_batch_size is not None:
            validate.positive(expected_batch_size=self.expected_batch_size)
        self._state: Any = None  # fingerprint of the model at its last check
        parts = {"optimizer": self.optimizer, "model": self.model, "scheduler": self.scheduler}
        self._parts = {name: part for name, part in parts.items() if part is not None}
        self._context = agreement.DistributedContext(self.process_group)
        self._randomness = Randomness.of(generator, secure=secure)
        bound = self.bound or Flat(plan.at(0)[0].max_grad_norm)
        self._gradients = Gradients(self.model, self.loss_fn, bound)
        self._like = self._gradients.largest.new_empty(0)  # type and device of noise and sums
        self._data = Records(self.dataset, like=self._like, most=self.micro_batch)
        alone, seed = not self.process_group, self._randomness.seed
        checks.check_plan(plan, bound=self.bound, alone=alone)
        plan.check_size(self._data.size)
        self._drawn: dict[int, Lot] = {}  # the lot of each coming step
        presumed = {_SIZE: not public, _ITEMS: self._data.of_items, _SEED: seed is not None}
        self._presumed = [text for text, holds in presumed.items() if holds] + [_ALONE]
        self._run, records = self._settings(), "" if alone else self._data.digest()
        self._context.agree({**self._run, "seed": repr(seed), "records": records})
        self._context.start_equal(self.model)
        self._check()
        self._data.check_items(self.model, self.loss_fn)
        self._due = 1  # next step at which a lot is tested for mixed records

    def __setattr__(self, name: str, value: object) -> None:
        """Set private attributes; AttributeError for public ones, which are checked only once."""
        if "_due" in vars(self) and not name.startswith("_"):
            raise AttributeError(f"Expected {name} to stay as it is: build another Trainer.")
        super().__setattr__(name, value)

    @torch.inference_mode(False)  # works inside a caller's torch.no_grad() too
    def step(self) -> Record:
        """Run one step and return its record; ValueError if all planned steps are done."""
        if self.steps >= self.plan.steps:
            raise ValueError(f"Expected at most {self.plan.steps} steps, as planned, got one more.")
        self._check()
        phase, _ = self.plan.at(self.steps)
        if self.bound is None and self._gradients.groups.norms != (phase.max_grad_norm,):
            self._gradients.clip_to(Flat(phase.max_grad_norm))
        lot = self._data.parts(range(self.steps, self.plan.steps), self._lot)
        expected = float(self.expected_batch_size or phase.sample_rate * self._data.size)
        parameters, groups = self._gradients.parameters, self._gradients.groups
        scale = phase.noise_multiplier / expected * (self._context.rank == 0)  # rank 0 adds noise
        runs = [(p.numel(), groups.scales[groups.of[n]] * scale) for n, p in parameters.items()]
        for parameter in (p for group in self.optimizer.param_groups for p in group["params"]):
            parameter.grad = None  # frozen parameters may have gradients from other passes
        total = self._randomness.normals(runs, self._like, self.steps)
        parts = zip(parameters, total.split([size for size, _ in runs]), strict=True)
        sums = {name: part.view(parameters[name].shape) for name, part in parts}
        tally, message = self._add_clipped(sums, lot, expected)
        if message:
            del total, parts, sums, tally, lot, parameter  # tracebacks may show local variables
            raise ValueError(message)
        self._context.add_up(total, tally)
        # Count the step before the update, so that an interrupted update is counted too.
        self._drawn.pop(self.steps, None)
        super().__setattr__("steps", self.steps + 1)
        norm = math.hypot(*groups.norms)
        self.records.append(record := Record(step=self.steps, clipping_norm=norm, tally=tally))
        for name, parameter in parameters.items():
            parameter.grad = sums[name].to(parameter.dtype)  # the noisy mean
        self.optimizer.step()
        if self.scheduler is not None:
            self.scheduler.step()
        return record

    def _check(self) -> None:
        """Check the model and choose a method for its gradients, if the model has changed."""
        if (state := state_of(self.model, self.loss_fn)) == self._state:
            return
        checks.check_training(self.model, self.loss_fn, self.optimizer, self.scheduler)
        gradients = Gradients(self.model, self.loss_fn, self._gradients.bound)
        sample = self.example or self._data.rows([i % self._data.size for i in range(20)])
        if checks.check_gradients(gradients, sample, public=bool(self.example)):
            self._presumed.append(_RANDOM)
        self._state, self._gradients = state, gradients
        if gradients.how == "alone":
            warnings.warn(SLOW, stacklevel=4)

    def _lot(self, step: int) -> Lot:
        """Return this process's part of a step's lot; repeated calls return the same records."""
        if step not in self._drawn:
            phase, before = self.plan.at(step)
            draw, position = divmod(step - before, phase.sampling_scheme.batches)
            mine = range(self._context.rank, self._data.size, self._context.processes)
            rng = self._randomness.stream(LOTS, mine.start, before + draw)
            lots = phase.lots(size=len(mine), rng=rng)[position:]
            # A phase may end within an epoch.
            for i, lot in zip(range(step, before + phase.steps), lots, strict=False):
                self._drawn[i] = mine.start + mine.step * lot
        return self._drawn[step]

    def _add_clipped(self, sums: dict, lot: Iterable, expected: float) -> tuple[Tensor, str]:
        """Add a lot's clipped gradients / `expected` to `sums`; return tally and error message."""
        tallies, message, device, now = [], None, self._like.device, self.steps + 1
        before = checks.stored(self.model) if (tested := now >= self._due) else {}
        torch.clear_autocast_cache()  # a caller's autocast around several steps caches old weights
        seeded = self._randomness.for_model(device, self._context.rank, self.steps)
        with seeded, self._gradients.without_onednn():
            for pair in lot:
                states = devices.random_states(device) if tested and message is None else []
                part = self._gradients.add(pair, sums, 1 / expected)
                tallies.append(part.tally)
                if states and len(part.losses) > 1:
                    columns = torch.stack([part.losses.to(part.norms), part.norms], 1)
                    message = checks.refusal(self._gradients, pair, columns, states, seed=now)
        tally = reduce(torch.add, tallies) if tallies else self._like.new_zeros(2, 3)
        if tested:
            after = checks.stored(self.model)
            for name in (name for name, x in after.items() if before.get(name, x) != x):
                message = (
                    f"Expected the passes over a lot to leave {name!r} as it is, but it changed: "
                    "the model holds data without noise now."
                )
            every = self._context.gathered(message)
            # All processes test at the same steps; a lot of one record tests nothing.
            if not any(every) and (self.process_group or message is not None):
                self._due = 2 * now
            message = next(filter(None, every), "")
        done = f"This was at step {now}. The {self.steps} steps done have no guarantee."
        return tally, f"{message} {done}" if message else ""

    def history(self) -> History:
        """Return the history of the steps so far."""
        done, presumed = tuple(self.records), tuple(dict.fromkeys(self._presumed))
        return History(plan=self.plan, steps=self.steps, records=done, assumptions=presumed)

    @property
    def resumable(self) -> bool:
        """Whether a run can resume from a checkpoint written now: not within an unseeded epoch."""
        phase, before = self.plan.at(self.steps)
        begun = (self.steps - before) % phase.sampling_scheme.batches
        return not begun or self.steps == self.plan.steps or self._randomness.seed is not None

    def save(self, path: str | Path) -> None:
        """Write a checkpoint of released values and seed, if any; ValueError unless `resumable`."""
        if not self.resumable:
            raise ValueError(
                f"Expected a checkpoint between two epochs, got one after {self.steps} steps: "
                "without a generator the order of an epoch is not kept."
            )
        content = {"run": self._run, "steps": self.steps, "seed": self._randomness.seed}
        content |= {name: part.state_dict() for name, part in self._parts.items()}
        if self._context.rank == 0:
            torch.save(content, buffer := io.BytesIO())
            write_whole(path, buffer.getvalue())
            for leftover in temporaries(path):  # left by interrupted writes
                leftover.unlink(missing_ok=True)

    def load(self, path: str | Path, *, missing_ok: bool = False) -> None:
        """Continue from a checkpoint; a file that fails a check changes nothing.

        Settings of optimizer and scheduler are those of the file. Steps that another trainer did
        later are not counted, so their results must not have been released. Another dataset of the
        same size is not detected. ValueError is raised for a file that is damaged, of another run
        or different between processes, and after a step. `missing_ok` accepts a missing file.
        """
        exists = Path(path).is_file()
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest() if exists else "no file"
        self._context.agree({"checkpoint": digest})
        if missing_ok and not exists:
            return
        written = agreement.loaded(path, self._run)
        steps, seed = written["steps"], written["seed"]
        if self.steps or not 0 <= steps <= self.plan.steps:  # loading may not undo a counted step
            raise ValueError(
                f"Expected a checkpoint after at most {self.plan.steps} steps for a trainer before "
                f"its first, got one after {steps} in {path} and a trainer after {self.steps}."
            )
        for name, part in self._parts.items():
            part.load_state_dict(written[name])
        super().__setattr__("steps", steps)
        self._randomness = replace(self._randomness, seed=seed)
        if seed is None:
            self._presumed.append(_LOST)
        self._drawn.clear()  # a first step that failed may have drawn lots
        self._data.forget()
        self._state, self._due = None, steps + 1
        self._check()

    def _settings(self) -> dict[str, str]:
        """Return the settings that all processes and a checkpoint must have in common."""
        facts: dict[str, Any] = {"plan": self.plan, "bound": self.bound}
        expected = self.expected_batch_size or self.plan.at(0)[0].sample_rate * self._data.size
        facts["expected_batch_size"] = float(expected)
        facts["processes"] = self._context.processes
        for name in ("loss_fn", "optimizer", "scheduler"):
            part = getattr(self, name)
            facts[name] = getattr(part, "__qualname__", type(part).__qualname__)
        facts["generator"] = "none" if self._randomness.seed is None else "given"
        for name, value in self.model.state_dict().items():
            trained = " trained" * (name in self._gradients.parameters)
            facts[f"model[{name!r}]"] = f"{value.dtype} {tuple(value.shape)}{trained}"
        groups = self.optimizer.param_groups
        facts["first learning rates"] = [g.get("initial_lr", g.get("lr")) for g in groups]
        return {name: str(fact) for name, fact in facts.items()}


def fit(
    model: nn.Module,
    loss_fn: Loss,
    dataset: Any,
    plan: Plan,
    *,
    optimizer: Optimizer,
    delta: float,
    accountant: Accountant | str = "pld",
    target_epsilon: float | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    progress: bool = True,
    callback: Callable[[Trainer], object] | None = None,
    **options: Any,
) -> History:
    """Train the model in place with differential privacy, and return the history of all steps.

    An exception that ends the run, also Ctrl-C, has the history of the steps done as its attribute
    `history`, and the checkpoint is written. Errors are those of `Trainer`.

    Parameters
    ----------
    model, loss_fn, plan, optimizer, options : as in `Trainer`
    dataset : pair (inputs, targets) of arrays, Dataset, list of pairs or DataLoader
        Arrays have one row per record; inputs may be a tuple or dict of them, targets None. Items
        of a dataset are such pairs; in a dict, "labels" are the targets. Of a loader, `collate_fn`,
        workers and pinning are used: the plan draws the lots. A record is one row or item: put all
        data of a person into one.
    delta : float in (0, 1), of the epsilon shown and of the target
    accountant : Accountant or str, the accountant of this epsilon, one of `dplearn.ACCOUNTANTS`
    target_epsilon : float > 0; the run stops before epsilon exceeds it, at a step known in advance;
        ValueError if it allows no step
    checkpoint : path, optional, file to resume from if it exists; written at the start and the end
    checkpoint_every : int >= 1, optional, number of steps after which it is also written
    progress : bool, whether to show a line of private diagnostics and the epsilon so far
    callback : callable, optional, called with the `Trainer` after each step

    Examples
    --------
    >>> from dplearn import DPSGD
    >>> model, loss_fn = nn.Linear(2, 2), nn.CrossEntropyLoss(reduction="none")
    >>> data = torch.randn(100, 2), torch.randint(2, (100,))
    >>> plan = DPSGD(noise_multiplier=2.0, sample_rate=0.1, steps=1000)
    >>> sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> history = fit(model, loss_fn, data, plan, optimizer=sgd, delta=1e-5, target_epsilon=1.0)
    >>> history.steps, history.guarantee(1e-5).epsilon <= 1.0
    (16, True)
    """
    steps = plan.steps
    if target_epsilon is not None:
        steps = plan.affordable_steps(accountant, epsilon=target_epsilon, delta=delta)
    every = max(1, steps) if checkpoint_every is None else checkpoint_every
    validate.integer(minimum=1, checkpoint_every=every)
    plan.guarantee(accountant, delta=delta)  # raises if no theorem covers the plan
    trainer = Trainer(model, loss_fn, dataset, plan, optimizer=optimizer, **options)
    if checkpoint is not None:
        trainer.load(checkpoint, missing_ok=True)
        trainer.save(checkpoint)
    line = ProgressLine(progress)

    def text() -> str:
        history, lot = trainer.history(), trainer.records[-1].private
        spent = history.guarantee(delta, accountant=accountant).epsilon
        return (
            f"step {history.steps}/{steps}  epsilon {round_up(spent)}  private: loss {lot.loss:.3f}"
            f"  clipped {lot.clipped_fraction:.0%}  not finite {history.non_finite}"
        )

    try:
        while trainer.steps < steps:
            last = trainer.step().step == steps
            due = last or trainer.steps % every == 0
            if checkpoint is not None and due and trainer.resumable:
                trainer.save(checkpoint)
            line.show(text, last=last)
            if callback is not None:
                callback(trainer)
    except BaseException as error:
        error.history = trainer.history()  # type: ignore[attr-defined]
        error.add_note(f"The {trainer.steps} steps done are in this exception's `history`.")
        if checkpoint is not None and trainer.resumable:
            with suppress(OSError):  # the error may come from saving
                trainer.save(checkpoint)
        raise
    finally:
        trainer._data.forget()  # ends the loader's workers
    return trainer.history()
