"""What order and chance do to privacy: local randomizers shuffled, batches shuffled.

The two have little in common but the word. Shuffling anonymous *reports* amplifies privacy;
shuffling the *batches* of a training run is no Poisson sampling and has no such theorem.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn import _validate as validate
from dplearn._solve import maximise


def shuffle_local_randomizers(*, local_epsilon: float, records: int, delta: float) -> float:
    r"""Central epsilon of `records` locally randomized reports, handed on in random order.

    Parameters
    ----------
    local_epsilon : float
        Pure guarantee of each report, > 0 and at most ln(n / (16 ln(2/delta))), in nats.
    records : int
        Number of reports n >= 1, one per person.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Upper bound, replace_one: :math:`\ln\big(1 + \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}
        +1}\big(8\sqrt{e^{\varepsilon_0}\ln(4/\delta)/n} + 8e^{\varepsilon_0}/n\big)\big)`.

    Raises
    ------
    ValueError
        If an argument is out of range; beyond its range of local_epsilon nothing is proved.

    Notes
    -----
    Every report must come from its own person and be randomized before the shuffle. A shuffled
    loader of a training run is not this: see `batch_shuffling_delta_lower`.

    References
    ----------
    Feldman, McMillan & Talwar (2021), Hiding among the clones, Theorem 3.1.

    Examples
    --------
    >>> round(shuffle_local_randomizers(local_epsilon=1.0, records=10_000, delta=1e-6), 6)
    0.214026
    """
    validate.positive(local_epsilon=local_epsilon)
    validate.integer(minimum=1, records=records)
    validate.probability(delta=delta)
    largest = math.log(records / (16 * math.log(2 / delta)))
    if local_epsilon > largest:
        raise ValueError(
            f"Expected local_epsilon <= ln(n / (16 ln(2/delta))) = {largest:.4g}, "
            f"got local_epsilon={local_epsilon!r}."
        )
    odds = math.exp(local_epsilon)
    spread = 8 * math.sqrt(odds * math.log(4 / delta) / records) + 8 * odds / records
    return math.log1p(math.tanh(local_epsilon / 2) * spread)


def batch_shuffling_delta_lower(*, epsilon: float, noise_multiplier: float, batches: int) -> float:
    r"""A delta that one epoch of shuffled batches is known to reach at `epsilon`.

    One record contributes +1 where all others contribute -1; zeroed out it contributes 0. The
    test looks at the largest of the B recentred updates, :math:`w_t`:

    .. math:: \max_C\ P(\max_t w_t > C) - e^\varepsilon Q(\max_t w_t > C),\qquad
              P = \tfrac1B\sum_t N(2e_t, \sigma^2 I),\ Q = \tfrac1B\sum_t N(e_t, \sigma^2 I).

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    noise_multiplier : float
        Noise standard deviation / clipping norm, > 0.
    batches : int
        Steps per epoch B >= 1.

    Returns
    -------
    float
        Lower bound on delta, zero_out; every threshold C gives one, and the best is searched
        for. Rounding is near 1e-15.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang (2024), How private are DP-SGD
    implementations?

    Examples
    --------
    >>> found = batch_shuffling_delta_lower(epsilon=1.9532, noise_multiplier=0.5, batches=10_000)
    >>> round(found, 4)  # Poisson sampling: 1e-06
    0.1446
    """
    validate.non_negative(epsilon=epsilon)
    validate.positive(noise_multiplier=noise_multiplier)
    validate.integer(minimum=1, batches=batches)
    sigma = noise_multiplier

    def gain(threshold: NDArray) -> NDArray:
        others = (batches - 1) * log_ndtr(threshold / sigma)
        above_p, above_q = (
            -np.expm1(others + log_ndtr((threshold - shift) / sigma)) for shift in (2.0, 1.0)
        )
        with np.errstate(divide="ignore"):
            return above_p - np.exp(np.minimum(epsilon + np.log(above_q), 700.0))

    # Unimodal, because the likelihood ratio of the largest update grows. Left of the first end
    # even the update that holds the record has a smaller loss than epsilon.
    first = 1.5 + epsilon * sigma**2
    best = maximise(gain, lower=first, upper=first + sigma**2 * math.log(batches) + 1e-9, shape=())
    return max(float(gain(best)), 0.0)
