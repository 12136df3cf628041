"""Training runs with two processes, each of which computes gradients of its own records."""

import dataclasses
import functools
import os
import sys
import tempfile
import time
from types import ModuleType

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from parts import flat, generator, small_data, small_model, started
from torch import nn
from torch.distributed.fsdp import fully_shard

from dplearn.run import DPSGD
from dplearn.training import Automatic, Trainer, checks
from dplearn.training.noise import Randomness

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.5, steps=20, max_grad_norm=64.0)


def squares(outputs, targets):
    return (outputs[:, 0] - targets).square()


class Fixed(Trainer):
    def _lot(self, step):
        lot = np.flatnonzero(np.random.default_rng(step).random(16) < 0.5)
        return lot[lot % self._context.processes == self._context.rank]


class FixedNoise(Randomness):
    def normals(self, runs, like, step):
        rng = np.random.default_rng(100 + step)
        noise = [scale * rng.integers(-8, 9, size) / 8 for size, scale in runs]
        return torch.tensor(np.concatenate(noise), dtype=torch.float32)


def fixed_run(group=None):
    """Train on 16 records with fixed lots and noise; return parameters and records of steps."""
    model = nn.Linear(3, 1)
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.5 if group is None or dist.get_rank() == 0 else 7.0)
    columns = torch.randn(16, 4, generator=generator())
    options = {"data": (columns[:, :3], columns[:, 3]), "loss_fn": squares}
    options |= {"process_group": group, "micro_batch": None if group is None else 3}
    begun = started(model, PLAN, use=Fixed, **options)
    begun._randomness = FixedNoise()
    history = [begun.step() for _ in range(PLAN.steps)]
    return flat(model.parameters()), history


def real_run(group):
    """Train one step with lots and noise of the trainer; return parameters and later lots."""
    begun = started(plan=PLAN, generator=generator(), process_group=group)
    begun.step()
    lots = [begun._lot(step) for step in range(1, PLAN.steps)]
    assert all((lot % 2 == dist.get_rank()).all() for lot in lots)
    return flat(begun.model.parameters()), [(lot // 2).tolist() for lot in lots]


# Arguments of the second process that differ from the first's, and the error in both.
DIFFERENT = [
    ({"plan": dataclasses.replace(PLAN, steps=30)}, "Expected plan to be the same in all proc"),
    ({"generator": generator(1)}, "Expected seed to be the same"),
    ({"generator": None}, "Expected generator to be the same"),
    ({"bound": Automatic(max_grad_norm=64.0)}, "Expected bound to be the same"),
    ({"loss_fn": squares}, "Expected loss_fn to be the same"),
    ({"model": small_model(width=9)}, r"Expected model\['0.weight'\] to be the same"),
    ({}, "Expected checkpoint to be the same in all processes, got .* no file in process 1"),
]


def refused_differences(rank, group, folder):
    with pytest.raises(NotImplementedError, match="sampling='shuffled' in several processes"):
        started(plan=dataclasses.replace(PLAN, sampling="shuffled"), process_group=group)
    with pytest.raises(ValueError, match="Expected process_group in one of 2 processes, got None"):
        started()
    common, mine = {"plan": PLAN, "process_group": group}, f"{folder}/run of {rank}"
    # Each process has another order, an overlapping part or a disjoint part of the records.
    several = (*(torch.randperm(32, generator=generator(rank)), torch.arange(20) + 12 * rank),)
    for own in (*several, torch.arange(16) * 2 + rank):
        x, y = (part[own] for part in small_data())
        for data in ((x, y), list(zip(torch.zeros(32, 3), y, strict=False))):
            with pytest.raises(ValueError, match="Expected records to be the same in all proc"):
                started(**common, generator=generator(), data=data)
    for options, text in DIFFERENT:
        options = common | {"generator": generator()} | (options if rank else {})
        with pytest.raises(ValueError, match=text):
            begun = started(**options)
            begun.save(mine)  # only the first process writes
            begun.load(mine)


def steps_until_death(rank, group):
    """Let the second process die; return the steps and seconds until the first has an error."""
    begun, start = started(plan=PLAN, process_group=group), time.monotonic()
    for step in range(6):
        if rank == 1 and step == 3:
            os._exit(0)
        try:
            begun.step()
        except RuntimeError:
            break
    return begun.steps, time.monotonic() - start


def worker(rank, folder):
    torch.set_num_threads(1)
    checks.check_gradients = lambda gradients, pair, **_: gradients.learn(pair)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    group = dist.group.WORLD
    torch.save((fixed_run(group), real_run(group)), f"{folder}/{rank}")
    own = [dist.new_group([other]) for other in range(2)]
    started(process_group=own[rank]).step()
    with pytest.raises(NotImplementedError, match="a model in shards is not supported"):
        started(fully_shard(small_model()), process_group=group)
    refused_differences(rank, group, folder)
    # The second process's model mixes records: both raise before noise is added or a step counted.
    model, share = small_model(), [0]
    model.register_forward_hook(lambda m, x, y: y - share[0] * y.mean(0))
    begun = started(model, plan=PLAN, process_group=group)
    share[0] = rank
    with pytest.raises(ValueError, match="mixes records"):
        begun.step()
    assert begun.steps == 0
    torch.save(steps_until_death(rank, group), f"{folder}/death")
    os._exit(0)


@functools.cache
def outcomes():
    """Run both processes; return results of `fixed_run`, `real_run` and `steps_until_death`."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # An earlier test may leave a page's script as __main__, which child processes would run.
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        mp.spawn(worker, (folder,), nprocs=2)
        read = lambda name: torch.load(f"{folder}/{name}", weights_only=False)
        return list(zip(read(0), read(1), strict=True)), read("death")
