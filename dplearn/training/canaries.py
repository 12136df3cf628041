"""White-box scores of canaries: how far each noisy gradient points where a canary pulls."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from dplearn.training.gradients import added_sum
from dplearn.training.records import Records
from dplearn.training.trainer import Trainer


def white_box_scores(trainer: Trainer, canaries: Any) -> Tensor:
    """Run the trainer to its end; scores of shape (steps, canaries), whose sum over steps is one.

    The attacker of DP's definition sees each noisy gradient. With y the noisy sum of a step and g
    a canary's clipped gradient before it, the score is <y, g> - |g|²/2, over the square of the
    clipping norm: that of noise alone is about -1/2, and that of a lot with the canary 1/2, where g
    is as long as it may be and all others are at right angles to it.

    `canaries` are records, as `fit` takes its dataset; those that are in stand in the trainer's.
    One pass per canary and step: this is for audits.
    """
    records, rows = Records(canaries, trainer.plan, device=trainer._like.device), []
    one_by_one = [records.rows(np.array([i])) for i in range(len(records))]
    while trainer.steps < trainer.plan.steps:
        expected, pulls = trainer._expected(trainer._begin()), []
        for inputs, targets in one_by_one:
            part = added_sum(trainer.model, trainer.loss_fn, inputs, targets, clip=trainer._clip)
            pulls.append(_flat(part.sums))
        length = trainer.step().clipping_norm
        noisy = expected * _flat({name: p.grad for name, p in trainer._clip.parameters.items()})
        rows.append(torch.stack([(g @ noisy - g @ g / 2) / length**2 for g in pulls]))
    return torch.stack(rows)


def _flat(gradients: Any) -> Tensor:
    return torch.cat([value.detach().double().flatten() for value in gradients.values()])
