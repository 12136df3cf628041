"""Exercises of lesson 11, groups, the price of a count, and the size of a lot."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import root_scalar

from dplearn.run import DPSGD
from dplearn.teaching.book import adaptive_clipping_multiplier, grouped_noise_multiplier
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _root(function: Callable[[float], float], lower: float, upper: float) -> float:
    return root_scalar(function, bracket=(lower, upper), xtol=1e-9).root


def _left(average):
    """Return a function of the run, by what it makes of the noise of a step, sigma C and lot."""
    return lambda sigma, norm, lot, steps: average(sigma * norm / lot, sigma * norm, lot, steps)


_noise_of_run = Program(
    key="11.1",
    right=_left(lambda step, total, lot, steps: step / math.sqrt(steps)),
    cases=((1.0, 1.0, 100, 100), (0.5, 2.0, 64, 400), (4.0, 0.5, 512, 80), (2.0, 3.0, 10, 1)),
    praise="Four times the steps leave half the noise.",
    mistakes=(
        Mistake(
            _left(lambda step, total, lot, steps: step / steps),
            (
                "Do standard deviations of independent noises add, or variances?",
                "Variances add, so the average has the root: divide by steps**0.5.",
            ),
        ),
        Mistake(
            _left(lambda step, total, lot, steps: step * math.sqrt(steps)),
            (
                "Is that the noise of a sum, or of an average?",
                "That is the sum of all noises; the average divides it by steps.",
            ),
        ),
        Mistake(
            _left(lambda step, total, lot, steps: step * steps),
            (
                "Does the average become noisier with every step?",
                "You add the noises as if they were equal; divide by steps**0.5.",
            ),
        ),
        Mistake(
            _left(lambda step, total, lot, steps: step),
            (
                "Does it not matter how many noises are averaged?",
                "That is the noise of one step; divide it by steps**0.5.",
            ),
        ),
        Mistake(
            _left(lambda step, total, lot, steps: step**2 / steps),
            (
                "Is that a standard deviation, or a variance?",
                "That is the variance of the average; take its square root.",
            ),
        ),
        Mistake(
            _left(lambda step, total, lot, steps: total / math.sqrt(steps)),
            (
                "Where has the lot gone?",
                "Begin with of_a_step, which is divided by the lot already.",
            ),
        ),
        Mistake(
            _left(lambda step, total, lot, steps: step / math.sqrt(lot)),
            (
                "How many noises does the run average?",
                "There is one noise for each step: divide by the root of steps, not of lot.",
            ),
        ),
    ),
    hints=(
        "What is the variance of a sum of independent noises, and of their average?",
        "of_a_step / steps**0.5",
    ),
)

_Z = np.array([2.0, 3.0, 6.0])
_TOGETHER = grouped_noise_multiplier(noise_multipliers=_Z)

_three_layers = Exercise(
    key="11.2",
    right=_TOGETHER,
    praise="Inverse squares add, and the result lies below the smallest of the three.",
    mistakes=(
        Mistake(
            math.sqrt(3) * _TOGETHER,
            (
                "Your number is larger than 2. Does the first layer alone not tell more than that?",
                "You took the mean of the inverse squares; they add, there is no 1/M.",
            ),
        ),
        Mistake(
            3 / float(np.sum(1 / _Z)),
            (
                "Do losses of Gaussian noise add as they are, or squared? And is it a mean?",
                "That is the harmonic mean; add 1/z², and take the inverse root of the sum.",
            ),
        ),
        Mistake(
            1 / float(np.sum(1 / _Z)),
            (
                "Too much caution. How do the sides of a right angle add?",
                "You added 1/z; the groups stand at right angles, so 1/z² adds.",
            ),
        ),
        Mistake(
            float(np.sum(_Z**2)) ** 0.5,
            (
                "More groups, more told. Does your number fall when a group is added?",
                "Squares of the noise add when noises add; here losses add: 1/z².",
            ),
        ),
        Mistake(
            float(np.sum(_Z**-2.0)),
            (
                "Is that a multiplier, or something that shrinks as noise grows?",
                "That is the sum of 1/z², which is 1/sigma²; take the inverse root.",
            ),
        ),
        Mistake(
            1 / float(np.sum(_Z**-2.0)),
            (
                "If all three z were doubled, would your number double?",
                "That is sigma squared; the square root is missing.",
            ),
        ),
        Mistake(
            2.0,
            (
                "The weakest group is where it begins. Do the others tell nothing?",
                "The smallest multiplier ignores the other two; their 1/z² come on top.",
            ),
        ),
        Mistake(
            float(np.mean(_Z)),
            (
                "Could three layers together be better protected than the first alone?",
                "That is the arithmetic mean; add 1/z² and take the inverse root.",
            ),
        ),
    ),
    hints=(
        "Rescale each layer to unit noise. How long is the arrow that one record can add?",
        "Its parts have lengths 1/2, 1/3, 1/6; sigma is 1 over the length of the whole arrow.",
    ),
)


def _least_count_noise(sigma: float, allowed: float) -> float:
    """Where the gradients' multiplier is `allowed` times that of the run."""

    def excess(count_noise: float) -> float:
        asked = {"noise_multiplier": sigma, "bit_noise": count_noise}
        return adaptive_clipping_multiplier(**asked) - allowed * sigma

    return _root(excess, 0.501 * sigma, 1000 * sigma)


