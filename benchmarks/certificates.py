"""The engine's brackets of the sampled Gaussian against certificates, over the whole range.

    .venv/bin/python benchmarks/certificates.py [--points 300] [--seed 1] [--seconds 600]

A certificate is proposed by the engine and proved without it. So each bracket is put to the checker
as it stands, and where the checker does not prove it, it is asked to prove that epsilon lies beyond
one of the two ends. Exit status 1 if it ever does: bracket and certificate would be disjoint.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import json
import math
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from support.draws import Rng, spread

from dplearn import ACCOUNTANTS, Gaussian, PoissonSubsampled
from dplearn.certificates import NotProvedError, certify, check
from dplearn.core.guarantee import Guarantee


def drawn(rng: Rng) -> tuple[float, float, int, float]:
    """Noise multiplier, sample rate, steps and delta, each spread evenly over its logarithm."""
    delta = 10 ** -rng.uniform(1, 60)
    sigma, rate, steps = spread(rng, 0.3, 100), spread(rng, 1e-4, 0.9), spread(rng, 2, 1e9)
    return float(f"{sigma:.4g}"), float(f"{rate:.4g}"), round(steps), float(f"{delta:.4g}")


def timed(work: Callable[[], str], seconds: list[float]) -> str:
    """What a piece of work returns; its seconds of computing are added to a list."""
    start = time.process_time()
    try:
        return work()
    finally:
        seconds.append(time.process_time() - start)


def proves(text: str, lower: float, upper: float) -> bool:
    """Whether the checker proves other ends with the numbers of a certificate."""
    try:
        check(json.dumps(json.loads(text) | {"lower": repr(lower), "upper": repr(upper)}))
    except NotProvedError:
        return False
    return True


def verdict(text: str, bracket: Guarantee) -> str:
    """Whether a bracket is proved, disproved, or neither as closely as it stands."""
    if proves(text, bracket.lower, bracket.epsilon):
        return "proved as it stands"
    stated = json.loads(text)
    below, above = float(stated["lower"]), float(stated["upper"])
    if proves(text, bracket.epsilon * (1 + 1e-14), max(above, bracket.epsilon * (1 + 1e-3))):
        return "disjoint"
    if proves(text, min(below, bracket.lower * (1 - 1e-3)), bracket.lower * (1 - 1e-14)):
        return "disjoint"
    return f"proved once the ends are moved by {max(1 - below / bracket.lower, 1e-16):.0e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="of computing, then it ends")
    options = parser.parse_args()
    rng, law, verdicts = np.random.default_rng(options.seed), ACCOUNTANTS["pld"](), Counter()
    making, checking, one_sided = [], [], 0
    while sum(verdicts.values()) < options.points and time.process_time() < options.seconds:
        sigma, rate, steps, delta = drawn(rng)
        step, run = PoissonSubsampled(Gaussian(sigma), rate), {"steps": steps, "delta": delta}
        bracket = law.epsilon(step, **run)
        if not (bracket.lower > 0 and bracket.epsilon < math.inf):
            one_sided += 1
            continue
        setting = f"sigma={sigma!r} q={rate!r} T={steps} delta={delta!r}"
        try:
            text = timed(lambda step=step, run=run: certify(step, **run), making)
            timed(lambda text=text: check(text), checking)
            answer = verdict(text, bracket)
        except NotImplementedError as error:
            answer = "no proof found"
            print(f"{setting}: {error}", flush=True)
        verdicts[answer] += 1
        if answer not in ("proved as it stands", "no proof found"):
            print(f"{setting}: {answer}, [{bracket.lower!r}, {bracket.epsilon!r}]", flush=True)
    print(f"{sum(verdicts.values())} brackets with two ends, {one_sided} draws without")
    for answer, count in verdicts.most_common():
        print(f"{count:5}  {answer}")
    for name, seconds in (("certify", making), ("check", checking)):
        print(f"{name}: median {np.median(seconds):.2f} s, largest {max(seconds):.2f} s")
    return int(verdicts["disjoint"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
