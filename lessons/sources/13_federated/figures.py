"""The pictures of lesson 13. One of them shows what the student's function reads."""

import numpy as np

from dplearn import DPSGD, Gaussian, smallest_noise_multiplier
from dplearn.federated import user_level
from dplearn.federated.noise import DistributedNoise
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Curve, curves, flow, images, slider


def update(image, label):
    """Return what one digit changes in a model that knows nothing yet, shape (10, 65)."""
    return np.outer(np.full(10, 0.1) - np.eye(10)[label], np.append(image.ravel(), 1.0))


def _hers(pupils):
    """Return Anna's image, and one row of her update in shades of grey."""
    image = pupils.images[pupils.anna]
    row = update(image, pupils.digit[pupils.anna])[0]
    return image, row, 0.5 + 0.5 * (row[:64] / np.abs(row).max()).reshape(8, 8)


def kept_and_sent(pupils):
    """Draw Anna's digit, and one row of what her phone sends."""
    image, _, grey = _hers(pupils)
    shown = {"on Anna's\nphone": image, "one row of\nher update": grey}
    words = f"8 x 8 pixels each, one of {len(pupils.digit)} digits. Grey is 0, darker is more."
    show(images(shown, title="Kept, and sent"), words)


def read(pixels, pupils):
    """Draw what the student's function reads from the row, beside what was kept and sent."""
    image, row, grey = _hers(pupils)
    found = np.reshape(yours("13.1", pixels)(row[:64].tolist(), float(row[64])), (8, 8))
    shown = {"on Anna's\nphone": image, "one row of\nher update": grey}
    shown["read by\nthe server"] = found
    error = np.abs(found - image).max()
    show(images(shown, title="Kept, sent and read"), f"8 x 8 pixels; largest error {error:.1g}.")


def masks(money, board):
    """Draw five pupils, what each writes on the board, and the sum."""
    names = ("Anna", "Ben", "Chen", "Dana", "Emil")
    boxes = [f"{name} has {m}\nwrites {b}" for name, m, b in zip(names, money, board, strict=True)]
    board_box, sum_box = "the board adds\nmodulo 100", f"the sum\n{money.sum()}"
    drawn = flow(
        [boxes, [board_box], [sum_box]],
        [*((box, board_box) for box in boxes), (board_box, sum_box)],
        title="Ten masks, and none in the sum",
        strong={boxes[0], board_box},
    )
    words = ", ".join(map(str, board))
    show(
        drawn, f"Five pupils write {words} on the board; modulo 100 these add up to {money.sum()}."
    )


def places():
    """Draw the noise on the mean against the number of phones, for three places of the noise."""
    many = [10, 30, 100, 300, 1000]
    z = smallest_noise_multiplier(Gaussian(1.0), epsilon=1.0, delta=1e-5).value
    size = {"max_update_norm": 1.0, "scale": 2.0**8, "dimension": 650, "noise_multiplier": z}
    noises = [DistributedNoise(clients=n, **size).deviations() for n in many]
    sides = {"local": ("wrong", "top right"), "distributed": ("second", "top right")}
    sides["central"] = ("exact", "bottom left")
    lines = [
        Curve(
            x=many,
            y=[noise[place] / n for noise, n in zip(noises, many, strict=True)],
            label=place,
            role=role,
            label_at=0.5,
            side=side,
        )
        for place, (role, side) in sides.items()
    ]
    local, shares = (line.y[2] for line in lines[:2])
    title = f"ε = 1: the mean of 100 has noise {shares:.3g} C, or {local:.3g} C"
    axes = {"x": "phones", "y": "noise on the mean, in C", "log_x": True, "log_y": True}
    figure = curves(lines, title=title, y_range=(1e-3, 3), **axes)
    show(figure.update_layout(height=320), f"{title}.")


def users():
    """Draw epsilon of a user against the records of a user; the slider is the noise."""
    counts, frames = np.array([1, 2, 5, 20]), {}
    for z in (1, 2.11, 5):
        run = DPSGD(noise_multiplier=z, sample_rate=0.05, steps=150)
        each = [user_level(run, records=int(k), delta=1.5e-4).epsilon for k in counts]
        flat = np.full(counts.size, each[0])
        place = {"label_at": 0.5}
        lines = [
            Curve(x=counts, y=flat, label="users clipped", side="bottom center", **place),
            Curve(
                x=counts, y=each, label="records clipped", role="wrong", side="top left", **place
            ),
        ]
        title = f"Noise {z:g}: a user with 20 records has ε = {each[3]:.3g}, or {flat[0]:.3g}"
        axes = {"x": "records of a user", "y": "ε of a user", "log_x": True, "log_y": True}
        frames[f"{z:g}"] = curves(lines, title=title, y_range=(0.1, 1e3), **axes)
    words = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="z", start=1), f"All frames. {words}.")
