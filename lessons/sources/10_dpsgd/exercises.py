"""Exercises of lesson 10, one step of private training and the price of many."""

import math
import random

import numpy as np

from dplearn.run import DPSGD
from dplearn.teaching.book import update_noise
from dplearn.teaching.classroom import Exercise, Mistake, Program, settled


def _shortened(row, norm):
    return [min(1, norm / math.hypot(*row)) * x for x in row]


def _times(factor):
    """Return a function that multiplies a row by `factor` of it, its length and the norm."""
    return lambda row, norm: [factor(row, math.hypot(*row), norm) * x for x in row]


_cut = Program(
    key="10.1",
    right=_shortened,
    cases=(([6.0, 8.0], 2.0), ([0.3, 0.4], 1.0), ([2.0, -3.0, 6.0], 3.5), ([1.0, 2.0, 2.0], 3.0)),
    praise="Every arrow now ends inside the ball, and keeps its direction.",
    mistakes=(
        Mistake(
            _times(lambda row, length, norm: norm / length),
            (
                "What does your factor do to a short arrow?",
                "It lengthens short arrows; take the smaller of 1 and norm / length.",
            ),
        ),
        Mistake(
            _times(lambda row, length, norm: max(1, norm / length)),
            (
                "Is a long arrow shorter after your cut?",
                "You take the larger of two factors; take min(1, norm / length).",
            ),
        ),
        Mistake(
            _times(lambda row, length, norm: min(1, length / norm)),
            (
                "By which factor does an arrow become half as long?",
                "Your quotient is upside down: norm / length.",
            ),
        ),
        Mistake(
            _times(lambda row, length, norm: min(length, norm)),
            (
                "Is that a factor, or a length?",
                "It is the new length; divide it by the old one.",
            ),
        ),
        Mistake(
            _times(lambda row, length, norm: min(1, norm / length**2)),
            (
                "How long is an arrow after your cut?",
                "You divide by the square of the length; math.hypot is the length already.",
            ),
        ),
        Mistake(
            _times(lambda row, length, norm: min(1, norm / sum(map(abs, row)))),
            (
                "How long is the arrow with coordinates 3 and 4?",
                "Its length is 5, math.hypot(3, 4), and not the sum of the coordinates.",
            ),
        ),
        Mistake(
            _times(lambda row, length, norm: min(1, norm / max(map(abs, row)))),
            (
                "Is the arrow with coordinates 3 and 4 as long as its larger coordinate?",
                "Its length is 5, math.hypot(3, 4), and not its largest coordinate.",
            ),
        ),
    ),
    hints=(
        "A long arrow gets the factor norm / length, and a short one the factor 1.",
        "min(1, norm / length)",
    ),
)

_NORM, _SIGMA, _LOT = 2.5, 1.2, 300
_ON_THE_MEAN = update_noise(noise_multiplier=_SIGMA, max_grad_norm=_NORM, expected_batch=_LOT)

_noise_on_the_mean = Exercise(
    key="10.2",
    right=_ON_THE_MEAN,
    praise="On the sum the noise is as wide as C times the multiplier; the mean divides it by B.",
    mistakes=(
        Mistake(
            _SIGMA * _NORM,
            (
                "Is that the noise on the sum or on the mean?",
                "That is on the sum; the mean divides sum and noise by B = 300.",
            ),
        ),
        Mistake(
            _ON_THE_MEAN**2,
            (
                "What is the unit of your number? Square gradient, or gradient?",
                "That is the variance; the standard deviation is its square root.",
            ),
        ),
        Mistake(
            math.sqrt(_SIGMA * _NORM) / _LOT,
            (
                "You took a root. Of which quantity is sigma C the value?",
                "sigma C is already the standard deviation, not the variance: no root.",
            ),
        ),
        Mistake(
            _SIGMA * _NORM / math.sqrt(_LOT),
            (
                "How often is noise drawn in one step?",
                "A root of B is for one draw per record; noise is drawn once: divide by B.",
            ),
        ),
        Mistake(
            _SIGMA / _LOT,
            (
                "Double the clipping norm: would your number change?",
                "The noise multiplier is in units of C; multiply by C = 2.5.",
            ),
        ),
        Mistake(
            _NORM / _LOT,
            (
                "Is that the noise, or how far one record can move the mean?",
                "C/B is the sensitivity of the mean; the noise is sigma = 1.2 times that.",
            ),
        ),
        Mistake(
            2 * _ON_THE_MEAN,
            (
                "Which neighbours does the theorem speak of?",
                "Twice the length is for replacing a record; here one is added or removed.",
            ),
        ),
    ),
    hints=(
        "Follow the noise through point 3 of the algorithm: when is it added, and what divides it?",
        "It is added to the sum with standard deviation sigma C; then everything is divided by B.",
    ),
)


