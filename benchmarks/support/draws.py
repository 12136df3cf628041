"""Random mechanisms, steps and deltas: log-uniform, with the ends of every range."""

from collections.abc import Callable

import numpy as np
from support.sweep import PLD

from dplearn import (
    Composed,
    DiscreteGaussian,
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    WithoutReplacement,
    mechanisms,
)
from dplearn.ground.guarantee import ADJACENCIES
from dplearn.mechanisms import Mechanism

Rng = np.random.Generator


def spread(rng: Rng, low: float, high: float) -> float:
    """Log-uniform; a tenth of the draws lands on an end."""
    part = rng.choice([0.0, 1.0]) if rng.random() < 0.1 else rng.random()
    return float(low * (high / low) ** part)


def some_steps(rng: Rng, largest: float) -> int:
    return round(spread(rng, 1, largest))


def some_delta(rng: Rng) -> float:
    """Mostly what people ask for, sometimes nearly 1 or hardly a number."""
    low, high = [(1e-30, 1e-3), (1e-3, 0.9), (1e-200, 1e-30)][rng.choice(3, p=[0.9, 0.05, 0.05])]
    return spread(rng, low, high)


def _whole_number(rng: Rng) -> int:
    return int(rng.integers(1, 5))


BASES: dict[str, Callable[[Rng], Mechanism]] = {
    "gaussian": lambda rng: Gaussian(spread(rng, 0.3, 100)),
    "laplace": lambda rng: Laplace(spread(rng, 0.2, 200)),
    "geometric": lambda rng: Geometric(spread(rng, 0.2, 100), _whole_number(rng)),
    "discrete_gaussian": lambda rng: DiscreteGaussian(spread(rng, 0.3, 30), _whole_number(rng)),
    "exponential": lambda rng: ExponentialMechanism(spread(rng, 0.01, 5)),
    "randomized_response": lambda rng: RandomizedResponse(
        spread(rng, 0.01, 12), int(rng.choice([2, 2, 3, 10, 1000]))
    ),
}


def some_base(rng: Rng) -> Mechanism:
    return BASES[str(rng.choice([n for n in BASES if n != "randomized_response"]))](rng)


def some_list(rng: Rng) -> Composed:
    return Composed(
        [(some_base(rng), some_steps(rng, 100)) for _ in range(int(rng.integers(2, 5)))]
    )


MAKERS = {
    **BASES,
    "poisson_subsampled": lambda rng: PoissonSubsampled(some_base(rng), spread(rng, 1e-4, 1)),
    "without_replacement": lambda rng: WithoutReplacement(some_base(rng), spread(rng, 1e-4, 1)),
    "composed": some_list,
}


def some_mechanism(rng: Rng) -> Mechanism:
    """One of every registered kind with equal chance; a kind unknown here by its examples."""
    name = str(rng.choice(list(mechanisms)))
    if name in MAKERS:
        return MAKERS[name](rng)
    examples = mechanisms[name].examples()
    return examples[rng.integers(len(examples))]


def some_adjacency(rng: Rng, mechanism: Mechanism) -> str:
    able = [a for a in ADJACENCIES if PLD().supports(mechanism, a)]
    return str(rng.choice(able))
