"""Exercises of lesson 18, noise that cancels."""

import itertools
import math

from dplearn.teaching.classroom import Exercise, Mistake, Program


def _evening_noise(fresh, share):
    pairs = zip(fresh, [0, *fresh], strict=False)
    return [tonight - share * last_night for tonight, last_night in pairs]


def _other(rule):
    """Return a function that applies `rule` to the draws of tonight and last night."""
    return lambda fresh, share: [
        rule(tonight, last_night, share)
        for tonight, last_night in zip(fresh, [0, *fresh], strict=False)
    ]


_memory = Program(
    key="18.1",
    right=_evening_noise,
    cases=(([4.0, 2.0], 0.5), ([1.0, 0.0, 0.0, 0.0], 0.25), ([1.5, -2.0, 3.0, 0.5], 0.9)),
    praise="That is all of this noise; a notebook now draws its pictures from your function.",
    mistakes=(
        Mistake(
            _other(lambda z, before, share: z + share * before),
            ("Is the share taken back, or added?", "Subtract: tonight - share * last_night."),
        ),
        Mistake(
            _other(lambda z, before, share: z - before),
            ("How much of last night's draw is taken back?", "Multiply last_night by share."),
        ),
        Mistake(
            _other(lambda z, before, share: z - before / 2),
            ("Is the share always a half?", "Use the argument: share * last_night."),
        ),
        Mistake(
            _other(lambda z, before, share: share * before - z),
            ("Which of the two draws has a minus?", "Begin with tonight, then subtract."),
        ),
        Mistake(
            _other(lambda z, before, share: (1 - share) * z - share * before),
            (
                "Does tonight's draw lose anything itself?",
                "All of tonight's draw stays: tonight - ...",
            ),
        ),
    ),
    hints=(
        "Begin with tonight's draw, and subtract something from it.",
        "tonight - share * last_night",
    ),
)

_LENGTH = 1 / math.sqrt(1 - 0.8**2)

_long = Exercise(
    key="18.2",
    right=_LENGTH,
    praise="So the fresh noise must be two thirds larger, and the totals gain more than that.",
    mistakes=(
        Mistake(
            1 / (1 - 0.8),
            ("Is the length a sum of the entries?", "Sum the squares of the entries, then a root."),
        ),
        Mistake(
            1 / (1 - 0.8**2),
            ("Is that a length, or its square?", "Take the root of 1 / (1 - 0.8^2)."),
        ),
        Mistake(
            math.sqrt(1 + 0.8**2),
            ("How many entries has the column?", "All of them count: 1, 0.8, 0.8^2, and so on."),
        ),
        Mistake(
            1 / math.sqrt(1 - 0.8),
            ("What is squared in a length?", "The entries are squared: the ratio is 0.8^2."),
        ),
    ),
    hints=(
        "Square the entries: what series is that?",
        "A geometric series with ratio 0.8^2; its sum is 1 / (1 - 0.8^2). Then the root.",
    ),
)

_gone = Exercise(
    key="18.3",
    right=0,
    praise="Noise that is large and the same protects nobody.",
    mistakes=(
        Mistake(
            32 * math.sqrt(2),
            (
                "Are the two noises independent?",
                "They are one and the same noise: what is the difference of it with itself?",
            ),
        ),
        Mistake(
            32,
            (
                "How does a stranger get the count of one evening?",
                "She subtracts the total of the evening before from that of evening 20.",
            ),
        ),
        Mistake(
            4,
            (
                "Which noise does this winter have?",
                "It is not noise on evenings: the same 32 stands in both totals.",
            ),
        ),
    ),
    hints=(
        "Write the totals of evening 20 and of the one before with their noise, and subtract.",
        "The same number is added to both. What is left of it in the difference?",
    ),
)


def _column(steps):
    return list(
        itertools.accumulate(range(1, steps), lambda last, k: last * (1 - 0.5 / k), initial=1.0)
    )


_program = Program(
    key="18.4",
    right=_column,
    cases=((1,), (2,), (6,), (40,)),
    praise="That is all the memory a server needs: one number for each evening.",
    mistakes=(
        Mistake(
            lambda steps: _column(steps + 1)[1:],
            ("What is the first entry?", "Begin with 1: it is tonight's own noise."),
        ),
        Mistake(
            lambda steps: [1.0] + [0.5**k for k in range(1, steps)],
            ("Is each entry half of the one before?", "The factor depends on k: 1 - 1 / (2 k)."),
        ),
        Mistake(
            lambda steps: [1.0] + [1 - 1 / (2 * k) for k in range(1, steps)],
            ("What is multiplied?", "The entry before: multiply it by 1 - 1 / (2 k)."),
        ),
        Mistake(
            lambda steps: _column(steps + 1),
            ("How many entries do you return?", "steps of them, with the first."),
        ),
        Mistake(
            lambda steps: [
                *itertools.accumulate(
                    range(2, steps + 1), lambda last, k: last * (1 - 0.5 / k), initial=1.0
                )
            ],
            ("What is entry 1?", "k begins with 1: the second number is a half."),
        ),
    ),
    hints=(
        "Begin with [1.0]; append the last entry times 1 - 1 / (2 k), for k from 1 on.",
        "for k in range(1, steps): entries.append(entries[-1] * (1 - 1 / (2 * k)))",
    ),
)

EXERCISES = (_memory, _long, _gone, _program)
