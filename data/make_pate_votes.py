"""Write pate_votes.csv.gz: how teachers of drawn digits voted on a thousand further digits.

    python data/make_pate_votes.py

It draws 60,000 digits (seed 0) and divides them among 50 to 1,000 teachers, each a softmax
regression on oriented gradients; they vote on the first 1,000 digits of seed 1. Half a minute of
one core. With another version of PyTorch a few votes may differ.
"""

from pathlib import Path

from archive import write

from dplearn.datasets import oriented_gradients, synthetic_digits
from dplearn.pate import Votes
from dplearn.pate.teachers import teacher_labels

TARGET = Path(__file__).with_name("pate_votes.csv.gz")
QUERIES = 1000


def table():
    """Lines of the file: a header, then one line per number of teachers and query."""
    images, labels = synthetic_digits(count=60_000, seed=0)
    asked, truth = synthetic_digits(count=QUERIES, seed=1)
    features, queries = oriented_gradients(images), oriented_gradients(asked)
    lines = [",".join(["teachers", "label", *(f"votes_{digit}" for digit in range(10))])]
    for teachers in (50, 100, 250, 500, 1000):
        given = teacher_labels(features, labels, queries, teachers=teachers)
        for label, counts in zip(truth, Votes.from_labels(given, classes=10).counts, strict=True):
            lines.append(",".join(map(str, [teachers, label, *counts])))
    return lines


if __name__ == "__main__":
    write(table(), TARGET)
