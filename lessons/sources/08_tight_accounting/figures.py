"""The pictures of lesson 08. The first slider adds up losses with the student's function."""

import numpy as np
from scipy.stats import norm

from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import round_up
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.book import approximate_dp_tradeoff
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Band, Bars, Curve, Dot, curves, epsilon_curves, ladder, slider

RUN, DELTA = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01), 1e-5
TRIAL = PoissonSubsampled(Gaussian(0.8), sample_rate=0.01)  # 100 steps
CERTIFIED, LIMIT = ACCOUNTANTS["pld"](), ACCOUNTANTS["gdp"]()


def three_answers():
    """Draw what three accountants say about the run."""
    told = {
        name: ACCOUNTANTS[name]().epsilon(RUN, delta=DELTA, steps=10_000)
        for name in ("moments", "rdp", "gdp")
    }
    figure = ladder(told, title="One run, one δ, three answers: which would you sign?")
    figure.update_layout(height=250)
    show(figure, "; ".join(str(answer) for answer in told.values()) + ".")


def sums(added):
    """Draw the losses of 1, 2, 4 and 8 steps, added up by the student's function."""
    added, h, line = yours("8.1", added), 0.25, np.linspace(-4, 6, 201)
    edges = h * np.arange(-16, 17)
    inside = -np.diff(norm.sf(edges, 1 / 8, 1 / 2))
    masses = (np.append(inside, 0) + np.append(0, inside)) / 2
    frames, axes = {}, {"x": "privacy loss (nats)", "y": "mass / cell width", "x_range": (-4, 6)}
    for k in (1, 2, 4, 8):
        losses = h * (np.arange(masses.size) - 16 * k)
        delta = np.maximum(0, 1 - np.exp(1 - losses)) @ masses
        exact = Gaussian(2 / np.sqrt(k)).profiles()[0].delta(1)
        seen = np.abs(losses - 1) <= 5
        bars = Bars(x=losses[seen], y=masses[seen] / h, label="")
        sure = norm.pdf(line, k / 8, np.sqrt(k) / 2)
        frames[f"{k}"] = curves(
            [bars, Curve(x=line, y=sure, label="", role="safe")],
            title=f"Sum of {k} on the grid: δ(1) is {delta:.4f}, exactly {exact:.4f}",
            y_range=(0, 0.85),
            **axes,
        )
        masses = np.array(added(masses.tolist(), masses.tolist()))
    shown = [frames[k].layout.title.text for k in ("1", "8")]
    show(slider(frames, name="steps"), "Two of 4 frames. " + "; ".join(shown) + ".")


def tail(total):
    """Draw the losses of the trials beside the normal distribution."""
    mean, spread = total.mean(), total.std()
    heights, edges = np.histogram(total, bins=np.arange(-0.5, 2.4, 0.05), density=True)
    middles, grid = (edges[1:] + edges[:-1]) / 2, np.linspace(-0.5, 1.02, 153)
    lines = [
        Bars(x=middles, y=heights, label="400 000 trials", label_at=0.62, side="top right"),
        Curve(x=grid, y=norm.pdf(grid, mean, spread), label="normal", role="wrong", label_at=0.8,
              side="bottom left"),
    ]  # fmt: skip
    axes = {"x": "total privacy loss of one epoch (nats)", "y": "density"}
    title = "The middle is nearly normal, the tail is not"
    figure = curves(lines, title=title, log_y=True, y_range=(1e-5, 20), **axes)
    beyond, thought = np.mean(total > 1), norm.sf(1, mean, spread)
    show(figure, f"Total loss above 1: {beyond:.5f} simulated, {thought:.2g} normal.")


def four_rules():
    """Show how four rules move the mass of one cell."""
    words = "One cell, 4 rules: all to the left end, all to the right, half and half, and chords."
    show("08_tight_accounting/moved_mass.svg", words)


def race():
    """Draw every accountant over the steps; return their curves."""
    rounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000]
    lines = {n: a().epsilon_curve(RUN, delta=DELTA, steps=rounds) for n, a in ACCOUNTANTS.items()}
    figure = epsilon_curves(
        lines,
        rounds,
        here=10_000,
        title="One run, eight accountants, one truth",
        about="sampled Gaussian, σ = 4, q = 0.01, δ = 1e-5, add or remove a record",
    )
    here = ", ".join(f"{name} {round_up(line[12].epsilon)}" for name, line in lines.items())
    show(figure, f"Epsilon after 10000 steps: {here}.")
    return lines


def closing_in(widths, ends, truth):
    """Draw what each rule gives on finer and finer grids."""
    lines = [
        Band(x=widths, lower=ends["down"], upper=ends["up"], label="", role="quiet"),
        Curve(x=widths, y=ends["up"], label="up", role="safe", label_at=0.4, side="top left"),
        Curve(x=widths, y=ends["down"], label="down", role="other", label_at=0.4,
              side="bottom left"),
        Curve(x=widths, y=ends["chords"], label="chords", label_at=0),
    ]  # fmt: skip
    title = "Rounding closes in slowly, chords are there at once"
    axes = {"x": "cell width h (nats)", "y": "ε (nats) of the schools' run"}
    figure = curves(lines, title=title, log_x=True, y_range=(-0.1, 2.1), **axes)
    words = ", ".join(f"{name} {end[1]:.4f}" for name, end in ends.items())
    show(figure, f"At cell width 1e-4: {words}; certified {truth.epsilon:.4f}.")