_COUNT_NOISE = _least_count_noise(4.0, 1.02)

_price_of_a_count = Exercise(
    key="11.3",
    right=_COUNT_NOISE,
    praise="About ten records of noise on a count of some 256: a cheap and useful answer.",
    mistakes=(
        Mistake(
            2 * _COUNT_NOISE,
            (
                "How far can one record move the count?",
                "By 1/2, not by 1: the count's multiplier is 2 sigma_b.",
            ),
        ),
        Mistake(
            _COUNT_NOISE / 2,
            (
                "How far can one record move the count, and which way does that enter?",
                "The count's multiplier is sigma_b divided by 1/2, that is 2 sigma_b.",
            ),
        ),
        Mistake(
            _COUNT_NOISE / 4,
            (
                "For which noise multiplier of the run is that right?",
                "That is for a run with multiplier 1; here it is 4.",
            ),
        ),
        Mistake(
            4 / (2 * math.sqrt(1 - 1 / 1.02)),
            (
                "Near, but something is not squared.",
                "Inverse squares subtract: 1 - 1/r², not 1 - 1/r, with r the ratio of the noises.",
            ),
        ),
        Mistake(
            4 / (2 * (1 - 1.02**-2)),
            (
                "Solve once more for sigma_b: what is it that stands alone at last?",
                "(2 sigma_b)^-2 stands alone; a square root is still to be taken.",
            ),
        ),
        Mistake(
            4 / (2 * math.sqrt(1.02**2 - 1)),
            (
                "Close. Which of the two inverse squares is the larger one?",
                "1/4² - 1/(r * 4)² is what the count may use: 1 - 1/r², not r² - 1.",
            ),
        ),
        Mistake(
            1.02 * 4,
            (
                "Which of the two noises is that?",
                "That is the multiplier of the gradients; the noise on the count is asked for.",
            ),
        ),
    ),
    hints=(
        "How much of the inverse square 1/4² may the count take for itself?",
        "Solve (4^-2 - (2 sigma_b)^-2)^(-1/2) = r * 4 for sigma_b, r the ratio allowed.",
    ),
)

_PEOPLE, _EPOCHS = 20_000, 10


def _least_noise(lot: int, steps: int, accountant: str = "pld") -> float:
    """By bisection on what a plan says of itself."""

    def excess(log_sigma: float) -> float:
        plan = DPSGD(noise_multiplier=math.exp(log_sigma), sample_rate=lot / _PEOPLE, steps=steps)
        return math.log(plan.guarantee(accountant, delta=1e-5).epsilon / 2)

    return math.exp(_root(excess, -1.0, 3.0))


_T_SMALL, _T_LARGE = math.ceil(_EPOCHS * _PEOPLE / 128), math.ceil(_EPOCHS * _PEOPLE / 2048)
_SMALL, _LARGE = _least_noise(128, _T_SMALL), _least_noise(2048, _T_LARGE)
_ONE_STEP = (_SMALL / 128) / (_LARGE / 2048)
_RATIO = _ONE_STEP / math.sqrt(_T_SMALL / _T_LARGE)

