"""Fixture for tests of runs."""

import pytest


@pytest.fixture
def unchecked(monkeypatch):
    """Switch off the model check, which takes longer than a run."""
    learn = lambda gradients, pair, **_: gradients.learn(pair)
    monkeypatch.setattr("dplearn.training.trainer.check_gradients", learn)
