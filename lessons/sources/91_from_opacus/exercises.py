"""Exercise of appendix 91, from Opacus."""

import math

from dplearn.teaching.classroom import Mistake, Program


def _numbers(rate):
    """A function like the right one, by its rate."""
    return lambda records, batch_size, epochs: [
        rate(math.ceil(records / batch_size), records, batch_size, epochs),
        math.ceil(records / batch_size) * epochs,
    ]


_plan = Program(
    key="91.1",
    right=_numbers(lambda batches, records, batch_size, epochs: 1 / batches),
    cases=((1438, 128, 5), (60_000, 256, 10), (10, 4, 3)),
    praise="A whole number of batches: so q is not batch_size / records.",
    mistakes=(
        Mistake(
            _numbers(lambda batches, records, batch_size, epochs: batch_size / records),
            ("Is the last batch full?", "Opacus takes 1 / len(loader), whatever the last holds."),
        ),
        Mistake(
            _numbers(lambda batches, records, batch_size, epochs: 1 / batch_size),
            ("How many lots has an epoch?", "It has `batches`; each record is expected in one."),
        ),
        Mistake(
            _numbers(lambda batches, records, batch_size, epochs: 1 / records),
            ("Is a lot one record?", "A record is expected once in `batches` lots."),
        ),
        Mistake(
            _numbers(lambda batches, records, batch_size, epochs: 1 / (batches * epochs)),
            ("Is the rate that of a step, or of the run?", "Of a step: epochs play no part."),
        ),
        Mistake(
            _numbers(lambda batches, records, batch_size, epochs: batches / records),
            ("Is a rate a number of batches?", "One epoch has `batches` lots: 1 / batches."),
        ),
    ),
    hints=(
        "In an epoch of so many lots, each record is expected once.",
        "1 / batches",
    ),
)

EXERCISES = (_plan,)