def _price(expected: int, steps: int, accountant: str = "pld") -> float:
    """Return epsilon for lots of `expected` among 60,000 people."""
    plan = DPSGD(noise_multiplier=1.1, sample_rate=expected / 60_000, steps=steps)
    return plan.guarantee(accountant, delta=1e-5).epsilon


_micro_batches = Exercise(
    key="10.3",
    right=_price(512, 1758),
    praise="The lot decides; the size of the card does not.",
    mistakes=(
        Mistake(
            _price(128, 7032),
            (
                "Whose coins decide who takes part in a step?",
                "You counted micro-batches; q = 512/60000 and one step is one lot.",
            ),
        ),
        Mistake(
            _price(128, 1758),
            (
                "The number of steps fits. And the sample rate?",
                "q is the expected lot over N, 512/60000; the card's 128 rows play no part.",
            ),
        ),
        Mistake(
            _price(512, 7032),
            (
                "The sample rate fits. How often are the weights updated?",
                "Noise is added once per lot: 15 * 60000/512 steps, not once per micro-batch.",
            ),
        ),
        Mistake(
            _price(512, 15),
            (
                "What is one step?",
                "15 is the number of epochs; each of them has 60000/512 steps.",
            ),
        ),
        Mistake(
            _price(512, 118),
            (
                "Did the training stop after one epoch?",
                "Those are the steps of a single epoch; there are 15 of them.",
            ),
        ),
        Mistake(
            _price(512, 1758, "rdp"),
            (
                "True, but is it what the pld accountant says?",
                "That is the bound by Rényi divergences; use guarantee with its default, pld.",
            ),
        ),
    ),
    hints=(
        "Write down q and T of the lot first. Which of the numbers in the text do they need?",
        "q = 512/60000, T = 15 * 60000/512 rounded up; then DPSGD(...).guarantee(delta=1e-5).",
    ),
)


def _clipped_mean(rows: np.ndarray, norm: float) -> np.ndarray:
    mean = rows.mean(axis=0)
    return mean * min(1.0, norm / float(np.linalg.norm(mean)))


def _ratio_of_version_a(*, norm: float, sigma: float, expected: int) -> float:
    """Return the noise divided by the largest change, from one end of the ball to the other."""
    crowd = -np.ones((expected - 1, 2))
    joined = np.vstack([crowd, [[1e6, 1e6]]])
    change = np.linalg.norm(_clipped_mean(joined, norm) - _clipped_mean(crowd, norm))
    return sigma * norm / expected / float(change)


_RATIO = _ratio_of_version_a(norm=0.5, sigma=4.0, expected=512)

_bug_hunt = Exercise(
    key="10.4",
    right=_RATIO,
    praise="Noise over the largest move, and version a is a thousandth of what it should be.",
    mistakes=(
        Mistake(
            4 / 512,
            (
                "That is one of the three. Can one record move another version farther?",
                "It is version c. In version a, one record can move the clipped mean by 2C.",
            ),
        ),
        Mistake(
            8.0,
            (
                "Is that the smallest, or the largest?",
                "That is version b, which has too much noise; the other two have too little.",
            ),
        ),
        Mistake(
            4.0,
            (
                "That is what it should be. Every version has a slip.",
                "Compare each version with noisy_sum: what is clipped, and what is added when?",
            ),
        ),
        Mistake(
            2.0,
            (
                "The move is right. How wide is the noise in version a?",
                "Version a adds noise of sigma C / B to the mean: divide by B.",
            ),
        ),
        Mistake(
            8 / 512,
            (
                "Which way does the factor 2 go?",
                "A longer move makes the ratio smaller: divide by 2C.",
            ),
        ),
        Mistake(
            1 / _RATIO,
            (
                "Noise over move, or move over noise?",
                "Turn your number upside down: the noise stands above.",
            ),
        ),
        Mistake(
            4 * 0.5 / 512 / 2,
            (
                "Does your ratio have a unit?",
                "The move is 2C, not 2: C cancels out.",
            ),
        ),
    ),
    hints=(
        "Take each version alone. What can one record with an enormous gradient do to the result?",
        "Version a: noise sigma C/B, and the clipped mean can move by 2C, across the ball.",
    ),
)


# A noisy sum of a lot that comes in micro-batches.


def _clip(row, norm):
    length = math.hypot(*row)
    return _scaled(row, norm / length) if length > norm else row


def _scaled(row, factor):
    return [factor * x for x in row]


