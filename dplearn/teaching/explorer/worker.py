"""Training in a process of its own: one job in, one line of JSON per event out.

    (echo '{"dataset": "digits", ...}'; cat) \
        | python -m dplearn.teaching.explorer.worker --silence 600

The first line of standard input is the job, with the fields of `Job`; the process may be started
long before, and has loaded all that it needs by then. Events are
``{"event": "start" | "progress" | "done" | "error", ...}``, one line each on standard output. The
process ends when the run is over, when its time is up, and when standard input is closed or
silent: whoever started it sends a byte now and then, so that no training outlives its owner. For
Unix. Torch is loaded here and never by the pages, which are another process.
"""

import argparse
import json
import math
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from dplearn import training
from dplearn.datasets import practice_set
from dplearn.teaching.explorer.job import MEMORY, PATIENCE, SECONDS, Job
from dplearn.teaching.explorer.models import accuracy, gradient_norms, started, tensors

# No record's gradient is longer: with it, and without noise, a step is one of ordinary SGD.
_UNCLIPPED = 1e9
# What PyTorch and Python say when memory is short.
_SCARCE = ("allocate memory", "start new thread")
_MICRO_BATCH = 64
_PROGRESS = 60
# Records whose gradients are measured, and the shares of them that have shorter ones.
_MEASURED = 256
_SHARES = {"norm_low": 0.1, "norm": 0.5, "norm_high": 0.9}

_FIRST = Job(
    dataset="digits",
    model="linear",
    noise_multiplier=1.0,
    sample_rate=0.05,
    steps=1,
    max_grad_norm=1.0,
    learning_rate=1.0,
    delta=1e-4,
)


def run(job: Job, tell: Callable[..., object]) -> None:
    """Train, and `tell` events as keywords.

    Without privacy the learning rate is that of the plan times the clipping norm: a record whose
    gradient has norm 1 then moves both models equally far.
    """
    train, held_out = practice_set(job.dataset)
    data, measured = tensors(job.model, train), tensors(job.model, held_out)
    tell(event="start", steps=job.steps, records=len(data[1]), held_out=len(measured[1]))
    rows = _MICRO_BATCH if job.model == "cnn" else None
    begin = partial(started, job.model, data, micro_batch=rows)
    count = {"count_noise": job.count_noise} if job.count_noise else {}
    bound = getattr(training, job.bound)(max_grad_norm=job.max_grad_norm, **count)
    runs = {"": begin(job.plan, learning_rate=job.learning_rate, bound=bound)}
    if job.compare:
        public = replace(job.plan, noise_multiplier=0.0, max_grad_norm=_UNCLIPPED)
        runs["plain_"] = begin(public, learning_rate=job.learning_rate * job.max_grad_norm)
    start = time.monotonic()
    for step in range(1, job.steps + 1):
        told = not step % math.ceil(job.steps / _PROGRESS) or step in (1, job.steps)
        norms = gradient_norms(runs[""], data, records=_MEASURED) if told else None
        records = {name: trainer.step() for name, trainer in runs.items()}
        if norms is None:
            continue
        measures = {name: _finite(norms.quantile(q).item()) for name, q in _SHARES.items()}
        measures |= {f"{name}loss": _finite(each.private.loss) for name, each in records.items()}
        measures["clipped"] = _finite(records[""].private.clipped_fraction)
        measures["clipping_norm"] = records[""].clipping_norm
        measures |= {f"{name}accuracy": accuracy(t.model, measured) for name, t in runs.items()}
        epsilon = runs[""].history().guarantee(job.delta).epsilon
        measures |= {"step": step, "epsilon": _finite(epsilon), "seconds": time.monotonic() - start}
        tell(event="progress", **measures)
    tell(event="done")


def _finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None


def _tell(**event: Any) -> None:
    """Write an event in one piece, past all buffers."""
    os.write(1, json.dumps(event).encode() + b"\n")


def _fail(message: str) -> None:
    _tell(event="error", message=message)
    os._exit(1)


def _watch(silence: float) -> None:
    """End the process once standard input is closed, or silent for so many seconds."""
    while select.select([0], [], [], silence)[0]:
        if not os.read(0, 4096):
            os._exit(1)
    _fail(f"Stopped: nobody looked at it for {silence:g} seconds.")


def run_worker(arguments: Iterable[str] | None = None) -> None:
    """Run the job on standard input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time")
    parser.add_argument("--memory", type=float, default=MEMORY, help="bytes")
    parser.add_argument("--silence", type=float, default=PATIENCE, help="seconds without a byte")
    options = parser.parse_args(arguments)
    # PyTorch loads half of itself at the first step of all; somebody may wait for it.
    run(_FIRST, lambda **_: None)
    os.nice(5)
    seconds, memory = options.seconds, int(options.memory)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    late = f"Stopped after {seconds:g} s of processor time, the most that a run may take here."
    # Not by the clock: among many runs, or on a busy machine, each would be cut short.
    signal.signal(signal.SIGPROF, lambda *_: _fail(late))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    line = sys.stdin.buffer.readline(10_000)
    try:
        threading.Thread(target=_watch, args=(options.silence,), daemon=True).start()
        run(Job.of_line(line), _tell)
    except (ValueError, TypeError, NotImplementedError, OSError) as error:
        _fail(" ".join(str(error).split()))
    except (MemoryError, RuntimeError) as error:
        scarce = isinstance(error, MemoryError) or any(sign in str(error) for sign in _SCARCE)
        if not scarce:
            raise
        _fail(f"Stopped: it needs more than {memory / 1e9:g} GB of memory.")


if __name__ == "__main__":
    run_worker()
