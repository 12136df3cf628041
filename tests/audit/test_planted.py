"""Audits find planted bugs of DP-SGD, and refute correct code as rarely as stated.

The loop is DP-SGD with canaries whose gradients are orthogonal to all others, as an auditor
may craft them, so that only their own coordinates are computed. Each bug is one line.
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from dplearn import DPSGD
from dplearn.audit import observe

pytestmark = pytest.mark.slow
AUDITS, CONFIDENCE, NORM, RECORDS = 5, 0.99, 4.0, 400

FULL = DPSGD(noise_multiplier=4.0, sample_rate=1.0, steps=8, max_grad_norm=NORM, sampling="none")
SHORT = replace(FULL, noise_multiplier=2.0, steps=2)
LOTS = replace(FULL, sample_rate=0.5, sampling="poisson")
EPOCH = replace(LOTS, noise_multiplier=0.5, sample_rate=1 / 100, steps=100)
TWO = replace(LOTS, noise_multiplier=0.6, sample_rate=0.1, steps=4)
USUAL = {"canaries": 2000, "runs": 1, "delta": 1e-5, "assume": "any"}
BUGS = {
    "noise without C": (FULL, {}),
    "one layer unclipped": (FULL, {}),
    "batch normalisation": (SHORT, {"canaries": 50, "runs": 120, "assume": "gaussian"}),
    "same lot added twice": (SHORT, {"canaries": 20_000, "assume": "gaussian"}),
    # Two steps on one lot leak more than claimed, but these 20,000 canaries do not show it.
    "one lot for two steps": (TWO, {"canaries": 20_000, "delta": 1e-3}),
    "seed reuse": (LOTS, {}),
    "shuffled": (EPOCH, {"canaries": 1, "runs": 2000, "delta": 1e-2}),
    "divided by L twice": (FULL, {}),
}


def loop(bug, plan, included, seed):
    """Run DP-SGD with a bug and score canaries by log-likelihood ratios; canary i has axis i."""
    rng, z, q = np.random.default_rng(seed), plan.noise_multiplier, plan.sample_rate
    lots = (rng.random((plan.steps, included.size)) < q) & included
    if bug == "one lot for two steps":
        lots = lots[np.arange(plan.steps) // 2 * 2]
    scale = {"noise without C": z, "divided by L twice": z * NORM / RECORDS}.get(bug, z * NORM)
    seen = []
    for lot, step_seed in zip(lots, rng.integers(2**31, size=plan.steps), strict=True):
        noise = np.random.default_rng(7 if bug == "seed reuse" else step_seed).normal
        pull = normalised(lot) if bug == "batch normalisation" else NORM * lot
        pull = (1 + (bug == "same lot added twice")) * pull
        # Both layers have equal parts of a canary's gradient.
        layers = np.array([pull, pull * (20 if bug == "one layer unclipped" else 1)]) / 2**0.5
        seen.append((layers + scale * noise(size=layers.shape)).sum(axis=0) / 2**0.5 / NORM)
    if bug == "seed reuse":
        return np.std(seen, axis=0)
    steps = np.reshape(seen, (-1, 1 + (bug == "one lot for two steps"), included.size))
    losses = (steps - 0.5).sum(axis=1) / z**2
    return np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + losses).sum(axis=0)


def normalised(lot):
    """Return sums of clipped gradients of a model that normalises each feature over the lot."""
    canaries = np.flatnonzero(lot)
    wide = np.zeros((RECORDS + len(canaries), lot.size))
    wide[np.arange(RECORDS, len(wide)), canaries] = 1e3
    wide = (wide - wide.mean(axis=0)) / np.sqrt(wide.var(axis=0) + 1e-5)
    labels = np.append(np.where(np.arange(RECORDS) % 5, 1, -1), -np.ones(len(canaries)))
    gradients = -labels[:, None] / 2 * wide
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return (gradients * np.minimum(1, NORM / np.maximum(norms, 1e-9))).sum(axis=0)


def epochs(bug, plan, included, seed):
    """Return the largest noisy sum of an epoch; the canary adds 1, all other records -1."""
    rng, batches = np.random.default_rng(seed), plan.steps
    if bug == "shuffled":  # one record per lot; the canary, or 0, replaces one of them
        sums = np.full(batches, -1.0)
        sums[rng.integers(batches)] = 1.0 if included[0] else 0.0
    else:
        others = rng.binomial(batches - 1, plan.sample_rate, size=batches)
        sums = included[0] * (rng.random(batches) < plan.sample_rate) - others
    return [np.max(sums + plan.noise_multiplier * rng.normal(size=batches))]


def audited(bug, audits, *, correct=False):
    """Return the lower bounds by `audits` seeds, how many refute the plan, and its epsilon."""
    plan, options = BUGS[bug]
    look = SimpleNamespace(**USUAL | options)
    train = partial(epochs if plan is EPOCH else loop, "correct" if correct else bug, plan)
    claimed, proved, caught = plan.guarantee(delta=look.delta), [], 0
    for seed in range(audits):
        shape = {"canaries": look.canaries, "runs": look.runs}
        seen = observe(train, **shape, seed=seed)
        bound = seen.bound(delta=look.delta, confidence=CONFIDENCE, assume=look.assume)
        proved, caught = [*proved, bound.epsilon], caught + bound.contradicts(claimed)
    return proved, caught, claimed.epsilon


@pytest.mark.parametrize("bug", BUGS)
def test_all_planted_bugs_but_one_are_caught(bug):
    _, caught, _ = audited(bug, AUDITS)
    assert caught == 0 if bug == "one lot for two steps" else caught >= 0.8 * AUDITS
    assert audited(bug, 1, correct=True)[1] == 0


def test_audit_refutes_correct_code_at_most_as_often_as_stated():
    proved, accused, claimed = audited("noise without C", 100, correct=True)
    assert accused <= binom.isf(1e-6, 100, 1 - CONFIDENCE)
    # The audit has power: its lower bound is above a fifth of the claimed epsilon.
    assert np.median(proved[:5]) > 0.2 * claimed
