"""The pictures of lesson 11, and the training of lesson 10 with other numbers."""

from dataclasses import replace
from functools import cache

import numpy as np
import torch
from scipy.stats import norm
from torch import nn

from dplearn import DPSGD
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.datasets import digits, school, split
from dplearn.teaching.book import adaptive_clipping_multiplier
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, Dot, curves, panels, slider
from dplearn.teaching.figures.drawings import flow
from dplearn.training import Flat, clipped_sum, fit

# Enough digits for every machine to print the same; torch begins with half of them.
torch.set_default_dtype(torch.float64)
pupils, held_out = school(), split(digits(), validation=0)[2]
x, y = torch.from_numpy(pupils.images).double().flatten(1), torch.from_numpy(pupils.digit)
unseen = torch.from_numpy(held_out.images).double().flatten(1)
loss_fn = nn.CrossEntropyLoss(reduction="none")
plan = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80, max_grad_norm=0.5)
LOTS = np.array([2**k for k in range(4, 16)] + [60_000])


@cache
def calibrated(lot, epsilon=3.0, epochs=15):
    """Return the least noise multiplier for 60,000 pupils, and the number of steps."""
    # noise_multiplier=1 holds the place; the search ignores it.
    run = DPSGD.from_epochs(dataset_size=60_000, batch_size=lot, epochs=epochs, noise_multiplier=1)
    target = {"epsilon": epsilon, "delta": 1e-5, "steps": run.steps}
    return smallest_noise_multiplier(run.mechanism, **target).value, run.steps


def network(seed=0):
    """Return a new network of 2,410 weights."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))


def wrong(model):
    """Return the wrong answers per hundred unseen digits."""
    with torch.no_grad():
        return 100 * np.mean(model(unseen).argmax(1).numpy() != held_out.labels)


def train(seed=0, bound=None, norm=0.5, rate=1.0):
    """Train the school's network by its plan, and return its wrong answers per hundred."""
    model = network(seed)
    fit(
        model,
        loss_fn,
        (x, y),
        replace(plan, max_grad_norm=norm),
        optimizer=torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9),
        delta=1e-4,
        bound=bound,
        expected_batch_size=512,
        progress=False,
        generator=torch.Generator().manual_seed(seed),
    )
    return wrong(model)


def follow(start):
    """Train with a C that follows the median: return the errors, and every C with the median."""
    model, draws, norm, seen = network(), torch.Generator().manual_seed(0), start, []
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    noise = adaptive_clipping_multiplier(noise_multiplier=4, bit_noise=512 / 20)
    normal = lambda *shape: torch.randn(shape, generator=draws)
    for step in range(plan.steps):
        if step % 4 == 0:  # the true median is drawn at every fourth step only
            median = clipped_sum(model, loss_fn, x, y, bound=Flat(1.0)).norms.median()
        seen.append((norm, float(median)))
        lot = torch.rand(len(x), generator=draws) < plan.sample_rate
        part = clipped_sum(model, loss_fn, x[lot], y[lot], bound=Flat(norm))
        for name, weights in model.named_parameters():
            weights.grad = (part.sums[name] + noise * norm * normal(*weights.shape)) / 512
        optimizer.step()
        below = (part.norms <= norm).sum() - len(part.norms) / 2
        norm *= float(torch.exp(-0.2 * (below + 512 / 20 * normal()) / 512))
    return wrong(model), np.array(seen)


def choices():
    """Draw which numbers of a plan are chosen, and what follows from them."""
    fixed, chosen = "fixed by others:\nε, δ, epochs", "chosen:\nlot B"
    follow_it, learning = "follow:\nq, steps T, σ", "chosen for learning:\nC, rate η"
    columns = [[fixed, chosen], [follow_it, learning], ["noise of the run"]]
    arrows = [(fixed, follow_it), (chosen, follow_it), (follow_it, columns[2][0])]
    arrows += [(learning, columns[2][0])]
    drawn = flow(columns, arrows, title="Three numbers to choose", strong=(chosen, follow_it))
    sigma, steps = calibrated(64)
    show(drawn, f"B, C and η are chosen. With B = 64: sigma {sigma:.4f}, {steps} steps.")


