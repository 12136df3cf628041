r"""Upper and lower laws: distributions of the loss on nodes, with profiles that bound a pair's.

**Upper law.** A profile is a convex function of e^epsilon. Replacing it by the chords between
chosen nodes ("connect the dots") can only raise it, and the chords are the profile of a law on the
nodes: mass :math:`P_j = e^{e_j} Q_j` where :math:`Q_j` is the change of slope. Composition is
convolution of such laws, so the composed law gives upper bounds (Koskela, Jälkö & Honkela 2020;
Doroshenko et al. 2022, connect the dots).

**Lower law**, on an even lattice. Write x = e^epsilon. A profile is convex in x, and composition is
monotone in the profiles: :math:`(v_1\otimes v_2)(x) = E_{L_2}[v_1(xe^{-L_2})]` grows with
:math:`v_1`, and it is symmetric. So the composition of laws whose profiles lie below the pairs'
gives a lower bound.

Let cell i, between the nodes :math:`e_i < e_{i+1}`, hold the masses :math:`P_i, Q_i`, and

.. math:: X_i = P_i - e^{e_i}Q_i \ge 0, \qquad Y_i = e^{e_{i+1}}Q_i - P_i \ge 0.

Send the fraction :math:`b_i` of cell i to its right node, the rest to its left one. The mass at
node i has a likelihood ratio of at least :math:`e^{e_i}`, so that setting its loss to :math:`e_i`
can only lower the profile, if

.. math:: (1 - b_i) X_i \ge b_{i-1} Y_{i-1}.

Equality at node i alone needs :math:`b^*_i = X_i / (X_i + Y_{i-1})`. The choice
:math:`b_i = \min(b^*_i, b^*_{i+1})` satisfies all inequalities: the left side is then at
least :math:`(1 - b^*_i)X_i = b^*_iY_{i-1}`. For a smooth density :math:`b^* = 1/2 + O(h)`, and the
error is of second order in h, as for the chords.

An atom inside a cell has far more mass than the neighbouring cells, so that b would be near 0 and
the bound poor: it is placed on a node. Atoms that fit no common lattice are
divided between the two nodes beside them, as for chords; the caller corrects for losses so raised.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.profile import FAR, Curve, Profile

_ULP = 2.0**-53
# Relative width within which a jump of the tail counts as an atom.
BLUR = 1e-10
# Bound on how much rounding may change a law's total mass.
MOST_LOST = 1e-9


def connect_the_dots(profile: Profile, nodes: NDArray) -> tuple[NDArray, float]:
    """Return the law whose profile consists of chords: probabilities at `nodes` and at infinity.

    The first chord begins at delta = 1, e^epsilon = 0, which raises all smaller losses to the
    first node; delta at the last node becomes the mass at infinity.
    """
    split = int(np.searchsorted(nodes, 0.0))
    below = -nodes[:split]
    # For epsilon < 0 use delta - (1 - e^eps): its slope changes like delta's, without cancellation.
    behind = np.exp(profile.reverse().log_delta_of(below) - below)
    return chords(nodes, np.append(behind, np.exp(profile.log_delta_of(nodes[split:]))))


def chords(nodes: NDArray, value: NDArray) -> tuple[NDArray, float]:
    """Return masses at nodes and infinity from delta, given as delta - (1 - e^eps) at nodes < 0."""
    first = int(np.searchsorted(nodes, 0.0))
    gap = np.diff(nodes)
    # right[j], left[j]: slopes of the chords on the right and left of node j, times exp(nodes[j]).
    with np.errstate(over="ignore"):
        growth = np.expm1(gap)
    right = np.append(np.diff(value) / growth, 0.0)
    left = np.append(0.0, np.diff(value) / -np.expm1(-gap))
    left[0] = value[0] if first > 0 else value[0] - 1.0
    if 0 < first < nodes.size:
        # On the chord across 0, `value` is delta - (1 - e^eps) at the left end, delta at the right.
        edge, next_edge = nodes[first - 1], nodes[first]
        outer = value[first - 1] - np.expm1(edge)
        # This is expm1(next_edge) / growth, but finite where both overflow.
        below_one = np.exp(edge) * np.expm1(-next_edge) / np.expm1(-gap[first - 1])
        right[first - 1] += below_one
        left[first] = (value[first] - outer) / -np.expm1(-gap[first - 1])
    # Rounding may leave a tiny negative mass; raising it to 0 raises the profile.
    masses, infinity = np.maximum(right - left, 0.0), float(value[-1])
    lost = 1 - masses.sum() - infinity
    # Missing mass, if more than rounding, counts as mass of infinite losses.
    return masses, infinity + (lost if lost > MOST_LOST else 0.0)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Losses of positive probability, or none if they are too many to place on nodes."""

    loss: NDArray  # increasing, shape (n,)
    mass: NDArray  # probability of each loss under P, for a pair (P, Q)

    @classmethod
    def none(cls) -> Self:
        return cls(np.empty(0), np.empty(0))

    @classmethod
    def of(cls, profile: Profile, *, most: int = 2000) -> Self:
        """Return the atoms at loss 0 and at plus or minus the profile's kinks."""
        kinks = np.unique(np.asarray(profile.kinks, dtype=float))
        kinks = kinks[(kinks > 0) & (kinks < 700)]
        # Merge kinks that are equal up to rounding.
        kinks = kinks[np.diff(kinks, prepend=0.0) > BLUR * kinks]
        if not 0 < kinks.size <= most:
            return cls.none()
        if not profile.has_tails:
            # Without tail probabilities only the largest loss, beyond which delta is 0, is known.
            ends = kinks[-1:][np.isneginf(profile.log_delta_of(kinks[-1:]))]
            return cls(np.append(-ends, ends), np.full(2 * ends.size, np.nan))
        back = profile.reverse()
        # right(e) = P(loss > e) and left(e) = P(loss < -e).
        right = lambda e: np.exp(profile.log_tails(e)[0])
        left = lambda e: np.exp(back.log_tails(e)[1])
        zero = np.zeros(1)
        between = np.maximum(1 - right(zero) - left(zero) - 1e-12, 0.0)
        loss = np.concatenate([-kinks, zero, kinks])
        mass = np.concatenate([_jumps(left, kinks), between, _jumps(right, kinks)])
        order = np.argsort(loss)
        keep = mass[order] > 0
        return cls(loss[order][keep], mass[order][keep])

    def apart(self, least: float) -> Self:
        """Return the atoms at a distance of at least `least` from their neighbours."""
        gaps = np.diff(self.loss, prepend=-np.inf, append=np.inf)
        keep = np.minimum(gaps[:-1], gaps[1:]) >= least
        return type(self)(self.loss[keep], self.mass[keep])

    def spacing(self) -> float:
        """Return the smallest gap of atoms, adjusted to divide their span; inf for 0 or 1 atom."""
        if self.loss.size < 2:
            return np.inf
        span = float(self.loss[-1] - self.loss[0])
        return span / round(span / float(np.min(np.diff(self.loss))))

    @property
    def complete(self) -> bool:
        """Whether the atoms have probability 1 in total and lie on one evenly spaced lattice."""
        if self.loss.size < 2 or self.mass.sum() < 1 - 1e-9:
            return False
        place = (self.loss - self.loss[0]) / self.spacing()
        off = np.abs(place - np.rint(place)) * self.spacing()
        return bool(np.max(off) <= BLUR * np.max(np.abs(self.loss)))


