"""The pictures of lesson NUMBER. Those that take `delta_of` use the student's function."""

import numpy as np
from scipy.stats import norm

from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, curves, slider


def two_worlds():
    """Draw the outputs with and without Anna: the picture of the first screen."""
    x = np.linspace(-3, 4, 71)
    lines = [
        Curve(x=x, y=norm.pdf(x), label="without", role="quiet", label_at=0.3, side="top left"),
        Curve(x=x, y=norm.pdf(x, loc=1), label="with", label_at=0.7, side="top right"),
    ]
    figure = curves(lines, title="Noise multiplier 1", x="output", y="density", y_range=(0, 0.45))
    figure.update_layout(height=250)  # the cell to fill in stays on the first screen
    show(figure, "Two bells of width 1, one apart.")


def _profile(delta_of, sigma):
    epsilons = np.linspace(0, 4, 41)
    line = Curve(x=epsilons, y=[delta_of(float(e), sigma) for e in epsilons], label="δ")
    title = f"σ = {sigma:g}: δ falls from {line.y[0]:.4f} to {line.y[-1]:.4f}"
    return curves([line], title=title, x="ε", y="δ", y_range=(0, 1))


def profile(delta_of):
    """Draw δ against ε by the student's function."""
    figure = _profile(yours("KEY.1", delta_of), 1.0)
    show(figure.update_layout(height=320), f"{figure.layout.title.text}.")


def noises(delta_of):
    """Draw δ against ε with a slider for the noise."""
    delta_of = yours("KEY.1", delta_of)
    frames = {f"{sigma:g}": _profile(delta_of, sigma) for sigma in (0.5, 1.0, 2.0, 4.0)}
    words = "; ".join(figure.layout.title.text for figure in frames.values())
    show(slider(frames, name="σ", start=1), f"All frames. {words}.")
