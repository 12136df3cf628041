"""The pictures of lesson 07. One of them measures losses with the student's function."""

import numpy as np

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.moments import Moments
from dplearn.core.guarantee import round_up
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.book.published import published
from dplearn.teaching.classroom import guess, show, yours
from dplearn.teaching.figures import Bars, Curve, Dot, curves, epsilon_curves, number_line, slider
from dplearn.teaching.figures.drawings import Sheet, arrow, lettering
from dplearn.teaching.figures.kit.template import colour_of

STEP, DELTA, STEPS = PoissonSubsampled(Gaussian(noise_multiplier=4.0), 0.01), 1e-5, 10_000


def old_accountants():
    """Draw what lesson 04 proves about the run."""
    names = {"adding up": "basic", "advanced": "advanced", "the best from pairs": "optimal"}
    old = {
        label: ACCOUNTANTS[name]().epsilon(STEP, delta=DELTA, steps=STEPS).epsilon
        for label, name in names.items()
    }
    title = "ε of 10,000 steps, as three accountants of lesson 04 prove it"
    words = "; ".join(f"{label} {round_up(epsilon)}" for label, epsilon in old.items())
    show(number_line(old, title=title).update_layout(height=200), f"{words}.")


def grows(log_mean):
    """Draw the log moment of growing runs, measured with the student's function."""
    measure, rng = yours("7.1", log_mean), np.random.default_rng(1)
    total, measured, at = np.zeros(2000), [0.0], np.arange(0, STEPS + 1, 1000)
    for step in range(1, STEPS + 1):
        x = (rng.random(2000) < 0.01) + 4 * rng.standard_normal(2000)
        total += np.log1p(0.01 * np.expm1((2 * x - 1) / 32))
        if step % 1000 == 0:
            measured.append(measure(total.tolist(), 4))
    added = at * 4 * STEP.rdp([5])[0]
    name = {"yours": "your function", "ours": "measured"}[measure.whose]
    lines = [
        Curve(x=at, y=added, label="adding up", role="quiet", label_at=0.8, side="top left"),
        Curve(x=at, y=measured, label=name, label_at=0.5, side="bottom right"),
    ]
    title = f"Log moments add up: after 10,000 steps {added[-1]:.3f}, measured {measured[-1]:.3f}"
    figure = curves(lines, title=title, x="steps", y="log moment, λ = 4")
    one = f"{added[-1] / STEPS:.3g}"
    show(
        figure.update_layout(height=320),
        f"Log moment at lambda 4: {one} after 1 step, {measured[-1]:.3f} measured after 10000.",
    )


def head_to_tail(one):
    """Draw twelve losses as arrows, each from the tip of the last."""
    blue, red, twelve, shapes = colour_of("exact"), colour_of("wrong"), one[:12], []
    worst = np.full(12, twelve.max())
    for several, colour, top, pitch in ((worst, red, 66, 0), (twelve, blue, 116, 12)):
        ends = 640 / worst.sum() * np.cumsum([0, *several])
        ends += 30 - ends.min()
        for i in range(12):
            y = top + pitch * i
            shapes.append(arrow((ends[i], y), (ends[i + 1], y), colour=colour, width=2.4))
    shapes.append(lettering(30, 92, "every step at its worst", size=13, colour=red, anchor="start"))
    beside = "the same steps as they were: gains and losses cancel"
    shapes.append(lettering(350, 130, beside, size=13, colour=blue, anchor="start"))
    drawn = Sheet(700, 294, "Twelve of the ten thousand losses, head to tail", shapes)
    sums = f"at their worst {worst.sum():.3f}, in truth {twelve.sum():.4f}"
    show(drawn, f"12 steps as arrows: {sums}.")


def runs(run):
    """Draw the losses of whole runs as columns."""
    height, edges = np.histogram(run, bins=48, range=(-1, 1.4))
    share = f"{np.mean(run > 0.5):.1%}"
    bars = Bars(x=edges[:-1] + 0.025, y=height, label="5000 runs", label_at=0.3, side="top left")
    limit = Curve(x=[0.5, 0.5], y=[0, 300], label="ε = 0.5", role="quiet", side="top right")
    title = f"After 10,000 steps {share} of the runs have lost more than 0.5"
    axes = {"x": "loss of the whole run (nats)", "y": "number of runs"}
    show(
        curves([bars, limit], title=title, **axes),
        f"Loss of 5000 runs: {share} above 0.5, largest {run.max():.3f}.",
    )


def three_weights():
    """Draw the exact weight of a loss, the step and two exponentials."""
    loss = np.linspace(-0.5, 1.2, 341)
    weight = np.maximum(0, 1 - np.exp(0.5 - loss))
    over = [
        Curve(x=loss, y=np.exp(m * (loss - 0.5)), label=f"λ = {m}", role="third", label_at=at,
              side=side)
        for m, at, side in ((2, 0.78, "bottom right"), (7, 0.65, "middle right"))
    ]  # fmt: skip
    step_line = Curve(x=loss, y=loss > 0.5, label="step", role="other")
    title = "Every exponential lies above the step, the step above the weight"
    axes = {"x": "privacy loss L (nats)", "y": "weight, at ε = 0.5", "y_range": (0, 2.6)}
    lines = [*over, step_line, Curve(x=loss, y=weight, label="exact weight")]
    show(
        curves(lines, title=title, **axes),
        f"At a loss of 1: weight {1 - np.exp(-0.5):.3f}, step 1, lambda 2 {np.exp(1):.3f}.",
    )


