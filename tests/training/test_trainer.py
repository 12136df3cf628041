"""Steps, guarantees and errors of the trainer, which gives the results of `plain`."""

import dataclasses
import inspect
import math

import numpy as np
import parts
import pytest
import torch
from good_models import EXACT
from parts import CROSS_ENTROPY, PLAN, flat, generator, run, small_data, small_model, started

from cases import each
from dplearn.core import display
from dplearn.run import DPSGD, Phases
from dplearn.training import Flat, Grouped, Trainer, plain
from dplearn.training.noise import Randomness

pytestmark = pytest.mark.usefixtures("unchecked")


def sampled(sampling, **fields):
    return dataclasses.replace(PLAN, sampling=sampling, **fields)


def ones(_, runs, *__):
    """Return noise in which every normal draw is 1."""
    return torch.cat([torch.full((size,), scale) for size, scale in runs])


def gradient(model):
    return flat(p.grad for p in model.parameters())


def test_step_with_an_empty_lot_is_pure_noise(monkeypatch):
    monkeypatch.setattr(Trainer, "_lot", lambda self, step: np.zeros(0, np.int64))
    monkeypatch.setattr(Randomness, "normals", ones)
    begun = started()
    lot = begun.step().private
    assert lot.lot_size == 0 and math.isnan(lot.loss)
    assert gradient(begun.model).eq(0.5 / 8).all()  # L = 0.25 * 32


def test_frozen_parameters_of_the_optimizer_keep_their_values():
    model = small_model()
    frozen, before = model[0].weight.requires_grad_(False), model[0].weight.clone()
    frozen.grad = torch.ones_like(frozen)  # left by an ordinary backward pass
    started(model).step()
    assert torch.equal(frozen, before) and frozen.grad is None


@each("name, value", [("plan", PLAN), ("steps", 0), ("records", []), ("bound", Flat(9.0))])
def test_public_attributes_of_a_trainer_cannot_be_set(name, value):
    with pytest.raises(AttributeError):
        setattr(started(), name, value)


def test_tallies_of_full_and_empty_lots_have_the_same_number_type(monkeypatch):
    """Processes add up their tallies, although the lot of one process may be empty."""
    loss_fn = lambda outputs, targets: CROSS_ENTROPY(outputs.double(), targets)
    full = started(loss_fn=loss_fn).step()
    monkeypatch.setattr(Trainer, "_lot", lambda self, step: np.zeros(0, np.int64))
    assert started(loss_fn=loss_fn).step().tally.dtype is full.tally.dtype is torch.float32


@each("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam"])
def test_optimizers_and_schedulers_run_all_steps(name):
    model = small_model()
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=PLAN.steps)
    after, _ = run(model, optimizer=optimizer, scheduler=scheduler)
    assert not torch.equal(after, flat(small_model().state_dict()))
    assert scheduler.last_epoch == PLAN.steps
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.0, abs=1e-12)


@each("sampling", ["poisson", "without_replacement", "shuffled", "random_allocation"])
@pytest.mark.slow
def test_equal_seeds_give_equal_runs(sampling):
    sources = generator(), generator(), generator(1), None
    results = [
        run(small_model(dropout=0.5), sampled(sampling), generator=source) for source in sources
    ]
    first, again, *others = (parameters for parameters, _ in results)
    assert torch.equal(first, again) and not any(torch.equal(first, other) for other in others)
    if sampling in ("without_replacement", "shuffled"):
        assert {record.private.lot_size for record in results[0][1].records} == {8}


def test_guarantee_is_for_the_steps_done_and_lists_its_assumptions():
    for scheme in ("poisson", "without_replacement", "shuffled"):
        begun = started(plan=sampled(scheme))
        for done in range(4):
            epsilon = begun.history().guarantee(1e-5, accountant="rdp").epsilon
            assert epsilon == sampled(scheme).guarantee("rdp", delta=1e-5, steps=done).epsilon
            begun.step()
    seeded = started(generator=generator()).history().guarantee(1e-5).assumptions
    for part in ("size of the dataset is public", "seed", "when to stop"):
        assert any(part in text for text in seeded), part
    public = " ".join(started(expected_batch_size=8).history().guarantee(1e-5).assumptions)
    assert "size of the dataset" not in public and "seed" not in public


