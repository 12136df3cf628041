"""Results are values: comparable, hashable, copyable, picklable, printable and shown."""

import copy
import json
import pickle
from dataclasses import asdict

import numpy as np
import pandas
import pytest

from dplearn import (
    DPSGD,
    Composed,
    Gaussian,
    Laplace,
    Phases,
    PoissonSubsampled,
    Tuned,
    smallest_noise_multiplier,
)
from dplearn.audit import LowerBound
from dplearn.federated import FederatedPlan
from dplearn.pate import PATE

PLAN = DPSGD(noise_multiplier=1.1, sample_rate=0.004, steps=100)
PARTS = {"unit": "one image", "records": 60_000, "period": "once", "sampling": "poisson"}
PARTS |= {"tuning": "fixed", "released": "last_model", "trust": "central", "trusted": "us"}
VALUES = {
    "guarantee": PLAN.guarantee("rdp", delta=1e-5),
    "no bound": Gaussian(0.0).guarantee(delta=1e-5),
    "plan": PLAN,
    "phases": Phases((PLAN, PLAN)),
    "federated": FederatedPlan(
        users=100,
        sample_rate=0.1,
        rounds=5,
        noise_multiplier=2.0,
        max_update_norm=1.0,
        sampling="poisson",
    ),
    "pate": PATE(queries=64, answers=64, noise_std=40.0),
    "calibration": smallest_noise_multiplier(Gaussian(1.0), epsilon=1.0, delta=1e-5),
    "attack": smallest_noise_multiplier(
        Gaussian(1.0), true_positive_rate=0.05, false_positive_rate=0.01
    ).guarantee,
    "lower bound": LowerBound(epsilon=1.0, delta=1e-5, method="one_run"),
    "statement": PLAN.statement(delta=1e-5, **PARTS),
    "mechanism": Composed([(PoissonSubsampled(Laplace(1.0), 0.1), 3), Gaussian(1.0)]),
    "tuned": Tuned(PLAN, tries=3),
}
SHOWN = ("guarantee", "no bound", "plan", "phases", "federated", "pate", "statement")


@pytest.mark.parametrize("name", VALUES)
def test_results_can_be_copied_hashed_and_serialised(name):
    value = VALUES[name]
    for same in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert (same, hash(same)) == (value, hash(value))
    fields = asdict(value)
    assert pandas.DataFrame([fields]).shape == (1, len(fields))
    assert json.loads(json.dumps(fields, default=np.ndarray.tolist)).keys() == fields.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_results_are_shown_in_notebooks(name):
    value = VALUES[name]
    assert value._repr_html_().startswith(("<p>", "<table>"))
    assert "epsilon" not in value._repr_html_()
    assert not set("αβεδσ≤≥") & set(value._repr_latex_())
