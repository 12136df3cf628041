"""The pictures of lesson 12. One of them counts votes with the student's function."""

import numpy as np
from scipy.stats import norm

from dplearn.core.guarantee import round_up
from dplearn.pate import PATE, shipped_votes
from dplearn.teaching.book import gnmax_data_dependent_rdp, gnmax_flip_bound, gnmax_rdp
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, crowd, curves, slider


def hands():
    """Draw two votes of 25 teachers."""
    any_votes = round_up(PATE(answers=1000, noise_std=40).guarantee(delta=1e-5).epsilon)
    groups = [("a clear seven", 25, 24), ("a seven or a one?", 25, 13)]
    drawn = crowd(groups, title="Filled: votes for 7. Open: votes for 1. One hand moves.")
    words = "Two votes of 25 teachers: 24 agree on the first question, 13 on the second."
    show(drawn, f"{words} Epsilon of 1000 answers, for any votes: {any_votes}.")


def lead(noisy_winner):
    """Draw how often the favourite of the student's function wins against its lead."""
    function, rng = yours("12.1", noisy_winner), np.random.default_rng(3)
    gaps, line, won = np.arange(0, 241, 20), np.linspace(0, 240, 121), []
    for gap in gaps:
        votes = [0] * (125 + gap // 2) + [1] * (125 - gap // 2)
        noise = 40 * rng.standard_normal((400, 2))
        won.append(np.mean([function(votes, each.tolist()) == 0 for each in noise]))
    exact = norm.cdf(line / (40 * np.sqrt(2)))
    name = {"yours": "your function", "ours": "400 votes"}[function.whose]
    lines = [
        Curve(x=line, y=exact, label="exact", role="quiet", label_at=0.35, side="top left"),
        Curve(x=gaps, y=won, label=name, label_at=0.55, side="bottom right"),
    ]
    title = "One vote changes little where the lead is large"
    axes = {"x": "lead of the favourite, of 250 votes", "y": "favourite wins"}
    figure = curves(lines, title=title, y_range=(0.4, 1.05), **axes).update_layout(height=320)
    words = f"with a lead of 0 {exact[0]:.3f}, of 100 {exact[50]:.3f}, of 200 {exact[100]:.5f}"
    show(figure, f"Chance that the favourite wins under noise 40: {words}.")


def theorem(counts, order, noise_std=40.0):
    """Return the divergence that Theorem 6 proves at these votes."""
    flip = gnmax_flip_bound(votes=counts, noise_std=noise_std)
    return gnmax_data_dependent_rdp(order=order, noise_std=noise_std, flip=flip)


def against_the_gap(exact):
    """Draw three divergences against the gap; return the exact one and that of Theorem 6."""
    gaps = np.arange(0, 251, 10)
    rows = [[(250 + gap) // 2, (250 - gap) // 2] for gap in gaps]
    truth, proved = ([f(row, 10.0) for row in rows] for f in (exact, theorem))
    level = np.full(gaps.size, gnmax_rdp(order=10.0, noise_std=40.0))
    lines = [
        Curve(x=gaps, y=level, label="any votes", role="safe", label_at=0.9, side="top left"),
        Curve(x=gaps, y=proved, label="Theorem 6", role="guess", label_at=0.6, side="top right"),
        Curve(x=gaps, y=truth, label="exact", label_at=0.45, side="bottom left"),
    ]
    title = "The more the teachers agree, the less the winner tells"
    axes = {"x": "gap between the counts", "y": "divergence of order 10"}
    ends = f"At gap 0 the exact divergence is {truth[0]:.5f}, at gap 250 it is {truth[-1]:.2g}."
    show(curves(lines, title=title, log_y=True, **axes), ends)
    return np.array(truth), np.array(proved)


def answers(printed):
    """Draw epsilon against the number of answers; the slider is the noise."""
    votes, frames = shipped_votes(250)[0], {}
    given = np.array([10, 30, 100, 200, 300])
    axes = {"x": "answers", "y": "ε", "log_x": True, "log_y": True, "y_range": (0.02, 30)}
    for noise in (10, 20, 40, 80, 160):
        plans = [PATE(answers=int(n), noise_std=noise) for n in given]
        public = [p.guarantee(delta=1e-5).epsilon for p in plans]
        cheap = [printed(votes.first(p.answers), noise) for p in plans]
        lines = [
            Curve(x=given, y=public, label="any votes", role="safe", label_at=0.75,
                  side="top left"),
            Curve(x=given, y=cheap, label="Theorem 6", role="guess", dash="dash", label_at=0.75,
                  side="bottom right"),
        ]  # fmt: skip
        title = f"Noise {noise:g}: 300 answers cost {public[-1]:.3g}, by Theorem 6 {cheap[-1]:.3g}"
        frames[f"{noise:g}"] = curves(lines, title=title, **axes)
    words = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="σ", start=2), f"All frames. {words}.")
