"""Interrupted runs: each step that changed the model is counted and recorded."""

import dataclasses

import pytest
import torch
from small_runs import PLAN, generator, run, small_data, small_model, started

from cases import each
from dplearn.training import Flat, checkpoint, clipped_sum

pytestmark = pytest.mark.usefixtures("unchecked")


@each("what, failures", [("hook", 2), ("scheduler", 3)])
def test_interrupted_updates_are_counted(what, failures):
    """Every third step raises after the optimizer has run."""
    model = small_model()
    optimizer, applied = torch.optim.SGD(model.parameters(), lr=0.1), []
    options: dict = {"optimizer": optimizer}

    def hook(*_):
        applied.append(None)
        if what == "hook" and len(applied) % 3 == 0:
            raise KeyboardInterrupt

    optimizer.register_step_post_hook(hook)
    if what == "scheduler":
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=3)
        options["scheduler"] = cycle
    begun, failed = started(model, **options), 0
    for _ in range(PLAN.steps):
        try:
            begun.step()
        except (KeyboardInterrupt, ValueError):
            failed += 1
    assert failed == failures and len(applied) == begun.steps == PLAN.steps
    history = begun.history()
    assert [record.step for record in history.records] == list(range(1, 7))
    with pytest.raises(ValueError, match="Expected at most 6 steps"):
        begun.step()
    assert len(applied) == 6


def test_step_that_fails_before_its_update_is_repeated_with_the_same_lot():
    """With a new lot, records could influence the sampling by raising an exception."""
    lots, broken = [], []

    def loss_fn(outputs, targets):
        lots.append(targets.tolist())
        if broken:
            raise broken.pop()
        return outputs.square().sum(1)

    plan, data = dataclasses.replace(PLAN, sample_rate=0.5), (small_data()[0], torch.arange(32))
    begun = started(plan=plan, loss_fn=loss_fn, data=data)
    clipped_sum(begun.model, loss_fn, *data, bound=Flat(1.0))  # which chooses the recipe
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
    assert history.steps == len(history.records) == 4 == checkpoint.loaded(path)["steps"]
    epsilon = PLAN.guarantee("rdp", delta=1e-5, steps=4).epsilon
    assert history.guarantee(1e-5, accountant="rdp").epsilon == epsilon
    assert "4 steps done" in caught.value.__notes__[0]
    resumed, _ = run(checkpoint=path)
    assert torch.equal(resumed, run()[0])


@each("path", ["missing/run", ".", "/proc/run"])
def test_unwritable_checkpoint_raises_before_the_first_step(path, tmp_path):
    steps = []
    with pytest.raises(OSError, match="Expected checkpoint to be a file that can be written, got"):
        run(checkpoint=tmp_path / path, callback=steps.append)
    assert not steps and not list(tmp_path.iterdir())


def test_unseeded_resumed_history_assumes_that_lost_steps_were_not_released(tmp_path):
    text = "nothing was released of steps that were lost when the run was resumed"
    for source in (None, generator()):
        begun, again = (started(generator=source) for _ in range(2))
        begun.step()
        begun.save(tmp_path / "run")
        again.load(tmp_path / "run")
        assert text not in begun.history().assumptions
        assert (text in again.history().assumptions) == (source is None)
