"""What a reader takes along: the numbers as CSV and the lines of Python that draw the picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from dplearn.app.pages.epsilon_vs_steps.answers import CLAIM, REFERENCE, Setting, claim
from dplearn.figures import certificate
from dplearn.ground.guarantee import Guarantee

COLUMNS = ("method", "steps", "lower", "epsilon", "kind", "delta", "adjacency", "order")


def as_csv(curves: Mapping[str, Sequence[Guarantee]], steps: Sequence[int]) -> str:
    """One row per accountant and number of steps, epsilon to 17 digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for curve in curves.values():
        for t, g in zip(steps, curve, strict=True):
            order = g.details.get("order", "")
            ends = repr(certificate.floor(g)), repr(g.epsilon)
            writer.writerow((g.method, t, *ends, g.kind, g.delta, g.adjacency, order))
    return out.getvalue()


def as_python(setting: Setting, names: Sequence[str], *, here: int, budget: float) -> str:
    """Lines that compute the same numbers and draw the same pictures."""
    measured, said = REFERENCE in names, claim(setting)
    shown = f"{{**curves, {CLAIM!r}: claim}}" if said else "curves"
    extras = f", reference={REFERENCE!r}" if measured else ""
    extras += f", claims=[{CLAIM!r}], stairs=True" if said else ""
    figures = ["epsilon_curves"] + ["log_steps"] * (not setting.by_epoch) + ["looseness"] * measured
    lines = [
        *(["from dataclasses import replace", ""] if said else []),
        "from dplearn.accountants import accountants",
        "from dplearn.run import guarantees",
        f"from dplearn.mechanisms import {type(setting.base).__name__}",
        f"from dplearn.figures import {', '.join(figures)}",
        "",
        f"base = {type(setting.base).__name__}(noise_multiplier={setting.noise_multiplier!r})",
        f"run = {setting.run}",
        f"steps = {_steps(setting, here)}",
        f"names = {list(names)}",
        "laws = {name: accountants[name]() for name in names}",
        "curves = {name: guarantees(laws[name], base, steps=steps, **run) for name in names}",
        *(_claim(said) if said else []),
        f"epsilon_curves({shown}, steps, here={here}, budget={budget:g}{extras}).show()",
    ]
    if measured:
        marked = f", claims=[{CLAIM!r}]" if said else ""
        lines.append(
            f"looseness({shown}, curves[{REFERENCE!r}], steps, here={here}{marked}).show()"
        )
    return "\n".join(lines) + "\n"


def _steps(setting: Setting, here: int) -> str:
    """The numbers of steps: as a call, or one by one where they depend on the epochs."""
    if setting.by_epoch:
        return str(sorted({*setting.steps, here}))
    return f"log_steps({setting.largest}, include=[{here}])"


def _claim(said: Setting) -> list[str]:
    return [
        f"poisson = run | {{'sampling': {said.sampling!r}, 'adjacency': {said.adjacency!r}}}",
        f"said = guarantees(accountants[{REFERENCE!r}](), base, steps=steps, **poisson)",
        'claim = [replace(g, kind="approximate") for g in said]',
    ]
