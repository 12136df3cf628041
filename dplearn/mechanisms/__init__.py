"""Mechanisms: randomised releases with exact or dominating privacy profiles.

Examples
--------
>>> noise = Gaussian(1.0), DiscreteGaussian(1.0), Laplace(1.0), Geometric(1.0)
>>> for release in (*noise, ExponentialMechanism(1.0), PermuteAndFlip(1.0)):
...     (profile,) = release.profiles()
...     print(release, round(float(profile.delta(0.5)), 6))
Gaussian(noise_multiplier=1.0) 0.238422
DiscreteGaussian(noise_multiplier=1.0, sensitivity=1) 0.203983
Laplace(noise_multiplier=1.0) 0.221199
Geometric(noise_multiplier=1.0, sensitivity=1) 0.287649
ExponentialMechanism(range_epsilon=1.0) 0.077405
PermuteAndFlip(gap_epsilon=1.0) 0.221199
>>> answers, step = RandomizedResponse.from_probability(truth=0.75), Gaussian(1.0)
>>> for release in (answers, WithoutReplacement(step, 0.01), PoissonSubsampled(step, 0.01)):
...     print(release.guarantee(delta=1e-5, steps=10, adjacency="replace_one"))
10.98 <= epsilon <= 10.99 at delta = 1.0e-05, replace_one, by pld
4.36 <= epsilon <= 4.378 at delta = 1.0e-05, replace_one, by pld
0.4075 <= epsilon <= 0.4076 at delta = 1.0e-05, replace_one, by pld
>>> for epoch in (RandomAllocation(step, 1000), Shuffled(Gaussian(2.0), 234, left_out=1e-3)):
...     print(epoch.guarantee(delta=1e-5, adjacency="zero_out"))
0.1386 <= epsilon <= 0.1392 at delta = 1.0e-05, zero_out, by pld
0.2644 <= epsilon <= 0.2756 at delta = 1.0e-05, zero_out, by pld
>>> for known in (ZCDP(0.1), Composed([ZCDP(0.08), (ApproximateDP(0.1), 4)])):
...     print(known.guarantee("zcdp", delta=1e-5))
epsilon <= 1.915 at delta = 1.0e-05, add_remove, by zcdp
epsilon <= 1.915 at delta = 1.0e-05, add_remove, by zcdp
"""

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
