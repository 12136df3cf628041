"""Mechanisms: one law per file, each with its exact or dominating privacy profile."""

from dplearn.ground.registry import Registry
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms._outputs import Outputs
from dplearn.mechanisms.composed import Composed
from dplearn.mechanisms.correlated_gaussian import CorrelatedGaussian
from dplearn.mechanisms.discrete_gaussian import DiscreteGaussian
from dplearn.mechanisms.exponential import ExponentialMechanism
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.geometric import Geometric
from dplearn.mechanisms.laplace import Laplace
from dplearn.mechanisms.noisy_max import NoisyMax
from dplearn.mechanisms.poisson_subsampled import PoissonSubsampled
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.randomized_response import RandomizedResponse
from dplearn.mechanisms.shuffled import Shuffled
from dplearn.mechanisms.skellam import Skellam
from dplearn.mechanisms.sparse_vector import SparseVector
from dplearn.mechanisms.subset_sum import SubsetSum
from dplearn.mechanisms.summed_discrete_gaussian import SummedDiscreteGaussian
from dplearn.mechanisms.without_replacement import WithoutReplacement

MECHANISMS = Registry("dplearn.mechanisms", Mechanism)

__all__ = [
    "MECHANISMS",
    "Composed",
    "CorrelatedGaussian",
    "DiscreteGaussian",
    "ExponentialMechanism",
    "Gaussian",
    "Geometric",
    "Laplace",
    "Mechanism",
    "NoisyMax",
    "Outputs",
    "PoissonSubsampled",
    "RandomAllocation",
    "RandomizedResponse",
    "Shuffled",
    "Skellam",
    "SparseVector",
    "SubsetSum",
    "SummedDiscreteGaussian",
    "WithoutReplacement",
]
