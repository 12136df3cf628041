"""The pictures of appendix 90."""

import numpy as np

from dplearn.teaching.classroom import show
from dplearn.teaching.figures import Band, Curve, curves, panels, slider


def ordered(grid, five, at_2):
    """Draw the profiles of three laws after five steps; `at_2` has their values at 2."""
    lines = [
        Curve(x=grid, y=five[2], label="above", role="second", label_at=0.62),
        Curve(x=grid, y=five[1], label="truth", label_at=0.5, side="top right"),
        Curve(x=grid, y=five[0], label="below", role="other", label_at=0.6, side="bottom left"),
    ]
    title = "What was ordered for one step is ordered for five"
    figure = curves(lines, title=title, x="ε (nats)", y="δ after five steps")
    show(figure, f"delta(2) after five steps: {at_2[0]:.4f}, {at_2[1]:.4f}, {at_2[2]:.4f}.")


def longer_period(periods, aliases, bounds):
    """Draw the aliases, as shares of delta, and their bound against the period."""
    lines = [
        Curve(x=periods, y=bounds, label="bound", role="third", label_at=0),
        Curve(x=periods, y=aliases, label="aliases", label_at=0.6, side="top right"),
    ]
    title = "A longer period buys exponentially smaller aliases"
    figure = curves(lines, title=title, x="period Λ (nats)", y="aliases / δ(2)", log_y=True)
    shown = f"{aliases[0]:.3g} at P = 2, {aliases[-1]:.3g} at P = 12"
    show(figure, f"Aliases relative to delta: {shown}; the bound is above.")


def bells(integrand, truth):
    """Draw the integrand, relative to its peak, behind a slider for lambda."""
    t, frames, lost = np.linspace(0, 4, 241), {}, {}
    for lam in (0.5, 1, 2, 3, 4, 6, 8, 10, 11, 12, 14, 17, 20):
        name, height = f"{lam:g}", integrand(t, lam)
        lost[name] = np.log10(height[0] / truth)
        times = f"peak {height[0] / truth:.2g} × the answer"
        title = f"λ = {name}: {times}, {max(lost[name], 0):.0f} digits cancel"
        axes = {"x": "t", "y": "integrand / peak", "y_range": (-1.05, 1.05)}
        frames[name] = curves([Curve(x=t, y=height / height[0], label="")], title=title, **axes)
    words = ", ".join(f"{lost[name]:.1f} at {name}" for name in ("0.5", "4", "11", "20"))
    show(slider(frames, name="λ", start=8), f"Digits that cancel, by lambda: {words}.")


def nodes(many, seen, bound):
    """Draw the error of the transform and its bound against the number of nodes."""
    lines = [
        Curve(x=many, y=bound, label="bound", role="third", side="top right"),
        Curve(x=many, y=seen, label="error"),
    ]
    title = "Twice the nodes, nearly four times the digits"
    axes = {"x": "nodes on an interval of length 36", "y": "relative error of M(1.5)"}
    figure = curves(lines, title=title, log_y=True, **axes)
    words = f"At {many[-1]:.0f} nodes the error is {seen[-1]:.0e}, the bound {bound[-1]:.0e}."
    show(figure, words)


def rest_of_the_line(t, power, bound):
    """Draw the power of the transform, and its bound, along the line."""
    lines = [
        Curve(x=t, y=bound, label="bound B", role="third"),
        Curve(x=t, y=power, label="power |M|"),
    ]
    title = "The bound decreases, so it holds for the whole rest of the line"
    figure = curves(lines, title=title, x="t", y="T-th power, relative to t = 0", log_y=True)
    show(figure, f"At t = 4 the power is {power[-1]:.3g}, its bound {bound[-1]:.3g}.")


def polygons(of_mesh, x, curve, gaps, words):
    """Draw the two polygons of a mesh, and the distances of two meshes from the profile."""
    corners = np.exp(of_mesh(0.8, x)[0])
    corners = np.append(0, corners[corners < 5])
    _, upper, lower = of_mesh(0.8, corners)
    look, last = {"width": 1.6, "corners": True}, corners.size - 1
    above = {"role": "rdp", "label_at": 1 - 3 / last, "side": "top right"}
    below = {"role": "other", "label_at": 1 - 1 / last, "side": "bottom left"}
    left = [
        Band(x=corners, lower=lower, upper=upper, label=""),
        Curve(x=corners, y=upper, label="chords", **above, **look),
        Curve(x=corners, y=lower, label="moved cells", **below, **look),
        Curve(x=x, y=curve, label="truth", label_at=0.05),
    ]
    right = [Curve(x=x, y=0 * x, label="", role="quiet")]
    for width, (mesh, pair) in zip((2.6, 1.6), gaps.items(), strict=True):
        for gap, role in zip(pair, ("rdp", "other"), strict=True):
            right.append(Curve(x=x, y=gap, label=mesh, role=role, width=width))
    both = {"title": "", "x": "e<sup>ε</sup>", "x_range": (0, 4)}
    pair = curves(left, y="δ", **both), curves(right, y="distance from the truth", **both)
    title = "Two polygons hug the profile; half the mesh, a quarter of the gap"
    show(panels(*pair, title=title), f"Largest distance from the profile. {words}.")


def slopes(meshes, width, slope):
    """Draw how far apart the two ends of three brackets are, against the mesh."""
    lines = [
        Curve(x=meshes, y=width["atoms between"], label="atoms between", role="wrong", label_at=0),
        Curve(x=meshes, y=width["Gaussian"], label="Gaussian", label_at=0),
        Curve(
            x=meshes, y=width["atoms on nodes"], label="atoms on nodes", role="other", label_at=0
        ),
    ]
    title = "Slope 2, but slope 1 where an atom falls between two nodes"
    axes = {"x": "cell width h (nats)", "y": "upper − lower end of ε (nats)"}
    figure = curves(lines, title=title, log_x=True, log_y=True, **axes)
    words = ", ".join(f"{name} {value:.2f}" for name, value in slope.items())
    show(figure, f"Slopes: {words}.")


def distances(meshes, ends):
    """Draw how far the ends of both brackets are from the truth, against the mesh."""
    lines = [Curve(x=meshes, y=y, label=n, role=role, label_at=0) for n, (y, role) in ends.items()]
    title = "Both brackets close on the truth, one by mesh, one at once"
    axes = {"x": "cell width h (nats)", "y": "distance from the true ε (nats)"}
    above, below = (ends[f"lattice, {side}"][0][-1] for side in ("above", "below"))
    words = f"lattice {above:.1e} above, {below:.1e} below"
    figure = curves(lines, title=title, log_x=True, log_y=True, **axes)
    show(figure, f"Distance from 8.2792906 on the finest mesh: {words}.")
