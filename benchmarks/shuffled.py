"""CPU seconds and epsilon of shuffled epochs: `python benchmarks/shuffled.py` prints them."""

import itertools
import multiprocessing
import time

from dplearn import Gaussian, Shuffled
from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import Adjacency, Guarantee

DELTA = 1e-5
SIGMAS = (0.5, 1.0, 2.0, 4.0)
RUNS = [(100, 1), (100, 100), (234, 60), (1000, 10), (10_000, 1)]
ADJACENCIES: tuple[Adjacency, ...] = ("zero_out", "replace_one", "add_remove")
KINDS = [("zero_out", 0.0), *((adjacency, 1e-3) for adjacency in ADJACENCIES)]
GRID = [10**k for k in range(2, 8)], (1, 10, 100, 1000)


def timed(question: tuple[float, int, int, Adjacency]) -> float:
    """Return the CPU seconds of one answer in a process that has answered nothing before."""
    sigma, batches, epochs, how = question
    start = time.process_time()
    epoch = Shuffled(Gaussian(sigma), batches, 1e-9)
    PLD().epsilon(epoch, delta=DELTA, steps=epochs, adjacency=how)
    return time.process_time() - start


def bracket(epoch: Shuffled | Gaussian, epochs: int, how: Adjacency) -> Guarantee:
    return PLD(rtol=1e-3).epsilon(epoch, delta=DELTA, steps=epochs, adjacency=how)


if __name__ == "__main__":
    # First, as the processes are copies of this one, which remembers what it was asked.
    print("| batches |", " | ".join(f"{how}, CPU s at most" for how in ADJACENCIES), "|")
    print("|---" * (len(ADJACENCIES) + 1) + "|")
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for batches in GRID[0]:
            row = []
            for how in ADJACENCIES:
                points = itertools.product(SIGMAS, (batches,), GRID[1], (how,))
                row.append(f"{max(pool.imap(timed, points)):.2f}")
            print(f"| {batches:,} |", " | ".join(row), "|", flush=True)
    heads = [f"{how}, {'left out' if out else 'every record used'}" for how, out in KINDS]
    print("\n| σ, batches, epochs |", " | ".join(heads), "| one Gaussian an epoch |")
    print("|---" * (len(KINDS) + 2) + "|")
    for sigma, (batches, epochs) in itertools.product(SIGMAS, RUNS):
        cells = []
        for how, out in KINDS:
            found = bracket(Shuffled(Gaussian(sigma), batches, out), epochs, how)
            width = found.epsilon / found.lower
            cells.append(f"{found.lower:.4g} to {found.epsilon:.4g} (× {width:.2f})")
        cells.append(f"{bracket(Gaussian(sigma), epochs, 'zero_out').epsilon:.4g}")
        print(f"| {sigma:g}, {batches}, {epochs} |", " | ".join(cells), "|", flush=True)
