"""A random sweep that tries to catch the pld accountant lying.

    .venv/bin/python benchmarks/soundness.py [--points 20000] [--seed 1] [--rows FILE]
        [--workers 2 | --dask tcp://HOST:PORT] [--only lists --index 7]

Every setting (mechanism, steps, delta, adjacency) is asked in several ways that must not contradict
each other: no lower end above an upper end, none past an exact value or what a simple argument
proves, none against the order of two settings one of which leaks less. A numpy warning, an
exception and an answer above 2 CPU seconds count as well. Exit status 1 if there is one, with the
lines that repeat it. With --rows a file has a line of JSON per case, and those in it are skipped.
Workers of a Dask cluster need this folder on their path.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import math
import sys
import time
import traceback
import warnings
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from support.questions import CLASSES
from support.sweep import Case

from dplearn.sweeps import sweep

Job = tuple[int, str, int]
Row = dict[str, Any]
# Cases handed to a worker at a time.
CHUNK = 10


def run(job: Job) -> list[Row]:
    """One case, a row per setting; its random numbers depend on nothing but the job."""
    seed, name, index = job
    case, start = Case(), time.thread_time()
    rng = np.random.default_rng([seed, *name.encode(), index])
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        try:
            CLASSES[name][0](rng, case)
        except Exception:  # whatever breaks is what the sweep is for
            case.violations.append("raised:\n" + traceback.format_exc(limit=-4))
    common = {"seed": seed, "class": name, "index": index, "slow": "", "violations": ""}
    rows = [
        common
        | {"mechanism": repr(a.question.mechanism), "adjacency": a.question.adjacency}
        | {"steps": a.question.steps, "delta": a.question.delta, "lower": a.lower}
        | {"upper": a.upper, "cpu_s": round(seconds, 4)}
        for a, seconds in case.answers
    ] or [common]
    rows[0] |= {"case_s": round(time.thread_time() - start, 3)}
    rows[0] |= {"slow": "\n".join(case.slow), "violations": "\n".join(case.violations)}
    return rows


def report(rows: list[Row]) -> int:
    """Print the table and every violation; returns how many there are."""
    names = ["class", "cases", "settings", "exact", "brackets", "one-sided", "slow", "violations"]
    names += ["median width", "worst width", "CPU s", "slowest answer"]
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    for name in CLASSES:
        mine = [row for row in rows if row["class"] == name]
        ends = np.array([[r["lower"], r["upper"]] for r in mine if "upper" in r])
        lower, upper = ends.reshape(-1, 2).T
        equal, two_sided = upper - lower <= 2e-11 * upper, (lower > 0) & np.isfinite(upper)
        brackets = two_sided & ~equal
        widths = (upper - lower)[brackets] / upper[brackets]
        cells = [
            name,
            len({row["index"] for row in mine}),
            len(lower),
            np.sum(equal),
            len(widths),
            np.sum(~equal & ~two_sided),
            sum(bool(row["slow"]) for row in mine),
            sum(bool(row["violations"]) for row in mine),
            f"{np.median(widths):.1e}" if widths.size else "-",
            f"{np.max(widths):.1e}" if widths.size else "-",
            f"{sum(row.get('case_s', 0) for row in mine):.0f}",
            f"{max((row.get('cpu_s', 0) for row in mine), default=0):.1f}",
        ]
        print("| " + " | ".join(map(str, cells)) + " |")
    wrong = [row for row in rows if row["violations"] or row["slow"]]
    for row in wrong:
        print(f"\n--seed {row['seed']} --only {row['class']} --index {row['index']}")
        print("  " + "\n".join(filter(None, [row["violations"], row["slow"]])))
    print("", f"{len(wrong)} cases with a violation", sep="\n")
    return len(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="file of cases, continued if it exists")
    parser.add_argument("--workers", type=int, default=2, help="processes on this machine")
    parser.add_argument("--dask", help="address of a scheduler, whose workers are asked instead")
    parser.add_argument("--only", choices=CLASSES, help="one class")
    parser.add_argument("--index", type=int, help="one case of that class")
    options = parser.parse_args()
    jobs = jobs_of(options.points, options.seed, options.only)
    if options.index is not None:
        jobs = [(seed, name, options.index) for seed, name, i in jobs if i == 0]
    with pool(options) as executor:
        cases = sweep(run, jobs, executor=executor, batch=CHUNK, rows=options.rows)
    return 1 if report([row for case in cases for row in case]) else 0


def pool(options: argparse.Namespace) -> Executor:
    """The processes or the cluster that the options name."""
    if not options.dask:
        return ProcessPoolExecutor(options.workers, get_context("spawn"))
    from distributed import Client

    # Pure, two equal jobs would be one.
    return Client(options.dask, set_as_default=False).get_executor(pure=False)


def jobs_of(points: int, seed: int, only: str | None = None) -> list[Job]:
    """Cases that make so many settings, the classes mixed."""
    jobs = [
        (index / points / share * size, (seed, name, index))
        for name, (_, size, share) in CLASSES.items()
        if only in (None, name)
        for index in range(math.ceil(points * share / size))
    ]
    return [job for _, job in sorted(jobs)]


if __name__ == "__main__":
    sys.exit(main())
