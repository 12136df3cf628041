"""What the page shows at one moment: every curve, and what is read off at the chosen T."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import answers as calls
from dplearn.app.pages.epsilon_vs_steps import run
from dplearn.app.pages.epsilon_vs_steps.answers import CLAIM, REFERENCE, Setting
from dplearn.ground.guarantee import Guarantee

Curve = Sequence[Guarantee]


@dataclass(frozen=True)
class View:
    """Curves and readings of one run.

    Parameters
    ----------
    setting : Setting
    here : int
        The number of steps one looks at; one of `steps`.
    budget : float
    steps : tuple of int
    curves : mapping of str to sequence of Guarantee
        The accountants that are shown.
    readings : mapping of str to Guarantee
        Their guarantees at `here`.
    certified : mapping of str to int
        Largest number of steps each certifies within `budget`.
    reference : sequence of Guarantee
        What they are measured by, shown or not.
    claims : mapping of str to sequence of Guarantee
        What is said of such a run and does not hold for it.
    """

    setting: Setting
    here: int
    budget: float
    steps: tuple[int, ...]
    curves: Mapping[str, Curve]
    readings: Mapping[str, Guarantee]
    certified: Mapping[str, int]
    reference: Curve
    claims: Mapping[str, Curve]

    @property
    def reference_here(self) -> Guarantee:
        """The reference at the chosen number of steps."""
        return self.reference[self.steps.index(self.here)]

    @property
    def claims_here(self) -> dict[str, Guarantee]:
        """The claims at the chosen number of steps."""
        return {name: curve[self.steps.index(self.here)] for name, curve in self.claims.items()}


def view_of(state: State, setting: Setting, names: Sequence[str]) -> View:
    """Ask the library."""
    here, budget = run.here_of(state, setting), state.values["budget"]
    curves, steps = calls.curves(names, setting, here)
    measure = REFERENCE if not calls.answer(REFERENCE, setting).refusal else names[0]
    return View(
        setting=setting,
        here=here,
        budget=budget,
        steps=steps,
        curves=curves,
        readings={name: calls.reading(name, setting, here) for name in names},
        certified={name: calls.certified(name, setting, budget) for name in names},
        reference=calls.curves((measure,), setting, here)[0][measure],
        claims={CLAIM: said} if (said := calls.claimed(setting, steps)) else {},
    )
