"""What choices by the largest noisy score have in common."""

from abc import abstractmethod
from typing import ClassVar

from numpy.typing import NDArray

from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms._noise import Noise


class NoisyWinner(Mechanism):
    """The candidate with the largest noisy score: its worst pair is that of a noisy gap of two."""

    conditions = ("every score changes by at most its sensitivity",)
    attained: ClassVar[bool] = False
    no_outputs = "the worst table of scores is another one at every ε"

    @property
    @abstractmethod
    def gap(self) -> Noise:
        """The release of the noisy gap of two candidates, which leaks no less."""

    @abstractmethod
    def _log_wins(self, lead: float) -> tuple[float, float]:
        """Log chances that a candidate wins whose lead, over the noise, is this or its negative."""

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self.gap.profiles(adjacency)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        # Half of what a record moves ahead of the only rival, or behind.
        wins = self._log_wins(self.gap.shift(adjacency) / 2)
        return (Profile.from_atoms(wins, wins[::-1]),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        return self.gap.rdp(orders, adjacency=adjacency)

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        return self.gap.zcdp(adjacency)
