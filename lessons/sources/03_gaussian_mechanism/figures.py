"""The pictures of lesson 03; errors of a mean are those of the student's published sum."""

import numpy as np

from dplearn.datasets import school
from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import guess, show, yours
from dplearn.teaching.figures import Bars, Curve, Dot, curves, slider

PUPILS = school()
ELM = PUPILS.age[PUPILS.village == "Elm"]
CAPS = np.arange(8, 101)
MULTIPLIER = Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier


def ages():
    """Draw the ages in one village."""
    counted = np.bincount(ELM)
    figure = curves(
        [Bars(x=np.arange(len(counted)), y=counted, label="")],
        marks=[Dot(x=60, y=2, label="evening class", role="second", side="top center")],
        title=f"{len(ELM)} pupils from Elm: most are under 19, a few learn in the evening",
        x="age (years)",
        y="pupils",
    ).update_layout(height=270)
    words = f"Ages of {len(ELM)} pupils, {np.sum(ELM > 18)} of them over 18"
    show(figure, f"{words}, the oldest {max(ELM)}.")


def error_parts(published_sum, ages=ELM):
    """Return what a cap cuts off the mean, the noise of the mean, and both, for every cap."""
    publish, crowd = yours("3.1", published_sum), ages.tolist()
    quiet, noisy = (
        np.array([publish(crowd, int(cap), MULTIPLIER, z) for cap in CAPS]) / len(crowd)
        for z in (0.0, 1.0)
    )
    cut, noise = ages.mean() - quiet, noisy - quiet
    return cut, noise, np.hypot(cut, noise)


def best_cap(published_sum):
    """Return the cap with the smallest expected error of the mean age in Elm."""
    return int(CAPS[error_parts(published_sum)[2].argmin()])


def _parts(cut, noise, both, title, marks=()):
    best, below = CAPS[both.argmin()], {"side": "bottom right"}
    return curves(
        [
            Curve(x=CAPS, y=cut, label="cut off", role="second", label_at=0.4, side="top right"),
            Curve(x=CAPS, y=noise, label="noise", role="quiet", label_at=0.7, **below),
            Curve(x=CAPS, y=both, label="both", label_at=0.6, side="top left"),
        ],
        marks=[Dot(x=best, y=both.min(), label=f"cap {best}", side="top center"), *marks],
        title=title,
        x="cap (years)",
        y="error of the mean (years)",
        y_range=(0, 5),
    )


def caps(published_sum):
    """Draw the error of the mean age in Elm against the cap."""
    cut, noise, both = error_parts(published_sum)
    best, mine = best_cap(published_sum), guess("best cap")
    title = f"Mean age in Elm: the best cap is {best}, though the oldest pupil is {max(ELM)}"
    marks = [Dot(x=mine, y=0, label="your guess", role="guess")] if mine else []
    figure = _parts(cut, noise, both, title, marks)
    show(figure, f"Error {both.min():.2f} years at cap {best}, {both[-1]:.2f} at cap 100.")


def crowds(published_sum):
    """Draw the same for five crowds, behind a slider."""
    every = {name: PUPILS.age[PUPILS.village == name] for name in ("Ash", "Elm", "Fir", "Yew")}
    frames = {}
    for name, crowd in (every | {"school": PUPILS.age}).items():
        cut, noise, both = error_parts(published_sum, crowd)
        best = f"best cap {CAPS[both.argmin()]}, error {both.min():.2f} years"
        frames[name] = _parts(cut, noise, both, f"{name}, {len(crowd)} pupils: {best}")
    words = "; ".join(each.layout.title.text for each in frames.values())
    show(slider(frames, name="crowd", start=1), f"All frames. {words}.")


def ball_and_cube():
    """Draw two ways of clipping, in two dimensions."""
    words = "In 2 dimensions: Ben's vector has length C, Anna's length 1.414 C, by the axes 2 C."
    show("03_gaussian_mechanism/ball_and_cube.svg", words)


def delivered(recipe, delta_of, crossing):
    """Draw what the textbook recipe delivers against what it promises."""
    span = np.linspace(0.5, 20, 79)
    figure = curves(
        [
            Curve(x=span, y=np.full(79, 1e-5), label="promised", role="quiet"),
            Curve(x=span, y=[delta_of(e, recipe(e)) for e in span], label="delivered"),
        ],
        marks=[Dot(x=crossing, y=1e-5, label=f"ε = {crossing:.2f}", role="wrong", side="top left")],
        title=f"Beyond ε = {crossing:.2f} the recipe breaks its promise",
        x="ε (nats) put into the recipe",
        y="δ",
        log_y=True,
    )
    show(figure, f"Delivered delta crosses the promised 1e-05 at epsilon = {crossing:.2f}.")
