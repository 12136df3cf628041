"""Training on a simulated accelerator, for which no step waits, and in two processes."""

import subprocess
import sys
from pathlib import Path

import gpu
import pytest
import torch
from parts import started
from two_processes import fixed_run, outcomes

from cases import clean_environment
from dplearn.training import devices

pytestmark = pytest.mark.usefixtures("unchecked")
distributed = lambda test: pytest.mark.slow(pytest.mark.xdist_group("distributed")(test))
CPU, META = torch.device("cpu"), torch.device("meta")


@pytest.mark.slow
def test_training_step_never_waits_for_a_simulated_accelerator():
    rows = {"words": 0, "convolution": 4, "attention": 4}
    script = Path(__file__).with_name("fake_device.py")
    command = [sys.executable, "-W", "ignore", str(script), *map(str, sum(rows.items(), ()))]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
    assert ended.stdout == "".join(f"{model} fine\n" for model in rows), ended.stderr[-2000:]


def test_gpu_benchmark_without_a_gpu_ends_with_a_one_line_error(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match=r"^Expected a GPU that PyTorch can use, got none: .*$"):
        gpu.main()


def test_forked_context_restores_the_generator_and_exact_context_disables_autocast(monkeypatch):
    def touch(*_):
        raise AssertionError("other devices are touched")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", touch)
    before = torch.get_rng_state()
    with devices.forked(CPU, 3):
        drawn = torch.rand(4)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(drawn, torch.rand(4, generator=torch.Generator().manual_seed(3)))
    with torch.autocast("cpu", torch.bfloat16), devices.exactly(CPU), devices.exactly(META):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
    assert devices.moved(torch.ones(2), META).device == META


@distributed
def test_two_processes_give_the_result_of_one_process():
    alone, history = fixed_run()
    (parameters, records), (other, others) = outcomes()[0][0]
    assert torch.equal(parameters, other)
    assert [repr(r.private) for r in records] == [repr(r.private) for r in others]  # compares NaN
    torch.testing.assert_close(parameters, alone)  # up to rounding of float32
    for record, expected in zip(records, history, strict=True):
        assert record.private.lot_size == expected.private.lot_size
        assert record.clipping_norm == pytest.approx(expected.clipping_norm, rel=1e-5)
        loss = pytest.approx(expected.private.loss, rel=1e-4, nan_ok=True)
        assert record.private.loss == loss


@distributed
def test_models_stay_equal_and_lots_differ_between_processes():
    (first, lots), (second, others) = outcomes()[0][1]
    assert torch.equal(first, second)
    assert sum(a == b for a, b in zip(lots, others, strict=True)) < 5


@distributed
def test_processes_refuse_different_arguments_and_stop_when_another_process_dies():
    """`two_processes.worker` checks the errors, and raises if one is missing."""
    steps, seconds = outcomes()[1]
    assert steps == 3 and seconds < 240  # the timeout is 1800


def test_several_processes_need_a_process_group(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ValueError, match="Expected process_group in one of 4 processes, got None"):
        started()
