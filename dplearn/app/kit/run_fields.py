"""Fields of a run of DP-SGD that several pages have, and the library's names as words.

The key of a field is the library's keyword and its name in the address of a page.
"""

from collections.abc import Iterable

from dplearn.app.kit.fields import Words
from dplearn.app.kit.language import Said
from dplearn.app.kit.state import State
from dplearn.ground.guarantee import ADJACENCIES
from dplearn.mechanisms.drawing import steps_of

_say = Words("shared")


def words(names: Iterable[str]) -> dict[str, str]:
    """Names of the library and how they read on the screen."""
    spelled = _say.table("names")
    return {name: spelled.get(name, name.replace("_", " ").capitalize()) for name in names}


NOISE = _say.quantity("noise_multiplier", 4, 0.2, 1000, per_decade=20)
RATE = _say.quantity("sample_rate", 0.01, 1e-7, 1)
BATCH = _say.quantity("batch_size", 600, 1, 1e10, whole=True)
DELTA = _say.quantity("delta", 1e-5, 1e-30, 0.5, per_decade=3)
STEPS = _say.quantity("steps", 40_000, 1, 1e7, whole=True)
EPOCHS = _say.quantity("epochs", 400, 0.01, 1e5)
ADJACENCY = _say.choice("adjacency", words(ADJACENCIES))
LENGTH_IN = _say.choice("length_in")


def rate_of(state: State, size: float, said_as: str) -> float:
    """q = B / N; a batch larger than the data leaves a message at its control."""
    batch = state.values["batch_size"]
    if batch > size:
        state.notes["batch_size"] = _say.said(
            "errors.most",
            label=state.fields["batch_size"].label,
            most=Said(said_as),
            entry=f"{batch:.0f}",
            value=f"{size:.0f}",
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
