"""Private training in one call."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from torch import nn
from torch.optim import Optimizer

from dplearn.accountants import Accountant
from dplearn.core import validate
from dplearn.core.display import ProgressLine
from dplearn.core.guarantee import round_up
from dplearn.run import Plan
from dplearn.training.history import History
from dplearn.training.tape import Loss
from dplearn.training.trainer import Trainer


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
    """Train the model in place with differential privacy.

    Ctrl-C and other exceptions that end the run have the history of the steps done as their
    attribute `history`, and the checkpoint is written.

    Parameters
    ----------
    model, loss_fn, plan, optimizer, options : as in `Trainer`
    dataset : pair (inputs, targets) of arrays, Dataset, list of pairs or DataLoader
        Arrays have one row per record; inputs may be a tuple or dict of them, targets None. Items
        of a dataset are such pairs; in a dict, "labels" are the targets. Of a loader, `collate_fn`,
        workers and pinning are used: the plan draws the lots. A record is one row or item: put all
        data of a person into one.
    delta : float in (0, 1), of the epsilon shown and of the target
    accountant : Accountant or str, of this epsilon, one of `dplearn.ACCOUNTANTS`
    target_epsilon : float > 0; the run stops before epsilon exceeds it, at a step known in advance
    checkpoint : path, optional, file to resume from if it exists; written at the start and the end
    checkpoint_every : int >= 1, optional, number of steps after which it is also written
    progress : bool, whether to show a line of private diagnostics and the epsilon so far
    callback : callable, optional, called with the `Trainer` after each step

    Returns
    -------
    History
        Of all steps done; ``history.guarantee(delta)`` is what they guarantee.

    Raises
    ------
    ValueError
        If `target_epsilon` allows no step. Other errors are those of `Trainer`.

    Examples
    --------
    >>> import torch
    >>> from dplearn import DPSGD
    >>> model, loss_fn = nn.Linear(2, 2), nn.CrossEntropyLoss(reduction="none")
    >>> data = torch.randn(100, 2), torch.randint(2, (100,))
    >>> plan = DPSGD(noise_multiplier=2.0, sample_rate=0.1, steps=1000)
    >>> sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> target = {"delta": 1e-5, "target_epsilon": 1.0}
    >>> history = fit(model, loss_fn, data, plan, optimizer=sgd, **target, progress=False)
    >>> history.steps
    16
    >>> history.guarantee(1e-5).epsilon <= 1.0
    True
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
    try:
        while trainer.steps < steps:
            last = trainer.step().step == steps
            due = (last or trainer.steps % every == 0) and trainer.resumable
            if checkpoint is not None and due:
                trainer.save(checkpoint)
            line.show(lambda: _line(trainer.history(), steps, accountant, delta), last=last)
            if callback is not None:
                callback(trainer)
    except BaseException as error:
        error.history = trainer.history()  # type: ignore[attr-defined]
        error.add_note(f"The {trainer.steps} steps done are in this exception's `history`.")
        if checkpoint is not None and trainer.resumable:
            with suppress(OSError):  # saving may be what failed
                trainer.save(checkpoint)
        raise
    finally:
        trainer.end_workers()
    return trainer.history()


def _line(history: History, steps: int, accountant: Accountant | str, delta: float) -> str:
    lot, spent = history.records[-1].private, history.guarantee(delta, accountant=accountant)
    return (
        f"step {history.steps}/{steps}  epsilon {round_up(spent.epsilon)}  private: "
        f"loss {lot.loss:.3f}  clipped {lot.clipped_fraction:.0%}  not finite {history.non_finite}"
    )