@pytest.mark.slow
@each("accountant, sampling", [("pld", "poisson"), ("rdp", "shuffled")])
def test_run_stops_at_the_last_step_within_target_epsilon(accountant, sampling):
    plan = sampled(sampling, steps=200, noise_multiplier=2.0)
    _, history = run(plan=plan, accountant=accountant, target_epsilon=4.0)
    more = dataclasses.replace(history, steps=history.steps + 1)
    last, next_ = (h.guarantee(1e-5, accountant=accountant).epsilon for h in (history, more))
    assert 0 < history.steps < 200 and last <= 4.0 < next_


def test_steps_beyond_the_plan_and_too_small_targets_are_refused():
    assert PLAN.affordable_steps(epsilon=1e3, delta=1e-5) == PLAN.steps
    with pytest.raises(ValueError, match="Expected a target epsilon that allows at least one step"):
        run(target_epsilon=1e-3)
    with pytest.raises(ValueError, match="Expected an accountant that proves a bound, got 'gdp'"):
        run(target_epsilon=1.0, accountant="gdp")
    begun = started(plan=dataclasses.replace(PLAN, steps=1))
    begun.step()
    with pytest.raises(ValueError, match="Expected at most 1 steps, as planned"):
        begun.step()


def test_record_of_a_step_has_the_norm_bound_of_all_groups():
    grouped = Grouped(norms={"0": 0.1, "3": 0.2}, noise_multipliers={"0": 1.0, "3": 2.0})
    begun = started(bound=grouped)
    for _ in range(2):
        assert begun.step().clipping_norm == pytest.approx(math.hypot(0.1, 0.2))
        begun.model.eval()  # so that the next step checks the model again


@each("bad", [math.nan, math.inf])
def test_record_with_nonfinite_input_is_left_out_and_counted(bad):
    inputs, targets = small_data()
    inputs[3] = bad
    plan = DPSGD(noise_multiplier=0, sample_rate=1, steps=2, sampling="none")
    after, history = run(plan=plan, data=(inputs, targets), expected_batch_size=32)
    keep = torch.arange(32) != 3
    clean, _ = run(plan=plan, data=(inputs[keep], targets[keep]), expected_batch_size=32)
    torch.testing.assert_close(after, clean)
    assert history.non_finite == 2
    assert math.isfinite(history.records[0].private.loss)
    options = {"data": (inputs * math.nan, targets), "example": small_data()}
    after, history = run(**options)  # the update is noise only
    assert torch.isfinite(after).all() and not torch.equal(after, flat(small_model().state_dict()))
    assert history.non_finite == sum(r.private.lot_size for r in history.records) > 0


