"""Exercises of appendix 92, good case, bad case."""

import math

from dplearn.teaching.classroom import Exercise, Mistake, Program

_HEAVY, _RECORDS, _BATCH = 749, 1797, 18
_LOSS = math.log((_HEAVY + 1) / (_HEAVY + 1 - _BATCH))

_largest = Exercise(
    key="92.2",
    right=_LOSS,
    praise="A crowd of 749 is worth an epsilon of a fortieth, without any noise.",
    mistakes=(
        Mistake(
            math.inf,
            (
                "Which number of heavy digits was impossible before?",
                "None: the other 749 can fill a batch of 18. Compare two chances.",
            ),
        ),
        Mistake(
            math.exp(_LOSS),
            ("In which unit is a privacy loss?", "That is the ratio; take its logarithm."),
        ),
        Mistake(
            math.log((_HEAVY + 1) / _HEAVY),
            (
                "How many of the batch are heavy at the output that speaks most for her?",
                "That is one draw; all 18 of the batch are heavy at that output.",
            ),
        ),
        Mistake(
            _BATCH / _RECORDS,
            (
                "That is her chance to be drawn. What does the output add?",
                "You gave q. Compare the chance of a batch of 18 heavy ones after and before.",
            ),
        ),
        Mistake(
            -math.log(_BATCH / _RECORDS),
            (
                "Is there an output that only she explains?",
                "ln(1/q) belongs to the bad case; here 749 others are heavy, too.",
            ),
        ),
        Mistake(
            math.log10(math.exp(_LOSS)),
            ("Which logarithm?", "A loss is in nats: np.log, not np.log10."),
        ),
    ),
    hints=(
        "At which output has her turning changed the chance most?",
        "All 18 are heavy: ln of C(heavy + 1, 18) / C(heavy, 18).",
    ),
)

_twice = Exercise(
    key="92.3",
    right=(_RECORDS + 1) // 2,
    rtol=1e-4,  # a half is a slip of its own
    praise="Small batches forgive the slip, large ones do not: m = n has no variance at all.",
    mistakes=(
        Mistake(
            _RECORDS / 2,
            (
                "Close. Which n stands in the numerator of the factor?",
                "The factor is (n - 1)/(n - m), with n - 1 above.",
            ),
        ),
        Mistake(
            (_RECORDS - 1) / (_RECORDS - _BATCH),
            (
                "Can a batch hold so few records?",
                "That is the factor for the largest m; find the m at which it is 2.",
            ),
        ),
        Mistake(
            (_RECORDS - 1) // 2,
            (
                "Put your m back into the factor.",
                "Solve n - m = (n - 1)/2 for m, not for n - m.",
            ),
        ),
        Mistake(
            _RECORDS * (1 - math.sqrt(0.5)),
            (
                "Variance, or standard deviation?",
                "It is the variance that is twice too large; no root.",
            ),
        ),
    ),
    hints=(
        "Divide the printed variance by the one of the card of 6.2, for k ones.",
        "The factor is (n - 1)/(n - m); set it to 2.",
    ),
)


def _ways(rest):
    """Return a function like the right one, with `rest` ways to choose the other records."""
    return lambda j, records, batch, ones: (
        math.comb(ones, j) * rest(j, records, batch, ones) / math.comb(records, batch)
    )


_chance = Program(
    key="92.1",
    right=_ways(lambda j, records, batch, ones: math.comb(records - ones, batch - j)),
    cases=((2, 20, 5, 11), (1, 20, 5, 1), (0, 6, 4, 3), (3, 10, 4, 5)),
    praise="That is the hypergeometric distribution, by which the others hide her.",
    mistakes=(
        Mistake(
            _ways(lambda j, records, batch, ones: math.comb(records, batch - j)),
            ("Among whom is the rest chosen?", "Not among all: there are records - ones others."),
        ),
        Mistake(
            _ways(lambda j, records, batch, ones: math.comb(records - ones, batch)),
            ("How many are still to be chosen?", "j of the batch are chosen: batch - j are left."),
        ),
        Mistake(
            _ways(lambda j, records, batch, ones: 1),
            ("Does the rest of the batch choose itself?", "Choose batch - j of the others."),
        ),
        Mistake(
            _ways(lambda j, records, batch, ones: math.comb(records - ones, j)),
            ("How many are still to be chosen?", "The rest are batch - j records, not j."),
        ),
        Mistake(
            _ways(lambda j, records, batch, ones: math.comb(records - j, batch - j)),
            ("May the rest hold more ones?", "Exactly j are ones: the rest come from the others."),
        ),
        Mistake(
            _ways(lambda j, records, batch, ones: math.comb(batch, j)),
            ("Are places chosen, or records?", "Choose batch - j of the records - ones others."),
        ),
    ),
    hints=(
        "How many others are there, and how many of them does the batch need?",
        "math.comb(records - ones, batch - j)",
    ),
)

EXERCISES = (_chance, _largest, _twice)
