"""What a user is promised, by where the noise is; and what the server sees of one of them."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.datasets import digits
from dplearn.federated import FederatedPlan, user_level
from dplearn.federated.noise import DistributedNoise
from dplearn.ground.guarantee import Guarantee
from dplearn.run import DPSGD

# Numbers of an update, of which one is a digit's image, and units in C.
_NUMBERS, _UNITS = 650, 1024.0
# A user of whom a record is the fifth digit of the shipped ones.
_HERS = 5
_LEAVING = np.linspace(0, 0.9, 19)
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
    size = {"users": max(1, round(setting.clients / setting.sample_rate)), "max_update_norm": 1.0}
    same = {key: getattr(setting, key) for key in ("sample_rate", "rounds", "noise_multiplier")}
    plan = FederatedPlan(**size, **same, sampling="poisson")
    return plan.guarantee(delta=setting.delta), None


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
