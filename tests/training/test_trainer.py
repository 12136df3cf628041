"""The trainer does what the plan says, and says what it did."""

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from cases import each
from dplearn.accountants import accountants
from dplearn.datasets import digits
from dplearn.run import DPSGD
from dplearn.training import (
    AdaptiveQuantile,
    Flat,
    Grouped,
    PerLayer,
    Trainer,
    affordable_steps,
    clipped_sum,
    fit,
    records,
    trainer,
)
from dplearn.training import gradients as gradients_module

torch.set_num_threads(1)  # the models are small, and tests run side by side

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.25, steps=6, max_grad_norm=0.5)
CROSS_ENTROPY = nn.CrossEntropyLoss(reduction="none")


def small_model(seed=0, *, dropout=0.0):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 2))


def small_data(size=32):
    generator = torch.Generator().manual_seed(1)
    return (
        torch.randn(size, 3, generator=generator),
        torch.randint(2, (size,), generator=generator),
    )


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def started(model=None, plan=PLAN, *, use=Trainer, optimizer=None, lr=0.1, **options):
    model = small_model() if model is None else model
    options["optimizer"] = optimizer or torch.optim.SGD(model.parameters(), lr=lr)
    loss_fn, data = options.pop("loss_fn", CROSS_ENTROPY), options.pop("data", small_data())
    return use(model, loss_fn, data, plan, **options)


def run(model=None, plan=PLAN, **options):
    """Fitted parameters and the history."""
    model = small_model() if model is None else model
    options = {"delta": 1e-5, "progress": False, "generator": generator(), **options}
    history = started(model, plan, use=fit, **options)
    return flat(model), history


def flat(model):
    return torch.cat([value.detach().flatten() for value in model.state_dict().values()])


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def without_noise(plan=PLAN, **fields):
    return dataclasses.replace(plan, **{"noise_multiplier": 0.0, **fields})


def test_a_step_is_the_noisy_clipped_sum_over_the_public_lot_size(monkeypatch):
    model, (inputs, targets) = small_model(), small_data()
    expected = clipped_sum(model, CROSS_ENTROPY, inputs, targets, bound=Flat(0.5)).sums
    monkeypatch.setattr(Trainer, "_normals", lambda self: torch.Tensor.add_)
    plan = DPSGD(noise_multiplier=2.0, sample_rate=1.0, steps=1, max_grad_norm=0.5, sampling="none")
    started(model, plan, expected_batch_size=10.0).step()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, (expected[name] + 2.0 * 0.5) / 10.0)


def test_the_realised_lot_size_is_never_used():
    # All records equal and clipped: the mean over L = 8 has norm C * size / L.
    same = torch.ones(32, 3), torch.ones(32, dtype=torch.long)
    plan = without_noise(steps=20, max_grad_norm=0.01)
    found = started(plan=plan, data=same, lr=0.0)
    for _ in range(20):
        size = found.step().private.lot_size
        assert gradients(found.model).norm().item() == pytest.approx(0.01 * size / 8, rel=1e-5)


@pytest.mark.parametrize("bound", [Flat(0.5), PerLayer(max_grad_norm=0.5)], ids=["flat", "layer"])
def test_an_empty_lot_is_a_step_of_pure_noise(bound, monkeypatch):
    monkeypatch.setattr(Trainer, "_lot", lambda self: np.zeros(0, np.int64))
    found = started(lr=0.0, plan=dataclasses.replace(PLAN, steps=400), bound=bound)
    noise = []
    for _ in range(400):
        record = found.step()
        noise.append(gradients(found.model))
    assert record.private.lot_size == 0
    assert math.isnan(record.private.loss) and math.isnan(record.private.accuracy)
    noise = torch.cat(noise) * 8  # L = 0.25 * 32
    # Six standard errors: a false alarm in 5e8.
    assert noise.std().item() == pytest.approx(0.5, rel=6 / math.sqrt(2 * len(noise)))
    assert abs(noise.mean().item()) < 6 * 0.5 / math.sqrt(len(noise))