def averages(noise_of_run):
    """Draw how the student's average of the noise shrinks from step to step."""
    noise_of_run, (sigma, steps) = yours("11.1", noise_of_run), calibrated(64)
    t = np.unique(np.geomspace(1, steps, 60).astype(int))
    left = 60_000 * np.array([noise_of_run(sigma, 1, 64, int(each)) for each in t])
    name = {"yours": "your function", "ours": "the average"}[noise_of_run.whose]
    line = Curve(x=t, y=left, label=name, label_at=0.4, side="top right")
    ends = [Dot(x=t[i], y=left[i], label=f"{left[i]:.3g}", side="top right") for i in (0, -1)]
    ratio = left[0] / left[-1]
    title = f"Over {steps:,} steps the noise becomes {ratio:.0f} times smaller"
    axes = {"x": "step T", "y": "noise ÷ (C / 60,000)", "log_x": True, "log_y": True}
    figure = curves([line], marks=ends, title=title, x_range=(0.8, 60_000), **axes)
    words = f"Lots of 64, in units of C/60,000: noise {left[0]:.0f} on one mean, {left[-1]:.3f} on"
    show(figure.update_layout(height=300), f"{words} the average of {steps} means.")


def norm_and_rate(candidates, alone, coupled):
    """Draw the errors when C changes alone, and when the learning rate follows it."""
    lines = [
        Curve(x=candidates, y=alone, label="C alone", role="other", label_at=1),
        Curve(x=candidates, y=coupled, label="rate · C = 0.5", label_at=1),
    ]
    title = "C alone is a steep valley; with the learning rate it is a plain"
    axes = {"x": "C, clipping norm", "y": "wrong in 100", "log_x": True, "y_range": (0, 35)}
    figure = curves(lines, title=title, x_range=(0.015, 12), **axes)
    ends = f"{alone[0]:.1f} wrong at C = {candidates[0]:g}, {min(alone):.1f} at best"
    spread = f"{min(coupled):.1f} to {max(coupled):.1f}"
    show(figure, f"C alone: {ends}, {alone[-1]:.1f} at 10; with the learning rate {spread}.")


def right_angle():
    """Draw the parts of a gradient as sides of a right angle."""
    words = "Sides C1 and C2 of a box, its diagonal C, and the circle of radius C through it."
    show("11_dpsgd_in_practice/right_angle.svg", words)


def chase(low, high):
    """Draw how C follows the median from both sides; arguments are results of `follow`."""
    (few, low), (many, high), t = low, high, np.arange(1, plan.steps + 1)
    median = {"label": "median", "role": "quiet", "side": "bottom left"}
    above = {"label": "C from 10", "role": "other", "label_at": 0.1, "side": "top right"}
    lines = [
        Curve(x=t, y=high[:, 0], **above),
        Curve(x=t, y=low[:, 0], label="C from 0.02", label_at=0.1, side="bottom right"),
        Curve(x=t[::4], y=low[::4, 1], label_at=0.85, **median),
    ]
    title = "C chases the median, and is late from both sides"
    axes = {"x": "step", "y": "length of a gradient", "log_y": True, "x_range": (-1, 82)}
    words = f"C after 80 steps: {low[-1, 0]:.3f} from 0.02, {high[-1, 0]:.3f} from 10"
    show(curves(lines, title=title, **axes), f"{words}; {few:.1f} and {many:.1f} wrong in 100.")


