"""Random mechanisms, steps and deltas: log-uniform, with the ends of every range."""

from collections.abc import Callable

import numpy as np
from support.sweep import PLD

from dplearn import (
    MECHANISMS,
    Composed,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomAllocation,
    RandomizedResponse,
    Shuffled,
    WithoutReplacement,
)
from dplearn.core.guarantee import ADJACENCIES
from dplearn.mechanisms import Mechanism

Rng = np.random.Generator


def spread(rng: Rng, low: float, high: float) -> float:
    """Log-uniform; a tenth of the draws lands on an end."""
    part = rng.choice([0.0, 1.0]) if rng.random() < 0.1 else rng.random()
    return float(low * (high / low) ** part)


def some_steps(rng: Rng, largest: float) -> int:
    return round(spread(rng, 1, largest))


def some_rate(rng: Rng) -> float:
    """From 1e-8 to 1, as often near the one as near the other."""
    return spread(rng, 1e-8, 1) if rng.random() < 0.7 else 1 - spread(rng, 1e-6, 1) * (1 - 1e-8)


def some_delta(rng: Rng) -> float:
    """Mostly what people ask for, sometimes nearly 1 or hardly a number."""
    ranges = [(1e-30, 1e-3), (1e-3, 0.9), (1e-60, 1e-30)]
    return spread(rng, *ranges[rng.choice(3, p=[0.7, 0.15, 0.15])])


def some_noise(rng: Rng) -> float:
    return spread(rng, 1e-2, 1e3)


def _whole_number(rng: Rng) -> int:
    return int(rng.integers(1, 5))


BASES: dict[str, Callable[[Rng], Mechanism]] = {
    "gaussian": lambda rng: Gaussian(some_noise(rng)),
    "laplace": lambda rng: Laplace(some_noise(rng)),
    "geometric": lambda rng: Geometric(some_noise(rng), _whole_number(rng)),
    "discrete_gaussian": lambda rng: DiscreteGaussian(some_noise(rng), _whole_number(rng)),
    "exponential": lambda rng: ExponentialMechanism(spread(rng, 1e-3, 40)),
    "randomized_response": lambda rng: RandomizedResponse(
        spread(rng, 1e-3, 40), int(rng.choice([2, 2, 3, 10, 1000]))
    ),
}


def some_base(rng: Rng) -> Mechanism:
    return BASES[str(rng.choice([n for n in BASES if n != "randomized_response"]))](rng)


def some_list(rng: Rng) -> Composed:
    """Two to four mechanisms of any kind that share an adjacency."""
    size = int(rng.integers(2, 5))
    kinds = ["base", "poisson_subsampled"] if rng.random() < 0.5 else ["base", *_ONE_REPLACED]
    parts = [MAKERS[str(rng.choice(kinds))](rng) for _ in range(size)]
    return Composed([(part, some_steps(rng, 1e4)) for part in parts])


_ONE_REPLACED = ["randomized_response", "without_replacement", "shuffled"]
MAKERS: dict[str, Callable[[Rng], Mechanism]] = {
    **BASES,
    "base": some_base,
    "poisson_subsampled": lambda rng: PoissonSubsampled(some_base(rng), some_rate(rng)),
    "without_replacement": lambda rng: WithoutReplacement(some_base(rng), some_rate(rng)),
    "shuffled": lambda rng: Shuffled(Gaussian(some_noise(rng)), some_steps(rng, 1e6)),
    "random_allocation": lambda rng: RandomAllocation(
        Gaussian(some_noise(rng)), some_steps(rng, 1e5)
    ),
    "composed": some_list,
}


def some_mechanism(rng: Rng) -> Mechanism:
    """One of every registered kind with equal chance; a kind unknown here by its examples."""
    name = str(rng.choice(list(MECHANISMS)))
    if name in MAKERS:
        return MAKERS[name](rng)
    examples = MECHANISMS[name].examples()
    return examples[rng.integers(len(examples))]


def some_adjacency(rng: Rng, mechanism: Mechanism) -> str:
    able = [a for a in ADJACENCIES if PLD().supports(mechanism, a)]
    return str(rng.choice(able))
