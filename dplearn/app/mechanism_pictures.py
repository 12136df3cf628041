"""The five pictures of one pair of outputs, placed so that one screen holds them all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from dplearn.app import mechanism_pair as ask
from dplearn.app import panels
from dplearn.app.mechanism_reading import Look, alts, titles
from dplearn.figures.pair_curves import profile_curve, renyi_curve, tradeoff_curve
from dplearn.figures.pair_laws import leaking_area, loss_law
from dplearn.formulas.conversion import rdp_to_epsilon


def draw(look: Look) -> None:
    """Laws above, curves below."""
    said = titles(look)
    figures = {
        "outputs": _outputs(look, said["outputs"]),
        "loss": _loss(look, said["loss"]),
        "profile": _profile(look, said["profile"]),
        "renyi": _renyi(look, said["renyi"]),
        "tradeoff": _tradeoff(look, said["tradeoff"]),
    }
    words = alts(look)
    places = [*st.columns([6, 5], gap="small"), *st.columns(3, gap="small")]
    for place, (name, figure) in zip(places, figures.items(), strict=True):
        with place.container(key=f"pair_{name}"):
            if figure is None:
                why = look.pair.mechanism.no_outputs
                st.info(f"No densities to draw: {why}.", icon=":material/visibility_off:")
            else:
                st.plotly_chart(
                    figure,
                    theme=None,
                    key=f"plot_{name}",
                    config={"displayModeBar": False},
                    alt=words[name],
                )


def _outputs(look: Look, finding: str) -> Any:
    pair = look.pair.outputs
    if pair is None:
        return None
    x, _, p, q = pair.nodes(look.epsilon)
    return leaking_area(
        x=x,
        p=p,
        q=q,
        scaled_q=math.exp(look.epsilon) * q,
        whole=pair.whole,
        finding=finding,
        names=look.names,
        axis=pair.label,
        ink=panels.ink(),
    )


def _loss(look: Look, finding: str) -> Any:
    edges, mass, counted = ask.losses(look.pair, look.epsilon)
    return loss_law(
        edges=edges,
        mass=mass,
        counted=counted,
        epsilon=look.epsilon,
        finding=finding,
        ink=panels.ink(),
    )


def _profile(look: Look, finding: str) -> Any:
    epsilons, deltas = ask.curve(look.pair, look.epsilon)
    return profile_curve(
        epsilons=epsilons,
        deltas=deltas,
        here=(look.epsilon, look.delta.upper),
        finding=finding,
        real=ask.real_deltas(look.pair, epsilons),
        ink=panels.ink(),
    )


def _renyi(look: Look, finding: str) -> Any:
    orders, divergences = ask.renyi(look.pair)
    target = look.delta.upper
    proved = np.full(orders.shape, np.inf)
    if target > 0:
        proved = rdp_to_epsilon(orders, divergences, delta=target)
    return renyi_curve(
        orders=orders,
        divergences=divergences,
        converted=proved,
        here=(look.order, ask.divergence(look.pair, look.order), look.converted),
        epsilon=look.epsilon,
        beside=look.beside,
        finding=finding,
        ink=panels.ink(),
    )


def _tradeoff(look: Look, finding: str) -> Any:
    rates, misses = ask.tradeoff(look.pair)
    behind = float(ask.profile(look.pair).reverse().delta(look.epsilon))
    return tradeoff_curve(
        rates=rates,
        misses=misses,
        here=(look.rate, 1 - look.detected.upper),
        epsilon=look.epsilon,
        deltas=(look.delta.upper, behind),
        finding=finding,
        real=ask.real_misses(look.pair),
        ink=panels.ink(),
    )
