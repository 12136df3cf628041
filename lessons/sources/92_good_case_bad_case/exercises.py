"""Exercises of appendix 92, good case, bad case."""

import math

import numpy as np
from scipy.stats import binom, hypergeom

from dplearn.teaching.classroom import Exercise, Mistake, Program

_HEAVY, _RECORDS, _BATCH = 749, 1797, 18
_LOSS = math.log((_HEAVY + 1) / (_HEAVY + 1 - _BATCH))

_largest = Exercise(
    key="92.1",
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
    key="92.2",
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


def _law(n, m, ones):
    return hypergeom(n, ones, m).pmf(np.arange(m + 1))


_chances = Program(
    key="92.3",
    right=_law,
    cases=((4, 2, 2), (20, 5, 11), (20, 5, 1), (6, 4, 5)),
    praise="With it both cases of this lesson are sums of a few terms.",
    mistakes=(
        Mistake(
            lambda n, m, ones: binom(m, ones / n).pmf(np.arange(m + 1)),
            (
                "May a record be drawn twice?",
                "The binomial law draws with replacement; use comb(ones, j) comb(n - ones, m - j).",
            ),
        ),
        Mistake(
            lambda n, m, ones: np.array(
                [math.comb(ones, j) * math.comb(n - ones, m - j) for j in range(m + 1)], dtype=float
            ),
            ("What is the sum of your array?", "Divide by the number of all subsets, comb(n, m)."),
        ),
        Mistake(
            lambda n, m, ones: _law(n, m, ones)[::-1],
            ("Which entry is for no ones?", "You count the others: entry j is for j ones."),
        ),
        Mistake(
            lambda n, m, ones: _law(n, m, ones)[1:],
            ("How long is your array?", "It starts at no ones: m + 1 entries."),
        ),
        Mistake(
            lambda n, m, ones: _law(n, m, min(ones + 1, n)),
            ("How many ones are there?", "Anna is counted twice: `ones` holds her already."),
        ),
        Mistake(
            lambda n, m, ones: np.cumsum(_law(n, m, ones)),
            ("Exactly j ones, or at most j?", "You added them up; return each chance alone."),
        ),
    ),
    hints=(
        "In how many ways do j ones and m - j others make a batch?",
        "comb(ones, j) * comb(n - ones, m - j) / comb(n, m)",
    ),
)

EXERCISES = (_largest, _twice, _chances)
