"""The pictures of lesson 10, and the school's network as everybody trains it, without privacy."""

from functools import cache

import numpy as np
import torch
from torch import nn

from dplearn.accountants import ACCOUNTANTS
from dplearn.datasets import digits, school, split
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Band, Curve, Dot, curves, panels, slider
from dplearn.teaching.figures.drawings import Sheet, lettering, pixels
from dplearn.training import Flat, clipped_sum

# Enough digits for every machine to print the same; torch begins with half of them.
torch.set_default_dtype(torch.float64)
pupils, held_out = school(), split(digits(), validation=0)[2]
x, y = torch.from_numpy(pupils.images).double().flatten(1), torch.from_numpy(pupils.digit)
unseen = torch.from_numpy(held_out.images).double().flatten(1)
everyone, loss_fn = torch.arange(len(x)), nn.CrossEntropyLoss(reduction="none")
others = everyone[everyone != pupils.anna]


def network(seed=0):
    """Return a new network of 2,410 weights."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))


@cache
def ordinary(steps, seed=0, anna=True):
    """Train as usual: the mean gradient of all records, and no privacy."""
    model, keep = network(seed), everyone if anna else others
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_fn(model(x[keep]), y[keep]).mean().backward()
        optimizer.step()
    return model


def move(model, change):
    """Add a vector to the weights of a network."""
    with torch.no_grad():
        weights = nn.utils.parameters_to_vector(model.parameters())
        nn.utils.vector_to_parameters(weights + change, model.parameters())


def belief(model):
    """Return the per cent that a network gives to Anna's digit."""
    with torch.no_grad():
        return 100 * float(model(x[pupils.anna]).softmax(0)[y[pupils.anna]])


def wrong(model):
    """Return the wrong answers per hundred unseen digits."""
    with torch.no_grad():
        return 100 * np.mean(model(unseen).argmax(1).numpy() != held_out.labels)


def fives():
    """Draw five fives of the school."""
    shapes = [lettering(72, 170, "Anna's", colour="rgb(206,18,70)")]
    for i, who in enumerate([pupils.anna, *np.flatnonzero(pupils.digit == 5)[:4]]):
        shapes += pixels(x[who].reshape(8, 8), 20 + 138 * i, 42, 13)
    drawn = Sheet(700, 182, "Five fives of the school, Anna's first", shapes)
    show(drawn, f"5 fives of {len(x)} digits, 8 by 8 pixels each. Anna's five looks like a nine.")


def arrows(clip):
    """Draw the gradients of eight pupils before and after the student's cut; the slider is C."""
    clip = yours("10.1", clip)
    lengths = clipped_sum(ordinary(60), loss_fn, x, y, bound=Flat(1.0)).norms
    chosen = lengths.argsort(descending=True)[[0, 60, 120, 180, 240, 330, 450, 719]]
    angles = np.array([-0.16, 2.9, 0.95, 4.2, 1.9, 3.6, 5.1, 2.4])  # invented
    whole = np.column_stack([np.cos(angles), np.sin(angles)]) * lengths[chosen].numpy()[:, None]
    round_it, frames, told = np.linspace(0, 2 * np.pi, 49), {}, []
    for norm in (0.1, 0.25, 0.5, 1, 2):
        cut = np.array([clip(list(arrow), norm) for arrow in whole])
        shorter = sum(clip([float(length)], norm)[0] < length - 1e-12 for length in lengths)
        ball = Curve(x=norm * np.cos(round_it), y=norm * np.sin(round_it), label="", role="quiet")
        lines = [_arrow(arrow, i, 1.2) for i, arrow in enumerate(whole)]
        lines += [_arrow(arrow, i, 4) for i, arrow in enumerate(cut)]
        name = Dot(x=4.1, y=-0.95, label=f"Anna's, {lengths.max():.3g} long", role="wrong",
                   side="bottom center")  # fmt: skip
        title = f"C = {norm:g}: {shorter} of 1,438 arrows are cut"
        figure = curves([ball, *lines], marks=[name], title=title, x="", y="")
        figure.data[-1].mode = "text"
        tip = {"symbol": "arrow", "angleref": "previous", "size": [0, 11]}
        for trace in figure.data[1:-1]:
            trace.update(mode="lines+markers", marker=tip)
        frames[f"{norm:g}"] = figure
        told.append(f"{shorter} at C = {norm:g}")
    for axis, ends in (("xaxis", [-2.6, 5.2]), ("yaxis", [-1.4, 1.5])):
        for figure in frames.values():
            figure.layout[axis].update(visible=False, range=ends, fixedrange=True)
            figure.update_layout(height=330, margin_b=20, yaxis_scaleanchor="x")
    words = f"Anna's arrow is {lengths.max():.3g} long, {lengths.max() / lengths.median():.4g}"
    words += f" times the median. Of {len(x)} arrows this number is cut: {', '.join(told)}."
    show(slider(frames, name="C", start=2), words)


