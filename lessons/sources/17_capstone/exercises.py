"""Exercises of lesson 17, the capstone: an update, a plan, an audit, and the whole step."""

import math

import numpy as np

from dplearn.run import DPSGD
from dplearn.teaching.classroom import Exercise, Mistake, Program
from dplearn.teaching.classroom.checks import exercise_of


def _other(rule):
    """Return an update that applies `rule` to each weight and its sum."""
    return lambda weights, total, rate, expected: [
        rule(w, s, rate, expected, len(weights)) for w, s in zip(weights, total, strict=True)
    ]


_update = Program(
    key="17.1",
    right=_other(lambda w, s, rate, lot, d: w - rate * s / lot),
    cases=(
        ([1.0], [8.0], 0.5, 4),
        ([0.0, 2.0], [3.0, -6.0], 2.0, 3),
        ([1.0] * 3, [0.5] * 3, 1.0, 5),
    ),
    praise="The same line serves with noise and without it, because the divisor is public.",
    mistakes=(
        Mistake(
            _other(lambda w, s, rate, lot, d: w + rate * s / lot),
            ("Does the loss fall along the gradient?", "The gradient points uphill: subtract it."),
        ),
        Mistake(
            _other(lambda w, s, rate, lot, d: w - rate * s),
            ("Is that the sum, or the mean?", "Divide the sum by expected."),
        ),
        Mistake(
            _other(lambda w, s, rate, lot, d: w - s / lot),
            ("How long is your step?", "The learning rate is missing: rate * s / expected."),
        ),
        Mistake(
            _other(lambda w, s, rate, lot, d: w - rate * s / d),
            (
                "What is averaged, records or weights?",
                "You divide by the number of weights; divide by expected.",
            ),
        ),
        Mistake(
            _other(lambda w, s, rate, lot, d: -rate * s / lot),
            ("Where does the step begin?", "That is the change alone; begin with w."),
        ),
        Mistake(
            _other(lambda w, s, rate, lot, d: (w - rate * s) / lot),
            (
                "What is divided by the lot, the step or the weight?",
                "Only the sum is divided: w - rate * s / expected, without brackets.",
            ),
        ),
        Mistake(
            _other(lambda w, s, rate, lot, d: w - rate * s * lot),
            ("Does a larger lot make a longer step?", "Divide by expected; you multiplied."),
        ),
    ),
    hints=(
        "Begin with w, and subtract rate times the mean.",
        "w - rate * s / expected",
    ),
)


def _longest(epsilon: float, accountant: str = "pld", rate: float = 256 / 1438) -> int:
    """Return the largest number of steps within `epsilon` at delta = 1e-4."""

    def cost(steps):
        plan = DPSGD(noise_multiplier=2.5, sample_rate=rate, steps=steps)
        return plan.guarantee(accountant, delta=1e-4).epsilon

    low, high = 1, 400  # affordable, and not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= epsilon else (low, middle)
    return low


_STEPS = _longest(1.5)

_plan = Exercise(
    key="17.2",
    right=_STEPS,
    praise="Seven tenths of the epsilon buy half of the steps: it grows like a root.",
    mistakes=(
        Mistake(
            _STEPS + 1,
            (
                "Is epsilon still at most 1.5 after your last step?",
                "Nearly: that is the first number of steps that exceeds 1.5.",
            ),
        ),
        Mistake(
            int(60 * 1.5 / 2.122),
            (
                "Does epsilon grow in proportion to the steps?",
                "You scaled the steps of the plan; ask the accountant for other numbers of steps.",
            ),
        ),
        Mistake(
            _longest(1.5, "rdp"),
            (
                "True, but is it what the pld accountant allows?",
                "That is the bound by Rényi divergences; use guarantee with its default, pld.",
            ),
        ),
        Mistake(
            _longest(1.5, rate=1.0),
            (
                "Are lots drawn in your plan?",
                "That is without sampling; the plan has a sample_rate.",
            ),
        ),
    ),
    hints=(
        "Change only the steps of the plan. At which does epsilon pass 1.5?",
        "replace(plan, steps=T).guarantee(delta=1e-4) for T from 1 on: the last below 1.5.",
    ),
)

_CHANCE = 0.001 ** (1 / 300)
_REFUTED = math.log(_CHANCE / (1 - _CHANCE))

