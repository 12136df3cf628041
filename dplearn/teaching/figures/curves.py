"""Charts for the lessons: curves, panels, sliders and number lines."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dplearn.core.guarantee import Guarantee
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.kit.axes import Axis, spread
from dplearn.teaching.figures.kit.marks import Curve, Dot, Part, gaps, markers
from dplearn.teaching.figures.kit.template import GREY, INK, RED, colour_of, style_of, transparent

_INNER = 330  # height in pixels of the drawing area in `epsilon_curves`
# Plotly's options for an axis without tick labels, grid, line and ticks.
_BARE = {"showticklabels": False, "showgrid": False, "showline": False, "ticks": ""}


def _lesson(
    traces: Sequence[dict[str, Any]], title: Any, *, height: int = 430, **more: Any
) -> go.Figure:
    # Single precision is enough for a screen and halves the size of a notebook.
    single = lambda t: {k: np.asarray(t[k], np.float32) for k in "xy" if np.size(t[k]) > 1}
    drawn = [trace | single(trace) for trace in traces]
    layout = {"template": "dplearn_lesson", "title": title, "width": 760, "height": height, **more}
    return go.Figure({"data": drawn, "layout": layout})


def _axis(
    title: str, values: Any, log: bool = False, span: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Return an axis for the values; its ends are `span` or, without it, chosen by Plotly."""
    every = np.concatenate([np.ravel(np.asarray(v, dtype=float)) for v in values])
    lower, upper = span or (float(np.min(every)), float(np.max(every)))
    return Axis(title=title, lower=lower, upper=upper, log=log, open=span is None).layout()


