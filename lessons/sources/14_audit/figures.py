"""The pictures of lesson 14, and the four programs that it audits.

One picture shows chances by the student's function.
"""

import numpy as np

from dplearn import DPSGD, smallest_noise_multiplier
from dplearn.audit import one_run
from dplearn.datasets import digits, school, split
from dplearn.mechanisms import Gaussian
from dplearn.teaching.browser import attack_page
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Bars, Curve, curves, images, panels, slider

PUPILS, HELD_OUT = school(), split(digits(), validation=0)[2]
X, Y = PUPILS.images.reshape(-1, 64), np.eye(10)[PUPILS.digit]
PLAN = DPSGD(noise_multiplier=8.795, sample_rate=1, steps=40, max_grad_norm=4.0, sampling="none")
NOISE = {1: 4 * 8.795 / len(X), 2: 4 * 8.795, 3: 8.795, 4: 4 * 8.795}


def train(included, program, pull=40.0):
    """Train by one of the programs; return what its network misreads, and a score per canary."""
    rng, weights, scores = np.random.default_rng(15), np.zeros((64, 10)), 0.0
    longest = np.inf if program == 4 else PLAN.max_grad_norm
    for _ in range(PLAN.steps):
        error = np.exp(X @ weights)
        error = error / error.sum(axis=1, keepdims=True) - Y
        lengths = np.linalg.norm(error, axis=1) * np.linalg.norm(X, axis=1)
        known = X.T @ (error * np.minimum(1, longest / lengths)[:, None])
        canaries = min(pull, longest) * included.reshape(64, 10)
        noisy = known + canaries + NOISE[program] * rng.standard_normal((64, 10))
        weights, scores = weights - 4.0 * noisy / len(X), scores + noisy - known
    read = (HELD_OUT.images.reshape(-1, 64) @ weights).argmax(axis=1)
    return 100 * np.mean(read != HELD_OUT.labels), scores.ravel()


def misread():
    """Draw how many unseen digits each program's network misreads; return it by program."""
    nobody = np.zeros(640, dtype=bool)
    misread = {program: train(nobody, program)[0] for program in NOISE}
    figure = curves(
        [
            Bars(x=[program], y=[errors], label=f"{errors:.1f}", side="top center", width=0.6)
            for program, errors in misread.items()
        ],
        title="Four programs, one report: ε = 3",
        x="program",
        y="misread, of 100",
        y_range=(0, 11),
    )
    words = ", ".join(f"{errors:.1f} by program {k}" for k, errors in misread.items())
    figure.update_xaxes(tickvals=list(misread))
    figure.update_layout(height=210)
    show(figure, f"Networks of {len(X)} pupils. Of 100 unseen digits are misread: {words}.")
    return misread


def chances(all_right):
    """Draw the chance that all guesses are right at two values of epsilon."""
    all_right, counts = yours("14.1", all_right), np.arange(1, 71)
    lines, told = [], []
    for epsilon, role in ((1, "second"), (2, "exact")):
        chance = np.array([all_right(epsilon, int(n)) for n in counts])
        told.append(f"{counts[chance < 1e-3][0]} at ε = {epsilon}")
        lines.append(
            Curve(
                x=counts,
                y=chance,
                label=f"ε = {epsilon}",
                role=role,
                label_at=0.4,
                side="top right",
            )
        )
    once = np.full(counts.size, 1e-3)
    line = Curve(
        x=counts, y=once, label="1 in 1,000", role="quiet", label_at=0.6, side="bottom center"
    )
    title = f"Refuted at 99.9 %: after {told[0]}, after {told[1]}"
    axes = {"x": "right guesses in a row", "y": "chance, at most", "log_y": True}
    figure = curves([line, *lines], title=title, y_range=(1e-6, 1), **axes)
    show(figure.update_layout(height=320), f"{title}.")


def attack():
    """Show the page on which one honest program is attacked."""
    words = "1,438 people, 200 of them by a coin; proved: ε ≤ 2.98. Nothing is attacked yet."
    show(attack_page(), words)


def hills(runs, included):
    """Draw the scores of two programs, by how the coins fell."""
    both, words = [], []
    for program, span, most in ((2, (-700, 900), 45), (3, (-250, 450), 60)):
        bins, scores = np.linspace(*span, 41), runs[program][1]
        sides = {
            "left out": (scores[~included], "quiet", "top left"),
            "included": (scores[included], "exact", "top right"),
        }
        bars, middle = [], (bins[1:] + bins[:-1]) / 2
        for name, (part, role, side) in sides.items():
            counted = np.histogram(part, bins)[0]
            at = np.argmax(counted) / 39
            bars.append(Bars(x=middle, y=counted, label=name, role=role, label_at=at, side=side))
        axes = {"x": "score", "y": "canaries", "y_range": (0, most)}
        both.append(curves(bars, title=f"Program {program}", **axes))
        apart = scores[included].mean() - scores[~included].mean()
        words.append(f"{apart:.0f} apart and {scores[~included].std():.0f} wide")
    figure = panels(*both, title="640 scores, by how the coin fell")
    show(figure, f"Two hills each: of program 2 {words[0]}, of program 3 {words[1]}.")


def canaries():
    """Draw what one run proves against the truth; the slider is the number of canaries."""
    true = np.array([0.5, 1, 2, 3, 4, 6, 8, 12])
    widths = [
        smallest_noise_multiplier(Gaussian(1.0), epsilon=float(e), delta=1e-5).value for e in true
    ]
    frames = {str(m): _proved(m, true, widths) for m in (50, 200, 1000, 5000, 20_000)}
    words = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="m", start=2), f"All frames. {words}.")


def _proved(canaries, true, widths):
    coins, draws = np.random.default_rng(3).random((2, canaries)), np.random.default_rng(4)
    here, z = coins[0] < 0.5, draws.standard_normal(canaries)
    each = {"guesses": (min(canaries // 10, 150),) * 2, "delta": 1e-5}
    lines = [Curve(x=true, y=true, label="truth", role="quiet", label_at=0.62, side="top left")]
    for assume, role, side in (("gaussian", "exact", "top left"), ("any", "guess", "bottom right")):
        proved = [one_run(here, here / w + z, **each, assume=assume).epsilon for w in widths]
        name = "Gaussian noise presumed" if assume == "gaussian" else "nothing presumed"
        lines.append(Curve(x=true, y=proved, label=name, role=role, label_at=0.85, side=side))
    presumed, plain = (line.y[5] for line in lines[1:])
    proofs = f"{plain:.2g}, and {presumed:.2g} of a Gaussian"
    title = f"{canaries} canaries: of a true ε of 6, one run proves {proofs}"
    return curves(lines, title=title, x="true ε", y="proved ε", y_range=(0, 12))


def gradient():
    """Draw Anna's digit, and what one coordinate of a sum shows of it with and without noise."""
    anna = PUPILS.anna
    hers = np.outer(X[anna], np.full(10, 0.1) - Y[anna])
    hers = hers * min(1, PLAN.max_grad_norm / np.linalg.norm(hers))
    column, drawn = int(Y[anna].argmax()), np.random.default_rng(2).standard_normal((64, 10))
    shown = {"her digit": X[anna].reshape(8, 8)}
    for sigma in (0, 8.795):
        seen = -(hers + sigma * PLAN.max_grad_norm * drawn)[:, column].reshape(8, 8)
        shown[f"σ = {sigma:g}"] = (seen - seen.min()) / (seen.max() - seen.min())
    picture = images(shown, title="1438 gradients less 1437")
    show(picture, "Her digit; the same without noise; only specks at noise 8.795.")
