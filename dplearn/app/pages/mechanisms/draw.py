"""The five pictures of one pair of outputs, placed so that one screen holds them all."""

import math
from typing import Any

import streamlit as st

from dplearn.app.kit import look
from dplearn.app.kit.language import retold, translated
from dplearn.app.pages.mechanisms import answers, words
from dplearn.app.pages.mechanisms.answers import View
from dplearn.figures import leaking_area, loss_law, profile_curve, renyi_curve, tradeoff_curve


def pictures(view: View) -> None:
    """Laws above, curves below."""
    makers = (_outputs, _loss, _profile, _renyi, _tradeoff)
    # Without densities the others share their place.
    rows = [[6, 5], 3] if view.pair.outputs else [1, 2, 2]
    places = [place for row in rows for place in st.columns(row, gap="small")]
    titles, alts = words.titles(view), words.alts(view)
    for place, make, (name, title) in zip(places, makers, titles.items(), strict=True):
        figure = make(view, {"finding": title})
        with place.container(key=f"pair_{name}"):
            if figure is None:
                why = retold(view.pair.mechanism.no_outputs)
                none = translated("No densities to draw: {why}.", why=why)
                st.info(none, icon=":material/visibility_off:")
            else:
                look.chart(figure, f"plot_{name}", alts[name])


def _outputs(view: View, common: dict[str, Any]) -> Any:
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
        names=words.names_of(view),
        axis=pair.label,
        **common,
    )


def _loss(view: View, common: dict[str, Any]) -> Any:
    edges, mass, counted = answers.losses(view.pair, view.epsilon)
    return loss_law(edges=edges, mass=mass, counted=counted, epsilon=view.epsilon, **common)


def _profile(view: View, common: dict[str, Any]) -> Any:
    epsilons, deltas = answers.curve(view.pair, view.epsilon)
    return profile_curve(
        epsilons=epsilons,
        deltas=deltas,
        here=(view.epsilon, view.delta.upper),
        real=answers.real_deltas(view.pair, epsilons) if view.pair.is_above_witnesses else None,
        **common,
    )


def _renyi(view: View, common: dict[str, Any]) -> Any:
    orders, divergences = answers.renyi(view.pair)
    return renyi_curve(
        orders=orders,
        divergences=divergences,
        converted=answers.proved(orders, divergences, view.delta.upper),
        here=(view.order, answers.divergence(view.pair, view.order), view.converted),
        epsilon=view.epsilon,
        beside=words.beside(view),
        **common,
    )


def _tradeoff(view: View, common: dict[str, Any]) -> Any:
    rates, misses = answers.tradeoff(view.pair)
    behind = float(answers.profile(view.pair).reverse().delta(view.epsilon))
    return tradeoff_curve(
        rates=rates,
        misses=misses,
        here=(view.rate, 1 - view.detected.upper),
        epsilon=view.epsilon,
        deltas=(view.delta.upper, behind),
        real=1 - answers.caught(view.pair, rates) if view.pair.is_above_witnesses else None,
        **common,
    )
