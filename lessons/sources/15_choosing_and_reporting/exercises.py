"""Exercises of lesson 15, choosing and reporting epsilon."""

import math

from dplearn.teaching.classroom import Exercise, Mistake, Program

_VICTIMS, _PEOPLE = 0.01, 60_000

_days = Exercise(
    key="15.2",
    right=7,
    rtol=1e-3,
    praise="After a week nothing of the small number on the label is left.",
    mistakes=(
        Mistake(
            6,
            (
                "Do six days suffice? Put them in.",
                "After six days the odds are at most e^(2 * 6) to 1, below a million: round up.",
            ),
        ),
        Mistake(
            math.log(1e6) / 2,
            ("How many whole days?", "Part of a day is not over before the day ends; round up."),
        ),
        Mistake(
            14,
            ("What does one day cost?", "You counted one nat a day; the label says 2."),
        ),
        Mistake(
            3,
            ("Which logarithm?", "A loss is in nats: take ln of a million, not log10."),
        ),
        Mistake(
            500_000,
            (
                "Do odds add up, or do they multiply?",
                "Each day multiplies the odds by e^2 at most; it is the losses that add up.",
            ),
        ),
        Mistake(
            48,
            (
                "Must the losses add up to something like a random walk?",
                "The promise is the worst case: they add up, without a root.",
            ),
        ),
    ),
    hints=(
        "By which factor can one day multiply the odds?",
        "The smallest whole k with 2 k >= ln(10**6).",
    ),
)

_delta = Exercise(
    key="15.3",
    right=_VICTIMS / _PEOPLE,
    rtol=1e-3,
    praise="Six times less than one in a million: that is what 'far below 1/n' means.",
    mistakes=(
        Mistake(
            1 / _PEOPLE,
            (
                "How many victims does that allow in one release?",
                "1/n allows one victim in every release; you may have one in a hundred.",
            ),
        ),
        Mistake(
            _VICTIMS,
            ("Is delta for one person, or for all?", "It is for each; divide by their number."),
        ),
        Mistake(
            100 / _PEOPLE,
            ("More victims, or fewer?", "That is a hundred victims in a release: 0.01, not 100."),
        ),
        Mistake(
            _VICTIMS / _PEOPLE**2,
            ("How many people can be a victim?", "Divide by n once: the expectation is n delta."),
        ),
    ),
    hints=(
        "What is the expected number of victims of name-and-shame?",
        "n delta = 0.01, with n = 60,000.",
    ),
)


def _posterior(prior, epsilon):
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


def _odds(factor):
    """Return the function that multiplies the odds by a factor."""

    def believed(prior, epsilon):
        odds = prior / (1 - prior) * factor(prior, epsilon)
        return odds / (1 + odds)

    return believed


_believed = Program(
    key="15.1",
    right=_posterior,
    cases=((0.5, 1.0), (0.01, 3.0), (0.9, 0.1), (0.2, 0.0)),
    praise="It never exceeds 1, and where epsilon is 0 nothing was learnt.",
    mistakes=(
        Mistake(
            _odds(lambda prior, epsilon: epsilon),
            ("What is the factor for epsilon 0?", "It is 1: take math.exp(epsilon)."),
        ),
        Mistake(
            _odds(lambda prior, epsilon: 1 + epsilon),
            (
                "Is that exact, or an approximation for small epsilon?",
                "The factor is e to the power of epsilon: math.exp(epsilon).",
            ),
        ),
        Mistake(
            _odds(lambda prior, epsilon: math.exp(-epsilon)),
            (
                "Does the attacker believe more afterwards, or less?",
                "That is the lower bound; for the upper one leave out the minus.",
            ),
        ),
        Mistake(
            _odds(lambda prior, epsilon: 10**epsilon),
            ("Which number is raised to a power?", "It is e, not 10: math.exp(epsilon)."),
        ),
        Mistake(
            _odds(lambda prior, epsilon: prior * math.exp(epsilon)),
            ("How often is the prior in it?", "The odds have it already: math.exp(epsilon) alone."),
        ),
        Mistake(
            lambda prior, epsilon: prior * math.exp(epsilon),
            (
                "What do you get for a prior of 0.5 and epsilon 1?",
                "It exceeds 1 and is no probability: the odds are multiplied by e^epsilon.",
            ),
        ),
    ),
    hints=(
        "The sentence names the factor; Python's module math has the function.",
        "math.exp(epsilon)",
    ),
)

EXERCISES = (_believed, _days, _delta)
