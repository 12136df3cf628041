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
from dplearn.ledger import PrivacyFilter, PrivacyOdometer
from dplearn.mechanisms import (
    MECHANISMS,
    Composed,
    CorrelatedGaussian,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    PoissonSubsampled,
    RandomAllocation,
    RandomizedResponse,
    Shuffled,
    SparseVector,
    SubsetSum,
    WithoutReplacement,
)
from dplearn.run import DPSGD, Phases
from dplearn.sweeps import sweep
from dplearn.tuning import Tuned

__all__ = [
    "ACCOUNTANTS",
    "DPSGD",
    "MECHANISMS",
    "Composed",
    "CorrelatedGaussian",
    "DiscreteGaussian",
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Guarantee",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "Phases",
    "PoissonSubsampled",
    "PrivacyFilter",
    "PrivacyOdometer",
    "Profile",
    "RandomAllocation",
    "RandomizedResponse",
    "Shuffled",
    "SparseVector",
    "SubsetSum",
    "Tuned",
    "WithoutReplacement",
    "largest_sample_rate",
    "largest_steps",
    "smallest_delta",
    "smallest_noise_multiplier",
    "sweep",
]
