"""Learn, see and check differential privacy for deep learning."""

from dplearn.accountants import ACCOUNTANTS
from dplearn.calibrate import (
    largest_sample_rate,
    largest_steps,
    smallest_delta,
    smallest_noise_multiplier,
)
from dplearn.core.guarantee import Guarantee
from dplearn.engine.profile import Profile
from dplearn.ledger import Ledger
from dplearn.mechanisms import *  # noqa: F403
from dplearn.mechanisms import __all__ as _mechanisms
from dplearn.run import DPSGD, Phases
from dplearn.sweeps import sweep
from dplearn.tuning import Tuned

__all__ = [
    *_mechanisms,
    "ACCOUNTANTS",
    "DPSGD",
    "Guarantee",
    "Ledger",
    "Phases",
    "Profile",
    "Tuned",
    "largest_sample_rate",
    "largest_steps",
    "smallest_delta",
    "smallest_noise_multiplier",
    "sweep",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("dplearn-privacy")
    raise AttributeError(f"module 'dplearn' has no attribute {name!r}")