def _arrow(end, place, width):
    """Draw the arrow of one pupil; the first is Anna's."""
    role = "exact" if place else "wrong"
    return Curve(x=[0, end[0]], y=[0, end[1]], label="", role=role, width=width, dash="solid")


def spent_and_bought(plan, private, noiseless):
    """Draw what a run spends, step by step, and how many digits its network misreads."""
    t = np.arange(1, plan.steps + 1)
    spent = ACCOUNTANTS["pld"]().epsilon_curve(plan.mechanism, delta=1e-4, steps=t)
    bill, mean = np.array([at.epsilon for at in spent]), private.mean(0)
    ours = Curve(x=t, y=mean, label="private", label_at=0.4, side="top right")
    free = Curve(x=t, y=noiseless, label="no noise", role="other", label_at=0.5, side="bottom left")
    spread = Band(x=t, lower=private.min(0), upper=private.max(0), label="", role="exact")
    cost = Curve(x=t, y=bill, label="ε", label_at=0.97, side="top left")
    left = curves([cost], title="Spent: ε at δ = 10⁻⁴", x="step T", y="ε (nats)", y_range=(0, 3.3))
    right = {"title": "Bought: wrong in 100", "x": "step T", "y": "", "log_y": True}
    bought = curves([spread, free, ours], **right, y_range=(2, 100))
    figure = panels(left, bought, title="Each step costs a little, and teaches less and less")
    show(figure, f"Epsilon rises to {bill[-1]:.2f}; {mean[-1]:.1f} wrong in 100 at the end.")


def which_norm(rows, plan):
    """Draw how well the clipped mean points along the true one, against C."""
    norms = np.array([0.05, 0.1, 0.2, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 20])
    goal, lengths = rows.mean(0) / rows.mean(0).norm(), rows.norm(dim=1)
    sums = torch.stack([(norm / lengths).clamp(max=1) @ rows for norm in norms]) * plan.sample_rate
    aligned, size = (sums @ goal).numpy(), sums.norm(dim=1).numpy()
    # The noise of a step is about sigma C sqrt(d) long, and averages out over the steps.
    noise = plan.noise_multiplier * norms * np.sqrt(len(goal) / plan.steps)
    bent, noisy = aligned / size, aligned / np.hypot(size, noise)
    best = int(np.argmax(noisy))
    without = {"label": "no noise", "role": "other", "label_at": 0.5, "side": "top left"}
    lines = [Curve(x=norms, y=bent, **without)]
    lines += [Curve(x=norms, y=noisy, label="with noise", label_at=0.9, side="top right")]
    top = Dot(x=norms[best], y=noisy[best], label=f"C = {norms[best]:g}", side="bottom center")
    title = f"With noise the best C is {norms[best]:g}"
    axes = {"x": "C", "y": "cosine to the true gradient", "log_x": True, "y_range": (0, 1.08)}
    figure = curves(lines, marks=[top], title=title, **axes).update_layout(height=320)
    ends = f"{noisy[1]:.2f} at C = {norms[1]:g}, {noisy[-2]:.2f} at C = {norms[-2]:g}"
    show(figure, f"Over 80 steps: best at C = {norms[best]:g}, cosine {noisy[best]:.2f}; {ends}.")