@each("micro_batch", [1, 3, 64])
def test_micro_batches_do_not_change_the_result(micro_batch):
    data = small_data()[0].double(), small_data()[1]
    whole, _ = run(small_model().double(), data=data)
    parts, history = run(small_model().double(), data=data, micro_batch=micro_batch)
    torch.testing.assert_close(parts, whole, rtol=1e-12, atol=1e-13)
    assert history.steps == PLAN.steps


@pytest.fixture
def traced(monkeypatch):
    """Only the compiler's back end, which needs a compiler of C++, is left out."""
    part = partial(gradients_module.compiled_sum, backend="aot_eager")
    monkeypatch.setattr(trainer, "compiled_sum", part)


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["poisson", "without_replacement"])
def test_a_compiled_run_is_the_same_run(sampling, traced):
    plan = dataclasses.replace(PLAN, sampling=sampling)
    bound = AdaptiveQuantile(max_grad_norm=plan.max_grad_norm, count_noise=5.0)
    models = [small_model(), small_model()]
    (plain, before), (compiled, after) = (
        run(model, plan, bound=bound, compile=model is models[1]) for model in models
    )
    torch.testing.assert_close(compiled, plain)
    losses = [[record.private.loss for record in history.records] for history in (before, after)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5, nan_ok=True)
    assert not any(module._forward_hooks for module in models[1].modules())


@pytest.mark.slow
def test_a_compiled_run_follows_the_mode_of_the_model(traced):
    plan = without_noise(sampling="none", sample_rate=1.0)
    given, (inputs, targets) = small_model(dropout=0.5), small_data()
    made = started(given, plan, compile=True, lr=0.0)
    made.step()
    given.eval()
    made.step()
    expected = clipped_sum(given, CROSS_ENTROPY, inputs, targets, bound=Flat(plan.max_grad_norm))
    for name, parameter in given.named_parameters():
        torch.testing.assert_close(parameter.grad, expected.sums[name] / len(targets))


def test_gradients_left_by_others_are_not_applied():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    CROSS_ENTROPY(model(small_data()[0]), small_data()[1]).sum().backward()
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    started(model, optimizer=optimizer).step()
    assert torch.equal(model[0].weight, before)


def test_frozen_parameters_stay_and_the_rest_learns():
    model = small_model()
    model[0].requires_grad_(False)
    before, head = model[0].weight.clone(), model[3].weight.clone()
    _, history = run(model, optimizer=torch.optim.Adam(model[3].parameters(), lr=0.1))
    assert torch.equal(model[0].weight, before)
    assert not torch.equal(model[3].weight, head)
    assert model[0].weight.grad is None and history.steps == PLAN.steps


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"])
def test_any_optimizer_and_scheduler(name):
    model = small_model()
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=PLAN.steps)
    after, _ = run(model, optimizer=optimizer, scheduler=scheduler)
    assert not torch.equal(after, flat(small_model()))
    assert scheduler.last_epoch == PLAN.steps
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "sampling", ["poisson", "without_replacement", "shuffled", "random_allocation"]
)
def test_equal_seeds_give_equal_runs(sampling):
    plan = dataclasses.replace(PLAN, sampling=sampling)
    first, history = run(small_model(dropout=0.5), plan)
    again, _ = run(small_model(dropout=0.5), plan)
    other, _ = run(small_model(dropout=0.5), plan, generator=generator(1))
    fresh, _ = run(small_model(dropout=0.5), plan, generator=None)
    assert torch.equal(first, again)
    assert not torch.equal(first, other) and not torch.equal(first, fresh)
    if sampling in ("without_replacement", "shuffled"):
        assert {record.private.lot_size for record in history.records} == {8}


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement", "shuffled"])
def test_the_guarantee_is_that_of_the_steps_done(sampling):
    plan = dataclasses.replace(PLAN, sampling=sampling)
    found = started(plan=plan)
    assert found.history().guarantee(1e-5).epsilon == 0
    for done in range(1, 4):
        found.step()
        guarantee = found.history().guarantee(1e-5, accountant="rdp")
        assert guarantee.epsilon == plan.guarantee("rdp", delta=1e-5, steps=done).epsilon
    assert found.history().guarantee(1e-5).epsilon < plan.guarantee(delta=1e-5).epsilon or (
        sampling == "shuffled"  # an epoch that was begun counts whole
    )
    mechanism, count = plan.repeated(3)
    direct = accountants["rdp"]().epsilon(
        mechanism, delta=1e-5, steps=count, adjacency=guarantee.adjacency
    )
    assert guarantee.epsilon == direct.epsilon


