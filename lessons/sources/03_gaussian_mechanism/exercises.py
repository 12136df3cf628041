"""Exercises of lesson 03, the Gaussian mechanism."""

import math

from scipy.stats import norm

from dplearn.core.solve import first_true
from dplearn.mechanisms import Gaussian
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _recipe(epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def _noise(rule):
    """Return a function that publishes a sum with the noise of `rule`."""
    return lambda ages, cap, multiplier, z: (
        sum(min(age, cap) for age in ages) + rule(ages, cap, multiplier) * z
    )


_sum = Program(
    key="3.1",
    right=_noise(lambda ages, cap, multiplier: multiplier * cap),
    cases=(
        ([9, 12, 70], 20, 3.0, 1.0),
        ([9, 12, 15, 11], 20, 2.0, -0.5),
        ([8, 44, 31, 60, 9], 30, 3.73, 0.25),
    ),
    praise="A notebook now draws the pictures of this lesson from your function.",
    mistakes=(
        Mistake(
            _noise(lambda ages, cap, multiplier: multiplier),
            ("How far can one pupil move the sum?", "Multiply by the cap: multiplier * cap * z."),
        ),
        Mistake(
            _noise(lambda ages, cap, multiplier: multiplier * max(ages)),
            (
                "May the noise tell how old the oldest pupil is?",
                "You looked into the data; take the cap, which somebody chose before.",
            ),
        ),
        Mistake(
            _noise(lambda ages, cap, multiplier: cap),
            ("How large is the noise in units of the cap?", "Multiply by multiplier, too."),
        ),
        Mistake(
            _noise(lambda ages, cap, multiplier: multiplier * cap / len(ages)),
            ("Is that a sum or a mean?", "Do not divide: the sum moves by the cap."),
        ),
        Mistake(
            _noise(lambda ages, cap, multiplier: multiplier * cap * len(ages)),
            ("How many pupils does the promise protect?", "One pupil moves the sum by one cap."),
        ),
    ),
    hints=(
        "A standard normal draw z has size 1. How large must the noise be?",
        "multiplier * cap * z",
    ),
)

_EXACT = Gaussian.analytic(epsilon=1, delta=1e-5).noise_multiplier

_MEAN_HEIGHT = 3.73 * 200 / 71

_mean_height = Exercise(
    key="3.2",
    right=_MEAN_HEIGHT,
    praise="The cap is the sensitivity of the sum, and a public number divides both.",
    mistakes=(
        Mistake(
            3.73 * 200,
            (
                "Is that the noise on the sum or on the mean?",
                "That is on the sum; the mean divides sum and noise by 71.",
            ),
        ),
        Mistake(
            _MEAN_HEIGHT**2,
            (
                "What is the unit of your number? Square centimetres?",
                "That is the variance; the standard deviation is its square root.",
            ),
        ),
        Mistake(
            3.73 * 200 / math.sqrt(71),
            (
                "How often is noise drawn for this mean?",
                "A root of 71 is for one draw per pupil; noise is drawn once: divide by 71.",
            ),
        ),
        Mistake(
            3.73 / 71,
            (
                "Cut the heights to 100 cm instead: would your number change?",
                "The noise multiplier is in units of the sensitivity; multiply by 200 cm.",
            ),
        ),
        Mistake(
            200 / 71,
            (
                "Is that the noise, or how far one pupil can move the mean?",
                "200/71 is the sensitivity of the mean; the noise is 3.73 times that.",
            ),
        ),
        Mistake(
            2 * _MEAN_HEIGHT,
            (
                "A standard deviation, or an error bar?",
                "Two of them are the error bar, and replacing a pupil is not meant: do not double.",
            ),
        ),
        Mistake(
            3.73 * 200 / 1438,
            (
                "Whose mean is published?",
                "That is the whole school; the village has 71 pupils.",
            ),
        ),
    ),
    hints=(
        "How far can one pupil move the sum, and what divides the sum and its noise?",
        "Noise on the sum: 3.73 times 200 cm. The mean divides it by 71.",
    ),
)

_counts = Exercise(
    key="3.3",
    right=math.sqrt(6) * _EXACT,
    praise="Length of one pupil's vector times the exact multiplier.",
    mistakes=(
        Mistake(
            6 * _EXACT,
            (
                "Which norm belongs to Gaussian noise?",
                "6 is the sum of the changes; the Euclidean length of six ones is smaller.",
            ),
        ),
        Mistake(
            math.sqrt(20) * _EXACT,
            (
                "Can one pupil really move all 20 numbers?",
                "At most six entries of the difference are not zero.",
            ),
        ),
        Mistake(
            _EXACT,
            (
                "Right for one club. What can one pupil do to the whole vector?",
                "Multiply by the Euclidean length of a pupil's vector.",
            ),
        ),
        Mistake(
            math.sqrt(6) * _recipe(1, 1e-5),
            (
                "Private, but is it the smallest?",
                "That is the textbook recipe; Gaussian.analytic finds the smallest.",
            ),
        ),
        Mistake(
            6 * _EXACT**2,
            ("What is the unit of your number?", "That is the variance; take the square root."),
        ),
        Mistake(
            math.sqrt(12) * _EXACT,
            (
                "Who are the neighbours?",
                "Replacing one pupil changes twice as many numbers; here one is added or removed.",
            ),
        ),
        Mistake(
            2 * math.sqrt(6) * _EXACT,
            (
                "Who are the neighbours?",
                "The pupil is added or removed. Only replacing could double the length.",
            ),
        ),
    ),
    hints=(
        "How long, in the Euclidean sense, is the vector that one pupil adds?",
        "Its six ones have length sqrt(6); multiply by Gaussian.analytic(epsilon=1, delta=1e-5).",
    ),
)

# The least noise, by search.


def _kept(answer, epsilon, delta, sensitivity):
    """Return the noise of `answer`, and whether it gives the guarantee."""
    noise = float(answer(epsilon, delta, sensitivity))
    keeps = False
    if noise > 0:
        mu = sensitivity / noise
        below = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # of a normal number, the probability
        without = math.exp(epsilon) * below(-epsilon / mu - mu / 2)
        keeps = below(mu / 2 - epsilon / mu) - without <= delta * (1 + 1e-6)
    return {"standard deviation": noise, "keeps the promise": keeps}


def _least(epsilon, delta, sensitivity):
    return sensitivity * Gaussian.analytic(epsilon=epsilon, delta=delta).noise_multiplier


def _by_tail(epsilon, delta, sensitivity):
    """Return the least noise whose loss exceeds epsilon with probability at most delta."""

    def small(noise):
        return norm.sf(epsilon * noise - 1 / (2 * noise)) <= delta

    return sensitivity * float(first_true(small, lower=1e-2, upper=1e4))


_search = Program(
    key="3.4",
    right=_least,
    measure=_kept,
    cases=(
        (1.0, 1e-5, 1.0),
        (1.0, 1e-5, 6.0),
        (0.1, 1e-6, 0.5),
        (10.0, 1e-5, 2.0),
        (20.0, 1e-3, 0.1),
    ),
    rtol=1e-3,
    praise="No recipe can ask for less, at any epsilon.",
    mistakes=(
        Mistake(
            lambda epsilon, delta, sensitivity: sensitivity * _recipe(epsilon, delta),
            (
                "Is the recipe the least noise, and is it always enough?",
                "That is the recipe; search for the noise at which formula(epsilon, sigma) is "
                "delta.",
            ),
        ),
        Mistake(
            lambda epsilon, delta, sensitivity: _least(epsilon, delta, 1),
            (
                "What if one record can move the answer by 6?",
                "That is the noise multiplier; multiply it by the sensitivity.",
            ),
        ),
        Mistake(
            lambda epsilon, delta, sensitivity: sensitivity * _least(epsilon, delta, sensitivity),
            (
                "How does the noise grow with the sensitivity?",
                "You multiplied by the sensitivity twice.",
            ),
        ),
        Mistake(
            lambda epsilon, delta, sensitivity: _least(epsilon, delta, 1) / sensitivity,
            (
                "Does a more sensitive answer need more noise or less?",
                "Multiply by the sensitivity; you divided.",
            ),
        ),
        Mistake(
            lambda epsilon, delta, sensitivity: _least(epsilon, delta, sensitivity) ** 2,
            (
                "Variance, or standard deviation?",
                "That is the variance; the standard deviation is its root.",
            ),
        ),
        Mistake(
            _by_tail,
            (
                "Is delta the probability of a loss above epsilon?",
                "That probability is more than delta: subtract exp(epsilon) times the second term.",
            ),
        ),
    ),
    hints=(
        "For sensitivity 1: delta falls as the noise grows. Where does it meet the given one?",
        "Halve an interval of noise, 0.01 to 1000, a hundred times: to the left the delta is too "
        "large. Multiply its right end by the sensitivity.",
    ),
)

EXERCISES = (_sum, _mean_height, _counts, _search)
