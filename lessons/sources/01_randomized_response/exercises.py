"""Exercises of lesson 01, anonymisation and randomised response."""

import math

from dplearn.teaching.book import randomized_response_truth, randomized_response_variance
from dplearn.teaching.classroom import Exercise, Mistake, Program


def _counting(equal):
    """Return a function that finds the smallest group, with `equal` as the test of two rows."""
    return lambda rows: min(sum(equal(row, other) for other in rows) for row in rows)


_groups = Program(
    key="1.1",
    right=lambda rows: min(rows.count(row) for row in rows),
    cases=(
        ([("May", "Oak"), ("May", "Oak"), ("May", "Elm"), ("May", "Elm"), ("May", "Elm")],),
        ([("May", "Oak"), ("June", "Elm"), ("May", "Oak"), ("June", "Oak")],),
        ([(1, "a"), (2, "b"), (1, "a"), (2, "b"), (1, "b"), (1, "b"), (2, "b")],),
        ([("May", "Oak")],),
    ),
    praise="A notebook now draws the pictures of this lesson from your function.",
    mistakes=(
        Mistake(
            lambda rows: min(rows.count(row) for row in rows) - 1,
            ("Is a pupil hidden by herself, too?", "Count the row itself: rows.count(row)."),
        ),
        Mistake(
            lambda rows: len(set(rows)),
            ("Is that how many rows are equal?", "You count the different rows of the table."),
        ),
        Mistake(len, ("Which rows count?", "You count all rows; count those that equal row.")),
        Mistake(
            _counting(lambda row, other: row[0] == other[0]),
            ("Is the first column enough?", "Compare whole rows: rows.count(row)."),
        ),
        Mistake(
            _counting(lambda row, other: row[0] == other[0] or row[1] == other[1]),
            ("Must one column be equal, or both?", "Both must be equal: rows.count(row)."),
        ),
    ),
    hints=("How often does the list rows hold this row?", "rows.count(row)"),
)

_BEFORE, _AFTER = 28.5, 27.1  # average pocket money of 24 members, and of 23 without Ben

_pocket_money = Exercise(
    key="1.2",
    right=_AFTER + 24 * (_BEFORE - _AFTER),
    praise="Two averages over large groups, and Ben stands alone.",
    mistakes=(
        Mistake(
            _BEFORE - _AFTER,
            (
                "Did one member of 24 really move the average by all of his money?",
                "That is how far the average moved; turn both averages into sums first.",
            ),
        ),
        Mistake(
            24 * (_BEFORE - _AFTER),
            (
                "How many members were counted on Tuesday?",
                "You multiplied both averages by 24; Tuesday's belongs to 23 members.",
            ),
        ),
        Mistake(
            23 * (_BEFORE - _AFTER),
            (
                "How many members were counted on Monday?",
                "You multiplied both averages by 23; Monday's belongs to 24 members.",
            ),
        ),
        Mistake(
            23 * _BEFORE - 24 * _AFTER,
            (
                "Which number of members belongs to which day?",
                "The numbers are exchanged: 24 on Monday, 23 on Tuesday.",
            ),
        ),
        Mistake(
            23 * _AFTER - 24 * _BEFORE,
            (
                "Can pocket money be negative?",
                "Subtract the other way round: Monday's sum minus Tuesday's.",
            ),
        ),
        Mistake(
            24 * _BEFORE,
            ("Whose money is that?", "That is Monday's sum; take away what is left on Tuesday."),
        ),
        Mistake(
            _BEFORE + _AFTER,
            (
                "Why should the two averages be added?",
                "Multiply each by its number of members, then subtract.",
            ),
        ),
    ),
    hints=(
        "What do all members get together on Monday, and what on Tuesday?",
        "Sum = average times number of members; subtract the two sums.",
    ),
)


def _people(epsilon, error=0.02):
    """Return the number of answers, not rounded, for a standard error of `error`."""
    return randomized_response_variance(epsilon=epsilon, users=1) / error**2


_TOLD = randomized_response_truth(epsilon=0.5)