_larger_lots = Exercise(
    key="11.4",
    right=_RATIO,
    praise="Sixteen times the lot and a third of the noise gone, for no privacy at all.",
    mistakes=(
        Mistake(
            _ONE_STEP,
            (
                "Is that the noise of one step, or of the run?",
                "There are fewer large lots to average over: divide by the root of the steps, too.",
            ),
        ),
        Mistake(
            1 / _RATIO,
            (
                "Right in substance. Which of the two did you divide by which?",
                "Noise with lot size 128 divided by noise with lot size 2048.",
            ),
        ),
        Mistake(
            _LARGE / _SMALL,
            (
                "That is what you pay. What do you get?",
                "You compared the two sigmas; compare sigma / (B sqrt(T)).",
            ),
        ),
        Mistake(
            _ONE_STEP / (_T_SMALL / _T_LARGE),
            (
                "How does an average of T independent noises shrink?",
                "By the root of T, not by T.",
            ),
        ),
        Mistake(
            16 / math.sqrt(_T_SMALL / _T_LARGE),
            (
                "Did you ask for the same epsilon in both runs?",
                "With one sigma for both the large lots cost more; each lot needs its own sigma.",
            ),
        ),
        Mistake(
            _ONE_STEP * math.sqrt(_T_SMALL / _T_LARGE),
            (
                "Whose noise averages out better, that of many steps or of few?",
                "Divide each sigma / B by its own root of T; you multiplied.",
            ),
        ),
    ),
    hints=(
        "Find the two sigmas first; then what is left of each noise after its own T steps?",
        "Compute sigma / (B sqrt(T)) for both lots, each with its own sigma and T, and divide.",
    ),
)


# One step of a clipping norm that follows the median.


def _followed(norm, lengths, expected, noise, rate):
    count = sum(0.5 if length <= norm else -0.5 for length in lengths) + noise
    return norm * math.exp(-rate * count / expected)


def _stepped(step):
    """A wrong rule of (norm, halves, expected, noise, rate); `halves` are the +0.5 and -0.5."""
    return lambda norm, lengths, expected, noise, rate: step(
        norm, [0.5 if length <= norm else -0.5 for length in lengths], expected, noise, rate
    )


_next_norm = Program(
    key="11.5",
    right=_followed,
    cases=(
        (1.0, [0.5, 0.5, 0.5, 0.5], 4, 0.0, 0.2),
        (2.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4, 0.0, 0.2),
        (0.5, [0.1, 0.2, 0.7], 10, 1.5, 0.3),
        (1.0, [], 8, -0.4, 0.2),
    ),
    praise="The count is the only look at the data, and it is noisy.",
    mistakes=(
        Mistake(
            _stepped(lambda c, h, n, noise, rate: c * math.exp(rate * (sum(h) + noise) / n)),
            (
                "All gradients are shorter than C. Should C grow?",
                "The sign: more short gradients than long ones make C smaller.",
            ),
        ),
        Mistake(
            _stepped(
                lambda c, h, n, noise, rate: c * math.exp(-rate * (sum(h) + noise) / max(len(h), 1))
            ),
            (
                "What does the size of this lot tell an attacker?",
                "You divide by the number of lengths, which is private; divide by expected.",
            ),
        ),
        Mistake(
            _stepped(lambda c, h, n, noise, rate: c * math.exp(-rate * sum(h) / n)),
            ("Is your count private?", "Add the noise to the count."),
        ),
        Mistake(
            _stepped(lambda c, h, n, noise, rate: c - rate * (sum(h) + noise) / n),
            (
                "Can your C become negative?",
                "The step is a factor: multiply by exp(-rate * count / expected).",
            ),
        ),
        Mistake(
            _stepped(
                lambda c, h, n, noise, rate: (
                    c * math.exp(-rate * (sum(x > 0 for x in h) + noise) / n)
                )
            ),
            (
                "Does your C ever grow?",
                "Count +1/2 for short and -1/2 for long gradients, not 1 and 0.",
            ),
        ),
        Mistake(
            _stepped(
                lambda c, h, n, noise, rate: (
                    c * math.exp(-rate * ((sum(x > 0 for x in h) + noise) / n - 0.5))
                )
            ),
            (
                "How far does one record move your count?",
                "A plain bit moves it by 1 and an empty lot shrinks nothing; count +1/2 and -1/2.",
            ),
        ),
        Mistake(
            lambda c, lengths, n, noise, rate: (
                c * math.exp(-rate * (sum(0.5 if x < c else -0.5 for x in lengths) + noise) / n)
            ),
            (
                "And a gradient of length exactly C?",
                "It is no longer than C, so it counts +1/2: compare with <=.",
            ),
        ),
    ),
    hints=(
        "Count +1/2 for each length up to C and -1/2 for each longer one; add the noise.",
        "norm * exp(-rate * count / expected)",
    ),
)

EXERCISES = (_noise_of_run, _three_layers, _price_of_a_count, _larger_lots, _next_norm)
