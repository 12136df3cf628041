"""Sampling of lots, the records of one step, by the plan's scheme."""

import numpy as np
from numpy.typing import NDArray

from dplearn.run import DPSGD

Lot = NDArray[np.int64]


def lots(plan: DPSGD, *, size: int, rng: np.random.Generator) -> list[Lot]:
    """Draw the lots of a step or epoch, as indices from 0 to size - 1; lots may be empty."""
    match plan.sampling:
        case "none":
            return [np.arange(size)]
        case "poisson":
            # A uniform subset of binomial size includes each record independently of the others.
            drawn = rng.binomial(size, plan.sample_rate)
            return [rng.choice(size, drawn, replace=False, shuffle=False)]
        case "random_allocation":
            count = plan.sampling_scheme.batches
            place = rng.integers(count, size=size)
            ends = np.cumsum(np.bincount(place, minlength=count))[:-1]
            return np.split(np.argsort(place, kind="stable"), ends)
        case "without_replacement":
            return [rng.choice(size, fixed_size(plan, size), replace=False, shuffle=False)]
        case "shuffled":
            # Shorten the last lot by one record if drop_last would leave out none.
            count, each = plan.sampling_scheme.batches, fixed_size(plan, size)
            taken = min(count * each, size - plan.drop_last)
            return np.split(rng.permutation(size)[:taken], each * np.arange(1, count))


def fixed_size(plan: DPSGD, size: int) -> int:
    """Return sample_rate * size, the number of records per lot; ValueError if it is not whole."""
    expected = plan.sample_rate * size
    whole = round(expected)
    if whole < 1 or abs(expected - whole) > 1e-9 * expected:
        raise ValueError(
            f"Expected sample_rate * {size} records to be whole with sampling={plan.sampling!r}, "
            f"got {expected!r}."
        )
    return whole


def micro_batches(lot: Lot, most: int | None, *, small: bool) -> list[Lot]:
    """Divide a lot into parts of nearly equal size, each of at most `most` records.

    Without `most`, parts have about 256 records if `small`, for the caches of a CPU; else the lot
    is one part. An empty lot has no parts.
    """
    count = -(-len(lot) // most) if most else max(1, round(len(lot) / 256)) if small else 1
    return np.array_split(lot, count) if count > 1 else [lot] * (len(lot) > 0)
