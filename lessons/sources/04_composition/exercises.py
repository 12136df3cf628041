"""Exercises of lesson 04, composition."""

import math

from dplearn.calibrate import largest_steps
from dplearn.mechanisms import RandomizedResponse
from dplearn.teaching.book import (
    advanced_composition,
    advanced_composition_kov,
    composition_slack,
)
from dplearn.teaching.classroom import Exercise, Mistake, Program

_walk = Program(
    key="4.1",
    right=lambda replies, epsilon: epsilon * (2 * sum(replies) - len(replies)),
    cases=(([1], 0.1), ([1, 0, 0, 0], 0.5), ([1, 1, 0, 1, 1], 0.3), ([0, 0, 1], 2.0)),
    praise="A notebook now draws the walks of the next picture with your function.",
    mistakes=(
        Mistake(
            lambda replies, epsilon: epsilon * len(replies),
            ("Does a reply 0 speak for Anna, too?", "A reply 0 has the loss -epsilon."),
        ),
        Mistake(
            lambda replies, epsilon: epsilon * sum(replies),
            ("Does a reply 0 tell nothing?", "It speaks against Anna: its loss is -epsilon."),
        ),
        Mistake(
            lambda replies, epsilon: epsilon * (len(replies) - 2 * sum(replies)),
            ("Which reply speaks for Anna?", "A reply 1 has +epsilon, a reply 0 -epsilon."),
        ),
        Mistake(
            lambda replies, epsilon: 2 * sum(replies) - len(replies),
            ("How large is the loss of one reply?", "It is epsilon, not 1."),
        ),
        Mistake(
            lambda replies, epsilon: sum(
                math.log(1 / (1 + math.exp(-epsilon if reply == 1 else epsilon)))
                for reply in replies
            ),
            (
                "Is that a ratio of two probabilities?",
                "ln p and ln(1 - p) alone are no losses; the loss is +epsilon or -epsilon.",
            ),
        ),
    ),
    hints=(
        "What is the loss of a reply 1, and what that of a reply 0?",
        "epsilon if reply == 1 else -epsilon",
    ),
)

_LEFT = float(composition_slack(delta=1e-5, paid=5e-8, steps=100))
_DRIFT = 10 * math.tanh(0.05)


def _spread(log, factor=200.0):
    return 0.1 * math.sqrt(factor * log)


_LOG = -math.log(_LEFT)

_slack = Exercise(
    key="4.2",
    right=float(advanced_composition_kov(epsilon=0.1, steps=100, slack=_LEFT)),
    praise="First pay the releases, then compose with what is left.",
    mistakes=(
        Mistake(
            float(advanced_composition_kov(epsilon=0.1, steps=100, slack=1e-5)),
            (
                "Whose delta did you put into the formula?",
                "The releases have spent 100 * 5e-8 already; the slack is what is left.",
            ),
        ),
        Mistake(
            float(advanced_composition(epsilon=0.1, steps=100, slack=_LEFT)),
            (
                "Which of the two formulas is this?",
                "That drift is DRV's, e^epsilon - 1; KOV has tanh(epsilon/2).",
            ),
        ),
        Mistake(
            _spread(_LOG),
            (
                "Two terms. Have you both?",
                "That is the spread alone; add the drift k epsilon tanh(epsilon/2).",
            ),
        ),
        Mistake(
            0.1 * 200 * _LOG + _DRIFT,
            (
                "Larger than adding up, by far. Check the formula sign by sign.",
                "The square root is missing: sqrt(2 k ln(1/delta')).",
            ),
        ),
        Mistake(
            _spread(_LOG / math.log(10)) + _DRIFT,
            ("Which logarithm?", "The theorem has the natural logarithm: np.log, not np.log10."),
        ),
        Mistake(
            _spread(_LOG, factor=100.0) + _DRIFT,
            ("Close. Check what stands under the root.", "The factor 2 under the root is missing."),
        ),
        Mistake(
            float(advanced_composition_kov(epsilon=0.1, steps=100, slack=5e-8)),
            (
                "Which delta belongs into the logarithm?",
                "5e-8 is the delta of one release; the formula wants the slack.",
            ),
        ),
        Mistake(
            10.0,
            ("Valid, but which formula is it?", "You added up; KOV is asked for."),
        ),
    ),
    hints=(
        "Two steps: what is left of delta after the releases have been paid? Then the formula.",
        "delta' = 1e-5 - 100 * 5e-8, then epsilon sqrt(2 k ln(1/delta')) + k epsilon tanh(eps/2).",
    ),
)


