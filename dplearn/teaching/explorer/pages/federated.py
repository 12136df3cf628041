"""Phones that train together: where noise stands, what the server sees, what a user is promised."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import Guarantee, round_down, round_up
from dplearn.datasets import digits
from dplearn.federated import FederatedPlan, user_level
from dplearn.federated.noise import DistributedNoise
from dplearn.run import DPSGD
from dplearn.teaching.book.chapters.tradeoff import approximate_dp_tradeoff
from dplearn.teaching.explorer.kit import controls, look
from dplearn.teaching.explorer.kit.fields import DELTA, Words
from dplearn.teaching.explorer.kit.state import idle
from dplearn.teaching.figures.prices import price_lines, seen_by_a_server

_say = Words("federated")
TITLE, GROUP, ORDER = _say["title"], "Systems", 55

FIELDS = (
    _say.selection("place"),
    _say.selection("view", segments=True),
    _say.selection("shares", segments=True),
    _say.quantity("noise_multiplier", 4, 0.01, 100),
    _say.quantity("clients", 100, 10, 10_000, whole=True),
    _say.quantity("dropouts", 0.3, 0, 0.9, even=True),
    _say.quantity("rounds", 20, 1, 10_000, whole=True),
    _say.quantity("sample_rate", 0.02, 1e-4, 1),
    _say.quantity("records", 20, 1, 1000, whole=True),
    DELTA,
)
_PLACES = _say.table("place.options")
HIDDEN = idle({"place": {place: () if place == "phones" else ("shares",) for place in _PLACES}})

# Numbers of an update, of which one is a digit's image, and units in C.
_NUMBERS, _UNITS = 650, 1024.0
# A user of whom a record is the fifth digit of the shipped ones.
_HERS = 5
_LEAVING = np.linspace(0, 0.9, 19)
# At which epsilon is asked for, to bound what an attacker finds.
_DELTAS = np.geomspace(1e-9, 0.3, 25)


@dataclass(frozen=True)
class Setting:
    """The page's controls, by their keys."""

    place: str
    view: str
    shares: str
    clients: int
    dropouts: float
    noise_multiplier: float
    sample_rate: float
    rounds: int
    records: int
    delta: float

    @property
    def left(self) -> int:
        """Phones that stay, at least one."""
        return max(1, math.floor(self.clients * (1 - self.dropouts) + 1e-9))

    @property
    def share(self) -> float:
        """Multiplier of the noise that one phone adds."""
        by = {"alone": 1, "phones": self.left if self.shares == "stay" else self.clients}
        return self.noise_multiplier / math.sqrt(by[self.place]) if self.place in by else 0.0

    @property
    def of_sum(self) -> float:
        """Multiplier of the noise on a sum as it is published."""
        return self.noise_multiplier if self.place == "server" else self.share * self.left**0.5

    @property
    def seen(self) -> float:
        """Multiplier of the least noisy sum, or vector, of which the server learns."""
        return self.share * (self.left**0.5 if self.view == "masked" else 1)


@lru_cache(maxsize=256)
def promised(setting: Setting) -> tuple[Guarantee | None, Guarantee | None]:
    """A user's guarantee against readers of the models, and the server; None where none is."""
    if setting.place == "nobody":
        return None, None
    if setting.place != "server":
        return _of_noise(replace(setting, view="masked")), _of_noise(setting)
    return _of_server(setting).guarantee(delta=setting.delta), None


@lru_cache(maxsize=256)
def most_found(setting: Setting) -> float:
    """Share of users whom the better placed of those who are promised something finds at most.

    It may accuse 1 % of the others. Without noise it finds all.
    """
    if setting.place == "nobody":
        return 1.0
    if setting.place == "server":
        run = _of_server(setting).composed
        return float(PLD(rtol=1e-3).true_positive_rate(run, false_positive_rate=0.01)[1])
    stated = [_of_noise(replace(setting, delta=float(delta))) for delta in _DELTAS]
    missed = [approximate_dp_tradeoff(0.01, epsilon=g.epsilon, delta=g.delta) for g in stated]
    return 1 - float(max(missed))


def _of_server(setting: Setting) -> FederatedPlan:
    """The run of a server that adds the noise."""
    return FederatedPlan(
        users=max(1, round(setting.clients / setting.sample_rate)),
        max_update_norm=1.0,
        sample_rate=setting.sample_rate,
        rounds=setting.rounds,
        noise_multiplier=setting.noise_multiplier,
        sampling="poisson",
    )


@lru_cache(maxsize=256)
def by_record(setting: Setting) -> Guarantee:
    """A user's guarantee against readers, had single records been clipped and drawn."""
    drawn = setting.place == "server"
    run = DPSGD(
        noise_multiplier=setting.of_sum,
        steps=setting.rounds,
        sample_rate=setting.sample_rate if drawn else 1.0,
        sampling="poisson" if drawn else "none",
    )
    return user_level(run, records=setting.records, delta=setting.delta)


def _of_noise(setting: Setting) -> Guarantee:
    """Of whole-number noise that phones added, on the sum or on one vector."""
    noise = DistributedNoise(
        clients=setting.left if setting.view == "masked" else 1,
        noise_multiplier=setting.seen,
        max_update_norm=1.0,
        scale=_UNITS,
        dimension=_NUMBERS,
    )
    return noise.guarantee(delta=setting.delta, rounds=setting.rounds)


