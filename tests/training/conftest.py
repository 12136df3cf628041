"""Fixture for tests of runs."""

import pytest
import torch

from dplearn.training.gradients import taken
from dplearn.training.tape import rows_of


def learn(gradients, pair, **_):
    """Choose the method of the gradients from finite records."""
    rows = rows_of(pair)
    gradients.learn(taken(pair, rows, range(rows), torch.nan_to_num))


@pytest.fixture
def unchecked(monkeypatch):
    """Switch off the model check, which takes longer than a run."""
    monkeypatch.setattr("dplearn.training.trainer.check_gradients", learn)