def _affordable(name, epsilon=0.1, delta=1e-5):
    """Return the number of replies within a total epsilon of 3."""
    longest = largest_steps(
        RandomizedResponse(epsilon),
        name,
        epsilon=3.0,
        delta=delta,
        adjacency="replace_one",
    )
    return int(longest.value)


def _most(bound):
    """Return the largest k at which a closed formula is at most 3."""
    return max(k for k in range(1, 200) if bound(epsilon=0.1, steps=k, slack=1e-5) <= 3)


_OPTIMAL = _affordable("optimal")

_budget = Exercise(
    key="4.3",
    right=_OPTIMAL,
    praise="Nearly twice what adding up allows, for the same promise.",
    mistakes=(
        Mistake(
            30,
            (
                "True, but somebody can account better.",
                "You added up; use the optimum at delta = 1e-5.",
            ),
        ),
        Mistake(
            _most(advanced_composition_kov),
            (
                "A good formula. Is it the best account?",
                "That is KOV; optimal_composition is exact for coins.",
            ),
        ),
        Mistake(
            _most(advanced_composition),
            ("Is that the best account?", "That is DRV, the loosest formula of this lesson."),
        ),
        Mistake(
            _OPTIMAL + 1,
            (
                "Does your number still fit into the budget?",
                "That is the first that does not fit; one less.",
            ),
        ),
        Mistake(
            _affordable("optimal", delta=1e-6),
            ("Look at delta again.", "That is delta = 1e-6; here it is 1e-5."),
        ),
        Mistake(
            _affordable("optimal", delta=1e-4),
            ("Look at delta again.", "That is delta = 1e-4; here it is 1e-5."),
        ),
        Mistake(
            _affordable("optimal", epsilon=0.2),
            ("Check the epsilon of a reply.", "That is for twice the epsilon; here it is 0.1."),
        ),
    ),
    hints=(
        "Compute the smallest total epsilon for k = 1, 2, 3, ... and stop before it exceeds 3.",
        "k[optimal_composition(epsilon=0.1, steps=k, slack=1e-5) <= 3][-1]",
    ),
)


# The distribution of a sum of losses.


def _convolved(first, second):
    total = {}
    for a, p in first.items():
        for b, q in second.items():
            total[a + b] = total.get(a + b, 0.0) + p * q
    return total


def _coin(size, truth):
    return {size: truth, -size: 1 - truth}


_add_up = Program(
    key="4.4",
    right=_convolved,
    cases=(
        (_coin(1, 0.75), {0: 1.0}),
        (_coin(1, 0.75), _coin(2, 0.9)),
        (_coin(1, 0.75), _coin(1, 0.75)),
        ({2: 0.5, 0: 0.3, -1: 0.2}, {1: 0.6, 0: 0.3, -2: 0.1}),
        (_convolved(_coin(1, 0.6), _coin(1, 0.6)), _coin(1, 0.6)),
    ),
    praise="Losses add, probabilities multiply, and ways to the same sum are added up.",
    mistakes=(
        Mistake(
            lambda first, second: {
                a + b: p * q for a, p in first.items() for b, q in second.items()
            },
            (
                "In how many ways do two coins give a total of 0?",
                "You overwrite: when a sum comes again, add its probability to what is there.",
            ),
        ),
        Mistake(
            lambda first, second: {
                a + b: p * q for (a, p), (b, q) in zip(first.items(), second.items(), strict=False)
            },
            (
                "Can the first loss be high and the second one low?",
                "You pair the losses by their place; take every loss with every other.",
            ),
        ),
        Mistake(
            lambda first, second: {
                loss: first.get(loss, 0) + second.get(loss, 0) for loss in {*first, *second}
            },
            (
                "What do your probabilities add up to?",
                "You merge the two lists; a total is a sum of one loss of each.",
            ),
        ),
        Mistake(
            lambda first, second: {
                loss: first.get(loss, 0) * second.get(loss, 0) for loss in {*first, *second}
            },
            (
                "Must both releases lose the same?",
                "You multiply probabilities of equal losses; take every loss with every other.",
            ),
        ),
    ),
    hints=(
        "Two loops: each loss of the first with each loss of the second.",
        "total[a + b] = total.get(a + b, 0) + p * q",
    ),
)

EXERCISES = (_walk, _slack, _budget, _add_up)
