"""The pictures of lesson 06. Batch sizes are drawn from the student's sampler."""

import random
from dataclasses import replace

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from dplearn import DPSGD
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.classroom import show, yours
from dplearn.teaching.figures import Bars, Curve, Dot, Sheet, curves, panels, slider
from dplearn.teaching.figures.drawings import circle, lettering
from dplearn.teaching.figures.kit.template import GREY, colour_of, transparent

BATCHES, SIGMA = 10_000, 0.5  # the run of the vote


def four_ways():
    """Draw five batches of ten records in four ways."""
    dots = np.random.default_rng(12)
    tables = [dots.random((5, 10)) < 0.2, *np.zeros((3, 5, 10), dtype=bool)]
    for i in range(5):
        tables[1][i, dots.choice(10, 2, replace=False)] = True
    tables[2][np.arange(10) // 2, dots.permutation(10)] = True
    tables[3][dots.integers(5, size=10), np.arange(10)] = True
    names = ("coins", "fixed size", "shuffled", "balls and bins")
    sizes, hers = ("sizes by chance", "two in each"), ("Anna: by chance", "Anna: exactly once")
    remarks = [(sizes[i], hers[j]) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
    shapes, blue, red = [], colour_of("exact"), colour_of("wrong")
    for panel, (name, table, (size, her)) in enumerate(zip(names, tables, remarks, strict=True)):
        left = 24 + 190 * panel
        for i, j in np.ndindex(5, 10):
            colour, inside = red if j == 9 else blue, table[i, j]
            edge = colour if inside or j == 9 else transparent(GREY, 0.35)
            fill = colour if inside else "white"
            shapes.append(circle(left + 14 * j, 76 + 20 * i, 5, edge=edge, fill=fill))
        for y, text, look in ((56, name, {}), (192, size, {"size": 13, "colour": GREY}),
                              (210, her, {"size": 13, "colour": red})):  # fmt: skip
            shapes.append(lettering(left + 63, y, text, **look))
    drawn = Sheet(760, 224, "Five batches of ten records, drawn in four ways", shapes)
    words = "by coins, with a fixed size, shuffled, and by balls and bins"
    show(drawn, f"Rows are 5 batches, dots are 10 records, filled if drawn: {words}.")


def batch_sizes(draw):
    """Draw the sizes of a thousand batches of the student's sampler."""
    draw, rng, sizes = yours("6.1", draw), random.Random(7), []
    for _ in range(1000):
        sample = list(draw(1000, 0.1, rng))
        sizes.append(sum(sample) if len(sample) == 1000 else len(sample))
    height, edges = np.histogram(sizes, bins=np.arange(60, 144, 4))
    at, middle = np.arange(60, 141), edges[:-1] + 2
    name = {"yours": "your function", "ours": "by coins"}[draw.whose]
    lines = [
        Bars(x=middle, y=height, label=name, label_at=0.3, side="top left"),
        Curve(x=at, y=4000 * binom.pmf(at, 1000, 0.1), label="binomial", role="other",
              label_at=0.65, side="top right"),
    ]  # fmt: skip
    title = f"The batches have from {min(sizes)} to {max(sizes)} records, 100 on average"
    figure = curves(lines, title=title, x="records in a batch", y="batches")
    words = f"1000 batches of 1000 records at rate 0.1: from {min(sizes)} to {max(sizes)} records"
    show(figure.update_layout(height=320), f"{words}, with mean {np.mean(sizes):.1f}.")


def bend(density, bent, rate):
    """Draw the three distributions beside the losses."""
    x = np.linspace(-3.5, 5.5, 91)
    densities = [
        Curve(x=x, y=density(0)(x), label="without", role="quiet", label_at=0.39,
              side="top center"),
        Curve(x=x, y=density(1)(x), label="surely in", role="other", label_at=0.57,
              side="top right"),
        Curve(x=x, y=density(rate)(x), label="by coin", label_at=0.3, side="middle left"),
    ]  # fmt: skip
    losses = [
        Curve(x=x, y=x - 0.5, label="surely in", role="other", label_at=0.85, side="middle left"),
        Curve(x=x, y=bent(x - 0.5, rate), label="by coin", label_at=0.8, side="bottom right"),
    ]
    floor = Dot(x=-2.5, y=bent(-3.0, rate), label="floor", side="top center")
    left = curves(
        densities, title="The distributions", x="published number", y="density", y_range=(0, 0.47)
    )
    right = curves(losses, title="The loss", x="published number", y="loss L (nats)", marks=[floor])
    figure = panels(left, right, title="Small losses shrink to a tenth, large ones lose only 2.3")
    words = f"floor {np.log(1 - rate):.4f}, far right {np.log(1 / rate):.4f} below the line"
    show(figure, f"Loss by coin at 5.5: {bent(5.0, rate):.3f}, surely in: 5; {words}.")


def high_orders(divergence, small_rate):
    """Draw the Rényi divergence of a sampled step against its order."""
    orders, jump = np.arange(2, 33), 1 + 2 * np.log(100)
    exact = np.array([divergence(order) for order in orders])
    figure = curves(
        [
            Curve(x=orders, y=exact, label="by coin, exact", side="bottom right"),
            Curve(x=orders, y=small_rate(orders), label="small-rate rule", role="wrong"),
            Curve(x=orders, y=orders / 2, label="surely in", role="other", side="top right"),
        ],
        marks=[Dot(x=jump, y=small_rate(jump), label=f"α* = {jump:.1f}", side="bottom center")],
        title="Below order 10 the coin saves almost all, beyond it a constant",
        x="order α, one record in a hundred",
        y="D, Rényi divergence (nats)",
        log_y=True,
        y_range=(5e-5, 60),
    )
    levels = f"at order 8: {exact[6]:.4g}, at 16: {exact[14]:.4g}"
    where = f"{jump:.1f}, with noise 4 at {1 + 2 * 4**2 * np.log(100):.1f}"
    show(figure, f"Divergence {levels}; jump at order {where}.")


def largest(shift):
    """Return the density of the largest sum of an epoch, one of which is moved by `shift`."""

    def density(x):
        rest, hers = ndtr(x / SIGMA), (x - shift) / SIGMA
        bell = lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        others = (BATCHES - 1) * ndtr(hers) * bell(x / SIGMA)
        return rest ** (BATCHES - 2) * (rest * bell(hers) + others) / SIGMA

    return density


def _pair(x, title, densities, names):
    at = {"side": "top right"}
    lines = [Curve(x=x, y=densities[0], label=names[0], label_at=0.45, **at)]
    lines += [Curve(x=x, y=densities[1], label=names[1], role="quiet", label_at=0.24, **at)]
    return curves(lines, title=title, x="largest of 10 000 sums", y="density", y_range=(0, 3))


def empty_seat(area):
    """Draw the largest of ten thousand sums, by coins and shuffled, with Anna and without."""
    x = np.linspace(1.2, 4.2, 101)
    absent = ndtr(x / SIGMA)
    by_coin = absent + 1e-4 * (ndtr((x - 1) / SIGMA) - absent)
    coin_pair = [np.gradient(cdf**BATCHES, x) for cdf in (by_coin, absent)]
    left = _pair(x, "Coins", coin_pair, ("", "with Anna, or without"))
    seat_pair = [largest(2.0)(x), largest(1.0)(x)]
    right = _pair(x, "Shuffled", seat_pair, ("with Anna", "seat empty"))
    figure = panels(left, right, title="A coin leaves no trace, an empty seat does")
    distance = area(largest(2.0), largest(1.0), 0)
    apart = np.max(np.abs(by_coin**BATCHES - absent**BATCHES))
    words = f"a threshold tells them apart by {apart:.3f} with coins, by {distance:.3f} shuffled"
    show(figure, f"Largest of 10000 sums, with Anna and without: {words}.")


def every_rate(bent):
    """Draw loss and profile of a sampled step; the slider is the rate."""
    one = Gaussian(noise_multiplier=1.0)
    x, epsilons = np.linspace(-3.5, 5.5, 61), np.linspace(0, 3, 61)
    target = Curve(x=epsilons, y=np.full(61, 1e-3), label="", role="quiet")
    straight = Curve(x=x, y=x - 0.5, label="surely in", role="other", label_at=0.85,
                     side="middle left")  # fmt: skip
    (known,) = one.profiles()
    unsampled = Curve(x=epsilons, y=known.delta(epsilons), label="surely in", role="other",
                      label_at=0.6, side="top right")  # fmt: skip
    frames, axes = {}, {"x": "ε", "y": "δ", "log_y": True, "y_range": (1e-6, 1)}
    for q in (1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.16, 0.13, 0.1, 0.08, 0.06, 0.05, 0.04):
        profile = PoissonSubsampled(one, q).profiles()[0]
        delta = float(profile.delta(1))
        losses = [straight, Curve(x=x, y=bent(x - 0.5, q), label="")]
        deltas = [unsampled, Curve(x=epsilons, y=profile.delta(epsilons), label=""), target]
        here = [Dot(x=1, y=delta, label="")]
        frames[f"{q:g}"] = panels(
            curves(losses, title="The loss", x="published number", y="loss L (nats)"),
            curves(deltas, title="The profile", marks=here, **axes),
            title=f"A coin of chance {q:g} delivers δ(1) = {delta:.3g}",
        )
    words = [frames[q].layout.title.text for q in ("1", "0.5", "0.25", "0.1")]
    show(slider(frames, name="q", start=3), "Four of 15 frames. " + "; ".join(words) + ".")


def sixty_epochs():
    """Draw what is proved of sixty shuffled epochs; return the least over the claim for coins."""
    noises = [1.0, 1.4, 2.0, 2.8, 4.0]
    sixty = DPSGD(noise_multiplier=1.0, sample_rate=1 / 234, steps=60 * 234)
    by_coins = [replace(sixty, noise_multiplier=s).guarantee(delta=1e-5).epsilon for s in noises]
    sixty = replace(sixty, sampling="shuffled", drop_last=True)
    proved = [replace(sixty, noise_multiplier=s).guarantee(delta=1e-5) for s in noises]
    upper, lower = [g.epsilon for g in proved], [g.lower for g in proved]
    lines = [
        Curve(x=noises, y=upper, label="shuffled, proved: at most and at least", label_at=0.3,
              side="top right"),
        Curve(x=noises, y=lower, label="", role="other"),
        Curve(x=noises, y=by_coins, label="claim for coins", role="quiet", label_at=0.6,
              side="bottom left"),
    ]  # fmt: skip
    title = "At all five noises the claim for coins is broken, most at the smallest"
    figure = curves(lines, title=title, x="noise multiplier σ", y="ε of 60 epochs", log_y=True)
    ratios = [low / claim for low, claim in zip(lower, by_coins, strict=True)]
    words = f"from {ratios[0]:.2f} to {ratios[-1]:.2f} times the claim"
    show(figure, f"Epsilon of 60 shuffled epochs against noise, proved from both sides: {words}.")
    return ratios