_all_right = Exercise(
    key="17.3",
    right=_REFUTED,
    praise="No audit of this size can prove more, whatever a program leaks.",
    mistakes=(
        Mistake(
            _CHANCE,
            ("Probability, or epsilon?", "That is p; epsilon = ln(p/(1 - p))."),
        ),
        Mistake(
            math.log(300),
            (
                "What must be rarer than one in a thousand?",
                "That 300 guesses are right: p^300 = 0.001, and then epsilon = ln(p/(1 - p)).",
            ),
        ),
        Mistake(
            math.log(0.999 ** (1 / 300) / (1 - 0.999 ** (1 / 300))),
            (
                "How often may a true claim be accused?",
                "Once in a thousand times: p^300 = 0.001, not 1 - 0.001.",
            ),
        ),
        Mistake(
            math.log(0.001 ** (1 / 1000) / (1 - 0.001 ** (1 / 1000))),
            (
                "How many guesses are there?",
                "1000 canaries, but only 300 guesses: p^300 = 0.001.",
            ),
        ),
        Mistake(
            math.log(0.0005 ** (1 / 300) / (1 - 0.0005 ** (1 / 300))),
            (
                "How many sides has this limit?",
                "One: all of the thousandth is spent on too many right guesses.",
            ),
        ),
    ),
    hints=(
        "Which chance p of one right guess makes 300 of them a one-in-a-thousand event?",
        "p = 0.001 ** (1/300), and epsilon = ln(p/(1 - p)).",
    ),
)


# The whole step: draw, clip, sum, noise, divide.


def _clip(rows, norm):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1.0, norm / np.maximum(lengths, 1e-300))


def _step_with(clip=_clip, width=lambda norm, sigma, expected: sigma * norm, divide=None, lot=None):
    """Return a private step with one part replaced."""

    def private_step(rows, norm, sigma, rate, expected, rng):
        coins = rng.random(len(rows)) < rate if lot is None else lot(len(rows), rate, rng)
        total = clip(rows[coins], norm).sum(axis=0)
        noise = width(norm, sigma, expected) * rng.standard_normal(rows.shape[1])
        return (total + noise) / (divide(coins) if divide else expected)

    return private_step


def _fixed(count, rate, rng):
    chosen = np.zeros(count, dtype=bool)
    chosen[rng.choice(count, round(count * rate), replace=False)] = True
    return chosen


def _clipped_mean(rows, norm, sigma, rate, expected, rng):
    mean = rows[rng.random(len(rows)) < rate].sum(axis=0) / expected
    mean = mean * min(1.0, norm / max(float(np.linalg.norm(mean)), 1e-300))
    return mean + sigma * norm / expected * rng.standard_normal(rows.shape[1])


def _both_halves(private_step, rows, norm, sigma, expected):
    """Measure the noisy sum of all rows as in 10.5, and the samples as in 6.1."""

    def lot_sum(batches, norm, sigma, rng):
        everybody, rng = np.concatenate(batches), np.random.default_rng(rng.getrandbits(64))
        return expected * np.asarray(private_step(everybody, norm, sigma, 1.0, expected, rng))

    def draw(n, q, rng):
        rng = np.random.default_rng(rng.getrandbits(64))
        return np.flatnonzero(np.asarray(private_step(np.eye(n), 2.0, 0.0, q, 1, rng)) > 0.1)

    summed = exercise_of("10.5").measure(lot_sum, [rows], norm, sigma)
    return summed | exercise_of("6.1").measure(draw, 20, 0.3)


def _row(*first):
    """Return a gradient of ten coordinates."""
    return [*first, *[0.0] * (10 - len(first))]


_whole_step = Program(
    key="17.4",
    right=_step_with(),
    measure=_both_halves,
    cases=(
        (np.array([_row(0.3, 0.4)]), 1.0, 2.0, 4),
        (np.array([_row(6.0, 8.0), _row(0.1, 0.2), _row(-5.0, 12.0)]), 2.5, 1.5, 2),
    ),
    rtol_mistakes=0.12,
    seconds=60.0,
    praise="Coins, clipping, one draw of noise, and a fixed divisor: hand it to your neighbour.",
    mistakes=(
        Mistake(
            _step_with(clip=lambda rows, norm: rows),
            ("How long may a row be?", "Nothing is clipped: shorten each row to the norm."),
        ),
        Mistake(
            _step_with(width=lambda norm, sigma, expected: sigma),
            (
                "In which unit is sigma?",
                "You forget C: the noise on the sum is sigma times norm.",
            ),
        ),
        Mistake(
            _step_with(width=lambda norm, sigma, expected: sigma * norm / expected),
            (
                "How wide is the noise on the sum, and how wide on the mean?",
                "You divide twice: divide sum and noise together, once.",
            ),
        ),
        Mistake(
            _step_with(divide=lambda coins: max(coins.sum(), 1)),
            (
                "What does your divisor tell about the lot?",
                "You divide by the size that was drawn; divide by `expected`.",
            ),
        ),
        Mistake(
            _step_with(lot=_fixed),
            (
                "May the size of your lot vary?",
                "That is a lot of fixed size; give each record its own coin.",
            ),
        ),
        Mistake(
            _clipped_mean,
            (
                "How far can one record move your mean?",
                "You clip the mean of the lot; clip each row, and then add.",
            ),
        ),
    ),
    hints=(
        "Only what differs is shown: the sum without noise, the noise, or who takes part.",
        "lot_sum([rows[draw(len(rows), rate, rng)]], norm, sigma, rng) / expected, written out.",
    ),
)

EXERCISES = (_update, _plan, _all_right, _whole_step)
