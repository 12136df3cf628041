r"""A data-dependent divergence with noise of its own, so that it may be published.

At one order, chosen beforehand, Theorem 6 bounds the divergence of a query by a function F of the
chance q that not the favourite wins. Write :math:`q = \frac{k-1}{2}\operatorname{erfc}(t)`: a moved
vote changes every gap between counts by at most 2, hence t by at most :math:`1/\sigma`, because
:math:`\operatorname{erfc}(\operatorname{erfc}^{-1}(y) - s)` is concave in y for s > 0 and convex
for s < 0 (Papernot et al. 2018 prove the same). So F is tabulated over t, linear in between and
never below what the theorem proves; where there is a check, over the largest count as well. What
one moved vote changes is then a difference of two entries, what it can change after d moves the
largest within reach, and the sum over all queries, times :math:`e^{-\beta d}`, maximised over d,
is a beta-smooth bound S (Nissim, Raskhodnikova & Smith 2007).

Published is one number, the sum of F plus Gaussian noise whose deviation is S times `noise` and
whose mean is `deviations` of these, so that it is seldom below the sum. Between neighbours the
deviations differ by a factor of at most :math:`e^\beta` and the means by at most the smaller S
times :math:`1 + (e^\beta - 1)` `noise` `deviations`; two Gaussians have a divergence in closed
form, which grows as the factor leaves 1.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import erfc, erfcinv, log_ndtr, ndtr

from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee, round_up
from dplearn.pate.plan import PATE
from dplearn.pate.theorems import gnmax_data_dependent_rdp, gnmax_flip_bound
from dplearn.pate.votes import Votes

# Entries per move of a vote, with a check, where there is a table for each largest count, and not.
_FEW, _MANY = 4, 16


@dataclass(frozen=True, kw_only=True)
class Sanitised:
    """Settings for publishing a data-dependent divergence, chosen before votes are seen.

    Examples
    --------
    >>> votes, plan = Votes([[240, 10, 0]] * 300), PATE(answers=300, noise_std=40)
    >>> stated = Sanitised().release(votes, plan, delta=1e-5, rng=np.random.default_rng(0))
    >>> print(f"{stated.epsilon:.4g}", stated.kind, stated.only_for, stated.reason, sep=", ")
    1.793, probable, these votes, false in 2.3 % of releases
    """

    order: float = 10.0  # of the divergence, in [1.01, 1e4]
    noise: float = 8.0  # standard deviation / smooth sensitivity, > 0
    deviations: float = 2.0  # of the noise that raise the published bound, in [0, 30]

    def __post_init__(self) -> None:
        validate.between(1.01, 1e4, order=self.order)
        validate.scale(noise=self.noise)
        validate.between(0, 30, deviations=self.deviations)

    @property
    def beta(self) -> float:
        """Smoothness beta of the sensitivity; the cost is finite below 0.5 / order."""
        return 0.3 / self.order

    @property
    def cost(self) -> float:
        """Rényi divergence of the publication itself at the order, in nats."""
        a, ratio = self.order, math.exp(2 * self.beta)
        moved = 1 + self.noise * self.deviations * math.expm1(self.beta)
        # Of means: where the neighbour's deviation is the smaller one, and so its sensitivity.
        means = a * moved**2 / (2 * self.noise**2 * (a - (a - 1) * ratio))
        return means + max(_of_spreads(a, self.beta), _of_spreads(a, -self.beta))

    def release(self, votes: Votes, plan: PATE, *, delta: float, rng: Generator) -> Guarantee:
        """Guarantee at these votes that may be published, its own cost included.

        It bounds what the answers and this statement together leak from these votes to a
        neighbour's, and is too small as often as its assumptions say. Each call is a release: who
        repeats it pays again.
        """
        validate.probability(delta=delta)
        validate.instance(Generator, rng=rng)
        value, smooth = divergence_and_sensitivity(votes, plan, self)
        noisy = value + self.noise * smooth * (rng.normal() + self.deviations)
        total = max(noisy, 0.0) + self.cost
        epsilon = float(rdp_to_epsilon(self.order, total, delta=delta))
        public = plan.guarantee(delta=delta)
        missed = float(ndtr(-self.deviations))
        return Guarantee(
            epsilon=epsilon,
            delta=delta,
            kind="probable",
            method="sanitised Theorem 6",
            adjacency="add_remove",
            assumptions=(
                *public.assumptions,
                "it bounds the loss from these votes to a neighbour's, not back",
                f"its noise was not below -{self.deviations:g} deviations",
            ),
            reason=f"false in {round_up(100 * missed, 2)} % of releases",
            only_for="these votes",
            details={"order": self.order, "divergence": total, "cost": self.cost},
        )


def divergence_and_sensitivity(votes: Votes, plan: PATE, how: Sanitised) -> tuple[float, float]:
    """Divergence of all queries by Theorem 6 and its smooth sensitivity, both private.

    With a check a query counts with both of its outcomes, not with the chance of an answer.
    """
    table, moves = _table(votes, plan, how.order)
    # Where each query stands in the table: along t, in entries, and its row.
    counts = votes.ranked
    flips = [gnmax_flip_bound(votes=row, noise_std=plan.noise_std) for row in counts]
    t = erfcinv(np.minimum(2 * np.array(flips) / (votes.classes - 1), 1.0))
    place = np.clip(t * plan.noise_std * moves, 0.0, table.shape[1] - 1)
    row = counts[:, 0] if len(table) > 1 else np.zeros(votes.queries, dtype=int)
    left = np.minimum(np.floor(place).astype(int), table.shape[1] - 2)
    part = place - left
    value = np.sum(table[row, left] * (1 - part) + table[row, left + 1] * part)
    # A vote moves the place by at most `moves` entries, the largest count by at most 1.
    local = np.maximum(_within(table, moves) - table, table + _within(-table, moves))
    largest, smooth = votes.queries * float(local.max()), 0.0
    for distance in range(votes.teachers + 1):
        discount = math.exp(-how.beta * distance)
        if discount * largest <= smooth:
            break
        here = np.maximum(local[row, left], local[row, left + 1])
        smooth = max(smooth, discount * float(here.sum()))
        local = _within(local, moves)
    return float(value), smooth


def _within(table: NDArray, moves: int) -> NDArray:
    """The largest entry that one moved vote may reach, for each entry."""
    for axis, reach in enumerate((min(len(table) - 1, 1), moves)):
        wide = np.pad(table, [(0, 0) if i != axis else (reach, reach) for i in (0, 1)], "edge")
        table = sliding_window_view(wide, 2 * reach + 1, axis=axis).max(axis=-1)  # type: ignore[call-overload]
    return table


def _table(votes: Votes, plan: PATE, order: float) -> tuple[NDArray, int]:
    """Divergence of a query for each largest count (if checked) and t, and entries per move."""
    if plan.noise != "gaussian":
        raise validate.unsupported("a sanitised guarantee of Laplace noise", "use 'gaussian'")
    sigma, moves = plan.noise_std, _MANY if plan.check_std is None else _FEW
    t = np.arange(votes.teachers * moves // 2 + 3) / (sigma * moves)
    flips = (votes.classes - 1) / 2 * erfc(t)
    at = lambda q: gnmax_data_dependent_rdp(order=order, noise_std=sigma, flip=q)
    proved = np.array([at(flip) for flip in flips.tolist()])
    # Any larger q is a bound, too; between two entries the one before them still is.
    falling = np.minimum.accumulate(proved)
    falling = np.append(falling[0], falling[:-1])
    if plan.check_std is None or plan.threshold is None:
        return falling[None], moves
    # No answer and answer together, a row for each largest count, which moves by at most 1.
    place = (np.arange(votes.teachers + 1) - plan.threshold) / plan.check_std
    worst = np.zeros((place.size, falling.size))
    for step in (-1, 0, 1):
        other = place + step / plan.check_std
        no = order * log_ndtr(-place) + (1 - order) * log_ndtr(-other)
        yes = order * log_ndtr(place) + (1 - order) * log_ndtr(other)
        both = np.logaddexp(no[:, None], yes[:, None] + (order - 1) * falling)
        worst = np.maximum(worst, both / (order - 1))
    return worst, moves


def _of_spreads(order: float, log_ratio: float) -> float:
    """Rényi divergence of centred Gaussians whose deviations have this log ratio."""
    mixed = 1 - order + order * math.exp(2 * log_ratio)
    return (order * log_ratio - 0.5 * math.log(mixed)) / (order - 1)
