"""Exercises of lesson 18, counting or choosing."""

import math

import numpy as np

from dplearn.teaching.classroom import Exercise, Mistake, Program

_SHORT = math.log(1000) + math.log(100)

_budget = Exercise(
    key="18.1",
    right=1 / 4 + 5 / 10,
    praise="Ten thousand questions, and the noes among them cost a quarter together.",
    mistakes=(
        Mistake(
            1 / 4 + 2 * 5 / 10,
            (
                "Can one person raise one count and lower another?",
                "Counts are monotone: each yes costs 1/b2, without the 2.",
            ),
        ),
        Mistake(
            1 / 4 + 1 / 10,
            ("How many yeses may there be?", "Five yeses, and each is paid by its own noise."),
        ),
        Mistake(
            5 / 10,
            ("Who pays for the noes?", "You left out the threshold, 1/4."),
        ),
        Mistake(
            5 * (1 / 4 + 1 / 10),
            (
                "How often is noise drawn for the threshold?",
                "Once: 1/4 is paid once, and only the yeses count five times.",
            ),
        ),
        Mistake(
            1 / 4 + 10_000 / 10,
            (
                "What does a no cost once the threshold is paid?",
                "Nothing: only the yeses count, five of them.",
            ),
        ),
        Mistake(
            4 + 5 * 10,
            ("Is that noise, or privacy?", "Epsilon is sensitivity over scale: 1/4, and 5/10."),
        ),
    ),
    hints=(
        "What do all noes cost together, and what does each yes cost?",
        "1/b1 for the threshold, c/b2 for the yeses of monotone answers.",
    ),
)

_shortfall = Exercise(
    key="18.2",
    right=_SHORT,
    praise="Eleven or twelve people, whether a thousand or a million typed the best word.",
    mistakes=(
        Mistake(
            2 * _SHORT,
            (
                "Do counts move in both directions when one joins?",
                "They only rise: the factor 2 of the exponent is not needed.",
            ),
        ),
        Mistake(
            math.log(1000),
            ("And the chance of 0.01?", "Add t, where e^-t = 0.01."),
        ),
        Mistake(
            math.log(100),
            ("How many words are there?", "Each of them may win by chance: add ln 1000."),
        ),
        Mistake(
            math.log(1000) - math.log(100),
            ("A smaller chance of failure: more people, or fewer?", "Add t = ln 100."),
        ),
        Mistake(
            math.log10(1000) + math.log10(100),
            ("Which logarithm?", "The natural one: np.log."),
        ),
        Mistake(
            1000 * math.log(100),
            (
                "That is noise for a thousand counts that are told.",
                "Only one word is told: the number of words stands in a logarithm.",
            ),
        ),
    ),
    hints=(
        "Short by more than (ln|R| + t)/epsilon with a chance of at most e^-t.",
        "ln 1000 + ln 100.",
    ),
)


def _sparse(answers, noise, threshold, cap):
    yes = np.asarray(answers) + np.asarray(noise) > threshold
    return np.where(np.cumsum(yes) - yes < cap, yes.astype(int), -1)


def _yes(answers, noise, threshold):
    return np.asarray(answers) + np.asarray(noise) > threshold


def _told(answers, noise, threshold, cap):
    """Algorithm 3: the noisy answer in place of a yes."""
    sparse = _sparse(answers, noise, threshold, cap)
    return np.where(sparse == 1, np.asarray(answers) + np.asarray(noise), sparse)


def _last_hidden(answers, noise, threshold, cap):
    """The yes that uses up the cap is not answered any more."""
    yes = _yes(answers, noise, threshold)
    return np.where(np.cumsum(yes) < cap, yes.astype(int), -1)


def _first_questions(answers, noise, threshold, cap):
    """The cap counts questions, not yeses."""
    yes = _yes(answers, noise, threshold)
    return np.where(np.arange(yes.size) < cap, yes.astype(int), -1)


_CASES = (
    ([3.0, 9.0, 4.0, 8.0], [0.5, -0.5, 2.5, 0.2], 6.0, 2),
    ([5.0, 7.0, 7.0, 7.0, 2.0], [1.5, -1.5, 0.5, 0.4, 6.0], 6.0, 2),
    ([6.2, 0.0, 5.0, 8.0, 9.0], [-0.5, 1.0, 0.5, -1.0, -4.0], 6.0, 1),
    ([1.0, 2.0, 3.0], [0.1, 0.4, -0.2], 9.0, 1),
    ([8.0, 7.5], [-0.5, -0.4], 7.0, 5),
)

_program = Program(
    key="18.3",
    right=_sparse,
    cases=_CASES,
    praise="Three lines, and each of the printed mistakes changes one word of them.",
    mistakes=(
        Mistake(
            lambda answers, noise, threshold, cap: _yes(answers, noise, threshold).astype(int),
            (
                "What does one more yes cost?",
                "There is no end after `cap` yeses: that is Algorithm 6 of Lyu, Su & Li.",
            ),
        ),
        Mistake(
            lambda answers, noise, threshold, cap: _sparse(
                answers, np.zeros(len(noise)), threshold, cap
            ),
            (
                "Is the noise on the threshold enough?",
                "The answers lack their noise: that is Algorithm 5, epsilon is infinite.",
            ),
        ),
        Mistake(
            _told,
            (
                "What does the number tell about the threshold?",
                "Return 1 for a yes, not the noisy answer: that is Algorithm 3.",
            ),
        ),
        Mistake(
            _last_hidden,
            (
                "How many yeses do you tell?",
                "The last yes that is allowed is told, too; count the yeses before each question.",
            ),
        ),
        Mistake(
            _first_questions,
            ("What is counted, questions or yeses?", "Noes are free: only yeses use up `cap`."),
        ),
        Mistake(
            lambda answers, noise, threshold, cap: _sparse(
                answers, np.full(len(noise), noise[0]), threshold, cap
            ),
            (
                "How often is noise drawn for the answers?",
                "Each answer has noise of its own; one for all cancels in every comparison of two.",
            ),
        ),
        Mistake(
            lambda answers, noise, threshold, cap: np.maximum(
                _sparse(answers, noise, threshold, cap), 0
            ),
            (
                "What stands after the last yes?",
                "A 0 there would say that the question was answered: write -1.",
            ),
        ),
        Mistake(
            lambda answers, noise, threshold, cap: _sparse(answers, noise, threshold, cap)[
                _sparse(answers, noise, threshold, cap) >= 0
            ],
            ("How long is your array?", "Keep a -1 for each question after the last yes."),
        ),
    ),
    hints=(
        "Which answers are yeses, and how many yeses came before each question?",
        "np.cumsum(yes) - yes counts those before; np.where(... < cap, yes, -1).",
    ),
)

EXERCISES = (_budget, _shortfall, _program)
