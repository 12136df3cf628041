"""Epsilon measured by an attack is below the certified epsilon, except for broken trainers.

The dataset is one record with zero gradient, with or without a canary with the largest gradient.
The attacker sees every noisy gradient. A learning rate of 0 keeps the parameters constant, so one
long run of the trainer equals many short ones. The largest of the lower bounds from several
statistics is wrong with probability at most 1e-3 over the choice of seeds, which are fixed.
"""

import dataclasses

import numpy as np
import pytest
import torch
from parts import Model, generator, started
from torch import nn

from dplearn.audit import from_scores
from dplearn.run import DPSGD
from dplearn.training.noise import Randomness

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("unchecked")]

DELTA, ALARM = 1e-2, 1e-3
RUNS, RUNS_TO_CATCH = 800, 500  # fewer runs suffice to detect a broken trainer
NORM = 4.0  # not 1, so that a trainer without it is detected
PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.8, steps=1, max_grad_norm=NORM)
PLANS = {"all": dataclasses.replace(PLAN, sample_rate=1.0, sampling="none"), "poisson": PLAN}


def gradients(plan, *, canary, runs):
    """Return the noisy gradients of all steps, shape (runs, layers, 12)."""
    pulls = torch.tensor([0.0] + [-1.0] * canary)
    layers = {name: nn.Linear(12, 1, bias=False) for name in ("a", "b")}
    # Parallel layers, so that gradients do not depend on the parameters.
    model = Model(lambda model, x: model.a(x) + model.b(x), **layers)
    loss_fn = lambda outputs, pulls: 100 * pulls * outputs[:, 0]
    options = {"loss_fn": loss_fn, "data": (torch.ones(len(pulls), 12), pulls), "lr": 0.0}
    options |= {"expected_batch_size": 1.0, "generator": generator(canary)}
    trainer = started(model, dataclasses.replace(plan, steps=runs), **options)
    noisy = []
    for _ in range(runs):
        trainer.step()
        noisy.append(torch.stack([model.a.weight.grad[0], model.b.weight.grad[0]]))
    return torch.stack(noisy).double().numpy()


def statistics(noisy):
    """Return the attacker's statistics, one per row: sums along the canary's gradient, norms."""
    along, spread = -noisy.sum(2), -np.square(noisy).sum((1, 2))
    return np.stack([along.sum(1), along[:, 0], along[:, 1], spread, -spread])


def measured_epsilon(plan, *, runs):
    """Return a lower bound on epsilon at DELTA, wrong with probability at most ALARM."""
    without, present = (statistics(gradients(plan, canary=n, runs=runs)) for n in (0, 1))
    target = {"delta": DELTA, "confidence": 1 - ALARM / len(without)}
    pairs = zip(present, without, strict=True)
    return max(from_scores(*pair, **target).epsilon for pair in pairs)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_measured_epsilon_of_trainer_is_between_5_and_100_percent_of_certified(plan):
    certified = plan.guarantee(delta=DELTA).epsilon
    # An attack that measures almost nothing would not test the upper bound.
    assert 0.05 * certified < measured_epsilon(plan, runs=RUNS) <= certified


# Noise that is missing on one layer, or has standard deviation z instead of z C.
BROKEN = {
    "silent layer": lambda noise: noise * torch.tensor([1.0] * 12 + [0.0] * 12),
    "forgotten norm": lambda noise: noise / NORM,
}


@pytest.mark.parametrize("broken", BROKEN)
def test_measured_epsilon_of_broken_trainer_exceeds_certified_epsilon(broken, monkeypatch):
    right = Randomness.normals
    monkeypatch.setattr(Randomness, "normals", lambda *given: BROKEN[broken](right(*given)))
    certified = PLANS["all"].guarantee(delta=DELTA).epsilon
    assert measured_epsilon(PLANS["all"], runs=RUNS_TO_CATCH) > certified
