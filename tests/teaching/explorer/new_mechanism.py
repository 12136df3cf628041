"""A mechanism in a module of its own, outside the folder that the registry reads."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from dplearn.mechanisms import MECHANISMS
from dplearn.mechanisms.laplace import Laplace


@dataclass(frozen=True)
class NewMechanism(Laplace):
    """A mechanism that is in no list.

    Parameters
    ----------
    noise_multiplier : float
        How much noise there is in it.
    """

    name: ClassVar[str] = "new_mechanism"


@pytest.fixture
def registered(monkeypatch) -> type[NewMechanism]:
    """Register a mechanism for one test, as a new file in its folder would be."""
    monkeypatch.setitem(MECHANISMS, NewMechanism.name, NewMechanism)
    return NewMechanism