class Cells(NamedTuple):
    """P-mass, X, Y (defined above) and rounding bound per cell; P-mass and X beyond all cells."""

    p: NDArray
    x: NDArray
    y: NDArray
    noise: NDArray
    p_beyond: float
    x_beyond: float


def below_the_profile(
    profile: Profile, nodes: NDArray, step: float, atoms: Atoms
) -> tuple[NDArray, float, bool]:
    """Return a law on `nodes`, `step` apart, with a profile below `profile`, which must have tails.

    The values are masses at nodes, mass at infinity, and whether an atom moved to two nodes.
    """
    # Cells end slightly above their nodes, so that an atom on a node belongs to the left cell.
    ends = nodes + BLUR * np.abs(nodes)
    cells = cells_between(profile, ends, step)
    node, split = _take_out(atoms, cells, nodes, ends, step)
    # The mass beyond the last cell includes the infinite losses.
    infinity = float(np.exp(profile.log_delta_of(np.array(FAR)))) * (1 - 1e-12)
    up, last = balance(cells, infinity), max(cells.p_beyond - infinity, 0.0)
    # Drop masses in the range of rounding errors, which composition would accumulate.
    p = np.where(cells.p > cells.noise, cells.p, 0.0)
    masses = node + np.append((1 - up) * p, last) + np.append(0.0, up * p)
    if masses.sum() + infinity > 1 + MOST_LOST:
        # The sum of masses exceeds 1: return the trivial law, whose loss is always 0.
        return np.where(nodes == np.max(nodes[nodes <= 0]), 1.0, 0.0), 0.0, False
    return masses, infinity, split


def balance(cells: Cells, infinity: float = 0.0) -> NDArray:
    """Return for each cell the fraction b of its mass that moves to its right node."""
    # Round X down and Y up, so that (1 - b_i) X_i >= b_{i-1} Y_{i-1} holds despite rounding.
    # Node i lies between cells i - 1 and i; the last X is that of the mass beyond all cells.
    x = np.append(np.maximum(cells.x - cells.noise, 0.0), max(cells.x_beyond - infinity, 0.0))
    y = np.append(0.0, np.maximum(cells.y, 0.0) + cells.noise)
    with np.errstate(invalid="ignore"):
        single = np.where(y > 0, x / (x + y), 1.0)
    return np.minimum(single[:-1], single[1:])


