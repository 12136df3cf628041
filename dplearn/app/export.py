"""What a reader takes along: the numbers as CSV and the lines of Python that draw the picture."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Mapping, Sequence

from dplearn.app.calls import Setting
from dplearn.guarantee import Guarantee
from dplearn.mechanisms import Mechanism

COLUMNS = ("method", "steps", "epsilon", "kind", "delta", "adjacency", "order")


def as_csv(curves: Mapping[str, Sequence[Guarantee]], steps: Sequence[int]) -> str:
    """One row per accountant and number of steps, epsilon to 17 digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for curve in curves.values():
        for t, g in zip(steps, curve, strict=True):
            order = g.details.get("order", "")
            writer.writerow((g.method, t, repr(g.epsilon), g.kind, g.delta, g.adjacency, order))
    return out.getvalue()


def as_python(setting: Setting, names: Sequence[str], *, here: int, budget: float) -> str:
    """Lines that compute the same numbers and draw the same picture."""
    step, laws = _spell(setting.step)
    return f"""\
from dplearn.accountants import accountants
from dplearn.mechanisms import {", ".join(sorted(laws))}
from dplearn.plotting import epsilon_curves, log_steps

step = {step}
run = {{"delta": {setting.delta!r}, "adjacency": "{setting.adjacency}"}}
steps = log_steps({setting.largest}, include=[{here}])
names = {list(names)}
curves = {{name: accountants[name]().epsilon_curve(step, steps=steps, **run) for name in names}}
epsilon_curves(curves, steps, here={here}, budget={budget:g}).show()
"""


def _spell(mechanism: Mechanism) -> tuple[str, set[str]]:
    """The call that makes a mechanism, and the class names it needs."""
    name, laws, parts = type(mechanism).__name__, set(), []
    for field in dataclasses.fields(mechanism):  # type: ignore[arg-type]
        value = getattr(mechanism, field.name)
        spelled, more = _spell(value) if isinstance(value, Mechanism) else (repr(value), set())
        parts.append(spelled if field.name == "base" else f"{field.name}={spelled}")
        laws |= more
    return f"{name}({', '.join(parts)})", laws | {name}
