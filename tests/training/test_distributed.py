"""Two processes, each with half of the records, give the result of one, or an error."""

import pytest
import torch
from small_runs import started
from two_processes import fixed_run, outcomes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributed")]


def test_two_processes_give_the_result_of_one():
    alone, history = fixed_run()
    (parameters, records), (other, others) = outcomes()[0][0]
    assert torch.equal(parameters, other)
    assert [repr(r.private) for r in records] == [repr(r.private) for r in others]  # NaN too
    torch.testing.assert_close(parameters, alone)  # float32
    for record, expected in zip(records, history, strict=True):
        assert record.private.lot_size == expected.private.lot_size
        assert record.clipping_norm == pytest.approx(expected.clipping_norm, rel=1e-5)
        loss = pytest.approx(expected.private.loss, rel=1e-4, nan_ok=True)
        assert record.private.loss == loss


def test_only_one_process_adds_noise_and_lots_differ_between_processes():
    (first, noise, lots), (second, _, others) = outcomes()[0][1]
    assert torch.equal(first, second)
    # Six standard errors; noise of both processes would be 40 % larger.
    assert noise.std().item() == pytest.approx(64.0, rel=6 / (2 * len(noise)) ** 0.5)
    assert sum(a == b for a, b in zip(lots, others, strict=True)) < 5


def test_processes_refuse_differences_and_stop_when_another_dies():
    """`two_processes` checks the refusals, and raises if one is missing."""
    steps, seconds = outcomes()[1]
    assert steps == 3 and seconds < 240  # 1800: timeout


def test_several_processes_need_a_process_group(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ValueError, match="Expected process_group in one of 4 processes, got None"):
        started()
