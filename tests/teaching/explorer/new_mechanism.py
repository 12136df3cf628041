"""Mechanism in a module outside the folder of the registry."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from dplearn.mechanisms import MECHANISMS
from dplearn.mechanisms.laplace import Laplace


@dataclass(frozen=True)
class NewMechanism(Laplace):
    """Mechanism that is not in the registry.

    Parameters
    ----------
    noise_multiplier : float
        How much noise there is in it.
    """

    name: ClassVar[str] = "new_mechanism"


@pytest.fixture
def registered(monkeypatch) -> type[NewMechanism]:
    """Register a mechanism for one test, like a new file in the folder of mechanisms."""
    monkeypatch.setitem(MECHANISMS, NewMechanism.name, NewMechanism)
    return NewMechanism
