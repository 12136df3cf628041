"""The pictures of appendix 92. One of them shows chances by the student's function."""

import numpy as np

from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Bars, Curve, crowd, curves, panels, slider


def crowds():
    """Draw twenty records in either case, after Anna's change."""
    groups = [("bad case: Anna alone", 20, 1), ("good case: one of eleven", 20, 11)]
    drawn = crowd(
        groups, title="Filled: 1/2. Open: −1/2. The first of each crowd is Anna, changed."
    )
    show(drawn, "Two crowds of 20: in the first 1 is filled, in the second 11 are.")


def subsets(chance):
    """Draw how many of five drawn are ones before and after, by the student's function."""
    chance, told, both, j = yours("92.1", chance), [], [], np.arange(6)
    for name, others in (("Bad case", 0), ("Good case", 10)):
        before, after = ([chance(int(i), 20, 5, ones) for i in j] for ones in (others, others + 1))
        at, side = (0.0, "top right") if others == 0 else (0.2, "top left")
        bars = [
            Bars(
                x=j - 0.2,
                y=before,
                label="before",
                role="quiet",
                label_at=at,
                side=side,
                width=0.36,
            ),
            Bars(x=j + 0.2, y=after, label="after", role="exact", label_at=at + 0.25, width=0.36),
        ]
        axes = {"x": "ones in the batch", "y": "chance", "y_range": (0, 1.1)}
        both.append(curves(bars, title=name, **axes))
        new = after[1] if others == 0 else max(a / b for a, b in zip(after, before, strict=True))
        told.append(new)
    title = f"Alone: seen in {told[0]:.0%} of batches. In a crowd: a factor of {told[1]:.2f}"
    figure = panels(*both, title=title)
    words = f"Bad case: 1 one in {told[0]:.0%} of batches after, never before."
    show(figure.update_layout(height=320), f"{words} Good case: ratios up to {told[1]:.4g}.")


def bells(density):
    """Draw the noisy number of ones before and after Anna's change, in both cases."""
    x, both = np.linspace(-1, 6, 141), []
    for title, others, places in (("Bad case", 0, (0.2, 0.35)), ("Good case", 10, (0.86, 0.72))):
        lines = [
            Curve(
                x=x,
                y=density(others + more, 0.3)(x),
                label=name,
                role=role,
                label_at=at,
                side="top right",
            )
            for more, name, role, at in (
                (0, "before", "quiet", places[0]),
                (1, "after", "exact", places[1]),
            )
        ]
        axes = {"x": "noisy number of ones", "y": "density", "y_range": (0, 1.45)}
        both.append(curves(lines, title=title, **axes))
    figure = panels(*both, title="A bell of her own, or bells that everybody shares")
    least, hump = (density(ones, 0.3)(np.array([1.0]))[0] for ones in (0, 1))
    show(figure, f"At 1: in the bad case {least:.4f} before and {hump:.4f} after Anna's change.")


def companions(grid, ceiling, worst, ours):
    """Draw the divergence of the digits against the order; the slider is the threshold of ink."""
    frames = {}
    for threshold, (k, curve) in ours.items():
        place = {"label_at": 0.75, "side": "top left"}
        lines = [
            Curve(x=grid, y=ceiling, label="Theorem 9", role="wrong", **place),
            Curve(
                x=grid, y=worst, label="bad case", role="other", label_at=0.2, side="bottom right"
            ),
            Curve(x=grid, y=curve, label="digits", label_at=0.1, side="bottom right"),
        ]
        at_64 = curve[np.searchsorted(grid, 64)]
        title = f"Ink above {threshold:g}: {k} others heavy, at order 64 {at_64:.3g}"
        axes = {"x": "order α", "y": "Rényi divergence (nats)", "log_x": True, "log_y": True}
        frames[f"{threshold:g}"] = curves(lines, title=title, y_range=(1e-5, 1e3), **axes)
    words = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="ink", start=2), f"All frames. {words}.")
