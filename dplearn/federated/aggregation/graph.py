"""Who shares masks with whom: few neighbours are enough (Bell et al. 2020)."""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dplearn.core import validate
from dplearn.core.logspace import log_comb


@dataclass(frozen=True)
class Neighbourhood:
    """Numbers of a client's neighbours: all, those who open a secret together, those who may lie.

    No two groups of a client's neighbours, each with `threshold` tags and both with those of the
    same `corrupt`, acknowledge different lists of survivors: they would need two honest halves.
    """

    neighbours: int
    threshold: int
    corrupt: int = 0

    def __post_init__(self) -> None:
        validate.integer(minimum=1, neighbours=self.neighbours)
        validate.integer(minimum=1, maximum=self.neighbours, threshold=self.threshold)
        validate.integer(minimum=0, corrupt=self.corrupt)
        if 2 * self.threshold <= self.neighbours + self.corrupt:
            half = (self.neighbours + self.corrupt) / 2
            raise ValueError(
                f"Expected threshold > (neighbours + corrupt) / 2 = {half:g}, got "
                f"threshold={self.threshold}: a server could open both secrets of a client."
            )


def neighbourhood(
    clients: int,
    *,
    corrupt: float,
    dropouts: float,
    security_bits: int = 40,
    failure_bits: int = 20,
) -> Neighbourhood:
    r"""Neighbourhood with the fewest neighbours that are safe.

    Its threshold goes with them. Shares of `clients` lie along with the server, and shares of them
    leave, both in [0, 1) and chosen before the random graph is. Except with chances :math:`2^{-s}`
    for secrecy and :math:`2^{-f}` for success, summed over all clients: nobody has more than
    `corrupt` neighbours that lie, so that a threshold above half of k + `corrupt` is safe, those
    who neither lie nor are gone stay connected (on a circle, where one knows the k/2 next on each
    side, no k/2 in a row are missing), and everybody keeps `threshold` neighbours. Where no such k
    < n - 1 is enough, everybody is everybody's neighbour and nothing is left to chance.

    Examples
    --------
    >>> neighbourhood(10, corrupt=0.2, dropouts=0.2)
    Neighbourhood(neighbours=9, threshold=6, corrupt=2)
    >>> neighbourhood(100_000, corrupt=0.05, dropouts=0.05)
    Neighbourhood(neighbours=68, threshold=48, corrupt=26)
    """
    validate.integer(minimum=2, clients=clients)
    validate.between(0, 1, corrupt=corrupt, dropouts=dropouts)
    validate.integer(minimum=1, security_bits=security_bits, failure_bits=failure_bits)
    bad, gone = math.ceil(corrupt * clients), math.ceil(dropouts * clients)
    secret, success = -security_bits * math.log(2), -failure_bits * math.log(2)
    log_n, missing = math.log(clients), bad + gone
    for k in range(2, clients - 1, 2):
        in_a_row = log_comb(missing, k // 2) - log_comb(clients, k // 2)
        if log_n + in_a_row > secret:
            continue
        corrupted = _log_law(clients - 1, bad, k)
        staying = _log_law(clients - 1, max(clients - 1 - gone, 0), k)
        more = log_n + np.logaddexp.accumulate(corrupted[::-1])[::-1]  # entry j: j or more lie
        most = int(np.count_nonzero(more > secret)) - 1
        t = (k + most) // 2 + 1
        if t <= k and log_n + np.logaddexp.reduce(staying[:t]) <= success:
            return Neighbourhood(k, t, most)
    threshold = (clients - 1 + bad) // 2 + 1
    if threshold > clients - 1 - gone:
        raise ValueError(
            f"Expected corrupt and dropouts that leave {threshold} neighbours to each of {clients} "
            f"clients, got corrupt={corrupt!r}, dropouts={dropouts!r}."
        )
    return Neighbourhood(clients - 1, threshold, bad)


def _log_law(others: int, marked: int, drawn: int) -> np.ndarray:
    """log chance that j = 0, ..., `drawn` of so many neighbours are marked ones."""
    j = np.arange(drawn + 1)
    return log_comb(marked, j) + log_comb(others - marked, drawn - j) - log_comb(others, drawn)


def random_graph(clients: Sequence[int], neighbours: int) -> dict[int, tuple[int, ...]]:
    """Neighbours of each client: the next half on both sides of a circle in random order."""
    order, count = list(clients), len(clients)
    secrets.SystemRandom().shuffle(order)
    if neighbours >= count - 1:
        return {one: tuple(sorted(set(order) - {one})) for one in order}
    half = neighbours // 2
    steps = [*range(-half, 0), *range(1, half + 1)]
    return {
        one: tuple(sorted(order[(place + step) % count] for step in steps))
        for place, one in enumerate(order)
    }