def test_the_guarantee_names_what_it_presumes():
    found = started(generator=generator()).history().guarantee(1e-5).assumptions
    assert any("size of the dataset is public" in text for text in found)
    assert any("seed" in text for text in found)
    assert any("when to stop" in text for text in found)
    system = started(expected_batch_size=8).history().guarantee(1e-5).assumptions
    assert not any("size of the dataset" in text or "seed" in text for text in system)


@pytest.mark.parametrize("accountant", ["pld", "rdp"])
@pytest.mark.parametrize("sampling", ["poisson", "shuffled"])
def test_the_target_is_never_passed(accountant, sampling):
    plan = dataclasses.replace(PLAN, steps=200, sampling=sampling, noise_multiplier=2.0)
    _, history = run(plan=plan, accountant=accountant, target_epsilon=4.0)
    assert 0 < history.steps < 200
    assert history.guarantee(1e-5, accountant=accountant).epsilon <= 4.0
    more = dataclasses.replace(history, steps=history.steps + 1)
    assert more.guarantee(1e-5, accountant=accountant).epsilon > 4.0


def test_a_target_needs_a_step_and_a_bound_and_changes_nothing_beyond_the_plan():
    assert affordable_steps(PLAN, epsilon=1e3, delta=1e-5) == PLAN.steps
    with pytest.raises(ValueError, match="Expected target_epsilon to allow at least one step"):
        run(target_epsilon=1e-3)
    with pytest.raises(ValueError, match="Expected an accountant that proves a bound, got 'gdp'"):
        run(target_epsilon=1.0, accountant="gdp")


def test_no_step_beyond_the_plan():
    found = started(plan=dataclasses.replace(PLAN, steps=1))
    found.step()
    with pytest.raises(ValueError, match="Expected at most 1 steps, as planned"):
        found.step()


def test_adaptive_clipping_follows_the_quantile_and_adds_its_noise():
    bound = AdaptiveQuantile(max_grad_norm=0.5, count_noise=1.0, learning_rate=0.5)
    found = started(
        lr=0.0, plan=dataclasses.replace(PLAN, steps=60), bound=bound, generator=generator()
    )
    norms = [found.step().clipping_norm for _ in range(60)]
    assert norms[0] == 0.5 and len(set(norms)) == 60
    model, (inputs, targets) = found.model, small_data()
    median = clipped_sum(model, CROSS_ENTROPY, inputs, targets, bound=Flat(1.0)).norms.median()
    # The seed is fixed; without noise the quantile itself is reached.
    assert np.median(norms[30:]) == pytest.approx(median.item(), rel=0.5)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_record_that_is_not_finite_is_left_out_and_counted(bad):
    inputs, targets = small_data()
    inputs[3] = bad
    plan = without_noise(DPSGD(noise_multiplier=1, sample_rate=1, steps=2, sampling="none"))
    after, history = run(plan=plan, data=(inputs, targets), expected_batch_size=32)
    keep = torch.arange(32) != 3
    clean, _ = run(plan=plan, data=(inputs[keep], targets[keep]), expected_batch_size=32)
    torch.testing.assert_close(after, clean)
    assert history.non_finite == 2
    assert math.isfinite(history.records[0].private.loss)


def test_lots_without_a_finite_record_still_make_noise():
    inputs, targets = small_data()
    after, history = run(data=(inputs * math.nan, targets))
    assert torch.isfinite(after).all() and not torch.equal(after, flat(small_model()))
    assert history.non_finite == sum(r.private.lot_size for r in history.records) > 0


