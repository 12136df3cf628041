"""Two processes, of which each draws half of the records, do what one does, or refuse."""

import pytest
import torch
from small_runs import started
from two_processes import fixed_run, outcomes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributed")]


def test_two_processes_equal_one():
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


def test_noise_is_added_once_in_total_and_lots_differ_with_one_seed():
    (first, noise, lots), (second, _, others) = outcomes()[0][1]
    assert torch.equal(first, second)
    # Six standard errors; twice the noise would be 40 % too much.
    assert noise.std().item() == pytest.approx(64.0, rel=6 / (2 * len(noise)) ** 0.5)
    assert sum(a == b for a, b in zip(lots, others, strict=True)) < 5


def test_processes_that_differ_are_refused_by_all_and_a_dead_one_is_noticed_at_once():
    """What is refused is in `two_processes`, whose processes end in an error where it is not."""
    steps, seconds = outcomes()[1]
    assert steps == 3 and seconds < 240  # 1800: timeout


def test_one_process_of_several_needs_a_group(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ValueError, match="Expected process_group in one of 4 processes, got None"):
        started()
