"""Interrupted runs: each step is counted, and resumed runs equal uninterrupted ones."""

import dataclasses
import os

import pytest
import torch
from parts import CROSS_ENTROPY, PLAN, flat, generator, run, small_data, small_model, started

from cases import each
from dplearn.run import Phases
from dplearn.training import Automatic, agreement

pytestmark = pytest.mark.usefixtures("unchecked")
TEN = dataclasses.replace(PLAN, steps=10)
SHUFFLED = dataclasses.replace(TEN, sampling="shuffled")  # epochs of 4 steps
AUTOMATIC = Automatic(0.5)


def trained(path=None, plan=TEN, *, stop=None, seed=0, width=8, frozen=False, **options):
    """Train with a checkpoint after each step; return parameters, learning rate and history."""
    model = small_model(seed, dropout=0.3, width=width)
    model[0].requires_grad_(not frozen)
    optimizer = options.pop("optimizer", torch.optim.Adam)(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 7], gamma=0.3)

    def callback(trainer):
        if trainer.steps == stop:
            raise InterruptedError

    options |= {"checkpoint": path, "checkpoint_every": 1, "callback": callback}
    after, history = run(model, plan, optimizer=optimizer, scheduler=scheduler, **options)
    return flat([after, torch.tensor([optimizer.param_groups[0]["lr"]])]), history


def interrupted(path, *arguments, **options):
    with pytest.raises(InterruptedError):
        trained(path, *arguments, **options)
    return path


ALLOCATED = dataclasses.replace(TEN, sampling="random_allocation", steps=7)
PHASES = Phases((dataclasses.replace(TEN, steps=3), ALLOCATED))


@pytest.mark.slow
@each("plan, bound", [(TEN, None), (TEN, AUTOMATIC), (SHUFFLED, AUTOMATIC), (PHASES, None)])
def test_resumed_run_equals_uninterrupted_run_bit_for_bit(tmp_path, plan, bound):
    path = tmp_path / "run"
    whole, _ = trained(plan=plan, bound=bound)
    for stop in (4, 9):
        interrupted(path, plan, bound=bound, stop=stop)
        torch.rand(5)  # the global generator must not matter
        for first in (stop + 1, 11):  # the second run resumes a finished run
            resumed, history = trained(path, plan, bound=bound, generator=generator(5), seed=9)
            assert torch.equal(resumed, whole) and history.steps == 10, stop
            assert [record.step for record in history.records] == list(range(first, 11))
        path.unlink()


def test_checkpoint_without_generator_contains_no_private_value(tmp_path):
    _, history = trained(path := tmp_path / "run", generator=None, expected_batch_size=9)
    written = agreement.loaded(path)
    public = {name: x for name, x in written["run"].items() if "model" not in name}
    assert "32" not in str(public)  # the size of the dataset
    assert written["seed"] is None
    assert repr(history.records[-1].private.loss) not in repr(written)
    assert set(written) == {"run", "steps", "seed", "model", "optimizer", "scheduler"}
    assert written["model"].keys() == small_model().state_dict().keys()
    assert written["optimizer"]["state"][0].keys() == {"step", "exp_avg", "exp_avg_sq"}


def test_unseeded_run_is_only_saved_between_epochs(tmp_path):
    path = interrupted(tmp_path / "run", SHUFFLED, generator=None, stop=6)
    assert agreement.loaded(path)["steps"] == 4  # `fit` writes only between epochs
    assert trained(path, SHUFFLED, generator=None)[1].steps == 10
    begun = started(plan=SHUFFLED)
    begun.step()
    with pytest.raises(ValueError, match="between two epochs, got one after 1 steps"):
        begun.save(path)


