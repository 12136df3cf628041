"""Everything a reader can set on the page of epsilon against steps, and what it is.

Options that name mechanisms, sampling schemes, adjacencies or accountants are asked of the library.
"""

from collections.abc import Mapping
from dataclasses import fields, replace

from dplearn.accountants import accountants
from dplearn.app.kit import run_fields
from dplearn.app.kit.fields import Choice, Quantity, Text, by_key
from dplearn.app.kit.state import State, Values, idle
from dplearn.figures import style_of
from dplearn.mechanisms import mechanisms
from dplearn.run import DPSGD, EPOCH_SAMPLINGS, SAMPLINGS

DATASET = Quantity(
    "dataset_size",
    "Dataset size N",
    "Number of records in the training set; it counts as public.",
    default=60_000,
    lower=1,
    upper=1e10,
    whole=True,
)
_ABOUT_HERE = "The number of steps at which every value on this page is read."
HERE = replace(
    run_fields.STEPS, key="here", label="You are here: T", help=_ABOUT_HERE, default=10_000
)
_ABOUT_BUDGET = (
    "The loss you are willing to accept. Each accountant certifies a largest number of steps "
    "that stays within it."
)
BUDGET = Quantity(
    "budget", "Budget ε", _ABOUT_BUDGET, default=2, lower=0.01, upper=1000, per_decade=20
)
_DRAWN = {
    "poisson": "Poisson: each record enters by its own coin.",
    "without_replacement": "Without replacement: a fresh subset of fixed size.",
    "none": "All records: nobody is sampled.",
    "shuffled": "Shuffled epochs: a fresh order each epoch, cut into 1/q batches; what most "
    "training code does.",
    "random_allocation": "Random allocation: each epoch every record falls into one of 1/q "
    "batches, on its own.",
}
# Whose steps may differ in noise and sample rate.
PHASED = ("poisson", "without_replacement")
_SCHEMES = SAMPLINGS + EPOCH_SAMPLINGS
_ABOUT_SAMPLING = "How a batch is drawn. " + " ".join(
    _DRAWN[name] for name in _SCHEMES if name in _DRAWN
)
SAMPLING = Choice("sampling", "Batches", _ABOUT_SAMPLING, run_fields.words(_SCHEMES))
_ABOUT_RATE_FROM = "Either the sample rate itself, or dataset size and expected batch size."
_RATE_FROM_NAMES = {"rate": "q", "counts": "N, B"}
RATE_FROM = Choice("rate_from", "Sampling given by", _ABOUT_RATE_FROM, _RATE_FROM_NAMES)
ACCOUNTANTS = Choice(
    "accountants",
    "Accountants",
    "Ways to turn the same run into a statement about ε. All but the approximation are proved.",
    {name: f"{style_of(name).glyph} {style_of(name).label}" for name in accountants},
    # What is true, what most people use, and the best that forgets what a step is.
    tuple(name for name in accountants if name in ("optimal", "rdp", "pld")),
)
_EXPECTED = "σ, q, T of each further phase, as in 2, 0.02, 500; 1, 0.01, 99"
_ABOUT_THEN = (
    f"A schedule: {_EXPECTED}. T above is then that of the first phase, and the curves go on."
)


def phases_of(text: str) -> tuple[DPSGD, ...]:
    """Plans of the phases that a text names, within the ranges of the other controls."""
    phases = (entry.split(",") for entry in text.split(";") if entry.strip())
    return tuple(
        DPSGD(
            noise_multiplier=run_fields.NOISE.parse(noise),
            sample_rate=run_fields.RATE.parse(rate),
            steps=int(run_fields.STEPS.parse(steps)),
        )
        for noise, rate, steps in phases
    )


THEN = Text("then", "Then σ, q, T", _ABOUT_THEN, "", phases_of, _EXPECTED)
PINNED = Text("pinned", "Pinned run", "", "")  # as the query of its address
PRESENT = Choice("present", "Presentation", "", {"0": "no", "1": "yes"})
X_AXIS = Choice("x_axis", "Log T", "", {"log": "log", "linear": "linear"})
Y_AXIS = replace(X_AXIS, key="y_axis", label="Log ε")

_UNUSED = idle(
    {
        "rate_from": {"rate": {"dataset_size", "batch_size"}, "counts": {"sample_rate"}},
        "length_in": {"steps": {"epochs"}, "epochs": {"steps"}},
    }
)


def _hidden(values: Values) -> set[str]:
    """What another choice makes idle; phases are of Gaussian noise on lots drawn per step."""
    phased = values["mechanism"] == "gaussian" and values["sampling"] in PHASED
    return {*_UNUSED(values), *(() if phased else ("then",))}


def mechanism() -> Choice:
    """The mechanisms that a noise multiplier alone describes."""
    own = {name: [field.name for field in fields(law)] for name, law in mechanisms.items()}
    alone = (name for name, parameters in own.items() if parameters == ["noise_multiplier"])
    about = "Gaussian needs an L2 clipping norm, Laplace an L1 clipping norm."
    told = f"The law of the noise added in each step. {about}"
    return Choice("mechanism", "Noise", told, run_fields.words(alone), "gaussian")


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    noise = mechanism(), run_fields.NOISE
    sampling = SAMPLING, RATE_FROM, run_fields.RATE, DATASET, run_fields.BATCH
    promise = run_fields.DELTA, run_fields.ADJACENCY
    length = run_fields.LENGTH_IN, run_fields.STEPS, run_fields.EPOCHS, THEN
    seen = HERE, BUDGET, ACCOUNTANTS, X_AXIS, Y_AXIS, PINNED, PRESENT
    return State(by_key(*noise, *sampling, *promise, *length, *seen), _hidden)
