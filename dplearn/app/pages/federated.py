"""Phones that train together: where noise stands, what the server sees, what a user is promised."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.app.kit import controls, look
from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.language import translated
from dplearn.app.kit.people import people
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State, idle, load, save
from dplearn.book.chapters.tradeoff.entries import approximate_dp_tradeoff
from dplearn.datasets import digits
from dplearn.federated import FederatedPlan, user_level
from dplearn.federated.noise import DistributedNoise
from dplearn.figures.prices import price_lines, seen_by_a_server
from dplearn.ground.guarantee import Guarantee, round_down, round_up
from dplearn.run import DPSGD

TITLE = "Federated"
GROUP = "Systems"
ORDER = 55

_ABOUT_PLACE = (
    "Nobody: exact sums. Server: it sees them and is trusted to add noise. Phones: each adds a "
    "share, and only the sum is noisy enough. Each alone: every phone adds all of the noise."
)
PLACE = Choice(
    "place",
    "Noise is added by",
    _ABOUT_PLACE,
    {
        "phones": "the phones, in shares",
        "server": "the server",
        "alone": "each phone alone",
        "nobody": "nobody",
    },
)
_ABOUT_VIEW = "With secure aggregation the server gets vectors under masks that cancel in the sum."
VIEW = Choice("view", "The server gets", _ABOUT_VIEW, {"masked": "masked", "raw": "raw"})
_ABOUT_SHARES = (
    "Who leaves takes noise along. A share is safe if those who stay at least have all of it."
)
SHARE_FOR = Choice(
    "shares",
    "A share is for",
    _ABOUT_SHARES,
    {"stay": "who stay", "invited": "all invited"},
)
CLIENTS = Quantity(
    "clients", "Phones in a round m", "", default=100, lower=10, upper=10_000, whole=True
)
_ABOUT_LEAVE = "Share of them that have left before they have sent anything."
DROPOUTS = Quantity(
    "dropouts", "Share that leaves", _ABOUT_LEAVE, default=0.3, lower=0, upper=0.9, even=True
)
_ABOUT_NOISE = (
    "Standard deviation of the noise on the sum, divided by C, the length to which a user's whole "
    "update is clipped."
)
NOISE = Quantity(
    "noise_multiplier", "Noise multiplier z", _ABOUT_NOISE, default=4, lower=0.01, upper=100
)
_ABOUT_RATE = (
    "Chance of a phone to be in a round. It helps against those who read the model; the server "
    "knows who takes part."
)
RATE = Quantity(
    "sample_rate", "Chance to take part q", _ABOUT_RATE, default=0.02, lower=1e-4, upper=1
)
ROUNDS = Quantity("rounds", "Rounds T", "", default=20, lower=1, upper=10_000, whole=True)
_ABOUT_RECORDS = "For the comparison with a run that clips and samples records."
RECORDS = Quantity(
    "records", "Records of a user", _ABOUT_RECORDS, default=20, lower=1, upper=1000, whole=True
)
NUMBERS = (NOISE, CLIENTS, DROPOUTS, ROUNDS, RATE, RECORDS, DELTA)


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    hidden = {"phones": (), **dict.fromkeys(("server", "alone", "nobody"), ("shares",))}
    return State(by_key(PLACE, VIEW, SHARE_FOR, *NUMBERS), idle({"place": hidden}))


# Numbers of an update, of which one is a digit's image, and units in C.
_NUMBERS, _UNITS = 650, 1024.0
# A user of whom a record is the fifth digit of the shipped ones.
_HERS = 5
_LEAVING = np.linspace(0, 0.9, 19)
# At which epsilon is asked for, to bound what an attacker finds.
_DELTAS = np.geomspace(1e-9, 0.3, 25)
# Lines of the pictures: who adds noise; whose shares make up all of it.
BY = {"phones": "in shares", "server": "a server", "alone": "each alone"}
SHARES = {False: "shares for who stay", True: "shares for all invited"}


@dataclass(frozen=True)
class Setting:
    """The page's controls."""

    place: str
    masked: bool
    invited: bool  # whether a share is for all who were invited
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
        by = {"alone": 1, "phones": self.clients if self.invited else self.left}
        return self.noise_multiplier / math.sqrt(by[self.place]) if self.place in by else 0.0

    @property
    def of_sum(self) -> float:
        """Multiplier of the noise on a sum as it is published."""
        return self.noise_multiplier if self.place == "server" else self.share * self.left**0.5

    @property
    def seen(self) -> float:
        """Multiplier of the least noisy sum, or vector, of which the server learns."""
        return self.share * (self.left**0.5 if self.masked else 1)


@lru_cache(maxsize=256)
def promised(setting: Setting) -> tuple[Guarantee | None, Guarantee | None]:
    """A user's guarantee against readers of the models, and the server; None where none is."""
    if setting.place == "nobody":
        return None, None
    if setting.place != "server":
        return _of_noise(replace(setting, masked=True)), _of_noise(setting)
    return _of_server(setting).guarantee(delta=setting.delta), None


