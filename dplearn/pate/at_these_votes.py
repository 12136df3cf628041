r"""Epsilon of PATE at given votes; this epsilon is private: only the votes' holder may see it.

The distribution of each query's outcome is known at the votes and at every neighbour. The counts of
a neighbour differ by one moved vote per query, not the same vote in all. Class j wins with
probability :math:`p_j = \int \varphi(y - c_j) \prod_{i\ne j} \Phi(y - c_i)\,dy`, counts being in
standard deviations of the noise. The trapezoidal rule is nearly exact: on a line at height a in the
complex plane :math:`|\varphi(y + ia)| = e^{a^2/2}\varphi(y)` and, integrating along that line,
:math:`|\Phi(y + ia)| \le e^{a^2/2}\Phi(y)`, so that the error of steps h is at most
:math:`2 e^{ka^2/2} / (e^{2\pi a/h} - 1)` of :math:`p_j` itself, for k classes and any a > 0; with
:math:`a = 2\pi/(hk)` this is :math:`2e^{-2\pi^2/(h^2 k)}`. The integrand is log-concave, with a
second logarithmic derivative between -k and -1: its part further than 9 from the mode is less than
:math:`2\sqrt{k}\,\Phi(-9)` of the whole.

The largest Rényi divergences of the queries add up. For a bracket of epsilon, each query is
enclosed between the maximum of its neighbours' profiles, which is a profile, and the profile of one
neighbour; the convolution of losses on a lattice composes both.

Computed probabilities differ from the true ones by factors of at most :math:`e^{\eta}` per query,
so that after all queries, with H the sum of the etas,
:math:`e^{-H}\hat\delta(\varepsilon + 2H) \le \delta(\varepsilon) \le
e^{H}\hat\delta(\varepsilon - 2H)`: both ends allow for it.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.core.logspace import log, log_bernoulli, log_chords, log_sum
from dplearn.engine.lattice import Lattice
from dplearn.engine.profile import Profile
from dplearn.pate.plan import PATE
from dplearn.pate.votes import Votes

NOT_FOR_PRINT = "not to be published"
_ASSUMES = (
    "it holds at these votes only, depends on private data, and must not be published",
    "neighbours differ by one moved vote in every query, whichever teacher cast it",
    "every query of these votes is asked; a cap that ends the run sooner leaks no more",
)
ORDERS = np.array(ACCOUNTANTS["rdp"]().orders)
ORDERS = ORDERS[ORDERS < 1e4]
_REACH = 9.0


class Laws(NamedTuple):
    """Log probabilities of a query's outcomes, at the given votes and all neighbouring votes."""

    here: NDArray  # (outcomes,)
    neighbours: NDArray  # (n_neighbours, outcomes): each has one vote moved to another class
    error: float  # bound on the error of each logarithm


def laws(counts: NDArray, plan: PATE) -> Laws:
    """Return log probabilities of each class winning, and of no answer if the plan has a check.

    Neighbours that differ only by a permutation of classes with equal counts are listed once.

    Examples
    --------
    >>> np.exp(laws(np.array([150, 50]), PATE(answers=1, noise_std=40)).here).round(8)
    array([0.96145006, 0.03854994])
    """
    pairs: dict[tuple[int, int], tuple[int, int]] = {}  # classes of a move, by their counts
    for a in np.flatnonzero(counts).tolist():
        for b in range(counts.size):
            if a != b:
                pairs.setdefault((counts[a], counts[b]), (a, b))
    moves = list(pairs.values())
    log_p = _winners(counts / plan.noise_std, moves, 1 / plan.noise_std)
    # A winner's probability near 1 is more accurate as 1 minus the sum of the others.
    rows, likeliest, others = np.arange(len(log_p)), np.argmax(log_p, axis=1), np.exp(log_p)
    others[rows, likeliest] = 0.0
    log_p[rows, likeliest] = np.log1p(-others.sum(axis=1))
    if plan.check_std is not None and plan.threshold is not None:
        one = np.eye(counts.size, dtype=np.int64)
        moved = [counts + one[b] - one[a] for a, b in moves]
        largest = np.max([counts, *moved], axis=1, keepdims=True)
        place = (largest - plan.threshold) / plan.check_std
        log_p = np.hstack([log_ndtr(place) + log_p, log_ndtr(-place)])
    # log Phi is accurate to a few units in the last place; a product has one factor per class.
    error = 2.0**-47 * counts.size * (1 - float(np.min(log_p)))
    return Laws(log_p[0], log_p[1:], error)


def _winners(c: NDArray, moves: list[tuple[int, int]], shift: float) -> NDArray:
    """Return log P(class wins) at c, then after each move of a vote, shape (1 + moves, classes)."""
    k = c.size
    h = math.pi * math.sqrt(2 / (k * math.log(2 / 1e-17)))
    # A winning count's log density decreases beyond c.max() + b, where k phi(b) / Phi(b) < b.
    b = 1 + math.sqrt(2 * math.log(k))
    start, end = c.min() - _REACH - shift, c.max() + b + _REACH + shift + h
    y = np.arange(start, end, h)
    x = y - (c[:, None] + shift * np.array([0, -1, 1])[:, None, None])
    # log Phi and log(phi / Phi) for each class, with its own count, one vote fewer and one more.
    below = log_ndtr(x)
    rise = -0.5 * x**2 - 0.5 * math.log(2 * math.pi) - below
    total = below[0].sum(axis=0)
    a, b_ = np.array(moves, dtype=int).reshape(-1, 2).T
    moved = total - below[0, a] - below[0, b_] + below[1, a] + below[2, b_]
    exponent = np.concatenate([[total], moved])[:, None, :] + rise[0]
    rows = np.arange(len(moves))
    exponent[rows + 1, a] = moved + rise[1, a]
    exponent[rows + 1, b_] = moved + rise[2, b_]
    top = exponent.max(axis=2, keepdims=True)
    return np.log(np.exp(exponent - top).sum(axis=2)) + top[..., 0] + math.log(h)