_families = Exercise(
    key="1.3",
    right=math.ceil(_people(0.5)),
    praise="A promise to families is paid for by the whole school, and several more.",
    rtol=5e-6,  # the number before rounding up is near
    mistakes=(
        Mistake(
            math.floor(_people(0.5)),
            (
                "Is the standard error then at most 0.02, or a little more?",
                f"With {math.floor(_people(0.5))} it is a little more; round up.",
            ),
        ),
        Mistake(
            _people(0.5),
            (
                "Can part of a pupil answer?",
                "The number is right before rounding: round up to a whole pupil.",
            ),
        ),
        Mistake(
            _people(1.5),
            (
                "For whom does your coin make the promise?",
                "You spent 1.5 on one answer; three sisters would pay three times that.",
            ),
        ),
        Mistake(
            _people(1.5 / math.sqrt(3)),
            (
                "How does the loss grow with the size of a group?",
                "Like k, not like its root: each answer may cost 1.5/3.",
            ),
        ),
        Mistake(
            _people(4.5),
            (
                "Must a single answer get a larger or a smaller epsilon than the family?",
                "Divide 1.5 by three; you multiplied.",
            ),
        ),
        Mistake(
            _people(0.5, error=math.sqrt(0.02)),
            (
                "Compare like with like: standard error, or variance?",
                "The variance must be at most 0.02 squared.",
            ),
        ),
        Mistake(
            _people(0.5, error=0.01),
            (
                "Is 0.02 one standard error, or two?",
                "One standard error is to be 0.02, so do not halve it.",
            ),
        ),
        Mistake(
            _TOLD * (1 - _TOLD) / 0.02**2,
            (
                "That would do for the share of yes replies. Is that what is estimated?",
                "Turning around divides the error by 2p - 1; square it in the variance.",
            ),
        ),
        Mistake(
            _people(math.log(3)),
            (
                "Which p belongs to your epsilon?",
                "p is not 1/2 + epsilon/2, and not 0.75: p = e^epsilon/(1 + e^epsilon).",
            ),
        ),
        Mistake(
            2 / 0.5**2 / 0.02**2,
            (
                "Where does your variance come from?",
                "2/epsilon^2 is that of Laplace noise; a coin has e^epsilon/(e^epsilon - 1)^2.",
            ),
        ),
    ),
    hints=(
        "First: what may one answer cost, if three together may cost 1.5?",
        "Solve e^epsilon / (n (e^epsilon - 1)^2) = 0.02^2 for n, with epsilon = 0.5.",
    ),
)


# An attack on a counter that answers for five or more.


def _asked(attack, copied, pupils, pupil):
    """Return the answer of `attack` about `pupil`; it may count groups of five or more."""

    def count(group):
        if len(group := set(group)) < 5:
            raise ValueError("refused, fewer than five")
        return len(group & copied)

    return attack(count, set(pupils), pupil)


_SIX = frozenset({"Anna", "Ben", "Chi", "Dan", "Eva", "Fay"})
_EIGHT = _SIX | {"Gus", "Hal"}

_attack = Program(
    key="1.4",
    right=lambda count, pupils, pupil: count(pupils) > count(pupils - {pupil}),
    measure=_asked,
    cases=(
        (frozenset({"Anna", "Ben"}), _SIX, "Anna"),
        (frozenset({"Ben"}), _SIX, "Anna"),
        (frozenset({"Anna"}), _SIX, "Anna"),
        (frozenset(), _EIGHT, "Eva"),
        (_EIGHT, _EIGHT, "Hal"),
        (_EIGHT - {"Gus"}, _EIGHT, "Gus"),
    ),
    praise="Two harmless counts, one person: a rule about small groups protects nobody.",
    mistakes=(
        Mistake(
            lambda count, pupils, pupil: count({pupil}) == 1,
            (
                "Does the counter answer for one name?",
                "It refuses fewer than five names: ask for two large groups, and subtract.",
            ),
        ),
        Mistake(
            lambda count, pupils, pupil: count(pupils) > 0,
            (
                "You learn that somebody copied. Is it this pupil?",
                "Ask again without the pupil, and compare the two counts.",
            ),
        ),
        Mistake(
            lambda count, pupils, pupil: count(pupils - {pupil}) > 0,
            (
                "Whom does your group leave out?",
                "Compare that count with the count of all pupils.",
            ),
        ),
        Mistake(
            lambda count, pupils, pupil: count(pupils) == count(pupils - {pupil}),
            (
                "If the count stays the same without the pupil, did the pupil copy?",
                "The pupil copied if the two counts differ; you say the opposite.",
            ),
        ),
    ),
    hints=(
        "Which two groups differ in this pupil only?",
        "Compare count(pupils) with count(pupils - {pupil}).",
    ),
)

EXERCISES = (_groups, _pocket_money, _families, _attack)
