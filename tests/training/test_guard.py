"""The guard on real lots: it finds late mixing of records, and accepts extreme records."""

import dataclasses
import math

import pytest
import torch
from good_models import GOOD
from parts import CLASSES, PLAN, Model, built, small_model, started
from torch import nn
from torch.utils._pytree import tree_map_only

from cases import each
from dplearn.training import Trainer

LOTS = dataclasses.replace(PLAN, sample_rate=0.5, steps=8)


def centred(model, x):
    """Return the model's output, of centred inputs from the second epoch on or in large lots."""
    return model.last(x - x.mean(0) if model.epoch or len(x) > model.large else x)


def late(**attributes):
    model = Model(centred, last=nn.Linear(3, 2))
    vars(model).update({"epoch": 0, "large": 99, **attributes})
    return model


def test_model_that_starts_to_mix_records_is_refused_at_the_next_check():
    trainer = started(model := late(), plan=LOTS)
    trainer.step(), trainer.step()
    vars(model)["epoch"] = 1
    trainer.step()  # not checked
    with pytest.raises(ValueError, match=r"mixes records.* The 3 steps done have no guarantee"):
        trainer.step()
    assert trainer.steps == 3 == trainer.history().steps
    weight = model.last.weight.clone()
    with pytest.raises(ValueError, match=r"copies of one other.* at step 4"):
        trainer.step()  # again: no noise or update has changed the model
    assert torch.equal(model.last.weight, weight)


def test_mixing_in_large_lots_is_refused_and_the_traceback_holds_no_tensor():
    trainer = started(late(large=9), plan=LOTS)
    with pytest.raises(ValueError, match="at step 1") as caught:
        trainer.step()
    frame = caught.tb
    while frame:
        if frame.tb_frame.f_code.co_filename.endswith("training/trainer.py"):
            assert not any(isinstance(x, torch.Tensor) for x in frame.tb_frame.f_locals.values())
        frame = frame.tb_next


def test_guard_waits_for_a_lot_of_several_records():
    trainer = started(late(large=9), plan=dataclasses.replace(PLAN, steps=200, sample_rate=1e-3))
    with pytest.raises(ValueError, match="mixes records"):
        for _ in range(200):
            trainer.step()
            assert trainer.records[-1].private.lot_size < 2
            vars(trainer)["_lot"] = lambda _: torch.arange(16).numpy()  # a larger lot


def strange(factor):
    """Return a function that makes 64 similar records, every fifth multiplied by a factor."""

    def rows(x):
        x = x[torch.arange(64) % len(x)]
        if x.is_floating_point():
            x = x * (1 + 0.1 * torch.randn(x.shape)).to(x.dtype)
            x[1::5] = x[1::5] * factor
        return x

    return lambda pair: tree_map_only(torch.Tensor, rows, pair)


# Models with constants of as many rows as records or in their data, or that refuse NaN.
EXCLUDED = "look-ups", "constants", "adjacency", "mask of", "causal mask", "not allowed"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using padding='same'", "ignore:Each record takes a pass")
@pytest.mark.usefixtures("unchecked")
@each("factor", [1e4, 1e19, math.nan])
def test_good_models_are_accepted_on_extreme_records(factor):
    """A false refusal would reveal something about one record."""
    for name in GOOD:
        if any(word in name for word in EXCLUDED):
            continue
        model, loss_fn, *pair = built(GOOD[name])
        trainer = started(model, plan=LOTS, loss_fn=loss_fn, data=strange(factor)(tuple(pair)))
        for _ in range(4):
            trainer._due = 1  # check at every step
            trainer.step()


def test_guard_checks_at_powers_of_two_and_after_resuming(tmp_path, monkeypatch):
    looks, guard = [], Trainer._guard
    note = lambda trainer, *views: looks.append(trainer.steps + 1) or guard(trainer, *views)
    monkeypatch.setattr(Trainer, "_guard", note)
    trainer = started(small_model(dropout=0.5), plan=LOTS)
    for _ in range(8):
        trainer.step()
    assert looks == [1, 2, 4, 8]
    again = started(small_model(), plan=LOTS)
    for _ in range(5):
        again.step()
    again.save(tmp_path / "run")
    other = started(small_model(), plan=LOTS)
    other.load(tmp_path / "run")
    looks.clear()
    other.step(), other.step()
    assert looks == [6]


def test_guarantees_of_random_models_state_that_sizes_were_not_compared():
    noisy = Model(lambda m, x: m.last(x + torch.randn(x.shape)), last=nn.Linear(3, CLASSES))
    assumption = "was not tried in smaller lots"
    for model, random in ((noisy, True), (small_model(dropout=0.5), False)):
        assert any(assumption in x for x in started(model).history().assumptions) == random