@pytest.mark.slow
def test_checkpoint_that_is_damaged_or_of_another_run_is_refused_and_changes_nothing(tmp_path):
    path = interrupted(tmp_path / "run", stop=3)
    before = path.read_bytes()
    for name, change in (
        ("plan", {"plan": dataclasses.replace(TEN, noise_multiplier=0.9)}),
        ("bound", {"bound": AUTOMATIC}),
        (r"model\['0.weight'\]", {"width": 9}),
        (r"model\['0.weight'\]", {"frozen": True}),
        ("optimizer", {"optimizer": torch.optim.SGD}),
        ("first learning rates", {"optimizer": lambda p, lr: torch.optim.Adam(p, lr=2 * lr)}),
        ("loss_fn", {"loss_fn": lambda *pair: 2 * CROSS_ENTROPY(*pair)}),
        ("generator", {"generator": None}),
    ):
        with pytest.raises(ValueError, match=f"Expected a checkpoint with {name} = "):
            trained(path, **change)
        assert path.read_bytes() == before, name
    begun = started()
    with pytest.raises(ValueError, match="Expected a checkpoint with plan"):
        begun.load(path)
    assert begun.steps == 0 and not begun.optimizer.state_dict()["state"]
    assert torch.equal(begun.model[0].weight, small_model()[0].weight)
    good = path.read_bytes()
    flipped = bytes([*good[:500], good[500] ^ 1, *good[501:]])
    for bad in (good[:-1], flipped, b"", b"a\nb"):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="a checkpoint, got a damaged or different file"):
            trained(path)
        assert path.read_bytes() == bad


@each("step", ["fsync", "replace"])
def test_failed_write_of_a_checkpoint_leaves_the_old_file(tmp_path, step):
    begun, path = started(), tmp_path / "run"
    (tmp_path / ".run.writing-a").touch()  # left by a killed process
    begun.save(path)
    begun.step()

    def fail(*args):
        raise OSError("disk full")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr(os, step, fail)
        begun.save(path)
    assert agreement.loaded(path)["steps"] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_steps_interrupted_after_their_update_are_counted():
    """Every third step raises after the optimizer has run."""
    model = small_model()
    optimizer, applied = torch.optim.SGD(model.parameters(), lr=0.1), []

    def hook(*_):
        applied.append(None)
        if len(applied) % 3 == 0:
            raise KeyboardInterrupt

    optimizer.register_step_post_hook(hook)
    begun, failed = started(model, optimizer=optimizer), 0
    for _ in range(PLAN.steps):
        try:
            begun.step()
        except KeyboardInterrupt:
            failed += 1
    assert failed == 2 and len(applied) == begun.steps == PLAN.steps
    assert [record.step for record in begun.history().records] == list(range(1, 7))


def test_step_that_fails_before_its_update_is_repeated_with_the_same_lot():
    """If a new lot were drawn, records that raise errors would influence the sampling."""
    lots, broken = [], []

    def loss_fn(outputs, targets):
        lots.append(targets.tolist())
        if broken:
            raise broken.pop()
        return outputs.square().sum(1)

    plan, data = dataclasses.replace(PLAN, sample_rate=0.5), (small_data()[0], torch.arange(32))
    begun = started(plan=plan, loss_fn=loss_fn, data=data)
    lots.clear()
    broken += [MemoryError, MemoryError]
    for _ in range(2):
        with pytest.raises(MemoryError):
            begun.step()
    assert begun.steps == 0
    begun.step()
    assert begun.steps == 1 and lots[0] == lots[1] == lots[2]


def test_exception_from_fit_has_the_history_and_leaves_a_checkpoint(tmp_path):
    def stop(trainer):
        if trainer.steps == 4:
            raise KeyboardInterrupt

    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt) as caught:
        run(callback=stop, checkpoint=path)
    history = caught.value.history
    assert history.steps == len(history.records) == 4 == agreement.loaded(path)["steps"]
    epsilon = PLAN.guarantee("rdp", delta=1e-5, steps=4).epsilon
    assert history.guarantee(1e-5, accountant="rdp").epsilon == epsilon
    assert "4 steps done" in caught.value.__notes__[0]


@each("path", ["missing/run", ".", "/proc/run"])
def test_unwritable_checkpoint_raises_before_the_first_step(path, tmp_path):
    steps = []
    with pytest.raises(OSError, match=r"Expected .* to be a file that can be written, got"):
        run(checkpoint=tmp_path / path, callback=steps.append)
    assert not steps and not list(tmp_path.iterdir())


def test_guarantee_of_unseeded_resumed_run_assumes_that_lost_steps_were_not_released(tmp_path):
    text = "nothing was released of steps that were lost when the run was resumed"
    for source in (None, generator()):
        begun, again = (started(generator=source) for _ in range(2))
        begun.step()
        begun.save(tmp_path / "run")
        again.load(tmp_path / "run")
        assert text not in begun.history().assumptions
        assert (text in again.history().assumptions) == (source is None)
