"""A 50-point curve of epsilon: this package against dp-accounting, in one process.

Prints wall time, ratio to our `pld`, and the excess over our certified lower end. Peers are
used the quick way: one PLD composed by powers, one accountant per number of steps for RDP.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import statistics
import time
from collections.abc import Callable

import dp_accounting
import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

from dplearn import Gaussian, PoissonSubsampled, accountants

SETTINGS = {
    "MNIST tutorial": (1.1, 256 / 60000, 1e-5),
    "Abadi 2016": (4.0, 0.01, 1e-5),
    "low noise": (0.5, 0.01, 1e-6),
    "large batch": (2.0, 0.1, 1e-5),
}
STEPS = np.unique(np.geomspace(1, 1e5, 50).round().astype(int))


def ours(name: str, sigma: float, q: float, delta: float) -> list[float]:
    step = PoissonSubsampled(Gaussian(sigma), q)
    curve = accountants[name]().epsilon_curve(step, delta=delta, steps=STEPS)
    return [g.epsilon for g in curve]


def peer_pld(sigma: float, q: float, delta: float) -> list[float]:
    one = privacy_loss_distribution.from_gaussian_mechanism(sigma, sampling_prob=q)
    return [one.self_compose(int(t)).get_epsilon_for_delta(delta) for t in STEPS]


def peer_rdp(sigma: float, q: float, delta: float) -> list[float]:
    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma))
    return [RdpAccountant().compose(event, int(t)).get_epsilon(delta) for t in STEPS]


def timed(run: Callable[[], list[float]], repeats: int) -> tuple[float, list[float]]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return statistics.median(times), found


def main() -> None:
    for setting, (sigma, q, delta) in SETTINGS.items():
        step = PoissonSubsampled(Gaussian(sigma), q)
        exact = accountants["pld"]().epsilon_curve(step, delta=delta, steps=STEPS)
        lower = np.array([g.lower if g.lower > 0 else g.epsilon for g in exact])
        # A sigma a hair away keeps caches out of the repeated runs.
        base, _ = timed(lambda s=sigma, q=q, d=delta: ours("pld", s * 1.0000001, q, d), 5)
        print(f"\n{setting}: sigma {sigma}, q {q:.5f}, delta {delta:g}, {STEPS.size} points")
        rows = {
            "dplearn pld": (lambda s=sigma, q=q, d=delta: ours("pld", s, q, d), 5),
            "dplearn rdp": (lambda s=sigma, q=q, d=delta: ours("rdp", s, q, d), 5),
            "dp-accounting PLD": (lambda s=sigma, q=q, d=delta: peer_pld(s, q, d), 1),
            "dp-accounting RDP": (lambda s=sigma, q=q, d=delta: peer_rdp(s, q, d), 1),
        }
        for name, (run, repeats) in rows.items():
            seconds, found = timed(run, repeats)
            excess = np.array(found) / lower - 1
            print(
                f"  {name:18} {1e3 * seconds:9.1f} ms   x{seconds / base:7.1f}   "
                f"excess {excess.min():+.1e} .. {np.median(excess):+.1e} .. {excess.max():+.1e}"
            )


if __name__ == "__main__":
    main()
