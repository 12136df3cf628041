"""Correlated noise for users who take part a bounded number of times, a minimum time apart."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from cases import each
from dplearn import ACCOUNTANTS, Gaussian
from dplearn.federated import CorrelatedPlan
from dplearn.federated.simulation import Federation


def square_root(rounds, bands):
    """Return the first bands of the square root of the prefix-sum matrix."""
    column = np.cumprod([1, *(1 - 0.5 / np.arange(1, bands))])
    return sum(c * np.eye(rounds, k=-j) for j, c in enumerate(column))


def plan(strategy, **changes):
    size = {"users": 40, "sample_rate": 0.5, "max_update_norm": 0.2, "noise_multiplier": 2.0}
    schema = {"participations": 3, "min_separation": 2}
    return CorrelatedPlan(strategy=strategy, rounds=len(strategy), **size | schema | changes)


RNG = np.random.default_rng(2)
STRATEGIES = {
    "its own noise": np.eye(7),
    "bands": square_root(7, 2),
    "square root": square_root(7, 7),
    "a sum's own noise": np.tril(np.ones((7, 7))),
    "any signs": np.tril(np.triu(RNG.normal(size=(7, 7)), -1)),
}


@each("strategy", STRATEGIES.values())
def test_guarantee_is_that_of_the_worst_participation_pattern(strategy):
    """Enumerate all sets of rounds and all signs of the contributions."""
    run, rounds = plan(strategy), [0, 1, 4, 7]
    for n, stated in zip(rounds, run.guarantees(delta=1e-5, steps=rounds), strict=True):
        moved = 0.0
        for times in range(1, 4):
            for steps in itertools.combinations(range(n), times):
                if all(b - a >= 2 for a, b in itertools.pairwise(steps)):
                    for signs in itertools.product((-1, 1), repeat=times):
                        moved = max(moved, np.linalg.norm(strategy[:n, steps] @ signs))
        worst = ACCOUNTANTS["pld"]().epsilon(
            Gaussian(2.0 / (moved or 1)), delta=1e-5, steps=min(n, 1)
        )
        assert stated.epsilon == pytest.approx(worst.epsilon, rel=1e-9)
        assert (stated.kind, stated.adjacency) == ("exact", "zero_out")
        assert str(stated).endswith("per user") and any("updates" in a for a in stated.assumptions)
    assert run.affordable_steps(epsilon=stated.epsilon, delta=1e-5) == 7


@each(
    "changes, error, message",
    [
        ({"strategy": np.ones((7, 7))}, ValueError, r"lower triangular .* shape \(7, 7\)"),
        ({"strategy": np.eye(6)}, ValueError, r"shape \(7, 7\), got shape \(6, 6\)"),
        ({"strategy": np.diag([1.0, 0, 1, 1, 1, 1, 1])}, ValueError, "no 0 on its diagonal"),
        ({"strategy": np.diag([math.nan] * 7)}, ValueError, "finite matrix"),
        ({"participations": 0}, ValueError, "participations a whole number >= 1"),
    ],
)
def test_bad_plans_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        dataclasses.replace(plan(np.eye(7)), **changes)


def test_correlated_rounds_are_one_release_without_phases():
    run = plan(np.eye(7))
    with pytest.raises(ValueError, match="steps a whole number >= 0 and <= 7, got steps=8"):
        run.guarantee(delta=1e-5, steps=8)
    net, loss = nn.Linear(3, 2), nn.CrossEntropyLoss(reduction="none")
    records = np.zeros((1, 3)), np.zeros(1, int), np.zeros(1, int)
    sgd = torch.optim.SGD(net.parameters(), lr=1.0)
    with pytest.raises(NotImplementedError, match="phases of correlated noise"):
        Federation(net, loss, records, run, optimizer=sgd, local_steps=1, local_learning_rate=1.0)
    assert run != plan(2 * np.eye(7)) and run == plan(np.eye(7)) and hash(run)
    about = {"period": "once", "tuning": "public", "released": "every_step"}
    rows = run.statement(delta=1e-5, **about, trust="central", trusted="the server").rows
    assert "zeroed" in rows["Neighbours"] and rows["Sampling"] == "none"