def trade_offs(truth):
    """Draw how many times better than guessing the best attacker is, for run and trial."""
    rate = np.geomspace(1e-6, 0.5, 58)
    at = {"false_positive_rate": rate}
    caught = CERTIFIED.true_positive_rate(RUN, steps=10_000, **at)[1]
    of_trial = CERTIFIED.true_positive_rate(TRIAL, steps=100, **at)[1]
    allowed = 1 - approximate_dp_tradeoff(rate, epsilon=truth.epsilon, delta=DELTA)
    low, _ = CERTIFIED.true_positive_rate(RUN, false_positive_rate=0.01, steps=10_000)
    drawn = [
        Curve(x=rate, y=of_trial / rate, label="trial", role="other", label_at=0.15,
              side="top right"),
        Curve(x=rate, y=caught / rate, label="training", label_at=0.2, side="bottom left"),
        Curve(x=rate, y=allowed / rate, label="pair of the training", role="quiet", label_at=0.78,
              side="top center"),
        Curve(x=rate, y=np.ones(58), label="guessing", role="quiet", label_at=0.2,
              side="top right"),
    ]  # fmt: skip
    figure = curves(
        drawn,
        marks=[Dot(x=0.01, y=low / 0.01, label=f"{low:.2%} caught", side="bottom left")],
        title="One pair (ε, δ) is a tangent; attackers live on the curve",
        x="false alarms a, share of outsiders accused",
        y="members caught / guessing",
        log_x=True,
        log_y=True,
        y_range=(0.9, 20),
    )
    ends_at = f"training {caught[0] / rate[0]:.2f}, trial {of_trial[0] / rate[0]:.2f}"
    show(figure, f"At 1e-06 false alarms, times guessing: {ends_at}.")


def limit_over_truth():
    """Draw the epsilon of the central limit over the true one against the steps."""
    counts = np.unique(np.geomspace(1, 100_000, 31).astype(int))
    ratio = {}
    for s in (4.0, 1.5, 0.6):
        step = PoissonSubsampled(Gaussian(s), 0.01)
        both = (a.epsilon_curve(step, delta=DELTA, steps=counts) for a in (LIMIT, CERTIFIED))
        ratio[s] = [claim.epsilon / true.epsilon for claim, true in zip(*both, strict=True)]
    places = {4.0: (0.25, "top left"), 1.5: (0.25, "bottom right"), 0.6: (0.4, "bottom right")}
    drawn = [
        Curve(x=counts, y=ratio[s], label=f"σ = {s:g}", role="wrong", label_at=at, side=side)
        for s, (at, side) in places.items()
    ]
    floor, roof = np.zeros(counts.size), np.ones(counts.size)
    zone = Band(x=counts, lower=floor, upper=roof, label="promises too much", role="wrong",
                label_at=0.8)  # fmt: skip
    title = "The limit promises too much, most of all for few steps"
    axes = {"x": "number of steps T", "y": "ε of the limit / true ε"}
    figure = curves([zone, *drawn], title=title, log_x=True, y_range=(-0.05, 1.3), **axes)
    at_one = ", ".join(f"{row[0]:.2f} for sigma {s:g}" for s, row in ratio.items())
    show(figure, f"Limit over truth at one step: {at_one}.")


def slow_tail(on_grid, tails, half):
    """Draw the total loss of longer and longer trials in standard deviations."""
    h, window = 1e-4, 60
    edges, masses, _ = on_grid(tails, h, 8, half)
    size = 2 ** int(np.ceil(np.log2(window / h)))
    ring = np.bincount(np.rint(edges / h).astype(int) % size, masses, size)
    wave, axis = np.fft.rfft(ring), h * np.fft.fftfreq(size, 1 / size)
    z = np.linspace(-4.875, 9.875, 119)
    bell = Curve(x=z, y=norm.pdf(z), label="normal", role="wrong", label_at=0.55,
                 side="bottom left")  # fmt: skip
    axes = {"x": "total loss, in standard deviations from its mean", "y": "density"}
    figures = {}
    for steps in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000):
        masses = np.fft.irfft(wave**steps, size)
        middle = masses @ axis
        deviation = np.sqrt(masses @ (axis - middle) ** 2)
        column = np.rint(((axis - middle) / deviation - z[0]) / 0.125).astype(int)
        inside = (column >= 0) & (column < z.size)
        heights = np.bincount(column[inside], masses[inside], z.size) / 0.125
        loss = Curve(x=z, y=heights, label="the loss", label_at=0.75, side="top right")
        true, claimed = (a.epsilon(TRIAL, delta=DELTA, steps=steps) for a in (CERTIFIED, LIMIT))
        title = f"T = {steps}: true ε = {true.epsilon:.3f}, by the limit {claimed.epsilon:.3f}"
        figures[f"{steps:,}".replace(",", " ")] = curves(
            [loss, bell], title=title, log_y=True, y_range=(1e-8, 10), **axes
        )
    some = [figures[T].layout.title.text for T in ("10", "100", "10 000")]
    show(slider(figures, name="T", start=3), "Three of 10 frames. " + "; ".join(some) + ".")
