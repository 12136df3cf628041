"""How often an audit of one run catches a planted bug, and how much of an epsilon one run proves.

The first table: a loop of DP-SGD in numpy, logistic regression on two clouds of points, and
canaries whose gradients are at right angles to all others, as an auditor may craft them. Each bug
is one line. A row is about many audits at 99 %, each one look at so many canaries and runs.

The second: canaries under Gaussian noise of a known epsilon, and the mean of what four ways of
counting prove at 95 % and delta = 1e-5.

    python benchmarks/audit.py                 # planted bugs, some minutes
    python benchmarks/audit.py --audits 20
    python benchmarks/audit.py --proved        # the second table
"""

import argparse
import math
import time
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from dplearn import DPSGD, Gaussian, smallest_noise_multiplier
from dplearn.audit import observe, one_run
from dplearn.teaching.book.chapters.one_run import one_run_epsilon

CONFIDENCE = 0.99
NORM, FEATURES, RECORDS = 4.0, 10, 400


@dataclass(frozen=True)
class Planted:
    """A bug, its plan, and what an auditor spends on one look."""

    name: str
    plan: DPSGD
    canaries: int = 2000
    runs: int = 1
    delta: float = 1e-5
    assume: str = "any"

    @property
    def train(self):
        """The training function: scores of canaries, and the model."""
        return partial(epochs if self.plan is _EPOCH else loop, self.name, self.plan)

    def accuracy(self) -> float:
        """Share of the records that a model of the loop puts into their class, of 50 runs."""
        if self.plan is _EPOCH:
            return math.nan
        x, y = clouds(np.random.default_rng(0))
        nobody = np.zeros(self.canaries, dtype=bool)
        models = [self.train(nobody, seed)[1] for seed in range(50)]
        return float(np.mean([x @ w * y > 0 for w in models]))

    def bound(self, seed: int):
        """What one audit proves."""
        seen = observe(
            self.train,
            canaries=self.canaries,
            runs=self.runs,
            score=itemgetter(0),
            seed=seed,
            progress=False,
        )
        return seen.bound(delta=self.delta, confidence=CONFIDENCE, assume=self.assume)

    @property
    def claimed(self):
        """Guarantee of the plan, which a bug makes false."""
        return self.plan.guarantee(delta=self.delta)


_FULL = DPSGD(noise_multiplier=4.0, sample_rate=1.0, steps=8, max_grad_norm=NORM, sampling="none")
_SHORT = replace(_FULL, noise_multiplier=2.0, steps=2)
_LOTS = DPSGD(noise_multiplier=4.0, sample_rate=0.5, steps=8, max_grad_norm=NORM)
_EPOCH = DPSGD(noise_multiplier=0.5, sample_rate=1 / 100, steps=100, max_grad_norm=NORM)
_TWO = DPSGD(noise_multiplier=0.6, sample_rate=0.1, steps=4, max_grad_norm=NORM)
# Two steps on one lot leak more than claimed, but these 20,000 canaries do not tell.
UNSEEN = ("one lot for two steps",)
BUGS = (
    Planted("noise without C", _FULL),
    Planted("one layer unclipped", _FULL),
    Planted("batch normalisation", _SHORT, canaries=50, runs=120, assume="gaussian"),
    Planted("same lot added twice", _SHORT, canaries=20_000, assume="gaussian"),
    Planted("one lot for two steps", _TWO, canaries=20_000, delta=1e-3),
    Planted("seed reuse", _LOTS),
    Planted("shuffled", _EPOCH, canaries=1, runs=2000, delta=1e-2),
    Planted("divided by L twice", _FULL),
)


