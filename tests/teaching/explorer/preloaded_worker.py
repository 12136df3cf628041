"""Processes that have loaded PyTorch and taken a step, as one that waits for its job has."""

import os
import sys
from multiprocessing.connection import Connection

from dplearn.teaching.explorer import worker

# Once, in the process that the others are copies of.
worker.run(worker._FIRST, lambda **_: None)


def work(read: Connection, write: Connection, options: tuple[str, ...]) -> None:
    """Run the job that comes through a pipe, as the program itself does."""
    os.dup2(read.fileno(), 0)
    os.dup2(write.fileno(), 1)
    read.close()
    write.close()
    sys.stdin = os.fdopen(0)  # a copied process has another
    worker.run_worker(options)
