"""Slider to picture on our side: all accountants at the explorer's grid, then both figures.

Every round moves the noise multiplier a little, so that no answer comes from a cache.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import itertools
import statistics
import time

from dplearn.accountants import accountants
from dplearn.app.pages.epsilon_vs_steps.answers import curve_of
from dplearn.app.pages.epsilon_vs_steps.regimes import sentences
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario
from dplearn.figures import epsilon_curves, log_steps, looseness

RUNS = {
    "Abadi 2016": (4.0, 0.01, 1e-5, 40_000),
    "MNIST tutorial": (1.1, 256 / 60_000, 1e-5, 14_063),
    "CIFAR-10 2022": (10.0, 4096 / 50_000, 1e-5, 875),
    "long, small delta": (1.0, 0.001, 1e-12, 1_000_000),
}
ROUNDS = 15


def one(sigma: float, q: float, delta: float, largest: int) -> list[float]:
    """Seconds for the curves, the first figure, the second one, and the remarks below them."""
    scenario = Scenario("gaussian", sigma, "poisson", q, delta, "add_remove", largest)
    steps, clock = log_steps(largest), [time.perf_counter()]
    curves = {name: curve_of(name, scenario).curve for name in accountants}
    clock.append(time.perf_counter())
    epsilon_curves(curves, steps, here=largest, budget=2.0, reference=REFERENCE)
    clock.append(time.perf_counter())
    looseness(curves, curves[REFERENCE], steps, here=largest)
    clock.append(time.perf_counter())
    sentences(scenario, largest)
    clock.append(time.perf_counter())
    return [b - a for a, b in itertools.pairwise(clock)]


def main() -> None:
    columns = ("curves", "epsilon", "looseness", "remarks", "together")
    print(f"{'run':20} {'points':>6} " + " ".join(f"{c:>9}" for c in columns) + "   (median ms)")
    for name, (sigma, q, delta, largest) in RUNS.items():
        one(sigma, q, delta, largest)
        rounds = [one(sigma * (1 + 1e-4 * (i + 1)), q, delta, largest) for i in range(ROUNDS)]
        medians = [1e3 * statistics.median(column) for column in zip(*rounds, strict=True)]
        shown = " ".join(f"{ms:9.1f}" for ms in (*medians, sum(medians)))
        print(f"{name:20} {len(log_steps(largest)):6} {shown}")


if __name__ == "__main__":
    main()
