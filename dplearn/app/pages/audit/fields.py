"""What a reader can set about a program, its claim and the auditor."""

from collections.abc import Mapping

from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State

PROGRAM = Choice(
    "program",
    "Program under audit",
    "All but the first promise more than they keep.",
    {
        "correct": "as claimed",
        "again": "every lot used twice",
        "forgets": "noise without C",
        "unclipped": "no clipping",
        "short": "no clipping, short canaries",
        "twice": "noise divided by L twice",
    },
)
EPSILON = Quantity(
    "epsilon", "Claimed ε", "What the report says, at δ below.", default=3, lower=0.1, upper=10
)
_ABOUT_CANARIES = "Made-up records. A fair coin decides for each whether it is in the data."
CANARIES = Quantity(
    "canaries", "Canaries", _ABOUT_CANARIES, default=1000, lower=20, upper=10_000, whole=True
)
_ABOUT_GUESSES = (
    "Fixed before anybody looks: half of them say “in” of the highest scores, half “out” of the "
    "lowest."
)
GUESSES = Quantity(
    "guesses", "Guesses", _ABOUT_GUESSES, default=200, lower=2, upper=2000, whole=True
)
CONFIDENCE = Choice(
    "confidence",
    "Confidence",
    "How rarely an honest program may be accused: at 99.9 % once in a thousand audits.",
    {level: f"{100 * float(level):g}\u00a0%" for level in ("0.9", "0.99", "0.999", "0.9999")},
    "0.999",
)
ASSUME = Choice(
    "assume",
    "Presumed of the program",
    "Gaussian noise has a better curve than its ε says. Whoever presumes it proves more, and is "
    "wrong where it is not true.",
    {"any": "nothing", "gaussian": "Gaussian noise"},
)
RUN = Quantity(
    "run", "Run", "New coins and new noise.", default=1, lower=1, upper=61, whole=True, even=True
)


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    kinds = (PROGRAM, EPSILON, CANARIES, GUESSES, CONFIDENCE, ASSUME, RUN, DELTA)
    return State(by_key(*kinds))
