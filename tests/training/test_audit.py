"""An auditor measures epsilon: less than certified for the trainer, more for broken ones.

The worst case: a record without influence, and a canary that pulls as strongly as it may. The
attacker sees every noisy gradient. A learning rate of 0 makes all steps of a plan start alike, and
groups with norms and noise of their own are independent where all records are in every lot, so
that a few steps of the trainer are many short runs. The attacker looks at several statistics, each
at its share of the false alarms: 1e-4 per choice of seeds, and these are fixed.
"""

import dataclasses
import math

import numpy as np
import pytest
import torch
from per_record import Model
from torch import nn

from dplearn.audit import from_scores
from dplearn.run import DPSGD
from dplearn.training import Grouped, Trainer

pytestmark = pytest.mark.slow

DELTA, ALARM = 1e-2, 1e-4
# What a broken trainer leaks shows in fewer runs than what a sound one does.
RUNS, RUNS_TO_CATCH = 1200, 600
NORM = 4.0  # not 1: forgetting it must show
PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.8, steps=1, max_grad_norm=NORM)
PLANS = {"all": dataclasses.replace(PLAN, sample_rate=1.0, sampling="none"), "poisson": PLAN}
GROUPS = {"all": 12, "poisson": 1}  # which would share their lots


def gradients(make, name, *, canary, runs):
    """Noisy gradients, shape (runs, layers, 12)."""
    pulls, count = torch.tensor([0.0] + [-1.0] * canary), GROUPS[name]
    pair = lambda: nn.ModuleDict({layer: nn.Linear(12, 1, bias=False) for layer in "ab"})
    groups = {f"group{g}": pair() for g in range(count)}
    # Side by side, so that gradients do not depend on the parameters.
    forward = lambda model, x: sum(layer(x) for pair in groups.values() for layer in pair.values())
    model = Model(forward, **groups)
    # Together they are one mechanism with a smaller noise multiplier.
    noise = PLAN.noise_multiplier / math.sqrt(count)
    plan = dataclasses.replace(PLANS[name], steps=runs // count, noise_multiplier=noise)
    trainer = make(
        model,
        lambda outputs, pulls: 100 * pulls * outputs[:, 0],
        (torch.ones(len(pulls), 12), pulls),
        plan,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.0),
        bound=Grouped(norms=dict.fromkeys(groups, NORM)),
        expected_batch_size=1.0,
        generator=torch.Generator().manual_seed(canary),
    )
    noisy = []
    for _ in range(plan.steps):
        trainer.step()
        noisy += torch.stack([p.grad[0] for p in model.parameters()]).unflatten(0, (count, 2))
    return torch.stack(noisy).double().numpy()


def statistics(noisy):
    """What the attacker looks at, one row each: direction of the canary, per layer and in all."""
    along = -noisy.sum(2)
    spread = -np.square(noisy).sum((1, 2))
    return np.stack([along.sum(1), along[:, 0], along[:, 1], spread, -spread])


def measured_epsilon(make, name, *, runs):
    """Lower bound on epsilon at DELTA, wrong with probability at most ALARM."""
    without, present = (statistics(gradients(make, name, canary=n, runs=runs)) for n in (0, 1))
    target = {"delta": DELTA, "confidence": 1 - ALARM / len(without)}
    pairs = zip(present, without, strict=True)
    return max(from_scores(*pair, **target).epsilon for pair in pairs)


@pytest.mark.parametrize("name", PLANS)
def test_the_trainer_leaks_less_than_certified_and_not_much_less(name):
    certified = PLANS[name].guarantee(delta=DELTA).epsilon
    # An attack that sees nothing proves nothing.
    assert 0.05 * certified < measured_epsilon(Trainer, name, runs=RUNS) <= certified


class SilentLayer(Trainer):
    """Noise is forgotten on one layer."""

    def _normals(self, runs):
        return super()._normals([(size, z * (i % 2 == 0)) for i, (size, z) in enumerate(runs)])


class RealisedLot(Trainer):
    """Divides by the number of records that were drawn."""

    def _update(self, flat):
        drawn = max(1, len(self._lot(self.steps - 1)))
        super()._update(flat * self._expected / drawn)


class ForgottenNorm(Trainer):
    """Adds noise of standard deviation z instead of z C."""

    def _normals(self, runs):
        return super()._normals([(size, scale / NORM) for size, scale in runs])


class Coordinates(Trainer):
    """Clips every coordinate instead of the norm: the canary pulls alike on all 24."""

    def _noisy_mean(self, lot, noise):
        drawn = noise()
        flat = super()._noisy_mean(lot, drawn.clone)
        return drawn + (flat - drawn) * math.sqrt(24)


BROKEN = {SilentLayer: "all", ForgottenNorm: "all", Coordinates: "all", RealisedLot: "poisson"}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_trainer_is_caught(broken):
    certified = PLANS[BROKEN[broken]].guarantee(delta=DELTA).epsilon
    assert measured_epsilon(broken, BROKEN[broken], runs=RUNS_TO_CATCH) > certified
