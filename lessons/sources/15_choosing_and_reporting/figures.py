"""The pictures of lesson 15. One of them shows beliefs by the student's function."""

import numpy as np

from dplearn import DPSGD
from dplearn.teaching.choosing import readings
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, Dot, curves, flow, ladder, number_line, slider

RUN = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80)
PLANNED = RUN.guarantee(delta=1e-4)


def in_print():
    """Draw four published epsilons and that of the school's run."""
    told = {"US broadband": 0.2, "Wikimedia, a day": 0.72, "our run": PLANNED.epsilon}
    told |= {"US census 2020": 17.14, "Apple, a month": 120.0}
    words = "; ".join(f"{name} {epsilon:.3g}" for name, epsilon in told.items())
    figure = number_line(told, title="Five ε in print: which of them is a strong promise?")
    figure.update_layout(height=200)
    show(figure, f"Epsilon, {words}. The plan of our run says {PLANNED}.")


def beliefs(believed):
    """Draw the largest belief after a release against epsilon, by the student's function."""
    believed, epsilon = yours("15.1", believed), np.linspace(0, 8, 81)
    lines, dots, told = [], [], []
    for prior, at in {0.01: 0.75, 0.1: 0.32, 0.5: 0.15}.items():
        name = {"label": f"from {100 * prior:.0f} %", "label_at": at, "side": "bottom right"}
        heights = [100 * believed(prior, e) for e in epsilon]
        lines.append(Curve(x=epsilon, y=heights, **name))
        now = 100 * believed(prior, PLANNED.epsilon)
        dots.append(Dot(x=PLANNED.epsilon, y=now, label=""))
        told.append(f"{100 * prior:.0f} % to {now:.1f} %")
    title = f"At ε = 3.03 a belief grows from {told[0]} at most"
    axes = {"x": "ε of the release, δ = 0", "y": "belief afterwards, at most (%)"}
    figure = curves(lines, marks=dots, title=title, y_range=(0, 105), **axes)
    show(figure.update_layout(height=320), f"Beliefs at epsilon 3.03: {', '.join(told)}.")


def nine(records):
    """Draw nine readings of the run; return them by what they assume."""
    told = readings(RUN, delta=1e-4, records=records, of_one=110)
    values = ", ".join(f"{name} {g.epsilon:.4g}" for name, g in told.items())
    picture = ladder(told, title="One run, nine honest numbers")
    lower, upper = picture.layout.xaxis.range
    picture.update_xaxes(range=(lower, upper + 0.6))  # room for the last number on a telephone
    show(picture, f"Epsilon by reading, from top to bottom: {values}.")
    return told


def six_questions():
    """Draw the six questions that a privacy statement answers."""
    promise = ["whose data?\nunit, neighbours", "for how long?\nperiod", "with which δ?"]
    deed = ["how were lots\nreally drawn?", "how were settings\nchosen?"]
    deed += ["which accountant?\nbound or guess"]
    arrows = [(box, "ε") for box in promise + deed] + [("ε", "odds of\nan attacker")]
    drawn = flow(
        [promise + deed, ["ε"], ["odds of\nan attacker"]],
        arrows,
        title="Six questions to ask before anybody says ε",
        strong=["ε", "odds of\nan attacker"],
    )
    show(drawn, "6 boxes lead to epsilon, and epsilon to the odds of 1 attacker.")


def knee(rehearsed, wanted):
    """Draw the accuracy of a rehearsal against epsilon; the slider is the number of people."""
    frames, axes = {}, {"x": "ε", "y": "accuracy in percent", "log_x": True, "y_range": (0, 100)}
    for count, points in rehearsed.items():
        shares = [100 * point.mean for point in points]
        line = Curve(x=wanted, y=shares, label="drawn digits", label_at=0.5, side="bottom right")
        title = f"{count} people: {shares[1]:.0f} % at ε = 0.3, {shares[2]:.0f} % at 1"
        frames[str(count)] = curves([line], title=title, **axes)
    words = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="people", start=1), f"All frames. {words}.")
