"""Sampling schemes, which draw a batch for every step, or all batches of an epoch at once."""

import math
from typing import Literal, NamedTuple, Self, get_args

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.sampled import PoissonSubsampled, WithoutReplacement
from dplearn.mechanisms.shuffled import Shuffled

StepSampling = Literal["poisson", "without_replacement", "none"]  # drawn independently every step
EpochSampling = Literal["shuffled", "random_allocation"]  # drawn once per epoch
Sampling = StepSampling | EpochSampling
SAMPLINGS: tuple[StepSampling, ...] = get_args(StepSampling)
EPOCH_SAMPLINGS: tuple[EpochSampling, ...] = get_args(EpochSampling)
EVERY_SAMPLING = (*SAMPLINGS, *EPOCH_SAMPLINGS)
_ROUNDING = 1e-9  # up to this relative error, 1 / sample_rate counts as whole
_NATURAL: dict[str, Adjacency] = {"without_replacement": "replace_one", "shuffled": "zero_out"}


def default_adjacency(sampling: Sampling) -> Adjacency:
    """Return the default adjacency of a sampling scheme; a theorem covers the scheme under it."""
    validate.one_of(EVERY_SAMPLING, sampling=sampling)
    return _NATURAL.get(sampling, "add_remove")


def sampled(base: Mechanism, *, sampling: StepSampling, sample_rate: float) -> Mechanism:
    """Return the mechanism of one step: `base` on a batch drawn by one of `SAMPLINGS`."""
    validate.one_of(SAMPLINGS, sampling=sampling)
    validate.rate(sample_rate=sample_rate)
    if sampling == "poisson":
        return PoissonSubsampled(base, sample_rate)
    if sampling == "without_replacement":
        return WithoutReplacement(base, sample_rate)
    if sample_rate != 1:
        raise ValueError(f"Expected sample_rate = 1 with sampling='none', got {sample_rate=!r}.")
    return base


class SamplingScheme(NamedTuple):
    """Mechanism of one step or one epoch, the number of batches in it, and the steps of the run."""

    mechanism: Mechanism
    batches: int  # 1 for a step; for an epoch, its number of steps
    whole: bool  # whether an epoch has no incomplete batch, or drops it
    steps: int  # number of steps of the run

    @classmethod
    def of(
        cls, base: Gaussian, sampling: Sampling, rate: float, steps: int, *, drop_last: bool = False
    ) -> Self:
        """Return the scheme for a run of `steps` steps with noise `base` and a sampling rate.

        An epoch has ``floor(1 / rate)`` batches, up to a relative rounding error of 1e-9.
        With `drop_last` a shuffled epoch omits the records of an incomplete batch, at least one.
        """
        validate.one_of(EVERY_SAMPLING, sampling=sampling)
        validate.rate(sample_rate=rate)
        if sampling in SAMPLINGS:
            return cls(sampled(base, sampling=sampling, sample_rate=rate), 1, True, steps)
        batches = math.floor((1 + _ROUNDING) / rate)
        whole = drop_last or abs(batches * rate - 1) <= _ROUNDING
        if sampling == "random_allocation":
            return cls(RandomAllocation(base, batches), batches, whole, steps)
        # At least one record is left out even if 1 / rate is whole: use a tiny positive fraction.
        left_out = max(1 - batches * rate, _ROUNDING) if drop_last else 0.0
        return cls(Shuffled(base, batches, left_out), batches, whole, steps)
