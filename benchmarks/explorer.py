"""Slider to picture on our side: all accountants at the explorer's grid, then the figure.

Every round moves the noise multiplier a little, so that no answer comes from a cache.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import statistics
import time

from dplearn.accountants import accountants
from dplearn.app.calls import Setting, answer
from dplearn.plotting import epsilon_curves, log_steps

RUNS = {
    "Abadi 2016": (4.0, 0.01, 1e-5, 40_000),
    "MNIST tutorial": (1.1, 256 / 60_000, 1e-5, 14_063),
    "CIFAR-10 2022": (10.0, 4096 / 50_000, 1e-5, 875),
    "long, small delta": (1.0, 0.001, 1e-12, 1_000_000),
}
ROUNDS = 15


def one(sigma: float, q: float, delta: float, largest: int) -> tuple[float, float]:
    """Seconds for the curves and for the figure."""
    setting = Setting("gaussian", sigma, "poisson", q, delta, "add_remove", largest)
    start = time.perf_counter()
    curves = {name: answer(name, setting).curve for name in accountants}
    middle = time.perf_counter()
    epsilon_curves(curves, log_steps(largest))
    return middle - start, time.perf_counter() - middle


def main() -> None:
    print(f"{'run':20} {'points':>6} {'curves':>9} {'figure':>9} {'together':>9}   (median ms)")
    for name, (sigma, q, delta, largest) in RUNS.items():
        one(sigma, q, delta, largest)
        times = [one(sigma * (1 + 1e-4 * (i + 1)), q, delta, largest) for i in range(ROUNDS)]
        curves, figure = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
        points = len(log_steps(largest))
        print(f"{name:20} {points:6} {curves:9.1f} {figure:9.1f} {curves + figure:9.1f}")


if __name__ == "__main__":
    main()
