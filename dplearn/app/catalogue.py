"""Everything a reader can set on the page of epsilon against steps, and what it is.

The key of a field is the library's keyword and its name in the address of the page. Options
that name mechanisms, sampling schemes, adjacencies or accountants are asked of the library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from dplearn.accountants import accountants
from dplearn.app.fields import Choice, Quantity
from dplearn.figures.theme import style_of
from dplearn.ground.guarantee import ADJACENCIES
from dplearn.mechanisms import mechanisms
from dplearn.run import EPOCH_SAMPLINGS, SAMPLINGS

NOISE = Quantity(
    "noise_multiplier",
    "Noise multiplier σ",
    "Noise scale divided by the clipping norm: how large the noise is compared with the "
    "most that one record can contribute. More noise, less leaks.",
    default=4,
    lower=0.2,
    upper=1000,
    per_decade=20,
)
RATE = Quantity(
    "sample_rate",
    "Sample rate q",
    "Probability that a given record takes part in one step: expected batch size / dataset size.",
    default=0.01,
    lower=1e-7,
    upper=1,
)
DATASET = Quantity(
    "dataset_size",
    "Dataset size N",
    "Number of records in the training set; it counts as public.",
    default=60_000,
    lower=1,
    upper=1e10,
    whole=True,
)
BATCH = Quantity(
    "batch_size",
    "Expected batch B",
    "Average number of records in one step. With Poisson sampling the actual number varies.",
    default=600,
    lower=1,
    upper=1e10,
    whole=True,
)
DELTA = Quantity(
    "delta",
    "Failure probability δ",
    "Probability with which the promise of ε may fail. Choose it far below 1 / dataset size.",
    default=1e-5,
    lower=1e-30,
    upper=0.5,
    per_decade=3,
)
STEPS = Quantity(
    "steps",
    "Largest T",
    "Where the curves end. One step is one noisy update, and every step counts.",
    default=40_000,
    lower=1,
    upper=1e7,
    whole=True,
)
EPOCHS = Quantity(
    "epochs",
    "Largest T",
    "Where the curves end. One epoch is 1/q steps: each record is used once on average.",
    default=400,
    lower=0.01,
    upper=1e5,
)
HERE = Quantity(
    "here",
    "You are here: T",
    "The number of steps at which every value on this page is read.",
    default=10_000,
    lower=1,
    upper=1e7,
    whole=True,
)
BUDGET = Quantity(
    "budget",
    "Budget ε",
    "The loss you are willing to accept. Each accountant certifies a largest number of steps "
    "that stays within it.",
    default=2,
    lower=0.01,
    upper=1000,
    per_decade=20,
)


_SPELLED = {
    "poisson": "Poisson",
    "discrete_gaussian": "Discrete Gaussian",
    "none": "All records",
    "shuffled": "Shuffled epochs",
    "random_allocation": "Random allocation (balls and bins)",
    "add_remove": "Add or remove a record",
    "replace_one": "Replace a record",
    "zero_out": "Zero out a record",
}


_DRAWN = {
    "poisson": "Poisson: each record enters by its own coin.",
    "without_replacement": "Without replacement: a fresh subset of fixed size.",
    "none": "All records: nobody is sampled.",
    "shuffled": "Shuffled epochs: a fresh order each epoch, cut into 1/q batches; what most "
    "training code does.",
    "random_allocation": "Random allocation: each epoch every record falls into one of 1/q "
    "batches, on its own.",
}
_SCHEMES = SAMPLINGS + EPOCH_SAMPLINGS


def words(names: Iterable[str]) -> dict[str, str]:
    """Names of the library and how they read on the screen."""
    return {name: _SPELLED.get(name, name.replace("_", " ").capitalize()) for name in names}


MECHANISM = Choice(
    "mechanism",
    "Noise",
    "The law of the noise added in each step. Gaussian needs an L2 clipping norm, Laplace an "
    "L1 clipping norm.",
    # The mechanisms that a noise multiplier alone describes.
    words(
        name
        for name, law in mechanisms.items()
        if [f.name for f in dataclasses.fields(law)] == ["noise_multiplier"]
    ),
    "gaussian",
)
SAMPLING = Choice(
    "sampling",
    "Batches",
    "How a batch is drawn. " + " ".join(_DRAWN[name] for name in _SCHEMES if name in _DRAWN),
    words(_SCHEMES),
    "poisson",
)
ADJACENCY = Choice(
    "adjacency",
    "Neighbours",
    "Which two datasets must be hard to tell apart. Add or remove: one has one record more. "
    "Replace one: same size, one record differs. Zero out: one record is replaced by nothing, "
    "its place remains.",
    words(ADJACENCIES),
    "add_remove",
)
RATE_FROM = Choice(
    "rate_from",
    "Sampling given by",
    "Either the sample rate itself, or dataset size and expected batch size.",
    {"rate": "q", "counts": "N, B"},
    "rate",
)
LENGTH_IN = Choice(
    "length_in",
    "Length given in",
    "Steps, or epochs of 1/q steps each.",
    {"steps": "steps", "epochs": "epochs"},
    "steps",
)
ACCOUNTANTS = Choice(
    "accountants",
    "Accountants",
    "Ways to turn the same run into a statement about ε. All but the approximation are proved.",
    {name: f"{style_of(name).glyph} {style_of(name).label}" for name in accountants},
    tuple(accountants),
)
X_AXIS = Choice("x_axis", "Log T", "", {"log": "log", "linear": "linear"}, "log")
Y_AXIS = Choice("y_axis", "Log ε", "", {"log": "log", "linear": "linear"}, "log")

FIELDS: dict[str, Quantity | Choice] = {
    field.key: field
    for field in (
        *(MECHANISM, NOISE, SAMPLING, RATE_FROM, RATE, DATASET, BATCH, DELTA, ADJACENCY),
        *(LENGTH_IN, STEPS, EPOCHS, HERE, BUDGET, ACCOUNTANTS, X_AXIS, Y_AXIS),
    )
}
