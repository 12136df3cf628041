"""Fixture for tests of runs."""

import pytest


@pytest.fixture
def unchecked(monkeypatch):
    """Switch off the model check, which takes longer than a run."""
    monkeypatch.setattr("dplearn.training.trainer.check_model", lambda *_, **__: None)
