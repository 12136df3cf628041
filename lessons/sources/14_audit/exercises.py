"""Exercises of lesson 14, audit and break it."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom

from dplearn.teaching.classroom import Exercise, Mistake, Program


def _all(share):
    """Return a function with `share` of exp(epsilon) as the probability of a right guess."""
    return lambda epsilon, guesses: share(math.exp(epsilon)) ** guesses


_chance = Program(
    key="14.1",
    right=_all(lambda odds: odds / (1 + odds)),
    cases=((1.0, 10), (3.0, 100), (0.5, 1)),
    praise="At ε = 1 one honest program in 23 has ten right guesses in a row.",
    mistakes=(
        Mistake(
            _all(lambda odds: 1 / (1 + odds)),
            ("Right or wrong?", "That is the chance of a wrong guess: odds / (1 + odds) is right."),
        ),
        Mistake(
            _all(lambda odds: odds),
            ("Can a probability exceed 1?", "Odds of a to b are the probability a / (a + b)."),
        ),
        Mistake(
            _all(lambda odds: 0.5),
            ("Is the attacker left with nothing but coins?", "Use the odds: odds / (1 + odds)."),
        ),
        Mistake(
            _all(lambda odds: 1 - 1 / odds),
            ("What is it at odds of 1 to 1?", "A half is due there: odds / (1 + odds)."),
        ),
        Mistake(
            _all(lambda odds: 1 / odds),
            ("Do more odds make fewer right guesses?", "Divide the odds by 1 plus the odds."),
        ),
        Mistake(
            lambda epsilon, guesses: 1 - _all(lambda odds: odds / (1 + odds))(epsilon, guesses),
            ("Of which event is that?", "You gave the chance that at least one guess is wrong."),
        ),
    ),
    hints=(
        "Odds of a to b are the probability a / (a + b).",
        "odds / (1 + odds)",
    ),
)


def _refuted(correct, guesses, level):
    chance = lambda epsilon: binom.sf(correct - 1, guesses, 1 / (1 + math.exp(-epsilon)))
    return brentq(lambda epsilon: chance(epsilon) - level, 0, 9)


_limit = Exercise(
    key="14.3",
    right=_refuted(450, 500, 0.01),
    rtol=1e-4,
    praise="And 2.197 would have accused an honest program.",
    mistakes=(
        Mistake(
            math.log(450 / 50),
            (
                "Where is the confidence in it?",
                "That is the estimate. Solve binom.sf(450 - 1, 500, p) = 0.01 for p first.",
            ),
        ),
        Mistake(
            _refuted(451, 500, 0.01),
            (
                "Does your tail count the 450 itself?",
                "binom.sf(k, ...) is P(more than k): v or more is binom.sf(v - 1, ...).",
            ),
        ),
        Mistake(
            _refuted(450, 500, 0.005),
            (
                "How many sides has this limit?",
                "One: all of the 1 % is spent on too many right guesses.",
            ),
        ),
        Mistake(
            float(beta.ppf(0.01, 450, 51)),
            ("Probability, or epsilon?", "That is p; epsilon = ln(p/(1 - p))."),
        ),
    ),
    hints=(
        "Which p makes 450 or more right guesses a one-per-cent event?",
        "Solve binom.sf(450 - 1, 500, p) = 0.01, then epsilon = ln(p/(1 - p)).",
    ),
)


def _right(included, scores, half):
    ordered = np.asarray(included)[np.argsort(scores)]
    return int(np.sum(ordered[-half:]) + np.sum(~ordered[:half]))


def _ordered(included, scores):
    return np.asarray(included)[np.argsort(scores)]


_COINS = np.random.default_rng(5).random(40) < 0.5
_SCORES = np.random.default_rng(6).standard_normal(40) + _COINS

_audit = Program(
    key="14.2",
    right=_right,
    cases=(
        (np.array([True, False, True, False]), np.array([0.9, 0.1, 0.4, 0.6]), 1),
        (np.array([True, False, False, True, False]), np.array([3.0, 2.0, 1.0, -1.0, 0.0]), 2),
        (_COINS, _SCORES, 7),
    ),
    praise="That is all an auditor does with the outputs; the rest is one binomial tail.",
    mistakes=(
        Mistake(
            lambda included, scores, half: int(np.sum(_ordered(included, scores)[-half:])),
            ("What do you guess about the lowest?", "They are guessed to be out: count them, too."),
        ),
        Mistake(
            lambda included, scores, half: 2 * half - _right(included, scores, half),
            ("Right guesses, or wrong ones?", "High scores mean in: you count the wrong guesses."),
        ),
        Mistake(
            lambda included, scores, half: int(
                np.sum(_ordered(included, scores)[-half:])
                + np.sum(_ordered(included, scores)[:half])
            ),
            ("When is a guess of 'out' right?", "Where included is False: use ~ on the lowest."),
        ),
        Mistake(
            lambda included, scores, half: _right(included, scores, half) / (2 * half),
            ("A share, or a number?", "Return how many are right; do not divide."),
        ),
        Mistake(
            lambda included, scores, half: int(np.sum(included[-half:]) + np.sum(~included[:half])),
            ("Which are the highest scores?", "Sort the canaries by score first: np.argsort."),
        ),
    ),
    hints=(
        "Sort the canaries by their scores; what is right at either end?",
        "np.sum(ordered[-half:]) + np.sum(~ordered[:half])",
    ),
)

EXERCISES = (_chance, _audit, _limit)
