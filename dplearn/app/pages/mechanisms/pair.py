"""One ordered pair of neighbouring outputs of a mechanism."""

from dataclasses import dataclass

from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import ADJACENCIES, Adjacency
from dplearn.mechanisms import Mechanism, Outputs


@dataclass(frozen=True)
class Pair:
    """One ordered pair of neighbouring outputs; `direction` says whether P or Q has the record."""

    mechanism: Mechanism
    adjacency: Adjacency
    direction: str = "remove"

    @property
    def end(self) -> int:
        """Index into what a mechanism says per direction."""
        return 0 if self.direction == "remove" else -1

    @property
    def composed(self) -> bool:
        """Whether several releases are looked at as one."""
        return self.mechanism.parts() != ((self.mechanism, 1),)

    @property
    def two_sided(self) -> bool:
        """Whether the directions differ."""
        return any(len(m.profiles(self.adjacency)) > 1 for m, _ in self.mechanism.parts())

    @property
    def outputs(self) -> Outputs | None:
        """The two laws on a line, where there are such."""
        outputs = self.mechanism.outputs(self.adjacency)
        return outputs[self.end] if outputs else None

    @property
    def exact(self) -> bool:
        """Whether a real pair has this profile."""
        return self.mechanism.attained and not self.composed

    @property
    def witnesses(self) -> tuple[Profile, ...]:
        """Profiles of real pairs below this one."""
        if self.composed:
            return ()
        profiles = self.mechanism.witnesses(self.adjacency)
        return profiles[self.end :][:1] if self.two_sided else profiles

    @property
    def is_above_witnesses(self) -> bool:
        """Whether the profile is a bound, and real pairs below it are known."""
        return not self.exact and bool(self.witnesses)


def covered(mechanism: Mechanism) -> tuple[Adjacency, ...]:
    """The adjacencies under which it has a profile."""
    return tuple(a for a in ADJACENCIES if not refusal(mechanism, a))


def refusal(mechanism: Mechanism, adjacency: Adjacency) -> str:
    """Why the mechanism has no profile under an adjacency, or an empty string."""
    try:
        for part, _ in mechanism.parts():
            part.profiles(adjacency)
    except NotImplementedError as error:
        return str(error)
    return ""
