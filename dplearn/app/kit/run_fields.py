"""Fields of a run of DP-SGD that several pages have, and the library's names as words.

The key of a field is the library's keyword and its name in the address of a page.
"""

from collections.abc import Iterable

from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.language import translated
from dplearn.app.kit.state import State
from dplearn.browser.pairs import TITLES
from dplearn.ground.guarantee import ADJACENCIES
from dplearn.run import steps_of

_SPELLED = TITLES | {
    "none": "All records",
    "shuffled_leaves_out": "Shuffled epochs, a record left out",
    "add_remove": "Add or remove a record",
    "replace_one": "Replace a record",
    "zero_out": "Zero out a record",
}


def words(names: Iterable[str]) -> dict[str, str]:
    """Names of the library and how they read on the screen."""
    return {name: _SPELLED.get(name, name.replace("_", " ").capitalize()) for name in names}


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
_ABOUT_RATE = (
    "Probability that a given record takes part in one step: expected batch size / dataset size."
)
RATE = Quantity("sample_rate", "Sample rate q", _ABOUT_RATE, default=0.01, lower=1e-7, upper=1)
_ABOUT_BATCH = (
    "Average number of records in one step. With Poisson sampling the actual number varies."
)
BATCH = Quantity(
    "batch_size", "Expected batch B", _ABOUT_BATCH, default=600, lower=1, upper=1e10, whole=True
)
DELTA = Quantity(
    "delta",
    "Additive slack δ",
    "What any probability may grow by beyond the factor e^ε. Choose it far below 1 / dataset size.",
    default=1e-5,
    lower=1e-30,
    upper=0.5,
    per_decade=3,
)
_ABOUT_STEPS = "Where the curves end. One step is one noisy update, and every step counts."
STEPS = Quantity("steps", "Largest T", _ABOUT_STEPS, default=40_000, lower=1, upper=1e7, whole=True)
_ABOUT_EPOCHS = "Where the curves end. One epoch is 1/q steps: each record is used once on average."
EPOCHS = Quantity("epochs", "Largest T", _ABOUT_EPOCHS, default=400, lower=0.01, upper=1e5)
_ABOUT_ADJACENCY = (
    "Which two datasets must be hard to tell apart. Add or remove: one has one record more. "
    "Replace one: same size, one record differs. Zero out: one record is replaced by nothing, "
    "its place remains."
)
ADJACENCY = Choice("adjacency", "Neighbours", _ABOUT_ADJACENCY, words(ADJACENCIES))
_ABOUT_LENGTH_IN = "Steps, or epochs of 1/q steps each."
_LENGTH_IN_NAMES = {"steps": "steps", "epochs": "epochs"}
LENGTH_IN = Choice("length_in", "Length given in", _ABOUT_LENGTH_IN, _LENGTH_IN_NAMES)


def rate_of(state: State, size: float, said_as: str) -> float:
    """q = B / N; a batch larger than the data leaves a message at its control."""
    batch = state.values["batch_size"]
    if batch > size:
        state.notes["batch_size"] = (
            f"Expected “{translated(state.fields['batch_size'].label)}” to be at most {said_as}, "
            f"got {batch:.0f}. {size:.0f} is used."
        )
    elif "to be at most" in state.notes.get("batch_size", ""):
        del state.notes["batch_size"]
    return min(batch / size, 1.0)


def length_of(state: State, rate: float) -> int:
    """T, as given or from epochs of 1/q steps, within the range of the field."""
    values, steps = state.values, state.fields["steps"]
    if values["length_in"] == "steps":
        return values["steps"]
    return min(max(steps_of(values["epochs"], batches=1 / rate), 1), int(steps.upper))  # type: ignore[union-attr]