def _added(rows):
    return [sum(column) for column in zip(*rows, strict=True)]


def _lot_sum(batches, norm, sigma, rng):
    total = _added(_clip(row, norm) for batch in batches for row in batch)
    return [x + sigma * norm * rng.gauss(0, 1) for x in total]


def _sum_and_noise(lot_sum, batches, norm, sigma):
    """Return the sum without noise, and statistics of the noise in thousands of calls.

    Noise that is normal and independent is refused in fewer than one of 10,000 checks.
    """
    total = lot_sum(batches, norm, 0.0, random.Random(0))
    if not sigma or not hasattr(total, "__len__") or len(total) != len(batches[0][0]):
        return {"sum without noise": total}
    rng = random.Random(1)
    calls = [lot_sum(batches, norm, sigma, rng) for _ in range(2000)]
    columns = [
        [float(x) - s for x in column]
        for column, s in zip(zip(*calls, strict=True), map(float, total), strict=True)
    ]
    mean, width, unit = _standardised([x for column in columns for x in column])
    size, root = len(unit), math.sqrt(len(columns))
    _, of_sum, _ = _standardised([sum(call) for call in zip(*columns, strict=True)])
    # The shape needs many draws: a sum of twelve uniforms has a fourth moment of 2.9.
    zeros = [[[0.0] * 200]]
    wide = (lot_sum(zeros, norm, sigma, rng) for _ in range(1000))
    _, _, unit = _standardised([float(x) for call in wide for x in call])
    far, rare = sum(abs(x) > 3 for x in unit) / len(unit), math.erfc(3 / math.sqrt(2))
    fourth = sum(x**4 for x in unit) / len(unit)
    measured = {  # value, truth, standard error
        "deviation of the noise": (width, sigma * norm, width / math.sqrt(2 * size)),
        "mean / deviation": (mean / (width or 1.0), 0.0, 1 / math.sqrt(size)),
        "deviation of its sum / its own": (of_sum / (width or 1.0), root, root / math.sqrt(4000)),
        "fourth moment": (fourth, 3.0, math.sqrt(24 / len(unit))),
        "share beyond 3 deviations": (far, rare, math.sqrt(rare / len(unit))),
        "largest correlation": (_largest_correlation(columns, mean), 0.0, 0.05),
    }
    return {"sum without noise": total, **{k: settled(*v) for k, v in measured.items()}}


def _standardised(noise):
    """Return the mean and deviation of numbers, and the standardised numbers."""
    mean = sum(noise) / len(noise)
    width = math.sqrt(sum((x - mean) ** 2 for x in noise) / len(noise))
    return mean, width, [(x - mean) / (width or 1.0) for x in noise]


def _largest_correlation(columns, mean):
    """Return the largest correlation of two coordinates or their sizes, in one call or two."""
    columns = [
        *(column[:-1] for column in columns),
        *([abs(x - mean) for x in column[:-1]] for column in columns),
        *(column[1:] for column in columns),
    ]
    units = []
    for column in columns:
        middle = sum(column) / len(column)
        length = math.hypot(*(x - middle for x in column))
        units.append([(x - middle) / length for x in column] if length else None)
    largest = 0.0
    for i, one in enumerate(units):
        for other in units[:i]:
            product = one and other and sum(map(float.__mul__, one, other))
            largest = max(largest, 1.0 if product is None else abs(product))
    return largest


def _with_clipping(clip):
    """Return a function that adds normal noise to the sum of rows clipped by `clip`."""

    def lot_sum(batches, norm, sigma, rng):
        total = _added(row for batch in batches for row in clip(batch, norm))
        return [x + sigma * norm * rng.gauss(0, 1) for x in total]

    return lot_sum


def _noise_of(scale, draw=lambda rng, n: [rng.gauss(0, 1) for _ in range(n)]):
    def lot_sum(batches, norm, sigma, rng):
        total, width = _lot_sum(batches, norm, 0.0, rng), scale(batches, norm, sigma)
        return [x + width * z for x, z in zip(total, draw(rng, len(total)), strict=True)]

    return lot_sum


def _std(batches, norm, sigma):
    return sigma * norm


def _normalised(row, norm):
    return _scaled(row, norm / max(math.hypot(*row), 1e-300))


def _laplace(rng):
    return rng.expovariate(1.0) - rng.expovariate(1.0)


def _centred(rng, n):
    draws = [rng.gauss(0, 1) for _ in range(n)]
    mean = sum(draws) / n
    return [z - mean for z in draws]


def _row(*first):
    """Return a gradient of ten coordinates."""
    return [*first, *[0.0] * (10 - len(first))]


