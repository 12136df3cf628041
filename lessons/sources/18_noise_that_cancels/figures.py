"""The pictures of lesson 18. Those that take `evening` are drawn from the student's function."""

import numpy as np
import plotly.graph_objects as go

from dplearn import ACCOUNTANTS, Gaussian
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, Dot, curves, panels, slider
from dplearn.teaching.figures.kit.template import INK, colour_of

EVENINGS, NOISE, WEEK = 64, 4.0, 8
NIGHTS = np.arange(1, EVENINGS + 1)
_NAMES = {"yours": "your function", "ours": "taken back"}


def noise_matrix(evening, share, evenings=EVENINGS):
    """Return the inverse of the strategy: column i is `evening` of a draw in evening i only."""
    return np.array([evening(list(draw), share) for draw in np.eye(evenings)]).T


def sizes(matrix):
    """Return the length of each row of A M, and of each column of M's inverse."""
    kept = np.cumsum(matrix, axis=0)
    return np.linalg.norm(kept, axis=1), np.linalg.norm(np.linalg.inv(matrix), axis=0)


def _two_ways():
    return [
        Curve(x=NIGHTS, y=np.full(EVENINGS, 8 * NOISE), label="fresh noise", role="quiet",
              label_at=0.35, side="top center"),
        Curve(x=NIGHTS, y=NOISE * np.sqrt(NIGHTS), label="added up", role="second",
              label_at=0.35, side="top left"),
    ]  # fmt: skip


def _errors(lines, title):
    figure = curves(lines, title=title, x="evening", y="standard deviation", y_range=(0.0, 36.0))
    return figure.update_layout(height=320)


def two_ways():
    """Draw the errors of the totals, for fresh noise and for noise on every evening."""
    promise = ACCOUNTANTS["pld"]().epsilon(Gaussian(NOISE), delta=1e-4)
    words = "Standard deviation of the last total: 32 pupils, either way."
    figure = _errors(_two_ways(), "How wrong is each total? Two ways with the same promise")
    figure.update_layout(height=270)  # the cell to fill in stays on the first screen
    show(figure, f"{words} For all 64 totals together, {promise}.")


def three_ways(evening):
    """Draw the same picture with the totals of the student's noise, for the same promise."""
    evening = yours("18.1", evening)
    rows, columns = sizes(noise_matrix(evening, 0.5))
    every = NOISE * columns.max() * rows
    own = Curve(x=NIGHTS, y=every, label=_NAMES[evening.whose], label_at=0.6, side="bottom right")
    figure = _errors(
        [*_two_ways(), own], f"Half taken back: the worst total has {every.max():.1f} pupils"
    )
    words = f"Standard deviation of the first total {every[0]:.2f} pupils, of the last"
    show(figure, f"{words} {every[-1]:.2f}, in place of 32.")


def _grid(matrix, title, role, *, x, y):
    """Draw a matrix as coloured squares with its numbers."""
    size = len(matrix)
    names = np.arange(1, size + 1)
    words = [
        [f"{x:.2f}".rstrip("0").rstrip(".") if x > 0.005 else "" for x in line] for line in matrix
    ]
    squares = go.Heatmap(
        x=names, y=names, z=np.round(matrix, 4), zmin=0, zmax=1.4,
        text=words, texttemplate="%{text}", textfont={"size": 11, "color": INK},
        colorscale=[[0, "#ffffff"], [1, colour_of(role)]],
        showscale=False, xgap=1, ygap=1, hovertemplate="%{z}<extra></extra>",
    )  # fmt: skip
    plain = {"showgrid": False, "showline": False, "ticks": "", "fixedrange": True}
    layout = {
        "title": {"text": title},
        "xaxis": plain | {"dtick": 1, "title": {"text": x}},
        "yaxis": plain | {"dtick": 1, "title": {"text": y}, "range": [size + 0.55, 0.45]},
    }
    return go.Figure(data=[squares], layout=layout)


def _pair(matrix, title):
    """Draw what totals keep of each draw, and how Anna shows when the noise is undone."""
    kept, seen = np.cumsum(matrix, axis=0), np.linalg.inv(matrix)
    left = _grid(
        kept, "A C<sup>−1</sup>: a row is the noise of a total", "exact", x="draw", y="total"
    )
    right = _grid(seen, "C: a column is what Anna moves", "third", x="evening of her illness", y="")
    figure = panels(left, right, title=title)
    frame = {"type": "rect", "layer": "above", "line": {"color": INK, "width": 2.5}}
    last, ends = len(matrix), (0.5, len(matrix) + 0.5)
    row = frame | {"x0": ends[0], "x1": ends[1], "y0": last - 0.5, "y1": last + 0.5}
    column = frame | {
        "x0": 0.5,
        "x1": 1.5,
        "y0": ends[0],
        "y1": ends[1],
        "xref": "x2",
        "yref": "y2",
    }
    # `panels` would place shapes in shares of a panel: these are in its data.
    figure.add_shape(row)
    figure.add_shape(column)
    return figure.update_layout(height=400, margin_r=30)


def matrices(evening):
    """Draw both matrices of the student's noise for eight evenings; the slider is the share."""
    evening, frames, told = yours("18.1", evening), {}, []
    for share in (0, 0.25, 0.5, 0.75, 0.9):
        matrix = noise_matrix(evening, share, WEEK)
        row, column = (lengths.max() for lengths in sizes(matrix))
        title = f"Framed row {row:.2f} × framed column {column:.2f} = {row * column:.2f}"
        frames[f"{share:g}"] = _pair(matrix, title)
        told.append(f"at λ = {share:g} row {row:.2f}, column {column:.2f}")
    show(slider(frames, name="λ", start=2), f"Eight evenings: {'; '.join(told)}.")


def best_share(evening):
    """Draw the noise of the worst total against the share that is taken back."""
    evening, shares = yours("18.1", evening), np.linspace(0, 0.99, 100)
    every = [sizes(noise_matrix(evening, share)) for share in shares]
    worst = np.array([NOISE * rows.max() * columns.max() for rows, columns in every])
    best = int(np.argmin(worst))
    lowest = Dot(x=shares[best], y=worst[best], label=f"{worst[best]:.2f}", side="bottom center")
    figure = curves(
        [
            Curve(x=shares, y=np.full(len(shares), 32.0), label="no memory", role="quiet",
                  label_at=0.6, side="top center"),
            Curve(x=shares, y=worst, label=_NAMES[evening.whose], label_at=0.4, side="top right"),
        ],
        marks=[lowest],
        title=f"The worst total is smallest at λ = {shares[best]:.2f}",
        x="share that is taken back, λ",
        y="worst total, pupils",
        y_range=(0.0, 36.0),
    )  # fmt: skip
    half = worst[np.argmin(np.abs(shares - 0.5))]
    show(figure, f"Worst total: 32.00 at share 0, {half:.2f} at a half, {worst[best]:.2f} at best.")


def root_matrices(column):
    """Draw the root: its rows are as long as its columns."""
    root = sum(part * np.eye(WEEK, k=-j) for j, part in enumerate(column[:WEEK]))
    rows, columns = sizes(np.linalg.inv(root))
    row, column = rows.max(), columns.max()
    title = f"The root: row {row:.2f} × column {column:.2f} = {row * column:.2f}"
    show(_pair(np.linalg.inv(root), title), f"Eight evenings. {title}.")
