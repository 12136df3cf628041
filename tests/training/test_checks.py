"""Models that mix records or store data are refused, before training or on a lot of it."""

import dataclasses
import math

import parts
import pytest
import torch
import torch.nn.functional as F
from good_models import GOOD
from mixers import MIXERS
from parts import BATCH, CLASSES, Model, built, losses_of, small_data, small_model, started
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils._pytree import tree_map_only

from cases import each
from dplearn import DPSGD
from dplearn.training import Flat, check_model, clipped_sum
from dplearn.training.checks import refusal, stored

INPUTS = torch.randn(BATCH, 8, generator=parts.generator())
TARGETS = torch.zeros(BATCH).long()
LOTS = dataclasses.replace(parts.PLAN, sample_rate=0.5, steps=8)


def refused(model, inputs, *, match, error=ValueError, loss_fn=losses_of, targets=TARGETS):
    with pytest.raises(error, match=match):
        check_model(model, loss_fn, inputs, targets)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@each("name", MIXERS)
def test_models_that_mix_records_or_store_data_are_refused(name, seed):
    with pytest.raises((ValueError, NotImplementedError), match=r"Expected|is not supported"):
        check_model(*built(MIXERS[name], seed=seed))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using padding='same'", "ignore:Each record takes a pass")
@each("name", GOOD)
def test_models_that_treat_records_separately_are_accepted_and_left_unchanged(name):
    model, *others = built(GOOD[name])
    before, random = stored(model), torch.get_rng_state()
    check_model(model, *others)
    assert stored(model) == before and torch.equal(random, torch.get_rng_state())


@each(
    "layer, match",
    [
        (nn.BatchNorm2d(4), r"BatchNorm2d \(0\) .* nn.GroupNorm"),
        (nn.BatchNorm2d(4, affine=False), "GroupNorm"),
        (nn.BatchNorm2d(4, track_running_stats=False).eval(), "GroupNorm"),
        (nn.SyncBatchNorm(4), "GroupNorm"),
        (nn.InstanceNorm2d(4, track_running_stats=True), "track_running_stats=False"),
        # Embeddings that rescale rows they look up, or divide gradients by counts in the lot.
        (nn.Embedding(5, 5, max_norm=1.0), "max_norm"),
        (nn.EmbeddingBag(5, 5, scale_grad_by_freq=True), "scale_grad_by_freq"),
        (nn.Linear(8, 5, dtype=torch.complex64), "Hold real and imaginary parts"),
        # Calls of a compiled module are not recorded: every sum would be zero.
        (torch.compile(nn.Linear(8, 5), backend="eager"), "Pass the plain model"),
    ],
)
def test_modules_known_to_mix_records_are_refused_by_name(layer, match):
    model = nn.Sequential(layer)
    refused(model, TARGETS, match=match, error=NotImplementedError)
    with pytest.raises(NotImplementedError, match=match):
        clipped_sum(model, losses_of, TARGETS, TARGETS, bound=Flat(1.0))


def test_loss_functions_without_one_value_per_record_are_refused():
    match = r'one loss per record.*reduction="none" \(a model\'s own loss is a mean'
    refused(nn.Linear(8, 5), INPUTS, match=match, loss_fn=F.cross_entropy)
    with pytest.raises(ValueError, match=match):
        clipped_sum(nn.Linear(8, 5), F.cross_entropy, INPUTS, TARGETS, bound=Flat(1.0))
    refused(nn.Linear(8, 5), INPUTS, match=match, loss_fn=lambda outputs, _: None)
    squeezed = lambda outputs, targets: losses_of(outputs.squeeze(), targets)
    refused(nn.Linear(8, 5), INPUTS, match="lot of 1 to do", loss_fn=squeezed)


def test_model_check_replaces_floating_point_inputs_unless_they_are_public():
    """Integers, such as labels, are used as given."""
    with pytest.raises(IndexError, match=r"labels from 0 to the number of outputs - 1"):
        check_model(nn.Linear(8, 3), losses_of, INPUTS, TARGETS + 3)
    check_model(nn.Linear(8, 5), losses_of, torch.full((2, 8), torch.nan), TARGETS[:2])
    fussy = Model(lambda m, x: m.layer(torch.linalg.cholesky(x)).sum(1), layer=nn.Linear(3, 5))
    covers = torch.eye(3).expand(BATCH, 3, 3)
    with pytest.raises(RuntimeError, match="positive-definite"):
        check_model(fussy, losses_of, covers, TARGETS)
    check_model(fussy, losses_of, covers, TARGETS, public=True)
    started(fussy, data=(covers, TARGETS), example=(covers, TARGETS))
    with pytest.raises(RuntimeError, match=r"must match|cannot be multiplied"):  # the model's error
        check_model(nn.Linear(7, 5), losses_of, INPUTS, TARGETS)


