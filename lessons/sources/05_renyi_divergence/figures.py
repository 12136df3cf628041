"""The pictures of lesson 05; the beam is balanced by the student's function."""

import numpy as np
from scipy.stats import norm

from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import round_up
from dplearn.mechanisms import Gaussian, Laplace, RandomizedResponse
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, Dot, curves, epsilon_curves, slider
from dplearn.teaching.figures.drawings import Sheet, arrow, circle, lettering

REPORT, DELTA = Gaussian(noise_multiplier=10.0), 1e-5
WIDE = np.geomspace(1.3, 60, 120)
BLUE, GREY, INK = "#0072b2", "#8a8a8a", "#222222"


def one_report():
    """Draw the privacy loss of one report."""
    alone = float(REPORT.profiles()[0].epsilon(DELTA))
    added = ACCOUNTANTS["basic"]().epsilon(REPORT, delta=DELTA, steps=100).epsilon
    losses = np.linspace(-0.45, 0.55, 201)
    figure = curves(
        [Curve(x=losses, y=norm.pdf(losses, 0.005, 0.1), label="", role="exact")],
        marks=[Dot(x=alone, y=0, label="ε", side="top center")],
        title=f"Anna's loss in one report: ε = {alone:.3g} at δ = 1e-5",
        x="privacy loss (nats)",
        y="density",
        y_range=(-0.1, 4.3),
    ).update_layout(height=260)
    words = f"epsilon {alone:.4f} at delta 1e-5; adding up says {added:.2f} for a hundred"
    show(figure, f"Privacy loss of one report, mean 0.005, standard deviation 0.1: {words}.")


def beam(divergence):
    """Draw five weighted losses on a beam, and the student's number, at three orders."""
    dial, five = yours("5.1", divergence), np.arange(-1.0, 4.0)
    shapes, balances = [], []
    for row, (order, name) in enumerate(((1.001, "α near 1"), (2, "α = 2"), (16, "α = 16"))):
        weights = np.exp((order - 1) * (five - five.max()))
        balance = np.sum(weights * five) / weights.sum()
        x, y = 230 + 110 * (five + 1), 92 + 84 * row
        shapes.append(arrow((190, y), (710, y), colour=GREY, dash="1 0"))
        for place, weight in zip(x, weights / weights.sum(), strict=True):
            radius = max(1.5, 30 * np.sqrt(weight))
            shapes.append(circle(place, y - radius, radius, edge=BLUE, fill="#cce3f0"))
        number = dial(five.tolist(), order)
        at, dot = 230 + 110 * (balance + 1), 230 + 110 * (number + 1)
        shapes.append(f'<path d="M{at:g},{y} l12,24 h-24 z" fill="#d55e00"/>')
        shapes.append(circle(dot, y, 5, edge=INK, fill=INK))
        shapes.append(lettering(dot - 14, y + 21, f"D = {number:.2f}", size=13, anchor="end"))
        shapes.append(lettering(40, y + 5, name, anchor="start"))
        balances.append(f"{balance:.2f}, with D = {number:.2f}, for {name}")
    shapes += [lettering(230 + 110 * i, 308, f"{at:g}", size=13) for i, at in enumerate(five)]
    shapes.append(lettering(40, 308, "privacy loss", size=13, anchor="start"))
    title = "Both move from the average to the largest loss, D behind the balance"
    words = f"Five losses on a beam; it balances at {'; '.join(balances)}."
    show(Sheet(740, 322, title, shapes), words)


def _tilt(order, largest):
    span, centre = np.linspace(-4, 20, 241), order - 0.5
    place = {"role": "quiet", "label_at": 0.14, "side": "middle left"}
    return curves(
        [
            Curve(x=span, y=norm.pdf(span, 0.5), label="loss", **place),
            Curve(x=span, y=norm.pdf(span, centre), label="", role="exact"),
            Curve(x=[largest] * 2, y=[0, 0.42], label="largest of a million", role="wrong"),
        ],
        marks=[Dot(x=order / 2, y=0, label="D", role="second", side="top center")],
        title=f"Order {order:g} looks at losses near {centre:g}: D = {order / 2:g}",
        x="privacy loss (nats)",
        y="density",
        y_range=(-0.01, 0.48),
    )


def tilts(largest):
    """Draw the tilted distribution; the slider is the order."""
    frames = {f"{a:g}": _tilt(a, largest) for a in (1.5, 2, 3, 4, 5, 6, 8, 12, 16)}
    ends = "; ".join(frames[a].layout.title.text for a in ("2", "16"))
    show(slider(frames, name="α", start=1), f"Largest of a million losses {largest:.2f}. {ends}.")


