"""Everything a reader can set on the training page, the job it comes to, and it in Python."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from dplearn.accountants.pld import PLD
from dplearn.app.job import BOUNDS, Job
from dplearn.app.kit import fields as kit
from dplearn.app.kit.fields import Text, Words
from dplearn.app.kit.state import State, idle
from dplearn.datasets import PRACTICE_SIZES, practice_names
from dplearn.ground.guarantee import round_up
from dplearn.mechanisms.drawing import steps_of
from dplearn.run import DPSGD

_say = Words("train")
_DATASETS = _say.table("dataset.options")
DATASET = _say.selection("dataset", {name: _DATASETS[name] for name in practice_names()})
MODEL = _say.selection("model")
NOISE_FROM = _say.selection("noise_from", segments=True)
TARGET = _say.quantity("target_epsilon", 3, 0.1, 50, per_decade=20)
NOISE = replace(kit.NOISE, default=3.54, lower=0.3)
LOT_FROM = _say.selection("lot_from", segments=True)
LOT = _say.quantity("batch_size", 512, 1, max(PRACTICE_SIZES.values()), whole=True)
RATE = replace(kit.RATE, default=0.356, lower=1e-3)
LENGTH_IN = _say.selection("length_in", segments=True)
STEPS = _say.quantity("steps", 60, 1, 2000, whole=True)
EPOCHS = _say.quantity("epochs", 20, 0.1, 500)
CLIPPING = _say.quantity("max_grad_norm", 0.1, 1e-3, 100)
BOUND = _say.selection("bound", {name: _say[f"bound.options.{name}"] for name in BOUNDS})
LEARNING_RATE = _say.quantity("learning_rate", 30, 1e-3, 1000)
DELTA = replace(kit.DELTA, default=1e-4, lower=1e-10, upper=1e-2)
COMPARE = _say.selection("compare", segments=True)
# In the address alone: the run that a reload finds again.
RUN = Text("run", "Run", "", default="")

FIELDS = (
    *(DATASET, MODEL, NOISE_FROM, TARGET, NOISE, LOT_FROM, LOT, RATE, LENGTH_IN),
    *(STEPS, EPOCHS, CLIPPING, BOUND, LEARNING_RATE, DELTA, COMPARE, RUN),
)
HIDDEN = idle(
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


def suit_recipe(state: State) -> None:
    """After a change of data or model: settings that train it well; the target stays."""
    values = state.values
    dataset, both = values["dataset"], f"{values['dataset']} {values['model']}"
    recipe = {"delta": 1e-5} | _RECIPES[dataset] | _RECIPES.get(both, {})
    recipe["max_grad_norm"] = CLIPPING.default
    recipe["learning_rate"] = _LEARNING_RATES.get(both, 4)
    recipe["noise_multiplier"] = _NOISES.get(both, _NOISES[dataset])
    for key, value in recipe.items():
        kind: Any = state.fields[key]
        state.enter(kind, kind.show(value))


def job_of(state: State) -> Job:
    """The run in use; a lot larger than the data leaves a message at its control."""
    values, size = state.values, PRACTICE_SIZES[state.values["dataset"]]
    rate, steps = values["sample_rate"], values["steps"]
    if values["lot_from"] == "lot":
        lot, largest = values["batch_size"], _say.said("largest", size=size)
        rate = min(lot / size, 1.0)
        if lot > size:
            state.notes["batch_size"] = _say.said(
                "too_large", label=LOT.label, most=largest, entry=f"{lot}", value=f"{size}"
            )
        elif getattr(state.notes.get("batch_size"), "template", "") == _say["too_large"]:
            del state.notes["batch_size"]
    if values["length_in"] == "epochs":
        steps = min(max(steps_of(values["epochs"], batches=1 / rate), 1), int(STEPS.upper))
    noise = values["noise_multiplier"]
    if values["noise_from"] == "epsilon":
        noise = _least_noise(rate, steps, values["target_epsilon"], values["delta"])
    return Job(
        dataset=values["dataset"],
        model=values["model"],
        noise_multiplier=noise,
        sample_rate=rate,
        steps=steps,
        max_grad_norm=values["max_grad_norm"],
        learning_rate=values["learning_rate"],
        delta=values["delta"],
        compare=values["compare"] == "yes",
        bound=values["bound"],
    )


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
def _least_noise(rate: float, steps: int, epsilon: float, delta: float) -> float:
    """Rounded up, so that what the page shows is enough."""
    plan = DPSGD.for_epsilon(epsilon, delta=delta, sample_rate=rate, steps=steps)
    return float(round_up(plan.noise_multiplier, 4))


def training_code(job: Job) -> str:
    """Lines that train the same model in the same way, and print what came of it."""
    more = ["micro_batch=64"] * (job.model == "cnn")
    kind, count = job.bound, job.count_noise
    if kind != "Flat":
        options = f", count_noise={count!r}" if count else ""
        more.append(f"bound={kind}(max_grad_norm={job.max_grad_norm!r}{options})")
    lines = "".join(f"\n    {line}," for line in more)
    return f"""\
import torch
from torch import nn
from dplearn import DPSGD
from dplearn.datasets import practice_set
from dplearn.training import {"" if kind == "Flat" else f"{kind}, "}fit
from dplearn.app.models import built, inputs_for

train, held_out = practice_set({job.dataset!r})
inputs = inputs_for({job.model!r}, train.images)
model = built({job.model!r}, inputs)
plan = DPSGD(
    noise_multiplier={job.noise_multiplier!r},
    sample_rate={job.sample_rate!r},
    steps={job.steps},
    max_grad_norm={job.max_grad_norm!r},
)
history = fit(
    model,
    nn.CrossEntropyLoss(reduction="none"),
    (inputs, torch.from_numpy(train.labels)),
    plan,
    optimizer=torch.optim.SGD(model.parameters(), lr={job.learning_rate!r}, momentum=0.9),
    delta={job.delta!r},{lines}
)
print(history.guarantee({job.delta!r}))
guesses = model(inputs_for({job.model!r}, held_out.images)).argmax(1)
print(f"held-out accuracy {{(guesses.numpy() == held_out.labels).mean():.1%}}")
"""