def own_norm(model, x):
    h = model.first(x)
    return model.last((h - h.mean(0)) / (h.std(0) + 0.1) if model.training else h)


@pytest.mark.filterwarnings("ignore:std")
def test_model_is_checked_again_when_its_mode_changes():
    model = Model(own_norm, first=nn.Linear(3, 8), last=nn.Linear(8, 2)).eval()
    trainer, before = started(model), stored(model)
    model.train()
    with pytest.raises(ValueError, match="mixes records"):
        trainer.step()
    assert trainer.steps == 0 and stored(model) == before
    with pytest.raises(ValueError, match="mixes records"):
        trainer.step()  # refused again
    model.eval().first.requires_grad_(False)
    model.train()
    with pytest.raises(ValueError, match="mixes records"):
        trainer.step()
    model.eval().first.requires_grad_(True)
    trainer.step()  # the first layer is trainable, as at the start
    assert stored(model)["first.weight"] != before["first.weight"]


def storing(model, x):
    """Store the mean of very large inputs, which the check before training does not try."""
    if (x > 1e3).any():
        model.last.bias.data.add_(x.detach().mean())
    return model.last(x)


def test_run_ends_if_a_training_pass_changes_a_parameter():
    x, targets = small_data()
    trainer = started(Model(storing, last=nn.Linear(3, 2)), data=(1e4 * x, targets))
    with pytest.raises(ValueError, match=r"'last.bias' as it is, but it changed"):
        trainer.step()
    assert trainer.steps == 0


def test_trainable_parameters_may_change_during_a_run():
    """Each layer trained at a step gets its own gradient."""
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)), nn.Linear(3, 2))
    model[2:4].requires_grad_(False)  # the fourth stays frozen, and is in no optimizer
    optimizer = torch.optim.SGD([*model[:3].parameters(), *model[4].parameters()], lr=0.1)
    plan = DPSGD(noise_multiplier=1e-9, sample_rate=1.0, steps=9, max_grad_norm=1e3)
    trainer = started(model, plan, optimizer=optimizer, generator=parts.generator())
    trainer.step()
    model[0].requires_grad_(False)  # its .grad has the gradient of the last step
    model[2].requires_grad_(True)
    before = {name: p.clone() for name, p in model.named_parameters()}
    sums = clipped_sum(model, parts.CROSS_ENTROPY, *small_data(), bound=Flat(1e3)).sums
    trainer.step()
    for name, p in model.named_parameters():
        torch.testing.assert_close(p, before[name] - 0.1 * sums.get(name, 0 * p) / 32)
    model.requires_grad_(False)
    with pytest.raises(ValueError, match="at least one trainable parameter"):
        trainer.step()
    model.append(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="in the optimizer"):
        trainer.step()


def test_step_inside_no_grad_gives_the_same_result():
    for context in (torch.no_grad, torch.inference_mode):
        weights = []
        for inside in (torch.enable_grad, context):
            trainer = started(generator=parts.generator())
            with inside():
                trainer.step()
            weights.append(parts.flat(trainer.model.parameters()))
        assert torch.equal(*weights)


def test_trainable_parameters_of_the_loss_are_refused():
    margin = lambda loss, outputs, targets: losses_of(outputs * loss.scale, targets)
    model, loss = small_model(), Model(margin, scale=nn.Parameter(torch.ones(())))
    every = torch.optim.SGD([*model.parameters(), *loss.parameters()], lr=0.1)
    plain = lambda outputs, targets: loss(outputs, targets)
    for options in ({"optimizer": every, "loss_fn": plain}, {"loss_fn": loss}):
        with pytest.raises(ValueError, match="not the model's"):
            started(model, **options)


class Closing(torch.optim.SGD):
    """Optimizer that evaluates the loss in a closure."""

    def step(self, closure):
        return closure()


def test_errors_about_models_and_optimizers_state_cause_and_remedy():
    blind = Model(lambda model, x: model.layer(x).detach(), layer=nn.Linear(8, 5))
    for model in (blind, nn.Linear(8, 5).requires_grad_(False)):
        refused(model, INPUTS, match="depend on trainable parameters")
    spectral = nn.Sequential(parametrizations.spectral_norm(nn.Linear(8, CLASSES)))
    lazy = nn.Sequential(nn.LazyLinear(CLASSES))
    refused(spectral, INPUTS, match=r"follow the weights.*eval\(\)", error=NotImplementedError)
    check_model(spectral.eval(), losses_of, INPUTS, TARGETS)
    refused(lazy, INPUTS, match="uninitialized parameter .*Call `forward` with a dummy batch")
    words = lambda outputs, targets: losses_of(outputs.flatten(0, 1), targets.flatten())
    grid, labels = torch.randn(BATCH, 3, 8), torch.zeros(BATCH, 3).long()
    match = r"got shape \(\d+,\); use losses.view\(len\(targets\), -1\).mean\(1\)"
    refused(nn.Linear(8, CLASSES), grid, match=match, loss_fn=words, targets=labels)
    model = small_model()
    for optimizer in (Closing(model.parameters(), lr=0.1), torch.optim.LBFGS(model.parameters())):
        with pytest.raises(NotImplementedError, match="evaluates the loss in a closure"):
            started(model, optimizer=optimizer)


