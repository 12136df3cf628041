"""Users who take part at most so often, so far apart, under correlated noise."""

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
    """Bands of the Toeplitz matrix whose square is that of all sums so far."""
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
def test_the_guarantee_is_that_of_the_worst_pattern_in_the_rounds_done(strategy):
    """All sets of rounds, all signs of contributions: what the strategy makes of them."""
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


def federation(run, **options):
    net = nn.Linear(3, 4000, bias=False).double()
    nn.init.zeros_(net.weight)
    sgd = torch.optim.SGD(net.parameters(), lr=1.0)
    records = np.zeros((1, 3)), np.zeros(1, int), np.zeros(1, int)  # whose gradient is 0
    loss = nn.CrossEntropyLoss(reduction="none")
    made = Federation(
        net, loss, records, run, optimizer=sgd, local_steps=1, local_learning_rate=1.0, **options
    )
    return net, made


def test_noise_of_the_rounds_is_that_of_the_strategy():
    """C times what the rounds add is fresh: of one deviation, and uncorrelated."""
    strategy = np.tril(RNG.normal(size=(5, 5))) + 3 * np.eye(5)
    net, made = federation(plan(strategy))
    places = [net.weight.detach().clone()]
    for _ in range(5):
        made.round()
        places.append(net.weight.detach().clone())
    added = torch.stack([(b - a).flatten() for a, b in itertools.pairwise(places)]).numpy()
    fresh = strategy @ added * (20 / (2.0 * 0.2))
    size = fresh.shape[1]
    assert np.allclose(fresh @ fresh.T / size, np.eye(5), atol=6 * math.sqrt(2 / size))
    assert str(made.history().guarantee(1e-5)) == str(plan(strategy).guarantee(delta=1e-5))


def test_users_wait_and_stop_also_if_they_dropped_out():
    run = plan(np.eye(12), participations=2, min_separation=4, sample_rate=0.9)
    _, made = federation(run, dropouts=0.3)
    rounds = [made._present(number) for number in range(12)]
    for user in range(40):
        there = [t for t, users in enumerate(rounds) if user in users]
        assert len(there) <= 2 and all(b - a >= 4 for a, b in itertools.pairwise(there))
    assert np.sum(made._times) > 75 > sum(map(len, rounds))


@each(
    "changes, error, message",
    [
        ({"strategy": np.ones((7, 7))}, ValueError, r"lower triangular .* shape \(7, 7\)"),
        ({"strategy": np.eye(6)}, ValueError, r"shape \(7, 7\), got shape \(6, 6\)"),
        ({"strategy": np.diag([1.0, 0, 1, 1, 1, 1, 1])}, ValueError, "no 0 on its diagonal"),
        ({"strategy": np.diag([math.nan] * 7)}, ValueError, "finite matrix"),
        ({"participations": 0}, ValueError, "participations a whole number >= 1"),
        ({"min_separation": 0}, ValueError, "separation a whole number >= 1"),
        ({"noise_multiplier": -1.0}, ValueError, "noise_multiplier >= 0"),
    ],
)
def test_bad_plans_are_refused_in_one_sentence(changes, error, message):
    with pytest.raises(error, match=message):
        dataclasses.replace(plan(np.eye(7)), **changes)


def test_rounds_are_one_release_and_no_steps_of_another_run():
    run = plan(np.eye(7))
    with pytest.raises(ValueError, match="steps a whole number >= 0 and <= 7, got steps=8"):
        run.guarantee(delta=1e-5, steps=8)
    with pytest.raises(NotImplementedError, match="phases of correlated noise"):
        _ = run.phases
    assert run != plan(2 * np.eye(7)) and run == plan(np.eye(7)) and hash(run)
    about = {"period": "once", "tuning": "public", "released": "every_step"}
    rows = run.statement(delta=1e-5, **about, trust="central", trusted="the server").rows
    assert "zeroed" in rows["Neighbours"] and rows["Sampling"] == "none"