def curves(
    lines: Sequence[Part],
    *,
    title: str,
    x: str,
    y: str,
    marks: Sequence[Dot] = (),
    zone: tuple[float, float, str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw curves, columns, regions and points on one pair of axes.

    Parameters
    ----------
    lines : Sequence of Curve, Bars or Band, parts with their names, drawn in this order
    title, x, y : str, title, and names of the axes
    marks : Sequence of Dot, points with their names
    zone : tuple or None, two heights of a red band where a claim is false, and the band's text
    log_x, log_y : bool, whether an axis is logarithmic
    x_range, y_range : tuple of float or None, ends of an axis; by default Plotly chooses them

    Returns
    -------
    plotly.graph_objects.Figure
    """
    traces = [trace for line in lines for trace in (*line.traces(), *line.name())]
    traces += [trace for mark in marks for trace in mark.traces()]
    shapes = []
    if zone is not None:
        lower, upper, name = zone
        ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": lower, "y1": upper, "yref": "y"}
        fill = {"fillcolor": transparent(RED, 0.1), "line": {"width": 0}}
        shapes = [{"type": "rect", **ends, **fill}]
        # Begin the zone's text at the left end of the first curve.
        at = {"x": [np.min(lines[0].x)], "y": [(lower + upper) / 2], "text": [name]}
        look = {"mode": "text", "textfont": {"color": RED, "size": 15}, "hoverinfo": "skip"}
        traces.append({**at, **look, "textposition": "middle right"})
    heights = [y for line in lines for y in line.heights]
    across = _axis(x, [part.x for part in lines or marks], log_x, x_range)
    up = _axis(y, heights or [mark.y for mark in marks], log_y, y_range)
    return _lesson(traces, title, xaxis=across, yaxis=up, shapes=shapes)


def epsilon_curves(
    curves: Mapping[str, Sequence[Guarantee]],
    steps: Sequence[int],
    *,
    title: str,
    about: str,
    here: int | None = None,
    marks: Sequence[Dot] = (),
) -> go.Figure:
    """Draw epsilon against the number of steps, with a curve for each accountant.

    Approximations are dashed, and an infinite epsilon leaves a gap.

    Parameters
    ----------
    curves : Mapping of str to Sequence of Guarantee, one for each of `steps`, by accountant
    steps : Sequence of int, increasing numbers of steps, >= 1
    title, about : str, title and subtitle
    here : int or None, number in `steps` whose values stand beside the curves; default: the last
    marks : Sequence of Dot, published values, drawn as rings

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> line = [Guarantee(epsilon=e, delta=1e-5, kind="upper", method="rdp",
    ...                   adjacency="add_remove") for e in (0.5, 1.0)]
    >>> figure = epsilon_curves({"rdp": line}, [10, 100], here=10, title="One run", about="")
    >>> figure.data[0].y.tolist(), figure.layout.annotations[1].text[-14:]
    ([0.5, 1.0], '<b>0.5</b> RDP')
    """
    index = steps.index(here or steps[-1])
    traces = [_over_steps(name, curve, steps) for name, curve in curves.items()]
    heights = [y for trace in traces for y in trace["y"] if y] + [mark.y for mark in marks]
    dashed = any(trace["line"]["dash"] == "dash" for trace in traces)
    up = "ε (nats), upper bound" + (" unless dashed" if dashed else "")
    lower, upper = min(heights, default=1.0) / 1.5, max(heights, default=1.0) * 1.5
    y = Axis(title=up, lower=lower, upper=upper, log=True)
    x = Axis(title="T, number of steps", lower=steps[0] / 1.05, upper=steps[-1] * 1.05, log=True)
    if here is not None:
        values = gaps([curve[index].epsilon for curve in curves.values()])
        dots = {"symbol": "circle", "size": 10, "edge": (1.5, "white"), "hoverinfo": "skip"}
        colours = [style_of(name).colour for name in curves]
        traces.append(markers([here] * len(values), values, "here", colour=colours, **dots))
    line = {"type": "line", "x0": here or 1, "x1": here or 1, "y0": 0, "y1": 1, "yref": "paper"}
    ring = {"marker": {"symbol": "circle-open", "size": 17, "color": RED, "line": {"width": 2.5}}}
    traces += [trace | ring for mark in marks for trace in mark.traces()]
    look = {"line": {"dash": "dot"}, "visible": here is not None}
    layout = {"xaxis": x.layout(), "yaxis": y.layout(), "margin": {"r": 228, "t": 90}}
    layout |= {"shapes": [line | look], "annotations": _ends(curves, index, steps, y)}
    head = {"text": title, "subtitle": {"text": about, "font": {"size": 13, "color": GREY}}}
    return _lesson(traces, head, height=90 + _INNER + 60, **layout)


def _over_steps(name: str, curve: Sequence[Guarantee], steps: Sequence[int]) -> dict[str, Any]:
    style, solid = style_of(name), all(guarantee.is_bound for guarantee in curve)
    y = gaps([guarantee.epsilon for guarantee, _ in zip(curve, steps, strict=True)])
    dash = "solid" if solid else "dash"
    (line,) = Curve(x=steps, y=y, label=style.label, role=name, dash=dash).traces()
    hover = {"text": list(map(str, curve)), "hovertemplate": "T = %{x:,}<br>%{text}<extra></extra>"}
    marker = {"symbol": style.symbol, "size": 8, "maxdisplayed": 7}
    return line | hover | {"mode": "lines+markers", "marker": marker}


def _ends(
    curves: Mapping[str, Sequence[Guarantee]], index: int, steps: Sequence[int], y: Axis
) -> list[dict[str, Any]]:
    """Return a heading and, for each curve, a label with a line to the end of the curve."""
    column = {"x": 1, "xref": "paper", "y": 1, "yref": "paper", "yanchor": "bottom", "xshift": 16}
    words = f"ε at T = {text.spaced(steps[index])}"
    notes: list[dict[str, Any]] = [{**column, "xanchor": "left", "text": words}]
    wishes = [y.share(curve[-1].epsilon) * _INNER for curve in curves.values()]
    placed = spread(wishes, gap=22.0, lower=4.0, upper=_INNER - 8.0)
    for (name, curve), at, to in zip(curves.items(), wishes, placed, strict=True):
        style, guarantee, sharp = style_of(name), curve[index], ""
        if not guarantee.is_bound:
            sharp = "no bound"
        elif guarantee.kind == "bracket":
            sharp = text.precision(text.width(guarantee))
        words = f'<span style="color:{style.colour}">{style.glyph}</span>'
        words += f" <b>{text.epsilon(guarantee)}</b> {style.label}"
        if sharp:
            words += f' <span style="color:{GREY};font-size:12px">{sharp}</span>'
        place = {"x": math.log10(steps[-1]), "y": y.span[0] + (y.span[1] - y.span[0]) * at / _INNER}
        leader = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1.4, "ax": 24, "ay": at - to}
        look = {"arrowcolor": style.colour, "xanchor": "left", "font": {"size": 14, "color": INK}}
        notes.append({"text": words, **place, **leader, **look})
    return notes


def panels(left: go.Figure, right: go.Figure, *, title: str) -> go.Figure:
    """Return `left` and `right`, two figures by `curves`, side by side under one `title`."""
    # The figures' titles become headings of the panels; a slider does not change headings.
    traces, axes, shapes, headings = [], {}, [], []
    shares = (0.0, 0.42), (0.58, 1.0)  # ends of the panels as fractions of the width
    for n, part, share in zip(("", "2"), (left, right), shares, strict=True):
        layout: Any = part.layout.to_plotly_json()
        where = {"xaxis": f"x{n}", "yaxis": f"y{n}"}
        drawn: list[Any] = list(part.select_traces())
        traces += [trace.to_plotly_json() | where for trace in drawn]
        axes[f"xaxis{n}"] = layout["xaxis"] | {"anchor": f"y{n}", "domain": share}
        axes[f"yaxis{n}"] = layout["yaxis"] | {"anchor": f"x{n}"}
        place = {"xref": f"x{n} domain", "yref": f"y{n}"}
        shapes += [shape | place for shape in layout.get("shapes", ())]
        if words := layout["title"]["text"]:
            top = {"x": 0, "y": 1, "xref": f"x{n} domain", "yref": f"y{n} domain"}
            look = {"xanchor": "left", "yanchor": "bottom", "yshift": 8, "font": {"size": 15}}
            headings.append({**top, **look, "text": words})
    margin = {"r": 90, "t": 86 if headings else 60}
    return _lesson(traces, title, margin=margin, shapes=shapes, annotations=headings, **axes)


def number_line(numbers: Mapping[str, float], *, title: str) -> go.Figure:
    """Return a figure with a `title`: positive `numbers` and their names on a logarithmic axis."""
    roles = {"truth": "exact", "proved at most": "exact", "proved at least": "exact"}
    roles |= {"your guess": "guess"}
    traces, ranked = [], sorted(numbers.items(), key=lambda item: item[1])
    for rank, (label, value) in enumerate(ranked):
        side = "bottom center" if rank % 2 else "top center"
        role, words = roles.get(label, "other"), f"{label}<br>{value:.4g}"
        traces += Dot(x=value, y=0, label=words, role=role, side=side).traces()
    ends = ranked[0][1] / 3, ranked[-1][1] * 3
    zero = {"zeroline": True, "zerolinecolor": GREY, "range": [-1, 1]}
    x = _axis("", [list(numbers.values())], True, ends) | {"showgrid": False, "showline": False}
    return _lesson(traces, title, height=230, xaxis=x, yaxis=_BARE | zero)


def ladder(guarantees: Mapping[str, Guarantee], *, title: str) -> go.Figure:
    """Draw each guarantee's epsilon in its own row, with a bar down to the lower bound, if any.

    Parameters
    ----------
    guarantees : Mapping of str to Guarantee, guarantees by name, the first at the top
    title : str, title

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> one = Guarantee(epsilon=2.0, delta=1e-5, kind="exact", method="pld",
    ...                 adjacency="add_remove")
    >>> ladder({"as planned": one}, title="One run").data[-1].x[0]
    2.0
    """
    upper = np.array([g.epsilon for g in guarantees.values()])
    lower = np.array([g.lower if g.kind == "bracket" else g.epsilon for g in guarantees.values()])
    rows, ends = -np.arange(len(guarantees), dtype=float), (lower.min() / 3, 5 * upper.max())
    shared = {"hoverinfo": "skip", "showlegend": False, "textposition": "middle right"}
    # Start names just inside the axis, because Plotly omits a text at the end of an axis.
    names = {"x": [1.01 * ends[0]] * len(guarantees), "y": rows + 0.32, "text": list(guarantees)}
    names |= {"mode": "text", "textfont": {"color": GREY, "size": 14}}
    values = [f" {text.epsilon(g, 4)}" for g in guarantees.values()]
    points = {"x": upper.tolist(), "y": rows, "text": values, "mode": "markers+text"}
    points["marker"] = {"size": 10, "color": colour_of("exact")}
    bar = {"symmetric": False, "array": 0 * upper, "arrayminus": upper - lower}
    points["error_x"] = bar | {"thickness": 5, "width": 0, "color": colour_of("exact")}
    bare = _BARE | {"zeroline": False, "range": [0.4 - len(guarantees), 0.8]}
    x, height = _axis("ε", [lower, upper], True, ends), 120 + 46 * len(guarantees)
    return _lesson([names | shared, points | shared], title, height=height, xaxis=x, yaxis=bare)


def slider(figures: Mapping[str, go.Figure], *, name: str, start: int = 0) -> go.Figure:
    """Return a figure with a slider that shows one of `figures` and works without Python.

    Parameters
    ----------
    figures : Mapping of str to Figure, figures by label, with the same traces and axes
    name : str, quantity that the slider changes, written before the label
    start : int, index of the first figure shown, >= 0

    Returns
    -------
    plotly.graph_objects.Figure
    """
    labels = list(figures)
    shown: Any = go.Figure(figures[labels[start]])
    every = [tuple[Any, ...](figure.select_traces()) for figure in figures.values()]
    # For each trace, the keys whose values differ between figures; frames set only these.
    differ = lambda k, first, *others: any(not np.array_equal(t[k], first[k]) for t in others)
    moves = [
        [k for k in ("x", "y", "z", "text") if k in same[0] and differ(k, *same)]
        for same in zip(*every, strict=True)
    ]
    frames = []
    for (label, figure), traces in zip(figures.items(), every, strict=True):
        # Set the type, because Plotly would draw the columns of an untyped trace as a line.
        moved = zip(traces, moves, strict=True)
        data = [{"type": trace.type} | {k: trace[k] for k in keys} for trace, keys in moved]
        layout: Any = figure.layout
        title = {"title": {"text": layout.title.text}}
        frames.append(go.Frame(name=label, data=data, layout=title))
    shown.frames = frames
    frame = {"frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    now = {"mode": "immediate", **frame}
    move = lambda label: {"method": "animate", "args": [[label], now]}
    steps = [{"label": label.replace("-", "−")} | move(label) for label in labels]
    current = {"prefix": f"{name} = ", "font": {"size": 16}}
    bar = {"active": start, "steps": steps, "currentvalue": current, "pad": {"t": 60}, "len": 1.0}
    shown.update_layout(sliders=[bar], height=shown.layout.height + 110, margin_b=110)
    return shown
