"""The Python that does the run on the training page, for a reader to take along."""

from __future__ import annotations

from dplearn.app.training_plan import Training

_DATA = {
    "digits": "train, _, held_out = split(digits(), validation=0)",
    "synthetic": """folder = cache_folder()
train = synthetic_digits(count=10_000, cache=folder)
held_out = synthetic_digits(count=2000, seed=1, cache=folder)""",
    "mnist": 'train, held_out = mnist(cache_folder() / "mnist")',
}
_READERS = {
    "digits": ["digits", "split"],
    "synthetic": ["cache_folder", "synthetic_digits"],
    "mnist": ["cache_folder", "mnist"],
}
_EDGES = "prepare = lambda images: torch.from_numpy(oriented_gradients(images))"
_PIXELS = """def prepare(images):
    middle, spread = images.mean((1, 2), keepdims=True), images.std((1, 2), keepdims=True)
    return torch.from_numpy((images - middle) / spread)[:, None]
"""
_LINEAR = """model = nn.Linear(128, 10, bias=False)
nn.init.zeros_(model.weight)"""
_MLP = "model = nn.Sequential(nn.Flatten(), nn.Linear({}, 64), nn.Tanh(), nn.Linear(64, 10))"
_SMALL_CNN = """model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)"""
_CNN = """model = nn.Sequential(
    nn.Conv2d(1, 16, 8, stride=2, padding=2), nn.Tanh(), nn.MaxPool2d(2, stride=1),
    nn.Conv2d(16, 32, 4, stride=2), nn.Tanh(), nn.MaxPool2d(2, stride=1),
    nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10),
)"""


def as_python(training: Training) -> str:
    """Lines that train the same model in the same way, and print what came of it."""
    plan, linear = training.plan, training.model == "linear"
    readers = sorted([*_READERS[training.dataset], *["oriented_gradients"] * linear])
    chunks = "\n    micro_batch=64," if training.model == "cnn" else ""
    return f"""\
import torch
from torch import nn
from dplearn import DPSGD
from dplearn.datasets import {", ".join(readers)}
from dplearn.training import fit

{_EDGES if linear else _PIXELS}
{_DATA[training.dataset]}
{_model(training)}
plan = DPSGD(
    noise_multiplier={plan.noise_multiplier!r},
    sample_rate={plan.sample_rate!r},
    steps={plan.steps},
    max_grad_norm={plan.max_grad_norm!r},
)
history = fit(
    model,
    nn.CrossEntropyLoss(reduction="none"),
    (prepare(train.images), torch.from_numpy(train.labels)),
    plan,
    optimizer=torch.optim.SGD(model.parameters(), lr={training.learning_rate!r}, momentum=0.9),
    delta={training.delta!r},{chunks}
)
print(history.guarantee({training.delta!r}))
guesses = model(prepare(held_out.images)).argmax(1)
print(f"held-out accuracy {{(guesses.numpy() == held_out.labels).mean():.1%}}")
"""


def _model(training: Training) -> str:
    small = training.dataset == "digits"
    if training.model == "linear":
        return _LINEAR
    if training.model == "mlp":
        return _MLP.format(64 if small else 784)
    return _SMALL_CNN if small else _CNN