X, Y = small_data()
MODEL, FROZEN = small_model(), small_model().requires_grad_(False)
SGD = torch.optim.SGD(MODEL.parameters(), lr=0.1)
PLATEAU = {"optimizer": SGD, "scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(SGD)}
UNEVEN = dataclasses.replace(PLAN, sampling="shuffled", sample_rate=0.3)
COUNTED = AdaptiveQuantile(max_grad_norm=0.5, count_noise=0.1)
REFUSED = [
    ({"data": (X[:0], Y[:0])}, ValueError, "at least one record, got 0"),
    ({"data": (X, Y[:5])}, ValueError, "one row per record"),
    ({"data": X}, TypeError, "a pair .inputs, targets. of tensors or a Dataset"),
    ({"plan": 3}, TypeError, "Expected plan to be a DPSGD, got int"),
    ({"plan": UNEVEN}, ValueError, "records to be whole"),
    ({"micro_batch": 0}, ValueError, "micro_batch a whole number >= 1"),
    ({"expected_batch_size": 0.0}, ValueError, "expected_batch_size > 0"),
    ({"bound": Flat(2.0)}, ValueError, "bound.max_grad_norm = plan.max_grad_norm"),
    ({"bound": COUNTED}, ValueError, "count_noise > noise_multiplier / 2"),
    ({"loss_fn": nn.CrossEntropyLoss()}, ValueError, "one loss per record"),
    ({"model": FROZEN}, ValueError, "at least one trainable parameter"),
    (
        {"optimizer": torch.optim.SGD([MODEL[0].weight], lr=0.1)},
        ValueError,
        "every trainable parameter in the optimizer, got none for .'0.bias'",
    ),
    ({"optimizer": torch.optim.LBFGS(MODEL.parameters())}, NotImplementedError, "LBFGS"),
    (PLATEAU, NotImplementedError, "it reads losses, which are private"),
]


@each("options, error, text", REFUSED)
def test_bad_input_gets_one_clear_error(options, error, text):
    with pytest.raises(error, match=text):
        started(**{"model": MODEL, **options})


def test_the_model_is_checked_once_before_training(monkeypatch):
    calls = []
    monkeypatch.setattr(trainer, "check", lambda *args: calls.append(args))
    started().step()
    assert len(calls) == 1 and len(calls[0][2]) == 4


def test_a_dataset_that_does_not_fit_is_refused(monkeypatch):
    class Items(Dataset):
        def __len__(self):
            return 32

        def __getitem__(self, i):
            return X[i], Y[i]

    monkeypatch.setattr(records, "free_bytes", lambda device: 100)
    text = r"Expected at most 100 bytes .* use device_resident=False"
    with pytest.raises(ValueError, match=text):
        started(data=Items(), device_resident=True)
    monkeypatch.setattr(records, "free_bytes", lambda device: 10**9)
    whole, _ = run(data=Items(), device_resident=True)
    assert torch.equal(whole, run(data=Items())[0])
    assert torch.equal(whole, run(data=TensorDataset(X, Y))[0])
    assert torch.equal(whole, run()[0])


def test_progress_is_one_line_and_callbacks_get_every_step(capsys):
    seen = []
    _, history = run(progress=True, callback=seen.append)
    text = capsys.readouterr().err
    assert text.endswith("\n") and text.count("\n") == 1
    assert f"step 6/6  epsilon {history.guarantee(1e-5).epsilon:.3g}"[:18] in text
    assert "private: loss" in text and "accuracy" in text and "clipped" in text
    assert seen == list(history.records) and [r.step for r in seen] == [1, 2, 3, 4, 5, 6]


def test_groups_have_their_own_clipping_and_noise():
    bound = Grouped(norms={"0": 0.1, "3": 0.2}, noise_multipliers={"0": 1.0, "3": 2.0})
    found = started(bound=bound)
    assert found.step().clipping_norm == pytest.approx(math.hypot(0.1, 0.2))


def test_digits_are_learned_at_epsilon_8():
    images, labels = (torch.from_numpy(values) for values in digits())
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
    plan = DPSGD(noise_multiplier=1.5, sample_rate=0.25, steps=100)
    history = fit(
        model,
        CROSS_ENTROPY,
        (images[:1500], labels[:1500]),
        plan,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.5),
        delta=1e-5,
        target_epsilon=8.0,
        micro_batch=128,
        progress=False,
    )
    assert 7.5 < history.guarantee(1e-5).epsilon <= 8.0
    accuracy = (model(images[1500:]).argmax(1) == labels[1500:]).float().mean().item()
    assert accuracy > 0.75  # usually 0.87; chance is 0.1
