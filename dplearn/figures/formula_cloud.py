"""A formula against its oracle, as a cloud of all points checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dplearn.figures.formula_curve import HEIGHT, REGIONS, finite, wide_axis
from dplearn.figures.kit.marks import Line, gaps, keys, markers
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import GREY, INK, colour_of

# Role, marker, glyph and words of a verdict.
_MARKERS = {"right": ("exact", "circle-open", "○", "right")} | {
    kind: (role, *(("x-thin", "✕") if kind == "unsafe" else ("diamond-open", "◇")), words)
    for kind, (role, _, words) in REGIONS.items()
}


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Value and truth at many points, each right, unsafe, safe or wrong, with `words` on hover.

    Its kind is how the two should be related: identity, upper, lower or asymptotic.
    """

    truth: Sequence[float]
    value: Sequence[float]
    verdict: Sequence[str]
    words: Sequence[str] = ()
    kind: str = "identity"


def formula_cloud(cloud: Cloud, *, finding: str = "", ink: str = INK["light"]) -> go.Figure:
    """Every point of a verification: the value above the truth, and the line where they agree.

    Examples
    --------
    >>> drawn = Cloud(truth=[1, 2], value=[1, 3], verdict=["right", "safe"])
    >>> [trace.name for trace in formula_cloud(drawn).data]
    ['value = truth', 'right', 'wrong, safe side']
    """
    up = wide_axis("value", np.concatenate([finite(cloud.truth), finite(cloud.value)]))
    ends = [up.lower, up.upper]
    diagonal = Line(x=ends, y=ends, label="value = truth", role="quiet")
    kinds = [kind for kind in _MARKERS if kind in cloud.verdict]
    names: list[Any] = [diagonal]
    names += [(_MARKERS[k][2], colour_of(_MARKERS[k][0]), _MARKERS[k][3]) for k in kinds]
    if cloud.kind in ("upper", "lower"):
        side = "above" if cloud.kind == "upper" else "below"
        names.append(("", GREY, f"a bound may lie {side}"))
    traces = [diagonal, *(_markers(cloud, kind) for kind in kinds)]
    across = replace(up, title="truth, by another way")
    return one_panel(traces, across, up, finding, keys(*names), ink=ink, height=HEIGHT)


def _markers(cloud: Cloud, kind: str) -> dict[str, Any]:
    """The points of one verdict."""
    at = [k for k, verdict in enumerate(cloud.verdict) if verdict == kind]
    role, symbol, _, name = _MARKERS[kind]
    return markers(
        gaps([cloud.truth[k] for k in at]),
        gaps([cloud.value[k] for k in at]),
        name,
        symbol=symbol,
        size=8,
        colour=colour_of(role),
        edge=(1.8, colour_of(role)),
        text=[cloud.words[k] for k in at] if cloud.words else None,
        hovertemplate="truth %{x:.4~g}, value %{y:.4~g}<br>%{text}<extra></extra>",
    )
