"""Devices that are not here: what they lack is missed by nobody, and nobody waits for them."""

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
def test_a_step_waits_for_no_accelerator_and_leaves_nothing_on_the_processor():
    rows = {"words": 0, "convolution": 4, "attention": 4}
    script = Path(__file__).with_name("fake_device.py")
    command = [sys.executable, "-W", "ignore", str(script), *map(str, sum(rows.items(), ()))]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
    assert ended.stdout == "".join(f"{model} fine\n" for model in rows), ended.stderr[-2000:]


def test_the_benchmark_of_accelerators_ends_in_one_line_where_there_is_none(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match=r"^Expected a GPU that PyTorch can use, got none: .*$"):
        gpu.main()


def test_seeds_and_types_hold_inside_and_what_was_before_afterwards(monkeypatch):
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