@lru_cache(maxsize=256)
def found(setting: Setting) -> float:
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
    size = {"users": max(1, round(setting.clients / setting.sample_rate)), "max_update_norm": 1.0}
    same = {key: getattr(setting, key) for key in ("sample_rate", "rounds", "noise_multiplier")}
    return FederatedPlan(**size, **same, sampling="poisson")


@lru_cache(maxsize=256)
def by_record(setting: Setting) -> Guarantee:
    """A user's guarantee against readers, had single records been clipped and drawn."""
    drawn: dict[str, Any] = {"sample_rate": 1.0, "sampling": "none"}
    if setting.place == "server":
        drawn = {"sample_rate": setting.sample_rate, "sampling": "poisson"}
    run = DPSGD(noise_multiplier=setting.of_sum, steps=setting.rounds, **drawn)
    return user_level(run, records=setting.records, delta=setting.delta)


def _of_noise(setting: Setting) -> Guarantee:
    """Of whole-number noise that phones added, on the sum or on one vector."""
    size = {"max_update_norm": 1.0, "scale": _UNITS, "dimension": _NUMBERS}
    many = setting.left if setting.masked else 1
    noise = DistributedNoise(clients=many, noise_multiplier=setting.seen, **size)
    return noise.guarantee(delta=setting.delta, rounds=setting.rounds)


@lru_cache(maxsize=64)
def over_dropouts(setting: Setting) -> tuple[NDArray, dict[str, NDArray]]:
    """Epsilon from the sums for each share of phones that leaves, by whose noise makes up all."""
    lines, at = {}, replace(setting, place="phones", masked=True)
    for invited, name in SHARES.items():
        plans = [replace(at, invited=invited, dropouts=float(gone)) for gone in _LEAVING]
        lines[name] = np.array([_of_noise(plan).epsilon for plan in plans])
    return _LEAVING, lines


def over_clients(setting: Setting) -> tuple[NDArray, dict[str, NDArray]]:
    """Noise on a coordinate of the mean, in C, for each number of phones and way to add it."""
    clients = np.geomspace(10, 10_000, 31)
    lines = {}
    for place, name in BY.items():
        plans = [replace(setting, place=place, clients=round(m), invited=False) for m in clients]
        lines[name] = np.array([plan.of_sum / plan.left for plan in plans])
    return clients, lines


def pictures(setting: Setting) -> tuple[NDArray, NDArray, NDArray]:
    """An image of norm C in an update; what the server gets of it; two of its sums, subtracted."""
    hers = digits().images[_HERS].astype(float)
    hers /= np.linalg.norm(hers)
    rng = np.random.default_rng(14)  # the same at every setting, so that only its size changes
    noise, other, mask = (rng.normal(size=hers.shape) for _ in range(3))
    sent = mask if setting.masked else hers + setting.share * noise
    # Two rounds, each with noise of its own.
    return hers, sent, hers + setting.share * setting.left**0.5 * (noise + other)


_PURPOSE = (
    "Phones train on their own records and send how the model should change. A server adds up. "
    "Masks decide who sees what, noise decides what can be learnt from it."
)
_SENTENCES = {
    "nobody": "**No noise, no ε.** {stays} of {clients} phones stay.",
    "server": "Each user has **{readers}** against readers of the model, and **no ε** against the "
    "server, which sees every exact sum.",
    "phones": "Each user has **{server}** against the server and readers of the model. {stays} of "
    "{clients} phones stay, and each adds noise of {share:.3g} C.",
    "alone": "Each user has **{server}** against the server and readers of the model. Each phone "
    "adds noise of {share:.3g} C, {times:.3g} times a share.",
}
_RAW = (
    "Each user has **{server}** against the server, and **{readers}** against readers of the "
    "model. {stays} of {clients} phones stay, and each adds noise of {share:.3g} C."
)
_VIEWS = {
    True: "Masks hide every single update, so the server learns sums only.",
    False: "Without masks the server reads every update, with that phone's noise alone.",
}
_ATTACKERS = {
    True: "**A reader of the model looks for a user**",
    False: "**The server looks for a user**",
}
_BY_RECORD = (
    "Whole updates are clipped. Had single records been clipped, a user with "
    "{records} of them would have {by_record} against readers."
)
_KINDS = {
    "exact": "ε\u00a0=\u00a0{most} (exact)",
    "bracket": "{least}\u00a0≤\u00a0ε\u00a0≤\u00a0{most} (proved)",
    "upper": "ε\u00a0≤\u00a0{most} (upper bound)",
    "none": "no ε",
}
_READ = "Nothing hides her update from the server"
_HIDDEN = "Noise of {noise:.3g} C hides her update"
_SEEN = (
    "Three images of 8 times 8 pixels: a part of one user's update, what arrives of it at the "
    "server, and the difference of two sums with and without it. {title}."
)
_CAPTIONS = {
    "hers": "her<br>update",
    "arrives": "what<br>arrives of it",
    "sums": "two sums,<br>subtracted",
}
_MEAN = "Noise of {noise:.3g} C on the mean of {stays}"
_ALONE = "Alone: {times:.3g} times the noise of shares"
_COSTS = (
    "Noise on the mean of the updates against the number of phones in a round, a falling line for "
    "each place of the noise. {title}."
)
_TAKEN = "{share:.0f}\u00a0% left with their noise: ε ≤ {most}, not {planned}"
_KEPT = "ε ≤ {most}, whoever of the {share:.0f}\u00a0% leaves"
_LEAVE = (
    "Epsilon of a user against the share of phones that leaves: flat if shares of noise are for "
    "those who stay, rising if they are for all invited. {title}."
)
_GONE, _EPSILON = "share of phones that leaves", "ε of a user, from the sums"
_PHONES, _DEVIATION = "phones in a round", "noise on the mean, in C"


