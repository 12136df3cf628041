"""Simulated federated rounds equal a loop over users; histories count completed rounds.

False alarms: none where seeds are given, below 1e-6 elsewhere.
"""

import copy
import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from cases import each
from dplearn import ACCOUNTANTS, Gaussian, PoissonSubsampled
from dplearn.federated import FederatedPlan
from dplearn.federated.simulation import Federation, simulate

LOSS = nn.CrossEntropyLoss(reduction="none")
EVERYBODY = FederatedPlan(
    users=7, sample_rate=1.0, rounds=3, noise_multiplier=0.0, max_update_norm=0.2, sampling="none"
)
# User 5 has no records, user 6 the most.
OWNERS = np.array([0, 6, 1, 6, 6, 2, 3, 6, 4, 3, 6, 6, 6, 6])


def model(first=nn.Tanh, wide=3):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 4), first(), nn.Linear(4, wide)).double()


def data(owners=OWNERS):
    rng = np.random.default_rng(1)
    inputs, targets = rng.normal(size=(len(owners), 5)), rng.integers(3, size=len(owners))
    return inputs, targets, np.asarray(owners)


OTHER = nn.Linear(2, 2)


def run(plan=EVERYBODY, records=None, net=None, server=None, **options):
    net = net or model()
    server = server or {"lr": 1.0}
    options = {"local_steps": 3, "local_learning_rate": 0.5, **options}
    options.setdefault("optimizer", torch.optim.SGD(net.parameters(), **server))
    return Federation(net, options.pop("loss_fn", LOSS), records or data(), plan, **options)


def flat(net):
    return nn.utils.parameters_to_vector(net.parameters()).detach().clone()


def one_by_one(net, records, rounds, momentum):
    """Return the model of federated averaging by a loop over users, each with a model copy."""
    inputs, targets, owners = map(torch.as_tensor, records)
    speed = 0.0
    for _ in range(rounds):
        total = 0.0
        for user in owners.unique():
            own = copy.deepcopy(net)
            sgd = torch.optim.SGD(own.parameters(), lr=0.5)
            for _ in range(3):
                sgd.zero_grad()
                LOSS(own(inputs[owners == user]), targets[owners == user]).mean().backward()
                sgd.step()
            change = flat(own) - flat(net)
            total = total + change * min(1.0, 0.2 / float(change.norm()))
        speed = momentum * speed + total / 7
        nn.utils.vector_to_parameters(flat(net) + speed, net.parameters())
    return flat(net)


@each("momentum", [0.0, 0.9])
def test_simulated_rounds_match_a_loop_over_users(momentum, monkeypatch):
    monkeypatch.setattr("dplearn.federated.simulation._USERS_AT_ONCE", 4)
    federation = run(server={"lr": 1.0, "momentum": momentum})
    tallies = [federation.round().private for _ in range(3)]
    assert torch.allclose(
        flat(federation.model), one_by_one(model(), data(), 3, momentum), atol=1e-12
    )
    assert [tally.lot_size for tally in tallies] == [7, 7, 7]
    assert tallies[0].clipped_fraction > 0.5
    with pytest.raises(ValueError, match="at most 3 rounds"):
        federation.round()


@each("scale", [1.0, 1e6, math.inf, math.nan])
def test_a_user_changes_the_sum_by_at_most_the_clipping_norm(scale):
    """Scale the records of user 3; a non-finite update is left out and counted."""
    inputs, targets, owners = data()
    bad = inputs.copy()
    bad[owners == 3] *= scale
    without = owners != 3
    sums, finite = [], math.isfinite(scale)
    for records in ((inputs[without], targets[without], owners[without]), (bad, targets, owners)):
        federation = run(records=records)
        start = flat(federation.model)
        record = federation.round()
        sums.append(7 * (flat(federation.model) - start))
    moved = float((sums[0] - sums[1]).norm())
    assert moved == pytest.approx(0.2 if finite else 0.0, abs=1e-9)
    assert record.private.non_finite == (not finite) and math.isfinite(record.private.loss)
    assert federation.history().steps == 1 and record.clipping_norm == 0.2


