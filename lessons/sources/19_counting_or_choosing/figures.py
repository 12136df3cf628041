"""The pictures of lesson 19. The second one names squares with the student's function."""

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace

from dplearn.datasets import digits
from dplearn.teaching.book import (
    gumbel_max_probability,
    permute_and_flip_probability,
    sparse_vector_split,
)
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, Dot, curves, slider
from dplearn.teaching.figures.drawings import Sheet, arrow, circle, lettering, rectangle

BLUE, RED, GREY = "#0072b2", "#d55e00", "#8a8a8a"
_INKED = digits()[0].reshape(-1, 64) >= 0.5
_COUNTS = _INKED.sum(axis=0)
_BEST = np.argsort(-_COUNTS)


def _field(left, fills, edges):
    """Return sixty-four squares of the given colours."""
    at = [(left + 20 * (i % 8), 66 + 20 * (i // 8)) for i in range(64)]
    return [rectangle(*at[i], 18, 18, edge=edges[i], fill=fills[i]) for i in range(64)]


def _shades(values):
    """Return a grey for each value, darker for larger values."""
    grey = np.rint(255 - 175 * np.asarray(values) / np.max(values)).astype(int)
    return [f"rgb({v},{v},{v})" for v in grey]


def one_name():
    """Draw Anna's digit, the counts that it changes, and what is published."""
    hers = _INKED[0]
    shapes = _field(40, [BLUE if i else "white" for i in hers], [GREY] * 64)
    shapes += _field(290, _shades(_COUNTS), [RED if i else GREY for i in hers])
    shapes += _field(540, [RED if i == _BEST[0] else "white" for i in range(64)], [GREY] * 64)
    shapes += [arrow((200, 136), (270, 136)), arrow((450, 136), (520, 136))]
    shapes += [lettering(235, 124, "adds up", size=13), lettering(485, 124, "+ noise", size=13)]
    notes = (
        f"Anna inks {hers.sum()} squares",
        f"{hers.sum()} of 64 counts move",
        "one name is published",
    )
    shapes += [lettering(110 + 250 * i, 240, note) for i, note in enumerate(notes)]
    moving = Sheet(720, 262, "Many counts move, one name leaves", shapes)
    moves = f"inks {hers.sum()} of 64 squares, which changes {hers.sum()} counts"
    show(moving, f"Anna's digit {moves}; one square is named.")


def two_scales(winner):
    """Draw which squares the student's function names, with much noise and with little."""
    winner, rng, shapes, found = yours("19.1", winner), np.random.default_rng(1), [], []
    edges = [RED if i == _BEST[0] else GREY for i in range(64)]
    for left, scale in ((120, 64), (440, 1)):
        noise = rng.laplace(scale=scale, size=(1000, 64))
        named = [np.ravel(winner(_COUNTS.tolist(), each.tolist()))[0] for each in noise]
        often = np.bincount(named, minlength=64)
        found.append(f"scale {scale}: right in {often[_BEST[0]] / 10:.1f} %")
        shapes += _field(left, _shades(often), edges)
        shapes.append(lettering(left + 80, 240, found[-1]))
    title = "A thousand winners: dark squares are named often, the right one is red"
    show(Sheet(720, 262, title, shapes), f"1000 runs each; {'; '.join(found)}.")


def chance_right(law):
    """Return the chance that the largest count wins after noise of a law on every count."""
    lead = _COUNTS[_BEST[0]] - _COUNTS[_BEST[1:]]
    others_below = lambda t: np.prod(law.cdf(law.ppf(t) + lead))
    return quad(others_below, 0, 1, epsabs=1e-10, epsrel=1e-9, limit=300)[0]


def right_square():
    """Draw the chance that the right square is named; return those of three ways."""
    grid, top = np.geomspace(0.01, 10, 13), _COUNTS[_BEST].astype(float)
    flips = [permute_and_flip_probability(scores=top, scale=1 / e) for e in grid]
    softmax = [gumbel_max_probability(scores=top, scale=1 / e) for e in grid]
    noisy = [chance_right(laplace(scale=1 / e)) for e in grid]
    every = [chance_right(laplace(scale=64 / e)) for e in grid]
    below = "bottom right"
    lines = [
        Curve(x=grid, y=flips, label="permute-and-flip", label_at=0.42, side="top left"),
        Curve(x=grid, y=noisy, label="Laplace", role="second", label_at=0.25, side=below),
        Curve(x=grid, y=softmax, label="exponential", role="third", label_at=0.67, side=below),
        Curve(x=grid, y=every, label="all 64", role="wrong", label_at=0.7, side=below),
    ]
    title = "One name needs the noise of one count"
    picture = curves(lines, title=title, x="ε", y="right square named", log_x=True)
    at = f"a winner is right with {noisy[4]:.2f}, all 64 published with {every[4]:.2f}"
    show(picture, f"At epsilon {grid[4]:.2g} {at}.")
    return np.array(flips), np.array(softmax), np.array(noisy), np.array(every)


def lifted():
    """Draw why all noes of a sparse vector are protected by the noise on the threshold."""
    depths = [62, 34, 84, 22, 52, 30, 74, 44, -14]
    rises = [1, 0.5, 0, 1, 0.5, 1, 0, 1, 0]
    shapes, unit = [], 24
    for left, raised in ((40, 0), (400, 1)):
        level = 150 - unit * raised
        shapes.append(arrow((left - 14, level), (left + 270, level), colour=RED, dash="6 4"))
        for i, (depth, rise) in enumerate(zip(depths, rises, strict=True)):
            x, y = left + 30 * i, 150 + depth
            if raised and rise:
                shapes.append(circle(x, y, 6, edge="#d0d0d0"))
            yes = "none" if depth > 0 else BLUE
            shapes.append(circle(x, y - unit * rise * raised, 6, edge=BLUE, fill=yes))
    shapes += [arrow((640, 136), (640, 104), colour=BLUE, dash="4 3")]
    shapes += [arrow((640, 110), (640, 102), colour=BLUE)]
    shapes += [lettering(165, 66, "without Anna: eight noes, then a yes", size=14)]
    shapes += [lettering(520, 66, "with her: each answer rises by 1 at most", size=14)]
    shapes += [lettering(165, 262, "threshold plus noise, dashed", size=14, colour=RED)]
    shapes += [lettering(500, 262, "the line raised by 1: 1/b₁, once", size=14, colour=RED)]
    shapes += [lettering(655, 142, "1/b₂", size=14, colour=BLUE, anchor="start")]
    words = "Nine answers: 8 noes stay below the line raised by 1; the yes needs noise of its own."
    show(Sheet(720, 280, "Lift the line, and every no stays a no", shapes), words)


def _deviation(share, c):
    """Return the deviation of the noise if the threshold gets this share of epsilon."""
    return np.sqrt(2 * (1 / share) ** 2 + 2 * (c / (1 - share)) ** 2)


def splits():
    """Draw the noise of a sparse vector for every split of epsilon; the slider is c."""
    share, frames = np.linspace(0.05, 0.9, 86), {}
    axes = {"x": "ε₁, share of the threshold", "y": "deviation of the noise (people)"}
    for c in (1, 2, 5, 10, 20):
        ratio = sparse_vector_split(positives=c, monotone=True)
        best = 1 / (1 + ratio)
        narrow, wide = _deviation(best, c), _deviation(0.5, c)
        marks = [
            Dot(x=0.5, y=wide, label="halves", role="quiet", side="bottom right"),
            Dot(x=best, y=narrow, label="best split", side="bottom center"),
        ]
        title = f"c = {c}, ratio {ratio:.3g}: deviation {narrow:.3g} instead of {wide:.3g} people"
        line = Curve(x=share, y=_deviation(share, c), label="")
        frames[str(c)] = curves(
            [line], marks=marks, title=title, **axes, log_y=True, y_range=(2.5, 300)
        )
    texts = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="c", start=2), f"All frames. {texts}.")
