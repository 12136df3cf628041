r"""What given votes leak: functions of private data, for the holder of the votes alone.

Per query the laws of what is released are known (`law`), here and at every neighbour: counts of
which one vote has moved, another one in every query. The largest Rényi divergences add up. For a
bracket of epsilon a query is enclosed between the largest of its neighbours' profiles, which is a
profile, and that of one neighbour, and the lattice composes both.

The computed laws differ from the true ones by factors of at most :math:`e^{\eta}` per query, so
that after all queries, with H the sum of the etas,
:math:`e^{-H}\hat\delta(\varepsilon + 2H) \le \delta(\varepsilon) \le
e^{H}\hat\delta(\varepsilon - 2H)`: both ends pay for it.
"""

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants import ACCOUNTANTS
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.engine.lattice import Lattice
from dplearn.engine.profile import Profile
from dplearn.engine.quadrature import Curve
from dplearn.ground import validate
from dplearn.ground.guarantee import Guarantee
from dplearn.pate.law import Laws, laws
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
# Knots of a profile, from this part of the largest loss on.
_KNOTS, _NEAREST = 96, 1e-2
# The moment by which a neighbour is chosen for the bound from below.
_MIDDLE = np.array([4.0])


@dataclass(frozen=True)
class AtTheseVotes:
    """What a plan leaks if these are the votes; see `at_these_votes`."""

    plan: PATE
    queries: tuple[tuple[Laws, int], ...]  # of each different row of counts, and how often it is

    def rdp(self, orders: ArrayLike = ORDERS) -> NDArray:
        """Exact Rényi divergence to the worst neighbour, the larger direction, shape (n_orders,).

        The worst neighbour of all queries together is that of each of them, so queries add up.
        """
        orders = np.asarray(orders, dtype=float)
        return np.max(sum(count * divergences(law, orders) for law, count in self.queries), axis=0)

    @property
    def slack(self) -> float:
        """What computed log probabilities of all outcomes may be off by, both laws together."""
        return 2 * float(sum(count * law.error for law, count in self.queries))

    def renyi_guarantee(self, *, delta: float) -> Guarantee:
        """The smallest epsilon that `rdp` proves."""
        off = self.slack * ORDERS / (ORDERS - 1)
        return stated(self.rdp() + off, delta, "rdp")

    def guarantee(self, *, delta: float, rtol: float = 1e-3) -> Guarantee:
        """A certified bracket of epsilon over all neighbours of the votes, both directions.

        The upper end holds for every neighbour and every way to choose the next question; the
        lower end is reached by one neighbour, whose votes move in every query.
        """
        validate.probability(delta=delta)
        counts = [[count for _, count in self.queries]]
        lattice, ends = Lattice(rtol, 2**13), []
        envelopes = [_envelope(law) for law, _ in self.queries]
        above = [envelopes, [pair.reverse() for pair in envelopes]]
        below = [[_witness(law, back) for law, _ in self.queries] for back in (False, True)]
        for sides, real, sign in ((above, None, 1), (below, below, -1)):
            at = delta * math.exp(-sign * self.slack)
            bracket = lattice.brackets(sides, counts, delta=at, witnesses=real)
            ends.append(float(bracket[sign > 0][0]) + sign * self.slack)
        bound, lower = self.renyi_guarantee(delta=delta), max(ends[1], 0.0)
        kind, upper = "bracket" if lower > 0 else "upper", min(ends[0], bound.epsilon)
        changes = {"epsilon": upper, "lower": lower, "kind": kind, "method": "lattice"}
        return dataclasses.replace(bound, **changes, details={})


def stated(rdp: NDArray, delta: float, method: str) -> Guarantee:
    """The smallest epsilon that divergences at `ORDERS`, true at given votes only, prove."""
    epsilon = rdp_to_epsilon(ORDERS, rdp, delta=delta)
    return Guarantee(
        epsilon=float(epsilon.min()),
        delta=delta,
        kind="upper",
        method=method,
        adjacency="add_remove",
        assumptions=_ASSUMES,
        reason=NOT_FOR_PRINT,
        only_for="these votes",
        details={"order": float(ORDERS[np.argmin(epsilon)])},
    )