def cells_between(profile: Profile, ends: NDArray, h: float) -> Cells:
    """Return the cells between `ends`, whose spacing is h up to a relative BLUR."""
    first = int(np.searchsorted(ends, 0.0))
    a, b = ends[first:], -ends[:first][::-1]
    right = _Side(profile, a, h * (1 + BLUR))
    left = _Side(profile.reverse(), b, h * (1 - BLUR))
    d, t, s, low = right.delta, right.tail, left.tail, np.exp(-b)
    # The cell that contains 0 has all mass that is in neither tail.
    p_0 = 1 - low[0] * s[0] - d[0] - t[0]
    q_0 = 1 - left.delta[0] - s[0] - t[0] * np.exp(-a[0])
    # Left of 0 use the reversed pair, with X and Y swapped.
    p_left, x_left = low[:-1] * s[:-1] - low[1:] * s[1:], low[1:] * (left.y - left.more_noise)
    y_left, noise_left = low[:-1] * left.x, low[:-1] * left.noise
    return Cells(
        np.concatenate([p_left[::-1], [p_0], d[:-1] - d[1:] + t[:-1] - t[1:]]),
        np.concatenate([x_left[::-1], [p_0 - low[0] * q_0], right.x]),
        np.concatenate([y_left[::-1], [np.exp(a[0]) * q_0 - p_0], right.y + right.more_noise]),
        np.concatenate([noise_left[::-1], [16 * _ULP], right.noise]),
        float(d[-1] + t[-1]),
        max(float(d[-1] - right.lost[-1]), 0.0),
    )


class _Side:
    """Delta and tail of a profile at `ends` >= 0 with spacing h; X and Y of the cells between ends.

    With d = delta and t = e^eps Q(L > eps), X = d_i - d_{i+1} - (1 - e^{-h}) t_{i+1} and
    Y = (e^h - 1) t_i - (d_i - d_{i+1}).
    """

    def __init__(self, profile: Profile, ends: NDArray, h: float) -> None:
        log_delta = profile.log_delta_of(ends)
        self.delta = d = np.exp(log_delta)
        self.tail = t = np.exp(profile.log_tail_of(ends) + ends)  # type: ignore[misc]
        drop, rise = d[:-1] - d[1:], np.expm1(h)
        self.x, self.y = drop + np.expm1(-h) * t[1:], rise * t[:-1] - drop
        # Rounding: `lost` of delta, `noise` of X and Y, `more_noise` of Y alone if h > log 2.
        with np.errstate(invalid="ignore"):
            self.lost = lost = np.where(d > 0, _ULP * (8 + 4 * np.abs(log_delta)) * d, 0.0)
        blur = 4 * _ULP * (2 + h + ends[1:]) * t[:-1]
        self.noise, self.more_noise = lost[:-1] + lost[1:] + blur, max(rise - 1, 0.0) * blur


def _take_out(
    atoms: Atoms, cells: Cells, nodes: NDArray, ends: NDArray, h: float
) -> tuple[NDArray, bool]:
    """Move atoms from `cells` to nodes; return mass per node, and whether an atom went to two.

    An atom within BLUR of a node moves to it; others go to two nodes and keep P- and Q-mass.
    """
    on_node = np.zeros(nodes.size)
    # Cell of each atom: cells right of 0 include their upper end, cells left of 0 the lower end.
    upper, lower = (np.searchsorted(ends, atoms.loss, side=s) for s in ("left", "right"))
    side = np.where(atoms.loss >= 0, upper, lower)
    inside = (side > 0) & (side < nodes.size)
    cell, loss, mass = side[inside] - 1, atoms.loss[inside], atoms.mass[inside]
    height, near = loss - nodes[cell], BLUR * np.maximum(np.abs(loss), h)
    height = np.where(np.abs(height) <= near, 0.0, np.where(np.abs(height - h) <= near, h, height))
    share = np.expm1(-height) / np.expm1(-h)
    # A steep density may look like an atom and span two cells: take at most the cell's mass.
    taken = np.zeros(cells.p.size)
    np.add.at(taken, cell, mass)
    mass = mass * np.clip(cells.p[cell] / taken[cell], 0.0, 1.0)
    # An error of BLUR * |loss| in the atom's loss is a relative error of its mass under Q.
    off = 2 * BLUR * np.abs(loss) * mass
    np.subtract.at(cells.p, cell, mass)
    np.subtract.at(cells.x, cell, mass * -np.expm1(-height) + off)
    np.subtract.at(cells.y, cell, mass * np.expm1(h - height) - off * np.exp(h - height))
    np.add.at(cells.noise, cell, 16 * _ULP * mass)
    np.add.at(on_node, cell, mass * (1 - share))
    np.add.at(on_node, cell + 1, mass * share)
    return on_node, bool(np.any((share > 0) & (share < 1)))


def _jumps(tail: Curve, at: NDArray) -> NDArray:
    """Return the mass of an atom at each loss > 0; 0 where the tail is continuous."""
    narrow, wide = (tail(at * (1 - w)) - tail(at * (1 + w)) for w in (BLUR, 1e3 * BLUR))
    # In an interval 1000 times as wide a density has 1000 times the mass, an atom the same mass.
    return np.where(narrow > 0.9 * wide, narrow, 0.0)