@lru_cache(maxsize=64)
def over_dropouts(setting: Setting) -> tuple[NDArray, dict[str, NDArray]]:
    """Epsilon from the sums for each share of phones that leaves, by for whom a share is."""
    lines, at = {}, replace(setting, place="phones", view="masked")
    for name in _say.table("lines.shares"):
        plans = [replace(at, shares=name, dropouts=float(x)) for x in _LEAVING]
        lines[name] = np.array([_of_noise(plan).epsilon for plan in plans])
    return _LEAVING, lines


def over_clients(setting: Setting) -> tuple[NDArray, dict[str, NDArray]]:
    """Noise on a coordinate of the mean, in C, for each number of phones and way to add it."""
    clients = np.geomspace(10, 10_000, 31)
    lines = {}
    for place in _say.table("lines.place"):
        plans = [replace(setting, place=place, clients=round(m), shares="stay") for m in clients]
        lines[place] = np.array([plan.of_sum / plan.left for plan in plans])
    return clients, lines


def pictures(setting: Setting) -> tuple[NDArray, NDArray, NDArray]:
    """An image of norm C in an update; what the server gets of it; two of its sums, subtracted."""
    hers = digits().images[_HERS].astype(float)
    hers /= np.linalg.norm(hers)
    rng = np.random.default_rng(14)  # the same at every setting, so that only its size changes
    noise, other, mask = (rng.normal(size=hers.shape) for _ in range(3))
    sent = mask if setting.view == "masked" else hers + setting.share * noise
    # Two rounds, each with noise of its own.
    return hers, sent, hers + setting.share * setting.left**0.5 * (noise + other)


def render() -> None:
    """Controls, one sentence, what the server sees beside what it costs, the assumptions."""
    state = controls.page_state("federated", _say, FIELDS, HIDDEN)
    setting, place = Setting(**state.values), state.values["place"]
    readers, server = promised(setting)
    st.container(key="words").markdown(_sentence(setting))
    title = _say("hidden", noise=setting.seen) if setting.seen else _say("read")
    captions = _say("hers"), _say("arrives"), _say("sums")
    seen = seen_by_a_server(dict(zip(captions, pictures(setting), strict=True)), finding=title)
    look.pair((seen, "seen", _say("seen", title=title)), _price(setting))
    with look.people_below(_say("reader" if place == "server" else "server"), most_found(setting)):
        if place != "nobody":
            box = st.expander(_say("user_or_record"))
            if not state.moving:
                kept = _told(by_record(setting))
                box.markdown(_say("by_record", records=setting.records, by_record=kept))
        look.assumptions(a for one in (readers, server) if one for a in one.assumptions)


def _sentence(setting: Setting) -> str:
    """Who is promised what, and what the server reads."""
    readers, server = promised(setting)
    masked = setting.view == "masked"
    promise = _say(
        "promise.raw" if setting.share > 0 and not masked else f"promise.{setting.place}",
        readers=_told(readers),
        server=_told(server),
        stays=setting.left,
        clients=setting.clients,
        share=setting.share,
        times=setting.left**0.5,
    )
    return f"{promise} {_say('masks_hide' if masked else 'masks_none')}"


def _told(promised: Guarantee | None) -> str:
    """Epsilon and its kind."""
    if promised is None or not math.isfinite(promised.epsilon):
        return _say("kinds.none")
    least, most = round_down(promised.lower), round_up(promised.epsilon)
    return _say(f"kinds.{promised.kind}", least=least, most=most)


def _price(setting: Setting) -> tuple[Any, str, str]:
    """Epsilon as phones leave, where they add shares; else the noise on the mean by who adds it."""
    if setting.place == "phones":
        (x, lines), kind, here = over_dropouts(setting), "shares", setting.dropouts
        readers, _ = promised(setting)  # between two points of a line there are steps
        share, most = 100 * here, round_up(readers.epsilon if readers else math.inf)
        title = _say("kept", share=share, most=most)
        if setting.shares == "invited":
            planned = round_up(float(lines["invited"][0]))
            title = _say("taken", planned=planned, share=share, most=most)
        roles, dashed = ("exact", "wrong"), ("wrong",)
        axes, alt = (_say("gone"), _say("epsilon")), _say("leave", title=title)
    else:
        (x, lines), kind, here = over_clients(setting), "place", setting.clients
        title = _say("on_mean", noise=setting.of_sum / setting.left, stays=setting.left)
        if setting.place == "alone":
            title = _say("alone", times=setting.left**0.5)
        roles, dashed = ("exact", "second", "other"), ("second",)
        axes, alt = (_say("phones"), _say("deviation")), _say("costs", title=title)
    names = {name: _say(f"lines.{kind}.{name}") for name in lines}
    figure = price_lines(
        x,
        {names[name]: y for name, y in lines.items()},
        here=(here, names.get(getattr(setting, kind), "")),
        finding=title,
        roles=roles,
        dashed=dashed,
        axes=axes,
        log=kind == "place",
    )
    return figure, "costs", alt
