"""The pictures of lesson 04; the walks are those of the student's function."""

import math

import numpy as np
from scipy.stats import binom

from dplearn.mechanisms import RandomizedResponse
from dplearn.teaching.book import (
    advanced_composition,
    advanced_composition_kov,
    advanced_composition_kov_break_even,
    optimal_composition,
)
from dplearn.teaching.classroom import guess, show, yours
from dplearn.teaching.figures import Bars, Curve, Dot, curves, flow, slider

EVENINGS = np.arange(1, 101)
TRUTH = 1 / (1 + np.exp(-0.1))
LEVELS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3)


def replies():
    """Draw the chances of both replies of one evening, for Anna and for a neighbour."""
    look = {"width": 0.36, "side": "top center"}
    anna = Bars(x=[0.2, 1.8], y=[1 - TRUTH, TRUTH], label="Anna", label_at=1, **look)
    other = Bars(x=[-0.2, 1.4], y=[TRUTH, 1 - TRUTH], label="another", role="other",
                 label_at=0, **look)  # fmt: skip
    figure = curves(
        [anna, other],
        title="One evening: both replies are nearly as likely for another pupil",
        x="reply",
        y="probability",
        y_range=(0, 0.7),
    ).update_layout(height=270)
    figure.update_xaxes(tickvals=[0, 1.6], ticktext=["0", "1"])
    show(figure, f"Anna's phone replies 1 with probability {TRUTH:.4f}, another {1 - TRUTH:.4f}.")


def walks(total_loss):
    """Draw the total loss of five Annas over a hundred evenings."""
    total = yours("4.1", total_loss)
    coin, rng = RandomizedResponse(local_epsilon=0.1), np.random.default_rng(4)
    lists = coin.release(np.ones((5000, 1000), dtype=int), rng=rng)[:5, :100].tolist()
    five = [[total(each[:k], 0.1) for k in EVENINGS] for each in lists]
    five.sort(key=lambda losses: losses[-1])
    names = ["five Annas", "", "", "", ""]  # at the end of the lowest walk
    lines = [
        Curve(x=EVENINGS, y=y, label=name, role="other")
        for y, name in zip(five, names, strict=True)
    ]
    figure = curves(
        [*lines, Curve(x=EVENINGS, y=0.1 * EVENINGS, label="worst case", role="basic")],
        title="The losses wander; the worst case never goes back",
        x="evenings k",
        y="total loss (nats)",
        y_range=(-4, 10.5),
    ).update_layout(height=300)
    end = ", ".join(f"{losses[-1]:.1f}" for losses in five)
    show(figure, f"Five random walks of the loss end at {end}; the worst case at 10.")


def _chance(reply, truth):
    return TRUTH if reply == truth else 1 - TRUTH


def tree():
    """Draw two evenings; the first reply decides the second question."""
    root, then = "Question 1:\nthey differ", {}
    first_replies, ends = {1: "reply 1\nloss +0.1", 0: "reply 0\nloss −0.1"}, []
    questions, arrows = {1: "Question 2:\nthey differ", 0: "Question 2:\nboth say no"}, []
    for first in (1, 0):
        arrows += [(root, first_replies[first]), (first_replies[first], questions[first])]
        for second in (1, 0):
            with_anna = _chance(first, 1) * _chance(second, first)
            together = math.log(with_anna / (_chance(first, 0) * _chance(second, 0)))
            then[first, second] = round(together, 6) + 0.0
            signed = f"{then[first, second]:+.1f}".replace("-", "−")
            ends.append(f"replies {first}, {second}:\nloss {signed}")
            arrows.append((questions[first], ends[-1]))
    columns = [[root], list(first_replies.values()), list(questions.values()), ends]
    title = "Two evenings: the second question depends on the first reply"
    words = ", ".join(f"{a}{b} {loss:+.1f}" for (a, b), loss in then.items())
    show(flow(columns, arrows, title=title), f"Tree of two evenings. Loss of both: {words}.")