def lots(noise_of_run):
    """Draw what the student's function says is left of the noise; the slider is the lot."""
    noise_of_run, v, frames = yours("11.1", noise_of_run), np.linspace(-12, 12, 121), {}
    found = [calibrated(int(lot)) for lot in LOTS]
    pairs = zip(LOTS.tolist(), found, strict=True)
    left = np.array([noise_of_run(sigma, 1, lot, steps) for lot, (sigma, steps) in pairs])
    left /= left[-1]
    full = {"label": "full lots", "role": "quiet", "label_at": 0.54, "side": "top right"}
    bells = {"x": "÷ noise of full lots", "y": "density", "y_range": (0, 0.45)}
    widths = {"x": "expected lot", "y": "", "log_x": True}
    widths |= {"x_range": (8, 400_000), "y_range": (0, 7)}
    for lot, width, (sigma, steps) in zip(LOTS, left, found, strict=True):
        lines = [
            Curve(x=v, y=norm.pdf(v), **full),
            Curve(x=v, y=norm.pdf(v, scale=width), label=""),
        ]
        here = Dot(x=lot, y=width, label=f"{width:.2f}")
        place = curves([Curve(x=LOTS, y=left, label="")], marks=[here], title="Width", **widths)
        title = f"Lot size {lot}: {steps} steps with σ = {sigma:.3f}"
        bell = curves(lines, title="Noise left after the run", **bells)
        frames[f"{lot}"] = panels(bell, place, title=title)
    words = ", ".join(f"{left[i]:.2f} with lot size {LOTS[i]}" for i in (0, 4, 8, 12))
    show(slider(frames, name="B", start=2), f"Noise of the run, in units of full lots: {words}.")


def parts(sizes, signal):
    """Draw the mean gradient of each part of the network beside its noise."""
    names = ["hidden weights", "hidden biases", "output weights", "output biases"]
    sides = ["top center", "middle right", "bottom center", "middle right"]
    named = zip(sizes, names, sides, strict=True)
    points = [Dot(x=sizes[m], y=signal[m], label=name, side=side) for m, name, side in named]
    many = np.geomspace(8, 3000, 41)
    noise = 4 * 0.5 / 512 * np.sqrt(many)
    once = {"label": "noise, 1 step", "role": "quiet", "label_at": 0.4, "side": "top left"}
    often = {"label": "noise, 80 steps", "role": "other", "label_at": 0.6, "side": "bottom right"}
    lines = [Curve(x=many, y=noise, **once), Curve(x=many, y=noise / np.sqrt(80), **often)]
    title = "The largest part lies nearest to its noise"
    axes = {"x": "d, weights in the part", "y": "length", "log_x": True, "log_y": True}
    hidden, output = signal["0.weight"], signal["2.weight"]
    words = f"Signal {hidden:.4f} in 2048 hidden weights, {output:.4f} in 320 output weights."
    show(curves(lines, marks=points, title=title, **axes), words)


def accuracy(at_noise, spent):
    """Draw accuracy after each half epoch, and against the epsilon that is spent by then."""
    look = {8: ("other", "bottom right"), 4: ("main", "bottom right"), 2: ("second", "top left")}
    place = {8: 0.4, 4: 0.8, 2: 0.4}  # of the label along the curve
    epochs = np.arange(1, len(at_noise[4]) + 1) / 2

    def right_against(axis, title, x, **keywords):
        lines = [
            Curve(x=axis(n), y=right, label=f"noise {n}", label_at=place[n], role=look[n][0],
                  side=look[n][1])
            for n, right in at_noise.items()
        ]  # fmt: skip
        return curves(lines, title=title, x=x, y="right in 100", **keywords)

    left = right_against(lambda n: epochs, "after each half epoch", "epochs")
    right = right_against(spent.get, "for what is spent", "ε at δ = 10⁻⁵", log_x=True)
    ends = (f"{r[-1]:.1f} right in 100 at epsilon {spent[n][-1]:.2f}" for n, r in at_noise.items())
    words = f"After {epochs[-1]:g} epochs with noise 8, 4 and 2: {', '.join(ends)}."
    show(panels(left, right, title="Less noise learns more, and spends more"), words)