_noisy_lot = Program(
    key="10.5",
    right=_lot_sum,
    measure=_sum_and_noise,
    cases=(
        ([[_row(3.0, 4.0)]], 1.0, 0.0),
        ([[_row(0.3, 0.4)]], 1.0, 0.0),
        ([[_row(0.3, 0.4), _row(3.0, 4.0)]], 1.0, 2.0),
        ([[_row(6.0, 8.0), _row()], [_row(0.1, 0.2)], [_row(-5.0, 12.0)]], 2.5, 1.5),
    ),
    rtol_mistakes=0.06,
    seconds=20.0,
    praise="Clip each record, add everything up, add noise once.",
    mistakes=(
        Mistake(
            _with_clipping(
                lambda rows, norm: [[max(-norm, min(norm, x)) for x in r] for r in rows]
            ),
            (
                "How long is a vector with two coordinates of 1?",
                "You clip coordinates, not the norm: shorten the whole row.",
            ),
        ),
        Mistake(
            _with_clipping(lambda rows, norm: [_clip(_added(rows), norm)]),
            (
                "How far can one record move your sum?",
                "You clip the sum of a batch; clip each row, and then add.",
            ),
        ),
        Mistake(
            _with_clipping(lambda rows, norm: [_normalised(row, norm) for row in rows]),
            (
                "What do you do to a row that is shorter than the norm?",
                "You lengthen short rows; multiply by min(1, norm / length).",
            ),
        ),
        Mistake(
            _with_clipping(lambda rows, norm: rows),
            ("How long may a row be?", "Nothing is clipped: shorten each row to the norm."),
        ),
        Mistake(
            _noise_of(lambda batches, norm, sigma: math.sqrt(len(batches)) * sigma * norm),
            (
                "How often do you add noise?",
                "Micro-batches are one lot: add noise once, after the last of them.",
            ),
        ),
        Mistake(
            _noise_of(lambda batches, norm, sigma: sigma),
            (
                "In which unit is sigma?",
                "Sigma is in units of the sensitivity: the noise is sigma times norm.",
            ),
        ),
        Mistake(
            _noise_of(lambda batches, norm, sigma: sigma * norm / sum(map(len, batches))),
            (
                "Is this the noise of a sum, or of a mean?",
                "You divided the noise by the number of rows; it belongs to the sum.",
            ),
        ),
        Mistake(
            _noise_of(lambda batches, norm, sigma: math.sqrt(sigma * norm)),
            (
                "Is sigma * norm a variance, or a standard deviation?",
                "You took its root: sigma * norm is the standard deviation already.",
            ),
        ),
        Mistake(
            _noise_of(lambda batches, norm, sigma: (sigma * norm) ** 2),
            (
                "What does your function for normal noise ask for, a variance?",
                "rng.gauss asks for the standard deviation, sigma * norm, not its square.",
            ),
        ),
        Mistake(
            _noise_of(lambda batches, norm, sigma: sum(map(len, batches)) ** 0.5 * sigma * norm),
            (
                "How many draws are in your sum?",
                "You add noise to each row; it belongs to the lot, once.",
            ),
        ),
        Mistake(
            _noise_of(_std, lambda rng, n: [rng.gauss(0, 1)] * n),
            (
                "Whoever knows one coordinate of your noise, what do they know of another?",
                "The coordinates share their noise; draw an independent number for each.",
            ),
        ),
        Mistake(
            _noise_of(_std, _centred),
            (
                "What do the coordinates of your noise add up to?",
                "To zero: the sum of all coordinates comes out exact. Do not centre the draws.",
            ),
        ),
        Mistake(
            _noise_of(_std, lambda rng, n: [_laplace(rng) for _ in range(n)]),
            (
                "Which noise does the accountant suppose?",
                "This is Laplace noise; the guarantee of this lesson is that of normal noise.",
            ),
        ),
        Mistake(
            _noise_of(
                _std, lambda rng, n: [math.sqrt(12) * (rng.random() - 0.5) for _ in range(n)]
            ),
            (
                "Without Anna, can your function return all that it can return with her?",
                "Bounded noise makes some sums impossible without her: no epsilon. Draw it normal.",
            ),
        ),
    ),
    hints=(
        "Only what differs is shown: the sum at sigma = 0, or the noise of 3000 calls, which is "
        "normal, with a draw of its own for each coordinate.",
        "[x + rng.gauss(0, sigma * norm) for x in total], once.",
    ),
)

EXERCISES = (_cut, _noise_on_the_mean, _micro_batches, _bug_hunt, _noisy_lot)
