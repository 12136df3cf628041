"""Two processes, each with half of the records, do what one does with all of them, or refuse."""

import dataclasses
import os
import sys
import time
from types import ModuleType

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from small_runs import flat, generator, small_data, small_model, started
from torch import nn

from dplearn.run import DPSGD
from dplearn.training import AdaptiveQuantile, Automatic, Trainer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributed")]

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=60, max_grad_norm=64.0)


def squares(outputs, targets):
    return (outputs[:, 0] - targets).square()


class Fixed(Trainer):
    """Lots and noise are told."""

    _members: range

    def _lot(self, step):
        chosen = np.random.default_rng(step).random(16) < 0.5
        return np.flatnonzero(chosen[self._members])

    def _normals(self, runs, *key):
        rng = np.random.default_rng(100 + self.steps)
        noise = [scale * rng.integers(-8, 9, size) / 8 for size, scale in runs]
        return lambda: torch.tensor(np.concatenate(noise), dtype=torch.float32)


def fixed_run(members, group=None):
    model = nn.Linear(3, 1)
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.5 if group is None or dist.get_rank() == 0 else 7.0)
    columns = torch.randn(16, 4, generator=generator())[members.start : members.stop]
    data = columns[:, :3], columns[:, 3]
    bound = AdaptiveQuantile(max_grad_norm=64.0, count_noise=1.0)
    options = {"process_group": group, "micro_batch": None if group is None else 3}
    begun = started(model, PLAN, use=Fixed, loss_fn=squares, data=data, bound=bound, **options)
    begun._members = members
    history = [begun.step() for _ in range(20)]
    return flat(model.parameters()), history


def real_run(group):
    """Own lots and noise; the gradient is zero, so what is left is noise."""
    flat_loss = lambda outputs, _: 0.0 * outputs[:, 0]
    data = torch.full((8, 200), float(dist.get_rank())), torch.ones(8)
    options = {"generator": generator(), "process_group": group}
    begun = started(nn.Linear(200, 1), PLAN, loss_fn=flat_loss, data=data, **options)
    noise, lots = [], []
    for _ in range(PLAN.steps):
        lots.append(begun._lot(begun.steps).tolist())
        begun.step()
        noise.append(flat(p.grad for p in begun.model.parameters()))
    return flat(begun.model.parameters()), torch.cat(noise) * begun._expected, lots


def joined(rank, folder):
    """The group of two processes, of which this is one."""
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    return dist.group.WORLD


def worker(rank, folder):
    group, members = joined(rank, folder), range(5) if rank == 0 else range(5, 16)
    with pytest.raises(NotImplementedError, match="sampling='shuffled' in several processes"):
        started(plan=dataclasses.replace(PLAN, sampling="shuffled"), process_group=group)
    torch.save((fixed_run(members, group), real_run(group)), f"{folder}/{rank}")
    dist.destroy_process_group()


# What is different in the second process, and what both say of it.
DIFFERENT = [
    ({"plan": dataclasses.replace(PLAN, steps=20)}, "Expected plan to be the same in all proc"),
    ({"generator": generator(1)}, "Expected seed to be the same"),
    ({"generator": None}, "Expected generator to be the same"),
    ({"bound": Automatic(max_grad_norm=64.0)}, "Expected bound to be the same"),
    ({"loss_fn": squares}, "Expected loss_fn to be the same"),
    ({"model": small_model(width=9)}, r"Expected model\['0.weight'\] to be the same"),
    ({"data": small_data()}, "own in each process, got the same in processes 0 and 1: give each a"),
    ({}, "Expected checkpoint to be the same in all processes, got .* no file in process 1"),
]


def refusing_worker(rank, folder):
    group, data = joined(rank, folder), tuple(x[rank::2] for x in small_data())
    common, mine = {"plan": PLAN, "process_group": group}, f"{folder}/run of {rank}"
    for options, text in DIFFERENT:
        same = "data" in options  # in both
        options = (
            common | {"generator": generator(), "data": data} | (options if rank or same else {})
        )
        with pytest.raises(ValueError, match=text):
            begun = started(**options)
            begun.save(mine)  # by the first alone
            begun.load(mine)
    with pytest.raises(ValueError, match="Expected process_group in one of 2 processes, got None"):
        started()
    own = [dist.new_group([other]) for other in range(2)][rank]
    started(process_group=own).step()
    begun = started(**common, data=data)
    for step in range(6):
        if rank == 1 and step == 3:
            os._exit(0)
        try:
            begun.step()
        except RuntimeError:
            torch.save(begun.steps, f"{folder}/steps")
            os._exit(0)


def spawned(function, folder):
    """Run a function in two processes."""
    with pytest.MonkeyPatch.context() as patch:
        # A page tested before may have left its script as the main module: children would run it.
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        mp.spawn(function, (str(folder),), nprocs=2)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    """What each process computed: its fixed run, its own run."""
    folder = tmp_path_factory.mktemp("ranks")
    spawned(worker, folder)
    return [torch.load(folder / str(rank), weights_only=False) for rank in range(2)]


def test_two_processes_equal_one(ranks):
    alone, history = fixed_run(range(16))
    (parameters, records), (other, others) = (fixed for fixed, _ in ranks)
    assert torch.equal(parameters, other)
    assert [repr(r.private) for r in records] == [repr(r.private) for r in others]  # NaN too
    torch.testing.assert_close(parameters, alone)  # float32
    for record, expected in zip(records, history, strict=True):
        assert record.private.lot_size == expected.private.lot_size
        assert record.clipping_norm == pytest.approx(expected.clipping_norm, rel=1e-5)
        loss = pytest.approx(expected.private.loss, rel=1e-4, nan_ok=True)
        assert record.private.loss == loss


def test_noise_is_added_once_in_total_and_lots_differ_with_one_seed(ranks):
    (first, noise, lots), (second, _, others) = (real for _, real in ranks)
    assert torch.equal(first, second)
    # Six standard errors; twice the noise would be 40 % too much.
    assert noise.std().item() == pytest.approx(64.0, rel=6 / (2 * len(noise)) ** 0.5)
    assert sum(a == b for a, b in zip(lots, others, strict=True)) < 10


def test_processes_that_differ_are_refused_by_all_and_a_dead_one_is_noticed_at_once(tmp_path):
    begin = time.monotonic()
    spawned(refusing_worker, tmp_path)
    assert torch.load(tmp_path / "steps") == 3 and time.monotonic() - begin < 240  # 1800: timeout


def test_one_process_of_several_needs_a_group(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(ValueError, match="Expected process_group in one of 4 processes, got None"):
        started()
