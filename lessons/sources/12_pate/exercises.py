"""Exercises of lesson 12, PATE."""

import math

import numpy as np

from dplearn.teaching.classroom import Exercise, Mistake, Program


def _winner(of):
    """Return the function that names the largest of these numbers, one for each digit."""

    def noisy_winner(votes, noise):
        noisy = [of(votes, digit, extra) for digit, extra in enumerate(noise)]
        return noisy.index(max(noisy))

    return noisy_winner


_count = Program(
    key="12.1",
    right=_winner(lambda votes, digit, extra: votes.count(digit) + extra),
    cases=(
        ([2, 0, 2, 1, 0, 2], [2.5, 0.5, -3.0]),
        ([2, 0, 2, 3, 1, 2, 2], [1.5, 2.5, 0.5, 1.0]),
        ([1, 1, 2, 2, 1, 2, 3], [1.0, 0.5, -1.0, 0.5]),
        ([2, 3, 1, 4, 1, 2, 0, 4], [1.0, 0.5, 1.0, 2.0, 1.5]),
    ),
    praise="One vote changes two counts by one each, and often no winner.",
    mistakes=(
        Mistake(
            _winner(lambda votes, digit, extra: votes.count(digit)),
            ("Where does the noise go?", "Add extra to the count."),
        ),
        Mistake(
            _winner(lambda votes, digit, extra: extra),
            ("Where are the votes?", "Count the digit in votes, then add extra."),
        ),
        Mistake(
            _winner(lambda votes, digit, extra: votes.count(digit) - extra),
            ("Is the noise added?", "Add extra to the count, as the sentence says."),
        ),
        Mistake(
            _winner(lambda votes, digit, extra: votes.count(digit) * extra),
            ("Is the count multiplied by noise?", "Add extra to the count, do not multiply."),
        ),
        Mistake(
            _winner(lambda votes, digit, extra: digit + extra),
            ("Is that the digit, or how often it was voted for?", "Count it: votes.count(digit)."),
        ),
        Mistake(
            _winner(lambda votes, digit, extra: votes[digit] + extra),
            (
                "Is that a count, or the vote of one teacher?",
                "Count the digit: votes.count(digit).",
            ),
        ),
    ),
    hints=(
        "A list can count how often a value is in it.",
        "votes.count(digit) + extra",
    ),
)

_COST = 100 * 10 / 50**2
_FLIP = 0.5 * math.erfc(60 / 80)

_rdp = Exercise(
    key="12.2",
    right=_COST,
    praise="And nobody had to look at a vote for it.",
    mistakes=(
        Mistake(
            _COST / 2,
            (
                "How many counts does a moved vote change?",
                "Two counts by one each: the distance is the root of 2, its square is 2.",
            ),
        ),
        Mistake(
            _COST / 100,
            ("How many answers are there?", "That is one answer; divergences of an order add up."),
        ),
        Mistake(
            100 * 10 / 50,
            ("Noise, or its square?", "The variance stands below: 50 squared."),
        ),
        Mistake(
            100 / 50**2,
            (
                "Is the order in it, and do divergences add up like standard deviations?",
                "Each answer costs alpha / sigma^2, alpha = 10, and all 100 count: no root.",
            ),
        ),
    ),
    hints=(
        "What does one answer cost at order 10?",
        "alpha / sigma^2 for each of the hundred.",
    ),
)

_flip = Exercise(
    key="12.3",
    right=_FLIP,
    praise="One answer in seven is another class: such a query is expensive.",
    mistakes=(
        Mistake(
            0.5 * math.erfc(60 / (40 * math.sqrt(2))),
            (
                "How many noises are there in a comparison?",
                "Two: their difference has the deviation 40 times the root of 2.",
            ),
        ),
        Mistake(
            2 * _FLIP,
            ("erfc of what is 1?", "erfc(0) is 1, and the chance at gap 0 is a half."),
        ),
        Mistake(
            1 - _FLIP,
            (
                "Is that the favourite, or the other?",
                "You gave the chance that the favourite wins.",
            ),
        ),
        Mistake(
            0.5 * math.erfc(60 / (2 * 40 * math.sqrt(2))),
            ("Where does your root of 2 come from?", "erfc holds one of the roots: 2 sigma below."),
        ),
        Mistake(
            0.5 * math.erfc(60 / 40),
            ("What is below the gap in erfc?", "Twice sigma."),
        ),
    ),
    hints=(
        "When does the difference of two noises exceed 60?",
        "Half of erfc(gap / (2 sigma)).",
    ),
)


def _answers(votes, noise, cap):
    winner = np.argmax(np.asarray(votes) + np.asarray(noise), axis=1)
    return np.where(np.arange(len(winner)) < cap, winner, -1)


_FIRST = ([[5, 1], [1, 5], [3, 2]], [[0.0, 0.5], [0.2, 0.0], [-2.0, 1.0]], 2)
_SECOND = ([[4, 4, 1], [9, 0, 0], [2, 3, 4]], [[0.1, 0.4, 0.0], [-6.0, 4.0, 0.5], [2.5, 0, 0]], 5)
_THIRD = ([[2, 7], [7, 2]], [[6.0, 0.0], [0.0, 0.0]], 0)

_program = Program(
    key="12.4",
    right=_answers,
    cases=(_FIRST, _SECOND, _THIRD),
    praise="The cap is what makes the guarantee one of a plan.",
    mistakes=(
        Mistake(
            lambda votes, noise, cap: np.argmax(np.asarray(votes) + np.asarray(noise), axis=1),
            ("How many answers may there be?", "You forgot the cap: after it comes -1."),
        ),
        Mistake(
            lambda votes, noise, cap: _answers(votes, np.zeros(np.shape(votes)), cap),
            ("Where does the noise go?", "Add the noise to the counts before you look."),
        ),
        Mistake(
            lambda votes, noise, cap: _answers(votes, noise, cap + 1),
            ("Count your answers.", "That is one more than the cap allows."),
        ),
        Mistake(
            lambda votes, noise, cap: _answers(votes, noise, cap)[:cap],
            ("How long is your array?", "Return -1 for the rows beyond the cap, do not drop them."),
        ),
        Mistake(
            lambda votes, noise, cap: np.max(np.asarray(votes) + np.asarray(noise), axis=1),
            ("What is released?", "The class, not its noisy count: argmax, not max."),
        ),
    ),
    hints=(
        "np.argmax(..., axis=1) of counts plus noise; what of the rows beyond the cap?",
        "np.where(np.arange(len(winner)) < cap, winner, -1)",
    ),
)

EXERCISES = (_count, _rdp, _flip, _program)
