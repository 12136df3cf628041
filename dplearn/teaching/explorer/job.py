"""A training that the page asks for and its worker runs: of both, and of neither's libraries."""

import json
from dataclasses import dataclass, fields
from functools import lru_cache

from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.datasets import PRACTICE_SIZES
from dplearn.run import DPSGD

# Seconds of processor time and bytes that a job may take, and seconds for which nobody looks at it.
# Browsers let a page that is hidden look once a minute.
SECONDS, MEMORY, PATIENCE = 120.0, 4e9, 90.0
# Classes of `dplearn.training`.
BOUNDS = "Flat", "PerLayer", "Automatic", "AdaptiveQuantile"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A training with Poisson sampling, no larger than a server for many grants."""

    dataset: str  # of `PRACTICE_SIZES`
    model: str  # of `dplearn.teaching.explorer.models.MODELS`
    noise_multiplier: float
    sample_rate: float
    steps: int
    max_grad_norm: float
    learning_rate: float
    delta: float
    compare: bool = True  # the same model without privacy, side by side
    bound: str = "Flat"  # of `BOUNDS`

    def __post_init__(self) -> None:
        validate.one_of(tuple(PRACTICE_SIZES), dataset=self.dataset)
        validate.one_of(BOUNDS, bound=self.bound)
        validate.between(0.1, 1e5, noise_multiplier=self.noise_multiplier)
        validate.between(1e-5, 1, sample_rate=self.sample_rate)
        validate.integer(minimum=1, maximum=5000, steps=self.steps)
        validate.between(1e-4, 1e4, max_grad_norm=self.max_grad_norm)
        validate.between(1e-5, 1e4, learning_rate=self.learning_rate)
        validate.between(1e-12, 0.1, delta=self.delta)
        validate.instance(bool, compare=self.compare)

    @classmethod
    def of_line(cls, line: bytes) -> "Job":
        """The job in a line of JSON; raises, with one sentence that says why, if it is none."""
        try:
            given = json.loads(line)
        except ValueError:
            given = None
        names = {f.name for f in fields(cls)}
        if not isinstance(given, dict) or not names - {"compare", "bound"} <= set(given) <= names:
            expected, got = ", ".join(sorted(names)), line[:60].decode(errors="replace").strip()
            raise ValueError(
                f"Expected a job, one line of JSON with {expected}, got {got or 'nothing'}."
            )
        return cls(**given)

    @property
    def plan(self) -> DPSGD:
        """The private run."""
        return DPSGD(
            noise_multiplier=self.noise_multiplier,
            sample_rate=self.sample_rate,
            steps=self.steps,
            max_grad_norm=self.max_grad_norm,
        )

    @property
    def lot(self) -> float:
        """Expected number of records in a step."""
        return self.sample_rate * PRACTICE_SIZES[self.dataset]

    @property
    def count_noise(self) -> float:
        """Noise on the count that an adaptive bound follows: a twentieth of the lot, or enough."""
        adaptive = self.bound == "AdaptiveQuantile"  # Andrew et al. (2021)
        return max(self.lot / 20, self.noise_multiplier) if adaptive else 0.0


@lru_cache(maxsize=512)
def spent(job: Job, steps: int) -> Guarantee:
    """Guarantee of so many steps of a job."""
    return job.plan.guarantee(delta=job.delta, steps=steps)
