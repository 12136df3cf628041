"""Two processes, each with half of the records, do what one does with all of them."""

import os
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from dplearn.run import DPSGD
from dplearn.training import AdaptiveQuantile, Trainer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributed")]

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=60, max_grad_norm=64.0)
BOUND = AdaptiveQuantile(max_grad_norm=64.0, count_noise=1.0)


def squares(outputs, targets):
    return (outputs[:, 0] - targets).square()


class Fixed(Trainer):
    """Lots and noise are told, in multiples of 1/8: sums have no rounding errors."""

    members: range

    def _lot(self):
        chosen = np.random.default_rng(self.steps).random(16) < 0.5
        return np.flatnonzero(chosen[self.members])

    def _normals(self):
        rng = np.random.default_rng(100 + self.steps)
        noise = lambda value: torch.tensor(rng.integers(-8, 9, value.shape) / 8)
        return lambda value, scale: value.add_(scale * noise(value))


def rows(kind):
    if kind == "exact":
        return torch.arange(48).reshape(16, 3).remainder(5) / 4.0, torch.arange(16) / 4.0
    generator = torch.Generator().manual_seed(0)
    return torch.randn(16, 3, generator=generator), torch.randn(16, generator=generator)


def fixed_run(kind, members, group=None, *, steps):
    model = nn.Linear(3, 1)
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.5 if group is None or dist.get_rank() == 0 else 7.0)
    x, y = rows(kind)
    found = Fixed(
        model,
        squares,
        (x[members.start : members.stop], y[members.start : members.stop]),
        PLAN,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.125),
        bound=None if kind == "exact" else BOUND,
        expected_batch_size=8 if kind == "exact" else None,
        process_group=group,
        micro_batch=None if group is None else 3,
    )
    found.members = members
    history = [found.step() for _ in range(steps)]
    return torch.cat([p.detach().flatten() for p in model.parameters()]), history


def real_run(group):
    """Own lots and noise; the gradient is zero, so what is left is noise."""
    model = nn.Linear(200, 1)
    found = Trainer(
        model,
        lambda outputs, targets: 0.0 * outputs[:, 0],
        (torch.ones(8, 200), torch.ones(8)),
        PLAN,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        generator=torch.Generator().manual_seed(0),
        process_group=group,
    )
    noise, lots = [], []
    for _ in range(PLAN.steps):
        lots.append(found._lot())
        found.step()
        noise.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    final = torch.cat([p.detach().flatten() for p in model.parameters()])
    return final, torch.cat(noise) * found._expected, [lot.tolist() for lot in lots]


def worker(rank, folder):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    group, members = dist.group.WORLD, range(5) if rank == 0 else range(5, 16)
    with pytest.raises(NotImplementedError, match="sampling='shuffled' in several processes"):
        model = nn.Linear(3, 1)
        plan = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=1, sampling="shuffled")
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        Trainer(model, squares, rows("any"), plan, optimizer=optimizer, process_group=group)
    found = {
        "exact": fixed_run("exact", members, group, steps=2),
        "any": fixed_run("any", members, group, steps=20),
        "real": real_run(group),
    }
    torch.save(found, f"{folder}/{rank}")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    with pytest.MonkeyPatch.context() as patch:
        # A page tested before may have left its script as the main module: children would run it.
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        mp.spawn(worker, (str(folder),), nprocs=2)
    return [torch.load(folder / str(rank), weights_only=False) for rank in range(2)]


def test_two_processes_equal_one_exactly(found):
    alone, history = fixed_run("exact", range(16), steps=2)
    for rank in range(2):
        parameters, records = found[rank]["exact"]
        assert torch.equal(parameters, alone)
        assert [r.private.lot_size for r in records] == [r.private.lot_size for r in history]


def test_two_processes_equal_one_up_to_rounding(found):
    alone, history = fixed_run("any", range(16), steps=20)
    first, second = (found[rank]["any"] for rank in range(2))
    assert torch.equal(first[0], second[0])
    torch.testing.assert_close(first[0], alone)  # float32
    for name in ("clipping_norm", "step"):
        assert [getattr(r, name) for r in first[1]] == pytest.approx(
            [getattr(r, name) for r in history], rel=1e-5
        )
    assert repr(first[1]) == repr(second[1])  # NaN too
    assert [r.private.loss for r in first[1]] == pytest.approx(
        [r.private.loss for r in history], rel=1e-4, nan_ok=True
    )


def test_noise_is_added_once_in_total(found):
    (first, noise, _), (second, _, _) = (found[rank]["real"] for rank in range(2))
    assert torch.equal(first, second)
    # Six standard errors; twice the noise would be 40 % too much.
    assert noise.std().item() == pytest.approx(64.0, rel=6 / (2 * len(noise)) ** 0.5)


def test_processes_with_one_seed_draw_different_lots(found):
    first, second = (found[rank]["real"][2] for rank in range(2))
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 10
