"""White-box scores of canaries: the definition, and an audit of our trainer by them."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from small_runs import flat
from torch import nn

from dplearn.audit import observe
from dplearn.run import DPSGD
from dplearn.training import Flat, Trainer, clipped_sum

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=1.0, steps=3, max_grad_norm=0.5, sampling="none")
AXES, EXPECTED = 40, 16.0


def squares(outputs, targets):
    return (outputs[:, 0] - targets).square()


def trained(make, plan, records, seed=0, learning_rate=0.1):
    model = nn.Linear(records[0].shape[1], 1, bias=False)
    nn.init.zeros_(model.weight)
    return make(
        model,
        squares,
        records,
        plan,
        optimizer=torch.optim.SGD(model.parameters(), lr=learning_rate),
        expected_batch_size=EXPECTED,
        generator=torch.Generator().manual_seed(seed),
    )


def white_box_scores(trainer, canaries):
    """Run the trainer to its end; scores of shape (steps, canaries), whose sum over steps is one.

    The attacker of DP's definition sees each noisy gradient. With y the noisy sum of a step and g
    a canary's clipped gradient before it, the score is <y, g> - |g|^2 / 2, over the square of the
    clipping norm: that of noise alone is about -1/2, and that of a lot with the canary 1/2, where
    g is as long as it may be and all others are at right angles to it.
    """
    rows, norm, own = [], trainer.plan.max_grad_norm, (trainer.model, trainer.loss_fn)
    while trainer.steps < trainer.plan.steps:
        parts = [
            clipped_sum(*own, x[None], y[None], bound=Flat(norm))
            for x, y in zip(*canaries, strict=True)
        ]
        pulls = [flat(part.sums.values()) for part in parts]
        trainer.step()
        noisy = EXPECTED * flat(p.grad for p in trainer.model.parameters())
        rows.append(torch.stack([(g @ noisy - g @ g / 2) / norm**2 for g in pulls]))
    return torch.stack(rows)


def test_scores_are_those_of_one_backward_pass_per_canary():
    records = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), torch.arange(4.0)
    trainer = trained(Trainer, PLAN, records)
    twin, norm = trained(Trainer, PLAN, records), PLAN.max_grad_norm
    scores = white_box_scores(trainer, tuple(part[:2] for part in records))
    assert scores.shape == (3, 2) and trainer.steps == 3
    for row in scores:
        pulls = []
        for x, y in zip(records[0][:2], records[1][:2], strict=True):
            (g,) = torch.autograd.grad(squares(twin.model(x[None]), y[None]), twin.model.weight)
            pulls.append(g[0] * min(1, norm / max(1e-9, g.norm().item())))
        twin.step()
        noisy = EXPECTED * twin.model.weight.grad[0]
        expected = [(float(g @ noisy) - float(g @ g) / 2) / norm**2 for g in pulls]
        assert row.tolist() == pytest.approx(expected, rel=1e-4, abs=1e-6)


def canaries_of(make, plan):
    """A training function: each canary has an axis to itself and pulls as strongly as it may."""
    axes = 10 * torch.eye(AXES), -10 * torch.ones(AXES)

    def train(included, seed):
        kept = torch.from_numpy(np.append(np.flatnonzero(included), AXES))
        none = torch.zeros(1, AXES), torch.zeros(1)
        records = tuple(torch.cat([a, b])[kept] for a, b in zip(axes, none, strict=True))
        trainer = trained(make, plan, records, seed, learning_rate=0.0)
        return white_box_scores(trainer, axes).sum(0)

    return train


class NoiseOfMean(Trainer):
    """Divides the noise by the size of a lot twice."""

    def _noise(self, phase):
        return super()._noise(phase) / EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize(("make", "caught"), [(Trainer, False), (NoiseOfMean, True)])
def test_ten_short_runs_catch_our_trainer_where_it_is_broken(make, caught):
    plan = dataclasses.replace(PLAN, steps=2, noise_multiplier=math.sqrt(8))
    seen = observe(canaries_of(make, plan), canaries=AXES, runs=10, progress=False)
    bound = seen.bound(delta=1e-5)
    assert bound.contradicts(plan.guarantee(delta=1e-5)) is caught, bound
