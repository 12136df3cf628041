"""Lower bounds by audits: false alarms on programs that leak most, known values, messages."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom

from dplearn import DPSGD
from dplearn.accountants.pld import PLD
from dplearn.audit import LowerBound, from_counts, from_guesses, from_scores, one_run, two_worlds
from dplearn.audit.bounds import _planned, error_limits
from dplearn.audit.theorems import allows_guesses, least_of_dp
from dplearn.core.guarantee import Guarantee
from dplearn.mechanisms import Gaussian
from dplearn.teaching.book.chapters.auditing import worst_chance
from dplearn.teaching.book.kit import oracles

EPSILON, DELTA, MU, CONFIDENCE, AUDITS = 1.0, 0.1, 1.0, 0.9, 300
# Number of false alarms in AUDITS audits that a valid bound exceeds with probability 1e-6.
MOST = int(binom.isf(1e-6, AUDITS, 1 - CONFIDENCE))
GAUSSIAN = {"assume": "gaussian", "delta": 1e-3}


def leaky_worlds(rng, runs=800):
    """Return scores with and without the canary of the leakiest (epsilon, delta)-DP program."""
    laws = oracles.leaky_response(epsilon=EPSILON, delta=DELTA)
    ratio = np.log(np.maximum(laws[0], 1e-9)) - np.log(np.maximum(laws[1], 1e-9))
    return tuple(ratio[rng.choice(len(law), size=runs, p=law)] for law in laws)


def gaussian_worlds(rng, runs=300):
    return rng.normal(MU, 1, runs), rng.normal(0, 1, runs)


def leaky_canaries(rng, canaries=80, block=20):
    """Return flags and randomised responses as scores; sometimes a block of flags is revealed."""
    included = rng.random(canaries) < 0.5
    right = rng.random(canaries) < 1 / (1 + math.exp(-EPSILON))
    scores = np.where(right, 1, -1) + rng.normal(0, 1e-3, canaries)
    if rng.random() < canaries * DELTA / block:
        scores[rng.permutation(canaries)[:block]] = 2
    return included, np.where(included, scores, -scores)


def tied_canaries(rng, canaries=80):
    """Return flags and randomised responses 0 or 1 as scores; included canaries come last."""
    included = np.sort(rng.random(canaries) < 0.5)
    right = rng.random(canaries) < 1 / (1 + math.exp(-EPSILON))
    return included, right == included


def gaussian_canaries(rng, canaries=80):
    included = rng.random(canaries) < 0.5
    return included, rng.normal(included * MU, 1)


def alarms(bound, draw, limit):
    """Count audits whose bound is above the true epsilon, `limit`; stop beyond MOST."""
    count = 0
    for rng in map(np.random.default_rng, range(AUDITS)):
        count += bound(*draw(rng)).epsilon > limit
        if count > MOST:
            break
    return count


def of_gaussian():
    return PLD().epsilon(Gaussian(1 / MU), delta=GAUSSIAN["delta"]).epsilon


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bound", "draw", "target", "good"),
    [
        (from_scores, leaky_worlds, {"delta": DELTA}, True),
        (from_scores, leaky_worlds, {"delta": 0.0}, False),
        (from_scores, leaky_worlds, {"delta": DELTA, "confidence": 0.5}, False),
        (from_scores, gaussian_worlds, GAUSSIAN, True),
        (one_run, leaky_canaries, {"delta": DELTA}, True),
        (one_run, leaky_canaries, {"delta": 0.0, "guesses": (10, 10)}, False),
        (one_run, tied_canaries, {"delta": 0.0, "guesses": (20, 20)}, True),
        (one_run, gaussian_canaries, GAUSSIAN, True),
    ],
)
def test_audits_give_few_false_alarms_only_at_the_true_delta(bound, draw, target, good):
    limit = of_gaussian() if "assume" in target else EPSILON
    target = {"confidence": CONFIDENCE} | target
    count = alarms(lambda *scores: bound(*scores, **target), draw, limit)
    assert (count <= MOST) == good, count


@pytest.mark.parametrize(("canaries", "guesses"), [(4, 4), (8, 5), (10, 10)])
def test_worst_case_false_alarm_rate_is_near_the_error_level(canaries, guesses):
    about = {"canaries": canaries, "guesses": guesses}
    for epsilon, delta in ((0.5, 0.0), (1.0, 0.02), (2.0, 0.1)):
        bounds = [
            from_guesses(**about, correct=v, delta=delta, confidence=0.8).epsilon
            for v in range(guesses + 1)
        ]
        assert bounds == sorted(bounds)
        accused = [v for v, bound in enumerate(bounds) if bound > epsilon]
        chances = [
            worst_chance(**about, correct=v, epsilon=epsilon, delta=delta)
            for v in range(guesses + 1)
        ]
        assert chances[accused[0] if accused else -1] <= 0.2 + 1e-9 or not accused
        # With one right guess fewer, the worst false alarm rate is above the level, or nearly.
        assert chances[(accused[0] if accused else guesses + 1) - 1] > 0.2 / 1.4


def test_scores_used_to_choose_the_threshold_do_not_raise_the_bound():
    rng = np.random.default_rng(0)
    result, noise = np.ones(100), rng.random(100)
    halves = np.concatenate([result, noise]), np.concatenate([-result, rng.random(100)])
    assert from_scores(*halves, delta=0.0).epsilon == 0
    assert from_scores(np.ones(200), np.zeros(200), delta=0.0).epsilon > 2.5


def false_alarm_rate(plan, canaries=1000, level=1 - CONFIDENCE):
    """Return the fraction of 100,000 audits in which a planned test refutes the true epsilon."""
    rng, shown, before, accused = np.random.default_rng(0), 0, 0, np.zeros(100_000, dtype=bool)
    worst = least_of_dp(EPSILON, 0.0)
    for share, highest, lowest in plan:
        guesses = highest + lowest
        about = {"canaries": canaries, "guesses": guesses, "chance": share * level}
        shown = shown + rng.binomial(guesses - before, 1 / (1 + math.exp(-EPSILON)), accused.size)
        rare = next(v for v in itertools.count() if not allows_guesses(worst, correct=v, **about))
        accused, before = accused | (shown >= rare), guesses
    return accused.mean()


def test_several_planned_tests_divide_the_error_level():
    """The fraction of 100,000 audits errs by 0.005 or more with probability below 1e-6."""
    plan = _planned(1000, 0.0, 1 - CONFIDENCE)
    assert len(plan) == 3 and sum(share for share, *_ in plan) == pytest.approx(1)
    assert plan[-1][1:] == (476, 476)  # 500 - 0.75 * sqrt(1000)
    assert false_alarm_rate(plan) < 1 - CONFIDENCE - 0.005
    assert false_alarm_rate([(1.0, *sizes) for _, *sizes in plan]) > 1 - CONFIDENCE + 0.005
    result, look = np.arange(1000) % 2 == 0, {"delta": 0.0}
    about = [{"guesses": a + b, "correct": a + b, "confidence": 1 - 0.1 * s} for s, a, b in plan]
    proofs = [from_guesses(canaries=1000, **counts, **look).epsilon for counts in about]
    assert one_run(result, result, confidence=CONFIDENCE, **look).epsilon == pytest.approx(
        max(proofs)
    )


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=4, max_size=20), st.randoms())
def test_bounds_ignore_the_order_of_canaries_and_never_rise_with_ties(canaries, random):
    look = {"delta": 0.0, "confidence": 0.6}
    permuted = random.sample(canaries, len(canaries))
    for guesses in (None, (1, 2), (3, 0)):
        bound = one_run(*zip(*canaries, strict=True), guesses=guesses, **look)
        assert bound == one_run(*zip(*permuted, strict=True), guesses=guesses, **look)
        broken = [score + 0.5 * random.random() for _, score in canaries]
        drawn = one_run([bit for bit, _ in canaries], broken, guesses=guesses, **look)
        assert bound.epsilon <= drawn.epsilon


def typical_run(mu, canaries):
    """Return flags and scores of a typical run: evenly spaced quantiles of two Gaussians."""
    normal = ndtri((np.arange(canaries // 2) + 0.5) / (canaries // 2))
    included = np.repeat([False, True], canaries // 2)
    return included, np.concatenate([normal, normal + mu])


# Gaussians whose epsilons at delta = 1e-5 are 1, 2, 4 and 8.
@pytest.mark.parametrize("mu", [0.268, 0.502, 0.925, 1.666])
def test_default_number_of_guesses_is_near_the_best_and_more_canaries_help(mu):
    proved, look = [], {"delta": 1e-5, "confidence": 0.95}
    for canaries in (20, 100, 300, 1000, 10_000, 100_000):
        run = typical_run(mu, canaries)
        proved.append(one_run(*run, **look).epsilon)
        if canaries in (1000, 10_000):
            sizes = np.geomspace(20, canaries // 4, 10).astype(int).tolist()
            best = max(one_run(*run, guesses=(k, k), **look).epsilon for k in sizes)
            assert proved[-1] >= 0.88 * best
    assert proved == sorted(proved) and proved[3] > 0.15


def test_bounds_from_counts_equal_known_values_and_rise_if_gaussian_noise_is_assumed():
    about = {"positives": 1000, "negatives": 1000, "delta": 1e-5, "confidence": 0.95}
    best = from_counts(true_positives=1000, false_positives=0, **about)
    assert best.epsilon == pytest.approx(5.600577, abs=1e-6)
    nothing = from_counts(true_positives=0, false_positives=1000, **about)
    assert nothing.epsilon == 0 and str(nothing).startswith("nothing is proved at delta = 1.0e-05")
    # The Gaussian with these error rates has a far larger epsilon at a small delta.
    half = {"true_positives": 841, "false_positives": 159, **about}
    assert from_counts(**half).epsilon < 1.65 < 6 < from_counts(**half, assume="gaussian").epsilon


def test_bound_is_printed_and_compared_only_with_comparable_guarantees():
    bound = LowerBound(epsilon=2.10049, delta=1e-5, confidence=0.999, method="one_run")
    text = "epsilon > 2.1 at delta = 1.0e-05, add_remove, by one_run (99.9 % confidence"
    assert str(bound) == text + ")"
    assert str(replace(bound, assume="gaussian")) == text + ", if its noise is Gaussian)"
    text = {"method": "pld", "kind": "upper", "adjacency": "add_remove"}
    for epsilon, delta, contradicted in ((2.0, 1e-5, True), (2.2, 1e-5, False), (2.0, 1e-6, True)):
        stated = Guarantee(epsilon=epsilon, delta=delta, **text)
        assert bound.contradicts(stated) is contradicted
    for change in ({"delta": 1e-4}, {"adjacency": "zero_out"}, {"kind": "approximate"}):
        with pytest.raises(ValueError, match="above at delta <= 1e-05 under add_remove"):
            bound.contradicts(Guarantee(**({"epsilon": 1.0, "delta": 1e-5} | text | change)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_guesses(canaries=9, guesses=10, correct=3, delta=0), "guesses .* <= 9"),
        (lambda: from_guesses(canaries=9, guesses=9, correct=3, delta=2), "delta in"),
        (lambda: one_run([True], [math.nan], delta=0), "finite"),
        (lambda: one_run([True], [1.0, 2.0], delta=0), "as many scores as included"),
        (lambda: one_run([True] * 9, range(9), delta=0, guesses=(9, 1)), "guesses"),
        (lambda: one_run([True], [1.0], delta=0), "2 canaries or more, got 1: one guess proves"),
        (lambda: from_scores([1.0], [0.0], delta=0), "two scores or more"),
        (lambda: from_scores([1, 2], [0, 1], delta=0, assume="gaussian"), "delta in"),
        (lambda: from_scores([1, 2], [0, 1], delta=0.1, assume="normal"), "assume one of"),
    ],
)
def test_errors_name_the_bad_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


PLAN = DPSGD(noise_multiplier=1.43, sample_rate=0.1, steps=60)
LOOKS = [1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 140]
# Largest true positive rate that the plan allows at a false positive rate of 5 %.
FOUND = float(PLD().true_positive_rate(PLAN.composed, false_positive_rate=0.05)[1])


def streams(rng, count):
    """Return the best attack's true positives, false positives and trials up to each of LOOKS."""
    new = np.diff(LOOKS, prepend=0) * 100
    found, accused = (
        np.cumsum(rng.binomial(new, rate, (count, new.size)), axis=1) for rate in (FOUND, 0.05)
    )
    return found, accused, np.cumsum(new)