def loop(bug: str, plan: DPSGD, included, seed: int):
    """Scores of the canaries, of which i has axis i of either layer to itself, and the model."""
    rng = np.random.default_rng(seed)
    x, y = clouds(np.random.default_rng(0))
    z, q, size = plan.noise_multiplier, plan.sample_rate, plan.sample_rate * RECORDS
    w, seen, seeds = np.zeros(FEATURES), [], rng.integers(2**31, size=plan.steps)
    lots = rng.random((plan.steps, RECORDS + included.size)) < q
    if bug == "one lot for two steps":
        lots = lots[np.arange(plan.steps) // 2 * 2]
    scale = {"noise without C": z, "divided by L twice": z * NORM / size}.get(bug, z * NORM)
    for lot, step_seed in zip(lots, seeds, strict=True):
        noise = np.random.default_rng(7 if bug == "seed reuse" else step_seed).normal
        inside, mine = lot[RECORDS:] & included, lot[:RECORDS]
        if bug == "batch normalisation":
            total, pull = normalised(x[mine], y[mine], w, inside)
        else:
            total = clipped(gradient(x[mine], y[mine], x[mine] @ w)).sum(axis=0)
            pull = inside * NORM  # its gradient is longer than that
        w = w - 2 * (total + scale * noise(size=FEATURES)) / size
        if bug == "same lot added twice":
            total, pull = 2 * total, 2 * pull
        # Half of a canary's gradient stands in either layer.
        layers = np.array([pull, pull * (20 if bug == "one layer unclipped" else 1)]) / 2**0.5
        seen.append((layers + scale * noise(size=layers.shape)).sum(axis=0) / 2**0.5 / NORM)
    return scores(np.array(seen), plan, bug), w


def gradient(x, y, outputs):
    return -(y / (1 + np.exp(y * outputs)))[:, None] * x


def clipped(gradients):
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1, NORM / np.maximum(norms, 1e-9))


def normalised(x, y, w, inside):
    """Clipped sums where a layer normalises each feature over the lot, canaries' own included."""
    canaries = np.flatnonzero(inside)
    wide = np.zeros((len(x) + len(canaries), FEATURES + inside.size))
    wide[: len(x), :FEATURES] = x
    wide[np.arange(len(x), len(wide)), FEATURES + canaries] = 1e3
    wide = (wide - wide.mean(axis=0)) / np.sqrt(wide.var(axis=0) + 1e-5)
    labels = np.concatenate([y, -np.ones(len(canaries))])
    sums = clipped(gradient(wide, labels, wide[:, :FEATURES] @ w)).sum(axis=0)
    return sums[:FEATURES], sums[FEATURES:]


def scores(seen, plan: DPSGD, bug: str):
    """Logarithm of the likelihood ratio of all steps; where noise is reused, how much they vary."""
    if bug == "seed reuse":
        return seen.std(axis=0)
    steps = seen.reshape(-1, 1 + (bug == "one lot for two steps"), seen.shape[1])
    told = (steps - 0.5).sum(axis=1) / plan.noise_multiplier**2
    q = plan.sample_rate
    return np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + told).sum(axis=0)


def epochs(bug: str, plan: DPSGD, included, seed: int):
    """An epoch of lots that others fill, all of whom pull against the one canary."""
    rng, batches = np.random.default_rng(seed), plan.steps
    if bug == "shuffled":  # one record in each, the canary or a zero in the place of another
        sums = np.full(batches, -1.0)
        sums[rng.integers(batches)] = 1.0 if included[0] else 0.0
    else:
        others = rng.binomial(batches - 1, plan.sample_rate, size=batches)
        sums = included[0] * (rng.random(batches) < plan.sample_rate) - others
    return [np.max(sums + plan.noise_multiplier * rng.normal(size=batches))], None


def clouds(rng):
    """Records of two classes, four of five in the first."""
    y = np.where(rng.random(RECORDS) < 0.8, 1, -1)
    return rng.normal(size=(RECORDS, FEATURES)) + 0.5 * y[:, None], y


class Row(NamedTuple):
    """Audits that contradict the claim, the median epsilon proved, CPU seconds of an audit."""

    caught: int
    epsilon: float
    seconds: float


def row(planted: Planted, audits: int) -> Row:
    """What so many audits prove, each with a seed of its own."""
    start = time.process_time()
    bounds = [planted.bound(seed) for seed in range(audits)]
    caught = sum(bound.contradicts(planted.claimed) for bound in bounds)
    epsilon = float(np.median([bound.epsilon for bound in bounds]))
    return Row(caught, epsilon, (time.process_time() - start) / audits)


