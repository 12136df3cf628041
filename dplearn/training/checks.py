"""Refuses models whose records influence each other, or whose gradients would come out wrong.

Known offenders are refused by name, others by experiment: what some records lose and add to the
clipped sum may not depend on others, on how many there are, on places or on what came before.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd
from torch.optim import LBFGS, Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.core import validate
from dplearn.run import Plan
from dplearn.training.bounds import ClippingBound, Flat
from dplearn.training.devices import forked
from dplearn.training.gradients import Clip, ClippedSum, added_sum
from dplearn.training.layers import trainable
from dplearn.training.learned import learn
from dplearn.training.passes import Loss, device_of, passed
from dplearn.training.probe import SyntheticBatch, holdings, probing, widened
from dplearn.training.recording import Inventory, Tape
from dplearn.training.sampling import INDEPENDENT, fixed_size

_TWICE = 2**26  # parameters of which there may be a copy in float64
_SEEDS = 4  # seeds at which a model that draws random numbers is asked whether it mixes records


@torch.inference_mode(False)
def check_model(
    model: nn.Module,
    loss_fn: Loss,
    inputs: Any,
    targets: Any,
    *,
    public: bool = False,
    batch: int = 16,
) -> None:
    """Raise if an experiment shows that this model mixes records, keeps data or gives wrong sums.

    Arguments are those of `clipped_sum`. Only shapes and types of the records are used: numbers
    are made up, unless these records are `public`. At most `batch` are processed at once, in
    float64 if the model allows it and has at most 67 million parameters. Run it in the mode of
    training; neither the model nor the random state is changed. No experiment proves that all is
    well: a model that mixes rarely, or for inputs of a special form only, is accepted.

    NotImplementedError is raised if a module is known to mix records or has no per-example
    gradient; ValueError if an experiment shows a fault.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(3, 2), nn.Softmax(0))
    >>> losses = nn.CrossEntropyLoss(reduction="none")
    >>> check_model(model, losses, torch.ones(4, 3), torch.zeros(4, dtype=torch.long))
    Traceback (most recent call last):
    ValueError: Expected what a record loses and adds to the sum not to depend on others, but it ...
    """
    validate.integer(minimum=4, batch=batch)
    Inventory.of(model)  # refuses by name before anything runs
    begun = partial(_Probe, model, loss_fn, (inputs, targets), size=batch, public=public)
    probe = begun(precise=False)  # records must suit the model as it is
    if sum(p.numel() for p in model.parameters()) <= _TWICE:
        with suppress(Exception):  # whatever a model raises that fixes its types
            probe = begun(precise=True)
    _check_kept(probe)
    with probe.begun():
        probe.learn()
        random = probe.random()
        for seed in range(_SEEDS) if random else (0,):
            _check_separate(probe, seed, together=not random)
        # Records are moved where nothing is drawn at random: dropout is off as long as this lasts.
        for module in model.modules() if random else ():
            for name in ("p",) if isinstance(module, _DropoutNd) else ("dropout", "drop_prob"):
                if isinstance(vars(module).get(name), float):
                    setattr(module, name, 0.0)
        if random and not probe.random():
            _check_separate(probe, 0, together=True)


class _Probe:
    """A model and records made up for it, by numbers; `size` of them are looked at at once."""

    def __init__(
        self, model: Any, loss_fn: Loss, example: Any, *, size: int, public: bool, precise: bool
    ) -> None:
        self.model, self.loss_fn, self.size, self._device = model, loss_fn, size, device_of(model)
        self._inventory, self._bound = Inventory.of(model), Flat(1.0)
        modules = [part for part in (model, loss_fn) if isinstance(part, nn.Module)]
        self.begun = partial(probing, *modules, precise=precise)
        with self.begun():
            example = tree_map_only(Tensor, widened, example) if precise else example
            self.records = SyntheticBatch(example, self._works, size, public=public)
            leaves = *tree_leaves(self.records.rows(range(size))), *model.parameters()
        floating = [x for x in leaves if isinstance(x, Tensor) and x.is_floating_point()]
        eps = max(torch.finfo(x.dtype).eps for x in floating)
        # What rounding may change, relatively: a model in float64 may have parts in float32.
        self._room = max(1e-4, min(0.1, 1.6e4 * eps))

    def _works(self, pair: Any) -> Any:
        _, outputs, losses = self.passed(pair)
        if not losses.isfinite().all():
            raise ValueError(
                "Expected finite losses of made-up records, got some that are not for all kinds of "
                "numbers tried. Give public records as an example."
            )
        return outputs

    def passed(self, pair: Any, seed: int = 0) -> tuple[Tape, Any, Tensor]:
        """A pass over records."""
        inputs, targets = pair
        with forked(self._device, seed):
            return passed(self.model, self.loss_fn, inputs, targets, self._inventory)

    def clipped(self, numbers: Sequence[int], kept: Sequence[int], seed: int = 0) -> ClippedSum:
        """Clipped sum of the kept ones of these records."""
        mask = torch.tensor([number in kept for number in numbers], device=self._device)
        parts = self.model, self.loss_fn, *self.records.rows(numbers)
        clip = Clip.of(self.model, self._bound)
        with forked(self._device, seed):
            return added_sum(*parts, clip=clip, mask=mask, inventory=self._inventory)

    def look(self, numbers: Sequence[int], kept: Sequence[int], seed: int) -> tuple[Tensor, Tensor]:
        """Of the kept ones of these records losses (kept, 1) and clipped sum (1, parameters)."""
        part = self.clipped(numbers, kept, seed)
        places = [list(numbers).index(number) for number in kept]
        return part.losses[places, None], torch.cat([x.flatten() for x in part.sums.values()])[None]

    def alone(self, kept: Sequence[int], seed: int) -> tuple[Tensor, Tensor]:
        """The same of lots of one record each."""
        try:
            looks = [self.look([one], [one], seed) for one in kept]
        except Exception as error:
            raise ValueError(f"Expected a lot of one record to do, got: {error}") from error
        losses, sums = zip(*looks, strict=True)
        return torch.cat(losses), torch.cat(sums).sum(0, keepdim=True)

    def learn(self) -> None:
        """Look at sums of gradients, and find a norm to which most records are scaled."""
        ordinary = range(self.size)
        self._inventory = learn(self.model, self.loss_fn, *self.records.rows(ordinary))
        norms = self.clipped(ordinary, ordinary).norms
        if (middle := norms[norms.isfinite()].nanmedian().item()) > 0:  # nan if there is none
            self._bound = Flat(1e-3 * middle)

    def random(self) -> bool:
        """Whether losses depend on the random state."""
        rows = lambda: self.records.rows(range(self.size))  # anew: a pass may write into them
        first, second = (self.passed(rows(), seed)[2].detach()[:, None] for seed in (0, 1))
        return not self.equal(first, second)

    def equal(self, first: Tensor, second: Tensor) -> bool:
        """Whether rows are the same but for rounding."""
        sizes = first.norm(dim=1)
        typical = sizes[sizes.isfinite()].nanmedian().nan_to_num()
        near = (first - second).norm(dim=1) <= self._room * (sizes + 0.01 * typical)
        odd = first.isnan() & second.isnan() | (first == second)
        return bool((near | odd.all(1)).all())


def _check_kept(probe: _Probe) -> None:
    """Raise if what passes leave behind depends on their data: it is released without noise."""
    held, parameters = [], list(trainable(probe.model).values())
    for part in range(3):  # starts with data of their own: a first pass may write alone
        numbers = range(part * probe.size, (part + 1) * probe.size)
        with probe.begun():
            for _ in range(3):
                *_, losses = probe.passed(probe.records.rows(numbers))
                if parameters and losses.requires_grad:  # a backward pass may keep something too
                    torch.autograd.grad(losses.sum(), parameters, allow_unused=True)
            held.append(holdings(probe.model, probe.loss_fn))
    for path in set().union(*held):
        first, second, third = values = [each.get(path) for each in held]
        # What no start takes back, such as a variable of a function, may count.
        counts = {*map(type, values)} == {int} and second - first == third - second
        if values != [first] * 3 and not counts:
            raise ValueError(
                f"Expected a forward pass to keep nothing of its data, but {path!r} depends on it: "
                "it would hold data without noise, and pass it on to other records. Set it from "
                "public data before the training, or leave it out."
            )


def _check_separate(probe: _Probe, seed: int, *, together: bool) -> None:
    """Raise if what one sees of some records depends on others."""
    for kept, batch, others in _experiments(probe, together):
        before: Any = None
        for what, other in others.items():
            try:
                before = before or probe.look(batch, kept, seed)
                after = probe.look(other, kept, seed) if other else probe.alone(kept, seed)
            except Exception:
                if "missing" in what:
                    continue  # a model may refuse what is not a number
                raise
            if not all(map(probe.equal, before, after)):
                mixes, keeps = "mixes records", "remembers, or draws not from torch's seed"
                raise ValueError(
                    "Expected what a record loses and adds to the sum not to depend on others, but "
                    f"it is different {what}: the model or the loss "
                    f"{keeps if other == batch else mixes}."
                )


def _experiments(
    probe: _Probe, together: bool
) -> Iterator[tuple[list[int], list[int], dict[str, list[int]]]]:
    """Records that are compared, a batch with them, and others, or none, by what differs there."""
    size, places = probe.size, range(0, probe.size, 3)
    # The kept ones in their places, others from a part of the pool.
    among = lambda kept, part: [
        kept[i // 3] if i in places else part * size + i for i in range(size)
    ]
    kept, spoilt = list(places), [3 * size + i for i in places]
    batch = among(kept, 0)
    others = {"when computed again": batch}
    for part, what in enumerate(("larger records", "smaller records", "missing values"), 1):
        others[f"beside {what}"] = among(kept, part)
    if together:
        moved = [batch[i] for i in torch.randperm(size, generator=torch.Generator().manual_seed(0))]
        fewer = [i for i in moved if i in kept or i < size // 3]
        others |= {"in other places": moved, "in a smaller batch": fewer, "on its own": []}
    yield kept, batch, others
    yield spoilt, among(spoilt, 0), {"with missing values of its own": among(spoilt, 1)}
    for part in range(4, 4 + 2 * probe.records.styles, 2):
        short = [part * size + i for i in places]
        longer = {"beside longer records, or fewer ignored labels": among(short, part + 1)}
        yield short, among(short, part), longer
    if together:
        larger = [i + size for i in range(size)]
        yield larger[::3], larger, {"on its own": []}


def check_settings(
    model: nn.Module, loss_fn: Any, plan: Plan, optimizer: Optimizer, scheduler: Any
) -> None:
    """Refuse what cannot be trained privately, or not at all."""
    if not isinstance(plan, Plan):
        raise TypeError(f"Expected plan to be a DPSGD or Phases, got {type(plan).__name__}.")
    if not callable(loss_fn):
        raise TypeError(f"Expected loss_fn to be a function, got {type(loss_fn).__name__}.")
    if not trainable(model):
        raise ValueError("Expected a model with at least one trainable parameter, got 0.")
    # A DTensor, whose module takes half a second to import.
    if any(hasattr(parameter, "placements") for parameter in model.parameters()):
        raise validate.unsupported("a model in shards", "Give each process the whole model.")
    if isinstance(optimizer, LBFGS):
        raise validate.unsupported("LBFGS", "it evaluates the loss several times per step.")
    if isinstance(scheduler, ReduceLROnPlateau):
        raise validate.unsupported("ReduceLROnPlateau", "it reads losses, which are private.")
    optimized = {id(p) for group in optimizer.param_groups for p in group["params"]}
    losses = trainable(loss_fn).values() if isinstance(loss_fn, nn.Module) else ()
    if foreign := {*optimized, *map(id, losses)} - {id(p) for p in model.parameters()}:
        raise ValueError(
            f"Expected trainable parameters of the model only, got {len(foreign)} of the loss or "
            "in the optimizer that are not the model's and would never be trained: make them "
            "part of the model, which can return what they give."
        )
    missing = [name for name, p in trainable(model).items() if id(p) not in optimized]
    if missing:
        raise ValueError(
            f"Expected every trainable parameter in the optimizer, got none for {missing}: "
            "add them, or freeze them with requires_grad_(False)."
        )


def check_phases(plan: Plan, *, bound: ClippingBound | None, size: int, alone: bool) -> None:
    """Refuse a plan that does not fit its bound, so many records, or several processes."""
    for phase in plan.phases:
        if (norm := getattr(bound, "max_grad_norm", phase.max_grad_norm)) != phase.max_grad_norm:
            raise ValueError(
                f"Expected bound.max_grad_norm = plan.max_grad_norm = {phase.max_grad_norm!r}, "
                f"got bound.max_grad_norm={norm!r}."
            )
        if bound is not None:
            bound.gradient_noise(phase.noise_multiplier)  # refuses what cannot be
        if phase.dataset_size not in (None, size):
            planned = f"plan.dataset_size = {phase.dataset_size}"
            raise ValueError(f"Expected a dataset of {planned} records, got {size}.")
        if phase.sampling in INDEPENDENT:
            continue
        if phase.max_batch_size is None:
            fixed_size(phase, size)
        if not alone:
            raise validate.unsupported(
                f"sampling={phase.sampling!r} in several processes",
                "parts of a dataset cannot draw such lots separately.",
            )
