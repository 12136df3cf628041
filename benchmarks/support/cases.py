"""What is measured: runs, calibration targets and single mechanisms."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from dplearn import (
    Composed,
    DiscreteGaussian,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
)
from dplearn.mechanisms import Mechanism


class Setting(NamedTuple):
    """A Poisson-sampled Gaussian run, one record added or removed."""

    name: str
    sigma: float
    q: float
    delta: float

    @property
    def step(self) -> Mechanism:
        return PoissonSubsampled(Gaussian(self.sigma), self.q)

    def __str__(self) -> str:
        return f"{self.name}: σ {self.sigma:g}, q {self.q:.4g}, δ {self.delta:g}"


class Target(NamedTuple):
    """What a calibration is asked for."""

    epsilon: float
    delta: float
    q: float
    steps: int

    def __str__(self) -> str:
        return f"ε {self.epsilon:g}, δ {self.delta:g}, q {self.q:.4g}, T {self.steps}"


@dataclass(frozen=True)
class Single:
    """One question about another mechanism.

    `dpa` holds dp-accounting's constructor and parameters of every part; () where it has none.
    """

    label: str
    mechanism: Mechanism
    steps: int
    delta: float
    dpa: tuple[tuple[str, dict[str, Any]], ...] = ()
    adjacency: str = "add_remove"


SETTINGS = (
    Setting("S1", 1.1, 256 / 60000, 1e-5),
    Setting("S2", 4.0, 0.01, 1e-5),
    Setting("S3", 0.8, 0.001, 1e-6),
    Setting("S4", 0.5, 0.01, 1e-6),
    Setting("S5", 2.0, 0.1, 1e-5),
    Setting("S6", 10.0, 1.0, 1e-5),
)

TARGETS = (
    Target(1.0, 1e-5, 0.01, 10_000),
    Target(3.0, 1e-5, 256 / 60000, 14_062),
    Target(8.0, 1e-6, 0.1, 1_000),
)

_LAPLACE, _GAUSSIAN = "from_laplace_mechanism", "from_gaussian_mechanism"
_GEOMETRIC, _WHOLE = "from_discrete_laplace_mechanism", "from_discrete_gaussian_mechanism"

SINGLES = (
    Single("Laplace, b 20", Laplace(20.0), 1000, 1e-5, ((_LAPLACE, {"parameter": 20.0}),)),
    Single("Laplace, b 10", Laplace(10.0), 1000, 1e-20, ((_LAPLACE, {"parameter": 10.0}),)),
    Single(
        "sampled Laplace, b 1, q 0.01",
        PoissonSubsampled(Laplace(1.0), 0.01),
        1000,
        1e-6,
        ((_LAPLACE, {"parameter": 1.0, "sampling_prob": 0.01}),),
    ),
    # Noise is in contribution norms; a replaced record moves the query by two of them.
    Single(
        "without replacement, σ 2 replace-one distances, q 0.1",
        WithoutReplacement(Gaussian(4.0), 0.1),
        100,
        1e-5,
        adjacency="replace_one",
    ),
    Single(
        "without replacement, σ 4 replace-one distances, q 0.01",
        WithoutReplacement(Gaussian(8.0), 0.01),
        10_000,
        1e-5,
        adjacency="replace_one",
    ),
    # Theirs: with probability 0.9 a fair coin answers, hence truth 0.1 + 0.45.
    Single(
        "randomized response, truth 0.55",
        RandomizedResponse.from_probability(truth=0.55),
        1000,
        1e-6,
        (("from_randomized_response", {"noise_parameter": 0.9, "num_buckets": 2}),),
        adjacency="replace_one",
    ),
    Single("geometric, b 10", Geometric(10.0), 1000, 1e-6, ((_GEOMETRIC, {"parameter": 0.1}),)),
    Single(
        "discrete Gaussian, σ 10", DiscreteGaussian(10.0), 1000, 1e-6, ((_WHOLE, {"sigma": 10.0}),)
    ),
    Single(
        "sampled Gaussian σ 1, q 0.01 × 500; Laplace b 20 × 20; Gaussian σ 10 × 5",
        Composed(
            [
                (PoissonSubsampled(Gaussian(1.0), 0.01), 500),
                (Laplace(20.0), 20),
                (Gaussian(10.0), 5),
            ]
        ),
        1,
        1e-6,
        (
            (_GAUSSIAN, {"standard_deviation": 1.0, "sampling_prob": 0.01}),
            (_LAPLACE, {"parameter": 20.0}),
            (_GAUSSIAN, {"standard_deviation": 10.0}),
        ),
    ),
)
