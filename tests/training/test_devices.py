"""Training on simulated devices: no step waits for the device or needs 64-bit numbers."""

import subprocess
import sys
from pathlib import Path

import gpu
import pytest
import torch

from cases import clean_environment
from dplearn.training import devices

pytestmark = pytest.mark.usefixtures("unchecked")
CPU, META = torch.device("cpu"), torch.device("meta")


@pytest.mark.slow
def test_step_on_simulated_accelerator_never_waits():
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


def test_forked_restores_the_generator_and_exactly_disables_autocast(monkeypatch):
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
