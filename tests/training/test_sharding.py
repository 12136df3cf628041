"""A model in shards (FSDP2) over two processes trains as a whole one does in one process."""

import pytest
import torch
from small_runs import flat
from two_processes import NOISY, layered, outcomes, quiet_run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributed")]


def test_two_processes_with_shards_equal_one_without():
    (first, lot), (second, _) = outcomes()[0][2]
    alone, expected = quiet_run(range(16))
    assert torch.equal(first, second) and lot == expected
    torch.testing.assert_close(first, alone)  # float32
    assert not torch.allclose(alone, flat(layered().parameters()), atol=0.1)


def test_every_coordinate_has_noise_once():
    (first, own), (second, others) = outcomes()[0][3]
    assert torch.equal(first, second)  # and so is the bias that both hold
    # Mean square of a coordinate over the steps: six standard errors, of 36 coordinates.
    squared = first.square().mean(0) / (NOISY.noise_multiplier * NOISY.max_grad_norm) ** 2
    assert len(squared) == 36 and (squared - 1).abs().max() < 6 * (2 / NOISY.steps) ** 0.5
    # No two coordinates share a stream, with one seed for both processes.
    apart = torch.corrcoef(first.T) - torch.eye(36)
    assert apart.abs().max() < 6 / NOISY.steps**0.5
    assert own.shape[1] + others.shape[1] == 35  # each in one process alone
