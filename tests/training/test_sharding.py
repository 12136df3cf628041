"""A model in shards (FSDP2) over two processes trains as a whole one does in one process."""

import pytest
import torch
import torch.distributed as dist
from small_runs import flat, generator, run, started
from test_distributed import Fixed, joined, spawned, squares
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

from dplearn.run import DPSGD
from dplearn.training import PerLayer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributed")]

QUIET = DPSGD(noise_multiplier=0.0, sample_rate=0.5, steps=8, max_grad_norm=0.1)
NOISY = DPSGD(noise_multiplier=2.0, sample_rate=0.5, steps=100, max_grad_norm=8.0)


def model():
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 1))


def sharded(whole):
    """The same model in shards, but for one bias that every process has."""
    for part in (whole[0], whole[2]):
        fully_shard(part)
    return fully_shard(whole, ignored_params={whole[3].bias})


def full(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def quiet_run(members, group=None):
    """Told lots and no noise; the optimizer has a state, and one process often an empty lot."""
    whole = model() if group is None else sharded(model())
    columns = torch.randn(16, 4, generator=generator())[members.start : members.stop]
    begun = started(
        whole,
        QUIET,
        use=Fixed,
        optimizer=torch.optim.Adam(whole.parameters(), lr=0.05),
        loss_fn=squares,
        data=(columns[:, :3], columns[:, 3]),
        bound=PerLayer(max_grad_norm=0.1),
        process_group=group,
        micro_batch=None if group is None else 3,
    )
    begun._members = members
    for _ in range(QUIET.steps):
        record = begun.step()
        with torch.no_grad():
            whole(columns[:, :3])  # an evaluation in between leaves the last layer whole
    return flat(full(p) for p in whole.parameters()), record.private.lot_size


def noisy_run(group):
    """The gradient is zero, so noise is left: of all parameters, and of the shards held here."""
    whole = sharded(model())
    data = torch.full((8, 3), float(dist.get_rank())), torch.ones(8)
    nothing = lambda outputs, _: 0.0 * outputs[:, 0]
    options = {"loss_fn": nothing, "data": data, "generator": generator(), "process_group": group}
    begun, noise, own = started(whole, NOISY, **options), [], []
    for _ in range(NOISY.steps):
        begun.step()
        grads = [p.grad for p in whole.parameters()]
        noise.append(flat(map(full, grads)) * begun._expected)
        own.append(flat(g.to_local() for g in grads if isinstance(g, DTensor)))
    return torch.stack(noise), torch.stack(own)


class Scaled(nn.Module):
    """Parameters without a rule."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4, 3))

    def forward(self, x):
        return (x[:, None] * self.scale).sum((1, 2))[:, None]


def refusals(rank, group, folder):
    """What cannot be is refused in a sentence, by every process."""
    data = torch.full((8, 3), float(rank)), torch.ones(8)
    common = {"loss_fn": squares, "data": data, "process_group": group}
    begun = started(sharded(model()), QUIET, **common)
    for act in (begun.save, begun.load):
        with pytest.raises(NotImplementedError, match="a checkpoint of a sharded model is not"):
            act(f"{folder}/checkpoint")
    with pytest.raises(NotImplementedError, match="a checkpoint of a sharded model is not"):
        run(sharded(model()), QUIET, checkpoint=f"{folder}/checkpoint", **common)
    with pytest.raises(NotImplementedError, match="compile with a sharded model"):
        started(sharded(model()), QUIET, compile=True, **common)
    with pytest.raises(NotImplementedError, match=r"Scaled \(the model itself\) with shards"):
        started(fully_shard(Scaled()), QUIET, **common)
    own = [dist.new_group([other]) for other in range(2)][rank]
    with pytest.raises(ValueError, match=r"over the processes of process_group, \[[01]\], got"):
        started(sharded(model()), QUIET, **common | {"process_group": own})
    half = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    with pytest.raises(NotImplementedError, match="fully_shard with a MixedPrecisionPolicy"):
        started(fully_shard(model(), mp_policy=half), QUIET, **common)
    mesh = dist.init_device_mesh("cpu", (2,))
    parallel = parallelize_module(model(), mesh, {"0": ColwiseParallel()})
    with pytest.raises(ValueError, match=r"Expected '0.weight' to be divided by fully_shard, got"):
        started(parallel, QUIET, **common)


def worker(rank, folder):
    group, members = joined(rank, folder), range(2) if rank == 0 else range(2, 16)
    torch.save((quiet_run(members, group), noisy_run(group)), f"{folder}/{rank}")
    refusals(rank, group, folder)
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    spawned(worker, folder)
    return [torch.load(folder / str(rank), weights_only=False) for rank in range(2)]


def test_two_processes_with_shards_equal_one_without(ranks):
    (first, lot), (second, _) = (quiet for quiet, _ in ranks)
    alone, expected = quiet_run(range(16))
    assert torch.equal(first, second) and lot == expected
    torch.testing.assert_close(first, alone)  # float32
    assert not torch.allclose(alone, flat(model().parameters()), atol=0.1)


def test_every_coordinate_has_noise_once(ranks):
    (first, own), (second, others) = (noisy for _, noisy in ranks)
    assert torch.equal(first, second)  # and so is the bias that both hold
    # Mean square of a coordinate over the steps: six standard errors, of 36 coordinates.
    squared = first.square().mean(0) / (NOISY.noise_multiplier * NOISY.max_grad_norm) ** 2
    assert len(squared) == 36 and (squared - 1).abs().max() < 6 * (2 / NOISY.steps) ** 0.5
    # No two coordinates share a stream, with one seed for both processes.
    apart = torch.corrcoef(first.T) - torch.eye(36)
    assert apart.abs().max() < 6 / NOISY.steps**0.5
    assert own.shape[1] + others.shape[1] == 35  # each in one process alone
