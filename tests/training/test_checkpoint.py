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
LOSS = nn.CrossEntropyLoss(reduction="none")


class Interrupted(Exception):
    pass


def parts(*, seed=0, width=8, optimizer=torch.optim.Adam):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(3, width), nn.Dropout(0.3), nn.Linear(width, 2))
    optimizer = optimizer(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 7], gamma=0.3)
    return model, optimizer, scheduler


def trained(path=None, *, plan=PLAN, stop=None, generator=0, made=None, **options):
    """Parameters, learning rate and history of a run that is written after each step."""
    model, optimizer, scheduler = parts(**(made or {}))

    def callback(record):
        if record.step == stop:
            raise Interrupted

    if generator is not None:
        options["generator"] = torch.Generator().manual_seed(generator)
    options |= {"delta": 1e-5, "progress": False, "checkpoint": path, "checkpoint_every": 1}
    options |= {"optimizer": optimizer, "scheduler": scheduler, "callback": callback}
    history = fit(model, LOSS, (X, Y), plan, **options)
    state = [*model.state_dict().values(), torch.tensor(optimizer.param_groups[0]["lr"])]
    return torch.cat([value.flatten() for value in state]), history


def interrupted(path, **options):
    with pytest.raises(Interrupted):
        trained(path, **options)
    return path


def started(plan):
    """A trainer, and the model and the optimizer in it."""
    model, optimizer, scheduler = parts()
    trainer = Trainer(model, LOSS, (X, Y), plan, optimizer=optimizer, scheduler=scheduler)
    return trainer, model, optimizer


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
    path = interrupted(tmp_path / "run", plan=plan, bound=bound, stop=stop)
    torch.rand(5)  # the global generator plays no part
    resumed, history = trained(path, plan=plan, bound=bound, generator=5, made={"seed": 9})
    assert torch.equal(resumed, whole)
    assert history.steps == 10 and [r.step for r in history.records] == list(range(stop + 1, 11))
    assert history.guarantee(1e-5).epsilon == plan.guarantee(delta=1e-5).epsilon


def test_a_finished_run_is_returned_as_it_is(tmp_path):
    whole, _ = trained(tmp_path / "run")
    again, history = trained(tmp_path / "run", made={"seed": 9})
    assert torch.equal(again, whole) and history.steps == 10 and not history.records


@pytest.mark.parametrize("secure", [False, True])
def test_with_the_operating_systems_randomness_nothing_private_is_written(tmp_path, secure):
    _, history = trained(tmp_path / "run", generator=None, secure=secure)
    written = checkpoint.read(tmp_path / "run")
    assert written["seed"] is None
    assert repr(history.records[-1].private.loss) not in repr(written)
    others = {"run", "resumable", "steps", "seed", "max_grad_norm"}
    assert set(written) == others | {"model", "optimizer", "scheduler"}
    model, _, scheduler = parts()
    assert written["model"].keys() == model.state_dict().keys()
    assert written["optimizer"]["state"][0].keys() == {"step", "exp_avg", "exp_avg_sq"}
    assert written["scheduler"].keys() == scheduler.state_dict().keys()


def test_a_half_used_epoch_without_a_generator_is_not_resumed(tmp_path):
    plan = dataclasses.replace(PLAN, sampling="shuffled")  # epochs of 4 steps
    path = interrupted(tmp_path / "run", plan=plan, generator=None, stop=6)
    assert checkpoint.read(path)["steps"] == 4  # fit writes between epochs
    assert trained(path, plan=plan, generator=None)[1].steps == 10
    trainer, *_ = started(plan)
    trainer.step()
    trainer.save(path)
    with pytest.raises(
        ValueError, match="Expected a checkpoint between two epochs, got one after 1"
    ):
        trainer.load(path)


OTHER_RUNS = {
    "plan": {"plan": dataclasses.replace(PLAN, noise_multiplier=0.9)},
    "bound": {"bound": AdaptiveQuantile(max_grad_norm=0.5, count_noise=1.0)},
    r"model\['0.weight'\]": {"made": {"width": 9}},
    "optimizer": {"made": {"optimizer": torch.optim.SGD}},
    "generator": {"generator": None},
}


def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path):
    path = interrupted(tmp_path / "run", stop=3)
    before = path.read_bytes()
    for name, change in OTHER_RUNS.items():
        with pytest.raises(ValueError, match=f"Expected a checkpoint with {name} = "):
            trained(path, **change)
        assert path.read_bytes() == before, name


def test_a_damaged_checkpoint_is_refused_and_kept(tmp_path):
    path = interrupted(tmp_path / "run", stop=3)
    good = path.read_bytes()
    flipped = bytes([*good[:500], good[500] ^ 1, *good[501:]])
    for bad in (good[:-1], flipped, b"", b"a\nb"):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="a checkpoint, got a damaged or different file"):
            trained(path)
        assert path.read_bytes() == bad


def test_a_refused_checkpoint_changes_nothing(tmp_path):
    path = interrupted(tmp_path / "run", stop=3)
    trainer, model, optimizer = started(dataclasses.replace(PLAN, steps=11))
    with pytest.raises(ValueError, match="Expected a checkpoint with plan"):
        trainer.load(path)
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
