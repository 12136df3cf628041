r"""The upper law: a distribution of losses on a lattice that dominates a pair of outputs.

A profile is a convex function of e^epsilon. Replacing it by the chords between chosen
nodes ("connect the dots") can only raise it, and the chords are the profile of a law on
the nodes: mass :math:`P_j = e^{e_j} Q_j` where :math:`Q_j` is the change of slope. Composition
is convolution of such laws, so the composed law gives upper bounds (Koskela, Jälkö & Honkela 2020;
Doroshenko et al. 2022, connect the dots).
"""

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.profile import Profile

# Bound on how much rounding may change a law's total mass.
MOST_LOST = 1e-9


def connect_the_dots(profile: Profile, nodes: NDArray) -> tuple[NDArray, float]:
    """Return the law of a profile's chords: P-masses at increasing `nodes` and at infinity.

    The first chord begins at delta = 1, e^epsilon = 0, which raises all smaller losses to the
    first node; delta at the last node becomes the mass at infinity.
    """
    split = int(np.searchsorted(nodes, 0.0))
    below = -nodes[:split]
    # For epsilon < 0 use delta - (1 - e^eps): its slope changes like delta's, without cancellation.
    behind = np.exp(profile.reverse().log_delta_of(below) - below)
    return chords(nodes, np.append(behind, np.exp(profile.log_delta_of(nodes[split:]))))


def chords(nodes: NDArray, value: NDArray) -> tuple[NDArray, float]:
    """Return masses, given delta at nodes >= 0 and delta - (1 - e^eps) at nodes < 0."""
    first = int(np.searchsorted(nodes, 0.0))
    gap = np.diff(nodes)
    # right[j], left[j]: slopes of the chords on the right and left of node j, times e^{e_j}.
    with np.errstate(over="ignore"):
        growth = np.expm1(gap)
    right = np.append(np.diff(value) / growth, 0.0)
    left = np.append(0.0, np.diff(value) / -np.expm1(-gap))
    left[0] = value[0] if first > 0 else value[0] - 1.0
    if 0 < first < nodes.size:
        # The chord between the last node < 0 and the first node >= 0, in both conventions.
        edge, next_edge = nodes[first - 1], nodes[first]
        outer = value[first - 1] - np.expm1(edge)
        # This is expm1(next_edge) / growth, but finite where both overflow.
        below_one = np.exp(edge) * np.expm1(-next_edge) / np.expm1(-gap[first - 1])
        right[first - 1] += below_one
        left[first] = (value[first] - outer) / -np.expm1(-gap[first - 1])
    # Rounding may leave a tiny negative mass; raising it to 0 raises the profile.
    masses, infinity = np.maximum(right - left, 0.0), float(value[-1])
    lost = 1 - masses.sum() - infinity
    # Missing mass beyond rounding counts as infinite loss.
    return masses, infinity + (lost if lost > MOST_LOST else 0.0)