@each("sampling, rate", [("poisson", 0.5), ("none", 0.7), ("shuffled", 0.1)])
def test_noise_on_the_mean_update_has_the_planned_standard_deviation(sampling, rate):
    """Updates are almost 0, so that each coordinate moves by noise alone, of deviation zC / m."""
    size = {"users": 50, "sample_rate": rate, "rounds": 1, "max_update_norm": 3.0}
    plan = FederatedPlan(**size, noise_multiplier=2.0, sampling=sampling)
    net = model(wide=3000)
    records = np.zeros((1, 5)), np.zeros(1, int), np.zeros(1, int)
    federation = run(plan, records, net, local_learning_rate=1e-30)
    start = flat(net)
    federation.round()
    normal = (flat(net) - start) * (50 * rate) / (2.0 * 3.0)
    assert abs(float(normal.std()) - 1) < 5 / math.sqrt(2 * len(normal))
    assert abs(float(normal.mean())) < 5 / math.sqrt(len(normal))


@each("sampling", ["poisson", "without_replacement", "shuffled", "random_allocation", "none"])
def test_participants_follow_the_sampling_scheme(sampling):
    size = {"users": 1000, "sample_rate": 0.1, "rounds": 20, "max_update_norm": 1.0}
    plan = FederatedPlan(**size, noise_multiplier=1.0, sampling=sampling)
    federation = run(plan, generator=torch.Generator().manual_seed(3))
    present = [federation._present(number) for number in range(10)]
    epoch = np.concatenate(present)
    if sampling in ("without_replacement", "shuffled"):
        assert {len(users) for users in present} == {100}
    assert abs(len(epoch) - 1000) < 150
    if sampling in ("shuffled", "random_allocation"):
        assert sorted(epoch) == list(range(1000))
    else:
        assert len(set(epoch)) < 800


def test_epsilon_of_an_interrupted_simulation_covers_its_completed_rounds(capsys):
    """Interrupt a run: each round is counted before it changes the model."""
    plan = dataclasses.replace(
        EVERYBODY, sampling="poisson", sample_rate=0.3, rounds=40, noise_multiplier=1.5
    )
    net, seen = model(), []

    def stop(*_):
        seen.append(flat(net))
        if len(seen) == 15:
            raise KeyboardInterrupt

    options = {"local_steps": 1, "local_learning_rate": 0.1}
    sgd = torch.optim.SGD(net.parameters(), lr=1.0)
    sgd.register_step_pre_hook(stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        simulate(net, LOSS, data(), plan, delta=1e-5, optimizer=sgd, **options)
    history = vars(caught.value)["history"]
    step = PoissonSubsampled(Gaussian(1.5), 0.3)
    assert history.steps == 15
    stated, exact = (
        history.guarantee(1e-5),
        ACCOUNTANTS["pld"]().epsilon(step, delta=1e-5, steps=15),
    )
    assert stated.epsilon == exact.epsilon and str(stated).endswith("per user")
    assert "round 1/40  epsilon per user" in capsys.readouterr().err
    assert all(not torch.equal(a, b) for a, b in pairwise(seen))


def test_a_seed_reproduces_a_simulation_and_adds_an_assumption_to_its_guarantee():
    plan = dataclasses.replace(EVERYBODY, sampling="poisson", sample_rate=0.5, noise_multiplier=1.0)
    ends = []
    for seed in (1, 1, 2, None):
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        federation = run(plan, net=model(nn.Dropout), generator=generator)
        for _ in range(3):
            federation.round()
        ends.append(flat(federation.model))
        assert ("nobody knows the seed" in federation.history().assumptions) is (seed is not None)
    assert torch.equal(ends[0], ends[1])
    assert not torch.equal(ends[0], ends[2]) and not torch.equal(ends[0], ends[3])


@each(
    "changes, error, message",
    [
        ({"local_steps": 0}, ValueError, "local_steps a whole number >= 1, got local_steps=0"),
        ({"local_learning_rate": -1.0}, ValueError, "local_learning_rate > 0"),
        ({"optimizer": torch.optim.SGD(OTHER.parameters())}, ValueError, "not the model's"),
        ({"loss_fn": nn.CrossEntropyLoss()}, ValueError, 'reduction="none"'),
        ({"records": tuple(x[:0] for x in data())}, ValueError, "at least one record, got 0"),
        ({"plan": None}, TypeError, "plan to be a FederatedPlan, got plan=None"),
        ({"records": data()[:2]}, TypeError, "records to be"),
        ({"records": data(OWNERS + 1)}, ValueError, "owners from 0 to plan.users - 1 = 6"),
        ({"records": data(OWNERS * 1.0)}, ValueError, "owners whole numbers"),
    ],
)
def test_bad_input_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        run(**changes)
