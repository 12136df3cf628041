"""The pictures of lesson 17, and a network so small that plain Python trains it."""

from itertools import pairwise

import numpy as np
import torch
from scipy.stats import norm
from torch import nn

from dplearn import DPSGD
from dplearn.datasets import digits, school, split
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, Dot, curves, flow, slider
from dplearn.training import plain

STATIONS = {
    "break": ["did_copy"],
    "price": ["least_noise", "compose", "delta_of", "renyi", "epsilon_of", "bracket"],
    "train": ["draw", "lot_sum"],
    "audit": ["right_guesses", "believed"],
}
plan = DPSGD(noise_multiplier=2.5, sample_rate=256 / 1438, steps=60, max_grad_norm=4.0)
pupils, _held_out = school(), split(digits(), validation=0)[2]
x, y = pupils.images.reshape(len(pupils.images), 64).astype(float), pupils.digit
_unseen, _labels = _held_out.images.reshape(-1, 64), _held_out.labels


def gradients(weights, lot):
    """Return a gradient of 640 numbers for each record: (belief - truth) times the image."""
    scores = x[lot] @ np.reshape(weights, (10, 64)).T
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    wrong_by = odds / odds.sum(axis=1, keepdims=True) - np.eye(10)[y[lot]]
    return (wrong_by[:, :, None] * x[lot][:, None, :]).reshape(len(lot), 640)


def plain_sum(count, norm):
    """Return what ``dplearn/training/plain.py`` makes of the first records."""
    model = nn.Linear(64, 10, bias=False)
    nn.init.zeros_(model.weight)
    images, digits_of = torch.from_numpy(x[:count]).float(), torch.from_numpy(y[:count])
    loss_fn = nn.CrossEntropyLoss(reduction="none")
    total = plain.clipped_sum(model, loss_fn, images, digits_of, norm=norm)
    return total["weight"].flatten().numpy()


def clipped(rows, norm):
    """Return the rows, each cut to a length of at most `norm`."""
    return rows * np.minimum(1, norm / np.linalg.norm(rows, axis=1, keepdims=True))


def right(weights):
    """Return the share of unseen digits that the network reads right."""
    return float(np.mean((_unseen @ np.reshape(weights, (10, 64)).T).argmax(axis=1) == _labels))


def stations():
    """Draw which functions do what."""
    columns = [[f"{name}:\n" + "\n".join(each)] for name, each in STATIONS.items()]
    boxes = [column[0] for column in columns]
    arrows = list(pairwise(boxes))
    drawn = flow(columns, arrows, title="Eleven functions, four stations", strong=boxes[2:3])
    show(drawn, "11 functions: 1 breaks a table, 6 price a plan, 2 train, 2 audit.")


def learning(new_weights):
    """Draw how a private run learns step by step, with the student's update."""
    new_weights, rng = yours("17.1", new_weights), np.random.default_rng(19)
    weights, shares = np.zeros(640), []
    for _ in range(plan.steps):
        lot = np.flatnonzero(rng.random(len(x)) < plan.sample_rate)
        noise = plan.noise_multiplier * plan.max_grad_norm * rng.standard_normal(640)
        total = clipped(gradients(weights, lot), plan.max_grad_norm).sum(axis=0) + noise
        weights = np.array(new_weights(list(weights), list(total), 1.0, 256))
        shares.append(100 * right(weights))
    name = {"yours": "your function", "ours": "private"}[new_weights.whose]
    t = np.arange(1, plan.steps + 1)
    line = Curve(x=t, y=shares, label=name, label_at=0.12, side="bottom right")
    end = Dot(x=t[-1], y=shares[-1], label=f"{shares[-1]:.0f}", side="top right")
    title = f"After {plan.steps} private steps {shares[-1]:.0f} of 100 digits are read right"
    axes = {"x": "step", "y": "right in 100", "x_range": (0, 66), "y_range": (0, 105)}
    figure = curves([line], marks=[end], title=title, **axes).update_layout(height=300)
    show(figure, f"Right in 100 unseen digits: {shares[0]:.1f} after one step, {shares[-1]:.1f}.")


def found():
    """Draw how many canaries are found, by the noise multiplier."""
    false, frames = np.linspace(0.0, 1.0, 101)[1:-1], {}
    for sigma in (0.6, 1.25, 2.5, 5):
        most = norm.cdf(norm.ppf(false) + np.sqrt(plan.steps) * plan.sample_rate / sigma)
        line = Curve(x=false, y=most, label="found", label_at=0.3, side="bottom right")
        title = (
            f"σ = {sigma:g}: at 1 % false alarms {100 * most[0]:.0f} % of the canaries are found"
        )
        axes = {"x": "false alarms", "y": "found", "y_range": (0, 1.05)}
        frames[f"{sigma:g}"] = curves([line], title=title, **axes)
    words = "; ".join(frame.layout.title.text for frame in frames.values())
    show(slider(frames, name="σ", start=2), f"All frames, roughly. {words}.")