def at_these_votes(votes: Votes, plan: PATE) -> AtTheseVotes:
    """What the plan leaks if all these queries are asked, for who may see the votes.

    Examples
    --------
    >>> votes = Votes([[240, 10, 0]] * 100 + [[150, 60, 40]] * 10)
    >>> stated = at_these_votes(votes, PATE(answers=110, noise_std=40)).renyi_guarantee(delta=1e-5)
    >>> print(stated.epsilon < 0.34, stated.only_for, stated.reason, sep=", ")
    True, these votes, not to be published
    """
    validate.instance(Votes, votes=votes)
    validate.instance(PATE, plan=plan)
    different = Counter(map(tuple, votes.ranked.tolist()))
    known = [(laws(np.array(row), plan), count) for row, count in different.items()]
    return AtTheseVotes(plan, tuple(known))


def divergences(law: Laws, orders: NDArray) -> NDArray:
    """Largest Rényi divergences from the votes to a neighbour, and back, shape (2, n_orders)."""
    p, q = law.here[None], law.neighbours
    both = [_log_moments(*pair, orders - 1) for pair in ((p, q), (q, p))]
    return np.max(both, axis=1) / (orders - 1)


def _log_moments(log_p: NDArray, log_q: NDArray, moments: NDArray) -> NDArray:
    """ln E_P[e^(moment L)] of each pair, also where it is tiny, shape (n_pairs, n_moments)."""
    x = moments[:, None] * (log_p - log_q)[:, None, :]
    log_p = np.broadcast_to(log_p[:, None, :], x.shape)
    total = np.logaddexp.reduce(log_p + x, axis=2)
    # p (e^x - 1), where p may be far less than 1 and e^x far more.
    with np.errstate(over="ignore"):
        rise = np.exp(log_p) * np.expm1(np.minimum(x, 1.0)) * (x <= 1)
        rise += (np.exp(np.minimum(log_p + x, 700.0)) - np.exp(log_p)) * (x > 1)
    return np.where(total > 1, total, np.log1p(np.maximum(rise.sum(axis=2), 0.0)))


def _envelope(law: Laws) -> Profile:
    """A profile that none of the pairs (votes, neighbour) exceeds, by chords between its knots."""
    here, others = law.here[None], law.neighbours
    largest = float(np.max(np.abs(here - others)))
    knots = largest * np.append(0.0, np.geomspace(_NEAREST, 1.0, _KNOTS))
    ahead, behind = (
        np.max(_deltas(*pair, knots), axis=0) for pair in ((here, others), (others, here))
    )
    return Profile(_chords(knots, ahead), _chords(knots, behind), knots[1:])


def _witness(law: Laws, back: bool) -> Profile:
    """The profile of the neighbour with the largest divergence, from it or, if `back`, to it."""
    p, q = np.broadcast_to(law.here, law.neighbours.shape), law.neighbours
    p, q = (q, p) if back else (p, q)
    worst = int(np.argmax(_log_moments(p, q, _MIDDLE)))
    return Profile.from_atoms(p[worst], q[worst])


def _deltas(log_p: NDArray, log_q: NDArray, epsilon: NDArray) -> NDArray:
    """delta of each pair at each epsilon: a sum of positive terms, shape (n_pairs, n)."""
    loss = (log_p - log_q)[:, :, None]
    log_p = np.broadcast_to(log_p[:, :, None], loss.shape)
    return np.sum(np.exp(log_p) * -np.expm1(np.minimum(epsilon - loss, 0.0)), axis=1)


def _chords(knots: NDArray, delta: NDArray) -> Curve:
    """log delta, linear in e^epsilon between the knots and 0 after the last one."""

    def log_delta(epsilon: NDArray) -> NDArray:
        epsilon = np.asarray(epsilon, dtype=float)
        i = np.clip(np.searchsorted(knots, epsilon, side="right"), 1, knots.size - 1)
        left, right = knots[i - 1], knots[i]
        # Part of the left end: both parts are positive, nothing cancels.
        part = np.expm1(np.minimum(epsilon - right, 0.0)) / np.expm1(left - right)
        value = delta[i - 1] * part + delta[i] * (1 - part)
        with np.errstate(divide="ignore"):
            return np.log(np.where(epsilon < knots[-1], value, 0.0))

    return log_delta
