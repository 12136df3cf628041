r"""The law below: losses on an even lattice that never leak more than a pair of outputs.

Write x = e^epsilon. A profile is convex in x, and composition keeps the order of profiles:
:math:`(v_1\otimes v_2)(x) = E_{L_2}[v_1(xe^{-L_2})]` grows with :math:`v_1`, and it is symmetric.
So any law whose profile lies below that of the pair gives, composed, a bound from below.

Let cell i, between the nodes :math:`e_i < e_{i+1}`, hold the masses :math:`P_i, Q_i`, and

.. math:: X_i = P_i - e^{e_i}Q_i \ge 0, \qquad Y_i = e^{e_{i+1}}Q_i - P_i \ge 0.

Send the fraction :math:`b_i` of cell i to its right node, the rest to its left one. What node
i collects has a likelihood ratio of at least :math:`e^{e_i}`, so that calling its loss
:math:`e_i` only leaks less, as soon as

.. math:: (1 - b_i) X_i \ge b_{i-1} Y_{i-1}.

Each junction alone would be balanced by :math:`b^*_i = X_i / (X_i + Y_{i-1})`. The choice
:math:`b_i = \min(b^*_i, b^*_{i+1})` satisfies all of them at once: the left side is then at
least :math:`(1 - b^*_i)X_i = b^*_iY_{i-1}`. For a smooth density :math:`b^* = 1/2 + O(h)`, and what
is lost is of second order in h, as for the chords above.

An atom cannot be balanced by its neighbours. It belongs on a node; where atoms do not fit one
lattice they are split between two nodes like chords do, which may raise the loss, and the
caller pays for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.profile import Profile
from dplearn.engine.quadrature import FAR

_ULP = 2.0**-53
# Width, relative to its place, within which a jump of the tail counts as an atom.
BLUR = 1e-10


@dataclass(frozen=True, eq=False)
class Atoms:
    """Losses of positive probability, few enough to deserve nodes.

    Parameters
    ----------
    loss, mass : ndarray, shape (n,)
        Increasing losses, and their probabilities under P.
    """

    loss: NDArray
    mass: NDArray

    @classmethod
    def none(cls) -> Atoms:
        return cls(np.empty(0), np.empty(0))

    @classmethod
    def of(cls, profile: Profile, *, most: int = 2000) -> Atoms:
        """Found where the tail jumps, among the kinks of the profile and 0."""
        kinks = np.unique(np.asarray(profile.kinks, dtype=float))
        kinks = kinks[(kinks > 0) & (kinks < 700)]
        # Equal losses computed in different ways differ in the last digits.
        kinks = kinks[np.diff(kinks, prepend=0.0) > BLUR * kinks]
        if kinks.size == 0 or kinks.size > most:
            return cls.none()
        if not profile.has_tails:
            # Without tails only the largest loss shows: the profile ends there.
            ends = kinks[-1:][np.isneginf(profile.log_delta_of(kinks[-1:]))]
            return cls(np.append(-ends, ends), np.full(2 * ends.size, np.nan))
        ahead, behind = _jump(profile, kinks), _jump_reverse(profile, kinks)
        zero = np.array([0.0])
        (right,), (left,) = (np.exp(f(zero)[0]) for f in (profile.log_tails, _left(profile)))
        loss = np.concatenate([-kinks, zero, kinks])
        mass = np.concatenate([behind, [max(1 - right - left - 1e-12, 0.0)], ahead])
        order = np.argsort(loss)
        keep = mass[order] > 0
        return cls(loss[order][keep], mass[order][keep])

    def spacing(self) -> float:
        """A gap that divides the whole span and is about the smallest; inf below two atoms."""
        if self.loss.size < 2:
            return np.inf
        span = float(self.loss[-1] - self.loss[0])
        return span / round(span / float(np.min(np.diff(self.loss))))

    @property
    def complete(self) -> bool:
        """Whether they are the whole law, and fit one lattice."""
        if self.loss.size < 2 or self.mass.sum() < 1 - 1e-9:
            return False
        place = (self.loss - self.loss[0]) / self.spacing()
        off = np.abs(place - np.rint(place)) * self.spacing()
        return bool(np.max(off) <= BLUR * np.max(np.abs(self.loss)))


def below_the_profile(
    profile: Profile, nodes: NDArray, step: float, atoms: Atoms
) -> tuple[NDArray, float, bool]:
    """Masses of a law that the pair dominates, and at infinity; whether an atom had to be split.

    Parameters
    ----------
    profile : Profile
        With tails.
    nodes : ndarray, shape (n,)
        Even and increasing by `step`, on both sides of 0.
    atoms : Atoms
        Those that deserve nodes.
    """
    # Cells end a hair above their nodes: an atom on a node belongs to the cell before it, and
    # calling what lies there by the node's loss lowers it.
    ends = nodes + BLUR * np.abs(nodes)
    p, x, y, beyond, noise = _cells(profile, ends, step)
    node, split = _lift_atoms(atoms, nodes, ends, step, p, x, y, noise)
    # X from below, Y from above: whatever rounding did, the balance holds.
    x, y = np.maximum(x - noise, 0.0), np.maximum(y, 0.0) + noise
    # Infinite losses are part of what lies beyond, and worth more than the last node.
    endless = float(np.exp(profile.log_delta_of(np.array(FAR)))) * (1 - 1e-12)
    beyond = np.maximum(np.array(beyond) - endless, 0.0)
    # Junction i sits between cells i - 1 and i; the last one borrows from what lies beyond.
    y_left, x_right = np.append(0.0, y), np.append(x, beyond[0])
    with np.errstate(invalid="ignore"):
        balance = np.where(y_left > 0, x_right / (x_right + y_left), 1.0)
    up = np.minimum(balance[:-1], balance[1:])
    # In an empty cell only rounding is found; many of them would add up.
    p = np.where(p > noise, p, 0.0)
    masses = node + np.append((1 - up) * p, beyond[1]) + np.append(0.0, up * p)
    return masses, endless, split


def _cells(
    profile: Profile, ends: NDArray, h: float
) -> tuple[NDArray, NDArray, NDArray, tuple[float, float], NDArray]:
    """P, X and Y per cell; X and P of what lies beyond the last one; noise of X and Y.

    With d = delta and t = e^eps Q(L > eps) at both ends of a cell right of 0,
    X = d_i - d_{i+1} - (1 - e^{-h}) t_{i+1} and Y = (e^h - 1) t_i - (d_i - d_{i+1}). Left of 0
    the same holds for (Q, P), whose X and Y change places.
    """
    first = int(np.searchsorted(ends, 0.0))
    a, b = ends[first:], -ends[:first][::-1]
    d, t, u = _end(profile, a)
    d_rev, s, u_rev = _end(profile.reverse(), b)
    (fall, rise), (fall_rev, rise_rev) = (
        (-np.expm1(-gap), np.expm1(min(gap, 700.0))) for gap in (h * (1 + BLUR), h * (1 - BLUR))
    )
    drop, drop_rev = d[:-1] - d[1:], d_rev[:-1] - d_rev[1:]
    x, y = drop - fall * t[1:], rise * t[:-1] - drop
    p = drop + t[:-1] - t[1:]
    noise = u[:-1] + u[1:] + 4 * _ULP * (2 + h + a[1:]) * t[:-1]
    low = np.exp(-b)
    x_rev, y_rev = drop_rev - fall_rev * s[1:], rise_rev * s[:-1] - drop_rev
    noise_rev = u_rev[:-1] + u_rev[1:] + 4 * _ULP * (2 + h + b[1:]) * s[:-1]
    x_left, y_left = (low[1:] * y_rev)[::-1], (low[:-1] * x_rev)[::-1]
    p_left = (low[:-1] * s[:-1] - low[1:] * s[1:])[::-1]
    noise_left = (low[:-1] * noise_rev)[::-1]
    beyond = (max(float(d[-1] - u[-1]), 0.0), float(d[-1] + t[-1]))
    # The cell that holds 0: what neither tail holds.
    p_0 = 1 - low[0] * s[0] - d[0] - t[0]
    q_0 = 1 - d_rev[0] - s[0] - t[0] * np.exp(-a[0])
    x_0, y_0 = p_0 - low[0] * q_0, np.exp(a[0]) * q_0 - p_0
    return (
        np.concatenate([p_left, [p_0], p]),
        np.concatenate([x_left, [x_0], x]),
        np.concatenate([y_left, [y_0], y]),
        beyond,
        np.concatenate([noise_left, [16 * _ULP], noise]),
    )


def _end(profile: Profile, epsilon: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """delta, e^eps Q(L > eps) and the rounding error of delta, at every epsilon."""
    log_d = profile.log_delta_of(epsilon)
    d = np.exp(log_d)
    with np.errstate(invalid="ignore"):
        noise = np.where(d > 0, _ULP * (8 + 4 * np.abs(log_d)) * d, 0.0)
    return d, np.exp(profile.log_tails(epsilon)[1] + epsilon), noise


def _lift_atoms(
    atoms: Atoms,
    nodes: NDArray,
    ends: NDArray,
    h: float,
    p: NDArray,
    x: NDArray,
    y: NDArray,
    noise: NDArray,
) -> tuple[NDArray, bool]:
    """Take atoms out of their cells, in place: what they add to the nodes, and whether any split.

    An atom within BLUR of a node goes there; another is split so that P and Q keep their mass.
    """
    on_node = np.zeros(nodes.size)
    # Which cell the tails have put it into: cells right of 0 hold their upper end, left of it
    # their lower one.
    side = np.where(
        atoms.loss >= 0,
        np.searchsorted(ends, atoms.loss, side="left"),
        np.searchsorted(ends, atoms.loss, side="right"),
    )
    inside = (side > 0) & (side < nodes.size)
    cell, loss, mass = side[inside] - 1, atoms.loss[inside], atoms.mass[inside]
    height, near = loss - nodes[cell], BLUR * np.maximum(np.abs(loss), h)
    height = np.where(np.abs(height) <= near, 0.0, np.where(np.abs(height - h) <= near, h, height))
    # Nodes are rounded, so that a height may exceed h in its last digits.
    share = np.clip(np.expm1(-height) / np.expm1(-h), 0.0, 1.0)
    for array, amount in ((p, 1.0), (x, -np.expm1(-height)), (y, np.expm1(h - height))):
        np.subtract.at(array, cell, mass * amount)
    np.add.at(noise, cell, 16 * _ULP * mass)
    np.add.at(on_node, cell, mass * (1 - share))
    np.add.at(on_node, cell + 1, mass * share)
    return on_node, bool(np.any((share > 0) & (share < 1)))


def _left(profile: Profile):
    """log P(L < -eps), log Q(L < -eps)."""
    reverse = profile.reverse()
    return lambda epsilon: reverse.log_tails(epsilon)[::-1]


def _jump(profile: Profile, at: NDArray) -> NDArray:
    """P-mass of an atom at each loss > 0; 0 where the tail is continuous."""
    return _height(lambda e: np.exp(profile.log_tails(e)[0]), at)


def _jump_reverse(profile: Profile, at: NDArray) -> NDArray:
    return _height(lambda e: np.exp(_left(profile)(e)[0]), at)


def _height(tail, at: NDArray) -> NDArray:
    height = tail(at * (1 - BLUR)) - tail(at * (1 + BLUR))
    wider = tail(at * (1 - 1e3 * BLUR)) - tail(at * (1 + 1e3 * BLUR))
    # Over a thousand times the width a density weighs a thousand times more, an atom the same.
    return np.where(height > 0.9 * wider, height, 0.0)
