"""The pictures of appendix 91. One of them takes rate and steps from the student's function."""

import numpy as np

from dplearn import DPSGD
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, curves, flow, slider


def calls():
    """Draw three calls of a script with Opacus, and what becomes of each."""
    theirs = ["make_private(\nnoise, norm)", "a loop over\nthe loader", "get_epsilon\n(delta)"]
    ours = ["DPSGD(...)\na public plan", "fit(...)", "guarantee\n(delta)"]
    ends = ["noise, norm,\nrate, steps", "a model and\nits history", "two proved\nends of ε"]
    arrows = [*zip(theirs, ours, strict=True), *zip(ours, ends, strict=True)]
    drawn = flow([theirs, ours, ends], arrows, title="Opacus, here, and what it gives", strong=ours)
    show(drawn, "3 calls of Opacus, 3 of dplearn beside them, and what each of these gives.")


def accountants(numbers, opacus_epsilon):
    """Draw Opacus' accountants against what is proved; the slider is the noise."""
    numbers, epochs = yours("91.1", numbers), [1, 2, 10, 40]
    rates, steps = zip(*(numbers(1438, 128, count) for count in epochs), strict=True)
    frames = {f"{sigma:g}": _ratios(sigma, rates[0], epochs, steps, opacus_epsilon)
              for sigma in (1.0, 2.0, 4.0)}  # fmt: skip
    words = "; ".join(figure.layout.title.text for figure in frames.values())
    show(slider(frames, name="σ", start=1), words + ".")


def _ratios(sigma, rate, epochs, steps, opacus_epsilon):
    plan = DPSGD(noise_multiplier=sigma, sample_rate=rate, steps=steps[-1])
    proved = np.array([stated.epsilon for stated in plan.guarantees(delta=1e-5, steps=steps)])
    ratio = {
        name: [opacus_epsilon(name, sigma=sigma, steps=t) for t in steps] / proved
        for name in ("rdp", "prv", "gdp")
    }
    low = {"role": "gdp", "label_at": 0.4, "side": "bottom right"}
    drawn = [
        Curve(x=epochs, y=ratio["rdp"], label="rdp", role="rdp", label_at=1),
        Curve(x=epochs, y=ratio["prv"], label="prv", role="other", label_at=1),
        Curve(x=epochs, y=ratio["gdp"], label="gdp", **low),
    ]
    said = ratio["gdp"][-1] * proved[-1]
    return curves(
        drawn,
        zone=(0, 1, "less than what is proved"),
        title=f"σ = {sigma:g}: {proved[-1]:.2f} is proved after 40 epochs; gdp says {said:.2f}",
        x="epochs",
        y="ε of Opacus / proved ε",
        log_x=True,
        x_range=(0.9, 60),
        y_range=(0, 1.6),
    )