def render() -> None:
    """Controls, one sentence, what the server sees beside what it costs, the assumptions."""
    entered = load("federated", state)
    with st.sidebar:
        setting = _sidebar(entered)
    save(entered)
    _outcome(setting, moving=entered.moving)


def _sidebar(state: State) -> Setting:
    """All controls, and what they describe."""
    st.markdown(translated("**dplearn** · phones and a server"), help=translated(_PURPOSE))
    controls.choice(state, PLACE)
    controls.choice(state, VIEW, widget="segments")
    if state.values["place"] == "phones":
        controls.choice(state, SHARE_FOR, widget="segments")
    for kind in NUMBERS:
        controls.quantity(state, kind)
    value = state.values
    return Setting(
        place=value["place"],
        masked=value["view"] == "masked",
        invited=value["place"] == "phones" and value["shares"] == "invited",
        **{kind.key: value[kind.key] for kind in NUMBERS},
    )


def _outcome(setting: Setting, *, moving: bool) -> None:
    """The sentence, the pictures and what they assume; less of it while a slider moves."""
    readers, server = promised(setting)
    words = {
        "stays": setting.left,
        "clients": setting.clients,
        "share": setting.share,
        "times": setting.left**0.5,
        "readers": _told(readers),
        "server": _told(server),
    }
    raw = setting.share > 0 and not setting.masked
    promise = translated(_RAW if raw else _SENTENCES[setting.place], **words)
    with st.container(key="words"):
        st.markdown(f"{promise} {translated(_VIEWS[setting.masked])}")
    left, right = look.pair()
    with left.container(key="pair_seen"):
        title = translated(_HIDDEN if setting.seen else _READ, noise=setting.seen)
        captions = [translated(_CAPTIONS[which]) for which in _CAPTIONS]
        seen = dict(zip(captions, pictures(setting), strict=True))
        alt = translated(_SEEN, title=title)
        look.chart(seen_by_a_server(seen, finding=title), "seen", alt)
    with right.container(key="pair_costs"):
        (_leaving if setting.place == "phones" else _costs)(setting)
    left, right = look.below()
    with left:
        st.markdown(translated(_ATTACKERS[setting.place == "server"]))
        people(found(setting))
    with right:
        if setting.place != "nobody":
            box = st.expander(translated("User or record?"))
            if not moving:
                kept = _told(by_record(setting))
                told = translated(_BY_RECORD, records=setting.records, by_record=kept)
                box.markdown(told)
        look.assumptions(a for one in (readers, server) if one for a in one.assumptions)


def _told(promised: Guarantee | None) -> str:
    """Epsilon and its kind."""
    if promised is None or not math.isfinite(promised.epsilon):
        return translated(_KINDS["none"])
    least, most = round_down(promised.lower), round_up(promised.epsilon)
    return translated(_KINDS[promised.kind], least=least, most=most)


def _leaving(setting: Setting) -> None:
    """Why shares are for those who stay: epsilon as phones leave."""
    x, lines = over_dropouts(setting)
    readers, _ = promised(setting)  # between two points of a line there are steps
    most = round_up(readers.epsilon if readers else math.inf)
    told = {"share": 100 * setting.dropouts, "most": most}
    title = translated(_KEPT, **told)
    if setting.invited:
        title = translated(_TAKEN, planned=round_up(float(lines[SHARES[True]][0])), **told)
    here = (setting.dropouts, SHARES[setting.invited])
    look_of = {"roles": ("exact", "wrong"), "dashed": ("wrong",), "axes": (_GONE, _EPSILON)}
    figure = price_lines(x, lines, here=here, finding=title, **look_of)
    look.chart(figure, "costs", translated(_LEAVE, title=title))


def _costs(setting: Setting) -> None:
    """Why shares at all: noise on the mean by who adds it."""
    x, lines = over_clients(setting)
    title = translated(_MEAN, noise=setting.of_sum / setting.left, stays=setting.left)
    if setting.place == "alone":
        title = translated(_ALONE, times=setting.left**0.5)
    here = (setting.clients, BY.get(setting.place, ""))
    look_of = {"roles": ("exact", "second", "other"), "dashed": ("second",), "log": True}
    figure = price_lines(x, lines, here=here, axes=(_PHONES, _DEVIATION), finding=title, **look_of)
    look.chart(figure, "costs", translated(_COSTS, title=title))