def halves(included, scores) -> tuple[int, int]:
    """Numbers of guesses with the largest lower limit of the share that is right, on these."""
    ordered, m = included[np.argsort(scores)], len(scores)
    sizes = np.unique([0, *np.geomspace(1, max(1, m / 2 - 1.5 * m**0.5), 20).astype(int)])
    highest, lowest = (np.cumsum([0, *row])[sizes] for row in (ordered[::-1], ~ordered))
    right, total = highest[:, None] + lowest, sizes[:, None] + sizes
    limit = np.where(right > 0, betaincinv(np.maximum(right, 1e-9), total - right + 1, 0.05), 0.0)
    a, b = np.unravel_index(np.argmax(limit), limit.shape)
    return int(sizes[a]), int(sizes[b])


@cache
def theirs(canaries: int, guesses: int, correct: int) -> float:
    """Epsilon of Steinke, Nasr & Jagielski's theorem."""
    counts = {"canaries": canaries, "guesses": guesses, "correct": correct}
    return one_run_epsilon(**counts, delta=1e-5, significance=0.05)


def proofs(epsilon: float, m: int, audits: int) -> list[str]:
    """Mean epsilon proved: half and half, the plan, the best number, and the best of theirs."""
    width = smallest_noise_multiplier(Gaussian(1.0), epsilon=epsilon, delta=1e-5).value
    look, rng = {"delta": 1e-5, "confidence": 0.95}, np.random.default_rng(1)
    sizes = np.unique(np.geomspace(5, m / 2 - m**0.5, 16).astype(int)).tolist()
    planned, split, best, other = [], [], [], []
    for _ in range(audits):
        bits = rng.random(m) < 0.5
        z = bits / width + rng.standard_normal(m)
        planned.append(one_run(bits, z, **look).epsilon)
        first, second = np.split(np.arange(m), 2)
        guesses = halves(bits[first], z[first])
        split.append(one_run(bits[second], z[second], guesses=guesses, **look).epsilon)
        ordered = bits[np.argsort(z)]
        right = [int(np.sum(ordered[-k:]) + np.sum(~ordered[:k])) for k in sizes]
        best.append([one_run(bits, z, guesses=(k, k), **look).epsilon for k in sizes])
        other.append([theirs(m, 2 * k, v) for k, v in zip(sizes, right, strict=True)])
    means = np.mean(best, axis=0), np.mean(other, axis=0)
    tops = [f"{np.max(mean):.2f} ({2 * sizes[int(np.argmax(mean))]})" for mean in means]
    return [f"{np.mean(split):.2f}", f"{np.mean(planned):.2f}", *tops]


def table_of_proofs(audits: int) -> None:
    """Print what one run proves, by true epsilon and number of canaries."""
    titles = "canaries|true ε|half chooses, half is judged|plan|best number (guesses)"
    titles += "|Steinke et al., best number (guesses)"
    print(f"| {titles.replace('|', ' | ')} |\n" + "|---" * (titles.count("|") + 1) + "|")
    for m in (1000, 10_000, 100_000):
        for epsilon in (1.0, 2.0, 4.0, 8.0):
            cells = [f"{m}", f"{epsilon:g}", *proofs(epsilon, m, audits)]
            print(f"| {' | '.join(cells)} |", flush=True)


def table_of_bugs(audits: int) -> None:
    """Print which planted bugs are caught, and how often correct code is accused."""
    titles = "bug|canaries × runs|δ|ε claimed|ε proved, median|caught|correct code accused"
    titles += "|accuracy, if correct|CPU s"
    print(f"| {titles.replace('|', ' | ')} |\n" + "|---" * (titles.count("|") + 1) + "|")
    for planted in BUGS:
        bug, correct = row(planted, audits), row(replace(planted, name="correct"), audits)
        cells = [planted.name, f"{planted.canaries} × {planted.runs}", f"{planted.delta:g}"]
        cells += [f"{planted.claimed.epsilon:.2f}", f"{bug.epsilon:.2f}"]
        cells += [f"{100 * r.caught / audits:g} %" for r in (bug, correct)]
        both = (planted.accuracy(), replace(planted, name="correct").accuracy())
        cells += [", ".join(f"{100 * share:.1f} %" for share in both), f"{bug.seconds:.2f}"]
        print(f"| {' | '.join(cells)} |".replace("nan %", "-"), flush=True)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--proved", action="store_true")
    options = parser.parse_args()
    table_of_proofs(options.audits) if options.proved else table_of_bugs(options.audits)


if __name__ == "__main__":
    main()
