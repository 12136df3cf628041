"""The five pictures of one pair of outputs, placed so that one screen holds them all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.app.kit import look
from dplearn.app.pages.mechanisms import answers as ask
from dplearn.app.pages.mechanisms.words import View, alts, titles
from dplearn.figures import leaking_area, loss_law, profile_curve, renyi_curve, tradeoff_curve


def draw(view: View) -> None:
    """Laws above, curves below."""
    said = titles(view)
    figures = {
        "outputs": _outputs(view, said["outputs"]),
        "loss": _loss(view, said["loss"]),
        "profile": _profile(view, said["profile"]),
        "renyi": _renyi(view, said["renyi"]),
        "tradeoff": _tradeoff(view, said["tradeoff"]),
    }
    words = alts(view)
    places = [*st.columns([6, 5], gap="small"), *st.columns(3, gap="small")]
    for place, (name, figure) in zip(places, figures.items(), strict=True):
        with place.container(key=f"pair_{name}"):
            if figure is None:
                why = view.pair.mechanism.no_outputs
                st.info(f"No densities to draw: {why}.", icon=":material/visibility_off:")
            else:
                st.plotly_chart(
                    figure,
                    theme=None,
                    key=f"plot_{name}",
                    config={"displayModeBar": False},
                    alt=words[name],
                )


def _outputs(view: View, finding: str) -> Any:
    pair = view.pair.outputs
    if pair is None:
        return None
    x, _, p, q = pair.nodes(view.epsilon)
    return leaking_area(
        x=x,
        p=p,
        q=q,
        scaled_q=math.exp(view.epsilon) * q,
        whole=pair.whole,
        finding=finding,
        names=view.names,
        axis=pair.label,
        ink=look.ink(),
    )


def _loss(view: View, finding: str) -> Any:
    edges, mass, counted = ask.losses(view.pair, view.epsilon)
    return loss_law(
        edges=edges,
        mass=mass,
        counted=counted,
        epsilon=view.epsilon,
        finding=finding,
        ink=look.ink(),
    )


def _profile(view: View, finding: str) -> Any:
    epsilons, deltas = ask.curve(view.pair, view.epsilon)
    return profile_curve(
        epsilons=epsilons,
        deltas=deltas,
        here=(view.epsilon, view.delta.upper),
        finding=finding,
        real=ask.real_deltas(view.pair, epsilons),
        ink=look.ink(),
    )


def _renyi(view: View, finding: str) -> Any:
    orders, divergences = ask.renyi(view.pair)
    target = view.delta.upper
    proved = np.full(orders.shape, np.inf)
    if target > 0:
        proved = rdp_to_epsilon(orders, divergences, delta=target)
    return renyi_curve(
        orders=orders,
        divergences=divergences,
        converted=proved,
        here=(view.order, ask.divergence(view.pair, view.order), view.converted),
        epsilon=view.epsilon,
        beside=view.beside,
        finding=finding,
        ink=look.ink(),
    )


def _tradeoff(view: View, finding: str) -> Any:
    rates, misses = ask.tradeoff(view.pair)
    behind = float(ask.profile(view.pair).reverse().delta(view.epsilon))
    return tradeoff_curve(
        rates=rates,
        misses=misses,
        here=(view.rate, 1 - view.detected.upper),
        epsilon=view.epsilon,
        deltas=(view.delta.upper, behind),
        finding=finding,
        real=ask.real_misses(view.pair),
        ink=look.ink(),
    )