def test_unsuitable_arguments_give_an_error_that_names_them():
    model = small_model()
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    plateau = {"optimizer": sgd, "scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(sgd)}
    part = "every trainable parameter in the optimizer, got none for .'0.bias'"
    for options, error, text in (
        ({"plan": 3}, TypeError, "Expected plan to be a DPSGD or Phases, got int"),
        ({"loss_fn": "mse"}, TypeError, "Expected loss_fn to be a function, got str"),
        ({"plan": sampled("shuffled", sample_rate=0.3)}, ValueError, "records to be whole"),
        ({"plan": sampled("poisson", dataset_size=9)}, ValueError, "= 9 records, got 32"),
        ({"micro_batch": 0}, ValueError, "micro_batch a whole number >= 1"),
        ({"expected_batch_size": 0.0}, ValueError, "expected_batch_size > 0"),
        ({"bound": Flat(2.0)}, ValueError, "bound.max_grad_norm = plan.max_grad_norm"),
        ({"model": small_model().requires_grad_(False)}, ValueError, "one trainable parameter"),
        ({"optimizer": torch.optim.SGD([model[0].weight], lr=0.1)}, ValueError, part),
        (plateau, NotImplementedError, "it reads losses, which are private"),
    ):
        with pytest.raises(error, match=text):
            started(**{"model": model, **options})


def test_only_the_progress_line_reads_private_values_during_a_run(monkeypatch):
    """The line is drawn at the first and last step only. Tests of lots are switched off."""
    read, counts, reads = torch.Tensor.tolist, [], []
    monkeypatch.setattr(torch.Tensor, "tolist", lambda x: reads.append(x) or read(x))
    monkeypatch.setattr(display, "_PAUSE", math.inf)
    monkeypatch.setattr("dplearn.training.checks.refusal", lambda *_, **__: "")
    run(progress=True, callback=lambda _: counts.append(len(reads)))
    assert counts == [1, 1, 1, 1, 1, 6]


PHASES = Phases((
    sampled("poisson", steps=3),
    sampled("shuffled", steps=6, noise_multiplier=3.0, max_grad_norm=0.2),
    sampled("none", sample_rate=1.0, steps=2),
))  # fmt: skip


@pytest.mark.slow
def test_run_follows_its_phases(monkeypatch):
    monkeypatch.setattr(Randomness, "normals", ones)
    begun = started(plan=PHASES, loss_fn=lambda outputs, targets: outputs[:, 0] * 0)
    for step in range(11):
        record, (phase, _) = begun.step(), PHASES.at(step)
        assert record.clipping_norm == phase.max_grad_norm
        size = phase.sample_rate * 32
        assert record.private.lot_size == size or phase.sampling == "poisson"
        noise = phase.noise_multiplier * phase.max_grad_norm / (phase.sample_rate * 32)
        torch.testing.assert_close(gradient(begun.model), torch.full((50,), noise))
    with pytest.raises(ValueError, match="at most 11 steps"):
        begun.step()
    with pytest.raises(ValueError, match=r"= plan\.max_grad_norm = 0\.2, got"):
        started(plan=PHASES, bound=Flat(0.5))
    half = DPSGD(noise_multiplier=9.0, sample_rate=0.25, steps=500)
    plan = Phases((half, dataclasses.replace(half, noise_multiplier=4.0)))
    steps = plan.affordable_steps(epsilon=3.0, delta=1e-5)
    spent = plan.guarantees(delta=1e-5, steps=[steps, steps + 1])
    assert 500 < steps < 1000 and spent[0].epsilon <= 3.0 < spent[1].epsilon


def test_plain_dp_sgd_has_at_most_50_lines():
    assert len(inspect.getsource(plain).splitlines()) <= 50


def test_plain_dp_sgd_computes_gradients_like_backward_and_clips_them():
    model, losses_of, x, y = parts.built(EXACT["mlp"], dtype=torch.float64)
    for i, gradient in enumerate(plain.gradients(model, losses_of, x, y)):
        model.zero_grad()
        losses_of(model(x[i : i + 1]), y[i : i + 1]).sum().backward()
        for name, p in model.named_parameters():
            torch.testing.assert_close(gradient[name], p.grad)
        one = plain.clipped_sum(model, losses_of, x[i : i + 1], y[i : i + 1], norm=0.01)
        assert flat(one).norm().item() == pytest.approx(0.01)
        torch.testing.assert_close(flat(one) / 0.01, flat(gradient) / flat(gradient).norm())


def test_trainer_gives_the_same_model_as_plain_dp_sgd(monkeypatch):
    """With equal lots and noise, only rounding of float32 differs."""
    model, (x, y), draws = small_model(), small_data(), generator(3)
    lots, noise = [], []
    for _ in range(PLAN.steps):
        lots.append((torch.rand(len(x), generator=draws) < PLAN.sample_rate).nonzero()[:, 0])
        noise.append(flat(torch.randn(p.shape, generator=draws) for p in model.parameters()))
    options = {"learning_rate": 0.1, "expected": 10.0, "generator": generator(3)}
    plain.train(model, CROSS_ENTROPY, x, y, PLAN, **options)
    scale = PLAN.noise_multiplier * PLAN.max_grad_norm / 10.0

    def given_noise(_, runs, like, step):
        assert all(s == pytest.approx(scale) for _, s in runs)
        return scale * noise[step]

    monkeypatch.setattr(Trainer, "_lot", lambda self, step: lots[step].numpy())
    monkeypatch.setattr(Randomness, "normals", given_noise)
    trainer = started(small_model(), expected_batch_size=10.0)
    for _ in range(PLAN.steps):
        trainer.step()
    torch.testing.assert_close(flat(trainer.model.parameters()), flat(model.parameters()))