def mechanisms():
    """Draw the divergence of three mechanisms against the order."""
    orders = np.geomspace(1.01, 16, 80)
    coin = RandomizedResponse(local_epsilon=1.0).rdp(orders, adjacency="replace_one")
    laplace, normal = Laplace(noise_multiplier=1.0).rdp(orders), Gaussian(1.0).rdp(orders)
    figure = curves(
        [
            Curve(x=orders, y=normal, label="Gaussian", label_at=0.5, side="bottom right"),
            Curve(x=orders, y=coin, label="rand. response", role="second", side="top right"),
            Curve(x=orders, y=laplace, label="Laplace", role="other", side="bottom right"),
        ],
        title="Pure privacy levels off, Gaussian noise never does",
        x="order α",
        y="D, Rényi divergence (nats)",
        y_range=(0, 3),
    )
    words = f"randomised response {coin[-1]:.3f}, Laplace {laplace[-1]:.3f}"
    show(figure, f"Renyi divergence at order 16: Gaussian {normal[-1]:.3g}, {words}.")


def conversions(simple, sharper):
    """Draw epsilon of a hundred releases against the order, by both conversions."""
    true = float(Gaussian(1.0).profiles()[0].epsilon(DELTA))
    best = 1 + np.sqrt(np.log(1 / DELTA) / 0.5)
    lowest, cost = float(simple(best, 100)[0]), sharper(WIDE, 100)
    place = {"role": "second", "label_at": 0.15, "side": "bottom left"}
    figure = curves(
        [
            Curve(x=WIDE, y=simple(WIDE, 100), label="simple", role="third", label_at=0.8),
            Curve(x=WIDE, y=cost, label="sharper", **place),
            Curve(x=WIDE, y=np.full(120, true), label="exact", label_at=1),
        ],
        marks=[Dot(x=best, y=lowest, label=f"order {best:.3g}", role="third", side="top center")],
        title="Small α: the term of δ dominates; large α: D does",
        x="order α",
        y="ε (nats), 100 releases",
        log_x=True,
        y_range=(0, 20),
    )
    words = f"lowest {lowest:.4f} at order {best:.4f}, exact {true:.4f}"
    show(figure, f"Epsilon over the order: {words}.")


def _u_curve(sharper, steps):
    cost = sharper(WIDE, steps)
    i = int(np.argmin(cost))
    exact = float(ACCOUNTANTS["pld"]().epsilon(REPORT, delta=DELTA, steps=steps).epsilon)
    low = Dot(x=WIDE[i], y=cost[i], label=f"{cost[i]:.3g}", role="second", side="top center")
    bottom = Curve(x=WIDE, y=np.full(120, exact), label="exact")
    return curves(
        [Curve(x=WIDE, y=cost, label="RDP", role="second", label_at=0.05), bottom],
        marks=[low],
        title=f"T = {steps}: best order {WIDE[i]:.3g}, ε = {cost[i]:.3g}, exact {exact:.3g}",
        x="order α",
        y="ε (nats)",
        log_x=True,
        log_y=True,
        y_range=(0.2, 200),
    )


def u_curves(sharper):
    """Draw epsilon against the order; the slider is the number of releases."""
    counts = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
    frames = {str(steps): _u_curve(sharper, steps) for steps in counts}
    words = frames["100"].layout.title.text
    show(slider(frames, name="T", start=6), f"One of 11 frames. {words}.")


def accounts():
    """Draw epsilon against the number of releases, by four accountants."""
    rounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    names = ("basic", "optimal", "rdp", "pld")
    lines = {n: ACCOUNTANTS[n]().epsilon_curve(REPORT, delta=DELTA, steps=rounds) for n in names}
    title = "Same run, same δ: three bounds and the truth"
    figure = epsilon_curves(lines, rounds, title=title, about="Gaussian, σ = 10, δ = 1e-5")
    ends = ", ".join(f"{n} {round_up(line[-1].epsilon)}" for n, line in lines.items())
    show(figure, f"Epsilon after 1000 releases: {ends}.")


def lost_root(formula, as_printed, simulated):
    """Draw the divergence of two Gaussians with the root and without."""
    spread = np.linspace(0.76, 2.5, 60)
    figure = curves(
        [
            Curve(x=spread, y=formula(2, 0, 1, 1, spread), label="true"),
            Curve(x=spread, y=as_printed(2, 0, 1, 1, spread), label="as printed", role="wrong"),
        ],
        marks=[Dot(x=1.5, y=simulated, label="simulated", role="second")],
        zone=(-1.2, 0, "impossible for a divergence"),
        title="Without the root the divergence turns negative",
        x="σ₁, standard deviation of the second Gaussian",
        y="D of order 2 (nats)",
        y_range=(-1.2, 4),
    )
    ends = f"true {formula(2, 0, 1, 1, 1.5):.4f}, as printed {as_printed(2, 0, 1, 1, 1.5):.4f}"
    show(figure, f"At 1.5: {ends}.")
