"""The pictures of lesson 01; the coarser table is counted by the student's function."""

import numpy as np
from scipy.stats import norm

from dplearn.datasets import school
from dplearn.teaching.classroom import guess, show, yours
from dplearn.teaching.figures import Band, Bars, Curve, Dot, crowd, curves, panels, slider

PUPILS = school()
NINE = PUPILS.age == 9
MONTH, VILLAGE = PUPILS.month[NINE], PUPILS.village[NINE]
LEVELS = [0.51, 0.53, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99]


def columns():
    """Draw the numbers of pupils who share a month, and a village."""
    births, (places, homes) = np.bincount(MONTH)[1:], np.unique(VILLAGE, return_counts=True)
    left = curves(
        [Bars(x=np.arange(1, 13), y=births, label="")],
        title="month of birth",
        x="month",
        y="pupils",
    )
    right = curves(
        [Bars(x=np.arange(6), y=homes, label="", role="other")], title="village", x="", y="pupils"
    )
    right.update_xaxes(tickvals=np.arange(6), ticktext=list(places))
    title = f"{len(MONTH)} pupils: nobody is alone in a month or in a village"
    figure = panels(left, right, title=title).update_layout(height=270)
    show(figure, f"Fewest pupils in a month: {min(births)}; fewest in a village: {min(homes)}.")


