"""Runs that people know, ready to be looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps.fields import FIELDS


@dataclass(frozen=True)
class Preset:
    """A known run.

    Parameters
    ----------
    title : str
    values : mapping of str to value
        Fields of the page; those not named take their defaults.
    source : str
        Where the run is described.
    published : tuple of str
        Rows of data/published.csv that belong to it without naming its parameters.
    """

    title: str
    values: Mapping[str, Any]
    source: str
    published: tuple[str, ...] = ()


CUSTOM = "Custom"
OWN = "Your own run. Choose a published one above to compare, or to start again."

PRESETS = (
    Preset(
        "Abadi et al. 2016, MNIST",
        {},
        "The reference run of the first paper on DP-SGD: lots of 600 out of 60 000 images.",
    ),
    Preset(
        "TensorFlow Privacy tutorial, MNIST",
        {
            "noise_multiplier": 1.1,
            "rate_from": "counts",
            "dataset_size": 60_000,
            "batch_size": 256,
            "length_in": "epochs",
            "epochs": 60,
            "here": 14_063,
            "budget": 3,
        },
        "The setting of the tutorial's README: 60 epochs, batches of 256.",
    ),
    Preset(
        "Opacus example, MNIST",
        {
            "noise_multiplier": 1.1,
            "rate_from": "counts",
            "dataset_size": 60_000,
            "batch_size": 240,
            "length_in": "epochs",
            "epochs": 60,
            "here": 15_000,
            "budget": 3,
        },
        "The setting of the example's README: 60 epochs, batches of 240.",
    ),
    Preset(
        "De et al. 2022, CIFAR-10",
        {
            "noise_multiplier": 10,
            "rate_from": "counts",
            "dataset_size": 50_000,
            "batch_size": 4096,
            "steps": 875,
            "here": 875,
            "budget": 1,
        },
        "Large batches: the run stops at 875 steps, within ε = 1.",
    ),
    Preset(
        "US Census 2020, Gaussian noise",
        {
            "noise_multiplier": 1 / math.sqrt(2 * 2.56),
            "sampling": "none",
            "delta": 1e-10,
            "steps": 10,
            "here": 1,
            "budget": 17.14,
        },
        "One release with ρ = 2.56, σ = 1/√(2ρ), nobody sampled; T > 1 would be the same "
        "release again. The bureau adds discrete Gaussian noise.",
        published=("P29a",),
    ),
    Preset(
        "Chua et al. 2024, shuffled batches",
        {
            "noise_multiplier": 0.5,
            "sampling": "shuffled",
            "sample_rate": 1e-4,
            "delta": 1e-6,
            "adjacency": "zero_out",
            "steps": 100_000,
            "here": 10_000,
            "budget": 5,
        },
        "One epoch of 10 000 batches: what shuffling leaks, and what is often claimed for it.",
    ),
)

# What makes two states the same run; where one looks and what one draws is left out.
_RUN = ("mechanism", "noise_multiplier", "sampling", "rate_from", "delta", "adjacency", "length_in")
_DEPENDENT = {
    "rate": ("sample_rate",),
    "counts": ("dataset_size", "batch_size"),
    "steps": ("steps",),
    "epochs": ("epochs",),
}


def apply(state: State, preset: Preset) -> None:
    """Set every field that the preset names and the rest of the run to its default."""
    keep = ("accountants", "x_axis", "y_axis")
    values = {k: kind.default for k, kind in FIELDS.items() if k not in keep}
    state.put({**values, **preset.values})


def current(state: State) -> Preset | None:
    """The preset that the state shows, if it shows one."""
    return next((p for p in PRESETS if _same_run(state, p)), None)


def _same_run(state: State, preset: Preset) -> bool:
    def same(key: str) -> bool:
        kind: Quantity | Choice = FIELDS[key]
        wanted = preset.values.get(key, kind.default)
        return kind.show(state.values[key]) == kind.show(wanted)

    keys = _RUN + _DEPENDENT[state.values["rate_from"]] + _DEPENDENT[state.values["length_in"]]
    return all(same(key) for key in keys)
