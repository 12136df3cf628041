"""The Python that does the run on the training page, for a reader to take along."""

from dplearn.app.pages.train.plan import Training


def as_python(training: Training) -> str:
    """Lines that train the same model in the same way, and print what came of it."""
    plan = training.plan
    chunks = "\n    micro_batch=64," if training.model == "cnn" else ""
    return f"""\
import torch
from torch import nn
from dplearn import DPSGD
from dplearn.datasets import practice_set
from dplearn.training import fit
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
    delta={training.delta!r},{chunks}
)
print(history.guarantee({training.delta!r}))
guesses = model(inputs_for({training.model!r}, held_out.images)).argmax(1)
print(f"held-out accuracy {{(guesses.numpy() == held_out.labels).mean():.1%}}")
"""
