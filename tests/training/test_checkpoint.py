"""A run that is interrupted and resumed is the run that was not."""

import dataclasses
import os

import pytest
import torch
from torch import nn

from dplearn.run import DPSGD
from dplearn.training import AdaptiveQuantile, Trainer, checkpoint, fit

torch.set_num_threads(1)

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.25, steps=10, max_grad_norm=0.5)
X = torch.randn(32, 3, generator=torch.Generator().manual_seed(1))
Y = torch.arange(32) % 2


class Interrupted(Exception):
    pass


def parts(plan=PLAN, *, seed=0, width=8, optimizer=torch.optim.Adam):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(3, width), nn.Dropout(0.3), nn.Linear(width, 2))
    optimizer = optimizer(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 7], gamma=0.3)
    return model, optimizer, scheduler


def trained(
    path=None, *, plan=PLAN, bound=None, stop=None, generator=0, every=1, secure=False, **options
):
    model, optimizer, scheduler = parts(**options)

    def callback(record):
        if record.step == stop:
            raise Interrupted

    if generator is not None:
        generator = torch.Generator().manual_seed(generator)
    history = fit(
        model,
        nn.CrossEntropyLoss(reduction="none"),
        (X, Y),
        plan,
        optimizer=optimizer,
        scheduler=scheduler,
        bound=bound,
        delta=1e-5,
        checkpoint=path,
        checkpoint_every=every,
        generator=generator,
        secure=secure,
        progress=False,
        callback=callback,
    )
    state = [*model.state_dict().values(), torch.tensor(optimizer.param_groups[0]["lr"])]
    return torch.cat([value.flatten() for value in state]), history


@pytest.mark.parametrize("stop", [1, 4, 9])
@pytest.mark.parametrize("sampling", ["poisson", "shuffled"])
@pytest.mark.parametrize(
    "bound",
    [None, AdaptiveQuantile(max_grad_norm=0.5, count_noise=1.0)],
    ids=["flat", "adaptive"],
)
def test_resumed_equals_uninterrupted_bit_for_bit(tmp_path, stop, sampling, bound):
    plan = dataclasses.replace(PLAN, sampling=sampling)
    whole, _ = trained(plan=plan, bound=bound)
    with pytest.raises(Interrupted):
        trained(tmp_path / "run", plan=plan, bound=bound, stop=stop)
    torch.rand(5)  # the global generator plays no part
    resumed, history = trained(tmp_path / "run", plan=plan, bound=bound, generator=5, seed=9)
    assert torch.equal(resumed, whole)
    assert history.steps == 10 and [r.step for r in history.records] == list(range(stop + 1, 11))
    assert history.guarantee(1e-5).epsilon == plan.guarantee(delta=1e-5).epsilon


def test_a_finished_run_is_returned_as_it_is(tmp_path):
    whole, _ = trained(tmp_path / "run")
    again, history = trained(tmp_path / "run", seed=9)
    assert torch.equal(again, whole) and history.steps == 10 and not history.records


@pytest.mark.parametrize("secure", [False, True])
def test_with_the_operating_systems_randomness_nothing_of_it_is_written(tmp_path, secure):
    trained(tmp_path / "run", generator=None, secure=secure)
    found = checkpoint.read(tmp_path / "run")
    assert found["seed"] is None
    assert set(found) == {
        "run", "resumable", "steps", "seed", "max_grad_norm", "model", "optimizer", "scheduler"
    }  # fmt: skip
    model, _, scheduler = parts()
    assert found["model"].keys() == model.state_dict().keys()
    assert found["optimizer"]["state"][0].keys() == {"step", "exp_avg", "exp_avg_sq"}
    assert found["scheduler"].keys() == scheduler.state_dict().keys()


def test_private_diagnostics_are_not_written(tmp_path):
    _, history = trained(tmp_path / "run", generator=None)
    assert repr(history.records[-1].private.loss) not in repr(checkpoint.read(tmp_path / "run"))


def test_a_half_used_epoch_without_a_generator_is_not_resumed(tmp_path):
    plan = dataclasses.replace(PLAN, sampling="shuffled")  # epochs of 4 steps
    with pytest.raises(Interrupted):
        trained(tmp_path / "run", plan=plan, generator=None, stop=6)
    assert checkpoint.read(tmp_path / "run")["steps"] == 4  # fit writes between epochs
    _, history = trained(tmp_path / "run", plan=plan, generator=None)
    assert history.steps == 10
    model, optimizer, scheduler = parts()
    loss = nn.CrossEntropyLoss(reduction="none")
    trainer = Trainer(model, loss, (X, Y), plan, optimizer=optimizer, scheduler=scheduler)
    trainer.step()
    trainer.save(tmp_path / "half")
    with pytest.raises(
        ValueError, match="Expected a checkpoint between two epochs, got one after 1"
    ):
        trainer.load(tmp_path / "half")


OTHER_RUNS = {
    "plan": {"plan": dataclasses.replace(PLAN, noise_multiplier=0.9)},
    "bound": {"bound": AdaptiveQuantile(max_grad_norm=0.5, count_noise=1.0)},
    r"model\['0.weight'\]": {"width": 9},
    "optimizer": {"optimizer": torch.optim.SGD},
    "generator": {"generator": None},
}


@pytest.mark.parametrize(("name", "change"), OTHER_RUNS.items(), ids=OTHER_RUNS)
def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path, name, change):
    with pytest.raises(Interrupted):
        trained(tmp_path / "run", stop=3)
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(ValueError, match=f"Expected a checkpoint with {name} = "):
        trained(tmp_path / "run", **change)
    assert (tmp_path / "run").read_bytes() == before


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other"])
def test_a_damaged_checkpoint_is_refused_and_kept(tmp_path, damage):
    path = tmp_path / "run"
    with pytest.raises(Interrupted):
        trained(path, stop=3)
    good = path.read_bytes()
    flipped = bytes([*good[:500], good[500] ^ 1, *good[501:]])
    bad = {"cut": good[:-1], "flipped": flipped, "empty": b"", "other": b"a\nb"}[damage]
    path.write_bytes(bad)
    with pytest.raises(ValueError, match="Expected a checkpoint, got a damaged or different file"):
        trained(path)
    assert path.read_bytes() == bad


def test_a_refused_checkpoint_changes_nothing(tmp_path):
    with pytest.raises(Interrupted):
        trained(tmp_path / "run", stop=3)
    model, optimizer, scheduler = parts()
    loss, plan = nn.CrossEntropyLoss(reduction="none"), dataclasses.replace(PLAN, steps=11)
    trainer = Trainer(model, loss, (X, Y), plan, optimizer=optimizer, scheduler=scheduler)
    with pytest.raises(ValueError, match="Expected a checkpoint with plan"):
        trainer.load(tmp_path / "run")
    assert trainer.steps == 0 and not optimizer.state_dict()["state"]
    assert torch.equal(model[0].weight, parts()[0][0].weight)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, step):
    checkpoint.write(tmp_path / "run", {"a": 1})

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.write(tmp_path / "run", {"a": 2})
    monkeypatch.undo()
    assert checkpoint.read(tmp_path / "run") == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
