"""What a reader can set about phones and a server."""

from collections.abc import Mapping

from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State, idle

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
SHARES = Choice(
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
    return State(by_key(PLACE, VIEW, SHARES, *NUMBERS), idle({"place": hidden}))
