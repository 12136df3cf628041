"""Exercises of lesson 19, counting or choosing."""

import math

import numpy as np

from dplearn.teaching.classroom import Exercise, Mistake, Program


def _named(of):
    """Return the function of the counts, their noise and the noisy counts."""
    return lambda counts, noise: of(
        counts, noise, [count + extra for count, extra in zip(counts, noise, strict=True)]
    )


_winner = Program(
    key="19.1",
    right=_named(lambda counts, noise, noisy: noisy.index(max(noisy))),
    cases=(
        ([3, 9, 4], [0.5, -0.5, 2.5]),
        ([7, 5, 6], [-3.0, 0.5, 0.25]),
        ([1, 2, 0], [5.0, 0.0, 9.5]),
    ),
    praise="One index leaves the function, and all noisy counts stay inside.",
    mistakes=(
        Mistake(
            _named(lambda counts, noise, noisy: max(noisy)),
            ("Is that a name, or a noisy count?", "Return its place: noisy.index(max(noisy))."),
        ),
        Mistake(
            _named(lambda counts, noise, noisy: counts.index(max(counts))),
            ("Where is the noise?", "Look for the largest entry of noisy, not of counts."),
        ),
        Mistake(
            _named(lambda counts, noise, noisy: noise.index(max(noise))),
            ("Where are the counts?", "Look for the largest entry of noisy, not of noise."),
        ),
        Mistake(
            _named(lambda counts, noise, noisy: max(counts)),
            (
                "Is that a name, or a true count?",
                "A true count must not leave: return noisy.index(max(noisy)).",
            ),
        ),
        Mistake(
            _named(lambda counts, noise, noisy: noisy.index(min(noisy))),
            ("The largest or the smallest?", "Take max in place of min."),
        ),
        Mistake(
            _named(lambda counts, noise, noisy: noisy.index(max(noisy)) + 1),
            ("With which number does the list begin?", "Places begin with 0: do not add 1."),
        ),
    ),
    hints=(
        "Lists have a method that finds the place of a value.",
        "noisy.index(max(noisy))",
    ),
)

_songs = Exercise(
    key="19.2",
    right=2.0,
    praise="Only the largest move of one count is in it, however many songs there are.",
    mistakes=(
        Mistake(
            4.0,
            (
                "Can one listener raise one count and lower another?",
                "Counts are monotone: the factor 2 of the theorem is not needed.",
            ),
        ),
        Mistake(
            6.0,
            (
                "Must the noise on one count cover all three songs?",
                "Each count moves by at most 1, and the winner's own noise covers them all.",
            ),
        ),
        Mistake(
            12.0,
            (
                "Which two factors are in your number?",
                "Neither the three songs nor the 2 is needed: each count moves by 1, upwards.",
            ),
        ),
        Mistake(
            400.0,
            ("How many counts are published?", "None of the 200: only one name leaves."),
        ),
        Mistake(
            0.5,
            ("More privacy: more noise, or less?", "The scale is 1 divided by epsilon."),
        ),
    ),
    hints=(
        "By how much does one listener move one count, and in how many directions?",
        "Delta / epsilon, with Delta = 1 and epsilon = 0.5.",
    ),
)

_SHORT = math.log(1000) + math.log(100)

_budget = Exercise(
    key="19.3",
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
            ("How many yeses may there be?", "Five yeses, and each needs noise of its own."),
        ),
        Mistake(
            5 / 10,
            ("What covers the noes?", "You left out the noise on the threshold, 1/4."),
        ),
        Mistake(
            5 * (1 / 4 + 1 / 10),
            (
                "How often is noise drawn for the threshold?",
                "Once: add 1/4 once, and only the yeses count five times.",
            ),
        ),
        Mistake(
            1 / 4 + 10_000 / 10,
            (
                "What does a no cost once the threshold has its noise?",
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
    key="19.4",
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
    """Return the answers of Algorithm 3, with the noisy answer in place of a yes."""
    sparse = _sparse(answers, noise, threshold, cap)
    return np.where(sparse == 1, np.asarray(answers) + np.asarray(noise), sparse)


def _last_hidden(answers, noise, threshold, cap):
    """Return answers without the yes that uses up the cap."""
    yes = _yes(answers, noise, threshold)
    return np.where(np.cumsum(yes) < cap, yes.astype(int), -1)


def _first_questions(answers, noise, threshold, cap):
    """Return answers whose cap counts questions, not yeses."""
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
    key="19.5",
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

EXERCISES = (_winner, _songs, _budget, _shortfall, _program)
