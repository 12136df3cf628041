"""The pictures of lesson 16, and `judge`. Two pictures use the student's divergence."""

from dataclasses import replace

import numpy as np

from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import round_up
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.teaching.book import book, optimal_composition, refute, verify
from dplearn.teaching.book.published import published
from dplearn.teaching.classroom import guess, show, yours
from dplearn.teaching.figures import Bars, Curve, Dot, curves, epsilon_curves, number_line, slider

TRIPLES = np.random.default_rng(18).dirichlet([1, 1, 1, 1], size=(2000, 3))
VERDICTS = ("true as printed", "false, safe side", "false, UNSAFE side")
TRUTH = {}  # the verdict on each claim that has been judged, as an index


def triple():
    """Draw the first triple of distributions."""
    places = {"P": (-0.25, "exact"), "R": (0.0, "quiet"), "Q": (0.25, "second")}
    bars = []
    for (name, (shift, role)), chances in zip(places.items(), TRIPLES[0][[0, 2, 1]], strict=True):
        at = np.arange(1, 5) + shift
        bars.append(Bars(x=at, y=chances, label=name, role=role, label_at=0.0, width=0.22))
    title = "From P to Q directly, or by way of R: which is longer?"
    figure = curves(bars, title=title, x="outcome", y="probability", y_range=(0, 0.8))
    figure.update_layout(height=210)
    show(figure, "Three distributions on 4 outcomes, drawn at random.")


def _gap(divergence, triple):
    p, q, r = triple.tolist()
    return divergence(p, r) + divergence(r, q) - divergence(p, q)


def three(divergence):
    """Draw by how much three triples obey the inequality, by the student's divergence."""
    divergence = yours("16.1", divergence)
    gaps = {f"triple {i + 1}": _gap(divergence, each) for i, each in enumerate(TRIPLES[:3])}
    figure = number_line(gaps, title="Right side minus left side, at three random triples")
    figure.update_layout(height=200)
    show(figure, f"Gaps of three triples: {', '.join(f'{x:.3f}' for x in gaps.values())}.")


def every(divergence):
    """Draw the gaps of all triples by the student's divergence, largest first; return them."""
    divergence = yours("16.1", divergence)
    gaps = np.array([_gap(divergence, each) for each in TRIPLES])
    share = np.linspace(0, 100, 81)
    line = Curve(x=share, y=np.percentile(gaps, 100 - share), label="gap", label_at=0.2)
    figure = curves(
        [replace(line, side="top right")],
        zone=(-2.5, 0, "refuted here"),
        title="Most points agree with a false formula",
        x="triples, in per cent",
        y="right − left (nats)",
        y_range=(-2.5, 6),
    )
    figure.update_layout(height=320)
    show(figure, f"Gaps of 2000 triples, sorted: {np.mean(gaps < 0):.1%} lie below zero.")
    return gaps


def ends():
    """Draw a claim below, between and above two proved ends of the truth."""
    words = "A claim below both ends is refuted; between the 2 undecided; above, not refuted here."
    show("16_is_it_true/verdicts.svg", words)


def judge(name, entry, condition=""):
    """Search for a counterexample from 20 points, print the verdict, and return the claim.

    A proposed `condition` is what the claim may lack: it is tried again inside it.
    """
    number, _, variant = entry.partition("/")
    claim, TRUTH[name] = book[number], 0
    if variant:
        misprint = claim.misprint(variant)
        claim, search = claim.claimed(misprint), refute(claim, misprint, points=20)
        TRUTH[name] = 2 if search.unsafe else 1
        print(f"{search.status}: {VERDICTS[TRUTH[name]]}")
        print(f"simplest counterexample: {search.counterexample}")
        repaired = condition and verify(replace(claim, given=condition), points=20).good
        print("repair:", f"the condition {condition}" if repaired else "another formula")
    else:
        print(f"{verify(claim, points=20).status} at 20 points: {VERDICTS[0]}")
    if guess(name) is not None:
        print(f"you said {guess(name):g}, the verdict is {TRUTH[name]}")
    return claim


def scoreboard(names):
    """Draw the verdicts beside the guesses, and count two players who never compute."""
    rows = dict(zip(names, range(len(names), 0, -1), strict=True))
    colours = ("exact", "exact", "wrong")
    marks = [Dot(x=TRUTH[n], y=y, label="", role=colours[TRUTH[n]]) for n, y in rows.items()]
    made = {n: guess(n) for n in rows if guess(n) is not None}
    marks += [Dot(x=made[n], y=rows[n] + 0.25, label="", role="guess") for n in made]
    score = sum(TRUTH[n] == said for n, said in made.items())
    reader = f"you {score} of {len(made)}" if made else "and you?"
    robots = [sum(TRUTH[n] == said for n in names) for said in (0, 2)]
    title = f"Right: believer {robots[0]}, cynic {robots[1]}, {reader}"
    figure = curves([], marks=marks, title=title, x="", y="", y_range=(0.4, len(names) + 0.7))
    labels = ["true", "false,<br>safe", "false,<br>UNSAFE"]
    figure.update_xaxes(tickvals=[0, 1, 2], ticktext=labels, range=[-0.4, 2.4], tickangle=0)
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=list(rows))
    figure.update_layout(margin={"l": 170, "r": 40}, height=120 + 30 * len(names))
    said = [TRUTH[n] for n in names]
    counts = "; ".join(f"{v}: {said.count(i)}" for i, v in enumerate(VERDICTS))
    show(figure, f"Verdicts. {counts.capitalize()}. Believer {robots[0]} right, cynic {robots[1]}.")


