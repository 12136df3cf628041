"""Exercises of lesson 13, federated learning."""

import math

import numpy as np

from dplearn.teaching.classroom import Exercise, Mistake, Program


def _pixels(rule):
    """Return a function that applies `rule` to each weight and the bias."""
    return lambda weights, bias: [rule(weight, bias) for weight in weights]


_read = Program(
    key="13.1",
    right=_pixels(lambda weight, bias: weight / bias),
    cases=(([0.05, 0.1, 0.025], 0.1), ([-0.9, -0.45, -0.225], -0.9), ([2.0, 6.0], 4.0)),
    praise="One division, and the server has her digit.",
    mistakes=(
        Mistake(
            _pixels(lambda weight, bias: weight * bias),
            ("Does that remove the factor?", "The weight has the factor already: divide by it."),
        ),
        Mistake(
            _pixels(lambda weight, bias: bias / weight),
            ("Which of the two is the pixel times a factor?", "Upside down: weight / bias."),
        ),
        Mistake(
            _pixels(lambda weight, bias: weight - bias),
            ("Is the factor added, or multiplied?", "It is multiplied, so divide: weight / bias."),
        ),
        Mistake(
            _pixels(lambda weight, bias: weight),
            ("What stands beside the pixel?", "An unknown factor, which the bias shows: divide."),
        ),
        Mistake(
            _pixels(lambda weight, bias: weight / abs(bias)),
            ("Which sign has a pixel?", "A factor below zero cancels with its sign: no abs."),
        ),
        Mistake(
            _pixels(lambda weight, bias: weight / 0.1),
            ("Is the factor the same in each row?", "It differs, and the bias of the row is it."),
        ),
    ),
    hints=(
        "A weight is a pixel times the bias.",
        "weight / bias",
    ),
)

_weighted = Exercise(
    key="13.3",
    right=2 / (20 * 0.3),
    praise="A sixth of what is on paper, and epsilon is eight times as large.",
    mistakes=(
        Mistake(
            2.0,
            ("By how much does the mean move if the largest leaves?", "By 0.3 C, not by C / 20."),
        ),
        Mistake(
            2 * 0.3,
            (
                "Is the noise 2 C? It stands on the mean.",
                "The noise is 2 C / 20 = 0.1 C; divide it by how far the mean moves, 0.3 C.",
            ),
        ),
        Mistake(
            2 / 20 * 0.3,
            ("Divide, or multiply?", "A multiplier is noise / movement: 0.1 C / 0.3 C."),
        ),
        Mistake(
            20 * 0.3 / 2,
            ("Which of the two is the noise?", "Upside down: noise / movement."),
        ),
        Mistake(
            2 / math.sqrt(20 * 0.3),
            (
                "Do lengths or variances move the mean?",
                "No root: noise and movement are both lengths.",
            ),
        ),
        Mistake(
            2 / 20,
            ("That is the noise, in units of C. And the movement?", "Divide it by 0.3."),
        ),
    ),
    hints=(
        "How large is the noise on the mean, and how far does the largest phone move it?",
        "0.1 C of noise, 0.3 C of movement.",
    ),
)

_everybody = Exercise(
    key="13.4",
    right=math.sqrt(100 / 80),
    praise="More stay than were needed, and all of them get a little more privacy.",
    mistakes=(
        Mistake(
            100 / 80,
            ("Variances add up. And a multiplier?", "That is the variance; take its root."),
        ),
        Mistake(
            math.sqrt(80 / 100),
            (
                "Is there more noise than planned, or less?",
                "Upside down: a hundred shares of an eightieth.",
            ),
        ),
        Mistake(
            1.0,
            (
                "Whose noise is in the sum when all stay?",
                "1 is for the 80; each of the other 20 adds a share, too.",
            ),
        ),
        Mistake(
            math.sqrt(100),
            (
                "How large is one phone's share?",
                "That is local noise; a share has the variance 1/80.",
            ),
        ),
        Mistake(
            0.8,
            ("Is there more noise than planned, or less?", "Add up a hundred variances of 1/80."),
        ),
    ),
    hints=(
        "Add up variances: what does one phone add, and how many add it?",
        "The root of 100/80.",
    ),
)


def _masked(vector, own, masks, modulus, sign=lambda own, other: 1 if own < other else -1):
    others = [j for j in range(len(masks)) if j != own]
    return np.array(vector) + sum(np.array(masks[j]) * sign(own, j) for j in others)


_FIRST = ([5, 1], 0, [[3, 3], [7, 9], [1, 4]], 10)
_SECOND = ([5, 1], 2, [[3, 3], [7, 9], [1, 4]], 10)
_THIRD = ([0, 99, 50], 1, [[60, 5, 0], [11, 12, 13], [70, 70, 70], [1, 2, 99]], 100)

_program = Program(
    key="13.2",
    right=lambda vector, own, masks, modulus: _masked(vector, own, masks, modulus) % modulus,
    cases=(_FIRST, _SECOND, _THIRD),
    praise="The server adds such rows up, and is left with the sum of vectors.",
    mistakes=(
        Mistake(
            lambda vector, own, masks, modulus: (
                _masked(vector, own, masks, modulus, lambda own, other: 1) % modulus
            ),
            ("Do masks cancel if everybody adds?", "Subtract the masks of smaller numbers."),
        ),
        Mistake(
            lambda vector, own, masks, modulus: (
                _masked(vector, own, masks, modulus, lambda own, other: 1 if own > other else -1)
                % modulus
            ),
            ("Who adds, who subtracts?", "All signs are turned: the smaller number adds."),
        ),
        Mistake(
            lambda vector, own, masks, modulus: (
                (_masked(vector, own, masks, modulus) + np.array(masks[own])) % modulus
            ),
            ("With whom has a phone a mask?", "Leave its own row out: it is rubbish."),
        ),
        Mistake(
            lambda vector, own, masks, modulus: (
                (_masked(vector, own, masks, modulus) - np.array(masks[own])) % modulus
            ),
            (
                "With whom has a phone a mask?",
                "Leave its own row out: there it is neither smaller nor larger.",
            ),
        ),
        Mistake(
            _masked,
            (
                "Could somebody see from your numbers how large they are?",
                "You forgot the modulus: a sum of masks alone is not uniform.",
            ),
        ),
        Mistake(
            lambda vector, own, masks, modulus: np.fmod(
                _masked(vector, own, masks, modulus), modulus
            ),
            (
                "Are all your numbers 0 or more?",
                "np.fmod and math.fmod keep the sign; use % of Python or NumPy.",
            ),
        ),
        Mistake(
            lambda vector, own, masks, modulus: (
                _masked(np.zeros(len(vector), int), own, masks, modulus) % modulus
            ),
            ("What is hidden under the masks?", "You forgot to add the vector itself."),
        ),
    ),
    hints=(
        "Go through all other phones: + their row where `own` is smaller, else -.",
        "total % modulus at the end, which is never negative in Python.",
    ),
)

EXERCISES = (_read, _program, _weighted, _everybody)