# The test of lots during training, at steps 1, 2, 4, 8 and so on.


def centred(model, x):
    """Return outputs of inputs, which are centred after epoch 0 and in large lots."""
    return model.last(x - x.mean(0) if model.epoch or len(x) > model.large else x)


def centring(**attributes):
    model = Model(centred, last=nn.Linear(3, 2))
    vars(model).update({"epoch": 0, "large": 99, **attributes})
    return model


def test_model_that_starts_to_mix_records_is_refused_at_the_next_check():
    trainer = started(model := centring(), plan=LOTS)
    trainer.step(), trainer.step()
    vars(model)["epoch"] = 1
    trainer.step()  # step 3 is not tested
    with pytest.raises(ValueError, match=r"mixes records.* The 3 steps done have no guarantee"):
        trainer.step()
    assert trainer.steps == 3 == trainer.history().steps
    weight = model.last.weight.clone()
    with pytest.raises(ValueError, match=r"copies of one other.* at step 4"):
        trainer.step()  # again: no noise or update has changed the model
    assert torch.equal(model.last.weight, weight)


def test_mixing_in_large_lots_is_refused_and_the_traceback_has_no_tensor():
    # A seed, because one lot of a hundred has fewer than ten records.
    trainer = started(centring(large=9), plan=LOTS, generator=parts.generator())
    with pytest.raises(ValueError, match="at step 1") as caught:
        trainer.step()
    frame = caught.tb
    while frame:
        if frame.tb_frame.f_code.co_filename.endswith("training/trainer.py"):
            assert not any(isinstance(x, torch.Tensor) for x in frame.tb_frame.f_locals.values())
        frame = frame.tb_next


def test_first_lot_of_several_records_is_tested_for_mixing():
    plan = dataclasses.replace(LOTS, steps=200, sample_rate=1e-3)
    trainer = started(centring(large=9), plan=plan)
    with pytest.raises(ValueError, match="mixes records"):
        for _ in range(200):
            trainer.step()
            assert trainer.records[-1].private.lot_size < 2
            vars(trainer)["_lot"] = lambda _: torch.arange(16).numpy()  # a larger lot


def extreme(factor, pair):
    """Return 64 records like those given, with every fifth multiplied by a factor."""

    def rows(x):
        x = x[torch.arange(64) % len(x)]
        if x.is_floating_point():
            x = x * (1 + 0.1 * torch.randn(x.shape)).to(x.dtype)
            x[1::5] = x[1::5] * factor
        return x

    return tree_map_only(torch.Tensor, rows, pair)


# Models with constants in the data or with as many rows as records, or that refuse NaN.
EXCLUDED = "look-ups", "constants", "adjacency", "mask of", "causal mask", "not allowed"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using padding='same'", "ignore:Each record takes a pass")
@pytest.mark.usefixtures("unchecked")
@each("factor", [1e4, 1e19, math.nan])
def test_models_that_treat_records_separately_are_accepted_on_extreme_records(factor):
    """A refusal that depends on one extreme record would reveal this record."""
    for name in GOOD:
        if any(word in name for word in EXCLUDED):
            continue
        model, loss_fn, *pair = built(GOOD[name])
        trainer = started(model, plan=LOTS, loss_fn=loss_fn, data=extreme(factor, tuple(pair)))
        for _ in range(4):
            trainer._due = 1  # test the lot of every step
            trainer.step()


def test_lots_are_tested_at_steps_1_2_4_8_and_after_resuming(tmp_path, monkeypatch):
    tested = []

    def note(*views, start=False, **seed):
        tested.extend(() if start else seed.values())
        return refusal(*views, start=start, **seed)

    trainer, other = (started(small_model(dropout=0.5), plan=LOTS) for _ in range(2))
    monkeypatch.setattr("dplearn.training.checks.refusal", note)
    while trainer.steps < 8:
        if trainer.step().step == 5:
            trainer.save(tmp_path / "run")
    assert tested == [1, 2, 4, 8]
    other.load(tmp_path / "run")
    tested.clear()
    other.step(), other.step()
    assert tested == [6]


def test_guarantee_of_a_random_model_states_that_smaller_lots_were_not_tried():
    noisy = Model(lambda m, x: m.last(x + torch.randn(x.shape)), last=nn.Linear(3, CLASSES))
    assumption = "was not tried in smaller lots"
    for model, random in ((noisy, True), (small_model(dropout=0.5), False)):
        assert any(assumption in x for x in started(model).history().assumptions) == random
