"""How batches are drawn: by a scheme for every step, or one for every epoch."""

import math
from typing import Literal, NamedTuple, Self, get_args

from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.sampled import PoissonSubsampled, WithoutReplacement
from dplearn.mechanisms.shuffled import Shuffled

# Drawn afresh for every step, and drawn once per epoch.
StepSampling = Literal["poisson", "without_replacement", "none"]
EpochSampling = Literal["shuffled", "random_allocation"]
Sampling = StepSampling | EpochSampling
SAMPLINGS: tuple[StepSampling, ...] = get_args(StepSampling)
EPOCH_SAMPLINGS: tuple[EpochSampling, ...] = get_args(EpochSampling)

# Within this, relative, 1 / sample_rate counts as whole.
_ROUNDING = 1e-9

_NATURAL: dict[str, Adjacency] = {"without_replacement": "replace_one", "shuffled": "zero_out"}


def natural_adjacency(sampling: Sampling) -> Adjacency:
    """Adjacency for which the sampling scheme has a theorem.

    Examples
    --------
    >>> [natural_adjacency(s) for s in ("poisson", "without_replacement", "shuffled")]
    ['add_remove', 'replace_one', 'zero_out']
    """
    validate.one_of(SAMPLINGS + EPOCH_SAMPLINGS, sampling=sampling)
    return _NATURAL.get(sampling, "add_remove")


def steps_of(epochs: float, *, batches: float) -> int:
    """Number of steps in so many epochs of `batches` each, the begun one included.

    Examples
    --------
    >>> steps_of(15, batches=60_000 / 256), steps_of(15, batches=60_000 / 240)
    (3516, 3750)
    """
    validate.non_negative(steps=epochs * batches)
    # A hair of slack: 15 * 60000 / 240 must not become 3751 through rounding.
    return math.ceil(epochs * batches - 1e-9)


def sampled(base: Mechanism, *, sampling: StepSampling, sample_rate: float) -> Mechanism:
    """Mechanism of one step: `base` on a sample drawn by a scheme of `SAMPLINGS`.

    ``"none"`` draws all records and has the rate 1.
    """
    validate.one_of(SAMPLINGS, sampling=sampling)
    validate.rate(sample_rate=sample_rate)
    if sampling == "poisson":
        return PoissonSubsampled(base, sample_rate)
    if sampling == "without_replacement":
        return WithoutReplacement(base, sample_rate)
    if sample_rate != 1:
        raise ValueError(
            f"Expected sample_rate = 1 with sampling='none', got sample_rate={sample_rate!r}."
        )
    return base


def epoch(
    base: Gaussian,
    *,
    sampling: EpochSampling,
    sample_rate: float,
    leaves_out: bool = False,
    batch_size: int = 1,
) -> Shuffled | RandomAllocation:
    """Mechanism of one epoch: `base` on every batch, drawn by a scheme of `EPOCH_SAMPLINGS`.

    It has ``floor(1 / sample_rate)`` batches, up to a relative rounding error of 1e-9. The rest of
    a shuffled one that `leaves_out` is not used; if there is no rest, one record of very many.
    Records of a batch hide each other by a theorem only if there is no rest and all are used.

    Examples
    --------
    >>> epoch(Gaussian(1.0), sampling="shuffled", sample_rate=256 / 60_000).batches
    234
    """
    validate.one_of(EPOCH_SAMPLINGS, sampling=sampling)
    validate.rate(sample_rate=sample_rate)
    batches = math.floor((1 + _ROUNDING) / sample_rate)
    if sampling == "random_allocation":
        return RandomAllocation(base, batches)
    rest = 1 - batches * sample_rate
    if leaves_out:
        return Shuffled(base, batches, max(rest, _ROUNDING))
    return Shuffled(base, batches, batch_size=batch_size if abs(rest) <= _ROUNDING else 1)


class Drawing(NamedTuple):
    """Lots that a run draws at once, one for a step or all of an epoch, and their mechanism."""

    mechanism: Mechanism
    batches: int  # lots, one per step
    whole: bool  # whether it is known what they do with the rest
    steps: int  # that are done in this way

    @classmethod
    def of(
        cls,
        base: Gaussian,
        sampling: Sampling,
        sample_rate: float,
        leaves_out: bool,
        steps: int,
        batch_size: int = 1,
    ) -> Self:
        """The drawing of a run of `steps` steps by a scheme of either kind."""
        if sampling in SAMPLINGS:
            return cls(sampled(base, sampling=sampling, sample_rate=sample_rate), 1, True, steps)
        mechanism = epoch(
            base,
            sampling=sampling,  # type: ignore[arg-type]
            sample_rate=sample_rate,
            leaves_out=leaves_out,
            batch_size=batch_size,
        )
        whole = leaves_out or abs(mechanism.batches * sample_rate - 1) <= _ROUNDING
        return cls(mechanism, mechanism.batches, whole, steps)