@dataclass(frozen=True)
class AtTheseVotes:
    """Outcome probabilities of a PATE plan at given votes, and the guarantee they give.

    Parameters
    ----------
    queries : tuple of pairs: for each distinct row of counts its `Laws`, and how often it occurs
    """

    queries: tuple[tuple[Laws, int], ...]

    def rdp(self, orders: ArrayLike = ORDERS) -> NDArray:
        """Return the largest Rényi divergence to or from a neighbour, shape (n_orders,).

        The worst neighbour maximises the divergence of each query separately, so queries add up.
        """
        orders, total = np.asarray(orders, dtype=float), 0.0
        if not (orders > 1).all():
            raise ValueError(f"Expected orders > 1, got orders={orders!r}.")
        for law, count in self.queries:
            p, q = law.here[None], law.neighbours
            both = [_log_moments(*pair, orders - 1) for pair in ((p, q), (q, p))]
            total = total + count * np.max(both, axis=1)
        return np.max(total, axis=0) / (orders - 1)

    @property
    def slack(self) -> float:
        """Bound on the error of a log likelihood ratio of neighbouring votes, over all queries."""
        return 2 * float(sum(count * law.error for law, count in self.queries))

    def guarantee(self, *, delta: float) -> Guarantee:
        """Return a certified bracket of epsilon for the votes against any neighbour, or vice versa.

        The upper end assumes the worst neighbour in each query; the lower end is of one neighbour.
        """
        validate.probability(delta=delta)
        counts = [[count for _, count in self.queries]]
        lattice, ends = Lattice(1e-3, 2**13), []
        envelopes = [_envelope(law) for law, _ in self.queries]
        above = [envelopes, [pair.reverse() for pair in envelopes]]
        below: list[list[Profile]] = [[], []]  # per direction and query, the largest E[exp(4 L)]
        for law, _ in self.queries:
            here = np.broadcast_to(law.here, law.neighbours.shape)
            pairs = (here, law.neighbours), (law.neighbours, here)
            for side, (p, q) in zip(below, pairs, strict=True):
                worst = int(np.argmax(_log_moments(p, q, np.array([4.0]))))
                side.append(Profile.from_atoms(p[worst], q[worst]))
        for sides, real, sign in ((above, None, 1), (below, below, -1)):
            at = delta * math.exp(-sign * self.slack)
            bracket = lattice.brackets(sides, counts, delta=at, witnesses=real)
            ends.append(float(bracket[sign > 0][0]) + sign * self.slack)
        rdp = self.rdp() + self.slack * ORDERS / (ORDERS - 1)
        lower = max(ends[1], 0.0)
        return Guarantee(
            epsilon=min(ends[0], float(rdp_to_epsilon(ORDERS, rdp, delta=delta).min())),
            delta=delta,
            kind="bracket" if lower > 0 else "upper",
            method="lattice",
            adjacency="add_remove",
            lower=lower,
            assumptions=_ASSUMES,
            reason=NOT_FOR_PRINT,
            only_for="these votes",
        )


def at_these_votes(votes: Votes, plan: PATE) -> AtTheseVotes:
    """Return outcome probabilities, themselves private, of all queries of `votes` under `plan`.

    Parameters
    ----------
    votes : Votes
    plan : PATE

    Examples
    --------
    >>> votes = Votes([[240, 10, 0]] * 100 + [[150, 60, 40]] * 10)
    >>> stated = at_these_votes(votes, PATE(answers=110, noise_std=40)).guarantee(delta=1e-5)
    >>> print(stated.epsilon < 0.34, stated.only_for, stated.reason, sep=", ")
    True, these votes, not to be published
    """
    validate.instance(Votes, votes=votes)
    validate.instance(PATE, plan=plan)
    rows = Counter(map(tuple, votes.ranked.tolist())).items()
    return AtTheseVotes(tuple((laws(np.array(row), plan), count) for row, count in rows))


def _log_moments(log_p: NDArray, log_q: NDArray, moments: NDArray) -> NDArray:
    """Return ln E_P[(P / Q)^moment] of each row, accurate near 0, shape (n_pairs, n_moments)."""
    log_f = (log_p - log_q)[:, None, :]
    # 1 + E_Q[f^order - 1 - order (f - 1)], f = P / Q, order = moment + 1: all terms are >= 0.
    terms = log_bernoulli(moments[:, None] + 1, np.expm1(np.minimum(log_f, 700.0)), log_f)
    return np.logaddexp(0.0, log_sum(log_q[:, None, :] + terms))


def _envelope(law: Laws) -> Profile:
    """Return an upper bound on the privacy profiles of all neighbours, by chords between knots.

    Delta is 0 at the last knot and beyond.
    """
    here, others = law.here[None], law.neighbours
    largest = float(np.max(np.abs(here - others)))
    knots = largest * np.append(0.0, np.geomspace(1e-2, 1.0, 96))
    ends = []
    for log_p, log_q in ((here, others), (others, here)):
        loss = (log_p - log_q)[:, :, None]  # per neighbour and outcome; terms of delta are >= 0
        terms = np.exp(log_p)[:, :, None] * -np.expm1(np.minimum(knots - loss, 0.0))
        log_delta = log(np.max(np.sum(terms, axis=1), axis=0))
        ends.append(partial(log_chords, nodes=knots, values=log_delta))
    ahead, behind = ends
    return Profile(ahead, behind, knots[1:])
