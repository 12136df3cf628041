"""Three sets to practise on, the same for the worker, the explorer and the code it writes."""

from dplearn.datasets.files import holds_mnist, mnist
from dplearn.datasets.records import Labelled, split
from dplearn.datasets.shipped import digits
from dplearn.datasets.synthetic import cache_folder, synthetic_digits
from dplearn.ground import validate

# Records to train on; at most so many others are held out.
PRACTICE_SIZES = {"digits": 1438, "synthetic": 10_000, "mnist": 60_000}
_HELD_OUT = 2000


def practice_set(name: str) -> tuple[Labelled, Labelled]:
    """Records to train on and held-out ones, of a set of `PRACTICE_SIZES`.

    MNIST is read from the folder ``mnist`` in `cache_folder`, where synthetic ones are kept.

    Examples
    --------
    >>> train, held_out = practice_set("digits")
    >>> len(train.labels), len(held_out.labels)
    (1438, 359)
    """
    validate.one_of(tuple(PRACTICE_SIZES), dataset=name)
    if name == "digits":
        train, _, test = split(digits(), validation=0.0)
    elif name == "synthetic":
        train = synthetic_digits(count=PRACTICE_SIZES[name], cache=cache_folder())
        test = synthetic_digits(count=_HELD_OUT, seed=1, cache=cache_folder())
    else:
        train, test = mnist(cache_folder() / name)
    return train, Labelled(test.images[:_HELD_OUT], test.labels[:_HELD_OUT])


def practice_names() -> tuple[str, ...]:
    """Names of the sets that can be had at once: MNIST only where its four files are."""
    absent = set() if holds_mnist(cache_folder() / "mnist") else {"mnist"}
    return tuple(name for name in PRACTICE_SIZES if name not in absent)
