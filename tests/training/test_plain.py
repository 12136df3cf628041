"""`plain` compared with ordinary autograd, and the trainer compared with `plain`."""

import inspect

import pytest
import torch
from good_models import EXACT
from parts import CROSS_ENTROPY, PLAN, built, flat, generator, small_data, small_model, started

from dplearn.training import Trainer, plain
from dplearn.training.noise import Randomness

pytestmark = pytest.mark.usefixtures("unchecked")
LEARNING = {"learning_rate": 0.1, "expected": 10.0}  # not 0.25 * 32


def test_plain_has_at_most_50_lines():
    assert len(inspect.getsource(plain).splitlines()) <= 50


def test_gradients_equal_backward_and_clipping_scales_them_to_the_norm():
    model, losses_of, x, y = built(EXACT["mlp"], dtype=torch.float64)
    for i, gradient in enumerate(plain.gradients(model, losses_of, x, y)):
        model.zero_grad()
        losses_of(model(x[i : i + 1]), y[i : i + 1]).sum().backward()
        for name, p in model.named_parameters():
            torch.testing.assert_close(gradient[name], p.grad)
        one = plain.clipped_sum(model, losses_of, x[i : i + 1], y[i : i + 1], norm=0.01)
        assert flat(one).norm().item() == pytest.approx(0.01)
        torch.testing.assert_close(flat(one) / 0.01, flat(gradient) / flat(gradient).norm())


def test_trainer_equals_plain(monkeypatch):
    """With equal lots and noise, only rounding of float32 differs."""
    model, (x, y), draws = small_model(), small_data(), generator(3)
    lots, noise = [], []
    for _ in range(PLAN.steps):
        lots.append((torch.rand(len(x), generator=draws) < PLAN.sample_rate).nonzero()[:, 0])
        noise.append(flat(torch.randn(p.shape, generator=draws) for p in model.parameters()))
    plain.train(model, CROSS_ENTROPY, x, y, PLAN, **LEARNING, generator=generator(3))
    scale = PLAN.noise_multiplier * PLAN.max_grad_norm / LEARNING["expected"]

    def given_noise(_, runs, like, step):
        assert all(s == pytest.approx(scale) for _, s in runs)
        return scale * noise[step]

    monkeypatch.setattr(Trainer, "_lot", lambda self, step: lots[step].numpy())
    monkeypatch.setattr(Randomness, "normals", given_noise)
    trainer = started(small_model(), expected_batch_size=10.0)
    for _ in range(PLAN.steps):
        trainer.step()
    torch.testing.assert_close(flat(trainer.model.parameters()), flat(model.parameters()))
