"""Published runs, each as the address that shows it."""

from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields


@dataclass(frozen=True)
class Preset:
    """A published run: the query of its address, and where it is described.

    `printed` are rows of data/published.csv that belong to it without naming its parameters.
    """

    title: str
    query: str
    source: str
    printed: tuple[str, ...] = ()

    @property
    def address(self) -> dict[str, str]:
        """Fields and their values as text."""
        return dict(parse_qsl(self.query))


CUSTOM = "Custom"
OWN = "Your own run. Choose a published one to compare, or to start again."
_MNIST = "noise_multiplier=1.1&rate_from=counts&dataset_size=60000&length_in=epochs&epochs=60"
PRESETS = (
    Preset(
        "Abadi et al. 2016, MNIST",
        "",
        "The reference run of the first paper on DP-SGD: lots of 600 out of 60 000 images.",
    ),
    Preset(
        "TensorFlow Privacy tutorial, MNIST",
        f"{_MNIST}&batch_size=256&here=14063&budget=3",
        "The setting of the tutorial's README: 60 epochs, batches of 256.",
    ),
    Preset(
        "Opacus example, MNIST",
        f"{_MNIST}&batch_size=240&here=15000&budget=3",
        "The setting of the example's README: 60 epochs, batches of 240.",
    ),
    Preset(
        "De et al. 2022, CIFAR-10",
        "noise_multiplier=10&rate_from=counts&dataset_size=50000&batch_size=4096"
        "&steps=875&here=875&budget=1",
        "Large batches: the run stops at 875 steps, within ε = 1.",
    ),
    Preset(
        "US Census 2020, Gaussian noise",
        "noise_multiplier=0.4419417382&sampling=none&delta=1e-10&steps=10&here=1&budget=17.14",
        "One release with ρ = 2.56, σ = 1/√(2ρ), nobody sampled; T > 1 would be the same "
        "release again. The bureau adds discrete Gaussian noise.",
        printed=("P29a",),
    ),
    Preset(
        "Chua et al. 2024, shuffled batches",
        "noise_multiplier=0.5&sampling=shuffled&sample_rate=1e-4&delta=1e-6&adjacency=zero_out"
        "&steps=100000&here=10000&budget=5",
        "One epoch of 10 000 batches: what shuffling leaks, and what is often claimed for it.",
    ),
)
_DRAWN = ("accountants", "x_axis", "y_axis", "pinned", "present")


def start(state: State, preset: Preset) -> None:
    """Set the whole run as the preset has it; what is drawn of it stays."""
    drawn = {key: text for key, text in state.address().items() if key in _DRAWN}
    state.read({**drawn, **preset.address})


def current(state: State) -> Preset | None:
    """The preset that the state shows, if it shows one."""
    return _by_run().get(_run(state))


def _run(state: State) -> tuple[Any, ...]:
    """What makes two states the same run: all but where one looks and what one draws."""
    skip = {*state.hidden(state.values), "here", "budget", *_DRAWN}
    return tuple(value for key, value in state.values.items() if key not in skip)


@cache
def _by_run() -> dict[tuple[Any, ...], Preset]:
    by_run, state = {}, fields.state()
    for preset in PRESETS:
        state.read(preset.address)
        by_run[_run(state)] = preset
    return by_run
