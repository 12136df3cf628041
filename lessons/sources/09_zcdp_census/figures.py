"""The pictures of lesson 09; the prices of the tables are those of the student's function."""

from itertools import pairwise

import numpy as np

from dplearn.mechanisms import Gaussian
from dplearn.teaching.book import zcdp_to_epsilon, zcdp_to_epsilon_bun_steinke
from dplearn.teaching.classroom import guess, show, yours
from dplearn.teaching.figures import Bars, Curve, Dot, curves, flow, panels, slider

BUDGETS = (0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 2.56, 4, 6)
DELTAS = np.geomspace(1e-14, 1e-4, 40)


def tables():
    """Draw Ida's path through the four tables."""
    where = ("country", "Ida's state", "Ida's county", "Ida's block")
    path = [f"{place}\n¼ of the budget" for place in where]
    beside = ["3 other states", "7 other counties", "15 other blocks"]
    columns = [[path[0]], *([hers, other] for hers, other in zip(path[1:], beside, strict=True))]
    arrows = list(pairwise(path)) + list(zip(path, beside, strict=False))
    title = "Four tables, one budget: here each takes a quarter"
    words = "country, 1 of 4 states, 1 of 8 counties, 1 of 16 blocks, a quarter each"
    show(flow(columns, arrows, title=title, strong=path), f"Ida's path: {words}.")


def prices(total_rho, noise):
    """Draw the rho of each table and of all together."""
    rho = yours("9.1", total_rho)
    each = [rho([sigma]) for sigma in noise.values()]
    together = rho(list(noise.values()))
    names = [f"{name}, σ = {sigma:g}" for name, sigma in noise.items()]
    figure = curves(
        [
            Bars(x=np.arange(4), y=each, label="", width=0.6),
            Bars(x=[4.0], y=[together], label="", role="second", width=0.6),
        ],
        title=f"Half the noise has four times the price; all four cost ρ = {together:g}",
        x="",
        y="ρ (nats)",
        y_range=(0, 0.36),
    ).update_layout(height=300)
    figure.update_xaxes(tickvals=np.arange(5), ticktext=[*names, "all four"])
    told = ", ".join(f"{name} {price:g}" for name, price in zip(noise, each, strict=True))
    show(figure, f"Prices: {told}; together {together:g}.")


def shares(errors):
    """Draw the error of a county and of its blocks against the share that the county gets."""
    share = np.linspace(0.0001, 0.96, 97)
    (county, block), mine = errors(share), guess("error of a county")
    half = [float(each) for each in errors(0.5)]
    marks = [
        Dot(x=0, y=4, label="4", role="other", side="middle left"),
        Dot(x=0.5, y=half[0], label="half each", role="other", side="top center"),
        *([Dot(x=0, y=mine, label="your guess", role="guess")] if mine else []),
    ]
    figure = curves(
        [
            Curve(x=share, y=1 / np.sqrt(share), label="county, raw", role="quiet", label_at=0.03),
            Curve(x=share, y=county, label="county", role="second", label_at=1),
            Curve(x=share, y=block, label="a block", label_at=1, side="middle right"),
        ],
        marks=marks,
        title="What a county gains, its blocks must pay",
        x="share s of ρ that the county gets",
        y="typical error (people), ρ = 1/2",
        y_range=(0, max(7.5, min(mine or 0, 20))),
    )
    show(figure, f"At share 0.5: county {half[0]:.3f}, block {half[1]:.3f}.")


def _exact(rho, delta):
    return float(Gaussian(1 / np.sqrt(2 * rho)).profiles()[0].epsilon(delta))


def _budget(rho):
    better = np.array([zcdp_to_epsilon(rho, delta=d) for d in DELTAS])
    exact = np.array([_exact(rho, d) for d in DELTAS])
    three, axes = (zcdp_to_epsilon_bun_steinke(rho, delta=DELTAS), better, exact), {"x": "δ"}
    axes |= {"y": "", "log_x": True}
    here = [zcdp_to_epsilon_bun_steinke(rho, delta=1e-10), zcdp_to_epsilon(rho, delta=1e-10)]
    told = ", ".join(f"{float(each):.3g}" for each in [*here, _exact(rho, 1e-10)])
    sides = []
    for heights, names in (
        (three, ("", "", "")),
        ([each / exact for each in three], ("simple", "improved", "exact")),
    ):
        rows = zip(heights, names, ("third", "second", "exact"), strict=True)
        sides.append([Curve(x=DELTAS, y=y, label=name, role=role) for y, name, role in rows])
    return panels(
        curves(sides[0], title="ε (nats)", log_y=True, y_range=(0.6, 45), **axes),
        curves(sides[1], title="ε / exact ε", y_range=(0.98, 1.5), **axes),
        title=f"ρ = {rho:g}: at δ = 10⁻¹⁰ ε is {told}",
    )


def budgets():
    """Draw three conversions of a budget; the slider is rho."""
    frames = {f"{rho:g}": _budget(rho) for rho in BUDGETS}
    two = "; ".join(frames[rho].layout.title.text for rho in ("0.07", "2.56"))
    show(slider(frames, name="ρ", start=10), f"Simple, improved, exact. {two}.")


def cost_per_order(orders, normal, coin, sampled):
    """Draw the divergence over the order for three mechanisms."""
    place = {"side": "top right"}
    figure = curves(
        [
            Curve(x=orders, y=normal, label="Gaussian, σ = 1", label_at=0.05, **place),
            Curve(x=orders, y=coin, label="coin, ε = 1", role="second", label_at=0.12, **place),
            Curve(x=orders, y=sampled, label="sampled", role="other", label_at=0.5),
        ],
        title="ρ is the highest point of the cost per order",
        x="order α",
        y="D / α (nats)",
        log_x=True,
        y_range=(-0.02, 0.62),
    )
    tops = f"Gaussian {normal.max():.3f}, coin {coin.max():.3f}, sampled {sampled.max():.3f}"
    show(figure, f"Highest cost per order up to order 1000: {tops}.")


def island(equal, summed):
    """Draw the error of each level, with equal shares and with everything for the blocks."""
    at = np.arange(4)
    figure = curves(
        [
            Curve(
                x=at, y=summed, label="blocks only", role="third", label_at=0.3, side="top right"
            ),
            Curve(x=at, y=np.full(4, 2.0), label="equal, raw", role="quiet", side="top right"),
            Curve(x=at, y=equal, label="equal, fitted", side="bottom right"),
        ],
        title="A little for every level beats everything for the last",
        x="",
        y="typical error of a cell (people)",
        log_y=True,
        y_range=(0.7, 40),
    ).update_xaxes(tickvals=at, ticktext=["country", "4 states", "32 counties", "512 blocks"])
    ends = ", ".join(f"{e:.3f}" for e in equal)
    show(figure, f"Blocks only: country {summed[0]:.3f}, block 1. Equal shares, fitted: {ends}.")
