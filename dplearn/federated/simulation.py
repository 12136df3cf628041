r"""Federated averaging of thousands of users in one process, by tensors with a row per user.

A round samples users by the plan, trains a copy of the model on each user's records, clips the
updates, and adds them up:

.. math:: \theta \leftarrow \text{server}\Big(\theta,\ \frac{1}{m}\Big(\sum_{u\ \text{present}}
          \min\Big(1, \frac{C}{\|\Delta_u\|}\Big)\Delta_u + N(0, z^2C^2)\Big)\Big)

with a public number m. Users are not weighted by their numbers of records. Interaction between one
user's records, by momentum or a batch norm for example, does not change the guarantee.
"""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.optim import Optimizer

from dplearn.core import validate
from dplearn.core.display import ProgressLine
from dplearn.core.guarantee import round_up
from dplearn.federated.plan import FederatedPlan
from dplearn.run import History, Record
from dplearn.training.checks import check_training
from dplearn.training.devices import forked, moved
from dplearn.training.gradients import tally_of
from dplearn.training.layers import trainable
from dplearn.training.noise import LOTS, Randomness
from dplearn.training.tape import Loss, check_losses, wide

_USERS_AT_ONCE = 256  # number of users whose models are trained in one call


@dataclass(eq=False, repr=False)
class Federation:
    """Federated run that trains a model round by round; `simulate` runs all rounds in one call.

    Parameters
    ----------
    model : torch.nn.Module; its train or eval mode stays as it is, and its buffers may not change
    loss_fn : callable; ``loss_fn(model(inputs), targets)`` is one loss per record, shape (B,)
    records : tuple (inputs, targets, owners) of tensors or arrays with a row per record; owners are
        user numbers from 0 to `plan.users` - 1, and users may have any number of records, or none
    plan : FederatedPlan
    optimizer : torch.optim.Optimizer of the server; its gradient is minus the noisy mean update
    local_steps : int >= 1, steps of gradient descent on all records of a user
    local_learning_rate : float > 0
    generator : torch.Generator, for teaching and tests; by default the noise is not repeatable
    """

    model: nn.Module
    loss_fn: Loss
    records: tuple[Any, Any, Any]
    plan: FederatedPlan
    _: KW_ONLY
    optimizer: Optimizer
    local_steps: int
    local_learning_rate: float
    generator: InitVar[torch.Generator | None] = None
    done: list[Record] = field(default_factory=list, init=False)

    def __post_init__(self, generator: torch.Generator | None) -> None:
        validate.instance(FederatedPlan, plan=self.plan)
        validate.integer(minimum=1, local_steps=self.local_steps)
        validate.positive(local_learning_rate=self.local_learning_rate)
        (self._phase,) = self.plan.phases
        self._phase.check_size(self.plan.users)
        check_training(self.model, self.loss_fn, self.optimizer)
        self._parameters = trainable(self.model)
        self._like = nn.utils.parameters_to_vector(self._parameters.values()).detach()
        self._users = _Users(self.records, self.plan.users, self._like.device)
        x, y = self._users.inputs[:3], self._users.targets[:3]
        with torch.no_grad(), forked(self._like.device, 0):
            check_losses(self.loss_fn(self.model(x), y), x)
        self._randomness = Randomness.of(generator)
        self._drawn: list[NDArray[np.int64]] = []

    @property
    def rounds(self) -> int:
        """Number of completed rounds."""
        return len(self.done)

    def round(self) -> Record:
        """Run one round and return its record; raise ValueError after the last planned round."""
        if self.rounds >= self.plan.rounds:
            raise ValueError(f"Expected at most {self.plan.rounds} rounds, got one more.")
        number, plan = self.rounds, self.plan
        clients = self._present(number)
        expected = plan.users * plan.sample_rate
        deviation = plan.noise_multiplier * plan.max_update_norm / expected
        with self._randomness.for_model(self._like.device, 0, number):
            total, tally = self._clipped(clients)
        noise = self._randomness.normals([(len(total), deviation)], self._like, number)
        # Record the round before the optimizer's step, so that an interrupted round counts.
        record = Record(step=number + 1, clipping_norm=plan.max_update_norm, tally=tally)
        self.done.append(record)
        self.optimizer.zero_grad(set_to_none=True)
        parameters = self._parameters.values()
        changes = noise.add_(total, alpha=1 / expected).split([p.numel() for p in parameters])
        for parameter, change in zip(parameters, changes, strict=True):
            parameter.grad = change.view_as(parameter).to(parameter.dtype).neg()
        self.optimizer.step()
        return record

    def _present(self, number: int) -> NDArray[np.int64]:
        plan, rng = self.plan, self._randomness.stream(LOTS, number)
        if plan.sampling == "none":  # the guarantee holds for any set of present users
            return np.flatnonzero(rng.random(plan.users) < plan.sample_rate)
        if not self._drawn:
            self._drawn = self._phase.lots(size=plan.users, rng=rng)
        return self._drawn.pop(0)

    def _clipped(self, clients: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        total, largest = torch.zeros_like(self._like), self.plan.max_update_norm
        tally = wide(self._like.new_zeros(2, 3))
        for inputs, targets, mask in self._users.batches(clients):
            updates, losses = self._updates(inputs, targets, mask)
            norms = updates.norm(dim=1)
            good = norms < math.inf
            factors = torch.where(good, (largest / norms).clamp(max=1.0), 0.0)
            total += factors @ torch.where(good[:, None], updates, 0.0)
            scaled = good & (norms > largest)
            tally += tally_of(torch.stack([losses.to(tally), norms.to(tally), scaled]))
        tally[1, 1:] += len(clients) - tally[1, 2]  # count users without records
        return total, tally

    def _updates(self, inputs: Tensor, targets: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return each user's local update, and each user's mean loss before that update."""

        def mean_loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor, real: Tensor) -> Tensor:
            losses = self.loss_fn(functional_call(self.model, parameters, (x,)), y)
            return torch.where(real, losses, 0.0).sum() / real.sum()

        def trained(x: Tensor, y: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
            start = {name: value.detach() for name, value in self._parameters.items()}
            own, first = start, None
            for _ in range(self.local_steps):
                slopes, loss = grad_and_value(mean_loss)(own, x, y, real)
                own = {n: value - self.local_learning_rate * slopes[n] for n, value in own.items()}
                first = loss if first is None else first
            return torch.cat([(own[n] - start[n]).flatten() for n in start]), first  # type: ignore

        return vmap(trained, randomness="different")(inputs, targets, mask)

    def history(self) -> History:
        """Return the history of the completed rounds, with a guarantee per user."""
        secret = () if self._randomness.seed is None else ("nobody knows the seed",)
        return History(
            plan=self.plan, steps=self.rounds, records=tuple(self.done), assumptions=secret
        )


class _Users:
    """Records grouped by user, on a device."""

    def __init__(self, records: tuple[Any, Any, Any], users: int, device: torch.device) -> None:
        if not isinstance(records, tuple) or len(records) != 3:
            raise TypeError("Expected records to be (inputs, targets, owners).")
        inputs, targets = (moved(torch.as_tensor(part), device) for part in records[:2])
        owners = np.asarray(records[2])
        if owners.dtype.kind not in "iu" or not owners.shape == (len(inputs),) == (len(targets),):
            rows = "inputs, targets and owners with a row per record, owners whole numbers"
            got = f"{len(inputs)}, {len(targets)} and {owners}"
            raise ValueError(f"Expected {rows}, got {got}.")
        if len(owners) == 0:
            raise ValueError("Expected records with at least one record, got 0.")
        if not 0 <= owners.min() <= owners.max() < users:
            raise ValueError(
                f"Expected owners from 0 to plan.users - 1 = {users - 1}, "
                f"got {owners.min()} to {owners.max()}."
            )
        order = torch.from_numpy(np.argsort(owners, kind="stable")).to(device)
        self.inputs, self.targets, self._device = inputs[order], targets[order], device
        self._counts = np.bincount(owners, minlength=users)
        self._starts = np.cumsum(self._counts) - self._counts

    def batches(self, clients: NDArray[np.int64]) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield inputs, targets and a mask, with a row per user who has records.

        Shorter rows repeat a record of the same user, which the mask leaves out.
        """
        counts = self._counts[clients]
        clients = clients[np.argsort(counts, kind="stable")][(counts == 0).sum() :]
        for first in range(0, len(clients), _USERS_AT_ONCE):
            part = clients[first : first + _USERS_AT_ONCE]
            counts, place = self._counts[part][:, None], np.arange(self._counts[part].max())
            rows = torch.from_numpy(self._starts[part][:, None] + np.minimum(place, counts - 1))
            rows, mask = (moved(x, self._device) for x in (rows, torch.from_numpy(place < counts)))
            yield self.inputs[rows], self.targets[rows], mask


def simulate(
    model: nn.Module,
    loss_fn: Loss,
    records: tuple[Any, Any, Any],
    plan: FederatedPlan,
    *,
    delta: float,
    progress: bool = True,
    **options: Any,
) -> History:
    """Train the model in place for all rounds of a plan, and return their history.

    Other parameters are fields of `Federation`, `options` its keyword arguments. An exception that
    ends the run, also Ctrl-C, has the history of the completed rounds as attribute `history`.

    Parameters
    ----------
    delta : float in (0, 1), of the epsilon per user that the line of progress shows
    progress : bool, whether to show that line
    """
    plan.guarantee(delta=delta)  # raises before training if no theorem covers the plan
    run = Federation(model, loss_fn, records, plan, **options)
    line = ProgressLine(progress)

    def text() -> str:
        epsilon = plan.guarantee(delta=delta, steps=run.rounds).epsilon
        return f"round {run.rounds}/{plan.rounds}  epsilon per user {round_up(epsilon)}"

    try:
        while run.rounds < plan.rounds:
            run.round()
            line.show(text, last=run.rounds == plan.rounds)
    except BaseException as error:
        error.history = run.history()  # type: ignore[attr-defined]
        error.add_note(f"The {run.rounds} rounds done are in this exception's `history`.")
        raise
    return run.history()
