"""Fixture that skips the check of models before training."""

import pytest
import torch

from dplearn.training.gradients import taken
from dplearn.training.tape import rows_of


def learn(gradients, pair, **_):
    """Choose the method of gradients on records whose infinite or NaN values are replaced."""
    rows = rows_of(pair)
    gradients.learn(taken(pair, rows, range(rows), torch.nan_to_num))


@pytest.fixture
def unchecked(monkeypatch):
    """Switch off the model check, which takes longer than a run."""
    monkeypatch.setattr("dplearn.training.checks.check_gradients", learn)