def coarser(smallest_group):
    """Draw the smallest group of the table for coarser months, with six villages and with three."""
    smallest = yours("1.1", smallest_group)
    few = np.where(np.isin(VILLAGE, ["Oak", "Yew"]), VILLAGE, "other")
    parts = (12, 6, 4, 3, 2, 1)  # groups of months in a year
    found = {}
    for name, place in (("6 villages", VILLAGE), ("3 places", few)):
        rows = [list(zip((MONTH - 1) * each // 12, place, strict=True)) for each in parts]
        found[name] = [smallest([tuple(row) for row in table]) for table in rows]
    at = np.arange(len(parts))
    look = {"width": 0.36, "side": "top center"}
    bars = [
        Bars(x=at - 0.2, y=found["6 villages"], label="6 villages", label_at=0, **look),
        Bars(x=at + 0.2, y=found["3 places"], label="3 places", label_at=1, role="other", **look),
    ]
    title = "The coarser the table, the larger its k"
    figure = curves(bars, title=title, x="a birthday is told as", y="k", y_range=(0, 14))
    names = ["month", "1/6 year", "quarter", "1/3 year", "half-year", "year"]
    figure.update_xaxes(tickvals=at, ticktext=names)
    told = "; ".join(f"with {name} {values}" for name, values in found.items())
    show(figure.update_layout(height=320), f"k for {', '.join(names)}: {told}.")


def believers():
    """Draw a hundred pupils of whom a teacher believes the same, and who of them says yes."""
    copiers, others = 25 * 0.75, 75 * 0.25
    drawing = crowd(
        [
            ("25 copied:\nabout 19 say yes", 25, round(copiers)),
            ("75 did not:\nabout 19 say yes", 75, round(others)),
        ],
        title="100 pupils like Anna, filled if the reply is yes",
    )
    alt = f"Of 100 pupils 25 copied; {copiers:g} of them say yes, and {others:g} of the 75 others."
    show(drawing, alt)


def _price(p):
    return np.log(p / (1 - p)), np.sqrt(p * (1 - p) / 1000) / (2 * p - 1)


def _coin(p):
    epsilon, error = _price(p)
    dense = _price(np.linspace(0.51, 0.99, 97))
    look = {"y": [p, 1 - p], "label_at": 0, "width": 0.36, "side": "top center"}
    did = Bars(x=[1.4, -0.2], label="she did", **look)
    did_not = Bars(x=[0.2, 1.8], label="did not", role="other", **look)
    left = curves([did, did_not], title="chance", x="reply", y="probability", y_range=(0, 1.1))
    left.update_xaxes(tickvals=[0, 1.6], ticktext=["no", "yes"])
    line, here = Curve(x=dense[0], y=dense[1], label=""), Dot(x=epsilon, y=error, label="")
    names = {"x": "ε (nats)", "y": "standard error, n = 1000"}
    right = curves([line], marks=[here], title="price", log_y=True, y_range=(0.0025, 1), **names)
    right.update_xaxes(range=[0, 5])
    words = f"p = {p:g}: ratio {p / (1 - p):.3g}, ε = {epsilon:.4g}, standard error {error:.2g}"
    return panels(left, right, title=words)


def coins():
    """Draw both replies and the price of a coin; the slider is its p."""
    frames = {f"{p:g}": _coin(p) for p in LEVELS}
    titles = [frames[p].layout.title.text for p in ("0.55", "0.75", "0.95")]
    show(slider(frames, name="p", start=6), "Three of 13 frames. " + "; ".join(titles) + ".")


def larger_crowds(cells):
    """Draw the probability of being alone in a cell against the size of the crowd."""
    sizes = np.geomspace(1, 200_000, 120)
    looks = [("exact", 0.3, "bottom left"), ("other", 0.46, "middle right")]
    looks += [("second", 0.92, "bottom left")]
    lines = []
    for (name, number), (role, place, side) in zip(cells.items(), looks, strict=True):
        alone = (1 - 1 / number) ** (sizes - 1)
        lines.append(Curve(x=sizes, y=alone, label=name, role=role, label_at=place, side=side))
    district = (1 - 1 / cells["date of birth, sex"]) ** 7999
    figure = curves(
        lines,
        marks=[
            Dot(x=64, y=27 / 64, label="our school", side="bottom left"),
            Dot(x=8000, y=district, label="district of 8000", role="second", side="bottom left"),
        ],
        title="Among thousands, date of birth and sex are almost a name",
        x="people in the crowd",
        y="share who are alone in their cell",
        log_x=True,
        x_range=(1, 200_000),
        y_range=(0, 1.05),
    )
    show(figure, f"Alone in a district of 8000 by date of birth and sex: {district:.2f}.")


def attacks(right, pupils):
    """Draw the shares that attacks rebuilt, by questions and noise, with the rule of thumb."""
    many = np.geomspace(70, 10_000, 80)
    look = {1: ("exact", 0.3), 4: ("second", 0.3), 8: ("other", 0.5), 16: ("third", 0.62)}
    lines = [
        Curve(
            x=many,
            y=norm.cdf(np.sqrt(many - pupils) / (4 * s)),
            label="noise 8 = √n" if s == 8 else f"noise {s}",
            role=role,
            label_at=place,
            side="top right" if s == 1 else "bottom right",
        )
        for s, (role, place) in look.items()
    ]
    marks = [Dot(x=k, y=y, label="", role=look[s][0]) for (k, s), y in right.items()]
    if mine := guess("secrets rebuilt"):
        place = {"x": 640, "y": mine / pupils, "side": "bottom right"}
        marks.append(Dot(label="your guess", role="guess", **place))
    figure = curves(
        lines,
        marks=marks,
        title="Ask often enough, and noise of any fixed size hides nobody",
        x="questions m, about n = 64 pupils",
        y="share of secrets recovered",
        log_x=True,
        y_range=(0.45, 1.08),
    )
    ends = ", ".join(f"{right[640, s]:.3f} at noise {s}" for s in look)
    show(figure, f"Share recovered with 640 questions: {ends}.")


def beliefs(after):
    """Draw the band of the beliefs after a reply, for every belief before."""
    before, mine = np.linspace(0.002, 0.998, 120), guess("belief after a yes")
    low, high = after(before, 1 / 3), after(before, 3)
    marks = [
        Dot(x=0.25, y=after(0.25, 3), label="a yes", side="top left"),
        Dot(x=0.25, y=after(0.25, 1 / 3), label="a no", role="second", side="bottom right"),
    ]
    if mine:
        marks.append(Dot(x=0.25, y=mine, label="your guess", role="guess", side="middle left"))
    down = {"role": "second", "label_at": 0.55, "side": "bottom right"}
    figure = curves(
        [
            Band(x=before, lower=low, upper=high, label=""),
            Curve(x=before, y=high, label="odds × 3", label_at=0.65, side="top left"),
            Curve(x=before, y=low, label="odds ÷ 3", **down),
            Curve(x=before, y=before, label="same", role="quiet", label_at=0.6),
        ],
        marks=marks,
        title="At ε = ln 3 no output moves a belief out of this band",
        x="belief before, probability",
        y="belief after",
        y_range=(0, 1.05),
    )
    show(figure, f"Belief 0.25 before becomes {after(0.25, 3):.2f} after a yes.")
