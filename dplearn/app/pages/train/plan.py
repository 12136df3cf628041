"""From what a reader entered to a job for the worker, and to Python that does the same."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dplearn.accountants.pld import PLD
from dplearn.app.kit.run_fields import length_of, rate_of
from dplearn.app.kit.state import State
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.datasets import PRACTICE_SIZES
from dplearn.ground.guarantee import Guarantee, round_up
from dplearn.run import DPSGD

_POINTS = 60


@dataclass(frozen=True, kw_only=True)
class Training:
    """One run: data, model, plan with Poisson sampling, and how its gradients are used."""

    dataset: str
    model: str
    plan: DPSGD
    learning_rate: float
    delta: float
    compare: bool
    bound: str = "Flat"  # a class of `dplearn.training`

    @property
    def size(self) -> int:
        """Number of records that are trained on."""
        return PRACTICE_SIZES[self.dataset]

    @property
    def lot(self) -> float:
        """Expected number of records in a step."""
        return self.plan.sample_rate * self.size

    @property
    def count_noise(self) -> float:
        """Noise on the count that an adaptive bound follows: a twentieth of the lot, or enough."""
        adaptive = self.bound == "AdaptiveQuantile"  # Andrew et al. (2021)
        return max(self.lot / 20, self.plan.noise_multiplier) if adaptive else 0.0

    @property
    def guarantee(self) -> Guarantee:
        """Of all planned steps."""
        return guarantee(self.plan, self.delta, self.plan.steps)

    @property
    def job(self) -> dict[str, Any]:
        """As `dplearn.app.worker` reads it."""
        names = ("noise_multiplier", "sample_rate", "steps", "max_grad_norm")
        own = ("dataset", "model", "learning_rate", "delta", "compare", "bound", "count_noise")
        plan = {name: getattr(self.plan, name) for name in names}
        return plan | {name: getattr(self, name) for name in own}


def training_of(state: State) -> Training:
    """The run in use; a lot larger than the data leaves a message at its control."""
    values = state.values
    rate, size = values["sample_rate"], PRACTICE_SIZES[values["dataset"]]
    if values["lot_from"] == "lot":
        rate = rate_of(state, size, f"the {size} records to train on")
    plan = DPSGD(
        noise_multiplier=values["noise_multiplier"],
        sample_rate=rate,
        steps=length_of(state, rate),
        max_grad_norm=values["max_grad_norm"],
    )
    if values["noise_from"] == "epsilon":
        noise = _least_noise(plan, values["target_epsilon"], values["delta"])
        plan = replace(plan, noise_multiplier=noise)
    names = ("dataset", "model", "learning_rate", "delta", "bound")
    entries = {name: values[name] for name in names}
    return Training(**entries, plan=plan, compare=values["compare"] == "yes")


@lru_cache(maxsize=512)
def guarantee(plan: DPSGD, delta: float, steps: int) -> Guarantee:
    """Of so many steps of the plan."""
    return plan.guarantee(delta=delta, steps=steps)


@lru_cache(maxsize=512)
def attacker(plan: DPSGD, steps: int) -> float:
    """Share of members that the best attacker finds after so many steps, with 1 % false alarms."""
    ends = PLD().true_positive_rate(plan.mechanism, false_positive_rate=0.01, steps=steps)
    return float(ends[1])


@lru_cache(maxsize=128)
def ahead(plan: DPSGD, delta: float) -> tuple[tuple[int, float], ...]:
    """Steps and epsilon of the whole plan: known before a record is touched."""
    steps = sorted({max(1, round(plan.steps * k / _POINTS)) for k in range(1, _POINTS + 1)})
    curve = PLD().epsilon_curve(plan.mechanism, delta=delta, steps=steps)
    return tuple((t, g.epsilon) for t, g in zip(steps, curve, strict=True))


@lru_cache(maxsize=128)
def _least_noise(plan: DPSGD, epsilon: float, delta: float) -> float:
    """Rounded up, so that what the page shows is enough."""
    least = smallest_noise_multiplier(
        plan.mechanism,
        steps=plan.steps,
        epsilon=epsilon,
        delta=delta,
    )
    return float(round_up(least.value, 4))


def as_python(training: Training) -> str:
    """Lines that train the same model in the same way, and print what came of it."""
    plan = training.plan
    more = ["micro_batch=64"] * (training.model == "cnn")
    kind, count = training.bound, training.count_noise
    if kind != "Flat":
        options = f", count_noise={count!r}" if count else ""
        more.append(f"bound={kind}(max_grad_norm={plan.max_grad_norm!r}{options})")
    lines = "".join(f"\n    {line}," for line in more)
    return f"""\
import torch
from torch import nn
from dplearn import DPSGD
from dplearn.datasets import practice_set
from dplearn.training import {"" if kind == "Flat" else f"{kind}, "}fit
from dplearn.training.models import built, inputs_for

train, held_out = practice_set({training.dataset!r})
inputs = inputs_for({training.model!r}, train.images)
model = built({training.model!r}, inputs)
plan = DPSGD(
    noise_multiplier={plan.noise_multiplier!r},
    sample_rate={plan.sample_rate!r},
    steps={plan.steps},
    max_grad_norm={plan.max_grad_norm!r},
)
history = fit(
    model,
    nn.CrossEntropyLoss(reduction="none"),
    (inputs, torch.from_numpy(train.labels)),
    plan,
    optimizer=torch.optim.SGD(model.parameters(), lr={training.learning_rate!r}, momentum=0.9),
    delta={training.delta!r},{lines}
)
print(history.guarantee({training.delta!r}))
guesses = model(inputs_for({training.model!r}, held_out.images)).argmax(1)
print(f"held-out accuracy {{(guesses.numpy() == held_out.labels).mean():.1%}}")
"""