def drift():
    """Draw claim 7 beside the optimum; the slider is the epsilon of one release."""
    frames = {f"{e:g}": _drift(e) for e in (0.1, 0.2, 0.5, 1, 3)}
    words = "; ".join(f.layout.title.text for f in frames.values())
    show(slider(frames, name="ε", start=3), f"All frames. {words}.")


def _drift(epsilon):
    every, few = np.arange(1, 20_001), np.unique(np.geomspace(1, 20_000, 50).astype(int))
    curve = 2 * epsilon * np.sqrt(2 * every * np.log(1e5))
    optimum = optimal_composition(epsilon=epsilon, steps=every, slack=1e-5)
    below, i = every[curve < optimum], few - 1
    first = f"below the truth from k = {below[0]:,}" if below.size else "not yet below the truth"
    place = {"role": "wrong", "label_at": 0.3, "side": "top left"}
    return curves(
        [
            Curve(x=few, y=curve[i], label="claimed", **place),
            Curve(x=few, y=optimum[i], label="optimum", side="bottom right"),
            Curve(x=few, y=epsilon * few, label="basic", role="basic", side="top right"),
        ],
        title=f"ε = {epsilon:g} per release: {first}",
        x="number of releases k",
        y="total ε (nats) at δ = 10⁻⁵",
        log_x=True,
        log_y=True,
        y_range=(0.05, 100_000),
    )


def bracket(orders, printed, right, exact):
    """Draw claim 3, the formula with its bracket, and the truth against the order."""
    flat = np.full(orders.size, exact)
    figure = curves(
        [
            Curve(x=orders, y=right, label="right", role="rdp", label_at=0.12, side="top right"),
            Curve(
                x=orders, y=printed, label="printed", role="wrong", label_at=0.3, side="bottom left"
            ),
            Curve(x=orders, y=flat, label="exact", label_at=0.95, side="top left"),
        ],
        title="Without the bracket the bound dips below the truth",
        x="order α",
        y="ε (nats) at δ = 10⁻⁵",
        log_x=True,
        y_range=(1, 14),
    )
    lowest = f"as printed {printed.min():.4f}, right {right.min():.4f}, exact {exact:.4f}"
    show(figure, f"Lowest: {lowest}.")


def tails(claim):
    """Draw the tail of the loss of claim 2 beside delta."""
    points = [{"mu": 1.0, "epsilon": e} for e in np.linspace(0, 6, 41)]
    x, tails = [p["epsilon"] for p in points], [claim.value(p) for p in points]
    profile = [claim.truth(p).low for p in points]
    place = {"label_at": 0.6}
    figure = curves(
        [
            Curve(x=x, y=tails, label="P(L > ε)", role="wrong", side="top right", **place),
            Curve(x=x, y=profile, label="δ(ε)", side="bottom left", **place),
        ],
        title="The tail is larger than δ, at every ε",
        x="ε (nats)",
        y="probability, σ = 1",
        log_y=True,
    )
    ratio = min(tail / low for tail, low in zip(tails, profile, strict=True))
    show(figure, f"The tail is at least {ratio:.2f} times as large as delta.")


def winner(field, one_way, both_ways):
    """Draw the largest loss of claim 8 against the number of other candidates."""
    place = {"role": "wrong", "label_at": 0.15, "side": "top right"}
    figure = curves(
        [
            Curve(x=field, y=both_ways, label="both ways"),
            Curve(x=field, y=one_way, label="one way", role="other", side="bottom right"),
            Curve(x=field, y=np.ones(field.size), label="claimed", **place),
        ],
        title="With many candidates the winner's name costs 2ε",
        x="number of other candidates",
        y="largest |loss| (nats)",
        log_x=True,
        y_range=(0.4, 2.2),
    )
    words = f"both ways {both_ways[-1]:.4f}, one way {one_way[-1]:.4f}"
    show(figure, f"Largest loss with 100 others: {words}.")


def limit():
    """Draw the limit theorem of claim 9 beside a proof, and return both."""
    run, rounds = PoissonSubsampled(Gaussian(0.638), 256 / 60_000), [10, 50, 200, 1000, 4000, 16407]
    lines = {
        n: ACCOUNTANTS[n]().epsilon_curve(run, delta=1e-5, steps=rounds) for n in ("gdp", "pld")
    }
    title, about = "A limit theorem beside a proof", "σ = 0.638, q = 256/60000, δ = 1e-5"
    figure = epsilon_curves(lines, rounds, title=title, about=about)
    ends = ", ".join(f"{name} {round_up(line[-1].epsilon)}" for name, line in lines.items())
    ends += f"; the paper prints {published()['P16b']['published']}"
    show(figure, f"Epsilon after 16407 steps: {ends}.")
    return lines


def classical():
    """Draw up to which epsilon the classical noise holds, and return it at delta 1e-5."""
    deltas, at_usual = np.geomspace(3e-12, 0.5, 40), book["G-F9"].value({"delta": 1e-5})
    ends = np.array([book["G-F9"].value({"delta": d}) for d in deltas])
    figure = curves(
        [
            Curve(x=deltas, y=ends, label="true to here"),
            Curve(x=deltas, y=np.ones(40), label="proved to here", role="quiet"),
        ],
        marks=[Dot(x=1e-5, y=at_usual, label=f"{at_usual:.2f}", role="wrong")],
        title="The classical noise fails for large ε, at every δ",
        x="δ",
        y="ε (nats)",
        log_x=True,
        y_range=(0, 12),
    )
    show(figure, f"At delta 1e-05 the classical noise is enough up to epsilon {at_usual:.2f}.")
    return at_usual
