"""From what a reader entered to the run it describes."""

from __future__ import annotations

from collections.abc import Mapping

from dplearn.accountants import accountants
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps.answers import REFERENCE, Setting
from dplearn.app.pages.epsilon_vs_steps.fields import ADJACENCY, BATCH, STEPS
from dplearn.run import natural_adjacency, steps_of


def setting_of(state: State) -> Setting:
    """The run in use; entries that contradict each other leave a message at their control."""
    values = state.values
    rate = sample_rate(state)
    return Setting(
        mechanism=values["mechanism"],
        noise_multiplier=values["noise_multiplier"],
        sampling=values["sampling"],
        sample_rate=rate,
        delta=values["delta"],
        adjacency=values["adjacency"],
        largest=_largest(state, rate),
        draft=state.moving,
    )


def sample_rate(state: State) -> float:
    """q; 1 where nobody is sampled."""
    values = state.values
    if values["sampling"] == "none":
        return 1.0
    if values["rate_from"] == "rate":
        return values["sample_rate"]
    size, batch = values["dataset_size"], values["batch_size"]
    if batch > size:
        state.notes[BATCH.key] = (
            f"Expected batch_size to be at most dataset_size = {size:.0f}, "
            f"got {batch:.0f}. {size:.0f} is used."
        )
    elif "at most dataset_size" in state.notes.get(BATCH.key, ""):
        del state.notes[BATCH.key]
    return min(batch / size, 1.0)


def _largest(state: State, rate: float) -> int:
    """T at the end of the curves; an epoch is 1/q steps."""
    if state.values["length_in"] == "steps":
        return int(state.values["steps"])
    steps = steps_of(state.values["epochs"], batches=1 / rate)
    return min(max(steps, 1), int(STEPS.upper))


def names_of(state: State) -> tuple[str, ...]:
    """The accountants asked: the reference below all, approximations on top, dashed."""
    chosen = state.values["accountants"]
    approximate = {name for name in chosen if accountants[name].kind == "approximate"}
    return tuple(sorted(chosen, key=lambda name: (name != REFERENCE, name in approximate)))


def suit_adjacency(state: State) -> None:
    """After a change of sampling: neighbours for which the scheme has a theorem."""
    wanted = natural_adjacency(state.values["sampling"])
    if state.values["adjacency"] == wanted or state.values["sampling"] == "none":
        return
    state.enter(ADJACENCY, wanted)


def here_of(state: State, setting: Setting) -> int:
    """The number of steps one looks at, inside the curves."""
    return min(int(state.values["here"]), setting.largest)


def refusal(refusals: Mapping[str, str]) -> str:
    """The one reason for which nobody answers, without the accountant's name."""
    return next(iter(refusals.values()), "").partition(": ")[2]
