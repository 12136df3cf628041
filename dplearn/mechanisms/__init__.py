"""Mechanisms: randomised releases with exact or dominating privacy profiles."""

from dplearn.core.registry import Registry
from dplearn.mechanisms._base import Mechanism, Outputs
from dplearn.mechanisms._known import ZCDP, ApproximateDP
from dplearn.mechanisms.choices import ExponentialMechanism, PermuteAndFlip, RandomizedResponse
from dplearn.mechanisms.composed import Composed
from dplearn.mechanisms.correlated_gaussian import CorrelatedGaussian
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.laplace import Laplace
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.sampled import PoissonSubsampled, WithoutReplacement
from dplearn.mechanisms.shuffled import Shuffled
from dplearn.mechanisms.whole_numbers import DiscreteGaussian, Geometric

MECHANISMS = Registry("dplearn.mechanisms", Mechanism)

__all__ = [
    "MECHANISMS",
    "ZCDP",
    "ApproximateDP",
    "Composed",
    "CorrelatedGaussian",
    "DiscreteGaussian",
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Laplace",
    "Mechanism",
    "Outputs",
    "PermuteAndFlip",
    "PoissonSubsampled",
    "RandomAllocation",
    "RandomizedResponse",
    "Shuffled",
    "WithoutReplacement",
]
