"""Everything a reader can set on the training page, the plan it comes to, and it in Python."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dplearn.accountants.pld import PLD
from dplearn.app.kit import run_fields
from dplearn.app.kit.fields import Choice, Quantity, Text, by_key
from dplearn.app.kit.run_fields import length_of, rate_of
from dplearn.app.kit.state import State, idle
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.datasets import PRACTICE_SIZES, practice_names
from dplearn.ground.guarantee import Guarantee, round_up
from dplearn.run import DPSGD

_NAMES = {"digits": "Digits 8 × 8", "synthetic": "Synthetic 28 × 28", "mnist": "MNIST 28 × 28"}
DATASET = Choice(
    "dataset",
    "Data",
    "Digits: 1 797 handwritten ones that come with dplearn; 1 438 to train on, the others are "
    "held out. Synthetic: 10 000 drawn by a procedure, and 2 000 held out. All count as public "
    "here: they are for practice.",
    {name: _NAMES[name] for name in practice_names()},
)
_ABOUT_MODEL = (
    "Linear: a linear model on directions of edges, features made by hand. MLP: one hidden layer "
    "of 64 on the pixels. CNN: two convolutions."
)
MODEL = Choice("model", "Model", _ABOUT_MODEL, {"linear": "Linear", "mlp": "MLP", "cnn": "CNN"})
NOISE_FROM = Choice(
    "noise_from",
    "Noise given by",
    "Either a target ε, for which the least noise is looked up, or the noise multiplier itself.",
    {"epsilon": "ε", "noise": "σ"},
)
_ABOUT_TARGET = (
    "The privacy loss that the whole run may have. The least noise that keeps it is found first."
)
TARGET = Quantity(
    "target_epsilon", "Target ε", _ABOUT_TARGET, default=3, lower=0.1, upper=50, per_decade=20
)
NOISE = replace(run_fields.NOISE, default=3.54, lower=0.3)
_ABOUT_LOT_FROM = "Either its expected size L, or the probability q = L/N of a record to be in it."
LOT_FROM = Choice("lot_from", "Lot given by", _ABOUT_LOT_FROM, {"lot": "L", "rate": "q"})
LOT = replace(
    run_fields.BATCH,
    label="Expected lot L",
    help="Average number of records in one step: each record enters by its own coin (Poisson "
    "sampling).",
    default=512,
    upper=max(PRACTICE_SIZES.values()),
)
RATE = replace(run_fields.RATE, default=0.356, lower=1e-3)
_ABOUT_STEPS = "Noisy updates of the model; every one adds to ε."
STEPS = replace(run_fields.STEPS, label="Steps T", help=_ABOUT_STEPS, default=60, upper=2000)
_ABOUT_EPOCHS = "One epoch is N/L steps: each record is used once on average."
EPOCHS = replace(
    run_fields.EPOCHS, label="Epochs", help=_ABOUT_EPOCHS, default=20, lower=0.1, upper=500
)
_ABOUT_CLIPPING = (
    "No record's gradient counts for more than this length. Accuracy depends on it, ε does not."
)
CLIPPING = Quantity(
    "max_grad_norm", "Clipping norm C", _ABOUT_CLIPPING, default=0.1, lower=1e-3, upper=100
)
_ABOUT_BOUND = (
    "Flat: the whole gradient gets length C at most. Per layer: each layer its share of C. "
    "Normalised: every gradient gets about length C. Adaptive: C follows the median of the "
    "lengths; ε covers the noisy count that it follows."
)
_BOUNDS = {
    "Flat": "Flat",
    "PerLayer": "Per layer",
    "Automatic": "Normalised",
    "AdaptiveQuantile": "Adaptive",
}
BOUND = Choice("bound", "Clipping", _ABOUT_BOUND, _BOUNDS)
_ABOUT_LEARNING_RATE = (
    "Length of a step, for SGD with momentum 0.9. Clipped gradients are short: a small C wants a "
    "large η. Without privacy η·C is used."
)
LEARNING_RATE = Quantity(
    "learning_rate", "Learning rate η", _ABOUT_LEARNING_RATE, default=30, lower=1e-3, upper=1000
)
DELTA = replace(run_fields.DELTA, default=1e-4, lower=1e-10, upper=1e-2)
_ABOUT_COMPARE = (
    "The same model on lots of the same size, without clipping and noise: what does privacy cost?"
)
_YES = {"yes": "yes", "no": "no"}
COMPARE = Choice("compare", "Compare with no privacy", _ABOUT_COMPARE, _YES, segments=True)

# In the address alone: the run that a reload finds again.
RUN = Text("run", "Run", "", default="")

FIELDS = by_key(
    *(DATASET, MODEL, NOISE_FROM, TARGET, NOISE, LOT_FROM, LOT, RATE, run_fields.LENGTH_IN),
    *(STEPS, EPOCHS, CLIPPING, BOUND, LEARNING_RATE, DELTA, COMPARE, RUN),
)
_HIDDEN = idle(
    {
        "noise_from": {"epsilon": {"noise_multiplier"}, "noise": {"target_epsilon"}},
        "lot_from": {"lot": {"sample_rate"}, "rate": {"batch_size"}},
        "length_in": {"steps": {"epochs"}, "epochs": {"steps"}},
    }
)
# Found by trying on the held-out records, at epsilon 3 within seconds.
_RECIPES: dict[str, dict[str, Any]] = {
    "digits": {"batch_size": 512, "sample_rate": 0.356, "steps": 60, "epochs": 20, "delta": 1e-4},
    "synthetic": {"batch_size": 1024, "sample_rate": 0.1, "steps": 100, "epochs": 10},
    "mnist": {"batch_size": 1024, "sample_rate": 0.02, "steps": 200, "epochs": 4},
    "synthetic cnn": {"batch_size": 512, "sample_rate": 0.05, "epochs": 5},
    "mnist cnn": {"batch_size": 512, "sample_rate": 0.01, "steps": 150, "epochs": 1.3},
}
_LEARNING_RATES = {"digits linear": 30, "synthetic linear": 60, "mnist linear": 60}
_NOISES = {"digits": 3.54, "synthetic": 1.71, "mnist": 0.8, "synthetic cnn": 1.1, "mnist cnn": 0.7}


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State(FIELDS, _HIDDEN)


def suit(state: State) -> None:
    """After a change of data or model: settings that train it well; the target stays."""
    values = state.values
    dataset, both = values["dataset"], f"{values['dataset']} {values['model']}"
    recipe = {"delta": 1e-5} | _RECIPES[dataset] | _RECIPES.get(both, {})
    recipe["max_grad_norm"] = CLIPPING.default
    recipe["learning_rate"] = _LEARNING_RATES.get(both, 4)
    recipe["noise_multiplier"] = _NOISES.get(both, _NOISES[dataset])
    for key, value in recipe.items():
        kind: Any = FIELDS[key]
        state.enter(kind, kind.show(value))


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
    return Training(
        dataset=values["dataset"],
        model=values["model"],
        plan=plan,
        learning_rate=values["learning_rate"],
        delta=values["delta"],
        compare=values["compare"] == "yes",
        bound=values["bound"],
    )


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
    steps = sorted({max(1, round(plan.steps * k / 60)) for k in range(1, 61)})
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