def lower_edge(run):
    """Draw the line of each moment; return their lower edge and the exact delta."""
    grid, pld = np.linspace(0, 1.6, 33), ACCOUNTANTS["pld"]()
    logs = {m: STEPS * m * STEP.rdp([m + 1])[0] for m in range(1, 33)}
    bound = np.min([np.exp(logs[m] - m * grid) for m in logs], axis=0)
    exact = [pld.delta(STEP, epsilon=e, steps=STEPS).delta for e in grid]
    mine, name_at = guess("best moment"), {"label_at": 0.85, "side": "top right"}
    tried = {4: "quiet", 19: "quiet"} | ({int(mine): "guess"} if mine in logs else {})
    tail = [np.mean(run > e) for e in grid[:15]]
    drawn = [
        Curve(x=grid, y=np.exp(logs[m] - m * grid), label=f"λ = {m}", role=role, **name_at)
        for m, role in tried.items()
    ]
    drawn += [
        Curve(x=grid[:15], y=tail, label="tail, counted", role="other"),
        Curve(x=grid, y=bound, label="best λ", role="third", label_at=0.7, side="bottom left"),
        Curve(x=grid, y=exact, label="exact δ", label_at=0.4, side="bottom left"),
        Curve(x=grid, y=np.full(33, DELTA), label="δ = 10⁻⁵", role="quiet"),
    ]
    title = "Each moment draws a line, the bound is their lower edge"
    axes = {"x": "ε (nats), 10,000 steps", "y": "δ", "log_y": True, "y_range": (1e-7, 2)}
    show(
        curves(drawn, title=title, **axes),
        f"At epsilon 0.6: exact delta {exact[12]:.4g}, best moment {bound[12]:.4g}.",
    )
    return bound, exact


def race():
    """Draw four accountants over the steps; return what each proves after 10,000."""
    rounds = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 20_000, 40_000]
    names = ("advanced", "moments", "rdp", "pld")
    lines = {n: ACCOUNTANTS[n]().epsilon_curve(STEP, delta=DELTA, steps=rounds) for n in names}
    rings = {"P01": 10_000, "P02": 40_000, "P03a": 10_000, "P03b": 40_000}
    said = {id: published()[id]["published"] for id in rings}
    sides = ("top left", "top left", "bottom left", "bottom center")
    printed = [
        Dot(x=t, y=float(said[id]), label=said[id], role="wrong", side=side)
        for (id, t), side in zip(rings.items(), sides, strict=True)
    ]
    about = "σ = 4, q = 0.01, δ = 1e-5, Poisson sampling"
    title = "Same run, better bookkeeping: 14.2 becomes 1.26"
    figure = epsilon_curves(lines, rounds, marks=printed, title=title, about=about, here=STEPS)
    proved = {name: line[rounds.index(STEPS)].epsilon for name, line in lines.items()}
    ends = ", ".join(f"{name} {round_up(epsilon, 5)}" for name, epsilon in proved.items())
    show(figure, f"Epsilon after 10000 steps: {ends}; printed {', '.join(said.values())}.")
    return proved


def tangents():
    """Draw the tail bound as the flattest line to the curve; the slider is the number of steps."""
    dial, figures = np.linspace(0.25, 40, 160), {}
    one_step, fee = dial * STEP.rdp(dial + 1), np.log(1 / DELTA)
    lengths = (100, 300, 1000, 2000, 3000, 5000, 7000, 10_000, 15_000, 20_000, 40_000, 100_000)
    for steps in lengths:
        proved = Moments().epsilon(STEP, delta=DELTA, steps=steps)
        slope, touch = proved.epsilon, proved.details["moment"]
        curve, line = steps * one_step, dial * slope - fee
        low, half = 0.45 * np.mean(curve <= 30), 0.4 * np.mean(line <= 30)  # where names stand
        meets = f"touches at λ = {touch}" if touch < 32 else "is stopped by the wall"
        figures[str(steps)] = curves(
            [
                Curve(x=dial, y=curve, label="K(λ)", role="third", label_at=low, side="top left"),
                Curve(x=dial, y=line, label="slope ε", role="other", label_at=half,
                      side="bottom right"),
                Curve(x=[32, 32], y=[34, -12], label="λ = 32", role="quiet"),
            ],
            marks=[Dot(x=touch, y=touch * slope - fee, label="", role="other")],
            title=f"T = {steps:,}: the line {meets}, its slope is ε = {slope:.4g}",
            x="moment λ",
            y="K(λ) of the run",
            y_range=(-14, 34),
        )  # fmt: skip
    some = "; ".join(figures[key].layout.title.text for key in ("100", "10000", "100000"))
    show(slider(figures, name="T", start=7), f"Three of 12 frames. {some}.")


def main_term(many, ratio):
    """Draw the true log moment over its main term, and where the conditions end."""
    ends = {sigma: int(sigma**2 * np.log(1 / (0.01 * sigma))) for sigma in ratio}
    look = {"role": "other", "side": "bottom center"}
    marks = [Dot(x=ends[s], y=ratio[s][ends[s] - 1], label="", **look) for s in (1.0, 2.0)]
    marks += [Dot(x=ends[4.0], y=ratio[4.0][ends[4.0] - 1], label="condition ends", **look)]
    places = {1.0: (0.6, "top center"), 2.0: (0.75, "bottom right"), 4.0: (1, "middle right")}
    figure = curves(
        [
            Curve(x=many, y=r, label=f"σ = {s:g}", label_at=places[s][0], side=places[s][1])
            for s, r in ratio.items()
        ],
        marks=marks,
        zone=(1, 20_000, "the main term is too small"),
        title="Far beyond its condition the main term is thousands of times too small",
        x="moment λ, at q = 0.01",
        y="true K(λ) / main term",
        log_y=True,
        y_range=(0.1, 20_000),
    )
    words = f"condition ends at moment {ends[1.0]}; {ratio[1.0][15]:.4g} times at 16"
    show(figure, f"Noise 1: {words}.")