@pytest.mark.slow
def test_repeated_planned_tests_keep_the_stated_false_alarm_rate():
    found, accused, people = streams(np.random.default_rng(4), 1000)
    limits = 1 - 0.05 / len(LOOKS)
    pairs = {
        (k, f, n): error_limits(k, n, f, n, confidence=limits)
        for ks, fs in zip(found.tolist(), accused.tolist(), strict=True)
        for k, f, n in zip(ks, fs, people.tolist(), strict=True)
    }
    # True positive rates increase, so that of the next lower grid point refutes more often.
    grid = np.geomspace(0.01, 0.6, 80)
    curve = PLD().true_positive_rate(PLAN.composed, false_positive_rate=grid)[1]
    wrong = {
        key: 1 - missed > curve[min(np.searchsorted(grid, alarms) - 1, grid.size - 1)]
        for key, (alarms, missed) in pairs.items()
    }
    accusing = sum(
        any(wrong[k, f, n] for k, f, n in zip(ks, fs, people.tolist(), strict=True))
        for ks, fs in zip(found.tolist(), accused.tolist(), strict=True)
    )
    assert 0 < accusing <= 50, accusing


@pytest.mark.slow
def test_counts_of_a_program_with_too_little_noise_refute_its_plan():
    claimed = PLAN.guarantee(delta=1e-5)
    early, late = (5, 100, 5, 100), (4000, 20_000, 1000, 20_000)
    bound = two_worlds([early, late], plan=PLAN, delta=1e-5, planned=12)
    real = replace(PLAN, noise_multiplier=0.5).guarantee(delta=1e-5)
    assert bound.contradicts(claimed) and bound.epsilon < real.epsilon
    assert not two_worlds([early], plan=PLAN, delta=1e-5, planned=12).epsilon
    remaining = (round(FOUND * 20_000), 20_000, 1000, 20_000)
    near = two_worlds([remaining], plan=PLAN, delta=1e-5, planned=1)
    assert 0.8 * claimed.epsilon < near.epsilon < claimed.epsilon
    assert "of a run with other noise" in str(near)
    with pytest.raises(ValueError, match="planned"):
        two_worlds([early, late], plan=PLAN, delta=1e-5, planned=1)
