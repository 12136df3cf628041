"""The pictures of lesson 02; the losses are those of the student's function."""

import numpy as np
from scipy.stats import laplace

from dplearn.mechanisms import Laplace
from dplearn.teaching.book import approximate_dp_tradeoff
from dplearn.teaching.classroom import show
from dplearn.teaching.figures import Band, Bars, Curve, Dot, curves, panels, slider

PROFILE = Laplace(noise_multiplier=1.0).profiles()[0]


def worlds():
    """Draw the probability of each report with Anna's yes, and without it."""
    x = np.linspace(2.5, 10.5, 161)
    figure = curves(
        [
            Curve(x=x, y=laplace.pdf(x, 7), label="with Anna", label_at=0.62, side="top right"),
            Curve(x=x, y=laplace.pdf(x, 6), label="without", role="quiet", label_at=0.38,
                  side="top left"),
        ],
        title="Which world does a report come from?",
        x="report: true count plus noise",
        y="density",
        y_range=(0, 0.56),
    ).update_layout(height=270)  # fmt: skip
    show(figure, "Density of a report around 7 with Anna's yes, around 6 without, highest 0.5.")


def _histogram(losses, width, low, high):
    edges = np.arange(low - width / 2, high + width, width)
    shares = np.histogram(losses, edges)[0] / len(losses)
    return Bars(x=(edges[1:] + edges[:-1]) / 2, y=shares, label="")


def losses(laplace_loss, normal_loss):
    """Draw the distribution of the privacy loss for both noises."""
    axes = {"x": "privacy loss L (nats)", "y": "share of reports"}
    bars = [_histogram(laplace_loss, 0.1, -1, 1)]
    left = curves(bars, title="Laplace: from −1 to 1", x_range=(-1.2, 1.2), **axes)
    right = curves([_histogram(normal_loss, 0.25, -4, 5)], title="Gaussian: no end", **axes)
    figure = panels(left, right, title="Laplace noise has a largest loss, Gaussian noise has none")
    ends = [np.mean(np.isclose(laplace_loss, end)) for end in (1, -1)]
    words = f"Laplace {ends[0]:.3f} of the mass at 1 and {ends[1]:.3f} at -1"
    show(figure, f"{words}; Gaussian noise beyond every bound, here up to {max(normal_loss):.2f}.")


def _shaded(epsilon):
    x, epsilons = np.linspace(-3.5, 4.5, 161), np.linspace(0, 1.4, 57)
    delta = float(PROFILE.delta(epsilon))
    p, scaled_q = laplace.pdf(x, 1), np.exp(epsilon) * laplace.pdf(x, 0)
    more = {"lower": np.minimum(p, scaled_q), "upper": p, "role": "wrong", "opacity": 0.3}
    # p is named on its right flank, where it is the upper of the two; q at its top.
    name_q = {"label": "e<sup>ε</sup> · q", "label_at": 70 / 160, "side": "top center"}
    parts = [
        Band(x=x, label="", **more),
        Curve(x=x, y=p, label="p", label_at=114 / 160, side="top right"),
        Curve(x=x, y=scaled_q, role="quiet", **name_q),
    ]
    left = curves(parts, title="", x="report minus 6", y="density")
    line, here = PROFILE.delta(epsilons), Dot(x=epsilon, y=delta, label=f"{delta:.3g}")
    right = curves(
        [Curve(x=epsilons, y=line, label="")], title="", x="ε (nats)", y="δ", marks=[here]
    )
    return panels(left, right, title=f"ε = {epsilon:g}: the shaded area is δ = {delta:.4f}")


def areas():
    """Draw delta as an area; the slider is epsilon."""
    frames = {f"{each:g}": _shaded(each) for each in (0, 0.2, 0.4, 0.5, 0.6, 0.8, 1, 1.2)}
    words = "; ".join(frames[each].layout.title.text for each in ("0", "0.5", "1"))
    show(slider(frames, name="ε", start=3), f"Three of 8 frames. {words}.")


def _region(rates, epsilon, delta):
    claim = {"epsilon": epsilon, "delta": delta}
    top = 1 - approximate_dp_tradeoff(rates, **claim)
    bottom = approximate_dp_tradeoff(1 - rates, **claim)
    where = {"label_at": 0.62, "side": "bottom center"}
    return Band(x=rates, lower=bottom, upper=top, label="allowed", **where)


def regions(rates, coin, best, normal, touch, normal_delta):
    """Draw what rules may do for epsilon 1, with delta 0 and with that of Gaussian noise."""
    axes = {"x": "false alarms FPR", "y": "caught TPR", "x_range": (0, 1), "y_range": (0, 1.02)}
    place = {"role": "second", "label_at": 0.34, "side": "top left"}
    response = Curve(x=rates, y=coin, label="response", **place)
    curve = Curve(x=rates, y=best, label="Laplace", label_at=0.4, side="bottom right")
    pure = curves([_region(rates, 1, 0), response, curve], title="ε = 1, δ = 0", **axes)

    end, place = (1 - normal_delta) / (1 + np.e), {"role": "second", "side": "top center"}
    side = Curve(x=[0, end], y=[normal_delta, 1 - end], label="slope e", **place)
    curve = Curve(x=rates, y=normal, label="Gaussian", label_at=0.4, side="bottom right")
    marks = [Dot(**touch, label="L > 1", side="bottom right")]
    marks += [Dot(x=0, y=normal_delta, label="δ(1)", side="bottom right", role="second")]
    heading = f"ε = 1, δ = {normal_delta:.3f}"
    shapes = [_region(rates, 1, normal_delta), side, curve]
    right = curves(shapes, marks=marks, title=heading, **axes)
    figure = panels(pure, right, title="Every rule for accusing stays inside the region")
    show(figure, f"Regions for epsilon 1: delta 0, and {normal_delta:.4f} for Gaussian noise.")