def _tail(epsilon, steps=100, scale=1.0, x="total loss (nats)", red=""):
    j = np.arange(steps + 1)
    losses, masses = epsilon * (2 * j - steps), binom.pmf(j, steps, 1 / (1 + np.exp(-epsilon)))
    optimum = float(optimal_composition(epsilon=epsilon, steps=steps, slack=1e-5))
    beyond, worst = losses > optimum, steps * epsilon
    inside = np.where(beyond, 0, masses)
    at, end = {"y": [1e-32, 20]}, f"adding up {worst:.4g}"
    place = {"label": f"optimum {optimum:.4g}", "side": "middle left"}
    return curves(
        [
            Bars(x=losses / scale, y=inside, label=""),
            Bars(x=losses / scale, y=masses - inside, label=red, role="wrong", label_at=0.73),
            Curve(x=[optimum / scale] * 2, **at, **place),
            Curve(x=[worst / scale] * 2, **at, label=end, role="quiet"),
        ],
        title=f"ε = {epsilon:g}: the optimum is {optimum / worst:.0%} of adding up",
        x=x,
        y="probability",
        log_y=True,
        y_range=(1e-32, 1e3),
    )


def distribution(optimum):
    """Draw all total losses of a hundred replies with their probabilities."""
    words = f"Total loss of 100 replies; optimum {optimum:.4g}, adding up 10."
    show(_tail(0.1, red="what δ counts"), words)


def levels():
    """Draw the same for other replies; the slider is the epsilon of one of them."""
    frames = {f"{e:g}": _tail(e, scale=100 * e, x="total loss / worst case") for e in LEVELS}
    words = "; ".join(frames[e].layout.title.text for e in ("0.1", "1", "3"))
    show(slider(frames, name="ε", start=7), f"Three of 11 frames. {words}.")


def four_curves():
    """Draw total epsilon against the number of replies, by four methods."""
    crossing = advanced_composition_kov_break_even(epsilon=0.1, slack=1e-5)
    ks = np.unique(np.geomspace(1, 10_000, 80).astype(int))
    methods = (advanced_composition, advanced_composition_kov, optimal_composition)
    drv, kov, best = (method(epsilon=0.1, steps=ks, slack=1e-5) for method in methods)
    marks = [Dot(x=crossing, y=0.1 * crossing, label=f"k* = {crossing:.1f}", side="top left")]
    if mine := guess("epsilon of 100 replies"):
        marks += [Dot(x=100, y=mine, label="your ε", role="guess", side="top left")]
    figure = curves(
        [
            Curve(x=ks, y=0.1 * ks, label="adding up", role="basic"),
            Curve(x=ks, y=drv, label="DRV", role="other"),
            Curve(x=ks, y=kov, label="KOV", role="advanced", side="bottom right"),
            Curve(x=ks, y=best, label="optimum", label_at=0.6, side="bottom right"),
        ],
        marks=marks,
        title="Adding up grows like k, the optimum for a while like √k",
        x="number of replies k, ε = 0.1 each",
        y="total ε (nats) at δ = 10⁻⁵",
        log_x=True,
        log_y=True,
        y_range=(0.08, 1500),
    )
    end = f"adding up {0.1 * ks[-1]:.4g}, DRV {drv[-1]:.4g}, KOV {kov[-1]:.4g}"
    end = f"{end}, optimum {best[-1]:.4g}"
    show(figure, f"Total epsilon after {ks[-1]} replies: {end}; KOV crosses at {crossing:.1f}.")


def delivered(span, deltas, broken):
    """Draw what the plotted curve delivers against what it promises."""
    figure = curves(
        [
            Curve(x=span, y=np.full(span.size, 1e-4), label="promised", role="quiet"),
            Curve(x=span, y=deltas, label="delivered"),
        ],
        marks=[Dot(x=broken, y=1e-4, label=f"k = {broken}", role="wrong", side="top left")],
        title=f"From k = {broken} on the plotted curve breaks its promise",
        x="number of releases k, ε = 1 each",
        y="δ at the plotted total ε",
        log_y=True,
        y_range=(1e-12, 1),
    )
    show(figure, f"The delivered delta exceeds the promised 1e-04 from k = {broken} on.")
